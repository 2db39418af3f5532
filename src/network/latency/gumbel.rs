//! A Gumbel delay (the limiting distribution of the longest of many delays), truncated at zero.

use super::Latency;
use crate::special::entire_exponential_integral;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Gumbel delay truncated at 0: the limiting distribution of the longest of many delays, conditional on not being
/// negative.
///
/// Before truncation, the delay is at most t with probability exp(-exp(-(t - location) / scale)), and its mean is location +
/// 0.5772 scale. The mean of the truncated delay is scale Ein(e^a) / (1 - exp(-e^a)), where a = location / scale and Ein is
/// the entire exponential integral. This mean is the integral, over t from 0, of the probability that the truncated delay is
/// above t. Source: Johnson, Kotz and Balakrishnan 1995, chapter 22.
///
/// Example: `Gumbel(location: "40ms", scale: "5ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gumbel {
    /// Mode of the delay before truncation.
    pub location: Span,
    /// Scale, above 0; the standard deviation before truncation is 1.28 times as large.
    pub scale: Span,
}

impl Gumbel {
    /// The probability, before truncation, that the delay is not negative.
    fn kept(&self) -> f64 {
        -libm::expm1(-libm::exp(self.location.seconds() / self.scale.seconds()))
    }

    /// The probability, before truncation, of a delay above `seconds`.
    fn beyond(&self, seconds: f64) -> f64 {
        -libm::expm1(-libm::exp((self.location.seconds() - seconds) / self.scale.seconds()))
    }
}

impl Latency for Gumbel {
    fn quantile(&self, u: f64) -> Span {
        // The quantile is computed from the probability of a longer delay, and is therefore precise in the long upper tail.
        let above = (1.0 - u) * self.kept();
        let standard = -libm::log(-libm::log1p(-above));
        Span::from_seconds(self.location.seconds() + self.scale.seconds() * standard)
    }

    fn mean_seconds(&self) -> f64 {
        let (location, scale) = (self.location.seconds(), self.scale.seconds());
        scale * entire_exponential_integral(location / scale) / self.kept()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        1.0 - self.beyond(delay.seconds()) / self.kept()
    }

    fn problems(&self) -> Vec<Problem> {
        if self.scale > Span::ZERO {
            return Vec::new();
        }
        let cure = "write Constant(..) for a delay that never varies";
        vec![Problem::wrong("scale", "a scale above 0", self.scale.to_string(), cure)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_from_zero_truncation_has_no_effect() {
        let law = Gumbel { location: Span::from_millis(1000), scale: Span::from_millis(10) };
        // The median is location - scale ln ln 2, and the mean is location + scale times Euler's constant.
        assert!(
            (law.quantile(0.5).seconds() - (1.0 - 0.01 * libm::log(std::f64::consts::LN_2))).abs() < 1e-9
        );
        assert!((law.mean_seconds() - 1.005_772_156_649).abs() < 1e-12);
    }
}
