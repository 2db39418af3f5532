//! Stated inputs of a test function: real or whole numbers, on a linear or a logarithmic scale.

use super::Function;
use crate::vocab::{Finite, InputKind, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One input of a box that is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Dimension {
    /// Every number between two ends.
    ///
    /// Example: `Real(name: "rate", low: 0.01, high: 10, scale: Log)`.
    Real {
        /// Its name in results, which no other input has.
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
        /// Its name in results, which no other input has.
        name: String,
        /// Smallest value, a whole number, at least 1 with `scale: Log`.
        low: Finite,
        /// Largest value, a whole number above the smallest.
        high: Finite,
        /// How the input is scaled for the model. Default: `Linear`.
        #[serde(default)]
        scale: DimensionScale,
    },
}

/// How an input is scaled for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DimensionScale {
    /// Equal differences of the input have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths: the model gets the input's logarithm.
    Log,
}

impl Dimension {
    fn name(&self) -> &str {
        match self {
            Self::Real { name, .. } | Self::Integer { name, .. } => name,
        }
    }

    fn ends(&self) -> (f64, f64) {
        match self {
            Self::Real { low, high, .. } | Self::Integer { low, high, .. } => (low.get(), high.get()),
        }
    }

    fn kind(&self) -> InputKind {
        let (Self::Real { scale, .. } | Self::Integer { scale, .. }) = self;
        InputKind { whole: matches!(self, Self::Integer { .. }), logarithmic: *scale == DimensionScale::Log }
    }

    fn problems(&self, place: &str, (least, most): (f64, f64), top: f64) -> Vec<Problem> {
        let (kind, (low, high)) = (self.kind(), self.ends());
        let variant = if kind.whole { "Integer" } else { "Real" };
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
        if low >= high {
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
        let within = "so that the box contains the best point, whose value gives the regret";
        if low < least || low > top {
            wrong(
                "low",
                format!("a number from {least} to {top}, {within}"),
                low.to_string(),
                "write a number between these",
            );
        }
        if high > most || high < top {
            wrong(
                "high",
                format!("a number from {top} to {most}, {within}"),
                high.to_string(),
                "write a number between these",
            );
        }
        problems
    }
}

/// All problems of the stated inputs of a function.
pub(super) fn problems(function: Function, dimensions: &[Dimension]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(top) = function.whole_place() else {
        return vec![Problem::wrong(
            "dimensions",
            "Ackley, Levy, Rosenbrock, Griewank or Rastrigin, whose best point has whole numbers",
            function.name(),
            "leave out `dimensions`, or choose one of these functions",
        )];
    };
    if dimensions.len() != function.d() {
        problems.push(Problem::wrong(
            "dimensions",
            format!("{} inputs, those of {}", function.d(), function.name()),
            dimensions.len().to_string(),
            "write a Real or an Integer for each input",
        ));
    }
    let side = function.domain().sides().first().copied().unwrap_or((0.0, 1.0));
    for (index, dimension) in dimensions.iter().enumerate() {
        let place = format!("dimensions[{index}]");
        if dimensions[..index].iter().any(|earlier| earlier.name() == dimension.name()) {
            let found = dimension.name().to_owned();
            problems.push(Problem::wrong(&place, "a name of its own", found, "write another name"));
        }
        problems.extend(dimension.problems(&place, side, top));
    }
    problems
}

/// The box of stated inputs that have no problems.
pub(super) fn domain(dimensions: &[Dimension]) -> SearchBox {
    let names = dimensions.iter().map(|dimension| dimension.name().to_owned()).collect();
    SearchBox::new(dimensions.iter().map(Dimension::ends).collect())
        .with_kinds(dimensions.iter().map(Dimension::kind).collect(), names)
}
