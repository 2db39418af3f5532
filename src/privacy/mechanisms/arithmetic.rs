//! How noise is sampled: exactly, or in floating point.

use crate::vocab::Arithmetic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How noise is sampled. The price is the same; what differs is whether it holds for what a computer really puts out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NoiseArithmetic {
    /// Numbers are rounded to a public lattice and noise is sampled without floating point: the price holds for the
    /// output as it is, low bits included.
    #[default]
    Exact,
    /// Noise is drawn in floating point and analysed as if it were real-valued: low bits may tell more.
    Ideal,
}

impl NoiseArithmetic {
    /// How the ledger books it.
    #[must_use]
    pub(super) const fn booked(self) -> Arithmetic {
        match self {
            Self::Exact => Arithmetic::Exact,
            Self::Ideal => Arithmetic::Ideal,
        }
    }
}
