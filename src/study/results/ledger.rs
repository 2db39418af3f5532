//! The ledger of a run, with its releases grouped as in the privacy report.

use crate::accounting::{GroupKey, Statement, costliest, grouped, units};
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::vocab::Delta;

/// All releases to one observer about one unit, in one replication of one series of one cell. Among all units of the same
/// kind and owner, only the units that may have the largest loss have a group, and only for the replication in which this
/// loss is largest.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerGroup {
    /// In words: the point of the cell; series, observer, unit and owner; and the replication, if several replications have
    /// such releases.
    pub title: String,
    /// Series, observer, unit and owner, in words.
    pub about: String,
    /// Name of the series.
    pub series: String,
    /// Owner, unit, observer and neighbouring relation.
    pub kind: GroupKey,
    /// The cell, from 0.
    pub cell: usize,
    /// The cell's point in the study: names and values of the axes.
    pub point: Vec<(String, String)>,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// The input of the accountants. Its delta is the requested delta; without one, the sum of the claimed deltas if that is
    /// in (0, 1), else 1e-5.
    pub statement: Statement,
}

/// The groups of all cells; `None` if the folder holds no run. `deltas` returns the requested delta of a cell, if there
/// is one.
///
/// # Errors
/// [`FolderError`] if the manifest or the records cannot be read.
pub fn ledger_groups(
    folder: &RunFolder,
    deltas: impl Fn(usize) -> Option<Delta>,
) -> Result<Option<Vec<LedgerGroup>>, FolderError> {
    let Some((manifest, stored)) = folder.records()? else { return Ok(None) };
    let mut groups = Vec::new();
    for (index, cell) in manifest.cells.iter().enumerate() {
        let point: Vec<String> =
            cell.point.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
        // The rows of the privacy report for this cell. Each row has a key, and one candidate from each replication that
        // has releases of this key.
        let mut rows: Vec<(String, Vec<Candidate>)> = Vec::new();
        // The folder may hold records of an earlier run with more replications.
        for record in stored.in_order(index, manifest.replications) {
            let record = record?;
            let replication = record.replication;
            for series in &record.series {
                for (about, group) in grouped(&series.releases) {
                    let told = format!(
                        "{}: {} about {} of {}",
                        series.name,
                        about.observer.0,
                        about.unit.with_article(),
                        about.protected
                    );
                    let title = format!("{}{told}", point.concat());
                    let of_units = units(&group).worst.into_iter().map(|history| LedgerGroup {
                        title: title.clone(),
                        about: told.clone(),
                        series: series.name.clone(),
                        kind: about.clone(),
                        cell: index,
                        point: cell.point.clone(),
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

/// The groups of a row of the privacy report in one replication, one for each unit that may have the largest loss.
type Candidate = Vec<LedgerGroup>;

/// The groups of the replication with the largest loss by the tight accountant. If several replications have this loss, the
/// first of them is taken.
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
