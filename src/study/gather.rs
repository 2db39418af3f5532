//! From records to what a study leaves behind: one file in order, tables, summary. Cell by cell, so that the memory
//! needed does not grow with their number.

use super::folder::{FolderError, RunFolder, pretty};
use super::plan::Plan;
use super::privacy_table;
use super::results::Results;
use super::runner::{manifest, no_conflict};
use super::summary::{Summarising, Summary};
use super::tables::{self, Tables};
use super::{files, store};

/// Makes all files of `folder` from the records that are there. Where all are there, they are gathered into one file
/// in order, and the run is marked as complete. The result depends on the records alone, not on who left them where.
///
/// # Errors
/// [`FolderError`]; what was there before is kept.
pub fn finish(plan: &Plan, folder: &RunFolder) -> Result<Summary, FolderError> {
    let archive = folder.archive(&plan.identities())?;
    no_conflict(&archive)?;
    let complete = archive.finished(plan.replications) == plan.total();
    let mut gathered = if complete { Some(files::Staged::new(&folder.file("records.jsonl"))?) } else { None };
    let mut tables = Tables::new(folder)?;
    let mut results = Results::new(plan);
    let mut summarising = Summarising::new(plan);
    for cell in 0..plan.cells.len() {
        let mut records = archive.cell(cell)?;
        if let Some(gathered) = &mut gathered {
            // Replications beyond those asked for this time stay for the next.
            for &replication in records.keys() {
                gathered.write(&archive.line(cell, replication)?.unwrap_or_default())?;
            }
        }
        records.retain(|&replication, _| replication < plan.replications);
        tables.add(cell, &records)?;
        results.add(cell, &records);
        summarising.add(&records);
    }
    let summary = summarising.finish(folder);
    tables.commit()?;
    results.write(folder)?;
    write_summary(folder, &summary)?;
    if let Some(gathered) = gathered {
        gathered.commit()?;
        folder.write_manifest(&manifest(plan, Some(summary.digest.clone())))?;
        let left: Vec<_> = archive
            .files()
            .filter(|path| path.starts_with(folder.file("segments")))
            .map(Into::into)
            .collect();
        store::remove_left_behind(&left);
        // Only an empty folder goes.
        drop(std::fs::remove_dir(folder.file("segments")));
    }
    Ok(summary)
}

/// Writes `summary.json`, `summary.csv` and `privacy.csv`.
///
/// # Errors
/// [`FolderError`].
pub fn write_summary(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    files::write(&folder.file("summary.json"), pretty(summary).as_bytes())?;
    tables::summary(folder, summary)?;
    privacy_table::write(folder, summary)
}
