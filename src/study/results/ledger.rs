//! The ledger of a run, grouped as the privacy report groups it.

use crate::accounting::{Statement, costliest, grouped, units};
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::vocab::Delta;

/// Everything one observer learned about the unit of a kind with the largest loss, in one series of one cell, in the
/// replication where that loss is largest.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerGroup {
    /// Series, observer, unit, owner and replication in words.
    pub title: String,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// The question to the accountants: at the delta asked for, that of the claims, or 1e-5.
    pub statement: Statement,
}

/// The groups of all cells; `None` if the folder is not that of a run. `deltas` gives each cell's delta, if it has one.
///
/// # Errors
/// [`FolderError`].
pub fn ledger_groups(
    folder: &RunFolder,
    deltas: impl Fn(usize) -> Option<Delta>,
) -> Result<Option<Vec<LedgerGroup>>, FolderError> {
    let Some((manifest, stored)) = folder.records()? else { return Ok(None) };
    let mut groups = Vec::new();
    for (index, cell) in manifest.cells.iter().enumerate() {
        let point: Vec<String> =
            cell.point.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
        // Rows of the cell: one candidate from each replication whose ledger differs from those before.
        let mut rows: Vec<(String, Vec<Candidate>)> = Vec::new();
        for (replication, record) in stored.cell(index)? {
            for series in &record.series {
                for (about, group) in grouped(&series.releases) {
                    let title = format!(
                        "{}{}: {} about {} of {}",
                        point.concat(),
                        series.name,
                        about.observer.0,
                        about.unit.with_article(),
                        about.protected
                    );
                    let of_units = units(&group).worst.into_iter().map(|history| LedgerGroup {
                        title: title.clone(),
                        replication,
                        statement: history.statement(deltas(index)),
                    });
                    let candidate: Candidate = of_units.collect();
                    let key = format!("{title}, {:?}", about.neighbours);
                    match rows.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, candidates)) => candidates.push(candidate),
                        None => rows.push((key, vec![candidate])),
                    }
                }
            }
        }
        groups.extend(rows.into_iter().flat_map(|(_, candidates)| costliest_replication(candidates)));
    }
    Ok(Some(groups))
}

/// The candidates of one replication in a row: its units with the largest loss.
type Candidate = Vec<LedgerGroup>;

/// The replication with the largest loss, by the tight accountant; the first of equals.
fn costliest_replication(candidates: Vec<Candidate>) -> Candidate {
    let several = candidates.len() > 1;
    let found = costliest(candidates, |candidate| candidate.iter().map(|group| &group.statement).collect());
    let Some((mut found, alone)) = found else { return Vec::new() };
    for group in found.iter_mut().filter(|_| several) {
        let why = if alone { "all replications have the same losses; shown:" } else { "largest loss:" };
        group.title = format!("{} ({why} replication {})", group.title, group.replication);
    }
    found
}
