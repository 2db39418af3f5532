//! Normal noise, truncated to an interval around 0.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::special::{normal_cdf, normal_quantile};
use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Normal noise, conditional on an absolute value of at most R. A draw takes one random word.
///
/// Its variance is sd^2 (1 - 2 a phi(a) / (2 Phi(a) - 1)), where a = R / sd, and phi and Phi are the density and the
/// distribution function of the standard normal distribution. Source: Johnson, Kotz and Balakrishnan 1994, section 13.10.1.
///
/// Example: `TruncatedGaussian(sd: 0.5, bound: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TruncatedGaussian {
    /// Standard deviation before truncation, in units of the outcome, above 0.
    pub sd: Positive,
    /// R, in units of the outcome, above 0.
    pub bound: Positive,
}

impl TruncatedGaussian {
    /// R in standard deviations.
    fn reach(&self) -> f64 {
        self.bound.get() / self.sd.get()
    }
}

/// Below this value of R / sd, quantiles are computed by a series, because the probability within the bound is so small
/// that rounding errors of the distribution function would show. At this value, the neglected terms of the series change
/// a draw by less than 1e-19 of its size.
const NARROW: f64 = 1e-3;

/// The quantile at probability (1 + share) / 2 of a standard normal number conditional on an absolute value of at most
/// `reach`, which is at most [`NARROW`]. It is computed by the series of the integral of exp(-z^2 / 2),
/// z - z^3 / 6 + z^5 / 40, and the series of its inverse.
fn narrow_quantile(reach: f64, share: f64) -> f64 {
    let square = reach * reach;
    let w = share * reach * (1.0 - square / 6.0 + square * square / 40.0);
    let square = w * w;
    w * (1.0 + square / 6.0 + 7.0 * square * square / 120.0)
}

impl NoiseLaw for TruncatedGaussian {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let u = stream.open_uniform();
        if self.reach() < NARROW {
            let z = narrow_quantile(self.reach(), 2.0 * u - 1.0);
            return (self.sd.get() * z).clamp(-self.bound.get(), self.bound.get());
        }
        let below = normal_cdf(-self.reach());
        // Quantiles are computed from the nearer end, so that small probabilities keep their precision.
        let tail = |share: f64| normal_quantile(below + share * (1.0 - 2.0 * below));
        let z = if u < 0.5 { tail(u) } else { -tail(1.0 - u) };
        (self.sd.get() * z).clamp(-self.bound.get(), self.bound.get())
    }

    fn variance(&self) -> f64 {
        let (a, sd) = (self.reach(), self.sd.get());
        if a < 0.01 {
            // The distribution is nearly uniform. This is the variance's series in a, up to an error of order R^2 a^4.
            return self.bound.get() * self.bound.get() * (1.0 / 3.0 - 2.0 * a * a / 45.0);
        }
        let density = libm::exp(-0.5 * a * a) / (2.0 * std::f64::consts::PI).sqrt();
        sd * sd * (1.0 - 2.0 * a * density / (1.0 - 2.0 * normal_cdf(-a)))
    }

    fn bound(&self) -> Option<f64> {
        Some(self.bound.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn noise(sd: f64, bound: f64) -> TruncatedGaussian {
        TruncatedGaussian { sd: Positive::new(sd).unwrap(), bound: Positive::new(bound).unwrap() }
    }

    /// With a bound far below the standard deviation, the distribution is nearly uniform, with kurtosis 1.8. The mean square
    /// of 100,000 draws is within six standard errors of the variance.
    #[test]
    fn a_narrow_bound_gives_uniform_noise() {
        for sd in [1e17, 1e90, 1e5] {
            let noise = noise(sd, 1.0);
            let mut stream = Key::root(3).stream();
            let n = 100_000;
            let square = (0..n).map(|_| noise.draw(&mut stream)).map(|v| v * v).sum::<f64>() / f64::from(n);
            let error = (0.8 / f64::from(n)).sqrt() / 3.0;
            assert!((square - noise.variance()).abs() < 6.0 * error, "{sd}: {square}");
        }
    }

    #[test]
    fn the_series_continues_the_distribution() {
        let (narrow, wide) = (noise(1.0 / NARROW * 1.000_001, 1.0), noise(1.0 / NARROW, 1.0));
        let (mut a, mut b) = (Key::root(3).stream(), Key::root(3).stream());
        for _ in 0..1000 {
            assert!((narrow.draw(&mut a) - wide.draw(&mut b)).abs() < 1e-11);
        }
    }
}
