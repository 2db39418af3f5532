//! The manifest of a run folder: the plan of the run, and the program that ran it.

use crate::programs::ProgramIdentity;
use crate::rng::TREE_VERSION;
use crate::scenario::OwnMember;
use crate::study::plan::cells::Plan;
use crate::study::plan::fork_branches::ForkBranches;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the folder's layout and of the format of its records.
pub const FOLDER_VERSION: u32 = 2;

/// The contents of `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// `FOLDER_VERSION`, the version of the layout.
    pub folder_version: u32,
    /// Version of the program.
    pub subrosa: String,
    /// Hash of the program's sources; empty in runs from before this field existed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
    /// The family members that the scenario names and that the user's own program adds to those of the library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<OwnMember>,
    /// Version of the seed tree.
    pub seed_tree: u32,
    /// Processor architecture and operating system of the program that wrote the manifest.
    pub target: String,
    /// Name of the scenario.
    pub name: String,
    /// The seed; if cells have different seeds, the seed of the first cell.
    pub seed: u64,
    /// Replications of every cell.
    pub replications: u64,
    /// Folder to which paths in the scenario are relative.
    pub base: PathBuf,
    /// The folder of `--data`, in which the scenario's files are looked for too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Overrides of the command line.
    pub overrides: Vec<String>,
    /// The programs that the scenario names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramIdentity>,
    /// The branches of the fork, if the run was forked.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "futures")]
    pub fork: Option<ForkBranches>,
    /// The cells.
    pub cells: Vec<CellManifest>,
    /// Whether every replication of every cell is present.
    pub complete: bool,
    /// Hash of the digests of all series in all replications; null before the run is complete.
    pub digest: Option<String>,
}

/// One cell in the manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellManifest {
    /// Name and value of each `Each`. The value is written in RON, or as its label if it has one.
    pub point: Vec<(String, String)>,
    /// Hash of everything on which the records of the cell's replications depend.
    pub identity: String,
}

/// The operating system. The standard library has no name for WASI.
fn system() -> &'static str {
    if cfg!(target_os = "wasi") { "wasi" } else { std::env::consts::OS }
}

/// The manifest of a plan. `digest` is the digest of all records of the plan, or `None` while records are missing.
pub(in crate::study) fn manifest(plan: &Plan, digest: Option<String>) -> Manifest {
    Manifest {
        folder_version: FOLDER_VERSION,
        subrosa: env!("CARGO_PKG_VERSION").to_owned(),
        build: plan.build.clone(),
        members: plan.own.clone(),
        seed_tree: TREE_VERSION,
        target: format!("{}-{}", std::env::consts::ARCH, system()),
        name: plan.name.clone(),
        seed: plan.first_seed(),
        replications: plan.replications,
        base: plan.base.clone(),
        data: plan.data.clone(),
        overrides: plan.overrides.clone(),
        programs: plan.programs(),
        fork: plan.fork.clone(),
        cells: plan
            .cells
            .iter()
            .map(|cell| CellManifest { point: cell.point.clone(), identity: cell.identity.clone() })
            .collect(),
        complete: digest.is_some(),
        digest,
    }
}
