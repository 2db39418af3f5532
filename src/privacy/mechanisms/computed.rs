//! The additional sensitivity due to floating point: computed numbers can differ more between neighbours than exact ones.
//!
//! A proof bounds by how much an exact function of the secret differs between neighbours. A mechanism receives the
//! computed value of that function, whose absolute error does not shrink with the sensitivity. Exact noise covers the sum
//! of the difference and the error, so the caller states a public bound on the error.

use super::MechanismError;
use crate::vocab::Positive;

/// Smallest addition for floating point, relative to the sensitivity.
const LEAST: f64 = 1.0 / (1u64 << 20) as f64;
/// Largest addition for floating point, relative to the sensitivity.
const MOST: f64 = 1.0 / (1u64 << 10) as f64;

/// An upper bound on the L1 distance between the computed numbers, `length` of them, on two neighbours. Every computed
/// number has an error of at most `error`, and the exact numbers differ by at most `sensitivity` in the L1 norm. The bound
/// is `sensitivity` plus an addition of at least [`LEAST`] times `sensitivity`; an addition above [`MOST`] times
/// `sensitivity` is refused.
pub(super) fn largest_distance(
    sensitivity: Positive,
    error: f64,
    length: usize,
) -> Result<f64, MechanismError> {
    let sensitivity = sensitivity.get();
    let added = 2.0 * error * length as f64;
    // NaN is refused too.
    if !(added >= 0.0 && added <= MOST * sensitivity) {
        return Err(MechanismError::Shape {
            expected: "rounding errors that add up to at most 2^-11 of the sensitivity, for exact arithmetic (write \
                       `arithmetic: Ideal`)"
                .to_owned(),
            found: format!(
                "{length} numbers, each with a rounding error of up to {error:e}, and a sensitivity of {sensitivity:e}"
            ),
        });
    }
    Ok(sensitivity + added.max(LEAST * sensitivity))
}

/// Gives a mechanism that has an `error` and an `arithmetic` the two builder methods that set them.
macro_rules! on_computed_numbers {
    ($mechanism:ident) => {
        impl $mechanism {
            /// The same mechanism, with its noise or its choice sampled in this arithmetic.
            #[must_use]
            pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
                Self { arithmetic, ..self }
            }

            /// The same mechanism on computed numbers: each differs from an exact number by at most this error, and
            /// `sensitivity` is that of the exact numbers. The error is public, in the unit of the numbers, and ignored
            /// in `Ideal` arithmetic. Default: 0, so that `sensitivity` is that of the numbers given.
            #[must_use]
            pub fn computed_within(self, error: NonNegative) -> Self {
                Self { error: error.get(), ..self }
            }
        }
    };
}
pub(super) use on_computed_numbers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_added_or_refused() {
        let (one, part) = (Positive::new(1.0).unwrap(), |exponent: i32| libm::scalbn(1.0, exponent));
        assert_eq!(largest_distance(one, 0.0, 1).unwrap(), 1.0 + part(-20));
        assert_eq!(largest_distance(one, part(-22), 2).unwrap(), 1.0 + part(-20));
        assert_eq!(largest_distance(one, part(-12), 2).unwrap(), 1.0 + part(-10));
        for error in [part(-10), f64::INFINITY, f64::NAN] {
            let refused = largest_distance(one, error, 1).unwrap_err().to_string();
            assert!(refused.contains("write `arithmetic: Ideal`"), "{refused}");
        }
    }
}
