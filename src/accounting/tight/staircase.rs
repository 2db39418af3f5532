//! Epsilon of a law on equally spaced losses, in one pass from the largest loss down.
//!
//! The losses are values of ln(P/Q), where P and Q are the distributions of the outputs for two neighbouring data sets.
//! For an epsilon between two adjacent losses, delta(epsilon) = A - e^epsilon B, where A and B are the masses of P and Q
//! at the losses above epsilon.

/// The smallest epsilon (possibly negative) at which delta(epsilon) <= `target`. `masses` are P's masses at the losses
/// `top`, `top` - `spacing`, ...; the first `empty` of these losses have no mass, and `masses` begins after them. If all
/// `masses` and `target` are multiplied by the same factor above 0, the result stays the same. Minus infinity if
/// delta(epsilon) is below `target` even where epsilon is one spacing below the smallest loss.
pub(super) fn epsilon(
    top: f64,
    spacing: f64,
    empty: usize,
    masses: impl IntoIterator<Item = f64>,
    target: f64,
) -> f64 {
    let fall = libm::exp(-spacing);
    let (mut above, mut weighed) = (0.0, 0.0);
    for (k, mass) in (empty..).zip(masses) {
        // `weighed` is Q's mass at the current and larger losses, times e^loss of the current loss.
        weighed = weighed * fall + mass;
        above += mass;
        // At the next smaller loss, delta is `above` - `weighed` e^-spacing.
        if above - weighed * fall >= target {
            let loss = top - k as f64 * spacing;
            return loss + libm::log((above - target) / weighed);
        }
    }
    f64::NEG_INFINITY
}

/// The same as [`epsilon`] for the losses from `top` down to `bottom`, but at least `bottom` and at least 0. Infinity if a
/// mass is not finite or the target is not a finite number above 0.
pub(super) fn epsilon_above(
    bottom: f64,
    top: f64,
    spacing: f64,
    masses: impl Iterator<Item = f64> + Clone,
    target: f64,
) -> f64 {
    if target > 0.0 && target.is_finite() && masses.clone().all(f64::is_finite) {
        within(bottom, epsilon(top, spacing, 0, masses, target))
    } else {
        f64::INFINITY
    }
}

/// The larger of `epsilon`, `bottom` and 0; infinity if `epsilon` is NaN.
fn within(bottom: f64, epsilon: f64) -> f64 {
    if epsilon.is_nan() { f64::INFINITY } else { epsilon.max(bottom.min(f64::MAX)).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_randomised_response_by_hand() {
        // Epsilon 1: delta(x) = p - e^x (1 - p) for -1 <= x <= 1, with p = e / (1 + e).
        let p = 1.0 / (1.0 + libm::exp(-1.0));
        let found = epsilon(1.0, 2.0, 0, [p, 1.0 - p], 0.1);
        assert!((found - libm::log((p - 0.1) / (1.0 - p))).abs() < 1e-15);
        assert_eq!(epsilon(1.0, 2.0, 0, [p, 1.0 - p], 2.0), f64::NEG_INFINITY);
        assert_eq!(within(0.5, f64::NEG_INFINITY), 0.5);
        assert_eq!(within(-0.5, f64::NEG_INFINITY), 0.0);
        assert_eq!(within(0.5, f64::NAN), f64::INFINITY);
    }
}
