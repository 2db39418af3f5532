//! A list of releases in the form that accountants read: costs with counts, in an order that does not depend on the order
//! of the releases.

use crate::vocab::{Basis, Cost, PrivacyEvent};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// One cost and how often it occurred.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The cost of one release.
    pub cost: Cost,
    /// Number of releases with this cost, at least 1.
    pub count: u64,
    /// What was released ("outcome y, by disclosure"), or the cost in words if only the cost is known. Accountants use
    /// these texts in their notes.
    pub labels: BTreeSet<String>,
}

/// The largest count of one cost with which accountants give a finite epsilon. For a larger count, sums in double
/// precision are not accurate enough.
pub const MAX_RELEASES: u64 = 1_000_000_000_000;

/// Costs with counts. Equal costs are merged and the costs are sorted, so accountants return bit-identical results for
/// any order of releases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composition {
    items: Vec<Item>,
    conditions: BTreeSet<String>,
}

impl Composition {
    /// The composition of no releases.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Vec::new(), conditions: BTreeSet::new() }
    }

    /// The costs of events, and the statements on these costs that [`conditions`](Self::conditions) returns.
    pub fn of_events<'a>(events: impl IntoIterator<Item = &'a PrivacyEvent>) -> Self {
        Self::of_counted(events.into_iter().map(|event| (event, 1)))
    }

    /// The costs of events, each with the number of times that the event occurred, and the statements on these costs that
    /// [`conditions`](Self::conditions) returns.
    pub fn of_counted<'a>(events: impl IntoIterator<Item = (&'a PrivacyEvent, u64)>) -> Self {
        let mut composition = Self::new();
        for (event, count) in events {
            composition.insert(&event.cost, count, format!("{}, by {}", event.released, event.mechanism));
            match &event.basis {
                Basis::Conditional { on } => composition.note(format!("holds only with {on}")),
                Basis::AsPublished => {
                    composition.note(format!(
                        "the privacy loss of {} is as published, not proven here",
                        event.released
                    ));
                }
                Basis::Refuted { why } => {
                    composition.note(format!("the claim for {} is refuted: {why}", event.released));
                }
                Basis::Proven | Basis::Unprotected => {}
            }
        }
        composition
    }

    /// Adds `count` releases of one cost; a count of 0 changes nothing. A cost with numbers out of range is kept, and
    /// accountants return an infinite epsilon for it.
    pub fn add(&mut self, cost: &Cost, count: u64) {
        self.insert(cost, count, describe(cost));
    }

    /// The costs, equal ones merged, in a fixed order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// In words: the conditions under which the costs hold, the losses that are published but not proven here, and the
    /// claims that are refuted.
    pub fn conditions(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(String::as_str)
    }

    /// Whether this composition has every cost of `other` at least as often as `other` has it, and all conditions of
    /// `other`. If so, the epsilon of this composition is at least the epsilon of `other` by every accountant that computes
    /// a bound, because further releases never lower a loss.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        let times = |cost: &Cost| match self.items.binary_search_by(|item| order(&item.cost, cost)) {
            Ok(found) => self.items[found].count,
            Err(_) => 0,
        };
        other.items.iter().all(|item| times(&item.cost) >= item.count)
            && other.conditions.is_subset(&self.conditions)
    }

    /// Number of releases, at most 2^64 - 1.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.items.iter().fold(0, |sum: u64, item| sum.saturating_add(item.count))
    }

    fn note(&mut self, condition: String) {
        self.conditions.insert(condition);
    }

    fn insert(&mut self, cost: &Cost, count: u64, label: String) {
        if count == 0 {
            return;
        }
        match self.items.binary_search_by(|item| order(&item.cost, cost)) {
            Ok(found) => {
                let known = &mut self.items[found].count;
                *known = known.saturating_add(count);
                self.items[found].labels.insert(label);
            }
            Err(place) => {
                let labels = BTreeSet::from([label]);
                self.items.insert(place, Item { cost: cost.clone(), count, labels });
            }
        }
    }
}

impl<'a> FromIterator<(&'a Cost, u64)> for Composition {
    fn from_iter<T: IntoIterator<Item = (&'a Cost, u64)>>(costs: T) -> Self {
        let mut composition = Self::new();
        costs.into_iter().for_each(|(cost, count)| composition.add(cost, count));
        composition
    }
}

/// A cost in words.
pub(super) fn describe(cost: &Cost) -> String {
    match cost {
        Cost::Gaussian { noise_multiplier } => format!("Gaussian with noise multiplier {noise_multiplier}"),
        Cost::Laplace { scale } => format!("Laplace with scale {scale}"),
        Cost::ExponentialMechanism { epsilon } => format!("exponential mechanism with epsilon {epsilon}"),
        Cost::RandomizedResponse { epsilon } => format!("randomised response with epsilon {epsilon}"),
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            format!("Poisson-subsampled Gaussian with rate {rate}, noise multiplier {noise_multiplier}")
        }
        Cost::FixedSizeGaussian { population, size, noise_multiplier } => format!(
            "Gaussian on {size} of {population} drawn without replacement, noise multiplier {noise_multiplier}"
        ),
        Cost::ZeroConcentratedDp { rho } => format!("zero-concentrated differential privacy with rho {rho}"),
        Cost::RepeatedGaussian { noise_multiplier, shape, mean } => format!(
            "best of a negative binomial number (shape {shape}, mean {mean}) of Gaussian results with noise multiplier \
             {noise_multiplier}"
        ),
        Cost::PoissonRepeatedGaussian { noise_multiplier, mean } => {
            format!(
                "best of a Poisson number (mean {mean}) of Gaussian results with noise multiplier {noise_multiplier}"
            )
        }
        Cost::PureDp { epsilon } => format!("pure differential privacy with epsilon {epsilon}"),
        Cost::ApproximateDp { epsilon, delta } => {
            format!("approximate differential privacy with epsilon {epsilon}, delta {delta:e}")
        }
        Cost::Unprotected => "unprotected release".to_owned(),
    }
}

/// Orders costs by kind, then by their numbers in total order.
fn order(a: &Cost, b: &Cost) -> Ordering {
    let ((kind_a, numbers_a), (kind_b, numbers_b)) = (key(a), key(b));
    let by_numbers = numbers_a.iter().zip(&numbers_b).map(|(x, y)| x.total_cmp(y));
    kind_a.cmp(&kind_b).then_with(|| by_numbers.fold(Ordering::Equal, Ordering::then))
}

fn key(cost: &Cost) -> (u8, [f64; 3]) {
    match *cost {
        Cost::Gaussian { noise_multiplier } => (0, [noise_multiplier, 0.0, 0.0]),
        Cost::Laplace { scale } => (1, [scale, 0.0, 0.0]),
        Cost::ExponentialMechanism { epsilon } => (2, [epsilon, 0.0, 0.0]),
        Cost::RandomizedResponse { epsilon } => (3, [epsilon, 0.0, 0.0]),
        Cost::PoissonGaussian { rate, noise_multiplier } => (4, [rate, noise_multiplier, 0.0]),
        Cost::FixedSizeGaussian { population, size, noise_multiplier } => {
            (5, [population as f64, size as f64, noise_multiplier])
        }
        Cost::PureDp { epsilon } => (6, [epsilon, 0.0, 0.0]),
        Cost::ApproximateDp { epsilon, delta } => (7, [epsilon, delta, 0.0]),
        Cost::Unprotected => (8, [0.0; 3]),
        Cost::ZeroConcentratedDp { rho } => (9, [rho, 0.0, 0.0]),
        Cost::RepeatedGaussian { noise_multiplier, shape, mean } => (10, [noise_multiplier, shape, mean]),
        Cost::PoissonRepeatedGaussian { noise_multiplier, mean } => (11, [noise_multiplier, mean, 0.0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_costs_are_merged_and_the_order_of_releases_does_not_matter() {
        let (a, b) = (Cost::Laplace { scale: 2.0 }, Cost::Gaussian { noise_multiplier: 1.0 });
        let one: Composition = [(&a, 2), (&b, 1), (&a, 3)].into_iter().collect();
        let two: Composition = [(&b, 1), (&a, 5), (&a, 0)].into_iter().collect();
        assert_eq!(one, two);
        assert_eq!(one.items().len(), 2);
        assert_eq!(one.count(), 6);
        let more: Composition = [(&b, 1), (&a, 6)].into_iter().collect();
        let other: Composition = [(&b, 2), (&a, 5)].into_iter().collect();
        assert!(more.contains(&one) && more.contains(&more) && !one.contains(&more));
        assert!(!more.contains(&other) && !other.contains(&more) && more.contains(&Composition::new()));
    }
}
