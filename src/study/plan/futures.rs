//! The futures of a forked study: its branches, and the axis that tells their cells apart.

use serde::{Deserialize, Serialize};

/// Name of the branch without changes.
pub const UNCHANGED: &str = "unchanged";

/// The branches of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Futures {
    /// When they part, in words: "after round 20".
    pub at: String,
    /// Name of the axis on which the cells of a plan have the names of their branches.
    pub axis: String,
    /// The branches, the unchanged one first.
    pub branches: Vec<Future>,
}

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Future {
    /// Its name.
    pub name: String,
    /// The overrides with which the scenario gives its settings after the fork, `path=RON`.
    pub overrides: Vec<String>,
}
