//! Privacy losses of releases: bounds on epsilon (natural logarithm of a likelihood ratio) that hold for all pairs of
//! neighbours are computed here only. Report, `subrosa account`, budgets, calibration and audit call this module.
//!
//! Accountants read a [`Composition`] (costs with counts) and return an [`AccountedEpsilon`], each by its own theorem. None
//! of them ignores a release: if an accountant has no bound for one, its epsilon is infinite and its notes name the release.
//!
//! From a run's releases to an epsilon: [`grouped`] groups releases about the same kind of unit to the same observer,
//! [`units`] determines which of them add up (a [`History`] for each unit that may have the largest loss),
//! [`History::statement`] is the input of the accountants, and [`Statement::figures`] their results. [`OverRuns`] takes the
//! largest losses over runs. [`added`] adds up the losses about one person, [`WholeStudy`] adds up the losses of all runs on
//! the same data, and [`Spending`] computes the loss that counts against a budget.

mod group_key;
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
mod whole_study;

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
pub use tight::Tight;
pub use units::{Units, units};
pub use whole_study::{StudyPrivacy, WholeStudy};

use crate::vocab::Delta;

/// A theorem that turns costs into an epsilon at a given delta.
///
/// One conformance suite checks for every accountant: for no releases epsilon is 0; epsilon is never NaN and never
/// negative; it does not depend on the order of the releases; up to 0.1 %, it does not decrease if delta decreases, and all
/// releases together have no smaller epsilon than one of them; for an unprotected release epsilon is infinite; a note
/// explains every infinite epsilon; a bound is no smaller than the tight accountant's proven lower bound.
pub trait Accountant: std::fmt::Debug + Send + Sync {
    /// One lower-case word, the key in files and tables ("tight").
    fn name(&self) -> &'static str;

    /// Its theorem and the theorem's source, in one sentence.
    fn about(&self) -> &'static str;

    /// Whether its epsilons are for comparison only and never count as upper bounds, even where they happen to be
    /// exact.
    fn is_approximation(&self) -> bool {
        false
    }

    /// Epsilon (natural logarithm of a likelihood ratio) of all releases together at `delta`, in (0, 1): at least 0,
    /// infinite if the theorem does not cover a release.
    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon;
}

// A new accountant is one file and its line here; programs add their own by the same call, `Accountants::add`. A
// scenario's budget may name the accountants below `bounds`.
names::accountants! {
    bounds {
        /// The privacy loss distribution.
        Tight,
        /// Renyi divergences.
        Rdp,
        /// The moments accountant of Abadi et al. 2016, by which the paper on DP-FTS-DE computes its losses.
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
