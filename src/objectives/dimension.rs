//! The inputs of a box that is searched, as a scenario states them: real or whole numbers, on a linear or a logarithmic
//! scale, and categories.

use crate::rng::sobol::MOST_DIMENSIONS;
use crate::vocab::{Finite, InputKind, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of categories of an input.
const MOST_CATEGORIES: usize = 32;

/// One input of a box that is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Dimension {
    /// Every number between two ends.
    ///
    /// Example: `Real(name: "rate", low: 0.01, high: 10, scale: Log)`.
    Real {
        /// The input's name in results, which no other input has.
        name: String,
        /// Lower end, above 0 with `scale: Log`.
        low: Finite,
        /// Upper end, above the lower one.
        high: Finite,
        /// How the input is scaled for the model. Default: `Linear`.
        #[serde(default)]
        scale: DimensionScale,
    },
    /// Every whole number from one end to the other. The model is evaluated at whole numbers only.
    ///
    /// Example: `Integer(name: "depth", low: -5, high: 10)`.
    Integer {
        /// The input's name in results, which no other input has.
        name: String,
        /// Smallest value, a whole number, at least 1 with `scale: Log`.
        low: Finite,
        /// Largest value, a whole number above the smallest.
        high: Finite,
        /// How the input is scaled for the model. Default: `Linear`.
        #[serde(default)]
        scale: DimensionScale,
    },
    /// One of several values without an order. The model has one coordinate for each of these values. The coordinate of
    /// the value that the input has is 1 / sqrt(2), and the input's other coordinates are 0, so that any two values have
    /// the distance 1. Results show the number of the value, from 0.
    ///
    /// Example: `Categorical(name: "solver", values: ["sgd", "adam"])`.
    Categorical {
        /// The input's name in results, which no other input has.
        name: String,
        /// The values of the input, 2 to 32 different words.
        values: Vec<String>,
    },
}

/// How an input is scaled for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DimensionScale {
    /// Equal differences between values of the input are equal distances in the model.
    #[default]
    Linear,
    /// Equal ratios of values of the input are equal distances in the model: the model gets the input's logarithm.
    Log,
}

impl Dimension {
    /// The input's name.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Real { name, .. } | Self::Integer { name, .. } | Self::Categorical { name, .. } => name,
        }
    }

    /// The name of the input's kind, as a scenario writes it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Real { .. } => "Real",
            Self::Integer { .. } => "Integer",
            Self::Categorical { .. } => "Categorical",
        }
    }

    /// Lower and upper end; for a categorical input, the numbers of the first and of the last category, counted from 0.
    pub(super) fn ends(&self) -> (f64, f64) {
        match self {
            Self::Real { low, high, .. } | Self::Integer { low, high, .. } => (low.get(), high.get()),
            Self::Categorical { values, .. } => (0.0, values.len().saturating_sub(1) as f64),
        }
    }

    /// The input's categories; empty for a real or whole number.
    pub(super) fn categories(&self) -> &[String] {
        match self {
            Self::Real { .. } | Self::Integer { .. } => &[],
            Self::Categorical { values, .. } => values,
        }
    }

    fn kind(&self) -> InputKind {
        match self {
            Self::Real { scale, .. } => {
                InputKind { whole: false, logarithmic: *scale == DimensionScale::Log }
            }
            Self::Integer { scale, .. } => {
                InputKind { whole: true, logarithmic: *scale == DimensionScale::Log }
            }
            Self::Categorical { .. } => InputKind { whole: true, logarithmic: false },
        }
    }

    /// What is wrong with this input alone; paths begin with `place`.
    fn problems(&self, place: &str) -> Vec<Problem> {
        let (kind, (low, high), variant) = (self.kind(), self.ends(), self.word());
        let mut problems = Vec::new();
        let mut wrong = |field: &str, expected: String, found: String, cure: &str| {
            problems.push(Problem::wrong(format!("{place}.{variant}.{field}"), expected, found, cure));
        };
        if self.name().trim().is_empty() {
            wrong(
                "name",
                "a name".to_owned(),
                "an empty text".to_owned(),
                "write name: \"depth\", for example",
            );
        }
        if let Self::Categorical { values, .. } = self {
            let cure = "write values: [\"a\", \"b\"], for example";
            if !(2..=MOST_CATEGORIES).contains(&values.len()) {
                wrong("values", format!("2 to {MOST_CATEGORIES} values"), values.len().to_string(), cure);
            }
            let bad = |(k, word): &(usize, &String)| word.trim().is_empty() || values[..*k].contains(word);
            if let Some((k, word)) = values.iter().enumerate().find(bad) {
                let expected = "a word that no earlier value has".to_owned();
                wrong(&format!("values[{k}]"), expected, format!("{word:?}"), cure);
            }
            return problems;
        }
        // In a scenario, a range's width is always finite, since the size of numbers is limited. The check that the width
        // is finite is for inputs that are built in code.
        if low >= high || !(high - low).is_finite() {
            let expected = format!("a number above {low}, the lower end");
            wrong("high", expected, high.to_string(), "write the smaller end as `low`");
        }
        for (field, end) in [("low", low), ("high", high)] {
            if kind.whole && end.fract() != 0.0 {
                wrong(field, "a whole number".to_owned(), end.to_string(), "write a whole number, or a Real");
            }
        }
        if kind.logarithmic && low <= 0.0 {
            wrong(
                "low",
                "a number above 0: the scale is Log".to_owned(),
                low.to_string(),
                "leave out `scale`",
            );
        }
        problems
    }
}

/// All problems of the field `dimensions` that concern no other field; paths begin with `dimensions`.
pub(super) fn problems(dimensions: &[Dimension]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !(1..=MOST_DIMENSIONS).contains(&dimensions.len()) {
        problems.push(Problem::wrong(
            "dimensions",
            format!("1 to {MOST_DIMENSIONS} inputs"),
            dimensions.len().to_string(),
            "write a Real, an Integer or a Categorical for each input",
        ));
    }
    for (index, dimension) in dimensions.iter().enumerate() {
        let place = format!("dimensions[{index}]");
        if dimensions[..index].iter().any(|earlier| earlier.name() == dimension.name()) {
            let found = dimension.name().to_owned();
            problems.push(Problem::wrong(&place, "a name of its own", found, "write another name"));
        }
        problems.extend(dimension.problems(&place));
    }
    problems
}

/// The box that has these inputs. The inputs must have no [`problems`].
pub(super) fn domain(dimensions: &[Dimension]) -> SearchBox {
    let names = dimensions.iter().map(|dimension| dimension.name().to_owned()).collect();
    SearchBox::new(dimensions.iter().map(Dimension::ends).collect())
        .with_kinds(dimensions.iter().map(Dimension::kind).collect(), names)
        .with_categories(dimensions.iter().map(|dimension| dimension.categories().to_vec()).collect())
}
