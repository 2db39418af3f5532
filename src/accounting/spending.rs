//! The releases that count against a budget, and the loss with the next release included.

use super::statement::price;
use super::units::OncePerUser;
use super::{Accountant, Composition};
use crate::vocab::{Delta, Observer, PrivacyEvent, ProtectedUnit};
use std::collections::BTreeMap;

/// Owner, kind of unit, and observer.
type Group = (String, ProtectedUnit, Observer);

/// The releases to one observer about one unit, or about all units.
#[derive(Clone, Debug, Default)]
struct Spent {
    composition: Composition,
    once: OncePerUser,
}

impl Spent {
    fn add(&mut self, event: &PrivacyEvent) {
        let counted = self.once.counted(event, 1);
        if counted > 0 {
            self.composition.add(&event.cost, counted);
        }
    }

    /// These releases together with the releases `common`, which concern all units.
    fn together(&self, common: &Self) -> Composition {
        let mut all = self.composition.clone();
        common.composition.items().iter().for_each(|item| all.add(&item.cost, item.count));
        all
    }
}

/// The releases to one observer about the units of one kind of one party.
#[derive(Clone, Debug, Default)]
struct Units {
    /// Releases that concern all units.
    common: Spent,
    /// Releases about one unit each, by the unit's number.
    numbered: BTreeMap<u64, Spent>,
}

impl Units {
    fn of(&mut self, event: &PrivacyEvent) -> &mut Spent {
        match event.unit_index {
            Some(unit) => self.numbered.entry(unit).or_default(),
            None => &mut self.common,
        }
    }

    /// The different histories of the units that a release concerns, with this release included. If the release concerns all
    /// units and some units have releases of their own, units without such releases are left out: they have no larger loss.
    fn with(&self, event: &PrivacyEvent) -> Vec<Composition> {
        if let Some(unit) = event.unit_index {
            let mut own = self.numbered.get(&unit).cloned().unwrap_or_default();
            own.add(event);
            return vec![own.together(&self.common)];
        }
        let mut common = self.common.clone();
        common.add(event);
        if self.numbered.is_empty() {
            return vec![common.composition];
        }
        let mut histories: Vec<Composition> = Vec::new();
        for own in self.numbered.values() {
            let history = own.together(&common);
            if !histories.contains(&history) {
                histories.push(history);
            }
        }
        histories
    }
}

/// The releases so far, by unit and observer.
#[derive(Clone, Debug, Default)]
pub struct Spending {
    groups: BTreeMap<Group, Units>,
}

impl Spending {
    /// Adds a release.
    pub fn add(&mut self, event: &PrivacyEvent) {
        self.groups.entry(group(event)).or_default().of(event).add(event);
    }

    /// Epsilon (natural logarithm of a likelihood ratio) at `delta` towards the observer of a release, with this release
    /// included: at least 0, infinite if no finite epsilon holds. If the release concerns several units, the result is
    /// the largest of these units' epsilons. Releases are assumed to be chosen adaptively.
    #[must_use]
    pub fn with(&self, event: &PrivacyEvent, accountant: &dyn Accountant, delta: Delta) -> f64 {
        let empty = Units::default();
        let histories = self.groups.get(&group(event)).unwrap_or(&empty).with(event);
        let epsilon = |history| price(accountant, history, delta, true).epsilon;
        histories.iter().map(epsilon).fold(0.0, f64::max)
    }
}

fn group(event: &PrivacyEvent) -> Group {
    (event.protected.clone(), event.unit, event.observer.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Basic;
    use crate::accounting::counted::example::event;

    /// Releases about one unit add up with those about all units, and not with those about other units, as in the report.
    #[test]
    fn releases_about_one_unit_add_up_with_those_about_all() {
        let delta = Delta::new(1e-5).unwrap();
        let of = |index, epsilon| event(ProtectedUnit::User, index, epsilon);
        let mut spending = Spending::default();
        spending.add(&of(Some(1), 1.0));
        spending.add(&of(Some(2), 2.0));
        let reached = |spending: &Spending, next: &PrivacyEvent| spending.with(next, &Basic, delta);
        assert_eq!(reached(&spending, &of(Some(1), 0.5)), 1.5);
        assert_eq!(reached(&spending, &of(None, 0.5)), 2.5, "of the unit with the largest loss");
        spending.add(&of(None, 0.5));
        assert_eq!(reached(&spending, &of(Some(1), 0.5)), 2.0);
        assert_eq!(reached(&spending, &of(Some(3), 0.5)), 1.0);

        let reward = event(ProtectedUnit::Reward, None, 1.0);
        let mut rewards = Spending::default();
        rewards.add(&reward);
        assert_eq!(reached(&rewards, &reward), 1.0, "the two rewards are of different users");
    }
}
