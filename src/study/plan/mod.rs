//! A study before it is run: its cells, and the identities of computations.

pub(in crate::study) mod asking;
pub(in crate::study) mod cells;
pub(in crate::study) mod file_name;
pub(in crate::study) mod futures;
pub(in crate::study) mod identity;
pub(in crate::study) mod needs;
mod of_futures;
