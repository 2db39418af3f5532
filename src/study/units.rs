//! Which releases add up: those about one and the same unit do, those about different units do not.

use crate::protocols::{BookedRelease, over_rounds};
use crate::vocab::{PrivacyEvent, ProtectedUnit};
use std::collections::BTreeMap;

/// Releases about units of one kind, told apart by unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    /// What one unit went through, for every kind of unit that no other outweighs: one as a rule.
    pub(crate) worst: Vec<Vec<BookedRelease>>,
    /// Whether the releases concern different units.
    pub(crate) apart: bool,
}

/// Tells a group of releases apart by unit. Rewards are units of their own, one report each; numbered units add up
/// each on its own, together with what concerns all of them; anything else concerns one and the same unit.
pub(crate) fn units(group: &[&BookedRelease]) -> Units {
    let mut common: Vec<BookedRelease> = Vec::new();
    let mut numbered: BTreeMap<u64, Vec<BookedRelease>> = BTreeMap::new();
    for &booked in group {
        match booked.event.unit_index {
            Some(unit) => numbered.entry(unit).or_default().push(booked.clone()),
            None if booked.event.is_of_one_user_each() => {
                // A reward is reported once, and may also show in other ways, each told by its name.
                if !common.iter().any(|known| known.event.released == booked.event.released) {
                    let (count, last_round) = (1, booked.event.round);
                    common.push(BookedRelease { count, last_round, ..booked.clone() });
                }
            }
            None => common.push(booked.clone()),
        }
    }
    let rewards = common.first().is_some_and(|first| first.event.unit == ProtectedUnit::Reward);
    if numbered.is_empty() {
        return Units { worst: vec![common], apart: rewards };
    }
    let mut worst: Vec<Vec<BookedRelease>> = Vec::new();
    for mut releases in numbered.into_values() {
        releases.extend(common.iter().cloned());
        if !worst.iter().any(|other| outweighs(other, &releases)) {
            worst.retain(|other| !outweighs(&releases, other));
            worst.push(releases);
        }
    }
    Units { worst, apart: true }
}

/// Whether `a` holds every release of `b`, at least as often, and no less in knowledge of each other.
fn outweighs(a: &[BookedRelease], b: &[BookedRelease]) -> bool {
    let times = |list: &[BookedRelease], event: &PrivacyEvent| -> u64 {
        list.iter().filter(|booked| event_alike(&booked.event, event)).map(|booked| booked.count).sum()
    };
    (over_rounds(a) || !over_rounds(b))
        && b.iter().all(|booked| times(a, &booked.event) >= times(b, &booked.event))
}

/// Whether two histories cost the same by every accountant, on the same footing: they differ in when, where and about
/// whom at most.
pub(super) fn cost_alike(a: &[BookedRelease], b: &[BookedRelease]) -> bool {
    let alike =
        |(a, b): (&BookedRelease, &BookedRelease)| a.count == b.count && event_alike(&a.event, &b.event);
    a.len() == b.len() && over_rounds(a) == over_rounds(b) && a.iter().zip(b).all(alike)
}

/// Whether two releases cost the same, are claimed to cost the same, and do so on the same footing.
fn event_alike(a: &PrivacyEvent, b: &PrivacyEvent) -> bool {
    (&a.cost, &a.claim, &a.basis, a.arithmetic) == (&b.cost, &b.claim, &b.basis, b.arithmetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Observer, Sampler, Time};

    fn booked(unit: ProtectedUnit, index: Option<u64>, scale: f64, count: u64) -> BookedRelease {
        let event = PrivacyEvent {
            released: "y".into(),
            mechanism: "noise".into(),
            protected: "users".into(),
            unit,
            unit_index: index,
            neighbours: Neighbours::AnyValue,
            observer: Observer("service".into()),
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::Laplace { scale },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
            round: 3,
            at: Time::ZERO,
        };
        BookedRelease { event, count, last_round: 90, first_seconds: 0.0, last_seconds: 0.0 }
    }

    #[test]
    fn rewards_do_not_add_up_and_visits_of_one_user_do() {
        let rewards = booked(ProtectedUnit::Reward, None, 1.0, 100_000);
        let told = units(&[&rewards]);
        assert_eq!((told.worst.len(), told.worst[0][0].count, told.apart), (1, 1, true));
        let visits =
            [(0, 4), (1, 9), (2, 9)].map(|(user, count)| booked(ProtectedUnit::User, Some(user), 1.0, count));
        let told = units(&visits.iter().collect::<Vec<_>>());
        assert_eq!((told.worst.len(), told.worst[0][0].count), (1, 9));
        let agents =
            [booked(ProtectedUnit::Agent, Some(0), 1.0, 2), booked(ProtectedUnit::Agent, Some(1), 0.5, 1)];
        assert_eq!(units(&agents.iter().collect::<Vec<_>>()).worst.len(), 2, "neither outweighs the other");
        let outcomes = booked(ProtectedUnit::Outcome, None, 1.0, 50);
        let told = units(&[&outcomes]);
        assert_eq!((told.worst[0][0].count, told.apart), (50, false));
    }

    /// A price that holds under a condition is not outweighed by the same price without one.
    #[test]
    fn a_weaker_footing_is_kept() {
        let mut conditional = booked(ProtectedUnit::User, Some(1), 1.0, 4);
        conditional.event.basis = Basis::Conditional { on: "the scaling being public".into() };
        let proven = booked(ProtectedUnit::User, Some(0), 1.0, 9);
        assert_eq!(units(&[&proven, &conditional]).worst.len(), 2);
    }
}
