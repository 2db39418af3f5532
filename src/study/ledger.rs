//! The ledger of a run, grouped as the privacy report groups it.

use super::folder::{FolderError, RunFolder};
use super::loss::{arithmetic_of, basis_of, priced, stated};
use super::privacy_report::grouped;
use super::units::units;
use crate::accounting::{Composition, Tight, claims};
use crate::protocols::{BookedRelease, over_rounds};
use crate::vocab::{Cost, Delta, PrivacyEvent};

/// Everything one observer learned about one unit of a kind, the worst-off, in one series of one cell, in the
/// replication where that costs most.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerGroup {
    /// Series, observer, unit, owner and replication in words.
    pub title: String,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Costs in order of release, with counts.
    pub costs: Vec<(Cost, u64)>,
    /// The same as accountants read it, with what was released and on what condition.
    pub composition: Composition,
    /// On what the costs rest: the weakest basis among them.
    pub basis: &'static str,
    /// For which arithmetic the costs hold: the weakest among them.
    pub arithmetic: &'static str,
    /// Whether releases of different rounds are among them, which may have been chosen in knowledge of each other.
    pub one_after_another: bool,
    /// Delta at which to state epsilon: the one asked for, that of the claims, or 1e-5.
    pub delta: Delta,
}

/// The groups of all cells; nothing if the folder is not that of a run. `deltas` gives each cell's delta, where it has
/// one.
///
/// # Errors
/// [`FolderError`].
pub fn ledger_groups(
    folder: &RunFolder,
    deltas: impl Fn(usize) -> Option<Delta>,
) -> Result<Option<Vec<LedgerGroup>>, FolderError> {
    let Some((manifest, archive)) = folder.records()? else { return Ok(None) };
    let mut groups = Vec::new();
    for (index, cell) in manifest.cells.iter().enumerate() {
        let point: Vec<String> =
            cell.point.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
        // Rows of the cell: one candidate from each replication whose ledger differs from those before.
        let mut rows: Vec<(String, Vec<Candidate>)> = Vec::new();
        for (replication, record) in archive.cell(index)? {
            for series in &record.series {
                for group in grouped(&series.releases) {
                    let event = &group[0].event;
                    let title = format!(
                        "{}{}: {} about {} of {}",
                        point.concat(),
                        series.name,
                        event.observer.0,
                        event.unit.with_article(),
                        event.protected
                    );
                    let units: Vec<LedgerGroup> = units(&group)
                        .worst
                        .iter()
                        .map(|releases| priceable(&title, replication, releases, deltas(index)))
                        .collect();
                    let key = format!("{title}, {:?}", event.neighbours);
                    match rows.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, candidates)) => candidates.push(units),
                        None => rows.push((key, vec![units])),
                    }
                }
            }
        }
        groups.extend(rows.into_iter().flat_map(|(_, candidates)| costliest(candidates)));
    }
    Ok(Some(groups))
}

/// What one replication has to say in a row: its worst-off units.
type Candidate = Vec<LedgerGroup>;

/// The replication with the largest loss, by the tight accountant; the first of equals.
fn costliest(candidates: Vec<Candidate>) -> Candidate {
    let several = candidates.len() > 1;
    let mut different: Vec<Candidate> = Vec::new();
    let same = |a: &Candidate, b: &Candidate| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                (&a.composition, a.basis, a.arithmetic) == (&b.composition, b.basis, b.arithmetic)
            })
    };
    for candidate in candidates {
        if !different.iter().any(|known| same(known, &candidate)) {
            different.push(candidate);
        }
    }
    let alone = different.len() == 1;
    let loss = |candidate: &Candidate| {
        let each = |group: &LedgerGroup| {
            priced(&Tight, &group.composition, group.delta, group.one_after_another).epsilon
        };
        if alone { 0.0 } else { candidate.iter().map(each).fold(0.0, f64::max) }
    };
    let mut best: Option<(f64, Candidate)> = None;
    for candidate in different {
        let loss = loss(&candidate);
        if best.as_ref().is_none_or(|(most, _)| loss > *most) {
            best = Some((loss, candidate));
        }
    }
    let mut found = best.map(|(_, candidate)| candidate).unwrap_or_default();
    for group in found.iter_mut().filter(|_| several) {
        let why = if alone { "all replications alike" } else { "the costliest replication" };
        group.title = format!("{} ({why}: {})", group.title, group.replication);
    }
    found
}

fn priceable(title: &str, replication: u64, releases: &[BookedRelease], delta: Option<Delta>) -> LedgerGroup {
    let pairs: Vec<(&PrivacyEvent, u64)> =
        releases.iter().map(|booked| (&booked.event, booked.count)).collect();
    let each = || pairs.iter().flat_map(|&(event, count)| std::iter::repeat_n(event, count as usize));
    LedgerGroup {
        title: title.to_owned(),
        replication,
        costs: pairs.iter().map(|(event, count)| (event.cost.clone(), *count)).collect(),
        composition: Composition::of_counted(pairs.iter().copied()),
        basis: basis_of(&pairs),
        arithmetic: arithmetic_of(&pairs),
        one_after_another: over_rounds(releases),
        delta: stated(delta, claims(each()).delta),
    }
}
