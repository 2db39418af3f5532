//! A privacy budget, which is compared before every release with the loss of all releases up to and including that one.

use super::{LedgerWriter, Refusal};
use crate::accounting::{BudgetAccountant, Spending};
use crate::vocab::{Delta, Epsilon, Observer, PrivacyEvent, ProtectedUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What happens when the next release would exceed a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WhenSpent {
    /// The series ends before that release.
    #[default]
    Stop,
    /// The series ends before that release, and the program ends with exit code 6.
    Fail,
    /// The release happens, and the report marks the budget as exceeded.
    GoOn,
}

/// A limit on the privacy loss of each unit towards each observer, in one run.
///
/// Example: `Budget(epsilon: 10, delta: 1e-5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Largest epsilon. To allow for rounding errors, a loss of at most (1 + 1e-9) times this number is admitted.
    pub epsilon: Epsilon,
    /// Delta at which epsilon is computed.
    pub delta: Delta,
    /// Kind of unit whose loss is limited. Default: all kinds.
    #[serde(default)]
    pub unit: Option<ProtectedUnit>,
    /// The accountant that computes the loss. Default: `Tight`.
    #[serde(default)]
    pub accountant: BudgetAccountant,
    /// What happens when the next release would exceed the budget. Default: `Stop`.
    #[serde(default)]
    pub when_spent: WhenSpent,
}

/// The releases counted against a budget so far, by unit and observer.
#[derive(Clone, Debug)]
pub struct BudgetMeter {
    budget: Option<Budget>,
    spent: Spending,
    exceeded: Option<Refusal>,
    /// Relays that can read the releases.
    relays: Arc<[Observer]>,
}

impl BudgetMeter {
    /// A meter that has counted no release yet. Without a budget every release is admitted.
    #[must_use]
    pub fn new(budget: Option<Budget>) -> Self {
        Self { budget, spent: Spending::default(), exceeded: None, relays: Arc::default() }
    }

    /// The same meter, with the relays that can read the releases. Each relay observes every release, in addition to the
    /// observer that the release names. The meter only lists the relays: a party's ledger (`JournalLedger`) checks the
    /// budget for each of them too.
    #[must_use]
    pub fn read_by(self, relays: Vec<Observer>) -> Self {
        Self { relays: relays.into(), ..self }
    }

    /// Relays that can read the releases.
    #[must_use]
    pub fn reading_relays(&self) -> &Arc<[Observer]> {
        &self.relays
    }

    /// Describes the first release that would have exceeded the budget or, with [`WhenSpent::GoOn`], that exceeded it.
    /// `None` if there was no such release.
    #[must_use]
    pub const fn exceeded(&self) -> Option<&Refusal> {
        self.exceeded.as_ref()
    }

    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        let Some(budget) = self.budget else { return Ok(()) };
        if budget.unit.is_some_and(|unit| unit != event.unit) {
            return Ok(());
        }
        let would_reach = self.spent.with(event, budget.accountant.as_dyn(), budget.delta);
        // A budget that is reached exactly is not exceeded; the tolerance prevents a rounding error from refusing the
        // last release.
        if would_reach <= budget.epsilon.get() * (1.0 + 1e-9) {
            return Ok(());
        }
        let refusal = Refusal {
            would_reach,
            budget: budget.epsilon.get(),
            delta: budget.delta.get(),
            fail: budget.when_spent == WhenSpent::Fail,
        };
        self.exceeded.get_or_insert_with(|| refusal.clone());
        if budget.when_spent == WhenSpent::GoOn { Ok(()) } else { Err(refusal) }
    }
}

/// A ledger that checks a budget before each release.
#[derive(Debug)]
pub struct Budgeted<'a, B> {
    /// Counts the releases.
    pub meter: &'a mut BudgetMeter,
    /// Stores the ledger entries.
    pub ledger: B,
}

impl<B: LedgerWriter> LedgerWriter for Budgeted<'_, B> {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        self.meter.admit(event)?;
        self.ledger.admit(event)
    }

    fn enter(&mut self, event: PrivacyEvent) {
        if self.meter.budget.is_some() {
            self.meter.spent.add(&event);
        }
        self.ledger.enter(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Sensitive;
    use crate::privacy::ledger::{Ledger, Occasion, ReleaseError, release};
    use crate::privacy::mechanisms::Gaussian;
    use crate::rng::Key;
    use crate::vocab::{Neighbours, Observer, Positive, Time};

    /// Makes up to 20 Gaussian releases of noise multiplier 2, until one is refused; returns how many were made.
    fn spend(when_spent: WhenSpent, unit: Option<ProtectedUnit>) -> (usize, BudgetMeter) {
        spend_budget(5.0, when_spent, unit)
    }

    fn occasion(round: u64) -> Occasion {
        Occasion {
            released: "sum".into(),
            protected: "agents".into(),
            unit: ProtectedUnit::Agent,
            unit_index: None,
            neighbours: Neighbours::ZeroOut,
            observer: Observer("agents".into()),
            round,
            at: Time::ZERO,
            conditions: Vec::new(),
        }
    }

    fn spend_budget(
        epsilon: f64,
        when_spent: WhenSpent,
        unit: Option<ProtectedUnit>,
    ) -> (usize, BudgetMeter) {
        let budget = Budget {
            epsilon: Epsilon::new(epsilon).unwrap(),
            delta: Delta::new(1e-5).unwrap(),
            unit,
            accountant: BudgetAccountant::Tight,
            when_spent,
        };
        let (mut meter, mut ledger) = (BudgetMeter::new(Some(budget)), Ledger::new());
        let noise = Gaussian::new(Positive::new(2.0).unwrap(), Positive::new(1.0).unwrap());
        let mut stream = Key::root(1).stream();
        for round in 0..20 {
            let mut budgeted = Budgeted { meter: &mut meter, ledger: &mut ledger };
            match release(&mut budgeted, occasion(round), &noise, &Sensitive::new(vec![0.0]), &mut stream) {
                Ok(_) => {}
                Err(ReleaseError::Refused(refusal)) => {
                    assert!(refusal.would_reach > epsilon, "{refusal}");
                    break;
                }
                Err(other) => panic!("{other}"),
            }
        }
        (ledger.events().len(), meter)
    }

    #[test]
    fn releases_stop_at_the_budget() {
        // k Gaussian releases of noise multiplier 2 compose to one of multiplier 2 / sqrt(k): at delta 1e-5, five have
        // epsilon 4.98 (analytic Gaussian) and six 5.54.
        let (released, meter) = spend(WhenSpent::Stop, None);
        let expected = |k: f64| crate::accounting::single::gaussian_epsilon(k.sqrt() / 2.0, 1e-5);
        let most = (1..20).take_while(|&k| expected(f64::from(k)) <= 5.0).count();
        assert_eq!(released, most);
        assert!(meter.exceeded().is_some_and(|refusal| !refusal.fail));
        assert!(spend(WhenSpent::Fail, None).1.exceeded().is_some_and(|refusal| refusal.fail));
    }

    /// A budget that a release reaches exactly, up to rounding errors, is not exceeded; a smaller budget is exceeded.
    #[test]
    fn a_budget_that_is_reached_exactly_is_not_exceeded() {
        let reached = crate::accounting::single::gaussian_epsilon(0.5, 1e-5);
        for (share, released) in [(1.0 - 5e-10, 1), (1.0 - 2e-9, 0), (1.0 + 1e-9, 1)] {
            assert_eq!(spend_budget(reached * share, WhenSpent::Stop, None).0, released, "{share}");
        }
    }

    /// If a ledger refuses a release, so does a reference to the ledger, and so does a [`Budgeted`] that contains this
    /// ledger.
    #[test]
    fn a_refusal_passes_through_references_and_budgets() {
        struct Full;
        impl LedgerWriter for Full {
            fn admit(&mut self, _: &PrivacyEvent) -> Result<(), Refusal> {
                Err(Refusal { would_reach: 2.0, budget: 1.0, delta: 1e-5, fail: false })
            }
            fn enter(&mut self, _: PrivacyEvent) {}
        }
        let mut meter = BudgetMeter::new(None);
        let mut budgeted = Budgeted { meter: &mut meter, ledger: &mut Full };
        let noise = Gaussian::new(Positive::new(2.0).unwrap(), Positive::new(1.0).unwrap());
        let secret = Sensitive::new(vec![0.0]);
        let refused = release(&mut budgeted, occasion(0), &noise, &secret, &mut Key::root(1).stream());
        assert!(matches!(refused, Err(ReleaseError::Refused(_))));
    }

    #[test]
    fn going_on_is_marked_and_other_units_are_not_limited() {
        let (released, meter) = spend(WhenSpent::GoOn, None);
        assert_eq!(released, 20);
        assert!(meter.exceeded().is_some());
        let (released, meter) = spend(WhenSpent::Fail, Some(ProtectedUnit::Record));
        assert_eq!(released, 20);
        assert!(meter.exceeded().is_none());
    }
}
