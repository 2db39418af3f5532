//! The ledger: every release is an entry of plain data, and no epsilon is ever stored.
//!
//! [`release`] makes a release; a [`Book`] stores its ledger entry (the kernel's context, or a [`Ledger`]).

mod book;
mod budget;
mod release;

pub use crate::accounting::BudgetAccountant;
pub use book::{Book, Ledger, Refusal};
pub use budget::{Budget, Budgeted, Meter, WhenSpent};
pub use release::{Occasion, ReleaseError, release};
