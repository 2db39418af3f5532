//! Statements about a system, and the verdicts of an audit on them. A statement has the claimed epsilon, and the
//! accountant's upper bound on the system's loss, which is proven or conditional. Each of these two epsilons gets a verdict
//! from the trials.

mod bound;
mod finding;
mod statement;

pub use bound::upper_bound;
pub use finding::{Factors, Finding};
pub use statement::{Source, Statement, Tested, Verdict};
