//! A positive factor for each agent: drawn, or stated.

use crate::rng::Stream;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A positive factor for each agent of a group, dimensionless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Factors {
    /// exp(sigma z) with z standard normal for each agent, so that the median is 1 and the logarithm has the standard
    /// deviation sigma, 0 to 3.
    ///
    /// Example: `LogNormal(0.3)`.
    LogNormal(NonNegative),
    /// Stated, each from 1e-6 to 1e6: agent k of the group, counted from 0, has entry k of the list, modulo the list's
    /// length.
    ///
    /// Example: `Given([1, 0.5, 2])`.
    Given(Vec<Positive>),
}

/// Largest sigma: one agent in a hundred then has a factor above 1000.
const MAX_SIGMA: f64 = 3.0;
/// The range of factors that may be stated.
const RANGE: RangeInclusive<f64> = 1e-6..=1e6;

impl Factors {
    /// Whether any factor may be other than 1.
    pub(in crate::protocols) fn differ(&self) -> bool {
        match self {
            Self::LogNormal(sigma) => sigma.get() > 0.0,
            Self::Given(list) => list.iter().any(|factor| factor.get() != 1.0),
        }
    }

    /// Whether two agents of a group may have different factors.
    pub(in crate::protocols) fn between_agents(&self) -> bool {
        match self {
            Self::LogNormal(sigma) => sigma.get() > 0.0,
            Self::Given(list) => list.iter().any(|factor| factor != &list[0]),
        }
    }

    /// Number of stated factors; 1 if they are drawn.
    pub(in crate::protocols) fn stated(&self) -> usize {
        match self {
            Self::LogNormal(_) => 1,
            Self::Given(list) => list.len(),
        }
    }

    /// What is wrong with the values.
    pub(in crate::protocols) fn problem(&self) -> Option<Problem> {
        match self {
            Self::LogNormal(sigma) => (sigma.get() > MAX_SIGMA).then(|| {
                let expected = format!("a sigma of at most {MAX_SIGMA}");
                Problem::wrong("LogNormal", expected, sigma.to_string(), "write 0.5, for example")
            }),
            Self::Given(list) if list.is_empty() => {
                Some(Problem::wrong("Given", "at least one factor", "none", "write Given([2]), for example"))
            }
            Self::Given(list) => {
                let (k, factor) = list.iter().enumerate().find(|(_, f)| !RANGE.contains(&f.get()))?;
                let expected = format!("a factor from {:e} to {:e}", RANGE.start(), RANGE.end());
                Some(Problem::wrong(
                    format!("Given[{k}]"),
                    expected,
                    factor.to_string(),
                    "bring it closer to 1",
                ))
            }
        }
    }

    /// The factor of agent k of its group.
    pub(in crate::protocols) fn of(&self, k: usize, stream: &mut Stream) -> f64 {
        match self {
            Self::LogNormal(sigma) => libm::exp(sigma.get() * stream.normal()),
            Self::Given(list) => list[k % list.len()].get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// The mean of the logarithms of 20,000 factors has a standard error of 0.5 / sqrt(20,000), and the mean square of the
    /// logarithms has a standard error of 0.25 sqrt(2 / 20,000). Errors of up to six standard errors are allowed.
    #[test]
    fn logarithms_of_drawn_factors_are_normal_with_the_stated_deviation() {
        let factors: Factors = crate::scenario::part("LogNormal(0.5)").unwrap();
        let logs: Vec<f64> =
            (0..20_000).map(|k| libm::log(factors.of(0, &mut Key::root(3).index(k).stream()))).collect();
        let mean = |of: &dyn Fn(f64) -> f64| logs.iter().map(|x| of(*x)).sum::<f64>() / 20_000.0;
        assert!(mean(&|x| x).abs() < 6.0 * 0.5 / 20_000f64.sqrt());
        assert!((mean(&|x| x * x) - 0.25).abs() < 6.0 * 0.25 * (2.0f64 / 20_000.0).sqrt());
        let given: Factors = crate::scenario::part("Given([1, 0.5, 2])").unwrap();
        let stream = || Key::root(3).stream();
        assert_eq!([0, 1, 2, 3].map(|k| given.of(k, &mut stream())), [1.0, 0.5, 2.0, 1.0]);
        assert!(given.differ() && !crate::scenario::part::<Factors>("Given([1])").unwrap().differ());
    }
}
