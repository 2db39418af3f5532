//! The likelihood-ratio test for two neighbouring inputs of a subsampled Gaussian sum. The mean of the sum differs between
//! the two inputs only if the unit in which they differ is in the sample.

use super::pair::{Distinguisher, KnownLaws, Laws};
use crate::vocab::Cost;

/// The output distributions of a subsampled Gaussian sum on two inputs, D and D', that differ in one unit. They
/// are given by the probability that the unit is drawn, the standard deviation of the noise, the mean if the unit is not
/// drawn, and what the unit adds to this mean if it is drawn: one vector on D and one on D'.
#[derive(Clone, Debug, PartialEq)]
pub struct SubsampledShift {
    /// Probability that the unit is drawn.
    pub rate: f64,
    /// Standard deviation of the noise on every number.
    pub sd: f64,
    /// The mean if the unit is not drawn, which is the same on D and D'.
    pub base: Vec<f64>,
    /// The vector that the unit adds to the mean if it is drawn, on D and on D'.
    pub moved: [Vec<f64>; 2],
}

const SAMPLED: &str = "the noise is Gaussian, sampling is as stated, and only the noise's size is unknown";
const SHOWN: &str =
    "the noise is Gaussian, participation is as stated and visible, and only the noise's size is unknown";

impl SubsampledShift {
    /// The distance between the two means if the unit is drawn, in standard deviations; 0 if they are equal.
    #[must_use]
    pub fn mean_distance(&self) -> f64 {
        let square: f64 = self.moved[0].iter().zip(&self.moved[1]).map(|(a, b)| (a - b) * (a - b)).sum();
        if square > 0.0 { square.sqrt() / self.sd } else { 0.0 }
    }

    /// Whether the unit adds nothing on D', so that the output on D' does not depend on whether the unit was drawn.
    fn is_plain(&self) -> bool {
        self.moved[1].iter().all(|value| value.abs() <= 1e-9 * self.sd)
    }

    /// ln of the ratio of the densities of an output on D and on D'. `drawn` is whether the unit was drawn; `None` for
    /// an observer who does not see whether it was drawn.
    #[must_use]
    pub fn log_ratio(&self, point: impl Iterator<Item = f64> + Clone, drawn: Option<bool>) -> f64 {
        let along = |moved: &[f64]| -> f64 {
            let parts = point.clone().zip(&self.base).zip(moved);
            parts.map(|((y, base), by)| ((y - base) * by - 0.5 * by * by) / (self.sd * self.sd)).sum()
        };
        let log = |moved: &[f64]| match drawn {
            Some(true) => along(moved),
            Some(false) => 0.0,
            None => log_mixture(self.rate, along(moved)),
        };
        log(&self.moved[0]) - log(&self.moved[1])
    }

    /// The output distributions on the two inputs; `None` if they are not known. With `shown`, the observer sees
    /// whether the unit was drawn.
    #[must_use]
    pub fn laws(&self, shown: bool) -> Option<KnownLaws> {
        let (rate, mu) = (self.rate, self.mean_distance());
        // Without noise the distance is infinite, and no cost describes that.
        if mu > 0.0 && !mu.is_finite() {
            return None;
        }
        if shown {
            return Some(KnownLaws { laws: Laws::Shown { rate, mu }, premise: SHOWN });
        }
        let noise_multiplier = 1.0 / mu;
        let costs = if mu <= 0.0 {
            Vec::new()
        } else if rate >= 1.0 {
            vec![Cost::Gaussian { noise_multiplier }]
        } else if self.is_plain() {
            vec![Cost::PoissonGaussian { rate, noise_multiplier }]
        } else {
            return None;
        };
        Some(KnownLaws { laws: Laws::Costs(costs), premise: SAMPLED })
    }

    /// The test that distinguishes the two inputs, for an observer who does not see who was drawn.
    #[must_use]
    pub(super) fn distinguisher(self) -> Distinguisher<Vec<f64>> {
        let laws = self.laws(false);
        let log_ratio = move |y: &Vec<f64>| self.log_ratio(y.iter().copied(), None);
        Distinguisher::by_ratio(log_ratio, laws)
    }
}

/// ln(1 - q + q e^a).
fn log_mixture(q: f64, a: f64) -> f64 {
    if q >= 1.0 {
        return a;
    }
    if a > 0.0 { a + libm::log(q + (1.0 - q) * libm::exp(-a)) } else { libm::log1p(q * libm::expm1(a)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with densities computed directly: a mixture of two normal distributions, and one normal distribution.
    #[test]
    fn the_ratio_is_that_of_the_densities() {
        let moved = SubsampledShift { rate: 0.25, sd: 2.0, base: vec![-1.0], moved: [vec![2.0], vec![0.0]] };
        let normal = |y: f64, mean: f64| libm::exp(-0.5 * ((y - mean) / 2.0).powi(2));
        for y in [-9.0, -1.0, 0.3, 7.0] {
            let found = moved.log_ratio([y].into_iter(), None);
            let expected = libm::log((0.75 * normal(y, -1.0) + 0.25 * normal(y, 1.0)) / normal(y, -1.0));
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
        let cost = Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 };
        assert_eq!(moved.laws(false).unwrap().laws, Laws::Costs(vec![cost]));
        assert_eq!(moved.laws(true).unwrap().laws, Laws::Shown { rate: 0.25, mu: 1.0 });
        // If the output on D' depends on the sample as well, the laws of the pair are known only if the sample is visible.
        let both = SubsampledShift { moved: [vec![2.0], vec![-2.0]], ..moved };
        assert!(both.laws(false).is_none() && both.laws(true).is_some());
    }

    /// In two dimensions, the result is compared with normal densities of standard deviation 2: for an observer who sees
    /// whether the unit was drawn, and for one who does not.
    #[test]
    fn a_visible_sample_gives_the_ratio_of_one_density() {
        let moved = SubsampledShift {
            rate: 0.25,
            sd: 2.0,
            base: vec![-1.0, 0.5],
            moved: [vec![2.0, 1.0], vec![-1.0, 5.0]],
        };
        assert!((moved.mean_distance() - 2.5).abs() < 1e-15);
        let log =
            |y: [f64; 2], by: [f64; 2]| -((y[0] + 1.0 - by[0]).powi(2) + (y[1] - 0.5 - by[1]).powi(2)) / 8.0;
        for y in [[0.0, 0.0], [3.0, -2.0]] {
            let found = |drawn| moved.log_ratio(y.into_iter(), drawn);
            let (given, neighbour, base) = (log(y, [2.0, 1.0]), log(y, [-1.0, 5.0]), log(y, [0.0, 0.0]));
            assert!((found(Some(true)) - (given - neighbour)).abs() < 1e-12);
            assert_eq!(found(Some(false)), 0.0);
            let mixture = |log: f64| libm::log(0.75 * libm::exp(base) + 0.25 * libm::exp(log));
            assert!((found(None) - (mixture(given) - mixture(neighbour))).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_means_cost_nothing_and_sums_without_noise_have_no_known_law() {
        let of =
            |rate, sd, by: f64| SubsampledShift { rate, sd, base: vec![0.0], moved: [vec![by], vec![0.0]] };
        assert_eq!(of(0.5, 1.0, 0.0).laws(false).unwrap().laws, Laws::Costs(vec![]));
        assert_eq!(of(0.5, 0.0, 0.0).mean_distance(), 0.0);
        assert!(of(0.5, 0.0, 1.0).laws(false).is_none() && of(0.5, 0.0, 1.0).laws(true).is_none());
        let always = of(1.0, 3.0, 1.5).laws(false).unwrap().laws;
        assert_eq!(always, Laws::Costs(vec![Cost::Gaussian { noise_multiplier: 2.0 }]));
        // A vector on D' within 1e-9 standard deviations counts as zero.
        let nearly = |share: f64| SubsampledShift { moved: [vec![1.0], vec![share]], ..of(0.5, 2.0, 0.0) };
        assert!(nearly(2e-9).laws(false).is_some() && nearly(-2.1e-9).laws(false).is_none());
    }

    /// Far out, one of the two densities is negligible: ln q + a remains if a is large, ln(1 - q) if a is very negative.
    #[test]
    fn a_mixture_far_out_does_not_overflow() {
        for a in [40.0, 700.0, 1000.0] {
            assert!((log_mixture(0.25, a) - (a + libm::log(0.25))).abs() < 1e-12, "{a}");
            assert!((log_mixture(0.25, -a) - libm::log(0.75)).abs() < 1e-15, "{a}");
        }
        assert_eq!((log_mixture(0.25, 0.0), log_mixture(1.0, -3.0)), (0.0, -3.0));
    }
}
