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
        if next > LARGEST * scale || next == 0.0 {
            return Err(GpError::NotPositiveDefinite { order, jitter: found.jitter });
        }
        found = Pivot { value: variance + noise + next, jitter: next };
        next *= 10.0;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variance_of_zero_without_noise_is_refused() {
        let refused = |jitter| Some(GpError::NotPositiveDefinite { order: 3, jitter });
        assert_eq!(pivot(0.0, 0.0, 0.0, 3).err(), refused(0.0));
        assert_eq!(pivot(-1.0, 0.0, 1.0, 3).err(), refused(1e-6));
        assert_eq!(pivot(0.0, 0.0, 1.0, 3).map(|pivot| pivot.jitter), Ok(1e-12));
    }
}
