//! Gaussian noise on a sum over a random sample of units: what the two samplers share.

use super::clipping::clip_norm;
use super::{MechanismError, all_finite};
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

/// The clipped sum over the chosen units plus noise. Noise is drawn whoever was chosen, nobody included.
pub(super) fn noisy_sum(
    units: &Contributions,
    chosen: impl Iterator<Item = usize>,
    norm: Positive,
    standard_deviation: f64,
    stream: &mut Stream,
) -> Result<Vec<f64>, MechanismError> {
    let mut sum = vec![0.0; length(units)?];
    for index in chosen {
        let mut unit = units[index].clone();
        clip_norm(&mut unit, norm);
        sum.iter_mut().zip(&unit).for_each(|(sum, value)| *sum += value);
    }
    sum.iter_mut().for_each(|value| *value += standard_deviation * stream.normal());
    all_finite(&sum)?;
    Ok(sum)
}
