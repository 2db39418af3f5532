//! A normally distributed delay, truncated at zero.

use super::Latency;
use crate::special::{normal_cdf, normal_quantile};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A normal delay truncated at 0: the normal distribution, conditional on not being negative.
///
/// `mean` and `sd` are those of the normal distribution before truncation. The mean of the truncated delay is
/// mean + sd phi(a) / Phi(a) with a = mean / sd, where phi and Phi are the density and the distribution function of the
/// standard normal distribution (Johnson, Kotz and Balakrishnan 1994, section 13.10.1).
///
/// Example: `Normal(mean: "40ms", sd: "5ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Mean before truncation, 0 or above.
    pub mean: Span,
    /// Standard deviation before truncation, above 0.
    pub sd: Span,
}

impl Latency for Normal {
    fn quantile(&self, u: f64) -> Span {
        let (mean, sd) = (self.mean.seconds(), self.sd.seconds());
        // The quantile is computed from the probability of a longer delay. A computation from the probability of a shorter
        // delay would add the probability that the untruncated delay is below 0, and if the mean is far above 0, rounding
        // would lose this small number.
        let upper = (1.0 - u) * normal_cdf(mean / sd);
        Span::from_seconds(mean - sd * normal_quantile(upper))
    }

    fn mean_seconds(&self) -> f64 {
        let (mean, sd) = (self.mean.seconds(), self.sd.seconds());
        let a = mean / sd;
        let density = libm::exp(-0.5 * a * a) / (2.0 * std::f64::consts::PI).sqrt();
        mean + sd * density / normal_cdf(a)
    }

    fn probability_within(&self, delay: Span) -> f64 {
        let (mean, sd) = (self.mean.seconds(), self.sd.seconds());
        1.0 - normal_cdf((mean - delay.seconds()) / sd) / normal_cdf(mean / sd)
    }

    fn problems(&self) -> Vec<Problem> {
        if self.sd > Span::ZERO {
            return Vec::new();
        }
        let cure = "write Constant(..) for a delay that never varies";
        vec![Problem::wrong("sd", "a standard deviation above 0", self.sd.to_string(), cure)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_truncated_law() {
        // mean = sd: the quantile at u is mean - sd Phi^-1((1 - u) Phi(1)); the numbers are from Python's
        // statistics.NormalDist.
        let law = Normal { mean: Span::from_millis(10), sd: Span::from_millis(10) };
        assert!((law.quantile(0.5).seconds() / 0.01 - 1.200_173_686).abs() < 1e-7);
        assert!((law.quantile(0.9).seconds() / 0.01 - 2.377_787_362).abs() < 1e-7);
        // The mean, in units of the mean before truncation, is 1 + phi(1) / Phi(1) = 1.287600.
        assert!((law.mean_seconds() / 0.01 - 1.287_600).abs() < 1e-6);
    }
}
