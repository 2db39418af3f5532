//! Gaussian noise on a number that was clipped to a public range.

use super::clipping::Range;
use super::{Gaussian, Mechanism, MechanismError, Price, all_finite, any_value};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Delta, Epsilon, Neighbours, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Moves a number into [low, high] and adds Gaussian noise that hides any of its values from any other.
///
/// * Precondition: none. The range is public and not taken from the data; the sensitivity is its width.
/// * Postcondition: (epsilon, delta)-DP, the smallest noise of that kind (analytic Gaussian), for any two values.
///
/// Source: Balle and Wang 2018, Theorem 8.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClippedGaussian {
    /// Epsilon of one release, above 0.
    pub epsilon: Epsilon,
    /// Delta, in (0, 1).
    pub delta: Delta,
    /// What the number is clipped to, in its units.
    pub range: Range,
}

const NAME: &str = "clipping, Gaussian noise";

impl ClippedGaussian {
    fn noise(&self) -> Result<Gaussian, MechanismError> {
        Gaussian::analytic(self.epsilon, self.delta, self.range.width()?)
    }

    /// Variance of the noise; public.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if the range is empty or too wide for any finite noise.
    pub fn variance(&self) -> Result<f64, MechanismError> {
        let noise = self.noise()?;
        Ok(noise.standard_deviation() * noise.standard_deviation())
    }
}

impl Mechanism for ClippedGaussian {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        any_value(NAME, neighbours)?;
        let (noise, width) = (self.noise()?, self.range.width()?.get());
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: Some(width),
            cost: Cost::Gaussian { noise_multiplier: noise.standard_deviation() / width },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        let noise = self.noise()?;
        all_finite(&[*input])?;
        Ok(self.range.clip(*input) + noise.standard_deviation() * stream.normal())
    }
}
