//! Runs replications: a whole study, a sweep by many processes, or single replications that are traced, replayed, forked or
//! compared.

pub(in crate::study) mod diff;
pub(in crate::study) mod dry;
pub(in crate::study) mod finite;
pub(in crate::study) mod fork;
pub(in crate::study) mod branches;
pub(in crate::study) mod jobs;
pub(in crate::study) mod precision;
pub(in crate::study) mod progress;
pub(in crate::study) mod replay;
pub(in crate::study) mod reuse;
pub(in crate::study) mod runner;
pub(in crate::study) mod simulate;
pub mod sweep;
pub(in crate::study) mod trace;
pub(in crate::study) mod cell_runner;
