//! Gaussian noise on a number that was clipped to a public range.

use super::clipped::{Clipped, Kind};
use super::outcome::{Outcome, OutcomeMechanism};
use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::pair::{Distinguisher, Pair, under_gaussian};
use crate::privacy::mechanisms::rounded::Grid;
use crate::privacy::mechanisms::{Gaussian, Mechanism, MechanismError, NoiseArithmetic, Price, any_value};
use crate::rng::Stream;
use crate::vocab::{Cost, Delta, Epsilon, Neighbours};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::slice;

/// Clips a number to [low, high] and adds Gaussian noise; the guarantee holds for any two values.
///
/// * Precondition: none (NaN becomes `low`). The range is public and not taken from the data; the sensitivity is its
///   width.
/// * Postcondition: (epsilon, delta)-DP for any two values, with the smallest Gaussian noise for which this holds
///   (analytic Gaussian).
///
/// Source: Balle and Wang 2018, Theorem 8.
///
/// Example: `ClippedGaussian(epsilon: 3, delta: 1e-5, range: Range(low: -3, high: 3))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClippedGaussian {
    /// Epsilon of one release, above 0.
    pub epsilon: Epsilon,
    /// Delta, in (0, 1).
    pub delta: Delta,
    /// The public range to which the number is clipped, in units of the number.
    pub range: Range,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

const NAME: &str = "clipping, Gaussian noise";

const NOISE: Kind = Kind { exact: Grid::plus_normal, ideal: Stream::normal };

impl ClippedGaussian {
    fn noise(&self) -> Result<Clipped, MechanismError> {
        let noise = Gaussian::analytic(self.epsilon, self.delta, self.range.width()?)?;
        Clipped::new(self.range, noise.standard_deviation(), self.arithmetic)
    }
}

impl Mechanism for ClippedGaussian {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        any_value(NAME, neighbours)?;
        Ok(self.noise()?.price(NAME, |noise_multiplier| Cost::Gaussian { noise_multiplier }))
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        Ok(self.noise()?.noisy(*input, &NOISE, stream))
    }

    fn worst_pair(&self, _: &f64) -> Option<Pair<f64>> {
        self.range.worst_pair()
    }

    fn distinguisher(&self, [a, b]: [&f64; 2]) -> Result<Distinguisher<f64>, MechanismError> {
        let means = [*a, *b].map(|value| [self.range.clip(value)]);
        Ok(under_gaussian([&means[0], &means[1]], self.noise()?.scale(), slice::from_ref))
    }
}

impl Outcome for ClippedGaussian {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        Some(self)
    }

    fn variance(&self) -> Result<f64, MechanismError> {
        let noise = self.noise()?;
        Ok(noise.scale() * noise.scale())
    }

    fn delta(&self) -> f64 {
        self.delta.get()
    }
}
