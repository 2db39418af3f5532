//! All audits of single mechanisms, most of them on worst known neighbours, with the claim and the expected verdict.

use super::case::Case;
use super::{additive, choices, clipped, flawed, sampled, sequences, tables};

/// All cases. The last ones are two mechanisms that are wrong on purpose, and the attacks that use the low bits of
/// floating-point noise. (A third mechanism that is wrong on purpose is the last case of `sequences`.)
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
