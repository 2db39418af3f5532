//! The ledger: every release is an event, events are plain data, and no epsilon is ever stored.
//!
//! [`release`] is the door; a [`Book`] is whatever keeps the events (the kernel's context, or a [`Ledger`]).

mod book;
mod budget;
mod release;

pub use crate::accounting::BudgetAccountant;
pub use book::{Book, Ledger, Refusal};
pub use budget::{Budget, Budgeted, Meter, WhenSpent};
pub use release::{Occasion, ReleaseError, release};
