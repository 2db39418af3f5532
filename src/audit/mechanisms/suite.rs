//! Every mechanism on its worst known neighbours, with the claim and the expected verdict.

use super::case::Case;
use super::{additive, choices, clipped, flawed, sampled, sequences, tables};

/// All cases: the library's mechanisms first, then those broken on purpose, then the low bits of floating-point noise.
#[must_use]
pub fn suite() -> Vec<Case> {
    [
        additive::cases,
        choices::cases,
        sequences::cases,
        sampled::cases,
        clipped::cases,
        tables::cases,
        flawed::cases,
    ]
    .into_iter()
    .flat_map(|cases| cases())
    .collect()
}
