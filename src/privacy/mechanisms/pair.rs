//! Two neighbouring inputs of a mechanism, and tests that distinguish the mechanism's outputs on these inputs. Each
//! mechanism defines its inputs and its tests once, for all its audits.

use crate::vocab::Cost;
use std::fmt;

/// Two neighbouring inputs: the data as given, D, and the neighbour, D'.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<I> {
    /// D and D'.
    pub inputs: [I; 2],
    /// What differs between D and D', in words: for example "the bit", if an input is one bit.
    pub words: String,
}

impl<I> Pair<I> {
    /// The pair of D and D', with a description of how they differ.
    #[must_use]
    pub fn new(given: I, neighbour: I, words: impl Into<String>) -> Self {
        Self { inputs: [given, neighbour], words: words.into() }
    }
}

/// What is known about the output distributions of a mechanism on the two inputs, in one release.
#[derive(Clone, Debug, PartialEq)]
pub enum Laws {
    /// Each of these costs describes a pair of distributions, one for D and one for D'. The output distribution on D (or D')
    /// is the product of all distributions for D (or D'). The list is empty if the two output distributions are equal.
    Costs(Vec<Cost>),
    /// Gaussian noise on a random sample, for an observer who sees whether the unit was drawn.
    Shown {
        /// Probability that the unit is drawn.
        rate: f64,
        /// Distance of the two means if the unit is drawn, in standard deviations of the noise.
        mu: f64,
    },
    /// Discrete Gaussian noise on two integers.
    DiscreteGaussian {
        /// Standard deviation of the noise, in steps.
        sigma: f64,
        /// Distance of the two integers, in steps; 0 if they are equal.
        steps: f64,
    },
    /// Only the largest privacy losses are known: those of D against D' (the largest ln of the ratio of an output's
    /// probability on D to that on D'), and those of D' against D.
    Largest([f64; 2]),
}

/// [`Laws`], and the assumption under which they are used.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownLaws {
    /// The laws.
    pub laws: Laws,
    /// The assumption, in the words that follow "if" in a report; empty if there is none.
    pub premise: &'static str,
}

impl KnownLaws {
    /// Independent Laplace noise, with one cost for each number in which the inputs differ.
    #[must_use]
    pub fn laplace(costs: Vec<Cost>) -> Self {
        Self { laws: Laws::Costs(costs), premise: "the noise is Laplace and only its size is unknown" }
    }

    /// Gaussian noise on two inputs that are `mu` standard deviations apart.
    #[must_use]
    pub fn gaussian(mu: f64) -> Self {
        let costs = if mu > 0.0 { vec![Cost::Gaussian { noise_multiplier: 1.0 / mu }] } else { Vec::new() };
        Self { laws: Laws::Costs(costs), premise: "the noise is Gaussian and only its size is unknown" }
    }

    /// Only the largest loss is known, which is the same in both directions.
    #[must_use]
    pub const fn largest(epsilon: f64) -> Self {
        Self { laws: Laws::Largest([epsilon; 2]), premise: "" }
    }

    /// Only the largest losses in the two directions are known, from the losses of all outputs (each an ln of the ratio of
    /// the output's probability on D to that on D').
    #[must_use]
    pub fn largest_of(losses: impl IntoIterator<Item = f64>) -> Self {
        let largest = |[most, against]: [f64; 2], loss: f64| [most.max(loss), against.max(-loss)];
        Self { laws: Laws::Largest(losses.into_iter().fold([0.0; 2], largest)), premise: "" }
    }
}

/// A score of one output; larger scores favour D.
pub type Score<O> = Box<dyn Fn(&O) -> f64 + Send + Sync>;

/// Computes numbers from one output; a test statistic is trained on them.
pub type Features<O> = Box<dyn Fn(&O) -> Vec<f64> + Send + Sync>;

/// Name of tests whose score is the log likelihood ratio: ln of the ratio of an output's density on D to that on D'.
pub const RATIO: &str = "likelihood ratio";
/// Name of tests whose score depends only on whether the mechanism can give the output: on D, on D', or on any input (the
/// support of its output distributions).
pub const SUPPORT: &str = "support";

/// Tests that distinguish outputs on two inputs.
pub struct Distinguisher<O> {
    /// Each test with its name; tests of the support of the outputs ([`SUPPORT`]) come first. Larger scores favour D.
    pub tests: Vec<(&'static str, Score<O>)>,
    /// Numbers of an output on which a statistic is trained, if no test uses all the information in an output.
    pub features: Option<Features<O>>,
    /// The output laws of the two inputs, where they are known.
    pub laws: Option<KnownLaws>,
    /// Why no output is possible on both inputs, if that has been proved.
    pub disjoint: Option<String>,
}

impl<O> Distinguisher<O> {
    /// No test, no features and no distributions: nothing is known.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { tests: Vec::new(), features: None, laws: None, disjoint: None }
    }

    /// A likelihood-ratio test; the score is ln of the ratio of an output's density on D to its density on D'. `laws` may be
    /// `None` if the distributions are unknown.
    #[must_use]
    pub fn by_ratio(
        log_ratio: impl Fn(&O) -> f64 + Send + Sync + 'static,
        laws: impl Into<Option<KnownLaws>>,
    ) -> Self {
        Self { tests: vec![(RATIO, Box::new(log_ratio))], laws: laws.into(), ..Self::unknown() }
    }

    /// Adds a test named [`SUPPORT`] with this score, before the other tests.
    #[must_use]
    pub fn with_support(mut self, score: impl Fn(&O) -> f64 + Send + Sync + 'static) -> Self {
        self.tests.insert(0, (SUPPORT, Box::new(score)));
        self
    }

    /// ln of the ratio of the densities of an output on D and on D', by the first test named [`RATIO`]; 0 if there is none.
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

/// A function that returns the numbers of an output.
pub type Numbers<O> = for<'a> fn(&'a O) -> &'a [f64];

/// The likelihood-ratio test for independent Laplace noise of scale `scale` on every number; `means` are the numbers without
/// noise, on D and on D', and `numbers` returns the numbers of an output.
#[must_use]
pub fn under_laplace<O: 'static>(means: [&[f64]; 2], scale: f64, numbers: Numbers<O>) -> Distinguisher<O> {
    let differ = differing(means);
    let apart = differ.iter().map(|(_, a, b)| (a - b).abs());
    let costs = apart.map(|by| Cost::Laplace { scale: scale / by }).collect();
    let log_ratio = move |y: &O| {
        let y = numbers(y);
        differ.iter().map(|&(index, a, b)| ((y[index] - b).abs() - (y[index] - a).abs()) / scale).sum()
    };
    Distinguisher::by_ratio(log_ratio, KnownLaws::laplace(costs))
}

/// The likelihood-ratio test for independent Gaussian noise of standard deviation `sd` on every number; `means` and
/// `numbers` are as in [`under_laplace`].
#[must_use]
pub fn under_gaussian<O: 'static>(means: [&[f64]; 2], sd: f64, numbers: Numbers<O>) -> Distinguisher<O> {
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

/// The positions at which two inputs differ, with both values: only the output's numbers at these positions carry
/// information.
fn differing([a, b]: [&[f64]; 2]) -> Vec<(usize, f64, f64)> {
    let both = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
    both.map(|(index, (a, b))| (index, *a, *b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three numbers, of which two differ, by 1/2 and by 2. The expected ratios were computed by hand, from
    /// (|y - b| - |y - a|) / scale and ((y - b)^2 - (y - a)^2) / (2 sd^2), with scale and sd of 2.
    #[test]
    fn ratios_of_densities_are_summed_over_the_numbers_that_differ() {
        let (a, b, y) = ([1.0, 2.0, 3.0], [1.5, 2.0, 1.0], vec![0.7, 9.0, 2.5]);
        let laplace = under_laplace([&a, &b], 2.0, |y: &Vec<f64>| y);
        assert!((laplace.log_ratio(&y) - (0.5 + 1.0) / 2.0).abs() < 1e-15);
        let costs = vec![Cost::Laplace { scale: 4.0 }, Cost::Laplace { scale: 1.0 }];
        assert_eq!(laplace.laws, Some(KnownLaws::laplace(costs)));
        let gaussian = under_gaussian([&a, &b], 2.0, |y: &Vec<f64>| y);
        assert!((gaussian.log_ratio(&y) - (0.64 - 0.09 + 2.25 - 0.25) / 8.0).abs() < 1e-15);
        let multiplier = 2.0 / 4.25f64.sqrt();
        let Some(KnownLaws { laws: Laws::Costs(costs), .. }) = &gaussian.laws else { panic!("costs") };
        let [Cost::Gaussian { noise_multiplier }] = costs[..] else { panic!("one cost") };
        assert!((noise_multiplier / multiplier - 1.0).abs() < 1e-15);
        let equal = under_gaussian([&a, &a], 2.0, |y: &Vec<f64>| y);
        assert_eq!((equal.log_ratio(&y), equal.laws), (0.0, Some(KnownLaws::gaussian(0.0))));
        assert_eq!(KnownLaws::gaussian(0.0).laws, Laws::Costs(Vec::new()), "nothing is lost");
    }

    #[test]
    fn a_test_by_the_support_comes_before_the_ratio() {
        let ratio = Distinguisher::by_ratio(|y: &f64| 2.0 * y, KnownLaws::largest(1.0));
        let both = ratio.with_support(|y| y + 1.0);
        let scores: Vec<(&str, f64)> = both.tests.iter().map(|(name, score)| (*name, score(&3.0))).collect();
        assert_eq!((scores, both.log_ratio(&3.0)), (vec![(SUPPORT, 4.0), (RATIO, 6.0)], 6.0));
        assert!(format!("{both:?}").contains("Largest([1.0, 1.0])"));
        assert_eq!(Distinguisher::<f64>::unknown().log_ratio(&3.0), 0.0);
    }
}
