//! What is claimed, what is proven, and what the trials say of both.

mod bound;
mod finding;
mod statement;

pub use bound::upper_bound;
pub use finding::{Factors, Finding};
pub use statement::{Source, Statement, Tested, Verdict};
