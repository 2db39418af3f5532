//! Information gain: the mutual information between noisy outcomes of some arms and the function.

use super::{AdaptivePosterior, ArmCovariance, Cholesky, GpError, largest};

/// Information gain, in nats, of outcomes of `arms`, `[t]` (repetitions allowed): 1/2 log det(I + K / noise_variance).
/// K is the covariance matrix of these arms, `[t, t]`, in squared units of the outcome like `noise_variance`. O(t^3).
///
/// Source: Srinivas et al. 2010, equation 3.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] unless `noise_variance` is finite and above 0.
///
/// # Panics
/// If one of these arms does not exist.
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

/// Arms that were chosen greedily, and their information gains.
#[derive(Clone, Debug, PartialEq)]
pub struct Greedy {
    /// The arms, `[rounds]`, in order of choice; an arm may be chosen again.
    pub arms: Vec<usize>,
    /// Information gains of the first 1, 2, ... arms, `[rounds]`, in nats.
    pub gains: Vec<f64>,
}

impl Greedy {
    /// An upper bound, in nats, on the gain of every choice of as many arms as `arms` holds: the greedy gain divided by
    /// 1 - 1/e. It is 0 if no arm was chosen.
    ///
    /// Source: Nemhauser, Wolsey and Fisher 1978. Their theorem applies because the gain is monotone and submodular over
    /// multisets of arms.
    #[must_use]
    pub fn upper_bound(&self) -> f64 {
        self.gains.last().map_or(0.0, |gain| bound_from_greedy(*gain))
    }
}

/// An upper bound on the largest gain, from the gain of a greedy choice.
fn bound_from_greedy(gain: f64) -> f64 {
    gain / -libm::expm1(-1.0)
}

/// An upper bound on the gain of `number` outcomes of `n` arms, in nats, if no arm's prior variance exceeds `largest`.
///
/// Let arm i have t_i outcomes. The gain is half the logarithm of a determinant, det(I + K / `noise_variance`) with K over
/// the outcomes. By Sylvester's identity, the determinant is that of the matrix over the arms whose entry i, j is the sum of
/// I_ij and sqrt(t_i t_j) k_ij / `noise_variance`, with k_ij the covariance of the arms i and j. By Hadamard's inequality
/// the determinant is at most the product of the diagonal entries, and this product is at most the product over arms of
/// 1 + t_i `largest` / `noise_variance`. The sum of the logarithms of these factors is concave and symmetric in the t_i, so
/// the sum is largest if the outcomes are spread evenly over as many arms as possible.
fn ceiling(number: u64, n: usize, largest: f64, noise_variance: f64) -> f64 {
    let arms = (n as f64).min(number as f64);
    if arms > 0.0 { 0.5 * arms * libm::log1p(largest * (number as f64 / arms) / noise_variance) } else { 0.0 }
}

/// Upper bounds on the largest information gain, in nats, one for each of the ascending `numbers` of outcomes. Each bound is
/// the smaller of two: that of [`Greedy::upper_bound`], and that of `ceiling`, by Hadamard's inequality. For n arms, n up
/// to 5,000, memory is O(n^2) whatever the numbers of outcomes.
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
    let largest_prior = covariance.variances().into_iter().fold(0.0, f64::max);
    let mut bounds = Vec::with_capacity(numbers.len());
    let mut chosen = 0;
    for &number in numbers {
        while chosen < number {
            posterior.observe(largest(posterior.variance()), 0.0)?;
            chosen += 1;
        }
        let most = ceiling(number, covariance.n(), largest_prior, noise_variance);
        bounds.push(bound_from_greedy(posterior.information_gain()).min(most));
    }
    Ok(bounds)
}

/// Chooses `rounds` arms greedily for their information gain: each time the arm with the largest posterior variance (if
/// several arms have the same variance, the first of them). The choice depends on the covariance and the noise variance,
/// both in squared units of the outcome, but not on outcomes. The result holds `[rounds]` arms and `[rounds]` gains.
///
/// Source: Srinivas et al. 2010, section 2.2.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] unless `noise_variance` is finite and above 0.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::Points;
    use crate::gp::covariance::Covariance;
    use std::sync::Arc;

    fn arms(n: usize, length_scale: f64) -> ArmCovariance {
        let points = Points::new(n, 1, (0..n).map(|i| i as f64 / n as f64).collect());
        ArmCovariance::of_inputs(Arc::new(points), Covariance::squared_exponential(length_scale, 2.0))
    }

    /// With arms that are nearly independent, one outcome has a gain of 1/2 ln(1 + 2 / .5), and twelve outcomes, two of each
    /// of six arms, have a gain of 6/2 ln(1 + 2 * 2 / .5). The greedy gain divided by 1 - 1/e is larger than these gains,
    /// and the bound by Hadamard's inequality is equal to them.
    #[test]
    fn no_bound_exceeds_the_gain_of_independent_arms() {
        let independent = arms(6, 1e-3);
        let exact = [(1u64, 0.5 * 5f64.ln()), (6, 3.0 * 5f64.ln()), (12, 3.0 * 9f64.ln())];
        let bounds = gain_bounds(&independent, &exact.map(|(number, _)| number), 0.5).unwrap();
        for ((number, exact), bound) in exact.into_iter().zip(bounds) {
            assert!((bound - exact).abs() < 1e-9, "{number}: {bound} for {exact}");
        }
        assert_eq!(gain_bounds(&independent, &[0], 0.5).unwrap(), [0.0]);
    }

    /// Where arms are strongly correlated, the greedy bound is smaller than the gain of independent arms.
    #[test]
    fn a_greedy_bound_below_that_of_independent_arms_is_kept() {
        let alike = arms(30, 0.5);
        let greedy = greedy_maximum(&alike, 20, 0.1).unwrap();
        let bounds = gain_bounds(&alike, &[20], 0.1).unwrap();
        assert!(bounds[0] < 0.9 * ceiling(20, 30, 2.0, 0.1));
        assert!((bounds[0] - greedy.upper_bound()).abs() < 1e-9);
    }
}
