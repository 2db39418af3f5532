//! The loss about a person: the sum of the losses about the person's row and about the outcome of that row.

use super::basis::weaker_arithmetic;
use super::loss::joined;
use super::{Loss, LossBasis};
use crate::vocab::{Arithmetic, ProtectedUnit};

/// One of two losses that are added up; epsilons are natural logarithms of likelihood ratios, deltas are dimensionless.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'a> {
    /// Epsilon, at least 0; infinite if no finite epsilon holds.
    pub epsilon: f64,
    /// Delta at which the epsilon is stated, at least 0. It may be 1 or more for claims and sums; their epsilon is then
    /// infinite.
    pub delta: f64,
    /// The basis of the epsilon.
    pub basis: LossBasis,
    /// The arithmetic for which the epsilon holds.
    pub arithmetic: Option<Arithmetic>,
    /// Notes on the epsilon; empty if there are none.
    pub note: &'a str,
}

impl<'a> Part<'a> {
    /// A loss with an epsilon that holds for adaptively chosen releases too; the epsilon is infinite if the loss is not a
    /// bound.
    #[must_use]
    pub fn of(loss: &'a Loss) -> Self {
        let epsilon = loss.standing.adaptive_bound(loss.epsilon, loss.upper);
        let Loss { delta, basis, arithmetic, .. } = *loss;
        Self { epsilon, delta, basis, arithmetic, note: &loss.note }
    }
}

/// The sum of two losses; its epsilon is the natural logarithm of a likelihood ratio, its delta is dimensionless.
#[derive(Clone, Debug, PartialEq)]
pub struct SummedLoss {
    /// Sum of the epsilons; infinite if the sum of the deltas is 1 or more.
    pub epsilon: f64,
    /// Sum of the deltas.
    pub delta: f64,
    /// The weaker basis of the two.
    pub basis: LossBasis,
    /// The weaker arithmetic of the two; `None` if epsilon is infinite.
    pub arithmetic: Option<Arithmetic>,
    /// The notes of both losses. If the two deltas add up to 1 or more, a further note says so.
    pub note: String,
}

impl SummedLoss {
    /// This sum as one of two losses that are added up.
    #[must_use]
    pub fn part(&self) -> Part<'_> {
        let Self { epsilon, delta, basis, arithmetic, ref note } = *self;
        Part { epsilon, delta, basis, arithmetic, note }
    }
}

/// The note of a sum whose deltas guarantee nothing.
const TOO_MANY: &str = "the deltas of the two losses add up to 1 or more";

/// Adds up the epsilons and the deltas of the losses about a row and about its outcome. The sum bounds the loss between
/// neighbours that differ in both row and outcome, under the conditions of the two losses.
///
/// Source: basic composition, Dwork and Roth 2014, Theorem 3.16.
#[must_use]
pub fn added(row: &Part<'_>, outcome: &Part<'_>) -> SummedLoss {
    let delta = row.delta + outcome.delta;
    let epsilon = if delta < 1.0 { row.epsilon + outcome.epsilon } else { f64::INFINITY };
    SummedLoss {
        epsilon,
        delta,
        basis: row.basis.min(outcome.basis),
        // An infinite epsilon guarantees nothing, so no arithmetic is stated.
        arithmetic: weaker_arithmetic(row.arithmetic, outcome.arithmetic).filter(|_| epsilon.is_finite()),
        note: joined([row.note, outcome.note, if delta < 1.0 { "" } else { TOO_MANY }]),
    }
}

/// All pairs of an entry about a row and an entry about an outcome for which `same` is true. `same` should compare the
/// owners and the observers.
pub fn persons<'a, T>(
    entries: &'a [T],
    unit: impl Fn(&T) -> ProtectedUnit + Copy + 'a,
    same: impl Fn(&T, &T) -> bool + Copy + 'a,
) -> impl Iterator<Item = (&'a T, &'a T)> {
    let of = move |wanted: ProtectedUnit| entries.iter().filter(move |entry| unit(entry) == wanted);
    of(ProtectedUnit::Record).flat_map(move |row| {
        of(ProtectedUnit::Outcome)
            .filter(move |outcome| same(row, outcome))
            .map(move |outcome| (row, outcome))
    })
}
