//! A person whose row and outcome both change: the losses about either add up.

use super::footing::weaker_arithmetic;
use super::loss::joined;
use super::{Loss, LossBasis, Standing};
use crate::vocab::{Arithmetic, ProtectedUnit};

/// One of two losses that are added up.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'a> {
    /// Epsilon, at least 0; infinite where no finite one holds.
    pub epsilon: f64,
    /// Delta that it is stated at, in [0, 1).
    pub delta: f64,
    /// On what it rests.
    pub basis: LossBasis,
    /// For which arithmetic it holds.
    pub arithmetic: Option<Arithmetic>,
    /// What to know about it; empty if nothing.
    pub note: &'a str,
}

impl<'a> Part<'a> {
    /// The figure of a loss that holds whatever was chosen in knowledge of what; infinite for what is no bound.
    #[must_use]
    pub fn of(loss: &'a Loss) -> Self {
        let epsilon = match loss.standing {
            Standing::Bound => loss.epsilon,
            Standing::NonAdaptiveBound => loss.upper.unwrap_or(f64::INFINITY),
            Standing::Claim | Standing::NotABound => f64::INFINITY,
        };
        let Loss { delta, basis, arithmetic, .. } = *loss;
        Self { epsilon, delta, basis, arithmetic, note: &loss.note }
    }
}

/// The sum of two losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// Sum of the epsilons; infinite where the deltas come to 1 or more.
    pub epsilon: f64,
    /// Sum of the deltas.
    pub delta: f64,
    /// The weaker basis of the two.
    pub basis: LossBasis,
    /// The weaker arithmetic of the two.
    pub arithmetic: Option<Arithmetic>,
    /// What is to be known of either.
    pub note: String,
}

/// Epsilons and deltas of what was learned about a row and about its outcome, added up: each bounds what the change of one
/// of the two tells, on the conditions that either loss names.
///
/// Source: basic composition, Dwork and Roth 2014, Theorem 3.16.
#[must_use]
pub fn added(row: &Part<'_>, outcome: &Part<'_>) -> Added {
    let delta = row.delta + outcome.delta;
    let epsilon = if delta < 1.0 { row.epsilon + outcome.epsilon } else { f64::INFINITY };
    Added {
        epsilon,
        delta,
        basis: row.basis.min(outcome.basis),
        // Without a finite epsilon nothing is said that could hold in an arithmetic.
        arithmetic: weaker_arithmetic(row.arithmetic, outcome.arithmetic).filter(|_| epsilon.is_finite()),
        note: joined([row.note, outcome.note]),
    }
}

/// The pairs of an entry about a row and one about an outcome that `same` says are of the same owner and observer.
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
