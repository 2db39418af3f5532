//! Report noisy max.

use super::computed::on_computed_numbers;
use super::exact_choice::{Weights, lattice};
use super::exponential::{argmax, of_choices, worst_utilities};
use super::pair::{Distinguisher, Pair};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Epsilon, Neighbours, NonNegative, Positive, Sampler};

/// The index of the largest utility after adding exponential noise of mean 2 sensitivity / epsilon to each. This is
/// also permute and flip ([`PermuteAndFlip`]): options are considered in a random order until one is taken, each with
/// probability exp(-epsilon (best utility - its utility) / (2 sensitivity)). In exact arithmetic the index is drawn by
/// permute and flip, on utilities rounded to a lattice.
///
/// * Precondition: utilities are finite, and no single utility differs by more than `sensitivity` between neighbours,
///   apart from the error stated by [`computed_within`](Self::computed_within). Exact arithmetic refuses an error above
///   2^-11 sensitivities.
/// * Postcondition: epsilon-DP. The mean utility of the choice is never below that of the exponential mechanism with
///   the same epsilon. The mechanism is not epsilon-bounded-range: with two options the log-likelihood ratios of
///   neighbours span epsilon + ln(2 - e^-epsilon). So the tighter composition that holds for the exponential mechanism
///   does not apply, and the price is the pure epsilon.
///
/// Source: Dwork and Roth 2014, section 3.3; McKenna and Sheldon 2020 for permute and flip, which has the same
/// distribution as the choice with one-sided exponential noise (Ding, Kifer and others 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportNoisyMax {
    epsilon: Epsilon,
    sensitivity: Positive,
    /// Largest distance of a utility from its exact value.
    error: f64,
    arithmetic: NoiseArithmetic,
}

/// Permute and flip (McKenna and Sheldon 2020, Algorithm 1): [`ReportNoisyMax`] by another name, since both have the same
/// distribution (Ding, Kifer and others 2021).
pub type PermuteAndFlip = ReportNoisyMax;

impl ReportNoisyMax {
    /// The mechanism with this epsilon and this sensitivity of a utility, in exact arithmetic.
    #[must_use]
    pub const fn new(epsilon: Epsilon, sensitivity: Positive) -> Self {
        Self { epsilon, sensitivity, error: 0.0, arithmetic: NoiseArithmetic::Exact }
    }

    /// ln of the probability of each index i. The probability is a_i E[1 / (1 + K)], where a_j = exp(-(best
    /// utility - utility of j) / mean of the noise). K is the number of successes of independent trials with probabilities
    /// a_j, one for each j other than i. The computation takes O(n^2) operations for n utilities.
    ///
    /// Proof: in permute and flip, let each option come at a time that is uniform in [0, 1]. If i comes at time t, an option
    /// j has not been taken before with probability 1 - a_j t. So the probability of i is a_i times the integral, over t
    /// from 0 to 1, of the product of 1 - a_j t over all j other than i. Each factor is (1 - a_j) + a_j (1 - t), so the
    /// product is E[(1 - t)^K], and the integral of (1 - t)^K is 1 / (1 + K).
    fn log_probabilities(&self, utilities: &[f64]) -> Vec<f64> {
        let mean = 2.0 * self.sensitivity.get() / self.epsilon.get();
        let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let logs: Vec<f64> = utilities.iter().map(|u| (u - best) / mean).collect();
        let mut all = vec![1.0];
        for a in logs.iter().copied().map(libm::exp) {
            all.push(0.0);
            for k in (0..all.len()).rev() {
                all[k] = (1.0 - a) * all[k] + if k > 0 { a * all[k - 1] } else { 0.0 };
            }
        }
        let log = |log_a: &f64| {
            let others = without(&all, libm::exp(*log_a));
            log_a + libm::log(others.iter().enumerate().map(|(k, p)| p / (k + 1) as f64).sum())
        };
        logs.iter().map(log).collect()
    }
}

on_computed_numbers!(ReportNoisyMax);

impl Mechanism for ReportNoisyMax {
    type Input = Vec<f64>;
    type Output = usize;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            lattice(self.epsilon, self.sensitivity, self.error)?;
        }
        Ok(Price {
            mechanism: "report noisy max",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::PureDp { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, utilities: &Vec<f64>, stream: &mut Stream) -> Result<usize, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            return Ok(
                Weights::new(self.epsilon, self.sensitivity, self.error, utilities)?.permute_and_flip(stream)
            );
        }
        all_finite(utilities)?;
        let mean = 2.0 * self.sensitivity.get() / self.epsilon.get();
        argmax(utilities.iter().map(|u| u + mean * stream.exponential()))
    }

    /// On D the first utility is one sensitivity above all others, on D' one sensitivity below.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        worst_utilities(like.len(), self.sensitivity.get())
    }

    fn distinguisher(&self, inputs: [&Vec<f64>; 2]) -> Result<Distinguisher<usize>, MechanismError> {
        Ok(of_choices(inputs.map(|utilities| self.log_probabilities(utilities))))
    }
}

/// The distribution of the number of successes without one of the trials, whose success has probability `a`; `all` is the
/// distribution with this trial. So `all[k]` is (1 - a) `rest[k]` + a `rest[k - 1]`, where `rest` is the result. If `a` is
/// below 1/2, the recursion solves for `rest[k]`, from the first entry to the last; otherwise for `rest[k - 1]`, from the
/// last entry to the first. In this direction, each step multiplies the rounding error of the step before by at most 1.
fn without(all: &[f64], a: f64) -> Vec<f64> {
    let n = all.len() - 1;
    let mut rest = vec![0.0; n];
    let mut last = 0.0;
    for step in 0..n {
        let k = if a < 0.5 { step } else { n - 1 - step };
        last = if a < 0.5 { (all[k] - a * last) / (1.0 - a) } else { (all[k + 1] - (1.0 - a) * last) / a };
        rest[k] = last;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// Permute and flip by its definition: the mean over all orders of the options. When the turn of an option comes, the
    /// option is taken with probability exp(-(best - utility) / mean of the noise).
    fn by_all_orders(taken: &[f64], left: &[usize], reached: f64, found: &mut [f64]) {
        for &option in left {
            let here = reached / left.len() as f64;
            found[option] += here * taken[option];
            let others: Vec<usize> = left.iter().copied().filter(|other| *other != option).collect();
            by_all_orders(taken, &others, here * (1.0 - taken[option]), found);
        }
    }

    /// Permute and flip has exactly the distribution of report noisy max with exponential noise, and both arithmetics draw
    /// from this distribution: chi-square of 100,000 draws is below 23.5, its 0.9999 quantile for 5 options (4 degrees of
    /// freedom).
    #[test]
    fn permute_and_flip_is_report_noisy_max() {
        let mechanism = PermuteAndFlip::new(Epsilon::new(1.5).unwrap(), Positive::new(0.5).unwrap());
        for utilities in [vec![0.3], vec![0.0, 0.4], vec![0.0, 0.0, -1.0], vec![1.0, 0.2, 0.9, -3.0, 0.2]] {
            let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let taken: Vec<f64> = utilities.iter().map(|u| libm::exp(1.5 * (u - best))).collect();
            let mut expected = vec![0.0; utilities.len()];
            let all: Vec<usize> = (0..utilities.len()).collect();
            by_all_orders(&taken, &all, 1.0, &mut expected);
            let formula = mechanism.log_probabilities(&utilities);
            for (p, log) in expected.iter().zip(&formula) {
                assert!((p - libm::exp(*log)).abs() < 1e-14, "{expected:?} {formula:?}");
            }
            for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
                let (n, mut counts, mut stream) =
                    (100_000, vec![0u32; utilities.len()], Key::root(12).stream());
                let own = mechanism.with(arithmetic);
                (0..n).for_each(|_| counts[own.privatise(&utilities, &mut stream).unwrap()] += 1);
                let terms = counts.iter().zip(&expected);
                let chi: f64 =
                    terms.map(|(c, p)| (f64::from(*c) - p * n as f64).powi(2) / (p * n as f64)).sum();
                assert!(chi < 23.5, "{arithmetic:?}: {chi}, {counts:?} for {expected:?}");
            }
        }
    }

    /// Two options, utilities (0, 0) and (1, -1) at sensitivity 1: the pure epsilon is reached, and the log-likelihood
    /// ratios of the two options differ by more than epsilon, so the mechanism is not epsilon-bounded-range.
    #[test]
    fn the_pure_epsilon_is_exact_and_the_range_is_larger() {
        for epsilon in [0.1, 1.0, 4.0] {
            let own = PermuteAndFlip::new(Epsilon::new(epsilon).unwrap(), Positive::new(1.0).unwrap());
            let laws = [[0.0, 0.0], [1.0, -1.0]].map(|utilities| own.log_probabilities(&utilities));
            let ratios = [laws[1][0] - laws[0][0], laws[1][1] - laws[0][1]];
            assert!((ratios[1] + epsilon).abs() < 1e-12, "{ratios:?}");
            let range = epsilon + libm::log(2.0 - libm::exp(-epsilon));
            assert!((ratios[0] - ratios[1] - range).abs() < 1e-12, "{ratios:?} for {range}");
        }
    }

    /// The computed probabilities are compared with frequencies of draws and, for options of which all but one have the same
    /// utility, with a closed form.
    #[test]
    fn probabilities_are_those_of_the_draws() {
        let mechanism = ReportNoisyMax::new(Epsilon::new(1.0).unwrap(), Positive::new(1.0).unwrap());
        let utilities = vec![0.0, 1.5, -2.0, 1.0];
        let of = |utilities: &[f64]| -> Vec<f64> {
            mechanism.log_probabilities(utilities).into_iter().map(libm::exp).collect()
        };
        let expected = of(&utilities);
        assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let (n, mut counts) = (100_000, [0u32; 4]);
        let mut stream = Key::root(8).stream();
        (0..n).for_each(|_| counts[mechanism.privatise(&utilities, &mut stream).unwrap()] += 1);
        for (count, p) in counts.iter().zip(&expected) {
            let error = 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(*count) / f64::from(n) - p).abs() < error, "{counts:?} for {expected:?}");
        }
        // If the utility of the first of n options is larger by 1 than that of each other option, the first option is
        // chosen with probability (1 - (1 - a)^n) / (n a), where a = e^(-1/2).
        let a = libm::exp(-0.5);
        let ahead: Vec<f64> = (0..21).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let found = of(&ahead)[0];
        assert!((found - (1.0 - libm::pow(1.0 - a, 21.0)) / (21.0 * a)).abs() < 1e-12, "{found}");
    }
}
