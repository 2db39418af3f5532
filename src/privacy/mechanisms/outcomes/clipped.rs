//! Clipping of a number to a public range, followed by noise: the code that mechanisms of this form share.

use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::rounded::Grid;
use crate::privacy::mechanisms::{MechanismError, NoiseArithmetic, Price};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Sampler};

/// A kind of noise: its exact sampler on a lattice, and its floating-point sampler at scale 1.
pub(super) struct Kind {
    pub(super) exact: fn(&Grid, i128, u64, &mut Stream) -> f64,
    pub(super) ideal: fn(&mut Stream) -> f64,
}

/// Clipping to a range, and noise whose scale is calibrated to the width of that range.
pub(super) struct Clipped {
    range: Range,
    /// Width of the range: the sensitivity.
    width: f64,
    scale: f64,
    /// The lattice for exact noise, and the largest distance between two numbers of the range after they are rounded, in
    /// multiples of the lattice's spacing.
    lattice: Option<(Grid, f64)>,
    arithmetic: NoiseArithmetic,
}

impl Clipped {
    /// Clipping to `range`, and noise of scale `scale`, both in the numbers' units.
    ///
    /// # Errors
    /// [`MechanismError`] if the range has no finite width above 0, or if no lattice suits both this width and the noise.
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

    /// The price of a release, for neighbours with any two numbers; `cost` returns the cost of noise whose scale is a given
    /// multiple of the sensitivity.
    pub(super) fn price(&self, mechanism: &'static str, cost: impl Fn(f64) -> Cost) -> Price {
        Price {
            mechanism,
            sampler: Sampler::Full,
            sensitivity: Some(self.width),
            cost: cost(self.scale / self.width),
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        }
    }

    /// The number after clipping, with noise added.
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
