//! Checks the files of a run folder: its records, and the files that are made from them.

use super::exit::Exit;
use super::output::eprint_line;
use crate::report::{self, Page};
use crate::study::{self, FolderError, Inconsistency, Manifest, Plan, Records, RunFolder, files};

/// The run's records that belong to this plan, and the inconsistencies in the run folder. The page, `report.html`, is
/// checked only if the run is complete and nothing else is inconsistent.
pub(super) fn contents(
    plan: &Plan,
    folder: &RunFolder,
    manifest: &Manifest,
) -> Result<(Records, Vec<Inconsistency>), Exit> {
    let (records, mut inconsistencies) = read(plan, folder, manifest).map_err(|error| {
        eprint_line(format_args!("error: {error}"));
        Exit::Internal
    })?;
    if manifest.complete && inconsistencies.is_empty() {
        inconsistencies.extend(page(folder));
    }
    Ok((records, inconsistencies))
}

/// The run's records that belong to this plan, and the inconsistencies in the run folder; the page is
/// not checked.
fn read(
    plan: &Plan,
    folder: &RunFolder,
    manifest: &Manifest,
) -> Result<(Records, Vec<Inconsistency>), FolderError> {
    let Some((_, stored)) = folder.records()? else { return Ok((Records::new(), Vec::new())) };
    let mut records = Records::new();
    for cell in 0..plan.cells.len() {
        let mut found = stored.cell(cell)?;
        found.retain(|&replication, _| replication < plan.replications);
        records.push(found);
    }
    let inconsistencies = study::inconsistencies(plan, folder, manifest, &stored, &records)?;
    Ok((records, inconsistencies))
}

/// An inconsistency if `report.html` cannot be read, if it differs from the page made from the other files, or if that page
/// cannot be made.
fn page(folder: &RunFolder) -> Option<Inconsistency> {
    let kept = files::read(&folder.file(report::PAGE)).ok();
    let made = Page::read(folder).ok().flatten().map(|page| report::page(&page));
    (made.is_none() || made != kept).then(|| Inconsistency::File(report::PAGE.to_owned()))
}
