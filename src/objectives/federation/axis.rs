//! The values of one hyperparameter.

use crate::vocab::{Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The values of one hyperparameter, ascending: `Axis(low: 0.01, high: 10, values: 21)`, or a list of them,
/// `Axis(values: [0.0001, 0.1, 1, 10])`.
///
/// Each value has a coordinate from 0 to 1: the position of the value between the smallest and the largest value. With
/// `logarithmic`, it is the position of the value's logarithm between the logarithms of these two values. Listed values
/// need not be evenly spaced.
///
/// Example: `Axis(low: 0.01, high: 1, values: 3, logarithmic: true)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Smallest value; required if `values` is a number, not allowed if `values` is a list. Default: the smallest value of
    /// the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Positive>,
    /// Largest value; required if `values` is a number, not allowed if `values` is a list. Default: the largest value of
    /// the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Positive>,
    /// Number of values, spaced evenly from `low` to `high`; or a list of the values, ascending.
    pub values: AxisValues,
    /// Whether spacing and coordinates are computed from the logarithms of the values.
    /// Default: false.
    #[serde(default)]
    pub logarithmic: bool,
}

/// The number of values, or a list of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a whole number of values, 1 or more, or a list of finite numbers above 0"
)]
pub enum AxisValues {
    /// Number of values.
    Count(NonZeroUsize),
    /// The values, ascending.
    Listed(Vec<Positive>),
}

impl Axis {
    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.values {
            AxisValues::Count(count) => count.get(),
            AxisValues::Listed(values) => values.len(),
        }
    }

    /// Smallest and largest value.
    fn ends(&self) -> (f64, f64) {
        let listed = match &self.values {
            AxisValues::Count(_) => None,
            AxisValues::Listed(values) => values.first().zip(values.last()),
        };
        let end = |stated: Option<Positive>, listed: Option<&Positive>| {
            stated.or(listed.copied()).map_or(1.0, Positive::get)
        };
        (end(self.low, listed.map(|ends| ends.0)), end(self.high, listed.map(|ends| ends.1)))
    }

    /// What is wrong with the axis, at the field that is wrong.
    pub(super) fn problem(&self) -> Option<Problem> {
        match &self.values {
            AxisValues::Count(_) => {
                let (Some(low), Some(high)) = (self.low, self.high) else {
                    let field = if self.low.is_none() { "low" } else { "high" };
                    let cure = "write Axis(low: 0.01, high: 10, values: 21), or list the values";
                    return Some(Problem::wrong(
                        field,
                        "the end of an axis, because `values` is a number",
                        "none",
                        cure,
                    ));
                };
                (high < low).then(|| {
                    let expected = format!("at least low, {low}");
                    Problem::wrong("high", expected, high.to_string(), "swap the two values")
                })
            }
            AxisValues::Listed(values) => {
                let ascending = values.windows(2).all(|pair| pair[0] < pair[1]);
                let found = || values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let cure = "write values: [0.0001, 0.1, 1, 10]";
                if values.is_empty() || !ascending {
                    let expected = "at least one value, each above the one before";
                    return Some(Problem::wrong("values", expected, format!("[{}]", found()), cure));
                }
                let stated = [("low", self.low), ("high", self.high)];
                let (field, value) = stated.into_iter().find_map(|(field, value)| Some((field, value?)))?;
                let expected =
                    "neither `low` nor `high` with a list of values, whose first and last value are the ends";
                Some(Problem::wrong(field, expected, value.to_string(), "leave it out"))
            }
        }
    }

    pub(super) fn values(&self) -> Vec<f64> {
        let count = match &self.values {
            AxisValues::Count(count) => count.get(),
            AxisValues::Listed(values) => return values.iter().map(|value| value.get()).collect(),
        };
        let steps = (count - 1).max(1) as f64;
        let (low, high) = self.ends();
        (0..count)
            .map(|index| {
                let share = index as f64 / steps;
                if self.logarithmic {
                    (low * libm::exp(share * libm::log(high / low))).clamp(low, high)
                } else {
                    low + share * (high - low)
                }
            })
            .collect()
    }

    /// The coordinate of every value, from 0 to 1; 0.5 if there is only one value.
    pub(super) fn places(&self) -> Vec<f64> {
        let count = self.count();
        let (low, high) = self.ends();
        let place = |(index, value): (usize, f64)| match &self.values {
            _ if count < 2 => 0.5,
            AxisValues::Count(_) => index as f64 / (count - 1) as f64,
            AxisValues::Listed(_) if self.logarithmic => libm::log(value / low) / libm::log(high / low),
            AxisValues::Listed(_) => (value - low) / (high - low),
        };
        self.values().into_iter().enumerate().map(place).collect()
    }

    pub(super) fn whole(value: f64) -> u64 {
        value.round().max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn coordinates_are_positions_between_the_ends() {
        let linear = axis(r#"{"values": [0.5, 1, 2.5]}"#);
        assert_eq!((linear.values(), linear.places()), (vec![0.5, 1.0, 2.5], vec![0.0, 0.25, 1.0]));
        let logarithmic = axis(r#"{"values": [0.01, 1, 100], "logarithmic": true}"#);
        assert!((logarithmic.places()[1] - 0.5).abs() < 1e-15);
        let counted = axis(r#"{"low": 1, "high": 3, "values": 3}"#);
        assert_eq!((counted.values(), counted.places()), (vec![1.0, 2.0, 3.0], vec![0.0, 0.5, 1.0]));
        assert!(linear.problem().or(logarithmic.problem()).or(counted.problem()).is_none());
    }

    #[test]
    fn a_list_has_its_own_ends_and_ascends() {
        for (text, field) in [
            (r#"{"values": 3}"#, "low"),
            (r#"{"low": 1, "values": 3}"#, "high"),
            (r#"{"low": 3, "high": 1, "values": 3}"#, "high"),
            (r#"{"values": []}"#, "values"),
            (r#"{"values": [1, 1]}"#, "values"),
            (r#"{"low": 1, "values": [1, 2]}"#, "low"),
        ] {
            assert_eq!(axis(text).problem().unwrap().path, field, "{text}");
        }
        assert!(serde_json::from_str::<Axis>(r#"{"values": [0.0]}"#).is_err());
    }
}
