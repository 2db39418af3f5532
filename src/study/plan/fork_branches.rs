//! The branches of a forked study, and the axis that distinguishes their cells.

use serde::{Deserialize, Serialize};

/// Name of the branch without changes.
pub const UNCHANGED: &str = "unchanged";

/// The branches of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkBranches {
    /// The time at which the branches separate, in words: "after round 20".
    pub at: String,
    /// Name of the axis whose value, in each cell of a plan, is the name of the cell's branch.
    pub axis: String,
    /// The branches, the unchanged one first.
    pub branches: Vec<ForkBranch>,
}

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkBranch {
    /// Its name.
    pub name: String,
    /// The overrides, `path=RON`, that turn the scenario into the settings of this branch after the fork.
    pub overrides: Vec<String>,
}
