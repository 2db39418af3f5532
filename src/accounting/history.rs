//! The history of one unit: all releases about the unit, whose losses add up.

use super::basis::weakest_arithmetic;
use super::claims::{Claimed, claims};
use super::{BasisSummary, Composition, CountedRelease, LossBasis, Statement, over_rounds};
use crate::vocab::{Delta, PrivacyEvent};

/// Releases about the same unit: first the releases about this unit alone, then those about all units. Each of these two
/// parts is in the order in which the releases were made.
#[derive(Clone, Debug, PartialEq)]
pub struct History(Vec<CountedRelease>);

impl History {
    /// The history with these releases.
    #[must_use]
    pub const fn new(releases: Vec<CountedRelease>) -> Self {
        Self(releases)
    }

    /// The releases.
    #[must_use]
    pub fn releases(&self) -> &[CountedRelease] {
        &self.0
    }

    /// Number of releases.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|entry| entry.count).sum()
    }

    /// The basis and the arithmetic of the releases' costs, and whether the releases are from different rounds.
    #[must_use]
    pub fn basis_summary(&self) -> BasisSummary {
        let events = || self.0.iter().map(|entry| &entry.event);
        BasisSummary {
            basis: LossBasis::weakest(events()),
            arithmetic: weakest_arithmetic(events()),
            is_adaptive: over_rounds(&self.0),
        }
    }

    /// The releases' costs, with the names of the released quantities and the conditions under which the costs hold.
    #[must_use]
    pub fn composition(&self) -> Composition {
        Composition::of_counted(self.0.iter().map(|entry| (&entry.event, entry.count)))
    }

    /// The costs of the releases that have a claim.
    pub(super) fn claimed_composition(&self) -> Composition {
        let claimed = self.0.iter().filter(|entry| entry.event.claim.is_some());
        Composition::of_counted(claimed.map(|entry| (&entry.event, entry.count)))
    }

    /// The claimed loss of all releases.
    #[must_use]
    pub fn claimed(&self) -> Claimed {
        self.claimed_until(u64::MAX)
    }

    /// The input of the accountants: the costs, the basis of the releases, and the delta at which to state epsilons.
    /// [`stated`] chooses this delta from `asked`, the requested delta, and the sum of the claimed deltas.
    #[must_use]
    pub fn statement(&self, asked: Option<Delta>) -> Statement {
        let delta = stated(asked, self.claimed().delta);
        let costs = self.0.iter().map(|entry| (entry.event.cost.clone(), entry.count)).collect();
        Statement { costs, composition: self.composition(), delta, basis: Some(self.basis_summary()) }
    }

    /// The releases up to and including a round, each with its count ([`CountedRelease::until`]).
    fn until(&self, round: u64) -> impl Iterator<Item = (&PrivacyEvent, u64)> {
        let counted = self.0.iter().map(move |entry| (&entry.event, entry.until(round)));
        counted.filter(|(_, count)| *count > 0)
    }

    /// The costs of the releases up to and including a round.
    pub(super) fn composition_until(&self, round: u64) -> Composition {
        Composition::of_counted(self.until(round))
    }

    /// The claimed loss of the releases up to and including a round.
    pub(super) fn claimed_until(&self, round: u64) -> Claimed {
        claims(self.until(round).flat_map(|(event, count)| std::iter::repeat_n(&event.claim, count as usize)))
    }

    /// Whether this history certainly has the same loss as another history by every accountant, with the same basis.
    /// This is so under two conditions. Entry by entry, costs, claims, bases, arithmetics and counts are equal. And the
    /// releases are from several rounds in both histories, or from a single round in both. Everything else may differ,
    /// such as rounds, times, party and unit.
    pub(super) fn has_same_loss(&self, other: &Self) -> bool {
        let alike = |(a, b): (&CountedRelease, &CountedRelease)| {
            a.count == b.count && event_alike(&a.event, &b.event)
        };
        self.0.len() == other.0.len()
            && over_rounds(&self.0) == over_rounds(&other.0)
            && self.0.iter().zip(&other.0).all(alike)
    }

    /// Whether this history certainly has the same loss as another one after every round.
    pub(super) fn has_same_loss_by_round(&self, other: &Self) -> bool {
        let rounds = |entry: &CountedRelease| (entry.event.round, entry.last_round, entry.is_uneven);
        self.has_same_loss(other) && self.0.iter().map(rounds).eq(other.0.iter().map(rounds))
    }

    /// Whether the loss of this history is certainly at least the loss of `other`. This is so under two conditions. For
    /// every release of `other`, this history has at least as many releases with the same cost, claim, basis and
    /// arithmetic as `other` has. And this history has releases of several rounds, or `other` does not.
    pub(super) fn dominates(&self, other: &Self) -> bool {
        let times = |list: &[CountedRelease], event: &PrivacyEvent| -> u64 {
            list.iter().filter(|entry| event_alike(&entry.event, event)).map(|entry| entry.count).sum()
        };
        (over_rounds(&self.0) || !over_rounds(&other.0))
            && other.0.iter().all(|entry| times(&self.0, &entry.event) >= times(&other.0, &entry.event))
    }
}

/// Whether two releases have the same cost, the same claim, the same basis and the same arithmetic.
pub(super) fn event_alike(a: &PrivacyEvent, b: &PrivacyEvent) -> bool {
    (&a.cost, &a.claim, &a.basis, a.arithmetic) == (&b.cost, &b.claim, &b.basis, b.arithmetic)
}

/// Delta at which epsilons are stated when neither the scenario nor a claim gives one.
const DEFAULT_DELTA: f64 = 1e-5;

/// The delta at which to state an epsilon: `asked`, the requested delta, if any; else `claimed`, the sum of the claimed
/// deltas (0 without claims), if this sum is in (0, 1); else 1e-5.
#[must_use]
pub fn stated(asked: Option<Delta>, claimed: f64) -> Delta {
    asked
        .or_else(|| Delta::new(claimed).ok())
        .or_else(|| Delta::new(DEFAULT_DELTA).ok())
        .expect("the default delta is above 0 and below 1")
}
