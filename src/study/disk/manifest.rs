//! What a run folder says of itself: which plan it is of, and what played it.

use crate::rng::TREE_VERSION;
use crate::scenario::OwnMember;
use crate::study::plan::cells::Plan;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the layout and of the records.
pub const FOLDER_VERSION: u32 = 2;

/// What `manifest.json` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub folder_version: u32,
    /// Version of the program.
    pub subrosa: String,
    /// Hash of the program's sources; empty in runs of before builds were told apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
    /// Members of families that the scenario names and that the library does not have: the program had them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<OwnMember>,
    /// Version of the seed tree.
    pub seed_tree: u32,
    /// Machine that the run was played on.
    pub target: String,
    /// Widest instruction set in use, since it may change the last bits of library routines.
    pub cpu: String,
    /// Name of the scenario.
    pub name: String,
    /// The seed; where cells differ in theirs, the first cell's.
    pub seed: u64,
    /// Replications of every cell.
    pub replications: u64,
    /// Folder that relative paths of the scenario begin at.
    pub base: PathBuf,
    /// A further folder that files were looked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Overrides of the command line.
    pub overrides: Vec<String>,
    /// The cells.
    pub cells: Vec<CellManifest>,
    /// Whether every replication of every cell is there.
    pub complete: bool,
    /// Hash over all cells' digests; absent before the run is complete.
    pub digest: Option<String>,
}

/// One cell in the manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellManifest {
    /// Value of each `Each` by its name, as written in RON.
    pub point: Vec<(String, String)>,
    /// Hash of all that the cell's results depend on.
    pub identity: String,
}

/// What the folder of a plan says, once it is complete with the digest of its records.
pub(in crate::study) fn manifest(plan: &Plan, digest: Option<String>) -> Manifest {
    Manifest {
        folder_version: FOLDER_VERSION,
        subrosa: env!("CARGO_PKG_VERSION").to_owned(),
        build: plan.build.clone(),
        members: plan.own.clone(),
        seed_tree: TREE_VERSION,
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        cpu: cpu().to_owned(),
        name: plan.name.clone(),
        seed: plan.first_seed(),
        replications: plan.replications,
        base: plan.base.clone(),
        data: plan.data.clone(),
        overrides: plan.overrides.clone(),
        cells: plan
            .cells
            .iter()
            .map(|cell| CellManifest { point: cell.point.clone(), identity: cell.identity.clone() })
            .collect(),
        complete: digest.is_some(),
        digest,
    }
}

/// The widest instruction set that libraries may choose at run time.
fn cpu() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "x86-64-v4";
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return "x86-64-v3";
        }
    }
    "baseline"
}
