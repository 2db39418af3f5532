//! The contents of a run folder before anything is played.

use super::error::FolderError;
use super::files;
use super::folder::RunFolder;
use super::manifest::{Manifest, manifest};
use crate::study::plan::cells::Plan;

/// Makes the folder and writes the files that are known before anything is played.
pub(in crate::study) fn prepare_folder(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    files::make_folder(folder.path())?;
    for place in ["", "fitted", "segments", "work", "work/claims", "work/results"] {
        files::clear(&folder.file(place));
    }
    let fresh = manifest(plan, None);
    // A complete run that is opened again stays complete.
    let as_before = |old: Manifest| {
        serde_json::to_string(&Manifest { complete: false, digest: None, ..old }).ok()
            == serde_json::to_string(&fresh).ok()
    };
    if !folder.manifest()?.is_some_and(as_before) {
        folder.write_manifest(&fresh)?;
    }
    files::write(&folder.file("scenario.ron"), plan.source.as_bytes())?;
    write_resolved(plan, folder)
}

/// Writes the cells as the program reads them, with defaults and overrides.
pub(in crate::study) fn write_resolved(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    let mut staged = folder.stage("resolved.ron")?;
    if let [cell] = plan.cells.as_slice() {
        staged.write(cell.scenario.resolved().as_bytes())?;
    } else {
        staged.write(b"[\n")?;
        for (index, cell) in plan.cells.iter().enumerate() {
            let point: String =
                cell.point.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
            let comment = format!("// cell {index}{}\n", point.replace('\n', " "));
            staged.write(comment.as_bytes())?;
            staged.write(cell.scenario.resolved().trim_end().as_bytes())?;
            staged.write(b",\n")?;
        }
        staged.write(b"]\n")?;
    }
    Ok(staged.commit()?)
}
