//! A number clipped to a public range, and noise of one kind on it: what the mechanisms of that form share.

use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::rounded::Grid;
use crate::privacy::mechanisms::{MechanismError, NoiseArithmetic, Price};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Sampler};

/// Noise of a kind: of a number of steps on a lattice, and of standard size in floating point.
pub(super) struct Kind {
    pub(super) exact: fn(&Grid, i128, u64, &mut Stream) -> f64,
    pub(super) ideal: fn(&mut Stream) -> f64,
}

/// Clipping to a range, and noise of a scale that hides where in it a number lies.
pub(super) struct Clipped {
    range: Range,
    /// Of the range: the sensitivity.
    width: f64,
    scale: f64,
    /// The lattice for exact noise, and how far two numbers in the range lie apart in its multiples.
    lattice: Option<(Grid, f64)>,
    arithmetic: NoiseArithmetic,
}

impl Clipped {
    /// Noise of a scale, in the numbers' units.
    ///
    /// # Errors
    /// [`MechanismError`] if the range is empty, or no lattice is as fine as the noise asks for.
    pub(super) fn new(range: Range, scale: f64, arithmetic: NoiseArithmetic) -> Result<Self, MechanismError> {
        let lattice = match arithmetic {
            NoiseArithmetic::Exact => Some(range.grid(scale)?),
            NoiseArithmetic::Ideal => None,
        };
        Ok(Self { range, width: range.width()?.get(), scale, lattice, arithmetic })
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// The price for any two numbers; `cost` is that of noise of so many times the sensitivity.
    pub(super) fn price(&self, mechanism: &'static str, cost: impl Fn(f64) -> Cost) -> Price {
        Price {
            mechanism,
            sampler: Sampler::Full,
            sensitivity: Some(self.width),
            cost: cost(self.scale / self.width),
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.booked(),
        }
    }

    /// A number with noise.
    pub(super) fn noisy(&self, input: f64, noise: &Kind, stream: &mut Stream) -> f64 {
        let value = self.range.clip(input);
        match &self.lattice {
            Some((grid, reach)) => {
                let scale = grid.scale(self.scale / self.width, *reach);
                (noise.exact)(grid, grid.round(value), scale, stream)
            }
            None => value + self.scale * (noise.ideal)(stream),
        }
    }
}
