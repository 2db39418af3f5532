//! The claim, the proven bound, and the verdict of the trials on both.

mod bound;
mod finding;
mod statement;

pub use bound::upper_bound;
pub use finding::{Factors, Finding};
pub use statement::{Source, Statement, Tested, Verdict};
