//! Upper confidence bounds over all arms, and the position of the largest score.

use super::simd::multiversion;

multiversion! {
    /// out = mean + weight sqrt(variance), arm by arm. `out`, `mean` and `variance` are `[n]`; `out` and `mean` are in units
    /// of the outcome, `variance` in squared units of the outcome, and `weight` has no unit. Srinivas et al. 2010,
    /// equation 6.
    pub fn upper_bounds(mean: &[f64], variance: &[f64], weight: f64, out: &mut [f64]) {
        for ((out, &mean), &variance) in out.iter_mut().zip(mean).zip(variance) {
            *out = mean + weight * variance.sqrt();
        }
    }

    /// The largest of the scores that are not NaN; minus infinity if there are none.
    fn maximum(scores: &[f64]) -> f64 {
        let mut lanes = [f64::NEG_INFINITY; 16];
        let blocks = scores.chunks_exact(16);
        let mut best = f64::NEG_INFINITY;
        for &score in blocks.remainder() {
            best = if score > best { score } else { best };
        }
        for block in blocks {
            for (lane, &score) in lanes.iter_mut().zip(block) {
                *lane = if score > *lane { score } else { *lane };
            }
        }
        for lane in lanes {
            best = if lane > best { lane } else { best };
        }
        best
    }

    /// Whether some score equals `best`.
    fn holds(scores: &[f64], best: f64) -> bool {
        scores.iter().fold(false, |found, &score| found | (score == best))
    }
}

/// The position of the largest of `scores`, `[n]` and all in one unit. NaNs are ignored. If several scores are the largest,
/// the first of them counts; the position is 0 if every score is NaN or there are no scores.
#[must_use]
pub fn largest(scores: &[f64]) -> usize {
    const STRIDE: usize = 256;
    let best = maximum(scores);
    let Some(stride) = scores.chunks(STRIDE).position(|some| holds(some, best)) else { return 0 };
    let first = stride * STRIDE;
    first + scores[first..].iter().position(|&score| score == best).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_and_nan_never_wins() {
        let mut scores = vec![1.0; 100];
        assert_eq!(largest(&scores), 0);
        (scores[37], scores[81]) = (2.0, 2.0);
        assert_eq!(largest(&scores), 37);
        scores[5] = f64::NAN;
        assert_eq!(largest(&scores), 37);
        assert_eq!(largest(&[f64::NAN; 20]), 0);
        assert_eq!(largest(&[]), 0);
        assert_eq!(largest(&[f64::NEG_INFINITY, 0.0, -0.0]), 1);
    }
}
