//! How noise is sampled: exactly, or in floating point.

use crate::vocab::Arithmetic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How noise is sampled. The stated loss is the same with `Exact` and `Ideal`, but only with `Exact` does it hold for the
/// numbers that the computer outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NoiseArithmetic {
    /// Numbers are rounded to a public lattice and noise is sampled without floating point. The loss holds for the
    /// output, including its low bits.
    #[default]
    Exact,
    /// Noise is drawn in floating point and analysed as a real number. The low bits of the output may reveal more than
    /// the stated loss allows.
    Ideal,
}

impl NoiseArithmetic {
    /// The arithmetic that the ledger records.
    #[must_use]
    pub(super) const fn recorded(self) -> Arithmetic {
        match self {
            Self::Exact => Arithmetic::Exact,
            Self::Ideal => Arithmetic::Ideal,
        }
    }
}
