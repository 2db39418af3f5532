//! The ledger of a run's first replication, grouped as the privacy report groups it.

use super::folder::{FolderError, RunFolder};
use crate::vocab::{Cost, PrivacyEvent};

/// Everything one observer learned about one kind of unit, in one series of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerGroup {
    /// Series, observer, unit and owner in words.
    pub title: String,
    /// Costs in order of release, with counts.
    pub costs: Vec<(Cost, u64)>,
}

/// The groups of all cells; nothing if the folder is not that of a run.
///
/// # Errors
/// [`FolderError`].
pub fn ledger_groups(folder: &RunFolder) -> Result<Option<Vec<LedgerGroup>>, FolderError> {
    let Some(manifest) = folder.manifest()? else { return Ok(None) };
    let mut groups = Vec::new();
    for (index, cell) in manifest.cells.iter().enumerate() {
        let Some(record) = folder.first_replication(index)? else { continue };
        let point: Vec<String> =
            cell.point.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
        for series in &record.series {
            let mut of_series: Vec<(&PrivacyEvent, LedgerGroup)> = Vec::new();
            for booked in &series.releases {
                let event = &booked.event;
                let same = |(known, _): &&mut (&PrivacyEvent, LedgerGroup)| {
                    (&known.protected, &known.unit, &known.observer, &known.neighbours)
                        == (&event.protected, &event.unit, &event.observer, &event.neighbours)
                };
                let cost = (event.cost.clone(), booked.count);
                match of_series.iter_mut().find(same) {
                    Some((_, group)) => group.costs.push(cost),
                    None => {
                        let title = format!(
                            "{}{}: {} about {:?} of {}",
                            point.concat(),
                            series.name,
                            event.observer.0,
                            event.unit,
                            event.protected
                        );
                        of_series.push((event, LedgerGroup { title, costs: vec![cost] }));
                    }
                }
            }
            groups.extend(of_series.into_iter().map(|(_, group)| group));
        }
    }
    Ok(Some(groups))
}
