//! Gaussian noise on a sum over a random sample of units: what the two samplers share.

use super::clipping::clip_norm;
use super::rounded::Grid;
use super::{MechanismError, NoiseArithmetic, all_finite};
use crate::rng::Stream;
use crate::vocab::Positive;

/// The contributions of all units, of one length each.
pub type Contributions = Vec<Vec<f64>>;

/// Checks shapes and gives the length of a contribution.
pub(super) fn length(units: &Contributions) -> Result<usize, MechanismError> {
    let Some(first) = units.first() else {
        return Err(MechanismError::Shape {
            expected: "the contribution of at least one unit".to_owned(),
            found: "none".to_owned(),
        });
    };
    match units.iter().find(|unit| unit.len() != first.len()) {
        Some(odd) => Err(MechanismError::Shape {
            expected: format!("contributions of {} numbers each", first.len()),
            found: format!("one of {}", odd.len()),
        }),
        None => Ok(first.len()),
    }
}

/// What the noise is scaled to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// Largest L2 norm of a contribution.
    pub(super) norm: Positive,
    /// Noise in units of it.
    pub(super) multiplier: Positive,
    pub(super) arithmetic: NoiseArithmetic,
}

impl Noise {
    /// The lattice for contributions of a length, and the noise in its multiples. Each contribution is rounded on its own,
    /// so that the integers of one have at most the norm that the noise is scaled to, and are summed up exactly.
    pub(super) fn exact(&self, length: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.multiplier.get() * self.norm.get(), self.norm.get())?;
        Ok((grid, grid.scale(self.multiplier.get(), grid.norm(self.norm.get(), length))))
    }

    /// Refuses noise that cannot be had.
    pub(super) fn check(&self, length: usize) -> Result<(), MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(length)?;
        }
        Ok(())
    }

    /// The clipped sum over the chosen units plus noise. Noise is drawn whoever was chosen, nobody included.
    pub(super) fn noisy_sum(
        &self,
        units: &Contributions,
        chosen: impl Iterator<Item = usize>,
        stream: &mut Stream,
    ) -> Result<Vec<f64>, MechanismError> {
        let length = length(units)?;
        let clipped = chosen.map(|index| {
            let mut unit = units[index].clone();
            clip_norm(&mut unit, self.norm);
            unit
        });
        if self.arithmetic == NoiseArithmetic::Exact {
            let (grid, scale) = self.exact(length)?;
            let mut sum = vec![0i128; length];
            for unit in clipped {
                sum.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += grid.round(*value));
            }
            return Ok(sum.into_iter().map(|sum| grid.plus_normal(sum, scale, stream)).collect());
        }
        let mut sum = vec![0.0; length];
        for unit in clipped {
            sum.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += value);
        }
        let sd = self.multiplier.get() * self.norm.get();
        sum.iter_mut().for_each(|value| *value += sd * stream.normal());
        all_finite(&sum)?;
        Ok(sum)
    }
}
