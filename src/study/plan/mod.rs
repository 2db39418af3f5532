//! A study before it is played: its cells, and the identities of computations.

pub(in crate::study) mod cells;
pub(in crate::study) mod identity;
