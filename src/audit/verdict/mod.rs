//! The claim about a system and the proven bound on its loss, and the verdict on each of the two
//! from the trials.

mod bound;
mod finding;
mod statement;

pub use bound::upper_bound;
pub use finding::{Factors, Finding};
pub use statement::{Source, Statement, Tested, Verdict};
