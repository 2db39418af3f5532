//! Points of a box in questions and answers: an object with one field for each input, by name.

use crate::vocab::SearchBox;
use serde_json::{Map, Value, json};

/// A point of a box, in the units of its inputs, as programs read it: for each input a number, or the word of a category.
#[must_use]
pub fn point_fields(domain: &SearchBox, point: &[f64]) -> Map<String, Value> {
    let inputs = domain.names().iter().zip(domain.kinds()).zip(domain.categories()).zip(point);
    let field = |(((name, kind), words), x): (((&String, _), &Vec<String>), &f64)| {
        let kind: &crate::vocab::InputKind = kind;
        let value = match words.get(*x as usize) {
            Some(word) => json!(word),
            // Numbers of an input of whole numbers have no decimal point.
            None if kind.whole => json!(*x as i64),
            None => json!(x),
        };
        (name.clone(), value)
    };
    inputs.map(field).collect()
}

/// The point, in the units of the inputs, that a JSON object states with one field for each input; `None` unless every input
/// has a valid value. Further fields are ignored.
#[must_use]
pub fn point_of_fields(domain: &SearchBox, fields: &Value) -> Option<Vec<f64>> {
    let inputs = domain.names().iter().zip(domain.categories());
    let one = |(name, words): (&String, &Vec<String>)| {
        let value = fields.get(name)?;
        if words.is_empty() {
            return value.as_f64();
        }
        words.iter().position(|word| Some(word.as_str()) == value.as_str()).map(|number| number as f64)
    };
    let point: Vec<f64> = inputs.map(one).collect::<Option<_>>()?;
    domain.contains(&point).then_some(point)
}

/// The inputs of a box, in order, as programs read them. An input of numbers has a name, two ends, and two flags:
/// whether only whole numbers are valid, and whether the scale is logarithmic. An input of categories has a name and
/// the categories.
#[must_use]
pub fn inputs_of_box(domain: &SearchBox) -> Value {
    let inputs = domain.names().iter().zip(domain.sides()).zip(domain.kinds()).zip(domain.categories());
    inputs
        .map(|(((name, (low, high)), kind), words)| {
            if words.is_empty() {
                json!({ "name": name, "low": low, "high": high, "whole": kind.whole, "logarithmic": kind.logarithmic })
            } else {
                json!({ "name": name, "values": words })
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::InputKind;

    #[test]
    fn points_are_objects_by_name_and_are_read_back() {
        let words = ["a", "b"].map(str::to_owned).to_vec();
        let names = ["rate", "depth", "solver"].map(str::to_owned).to_vec();
        let whole = InputKind { whole: true, logarithmic: false };
        let domain = SearchBox::new(vec![(0.1, 2.0), (-3.0, 4.0), (0.0, 1.0)])
            .with_kinds(vec![InputKind::default(), whole, InputKind::default()], names)
            .with_categories(vec![vec![], vec![], words]);
        let point = [0.30000000000000004, -2.0, 1.0];
        let fields = Value::Object(point_fields(&domain, &point));
        assert_eq!(fields.to_string(), r#"{"rate":0.30000000000000004,"depth":-2,"solver":"b"}"#);
        assert_eq!(point_of_fields(&domain, &fields).unwrap(), point);
        for wrong in [
            json!({ "rate": 0.3, "depth": 0.5, "solver": "a" }),
            json!({ "rate": 3, "depth": 0, "solver": "a" }),
            json!({ "rate": 0.3, "depth": 0, "solver": "c" }),
            json!({ "rate": 0.3, "depth": 0 }),
            json!([0.3, 0, 1]),
        ] {
            assert_eq!(point_of_fields(&domain, &wrong), None, "{wrong}");
        }
        let inputs = inputs_of_box(&domain);
        assert_eq!(inputs[2], json!({ "name": "solver", "values": ["a", "b"] }));
        assert_eq!(inputs[1]["whole"], json!(true));
    }
}
