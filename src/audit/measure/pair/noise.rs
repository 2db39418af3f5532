//! The largest noise with which the output distributions of a pair of neighbours agree with the counts of an event in
//! trials, and the lower bound on epsilon that follows from this noise.
//!
//! The distributions are known up to the size of the noise ([`KnownPair`]). So the lower bound also includes the loss
//! at outputs in the tail that occurred in no trial.
//!
//! Source: Nasr et al. 2023, "Tight auditing of differentially private machine learning", section 5.3, for Gaussian
//! differential privacy; here the method is used for every known distribution.

use super::known::{KnownPair, Law};
use crate::accounting::exact_pair::{Curve, Discrete};
use crate::audit::measure::evidence::Counts;
use crate::vocab::Cost;

impl KnownPair {
    /// The pair with `factor` times its noise; the same pair if only its largest loss is known ([`Law::Largest`]).
    fn with_noise(&self, factor: f64) -> Self {
        let law = match &self.law {
            Law::Composed(costs) => {
                Law::Composed(costs.iter().map(|(cost, count)| (noisier(cost, factor), *count)).collect())
            }
            Law::Shown(cases) => {
                Law::Shown(cases.iter().map(|(weight, mu)| (*weight, mu / factor)).collect())
            }
            Law::Discrete(noise) => Law::Discrete(Discrete::new(noise.sigma * factor, noise.steps)),
            Law::Largest(epsilon) => Law::Largest(*epsilon),
        };
        Self { law, premise: self.premise.clone() }
    }

    /// Whether no event on this pair can have probability at least `p` on one side and at most `q` on the other, because
    /// p > e^epsilon q + delta for some (epsilon, delta) that holds for the pair.
    fn excludes(&self, p: f64, q: f64) -> bool {
        let curve = self.few().and_then(|costs| Curve::of(costs, 1.0));
        let epsilon =
            |delta: f64| curve.as_ref().map_or_else(|| self.epsilon(delta), |curve| curve.epsilon(delta));
        // Golden-section search for the delta with the largest ln((p - delta) / q) - epsilon(delta), over the logit of
        // delta / p. A value above 0 at any delta excludes the event, so a missed maximum only makes the bound on the
        // noise less tight.
        let excess = |share: f64| libm::log(p * (1.0 - share) / q) - epsilon(p * share);
        let (mut low, mut high) = (-14.0f64, 7.0f64);
        let at = |logit: f64| excess(1.0 / (1.0 + libm::exp(-logit)));
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        let (mut of_left, mut of_right) = (at(left), at(right));
        for _ in 0..18 {
            if of_left > 0.0 || of_right > 0.0 {
                return true;
            }
            if of_left > of_right {
                (high, right, of_right) = (right, left, of_left);
                left = high - GOLDEN * (high - low);
                of_left = at(left);
            } else {
                (low, left, of_left) = (left, right, of_right);
                right = low + GOLDEN * (high - low);
                of_right = at(right);
            }
        }
        of_left > 0.0 || of_right > 0.0
    }

    /// The largest factor on the noise that is consistent with these counts of an event, where the limits of the
    /// event's probabilities are wrong with probability at most `error`. It is infinite if the counts exclude no factor
    /// up to 256, or if counts cannot bound the noise of this pair ([`Self::is_model`]).
    ///
    /// If the pair had more noise than this factor states, no event could have at least the lower limit as its
    /// probability on one side and at most the upper limit on the other. The more noise, the smaller the losses, so
    /// every larger factor is excluded too.
    #[must_use]
    pub(in crate::audit::measure) fn largest_noise_factor(&self, counts: Counts, error: f64) -> f64 {
        let (p, q) = counts.limits(error);
        if !self.is_model() || p <= q || q <= 0.0 {
            return f64::INFINITY;
        }
        // Bisection over the binary logarithm of the factor, from about -8 to 8; most answers lie a little above 0.
        let excluded = |power: f64| self.with_noise(libm::exp2(power)).excludes(p, q);
        let (mut low, mut high) = (0.0f64, 0.125f64);
        while !excluded(high) {
            if high > 6.0 {
                return f64::INFINITY;
            }
            (low, high) = (high, 2.0 * high);
        }
        while low <= 0.0 && excluded(low) {
            if low < -6.0 {
                break;
            }
            (low, high) = (2.0 * low - 0.125, low);
        }
        while high - low > 2e-3 {
            let middle = 0.5 * (low + high);
            if excluded(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        libm::exp2(high)
    }

    /// Epsilon at `delta` of the pair with `factor` times its noise. It is a lower bound on the pair's epsilon if the
    /// model holds and the noise is at most `factor` times the stated noise. It is 0 for an infinite factor.
    #[must_use]
    pub(in crate::audit::measure) fn at_noise(&self, factor: f64, delta: f64) -> f64 {
        if !factor.is_finite() {
            return 0.0;
        }
        let pair = self.with_noise(factor);
        // `rough` is computed with cells of the usual width, `fine` with cells of half that width. `fine` is too large by
        // about (rough - fine) / 3. Three times this error is subtracted, so that the result is a lower bound.
        pair.in_cells(delta)
            .map_or_else(|| pair.without_cells(delta).0, |(rough, fine)| (2.0 * fine - rough).max(0.0))
    }
}

fn noisier(cost: &Cost, factor: f64) -> Cost {
    match *cost {
        Cost::Gaussian { noise_multiplier } => Cost::Gaussian { noise_multiplier: factor * noise_multiplier },
        Cost::Laplace { scale } => Cost::Laplace { scale: factor * scale },
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            Cost::PoissonGaussian { rate, noise_multiplier: factor * noise_multiplier }
        }
        ref other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Accountant, Composition, Tight};
    use crate::special::normal_cdf;
    use crate::vocab::Delta;

    /// With the true probabilities as counts, the noise that is found is the true noise, whatever the event.
    #[test]
    fn true_probabilities_give_the_true_noise() {
        let trials = 1_000_000_000_000u64;
        let counts = |p: f64, q: f64| Counts {
            trials: [trials; 2],
            hits: [(p * trials as f64) as u64, (q * trials as f64) as u64],
        };
        for threshold in [0.5, 1.5, 3.0] {
            let above = |mean: f64| normal_cdf(mean - threshold);
            let gaussian =
                KnownPair::gaussian(1.0).largest_noise_factor(counts(above(1.0), above(0.0)), 1e-3);
            assert!((0.995..1.01).contains(&gaussian), "{threshold}: {gaussian}");
            let cost = Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 };
            let sampled = KnownPair::composed(vec![(cost, 1)], "");
            let found =
                sampled.largest_noise_factor(counts(0.75 * above(0.0) + 0.25 * above(1.0), above(0.0)), 1e-3);
            assert!((0.995..1.01).contains(&found), "{threshold}: {found}");
        }
        let blind = KnownPair::gaussian(1.0).largest_noise_factor(counts(0.3, 0.3), 1e-3);
        assert!(blind.is_infinite() && KnownPair::gaussian(1.0).at_noise(blind, 1e-5) == 0.0);
    }

    /// With more than 16 releases, the accountant prices the pair; its upper bound is above its lower bound.
    #[test]
    fn the_loss_of_many_releases_is_a_lower_bound() {
        let delta = Delta::new(1e-5).unwrap();
        for (rate, noise_multiplier, count) in [(0.1, 2.0, 400), (0.03, 1.0, 17), (0.01, 0.5, 17)] {
            let cost = Cost::PoissonGaussian { rate, noise_multiplier };
            let composition: Composition = [(&cost, count)].into_iter().collect();
            let priced = Tight.price(&composition, delta);
            let found = KnownPair::composed(vec![(cost, count)], "").at_noise(1.0, delta.get());
            let lower = priced.lower.unwrap();
            assert!(
                lower < priced.epsilon && found <= lower && found > 0.999 * lower,
                "{found} of {priced:?}"
            );
        }
    }
}
