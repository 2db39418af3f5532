//! The size that a draw exceeds with a given probability, found from the probability of exceeding a given size.

use crate::vocab::Delta;

/// The smallest size, up to rounding above it, that is exceeded with probability at most `delta`; `beyond` falls from
/// at most 1 to 0 and is below any delta at 1e9.
pub(super) fn smallest_size(beyond: impl Fn(f64) -> f64, delta: Delta) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        // The upper end is divided by ten until the lower end is above 0; then bisection.
        let middle = if low == 0.0 { high * 0.1 } else { 0.5 * (low + high) };
        // A little less than delta, so that rounding never states too small a size.
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
