//! Acquisition functions of the mean and the standard deviation at one point, with their derivatives.
//!
//! phi and Phi are the density and the distribution function of the standard normal distribution.

use crate::special::{normal_cdf, scaled_erfc};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// ln sqrt(2 pi).
pub(super) const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_8;
/// For z up to this number, ln(phi(z) + z Phi(z)) is computed by its asymptotic series.
const FAR: f64 = -25.0;

/// A value, and its derivatives with respect to the mean and to the standard deviation.
pub(super) type Scored = (f64, f64, f64);

/// An acquisition function, with the numbers that it needs besides the mean and the standard deviation at a point.
///
/// f is the objective's unknown value, without noise, at the point for which the acquisition function is computed. f is
/// normally distributed with mean `mean` and standard deviation `sd`. `best` is the best value so far.
#[derive(Clone, Debug)]
pub(super) enum Score {
    /// ln E max(f - best, 0).
    LogImprovement { best: f64 },
    /// E max(f - best, 0).
    Improvement { best: f64 },
    /// ln P(f > best).
    LogProbability { best: f64 },
    /// `mean` + `weight` `sd`.
    UpperBound { weight: f64 },
    /// The information that f gives about the objective's largest value, averaged over draws of the largest value.
    LargestValue { draws: Vec<f64> },
}

impl Score {
    /// The value, and its derivatives, at a point with mean `mean` and standard deviation `sd`; `sd` must be above 0.
    pub(super) fn at(&self, mean: f64, sd: f64) -> Scored {
        match self {
            Self::LogImprovement { best } => {
                let z = (mean - best) / sd;
                let (value, by_z) = log_improvement(z);
                (libm::log(sd) + value, by_z / sd, (1.0 - by_z * z) / sd)
            }
            Self::Improvement { best } => {
                let z = (mean - best) / sd;
                let (value, _) = log_improvement(z);
                (sd * libm::exp(value), normal_cdf(z), density(z))
            }
            Self::LogProbability { best } => {
                let z = (mean - best) / sd;
                let (value, by_z) = log_cdf(z);
                (value, by_z / sd, -by_z * z / sd)
            }
            Self::UpperBound { weight } => (mean + weight * sd, 1.0, *weight),
            Self::LargestValue { draws } => {
                let (mut sum, mut by_mean, mut by_sd) = (0.0, 0.0, 0.0);
                for draw in draws {
                    let gamma = (draw - mean) / sd;
                    let (logarithm, ratio) = log_cdf(gamma);
                    sum += 0.5 * gamma * ratio - logarithm;
                    // As a function of gamma, phi / Phi (`ratio`) has the derivative -gamma ratio - ratio^2.
                    let slope = -0.5 * ratio - 0.5 * gamma * ratio * (gamma + ratio);
                    by_mean -= slope / sd;
                    by_sd -= slope * gamma / sd;
                }
                let n = draws.len().max(1) as f64;
                (sum / n, by_mean / n, by_sd / n)
            }
        }
    }
}

fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z - LOG_ROOT_TAU)
}

/// ln Phi(z) and its derivative phi(z) / Phi(z), without underflow.
pub(super) fn log_cdf(z: f64) -> (f64, f64) {
    if z > 0.0 {
        let below = normal_cdf(-z);
        return (libm::log1p(-below), density(z) / (1.0 - below));
    }
    let scaled = scaled_erfc(-z * FRAC_1_SQRT_2);
    (libm::log(0.5 * scaled) - 0.5 * z * z, SQRT_2 / (PI.sqrt() * scaled))
}

/// ln h(z), where h(z) = phi(z) + z Phi(z) is the expected improvement in units of sd, and its derivative Phi(z) / h(z).
///
/// Source: Ament, Daulton, Eriksson, Balandat and Bakshy 2023, "Unexpected improvements to expected improvement for Bayesian
/// optimization", equation 9. From z = -25 downwards this function uses the asymptotic series
/// h = (phi / z^2) (1 - 3 / z^2 + 15 / z^4 - ..) instead of the paper's formulas. The paper takes the logarithm of a
/// difference, which loses digits, and for z still further below 0 it uses only the first term of the series.
pub(super) fn log_improvement(z: f64) -> (f64, f64) {
    if z > -1.0 {
        let cdf = normal_cdf(z);
        let h = density(z) + z * cdf;
        return (libm::log(h), cdf / h);
    }
    let scaled = scaled_erfc(-z * FRAC_1_SQRT_2);
    let gaussian = -0.5 * z * z - LOG_ROOT_TAU;
    // h / phi, which is 1 + z Phi(z) / phi(z).
    let share = if z > FAR {
        1.0 + z * scaled * (0.5 * PI).sqrt()
    } else {
        let inverse = 1.0 / (z * z);
        let (mut term, mut sum) = (1.0, 1.0);
        for n in 1..=7 {
            term *= -f64::from(2 * n + 1) * inverse;
            sum += term;
        }
        sum * inverse
    };
    (gaussian + libm::log(share), scaled * (0.5 * PI).sqrt() / share)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values of LogExpectedImprovement, ExpectedImprovement and LogProbabilityOfImprovement (best_f = 0.7) are
    /// those of BoTorch 0.18.1 in double precision, for a posterior with the row's mean and standard deviation. They were
    /// computed by botorch.acquisition.analytic's own helpers `_log_ei_helper` and `_ei_helper`, and by
    /// torch.special.log_ndtr (torch 2.15.0), with z = (mean - 0.7) / sd. The last column, ln h(z) + ln sd, was computed
    /// with mpmath 1.3 and 50 digits.
    #[test]
    fn values_are_those_of_botorch_and_of_mpmath() {
        for (mean, sd, log_ei, ei, log_pi, exact) in [
            (
                0.9,
                0.5,
                -1.154_486_316_063_147_1,
                0.315_219_418_473_726_6,
                -0.422_476_370_227_775_95,
                -1.154_486_316_063_147_3,
            ),
            (
                0.7,
                0.3,
                -2.122_911_337_530_609,
                0.119_682_684_120_429_8,
                -core::f64::consts::LN_2,
                -2.122_911_337_530_608_6,
            ),
            (
                0.1,
                0.4,
                -4.446_226_652_679_865,
                0.011_722_717_505_041_842,
                -2.705_944_400_823_889_3,
                -4.446_226_652_679_864,
            ),
            (
                -1.0,
                0.5,
                -10.046_669_185_921_466,
                4.332_983_258_581_154e-05,
                -7.995_637_543_776_654,
                -10.046_669_185_921_468,
            ),
            (
                -3.0,
                0.25,
                -117.227_970_841_047_45,
                1.226_137_398_318_806_2e-51,
                -113.138_080_120_288_52,
                -117.227_970_841_047_44,
            ),
            (-4.0, 0.1, -1_115.423_174_764_792_5, 0.0, -1_109.269_538_317_253_6, -1_115.423_174_764_793),
            (-30.0, 0.1, -47_139.175_250_950_75, 0.0, -47_131.145_796_890_71, -47_139.175_250_950_764),
            (5.0, 0.5, 1.458_615_022_699_516_5, 4.3, -3.985_804_962_848_149e-18, 1.458_615_022_699_516_7),
        ] {
            let close = |found: f64, expected: f64, share: f64, what: &str| {
                let error = (found - expected).abs() / expected.abs().max(1e-300);
                assert!(error < share, "{what} at {mean}, {sd}: {found} {expected}");
            };
            close(Score::LogImprovement { best: 0.7 }.at(mean, sd).0, exact, 1e-12, "log-EI (mpmath)");
            close(Score::LogImprovement { best: 0.7 }.at(mean, sd).0, log_ei, 1e-7, "log-EI");
            if ei > 1e-290 {
                close(Score::Improvement { best: 0.7 }.at(mean, sd).0, ei, 1e-9, "EI");
            }
            close(Score::LogProbability { best: 0.7 }.at(mean, sd).0, log_pi, 1e-9, "log-PI");
        }
    }

    /// The class qLowerBoundMaxValueEntropy of BoTorch 0.18.1 has no analytic values to compare with. The expected values
    /// are gamma phi(gamma) / (2 Phi(gamma)) - ln Phi(gamma) with gamma = (draw - mean) / sd (Wang and Jegelka 2017,
    /// equation 6), averaged over the draws 1.0, 1.4 and 2.5. They were computed with mpmath 1.3 and 50 digits.
    #[test]
    fn information_about_the_largest_value_is_that_of_mpmath() {
        let score = Score::LargestValue { draws: vec![1.0, 1.4, 2.5] };
        for (mean, sd, expected) in [
            (0.9, 0.5, 0.311_523_324_786_934_73),
            (0.1, 0.4, 0.017_441_711_520_644_738),
            (-3.0, 0.25, 2.757_730_537_650_235_6e-56),
            (2.0, 0.1, 1.667_381_373_497_428_3),
            (3.0, 1.0, 1.195_128_647_422_179_8),
        ] {
            let found = score.at(mean, sd).0;
            // In the third row, the mean is 16 standard deviations below the smallest draw. The expected value is then of
            // the order 1e-56, and a larger relative error is allowed.
            let share = if expected > 1e-50 { 1e-10 } else { 1e-6 };
            assert!((found / expected - 1.0).abs() < share, "{mean} {sd}: {found} {expected}");
        }
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let scores = [
            Score::LogImprovement { best: 0.7 },
            Score::Improvement { best: 0.7 },
            Score::LogProbability { best: 0.7 },
            Score::UpperBound { weight: 1.7 },
            Score::LargestValue { draws: vec![0.9, 1.5] },
        ];
        for score in scores {
            for (mean, sd) in [(0.9, 0.5), (0.3, 0.2), (-1.0, 0.3), (-9.0, 0.2), (0.7, 1.0)] {
                let (_, by_mean, by_sd) = score.at(mean, sd);
                let h = 1e-6 * sd;
                let numeric_mean = (score.at(mean + h, sd).0 - score.at(mean - h, sd).0) / (2.0 * h);
                let numeric_sd = (score.at(mean, sd + h).0 - score.at(mean, sd - h).0) / (2.0 * h);
                let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs());
                assert!(near(by_mean, numeric_mean), "{score:?} {mean} {sd}: {by_mean} {numeric_mean}");
                assert!(near(by_sd, numeric_sd), "{score:?} {mean} {sd}: {by_sd} {numeric_sd}");
            }
        }
    }
}
