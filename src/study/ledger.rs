//! The ledger of a run's first replication, grouped as the privacy report groups it.

use super::folder::{FolderError, RunFolder};
use super::units::units;
use crate::protocols::BookedRelease;
use crate::vocab::{Cost, PrivacyEvent};

/// Everything one observer learned about one unit of a kind, the worst-off, in one series of one cell.
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
    let Some((manifest, archive)) = folder.records()? else { return Ok(None) };
    let mut groups = Vec::new();
    for (index, cell) in manifest.cells.iter().enumerate() {
        let Some(record) = archive.first(index)? else { continue };
        let point: Vec<String> =
            cell.point.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
        for series in &record.series {
            let mut of_series: Vec<Vec<&BookedRelease>> = Vec::new();
            for booked in &series.releases {
                match of_series.iter_mut().find(|group| alike(&group[0].event, &booked.event)) {
                    Some(group) => group.push(booked),
                    None => of_series.push(vec![booked]),
                }
            }
            for group in of_series {
                let event = &group[0].event;
                let title = format!(
                    "{}{}: {} about {} of {}",
                    point.concat(),
                    series.name,
                    event.observer.0,
                    event.unit.with_article(),
                    event.protected
                );
                groups.extend(units(&group).worst.into_iter().map(|releases| LedgerGroup {
                    title: title.clone(),
                    costs: releases.into_iter().map(|booked| (booked.event.cost, booked.count)).collect(),
                }));
            }
        }
    }
    Ok(Some(groups))
}

fn alike(a: &PrivacyEvent, b: &PrivacyEvent) -> bool {
    (&a.protected, &a.unit, &a.observer, &a.neighbours) == (&b.protected, &b.unit, &b.observer, &b.neighbours)
}
