//! `privacy.csv`: the losses of the privacy report by each accountant, and the losses up to earlier rounds by the tight
//! accountant.

use crate::accounting::{AccountantName, EpsilonKind, Loss};
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::results::columns::{Column, Entry, integers, numbers, texts, truths};
use crate::study::results::ledger_table::neighbours;
use crate::study::results::points::Points;
use crate::study::results::privacy_report::PrivacyRow;
use crate::study::results::summary::Summary;
use crate::study::results::table::Table;
use crate::vocab::Arithmetic;

fn columns() -> Vec<Column> {
    let mut columns: Vec<Column> =
        Vec::from(["series", "protected", "unit", "observer", "neighbours"].map(texts));
    columns.push(numbers("neighbour_distance"));
    columns.extend(["releases", "round"].map(integers));
    columns.push(truths("whole_run"));
    columns.extend(["accountant", "standing"].map(texts));
    columns.extend(["epsilon", "lower", "upper", "delta"].map(numbers));
    columns.extend(["basis", "arithmetic"].map(texts));
    columns.push(numbers("times_claim"));
    columns.push(texts("note"));
    columns
}

/// Writes the table. An epsilon that is not finite is "inf"; an unknown value is empty.
pub(in crate::study) fn write(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    let points = Points::of_summary(summary);
    let mut all = vec![integers("cell")];
    all.extend(points.columns());
    all.extend(columns());
    let mut table = Table::new(folder, "privacy", all)?;
    for (index, cell) in summary.cells.iter().enumerate() {
        let mut head = vec![Entry::from(index)];
        head.extend(points.entries(index));
        for (place, row) in cell.privacy.iter().enumerate() {
            let steps = cell.privacy_by_round.get(place).map_or(&[][..], Vec::as_slice);
            let last = steps.last().map(|step| step.round);
            let tight = row.losses.iter().find(|loss| loss.accountant == AccountantName::Tight);
            for step in steps.iter().filter(|step| Some(step.round) != last) {
                if let Some(tight) = tight {
                    // The lower and upper bounds of the exact epsilon, and the ratio to the claim, are known only for the
                    // whole run.
                    let here = Loss {
                        epsilon: step.epsilon,
                        lower: None,
                        upper: None,
                        times_claim: None,
                        ..tight.clone()
                    };
                    table.row([head.clone(), entries(row, &here, Some(step.round), false)].concat())?;
                }
            }
            for loss in &row.losses {
                table.row([head.clone(), entries(row, loss, last, true)].concat())?;
            }
        }
    }
    Ok(table.commit()?)
}

fn entries(row: &PrivacyRow, loss: &Loss, round: Option<u64>, whole: bool) -> Vec<Entry> {
    let (relation, distance) = neighbours(&row.neighbours);
    vec![
        row.series.as_str().into(),
        row.protected.as_str().into(),
        format!("{:?}", row.unit).as_str().into(),
        row.observer.as_str().into(),
        relation.into(),
        distance.into(),
        row.releases.into(),
        round.into(),
        whole.into(),
        loss.accountant.words().into(),
        standing(loss.standing).into(),
        loss.epsilon.into(),
        loss.lower.into(),
        loss.upper.into(),
        loss.delta.into(),
        loss.basis.words().into(),
        loss.arithmetic.map(Arithmetic::words).into(),
        loss.times_claim.into(),
        loss.note.as_str().into(),
    ]
}

/// The standing of a result as `summary.json` writes it.
fn standing(standing: EpsilonKind) -> &'static str {
    match standing {
        EpsilonKind::Claim => "claim",
        EpsilonKind::Bound => "bound",
        EpsilonKind::NonAdaptiveBound => "non-adaptive-bound",
        EpsilonKind::NotABound => "not-a-bound",
    }
}
