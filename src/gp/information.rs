//! Information gain: how much noisy outcomes of some arms say about the function.

use super::{AdaptivePosterior, ArmCovariance, Cholesky, GpError, largest};

/// Information gain of outcomes of `arms`, `[t]` (repetitions allowed), 1/2 log det(I + K / noise_variance), in nats.
/// O(t^3).
///
/// Source: Srinivas et al. 2010, equation 3.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] if `noise_variance` is not above 0.
///
/// # Panics
/// If there is no such arm.
pub fn information_gain(
    covariance: &ArmCovariance,
    arms: &[usize],
    noise_variance: f64,
) -> Result<f64, GpError> {
    let t = arms.len();
    if !(noise_variance.is_finite() && noise_variance > 0.0) {
        return Err(GpError::NotPositiveDefinite { order: t, jitter: 0.0 });
    }
    let mut matrix = vec![0.0; t * t];
    for (i, &arm) in arms.iter().enumerate() {
        for (j, &other) in arms.iter().enumerate() {
            matrix[i * t + j] = covariance.between(arm, other) / noise_variance + f64::from(u8::from(i == j));
        }
    }
    Ok(0.5 * Cholesky::new(t, matrix)?.log_determinant())
}

/// A greedy choice of arms, and its information gain.
#[derive(Clone, Debug, PartialEq)]
pub struct Greedy {
    /// The arms, in order of choice; an arm may be chosen again.
    pub arms: Vec<usize>,
    /// Gain of the first 1, 2, ... of them, in nats.
    pub gains: Vec<f64>,
}

impl Greedy {
    /// An upper bound on the largest gain of so many outcomes, in nats: greedy gain over 1 - 1/e; 0 for none.
    ///
    /// Source: Nemhauser, Wolsey and Fisher 1978, since the gain is monotone and submodular over multisets.
    #[must_use]
    pub fn upper_bound(&self) -> f64 {
        self.gains.last().map_or(0.0, |gain| gain / -libm::expm1(-1.0))
    }
}

/// Upper bounds on the largest gain of so many outcomes, in nats: one for each of some ascending `numbers` of outcomes;
/// see [`Greedy::upper_bound`]. Memory does not depend on the numbers, O(n^2) with up to 5,000 arms.
///
/// # Errors
/// As for [`greedy_maximum`].
pub(crate) fn gain_bounds(
    covariance: &ArmCovariance,
    numbers: &[u64],
    noise_variance: f64,
) -> Result<Vec<f64>, GpError> {
    if !(noise_variance.is_finite() && noise_variance > 0.0) {
        return Err(GpError::NotPositiveDefinite { order: 0, jitter: 0.0 });
    }
    let mut posterior = AdaptivePosterior::new(covariance.clone(), noise_variance, 0.0);
    let mut bounds = Vec::with_capacity(numbers.len());
    let mut chosen = 0;
    for &number in numbers {
        while chosen < number {
            posterior.observe(largest(posterior.variance()), 0.0)?;
            chosen += 1;
        }
        bounds.push(posterior.information_gain() / -libm::expm1(-1.0));
    }
    Ok(bounds)
}

/// Chooses `rounds` arms one by one, each time the one that adds most: the one with the largest posterior variance (the
/// first of equal ones). The choice depends on no outcome, so it is public. The result holds `[rounds]` arms and gains.
///
/// Source: Srinivas et al. 2010, section 2.2.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] if `noise_variance` is not above 0.
pub fn greedy_maximum(
    covariance: &ArmCovariance,
    rounds: usize,
    noise_variance: f64,
) -> Result<Greedy, GpError> {
    if !(noise_variance.is_finite() && noise_variance > 0.0) {
        return Err(GpError::NotPositiveDefinite { order: rounds, jitter: 0.0 });
    }
    let mut posterior = AdaptivePosterior::new(covariance.clone(), noise_variance, 0.0);
    let mut greedy = Greedy { arms: Vec::with_capacity(rounds), gains: Vec::with_capacity(rounds) };
    for _ in 0..rounds {
        let mut best = (f64::NEG_INFINITY, 0);
        for (arm, &variance) in posterior.variance().iter().enumerate() {
            if variance > best.0 {
                best = (variance, arm);
            }
        }
        posterior.observe(best.1, 0.0)?;
        greedy.arms.push(best.1);
        greedy.gains.push(posterior.information_gain());
    }
    Ok(greedy)
}
