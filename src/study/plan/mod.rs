//! A study before it is run: its cells, and the identities (hashes) by which stored results of a computation are found.

pub(in crate::study) mod program_versions;
pub(in crate::study) mod cells;
pub(in crate::study) mod file_name;
pub(in crate::study) mod fork_branches;
pub(in crate::study) mod identity;
pub(in crate::study) mod needs;
mod branch_cells;
