//! The contents of a run folder before anything is run.

use super::error::FolderError;
use super::files;
use super::folder::RunFolder;
use super::manifest::{Manifest, manifest};
use crate::study::plan::cells::Plan;

/// Makes the folder and writes the files that are known before anything is run.
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

/// Largest number of cells of a study whose `resolved.ron` has every cell in full. With more cells, the first cell is
/// written in full; for each further cell, only the lines that differ from the first cell are written. A cell whose number
/// of lines differs from that of the first cell is written in full too.
const IN_FULL: usize = 100;

/// The lines of a text that differ from those of `first`, as comments, each with its line number (from 1); `None` if the two
/// texts have different numbers of lines.
fn differing_lines(first: &str, text: &str) -> Option<String> {
    if first.lines().count() != text.lines().count() {
        return None;
    }
    let lines = (1..).zip(first.lines().zip(text.lines())).filter(|(_, (a, b))| a != b);
    Some(lines.map(|(number, (_, line))| format!("//   {number}: {}\n", line.trim())).collect())
}

/// Writes the cells as the program reads them, with defaults and overrides.
pub(in crate::study) fn write_resolved(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    let mut staged = folder.stage("resolved.ron")?;
    if let [cell] = plan.cells.as_slice() {
        staged.write(cell.scenario.resolved().as_bytes())?;
    } else {
        staged.write(b"[\n")?;
        let first = plan.cells.first().map(|cell| cell.scenario.resolved()).unwrap_or_default();
        if plan.cells.len() > IN_FULL {
            staged.write(b"// Each further cell has only the lines that differ from the first cell, each after its line number; a cell with another number of lines has all its lines.\n")?;
        }
        for (index, cell) in plan.cells.iter().enumerate() {
            let point: String =
                cell.point.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
            let comment = format!("// cell {index}{}\n", point.replace('\n', " "));
            staged.write(comment.as_bytes())?;
            let text = cell.scenario.resolved();
            if index > 0
                && plan.cells.len() > IN_FULL
                && let Some(lines) = differing_lines(&first, &text)
            {
                staged.write(lines.as_bytes())?;
                continue;
            }
            staged.write(text.trim_end().as_bytes())?;
            staged.write(b",\n")?;
        }
        staged.write(b"]\n")?;
    }
    Ok(staged.commit()?)
}
