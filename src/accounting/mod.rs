//! What releases cost: the one place that prices. Report, `subrosa account`, budgets, calibration and audit ask here.
//!
//! Accountants read a [`Composition`] (costs, counted) and answer with a [`Priced`], each by its own theorem. None of them
//! skips anything: an event that an accountant cannot price makes its answer infinite and is named in the notes.
//!
//! From a run's releases to a figure: [`grouped`] puts those about the same together, [`units`] tells which of them add up
//! (a [`History`] for each unit), [`History::statement`] is what accountants are asked, [`Statement::figures`] what they
//! answer. [`OverRuns`] takes the largest over runs, [`added`] sums what is about one person, [`WholeStudy`] all runs on
//! the same data, and [`Spending`] what a budget has spent.

mod about;
mod advanced;
mod basic;
mod counted;
mod by_round;
pub mod calibration;
mod claims;
mod complex;
mod composition;
pub(crate) mod footing;
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
mod priced;
mod rdp;
mod renyi;
pub(crate) mod single;
mod spending;
mod statement;
mod tight;
mod units;
mod whole_study;

pub use about::{About, grouped};
pub use advanced::Advanced;
pub use basic::Basic;
pub use by_round::{Growth, worst};
pub use claims::{Claimed, claims};
pub use composition::{Composition, Item, MOST_RELEASES};
pub use counted::{CountedRelease, over_rounds};
pub use footing::{Footing, LossBasis};
pub use gdp::Gdp;
pub use guarantees::pure_epsilon;
pub use history::{History, stated};
pub use loss::{Loss, largest_finite, losses, multiple};
pub use moments::Moments;
pub use names::{AccountantName, Accountants, BudgetAccountant, all};
pub use optimal::Optimal;
pub use over_runs::{Learned, OverRuns};
pub use person::{Added, Part, added, persons};
pub use priced::{Priced, Standing};
pub use rdp::Rdp;
pub use spending::Spending;
pub use statement::{Figure, Statement, costliest, tight_curve};
pub use tight::Tight;
pub use units::{Units, units};
pub use whole_study::{StudyPrivacy, WholeStudy};

use crate::vocab::Delta;

/// A theorem that turns costs into an epsilon at a given delta.
///
/// Promises, checked for every member by one conformance suite: no releases cost 0; the answer is never NaN and never
/// negative; it does not depend on the order of the releases; more releases never cost less; what cannot be priced is
/// infinite and named.
pub trait Accountant: std::fmt::Debug + Send + Sync {
    /// One lower-case word, the key in files and tables ("tight").
    fn name(&self) -> &'static str;

    /// What it is and where it is from, in one sentence.
    fn about(&self) -> &'static str;

    /// Whether its figures are for comparison only, even where one happens to be exact: a reader need not know when.
    fn is_approximation(&self) -> bool {
        false
    }

    /// Epsilon of all releases together at `delta`, in (0, 1): at least 0, infinite where something cannot be priced.
    fn price(&self, composition: &Composition, delta: Delta) -> Priced;
}

// A new accountant is one file and its line here; programs add their own by the same call, `Accountants::add`. Bounds may be
// named by a budget, in the scenario's words.
names::accountants! {
    bounds {
        /// The privacy loss distribution.
        Tight,
        /// Renyi divergences.
        Rdp,
        /// Abadi's moments, as papers count.
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
