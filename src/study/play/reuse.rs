//! Reuses the records of equal cells from earlier runs in the same parent folder, so that an edited study runs only the
//! cells that changed.

use crate::study::disk::answers;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::segment::Segment;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::play::jobs::Jobs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Appends to `segment` the records that `stored` lacks and that another run in the same parent folder has for a cell of
/// equal identity. Only folders whose names begin like the names of this scenario's run folders are searched. The search
/// ends when no record is missing. Returns the number of replications that were copied, and how many of the searched runs
/// have the plan's name and were made by another build of the program. Nothing is copied from such a run: cells of another
/// build have other identities, even if their results would be the same.
pub(in crate::study) fn copy(
    plan: &Plan,
    folder: &RunFolder,
    stored: &StoredRecords,
    segment: &Segment,
) -> Result<(u64, u64), FolderError> {
    let wanted = Jobs::missing(plan, stored).len();
    if wanted == 0 {
        return Ok((0, 0));
    }
    let mut cells: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        cells.entry(&cell.identity).or_default().push(index);
    }
    let mut copied: BTreeSet<(usize, u64)> = BTreeSet::new();
    let mut other_builds = 0;
    for neighbour in sibling_runs(plan, folder) {
        if copied.len() as u64 == wanted {
            break;
        }
        // A run that cannot be read is skipped.
        let Ok(Some(manifest)) = neighbour.manifest() else { continue };
        other_builds += u64::from(manifest.name == plan.name && manifest.build != plan.build);
        if manifest.cells.is_empty()
            || !manifest.cells.iter().any(|cell| cells.contains_key(cell.identity.as_str()))
        {
            continue;
        }
        let mine = |_: usize, identity: &str| cells.get(identity).cloned().unwrap_or_default();
        let mut found = StoredRecords::empty();
        if neighbour.record_files().iter().any(|path| found.add(path, &mine).is_err()) {
            continue;
        }
        if !found.conflicts.is_empty() {
            continue;
        }
        // A replay of the copied records needs the fitted values with which the records were made.
        for preparation in plan.cells.iter().map(|cell| cell.preparation.as_str()).collect::<BTreeSet<_>>() {
            if let Ok(Some(fitted)) = neighbour.fitted(preparation) {
                folder.keep_fitted(preparation, &fitted)?;
            }
            answers::copy(&neighbour, folder, preparation)?;
        }
        if manifest.cells[0].identity == plan.cells[0].identity {
            copy_first_messages(&neighbour, folder)?;
        }
        for (cell, replication) in found.keys().filter(|key| key.1 < plan.replications) {
            if stored.holds(cell, replication) || copied.contains(&(cell, replication)) {
                continue;
            }
            if let Ok(Some(line)) = found.line(cell, replication) {
                segment.append(&line)?;
                copied.insert((cell, replication));
            }
        }
    }
    Ok((copied.len() as u64, other_builds))
}

/// Copies the first events of the study's first replication, unless `to` has them already.
pub(in crate::study) fn copy_first_messages(from: &RunFolder, to: &RunFolder) -> Result<(), FolderError> {
    if let (None, Some(first_messages)) = (to.first_messages(), from.first_messages()) {
        to.keep_first_messages(&first_messages)?;
    }
    Ok(())
}

/// The other folders in the parent of `folder` whose names begin like the names of this scenario's run folders, in order of
/// their names.
fn sibling_runs(plan: &Plan, folder: &RunFolder) -> Vec<RunFolder> {
    let parent = folder.path().parent().filter(|parent| !parent.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(parent.unwrap_or(std::path::Path::new("."))) else {
        return Vec::new();
    };
    let prefix = plan.folder_prefix();
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)))
        .map(|entry| entry.path())
        .filter(|path| path.file_name() != folder.path().file_name())
        .collect();
    paths.sort();
    paths.iter().map(|path| RunFolder::at(path)).collect()
}
