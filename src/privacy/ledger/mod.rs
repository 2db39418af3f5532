//! The ledger: every release is an entry of plain data; the epsilon of several releases is computed, never stored.
//!
//! [`release`] makes a release; a [`LedgerWriter`] stores its ledger entry (the kernel's context, or a [`Ledger`]).

mod writer;
mod budget;
mod release;

pub use crate::accounting::BudgetAccountant;
pub use budget::{Budget, Budgeted, Meter, WhenSpent};
pub use release::{Occasion, ReleaseError, enter_for, release};
pub use writer::{Ledger, LedgerWriter, Refusal};
