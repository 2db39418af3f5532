//! The additional sensitivity due to floating point: computed numbers can differ more between neighbours than exact ones.
//!
//! A proof bounds by how much an exact function of the secret differs between neighbours. A mechanism receives a computed
//! value of that function. The absolute error of the computed value does not shrink with the sensitivity. The computed
//! values of two neighbours can differ by the difference of the exact values plus both errors, and exact noise covers this
//! sum. So the caller states a public bound on the error of a computed value.

use super::MechanismError;
use crate::vocab::Positive;

/// Smallest addition for floating point, relative to the sensitivity.
const LEAST: f64 = 1.0 / (1u64 << 20) as f64;
/// Largest addition for floating point, relative to the sensitivity.
const MOST: f64 = 1.0 / (1u64 << 10) as f64;

/// An upper bound on the L1 distance between two vectors of `length` computed numbers, one vector for each of two
/// neighbours. Every computed number has an error of at most `error`, and the exact vectors differ by at most `sensitivity`
/// in the L1 norm. The bound is `sensitivity` plus an addition: 2 `error` `length`, the errors of both vectors, or
/// [`LEAST`] times `sensitivity` if that is more. An addition above [`MOST`] times `sensitivity` is refused.
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

/// Implements, for a mechanism with the fields `arithmetic` and `error`, the two builder methods that set these fields.
macro_rules! on_computed_numbers {
    ($mechanism:ident) => {
        impl $mechanism {
            /// The same mechanism, with its noise or its choice sampled in this arithmetic.
            #[must_use]
            pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
                Self { arithmetic, ..self }
            }

            /// The same mechanism for inputs that are computed numbers: each number differs from its exact value by at most
            /// `error`, and `sensitivity` is that of the exact values. `error` is public, in the unit of the numbers, and
            /// ignored in `Ideal` arithmetic. Without this method, `error` is 0: `sensitivity` is then that of the inputs
            /// themselves.
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
