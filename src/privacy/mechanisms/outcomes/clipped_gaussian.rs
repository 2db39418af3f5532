//! Gaussian noise on a number that was clipped to a public range.

use super::outcome::{Outcome, OutcomeMechanism};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::pair::{Distinguisher, Pair, under_gaussian};
use crate::privacy::mechanisms::{Gaussian, Mechanism, MechanismError, NoiseArithmetic, Price, any_value};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Delta, Epsilon, Neighbours, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::slice;

/// Moves a number into [low, high] and adds Gaussian noise that hides any of its values from any other.
///
/// * Precondition: none (NaN becomes `low`). The range is public and not taken from the data; the sensitivity is its width.
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
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

const NAME: &str = "clipping, Gaussian noise";

impl ClippedGaussian {
    fn noise(&self) -> Result<Gaussian, MechanismError> {
        let noise = Gaussian::analytic(self.epsilon, self.delta, self.range.width()?)?;
        if self.arithmetic == NoiseArithmetic::Exact {
            self.range.grid(noise.standard_deviation())?;
        }
        Ok(noise)
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
            arithmetic: self.arithmetic.booked(),
        })
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        let (noise, value) = (self.noise()?, self.range.clip(*input));
        match self.arithmetic {
            NoiseArithmetic::Exact => {
                let (grid, reach) = self.range.grid(noise.standard_deviation())?;
                let scale = grid.scale(noise.standard_deviation() / self.range.width()?.get(), reach);
                Ok(grid.plus_normal(grid.round(value), scale, stream))
            }
            NoiseArithmetic::Ideal => Ok(value + noise.standard_deviation() * stream.normal()),
        }
    }

    fn worst_pair(&self, _: &f64) -> Option<Pair<f64>> {
        self.range.worst_pair()
    }

    fn distinguisher(&self, [a, b]: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        let means = [*a, *b].map(|value| [self.range.clip(value)]);
        Ok(under_gaussian([&means[0], &means[1]], self.noise()?.standard_deviation(), slice::from_ref))
    }
}

impl Outcome for ClippedGaussian {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        Some(self)
    }

    fn variance(&self) -> Result<f64, MechanismError> {
        let noise = self.noise()?;
        Ok(noise.standard_deviation() * noise.standard_deviation())
    }

    fn delta(&self) -> f64 {
        self.delta.get()
    }
}
