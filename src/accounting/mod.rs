//! Privacy losses of releases. Only this module computes bounds on epsilon that hold for all pairs of neighbours; every
//! epsilon is in natural logarithms. The report, the commands
//! `account` and `calibrate`, checks of budgets, and the audit call this module.
//!
//! An accountant reads a [`Composition`] (costs with counts) and returns an [`AccountedEpsilon`] by its own theorem. No
//! accountant ignores a release: if its theorem has no bound for a release, its epsilon is infinite and its notes name the
//! release.
//!
//! An epsilon is computed from a run's releases in these steps. [`grouped`] groups the releases about the same kind of
//! unit of the same party to the same observer. [`units`] determines which losses of a group add up, and returns a
//! [`History`] for each unit that may have the largest loss. [`History::statement`] makes the input of the accountants,
//! and [`Statement::figures`] computes their results. [`OverRuns`] takes the largest losses over runs. [`added`] adds up
//! the losses about one person, [`WholeStudy`] adds up the losses of all runs on the same data, and [`Spending`] computes
//! the loss that counts against a budget.

mod group_key;
mod accountant;
mod advanced;
mod any_delta;
mod basic;
mod counted;
mod by_round;
pub mod calibration;
mod claims;
mod complex;
mod composition;
pub(crate) mod basis;
pub(crate) mod exact_pair;
mod gdp;
mod guarantees;
mod history;
mod laws;
mod loss;
mod moments;
mod names;
mod optimal;
mod over_runs;
mod pairs;
mod person;
mod accounted_epsilon;
mod rdp;
pub(crate) mod repeated;
mod renyi;
mod epsilon_steps;
pub(crate) mod single;
mod spending;
mod statement;
mod tight;
mod units;
mod study_group;
mod study_privacy;
mod whole_study;

pub use accountant::Accountant;
pub use accounted_epsilon::{AccountedEpsilon, EpsilonKind};
pub use advanced::Advanced;
pub use any_delta::proven_epsilon;
pub use basic::Basic;
pub use basis::{BasisSummary, LossBasis};
pub use by_round::{Growth, worst};
pub use claims::{Claimed, claims};
pub use composition::{Composition, Item, MAX_RELEASES};
pub use counted::{CountedRelease, over_rounds};
pub use epsilon_steps::{EpsilonAt, epsilon_at};
pub use gdp::Gdp;
pub use group_key::{GroupKey, grouped};
pub use guarantees::pure_epsilon;
pub use history::{History, stated};
pub use loss::{Loss, largest_finite, losses, multiple};
pub use moments::Moments;
pub use names::{AccountantName, Accountants, BudgetAccountant, all};
pub use optimal::Optimal;
pub use over_runs::{LossesOverRuns, OverRuns};
pub use person::{Part, SummedLoss, added, persons};
pub use rdp::Rdp;
pub use spending::Spending;
pub use statement::{Figure, Statement, costliest};
pub use study_privacy::StudyPrivacy;
pub use tight::Tight;
pub use units::{Units, units};
pub(crate) use whole_study::OF_ONE_RUN;
pub use whole_study::WholeStudy;

#[cfg(test)]
pub(crate) use counted::example;

// A new accountant is one file, its `mod` and `pub use` lines above, and a line in one of these two lists. The macro calls
// `Accountants::add`, which programs also call to add accountants of their own. A scenario's budget may name the
// accountants in the list `bounds`.
names::accountants! {
    bounds {
        /// The privacy loss distribution.
        Tight,
        /// Renyi divergences.
        Rdp,
        /// The moments accountant of Abadi et al. 2016, by which Dai, Low and Jaillet 2021 compute the losses of DP-FTS-DE.
        Moments,
        /// Kairouz, Oh and Viswanath's optimal composition.
        Optimal,
        /// Advanced composition.
        Advanced,
        /// Epsilons add up.
        Basic,
    }
    comparisons {
        Gdp,
    }
}
