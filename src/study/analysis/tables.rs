//! The files of an answer in its run folder: `threshold.json` and `threshold.csv`, `explain.json` and `explain.csv`.

use super::explain::Explained;
use super::resampling::Share;
use super::threshold::Threshold;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::indented_json;
use crate::study::disk::folder::RunFolder;
use crate::study::results::columns::{Entry, integers, numbers, texts};
use crate::study::results::table::Table;
use serde::Serialize;

/// Writes an answer as JSON.
fn document(folder: &RunFolder, name: &str, answer: &impl Serialize) -> Result<(), FolderError> {
    let mut file = folder.stage(name)?;
    file.write(indented_json(answer).as_bytes())?;
    Ok(file.commit()?)
}

/// Writes the answer and a table of the probed values.
///
/// # Errors
/// [`FolderError`] if a file cannot be written.
pub fn keep_threshold(folder: &RunFolder, found: &Threshold) -> Result<(), FolderError> {
    document(folder, "threshold.json", found)?;
    let mut columns = Vec::from(["value", "gain", "se"].map(numbers));
    columns.push(integers("n"));
    columns.extend(["low", "high"].map(numbers));
    columns.push(texts("shown"));
    let mut table = Table::new(folder, "threshold", columns)?;
    for probe in &found.crossing.probes {
        let gain = probe.gain;
        let mut row: Vec<Entry> = vec![probe.value.into(), gain.mean.into(), gain.se.into(), gain.n.into()];
        row.extend([probe.low.into(), probe.high.into(), probe.sign.words().into()]);
        table.row(row)?;
    }
    Ok(table.commit()?)
}

/// Writes the answer and a table of the shares. For each series, the table has two lines per axis (`first` and `total`),
/// and one line per pair of axes.
///
/// # Errors
/// [`FolderError`] if a file cannot be written.
pub fn keep_explained(folder: &RunFolder, found: &Explained) -> Result<(), FolderError> {
    document(folder, "explain.json", found)?;
    let mut columns = Vec::from(["series", "index", "axis", "with"].map(texts));
    columns.extend(["share", "low", "high"].map(numbers));
    let mut table = Table::new(folder, "explain", columns)?;
    for series in &found.series {
        let mut row = |index: &str, axis: &str, with: &str, share: Share| {
            let mut row: Vec<Entry> = [series.series.as_str(), index, axis, with].map(Entry::from).to_vec();
            row.extend([share.value.into(), share.low.into(), share.high.into()]);
            table.row(row)
        };
        for axis in &series.axes {
            row("first", &axis.axis, "", axis.first)?;
            row("total", &axis.axis, "", axis.total)?;
        }
        for pair in &series.pairs {
            row("pair", &pair.axes[0], &pair.axes[1], pair.share)?;
        }
    }
    Ok(table.commit()?)
}
