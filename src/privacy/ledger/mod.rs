//! The ledger: every release is an entry of plain data; the epsilon of several releases is computed, never stored.
//!
//! [`release`] makes a release; a [`LedgerWriter`], such as a [`Ledger`], stores its ledger entry.

mod writer;
mod budget;
mod release;

pub use crate::accounting::BudgetAccountant;
pub use budget::{Budget, BudgetMeter, Budgeted, WhenSpent};
pub use release::{Occasion, ReleaseError, enter, enter_for, release};
pub use writer::{Ledger, LedgerWriter, Refusal};
