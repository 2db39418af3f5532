//! Two neighbouring inputs of a mechanism, and tests that distinguish its outputs on them: stated once, next
//! to the mechanism, for all audits of it.

use crate::vocab::Cost;
use std::fmt;

/// Two neighbouring inputs: the data as given, D, and the neighbour, D'.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<I> {
    /// D and D'.
    pub inputs: [I; 2],
    /// How they differ, in words ("the bit").
    pub words: String,
}

impl<I> Pair<I> {
    /// D, D', and how they differ.
    #[must_use]
    pub fn new(given: I, neighbour: I, words: impl Into<String>) -> Self {
        Self { inputs: [given, neighbour], words: words.into() }
    }
}

/// The output laws of two inputs in one release, known up to the size of the noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Laws {
    /// Exactly what these costs describe together, independent of each other; empty if the two laws are equal.
    Costs(Vec<Cost>),
    /// Gaussian noise if the observer has seen whether the unit is drawn: the probability of that, and the distance in
    /// standard deviations if it is.
    Shown {
        /// Probability that the unit is drawn.
        rate: f64,
        /// Distance in standard deviations.
        mu: f64,
    },
    /// Discrete Gaussian noise on integers: its standard deviation, and the distance of the integers.
    DiscreteGaussian {
        /// Standard deviation of the noise, in steps.
        sigma: f64,
        /// Distance, in steps.
        steps: f64,
    },
    /// A known largest privacy loss, without a model of the noise.
    Largest(f64),
}

/// [`Laws`] and their assumption, as the words that follow "if".
#[derive(Clone, Debug, PartialEq)]
pub struct KnownLaws {
    /// The laws.
    pub laws: Laws,
    /// Their assumption, besides the size of the noise.
    pub premise: &'static str,
}

impl KnownLaws {
    /// Laplace noise, independent on each of these costs' numbers.
    #[must_use]
    pub fn laplace(costs: Vec<Cost>) -> Self {
        Self { laws: Laws::Costs(costs), premise: "the noise is Laplace and only its size is unknown" }
    }

    /// Gaussian noise on inputs so many standard deviations apart.
    #[must_use]
    pub fn gaussian(mu: f64) -> Self {
        let costs = if mu > 0.0 { vec![Cost::Gaussian { noise_multiplier: 1.0 / mu }] } else { Vec::new() };
        Self { laws: Laws::Costs(costs), premise: "the noise is Gaussian and only its size is unknown" }
    }

    /// Only the largest loss is known.
    #[must_use]
    pub const fn largest(epsilon: f64) -> Self {
        Self { laws: Laws::Largest(epsilon), premise: "" }
    }
}

/// A score of one output; larger scores favour D.
pub type Score<O> = Box<dyn Fn(&O) -> f64 + Send + Sync>;

/// Numbers of one output, for a statistic to be trained on.
pub type Features<O> = Box<dyn Fn(&O) -> Vec<f64> + Send + Sync>;

/// Name of tests by the ratio of densities.
pub const RATIO: &str = "likelihood ratio";
/// Name of tests by the support of the outputs.
pub const SUPPORT: &str = "support";

/// Tests that distinguish outputs on two inputs.
pub struct Distinguisher<O> {
    /// Tests by name, those by the support of the outputs first; larger scores favour D.
    pub tests: Vec<(&'static str, Score<O>)>,
    /// Numbers of an output for a statistic to be trained on, if no test uses all the information.
    pub features: Option<Features<O>>,
    /// The output laws of the two inputs, where they are known.
    pub laws: Option<KnownLaws>,
    /// Why no output can come from both inputs, if that follows by algebra.
    pub disjoint: Option<String>,
}

impl<O> Distinguisher<O> {
    /// Nothing is known.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { tests: Vec::new(), features: None, laws: None, disjoint: None }
    }

    /// By ln of the ratio of the densities of an output.
    #[must_use]
    pub fn by_ratio(log_ratio: impl Fn(&O) -> f64 + Send + Sync + 'static, laws: KnownLaws) -> Self {
        Self { tests: vec![(RATIO, Box::new(log_ratio))], laws: Some(laws), ..Self::unknown() }
    }

    /// The same, after a test by the support of the outputs.
    #[must_use]
    pub fn with_support(mut self, score: impl Fn(&O) -> f64 + Send + Sync + 'static) -> Self {
        self.tests.insert(0, (SUPPORT, Box::new(score)));
        self
    }

    /// ln of the ratio of the densities of an output; 0 where it is not known.
    #[must_use]
    pub fn log_ratio(&self, output: &O) -> f64 {
        self.tests.iter().find(|(name, _)| *name == RATIO).map_or(0.0, |(_, score)| score(output))
    }
}

impl<O> fmt::Debug for Distinguisher<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distinguisher").field("laws", &self.laws).finish_non_exhaustive()
    }
}

/// The numbers of an output.
pub(super) type Numbers<O> = for<'a> fn(&'a O) -> &'a [f64];

/// Independent Laplace noise of a scale on every number of an output.
pub(super) fn under_laplace<O: 'static>(
    means: [&[f64]; 2],
    scale: f64,
    numbers: Numbers<O>,
) -> Distinguisher<O> {
    let differ = differing(means);
    let apart = differ.iter().map(|(_, a, b)| (a - b).abs());
    let costs = apart.map(|by| Cost::Laplace { scale: scale / by }).collect();
    let log_ratio = move |y: &O| {
        let y = numbers(y);
        differ.iter().map(|&(index, a, b)| ((y[index] - b).abs() - (y[index] - a).abs()) / scale).sum()
    };
    Distinguisher::by_ratio(log_ratio, KnownLaws::laplace(costs))
}

/// Independent Gaussian noise of a standard deviation on every number of an output.
pub(super) fn under_gaussian<O: 'static>(
    means: [&[f64]; 2],
    sd: f64,
    numbers: Numbers<O>,
) -> Distinguisher<O> {
    let differ = differing(means);
    let distance = differ.iter().map(|(_, a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let log_ratio = move |y: &O| {
        let y = numbers(y);
        let log = |&(index, a, b): &(usize, f64, f64)| {
            let y = y[index];
            ((y - b) * (y - b) - (y - a) * (y - a)) / (2.0 * sd * sd)
        };
        differ.iter().map(log).sum()
    };
    Distinguisher::by_ratio(log_ratio, KnownLaws::gaussian(distance / sd))
}

/// The numbers in which two inputs differ: only those of the output carry information.
fn differing([a, b]: [&[f64]; 2]) -> Vec<(usize, f64, f64)> {
    let both = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
    both.map(|(index, (a, b))| (index, *a, *b)).collect()
}
