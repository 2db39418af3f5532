//! The variance of an outcome given the earlier outcomes, kept above zero by the smallest sufficient jitter.

use super::GpError;

/// First and largest jitter tried, as shares of `scale` in [`pivot`].
const FIRST: f64 = 1e-12;
const LARGEST: f64 = 1e-6;

/// A positive variance, and the jitter that it includes.
pub(super) struct Pivot {
    pub(super) value: f64,
    pub(super) jitter: f64,
}

/// The variance of an outcome: the sum of `variance`, the variance of the function at the point of the outcome given the
/// earlier outcomes, and `noise`, the variance of the noise. `scale` is the largest prior variance of the function. A
/// `PointPosterior` with a linear covariance does not know the largest prior variance; there, `scale` is the prior variance
/// at the point of the outcome. `order` is the number of outcomes including this one. If the sum is too small, jitter is
/// added to it: at first `FIRST` times `scale`, then, as long as the result is too small, ten times as much as before.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] if the variance is too small even with the largest jitter.
pub(super) fn pivot(variance: f64, noise: f64, scale: f64, order: usize) -> Result<Pivot, GpError> {
    let mut found = Pivot { value: variance + noise, jitter: 0.0 };
    let mut next = FIRST * scale;
    while needs_jitter(found.value, scale) {
        if next > LARGEST * scale || next == 0.0 {
            return Err(GpError::NotPositiveDefinite { order, jitter: found.jitter });
        }
        found = Pivot { value: variance + noise + next, jitter: next };
        next *= 10.0;
    }
    Ok(found)
}

/// Whether a variance is too small compared with `scale`, a prior variance as in [`pivot`].
pub(super) fn needs_jitter(variance: f64, scale: f64) -> bool {
    variance <= f64::EPSILON * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variance_of_zero_without_noise_is_refused() {
        let tried = |variance: f64, scale: f64| match pivot(variance, 0.0, scale, 3) {
            Err(GpError::NotPositiveDefinite { order: 3, jitter }) => jitter,
            other => panic!("{:?}", other.map(|pivot| pivot.value)),
        };
        assert_eq!(tried(0.0, 0.0), 0.0);
        assert!((tried(-1.0, 1.0) / LARGEST - 1.0).abs() < 1e-9, "the largest jitter was tried");
        assert_eq!(pivot(0.0, 0.0, 1.0, 3).map(|pivot| pivot.jitter), Ok(FIRST));
    }
}
