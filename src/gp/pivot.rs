//! The variance of an outcome given the earlier outcomes, kept above zero by the smallest sufficient jitter.

use super::GpError;

/// First and largest jitter tried, as shares of the largest prior variance.
const FIRST: f64 = 1e-12;
const LARGEST: f64 = 1e-6;

/// A positive variance, and the jitter that it includes.
pub(super) struct Pivot {
    pub(super) value: f64,
    pub(super) jitter: f64,
}

/// The variance of an outcome, from the variance of the function and that of the noise. `scale` is the largest prior
/// variance, `order` the number of outcomes with this one.
pub(super) fn pivot(variance: f64, noise: f64, scale: f64, order: usize) -> Result<Pivot, GpError> {
    let floor = f64::EPSILON * scale;
    let mut found = Pivot { value: variance + noise, jitter: 0.0 };
    let mut next = FIRST * scale;
    while found.value <= floor {
        if next > LARGEST * scale {
            return Err(GpError::NotPositiveDefinite { order, jitter: next });
        }
        found = Pivot { value: variance + noise + next, jitter: next };
        next *= 10.0;
    }
    Ok(found)
}
