//! Makes the files of a study from its records: one sorted file of records, tables, and the summary. The records are read
//! cell by cell, so that at most the records of one cell are in memory.

use crate::study::disk::answers;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::{self, indented_json};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::manifest::manifest;
use crate::study::disk::prepare::write_resolved;
use crate::study::disk::record::ReplicationRecord;
use crate::study::disk::segment;
use crate::study::disk::store::{StoredRecords, no_conflict};
use crate::study::plan::cells::Plan;
use crate::study::results::privacy_table;
use crate::study::results::results_table::Results;
use crate::study::results::summary::{Summary, SummaryBuilder};
use crate::study::results::summary_table;
use crate::study::results::tables::Tables;
use std::collections::BTreeMap;

/// Largest number of cells of a study whose `summary.json` is indented.
const INDENTED: usize = 100;

/// If the records of a cell take more bytes than this in their files (before compression), they are not kept in memory, but
/// read from the files in each of two passes.
const LARGE: u64 = 4 << 20;

/// The records of the requested replications of one cell: in memory, or read again in every pass.
enum CellRecords<'a> {
    InMemory(BTreeMap<u64, ReplicationRecord>),
    OnDisk(&'a StoredRecords, usize, u64),
}

impl<'a> CellRecords<'a> {
    /// The records of the replications whose number is below `replications`.
    fn of(stored: &'a StoredRecords, cell: usize, replications: u64) -> Result<Self, FolderError> {
        if stored.bytes(cell) > LARGE {
            return Ok(Self::OnDisk(stored, cell, replications));
        }
        let records = stored.in_order(cell, replications).map(|record| {
            let record = record?;
            Ok((record.replication, record))
        });
        Ok(Self::InMemory(records.collect::<Result<_, FolderError>>()?))
    }

    /// Calls `take` for each record, in order.
    fn each(
        &self,
        mut take: impl FnMut(&ReplicationRecord) -> Result<(), FolderError> + Send,
    ) -> Result<(), FolderError> {
        match self {
            Self::InMemory(records) => records.values().try_for_each(take),
            Self::OnDisk(stored, cell, replications) => {
                stored.each(*cell, *replications, |record| take(&record))
            }
        }
    }
}

/// Makes all files of `folder` from the stored records. If every replication has a record, the records are gathered into one
/// file in order, and the run is marked as complete. The files depend only on the records, and not on which process stored
/// them in which file.
///
/// # Errors
/// [`FolderError`] if records cannot be read, one replication has two different records, or a file cannot be written. Each
/// file is replaced only by a complete new one.
pub fn finish(plan: &Plan, folder: &RunFolder) -> Result<Summary, FolderError> {
    let stored = folder.stored_records(&plan.identities())?;
    no_conflict(&stored)?;
    let summary = make(plan, &stored, folder, None)?;
    if summary.complete {
        folder.write_manifest(&manifest(plan, Some(summary.digest.clone())))?;
        let left: Vec<_> =
            stored.files().filter(|path| path.starts_with(folder.file("segments"))).map(Into::into).collect();
        segment::remove_left_behind(&left);
        // `remove_dir` removes the folder only if it is empty.
        drop(std::fs::remove_dir(folder.file("segments")));
        answers::remove_all_answers(folder);
    }
    Ok(summary)
}

/// The summary of a run that this or another process may still be executing, and the number of replications that the
/// summary covers. These are the replications that are stored so far and whose number is below `replications`. Cells
/// without such a replication are left out. Nothing is written.
///
/// # Errors
/// [`FolderError`] if records cannot be read.
pub fn so_far(plan: &Plan, folder: &RunFolder, replications: u64) -> Result<(Summary, u64), FolderError> {
    let stored = folder.stored_records(&plan.identities())?;
    let mut summarising = SummaryBuilder::new(plan);
    for cell in 0..plan.cells.len() {
        let records = CellRecords::of(&stored, cell, replications)?;
        records.each(|record| {
            summarising.add_first(record);
            Ok(())
        })?;
        let losses = summarising.end_first();
        records.each(|record| {
            summarising.add_again(record);
            Ok(())
        })?;
        summarising.finish_cell(losses);
    }
    let mut summary = summarising.finish(folder);
    summary.cells.retain(|cell| !cell.series.is_empty());
    Ok((summary, stored.finished(replications)))
}

/// Makes the files that follow from the records of `stored`, except the manifest. `run` is the name of the folder in the
/// summary; if absent, the summary has the folder's path.
fn make(
    plan: &Plan,
    stored: &StoredRecords,
    folder: &RunFolder,
    run: Option<String>,
) -> Result<Summary, FolderError> {
    let complete = stored.finished(plan.replications) == plan.total();
    let mut gathered = if complete { Some(folder.stage_packing("records.jsonl")?) } else { None };
    let mut tables = Tables::new(plan, stored, folder)?;
    let mut results = Results::new(plan);
    let mut summarising = SummaryBuilder::new(plan);
    for cell in 0..plan.cells.len() {
        if let Some(gathered) = &mut gathered {
            // Replications beyond the number that is requested this time are kept too, for a later run.
            for replication in stored.replications(cell) {
                gathered.write(&stored.line(cell, replication)?.unwrap_or_default())?;
            }
        }
        let records = CellRecords::of(stored, cell, plan.replications)?;
        records.each(|record| {
            results.add(cell, record);
            summarising.add_first(record);
            Ok(())
        })?;
        let losses = summarising.end_first();
        records.each(|record| {
            tables.add(cell, record, &losses)?;
            summarising.add_again(record);
            Ok(())
        })?;
        summarising.finish_cell(losses);
    }
    let mut summary = summarising.finish(folder);
    if let Some(run) = run {
        summary.run = run;
    }
    tables.commit()?;
    results.write(folder)?;
    write_summary(folder, &summary)?;
    if let Some(gathered) = gathered {
        gathered.commit()?;
    }
    Ok(summary)
}

/// The names of the files of a complete run that differ from what its records and its scenario give. All files are made
/// again, in memory, and compared.
///
/// # Errors
/// [`FolderError`] if records or `summary.json` cannot be read.
pub(in crate::study) fn changed(
    plan: &Plan,
    folder: &RunFolder,
    stored: &StoredRecords,
) -> Result<Vec<String>, FolderError> {
    // The folder may have been moved, so the folder's name is taken from the stored summary.
    let kept = files::read_packed_if_there(&folder.file("summary.json"))?.unwrap_or_default();
    let kept: Option<serde_json::Value> = serde_json::from_str(&kept).ok();
    let run = kept.and_then(|kept| kept["run"].as_str().map(str::to_owned));
    let (compared, unlike) = folder.compared();
    write_resolved(plan, &compared)?;
    make(plan, stored, &compared, run)?;
    let unlike = std::mem::take(&mut *unlike.lock().expect("no holder of this lock panics"));
    let name = |path: &std::path::PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(unlike.iter().filter_map(name).collect())
}

/// Writes `summary.json`, `summary.csv` and `privacy.csv`.
///
/// # Errors
/// [`FolderError`] if a file cannot be written.
pub fn write_summary(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    let mut file = folder.stage_packing("summary.json")?;
    // Indentation helps readers, but makes up half of the bytes.
    let text = if summary.cells.len() <= INDENTED { indented_json(summary) } else { files::compact(summary) };
    file.write(text.as_bytes())?;
    file.commit()?;
    summary_table::write(folder, summary)?;
    privacy_table::write(folder, summary)
}
