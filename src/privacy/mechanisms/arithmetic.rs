//! How noise is sampled: exactly, or in floating point.

use crate::vocab::Arithmetic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How noise is sampled. The stated loss is the same; only for `Exact` does it hold for the computer's
/// output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NoiseArithmetic {
    /// Numbers are rounded to a public lattice and noise is sampled without floating point: the loss holds
    /// for the output as it is, low bits included.
    #[default]
    Exact,
    /// Noise is drawn in floating point and analysed as real numbers: low bits may reveal more.
    Ideal,
}

impl NoiseArithmetic {
    /// The arithmetic that the ledger records.
    #[must_use]
    pub(super) const fn booked(self) -> Arithmetic {
        match self {
            Self::Exact => Arithmetic::Exact,
            Self::Ideal => Arithmetic::Ideal,
        }
    }
}
