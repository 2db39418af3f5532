//! Checks that the files of a run folder are consistent. This is needed because a replay of some replications does not show
//! that the other records are intact.

use crate::study::disk::error::{Conflict, FolderError};
use crate::study::disk::files::{self, indented_json};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::manifest::{self, Manifest};
use crate::study::disk::record::{Digest, Records};
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::gather;
use crate::study::results::summary::Summary;
use crate::study::results::tables::digest_line;
use crate::vocab::counted;
use std::fmt;

/// A part of a run folder that contradicts the rest of it.
#[derive(Clone, Debug)]
pub enum Inconsistency {
    /// A number in the manifest differs from the number in the scenario with its overrides.
    Number {
        /// Name of the number, such as "number of replications".
        what: &'static str,
        /// The number in the manifest.
        manifest: u64,
        /// The number in the scenario.
        scenario: u64,
    },
    /// Records of a completed run are missing.
    Missing {
        /// Number of replications without a readable record.
        missing: u64,
        /// Number of replications of all cells.
        total: u64,
    },
    /// This number of lines of records cannot be read, although every replication has a readable record.
    Damaged(u64),
    /// One replication has two results.
    Conflict(Conflict),
    /// A stored digest differs from the digest of the records. The field names the stored digest.
    Digest(&'static str),
    /// The manifest says that the run is not finished, although each of its replications has a record. The field is the
    /// number of replications.
    Unfinished(u64),
    /// The summary does not match the manifest of the run.
    Summary,
    /// A file of this name differs from the one that the records and the scenario give.
    File(String),
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { what, manifest, scenario } => write!(
                f,
                "the {what} is {manifest} in manifest.json and {scenario} in scenario.ron with the overrides: one of \
                 them was changed after the run; run the same command again to make both anew"
            ),
            Self::Missing { missing, total } => write!(
                f,
                "{missing} of {} {} missing or damaged: run the same command again to make {}",
                counted(*total, "replication"),
                if *missing == 1 { "is" } else { "are" },
                if *missing == 1 { "it" } else { "them" }
            ),
            Self::Damaged(lines) => write!(
                f,
                "{} cannot be read, but every replication also has a readable record: run the same command again to \
                 remove the unreadable ones",
                counted(*lines, "record")
            ),
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Digest(whose) => write!(
                f,
                "{whose} does not match the records: the file or the records were changed after the run; run the \
                 same command again to make the file anew"
            ),
            Self::Unfinished(total) => write!(
                f,
                "manifest.json says that the run is not finished, although every one of its {} has a record: run the same \
                 command again to finish it",
                counted(*total, "replication")
            ),
            Self::Summary => write!(
                f,
                "summary.json does not match the records: run the same command again to write it again"
            ),
            Self::File(name) => write!(
                f,
                "{name} is not what the records and scenario.ron give: one of them was changed after the run; run \
                 the same command again to make the file anew"
            ),
        }
    }
}

/// The contradictions in the folder of a run. The records and files of a complete run are checked only if its manifest
/// agrees with the scenario and no records conflict. `records` are the records of `stored` whose replication number is
/// below the plan's number of replications.
///
/// # Errors
/// [`FolderError`] for a file that exists and cannot be read.
pub fn inconsistencies(
    plan: &Plan,
    folder: &RunFolder,
    manifest: &Manifest,
    stored: &StoredRecords,
    records: &Records,
) -> Result<Vec<Inconsistency>, FolderError> {
    let mut found = Vec::new();
    let numbers = [
        ("number of cells", manifest.cells.len() as u64, plan.cells.len() as u64),
        ("number of replications", manifest.replications, plan.replications),
        ("seed", manifest.seed, plan.first_seed()),
    ];
    for (what, manifest, scenario) in numbers {
        if manifest != scenario {
            found.push(Inconsistency::Number { what, manifest, scenario });
        }
    }
    found.extend(stored.conflicts.iter().cloned().map(Inconsistency::Conflict));
    // An interrupted run may lack records, and the last line of its stored records may be incomplete.
    if !found.is_empty() || !manifest.complete {
        return Ok(found);
    }
    found.extend(lost(stored, plan.replications, plan.total()));
    if found.iter().any(|part| matches!(part, Inconsistency::Missing { .. })) {
        return Ok(found);
    }
    let (mut digest, mut lines) = (Digest::new(), String::new());
    for (cell, records) in records.iter().enumerate() {
        for record in records.values() {
            digest.add(record);
            record.series.iter().for_each(|series| lines.push_str(&digest_line(cell, record, series)));
        }
    }
    if manifest.digest.as_ref() != Some(&digest.hex()) {
        found.push(Inconsistency::Digest("the manifest's digest"));
    }
    if files::read_packed_if_there(&folder.file("digest.txt"))? != Some(lines) {
        found.push(Inconsistency::Digest("digest.txt"));
    }
    let is_reported = |name: &String| name == "digest.txt" && !found.is_empty();
    let changed = gather::changed(plan, folder, stored)?;
    let mut changed: Vec<String> = changed.into_iter().filter(|name| !is_reported(name)).collect();
    if found.is_empty() && !matches_plan(plan, manifest) {
        changed.insert(0, "manifest.json".to_owned());
    }
    found.extend(changed.into_iter().map(Inconsistency::File));
    Ok(found)
}

/// Whether a manifest agrees with the run's plan. The machine and the version of the program are not compared, because
/// only the manifest records them. The digest of the records is not compared either, because it is checked separately.
fn matches_plan(plan: &Plan, manifest: &Manifest) -> bool {
    let fresh = Manifest {
        subrosa: manifest.subrosa.clone(),
        target: manifest.target.clone(),
        ..manifest::manifest(plan, manifest.digest.clone())
    };
    indented_json(&fresh) == indented_json(manifest)
}

/// Contradictions between `summary` and the run in `folder`. The digest of the records is not computed again: the digest in
/// the summary is compared with the digest in the manifest.
///
/// # Errors
/// [`FolderError`] for a file that exists and cannot be read.
pub fn summary_inconsistencies(
    folder: &RunFolder,
    summary: &Summary,
) -> Result<Vec<Inconsistency>, FolderError> {
    let Some((manifest, stored)) = folder.records()? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    if manifest.complete {
        found.extend(lost(
            &stored,
            manifest.replications,
            manifest.replications * manifest.cells.len() as u64,
        ));
    }
    // The summary of an incomplete run covers the records that existed when it was written.
    if summary.complete && manifest.digest.as_ref() != Some(&summary.digest)
        || !summary.complete && manifest.complete
    {
        found.push(Inconsistency::Summary);
    }
    Ok(found)
}

fn lost(stored: &StoredRecords, replications: u64, total: u64) -> Option<Inconsistency> {
    let missing = total.saturating_sub(stored.finished(replications));
    match (missing, stored.damaged) {
        (0, 0) => None,
        (0, lines) => Some(Inconsistency::Damaged(lines)),
        (missing, _) => Some(Inconsistency::Missing { missing, total }),
    }
}
