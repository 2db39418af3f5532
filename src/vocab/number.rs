//! Range-checked numbers: a scenario with a value outside its range is refused.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use thiserror::Error;

/// A number outside the range of its type.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("expected {expected}, found {found}")]
pub struct OutOfRange {
    /// The range in words, as in "a finite number above 0".
    pub expected: &'static str,
    /// The number that was given.
    pub found: f64,
}

macro_rules! ranged {
    ($(#[$doc:meta])* $name:ident, $expected:literal, |$v:ident| $test:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("Accepts ", $expected, ".")]
            ///
            /// # Errors
            /// [`OutOfRange`] with the expected range and the number found.
            pub fn new($v: f64) -> Result<Self, OutOfRange> {
                if $test { Ok(Self($v)) } else { Err(OutOfRange { expected: $expected, found: $v }) }
            }

            /// The number itself.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = OutOfRange;
            fn try_from(v: f64) -> Result<Self, OutOfRange> {
                Self::new(v)
            }
        }

        impl From<$name> for f64 {
            fn from(v: $name) -> f64 {
                v.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "number", "format": $expected })
            }
        }
    };
}

ranged! {
    /// A probability.
    Probability, "a probability from 0 to 1", |v| (0.0..=1.0).contains(&v)
}
ranged! {
    /// The epsilon of a differential-privacy guarantee, in nats: likelihood ratios are bounded by e^epsilon, up to delta.
    Epsilon, "a finite epsilon above 0", |v| v.is_finite() && v > 0.0
}
ranged! {
    /// The delta of a differential-privacy guarantee.
    Delta, "a delta above 0 and below 1", |v| v > 0.0 && v < 1.0
}
ranged! {
    /// A finite number above zero.
    Positive, "a finite number above 0", |v| v.is_finite() && v > 0.0
}
ranged! {
    /// A finite number, zero or above.
    NonNegative, "a finite number, 0 or above", |v| v.is_finite() && v >= 0.0
}
ranged! {
    /// The shape of a truncated negative binomial distribution.
    RepetitionShape, "a finite shape above -1", |v| v.is_finite() && v > -1.0
}
ranged! {
    /// The mean of a distribution on 1, 2, 3, ...
    AboveOne, "a finite number above 1", |v| v.is_finite() && v > 1.0
}
ranged! {
    /// Any finite number.
    Finite, "a finite number", |v| v.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_name_what_was_expected_and_found() {
        assert_eq!(
            Epsilon::new(-4.0).unwrap_err().to_string(),
            "expected a finite epsilon above 0, found -4"
        );
        assert!(Probability::new(f64::NAN).is_err());
        assert!(Positive::new(f64::INFINITY).is_err());
        assert!(Delta::new(0.0).is_err());
        assert_eq!(NonNegative::new(0.0).unwrap().get(), 0.0);
    }
}
