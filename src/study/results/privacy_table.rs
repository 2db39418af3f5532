//! `privacy.csv`: one line per cell, row of the privacy report and accountant.

use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::results::summary::Summary;
use crate::study::results::tables::Table;
use crate::vocab::Arithmetic;

const HEADER: [&str; 18] = [
    "cell",
    "point",
    "series",
    "observer",
    "protected",
    "unit",
    "neighbours",
    "releases",
    "accountant",
    "standing",
    "epsilon",
    "lower",
    "upper",
    "delta",
    "basis",
    "arithmetic",
    "times_claim",
    "note",
];

/// Writes the table. An epsilon that is not finite is "inf"; an unknown value is empty.
pub(in crate::study) fn write(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    let mut table = Table::new(folder.stage("privacy.csv")?, &HEADER);
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for (index, cell) in summary.cells.iter().enumerate() {
        let point = serde_json::Value::Object(cell.point.clone()).to_string();
        for row in &cell.privacy {
            for loss in &row.losses {
                table.row(&[
                    &index,
                    &point,
                    &row.series,
                    &row.observer,
                    &row.protected,
                    &json(&row.unit),
                    &json(&row.neighbours),
                    &row.releases,
                    &loss.accountant,
                    &json(&loss.standing),
                    &loss.epsilon,
                    &optional(loss.lower),
                    &optional(loss.upper),
                    &loss.delta,
                    &loss.basis,
                    &loss.arithmetic.map_or("", Arithmetic::words),
                    &optional(loss.times_claim),
                    &loss.note,
                ]);
            }
        }
    }
    Ok(table.commit()?)
}

/// Plain data as compact JSON, as in `ledger.csv`; a text is written without quotes.
fn json<T: serde::Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).expect("plain data with text keys");
    text.trim_matches('"').to_owned()
}
