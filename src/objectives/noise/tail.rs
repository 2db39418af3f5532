//! Tail bounds: the size that the absolute value of a draw exceeds with a given probability.
//!
//! These sizes are found by inverting the probability of exceeding a size.

use crate::vocab::Delta;

/// The smallest size that is exceeded with probability at most `delta`, rounded up. `beyond` is the probability of exceeding
/// a size: it decreases with the size, and is below `delta` at 1e9.
pub(super) fn smallest_size(beyond: impl Fn(f64) -> f64, delta: Delta) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        // The upper end is divided by ten until the lower end is above 0; bisection follows.
        let middle = if low == 0.0 { high * 0.1 } else { 0.5 * (low + high) };
        // The probability is compared with a little less than delta, so that rounding never gives too small a size.
        if beyond(middle) > delta.get() * (1.0 - 1e-9) {
            low = middle
        } else {
            high = middle
        }
        if high < 1e-300 || high - low <= f64::EPSILON * high {
            break;
        }
    }
    high
}
