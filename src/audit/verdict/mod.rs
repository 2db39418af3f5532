//! The claim about a system, the upper bound on its loss by the accountant (proven or conditional), and the verdict
//! on each of the two from the trials.

mod bound;
mod finding;
mod statement;

pub use bound::upper_bound;
pub use finding::{Factors, Finding};
pub use statement::{Source, Statement, Tested, Verdict};
