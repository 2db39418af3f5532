//! Separates releases by unit: losses about the same unit add up, losses about different units do not.

use super::history::event_alike;
use super::{CountedRelease, History};
use crate::vocab::{PrivacyEvent, ProtectedUnit};
use std::collections::BTreeMap;

/// Determines how often a release counts for one unit. A reward without a unit number is that of a user who reports
/// only one reward. So such rewards count once in a run for each released quantity, however many users there are. If
/// the cost of a released quantity (or the claim, basis or arithmetic of this cost) changes during a run, as after a
/// fork, the quantity counts once with each different cost: the sum of these costs is at least the loss of every user.
/// Any other release counts as often as it occurred.
#[derive(Clone, Debug, Default)]
pub(super) struct OncePerUser(Vec<PrivacyEvent>);

impl OncePerUser {
    /// How many of `count` equal releases count for one unit, given the earlier calls.
    pub(super) fn counted(&mut self, event: &PrivacyEvent, count: u64) -> u64 {
        if !event.is_of_one_user_each() {
            return count;
        }
        // The same reward may be released in several ways, each identified by the name of the released quantity.
        let known = |other: &PrivacyEvent| other.released == event.released && event_alike(other, event);
        if self.0.iter().any(known) {
            return 0;
        }
        self.0.push(event.clone());
        1
    }
}

/// Releases about units of one kind, separated by unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Units {
    /// The histories of the units that may have the largest loss; usually one.
    pub worst: Vec<History>,
    /// Whether the releases concern different units.
    pub has_different_units: bool,
}

/// Separates a group of releases by unit; all of them are about the same kind of unit. A release with a unit number is
/// about the unit with this number alone; a release without a number is about all units. So the history of a numbered
/// unit has the releases with its number and all releases without a number. Rewards are an exception: each reward
/// without a number is that of a different user, so such rewards count once for each released quantity and cost. If no
/// release has a number, there is one history; the releases then concern different units only if they are about
/// rewards.
#[must_use]
pub fn units(group: &[&CountedRelease]) -> Units {
    let mut once = OncePerUser::default();
    let mut common: Vec<CountedRelease> = Vec::new();
    let mut numbered: BTreeMap<u64, Vec<CountedRelease>> = BTreeMap::new();
    for &entry in group {
        let counted = once.counted(&entry.event, entry.count);
        match entry.event.unit_index {
            Some(unit) => numbered.entry(unit).or_default().push(entry.clone()),
            None if counted == entry.count => common.push(entry.clone()),
            None if counted == 0 => {}
            // The entry has the rewards of several users, one reward of each user; only the first of these rewards
            // counts.
            None => {
                let last_round = entry.event.round;
                common.push(CountedRelease { count: counted, last_round, ..entry.clone() });
            }
        }
    }
    let rewards = common.first().is_some_and(|first| first.event.unit == ProtectedUnit::Reward);
    if numbered.is_empty() {
        return Units { worst: vec![History::new(common)], has_different_units: rewards };
    }
    let mut worst: Vec<History> = Vec::new();
    for mut releases in numbered.into_values() {
        releases.extend(common.iter().cloned());
        keep_undominated(&mut worst, History::new(releases), History::dominates);
    }
    Units { worst, has_different_units: true }
}

/// Adds `new` to a list in which no element dominates another one. If an element dominates `new`, the list stays as it
/// is; else `new` replaces the elements that it dominates.
pub(super) fn keep_undominated<T>(kept: &mut Vec<T>, new: T, dominates: impl Fn(&T, &T) -> bool) {
    if !kept.iter().any(|other| dominates(other, &new)) {
        kept.retain(|other| !dominates(&new, other));
        kept.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::counted::example::{booked_until_90, event};
    use crate::vocab::{Arithmetic, Basis, Cost};

    fn counted_release(unit: ProtectedUnit, index: Option<u64>, scale: f64, count: u64) -> CountedRelease {
        let event = PrivacyEvent {
            cost: Cost::Laplace { scale },
            arithmetic: Arithmetic::Ideal,
            ..event(unit, index, 1.0)
        };
        booked_until_90(event, count)
    }

    #[test]
    fn rewards_do_not_add_up_and_visits_of_one_user_do() {
        let rewards = counted_release(ProtectedUnit::Reward, None, 1.0, 100_000);
        let of_units = units(&[&rewards]);
        assert_eq!(
            (of_units.worst.len(), of_units.worst[0].count(), of_units.has_different_units),
            (1, 1, true)
        );
        let visits = [(0, 4), (1, 9), (2, 9)]
            .map(|(user, count)| counted_release(ProtectedUnit::User, Some(user), 1.0, count));
        let of_units = units(&visits.iter().collect::<Vec<_>>());
        assert_eq!((of_units.worst.len(), of_units.worst[0].count()), (1, 9));
        let agents = [
            counted_release(ProtectedUnit::Agent, Some(0), 1.0, 2),
            counted_release(ProtectedUnit::Agent, Some(1), 0.5, 1),
        ];
        assert_eq!(
            units(&agents.iter().collect::<Vec<_>>()).worst.len(),
            2,
            "neither history contains the other"
        );
        let outcomes = counted_release(ProtectedUnit::Outcome, None, 1.0, 50);
        let of_units = units(&[&outcomes]);
        assert_eq!((of_units.worst[0].count(), of_units.has_different_units), (50, false));
    }

    /// After a fork, the cost of a missing answer may be larger for later users than for earlier ones. The first cost must
    /// not hide the second.
    #[test]
    fn a_quantity_whose_cost_changes_counts_once_with_each_cost() {
        let cheap = counted_release(ProtectedUnit::Reward, None, 8.0, 20);
        let mut open = counted_release(ProtectedUnit::Reward, None, 1.0, 80);
        (open.event.cost, open.event.basis) = (Cost::Unprotected, Basis::Unprotected);
        for group in [[&cheap, &open], [&open, &cheap]] {
            let worst = &units(&group).worst[0];
            assert_eq!(worst.count(), 2);
            assert!(worst.releases().iter().any(|entry| entry.event.cost == Cost::Unprotected));
        }
        assert_eq!(units(&[&cheap, &cheap]).worst[0].count(), 1, "equal costs are those of different users");
    }

    /// A history with a conditional basis is kept although a longer history has the same costs with a proven basis.
    #[test]
    fn a_history_with_a_weaker_basis_is_kept() {
        let mut conditional = counted_release(ProtectedUnit::User, Some(1), 1.0, 4);
        conditional.event.basis = Basis::Conditional { on: "the scaling being public".into() };
        let proven = counted_release(ProtectedUnit::User, Some(0), 1.0, 9);
        assert_eq!(units(&[&proven, &conditional]).worst.len(), 2);
    }
}
