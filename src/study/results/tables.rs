//! The tables of a run folder that have rows for every replication, written cell by cell.

use crate::accounting::{AccountantName, EpsilonAt, epsilon_at};
use crate::protocols::SeriesRecord;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::Staged;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::columns::{Column, Entry, integers, numbers, texts};
use crate::study::results::ledger_table;
use crate::study::results::points::Points;
use crate::study::results::privacy_report::PrivacyRow;
use crate::study::results::summary::CellLosses;
use crate::study::results::table::Table;

/// Largest number of columns of epsilons in `iterations.csv`; `privacy.csv` has all epsilons.
const MAX_EPSILONS: usize = 12;

/// The line of `digest.txt` for one series of one replication.
pub(in crate::study) fn digest_line(
    cell: usize,
    record: &ReplicationRecord,
    series: &SeriesRecord,
) -> String {
    format!("{} {cell} {} {}\n", series.digest, record.replication, series.name)
}

/// The columns of `iterations.csv` that depend on the study, found from the first replication of each cell.
#[derive(Debug, Default)]
struct Wide {
    /// The names of the inputs of arms.
    inputs: Vec<String>,
    /// Owner, unit and observer of each loss.
    losses: Vec<[String; 3]>,
}

impl Wide {
    fn of(plan: &Plan, stored: &StoredRecords) -> Result<Self, FolderError> {
        let mut wide = Self::default();
        for cell in 0..plan.cells.len() {
            let Some(record) = stored.first(cell)? else { continue };
            for series in &record.series {
                for name in &series.inputs.names {
                    if !wide.inputs.contains(name) {
                        wide.inputs.push(name.clone());
                    }
                }
                for event in series.releases.iter().map(|release| &release.event) {
                    let unit = format!("{:?}", event.unit);
                    let loss = [event.protected.clone(), unit, event.observer.0.clone()];
                    if wide.losses.len() < MAX_EPSILONS && !wide.losses.contains(&loss) {
                        wide.losses.push(loss);
                    }
                }
            }
        }
        Ok(wide)
    }

    /// The columns; the name of a column of epsilons includes the owner of the data if there are several owners.
    fn columns(&self) -> Vec<Column> {
        let inputs = self.inputs.iter().map(|name| numbers(&format!("x.{name}")));
        let several = self.losses.iter().any(|loss| loss[0] != self.losses[0][0]);
        let epsilon = |[owner, unit, observer]: &[String; 3]| {
            let of = if several { format!(" of {owner}") } else { String::new() };
            numbers(&format!("epsilon.{unit}{of}.{observer}"))
        };
        inputs.chain(self.losses.iter().map(epsilon)).collect()
    }
}

/// `iterations.csv`, `ledger.csv`, `network.csv` and `digest.txt` of a study.
#[derive(Debug)]
pub(in crate::study) struct Tables {
    points: Points,
    wide: Wide,
    iterations: Table,
    ledger: Table,
    network: Table,
    digests: Staged,
}

impl Tables {
    pub(in crate::study) fn new(
        plan: &Plan,
        stored: &StoredRecords,
        folder: &RunFolder,
    ) -> Result<Self, FolderError> {
        let points = Points::of_plan(plan);
        let wide = Wide::of(plan, stored)?;
        let table = |name: &str, more: Vec<Column>| {
            let mut columns = vec![integers("cell")];
            columns.extend(points.columns());
            columns.extend([integers("replication"), texts("series")]);
            columns.extend(more);
            Table::new(folder, name, columns)
        };
        let mut iterations = Vec::from(["t", "round", "arm"].map(integers));
        iterations.extend(["outcome", "value", "simple_regret", "cumulative_regret", "seconds"].map(numbers));
        iterations.extend(wide.columns());
        let mut network = Vec::from(["from", "to"].map(texts));
        network.extend(["delivered", "lost"].map(integers));
        network.extend(["latency_p50_seconds", "latency_p99_seconds"].map(numbers));
        Ok(Self {
            iterations: table("iterations", iterations)?,
            ledger: table("ledger", ledger_table::columns())?,
            network: table("network", network)?,
            digests: folder.stage_packing("digest.txt")?,
            points,
            wide,
        })
    }

    /// Adds a record of a cell. `losses` are the privacy losses of the cell.
    pub(in crate::study) fn add(
        &mut self,
        cell: usize,
        record: &ReplicationRecord,
        losses: &CellLosses,
    ) -> Result<(), FolderError> {
        for series in &record.series {
            let mut head = vec![Entry::from(cell)];
            head.extend(self.points.entries(cell));
            head.extend([record.replication.into(), series.name.as_str().into()]);
            self.iterations(&head, series, losses)?;
            for release in &series.releases {
                self.ledger.row([head.clone(), ledger_table::entries(release)].concat())?;
            }
            for (from, to, link) in &series.network.links {
                let row = vec![
                    from.as_str().into(),
                    to.as_str().into(),
                    link.delivered().into(),
                    link.losses().into(),
                    link.latency_seconds(0.5).into(),
                    link.latency_seconds(0.99).into(),
                ];
                self.network.row([head.clone(), row].concat())?;
            }
            self.digests.write(digest_line(cell, record, series).as_bytes())?;
        }
        Ok(())
    }

    /// Completes all files.
    pub(in crate::study) fn commit(self) -> Result<(), FolderError> {
        self.iterations.commit()?;
        self.ledger.commit()?;
        self.network.commit()?;
        Ok(self.digests.commit()?)
    }

    fn iterations(
        &mut self,
        head: &[Entry],
        series: &SeriesRecord,
        losses: &CellLosses,
    ) -> Result<(), FolderError> {
        let losses: Vec<Losses<'_>> =
            self.wide.losses.iter().map(|loss| Losses::of(losses, &series.name, loss)).collect();
        let places: Vec<Option<usize>> = self
            .wide
            .inputs
            .iter()
            .map(|name| series.inputs.names.iter().position(|known| known == name))
            .collect();
        let initial = series.iterations.iter().filter(|i| i.t == 0).count() as u64;
        let last = series.iterations.iter().map(|i| i.t).max();
        let mut begun = 0;
        let of_agents = series.groups.iter().any(|group| group.regret_per_user.is_none());
        for i in &series.iterations {
            // The ledger counts initial points as rounds, except in a federation, where each agent has its own initial
            // points.
            let round = if !of_agents && i.t == 0 {
                begun += 1;
                begun - 1
            } else if !of_agents {
                initial + i.t - 1
            } else {
                i.t
            };
            // The epsilons in the rows of the last round include releases after this round, such as a publication.
            let at = if Some(i.t) == last { u64::MAX } else { round };
            let inputs = series.inputs.arms.get(&i.arm);
            let mut row = head.to_vec();
            row.extend([i.t.into(), round.into(), i.arm.into(), i.outcome.into(), i.value.into()]);
            row.extend([i.simple_regret.into(), i.cumulative_regret.into(), i.seconds.into()]);
            row.extend(places.iter().map(|place| {
                Entry::from(place.and_then(|place| inputs.and_then(|numbers| numbers.get(place)).copied()))
            }));
            row.extend(losses.iter().map(|losses| losses.at(at).into()));
            self.iterations.row(row)?;
        }
        Ok(())
    }
}

/// The losses to one observer about one kind of unit of one owner in one series, one for each neighbouring relation.
struct Losses<'a>(Vec<(&'a PrivacyRow, &'a [EpsilonAt])>);

impl<'a> Losses<'a> {
    fn of(losses: &'a CellLosses, series: &str, [protected, unit, observer]: &[String; 3]) -> Self {
        let rows = losses.rows.iter().zip(&losses.by_round);
        let here = rows.filter(|(row, _)| {
            row.series == series
                && row.protected == *protected
                && row.observer == *observer
                && format!("{:?}", row.unit) == *unit
                && row.losses.iter().any(|loss| loss.accountant == AccountantName::Tight)
        });
        Self(here.map(|(row, steps)| (row, steps.as_slice())).collect())
    }

    /// The largest epsilon of the releases up to a round, over the neighbouring relations; `None` if there are no losses to
    /// this observer about this kind of unit in the whole run. Epsilons are known for the rounds of the steps only. For a
    /// round between two steps, the result is an upper bound: the epsilon at the later step.
    fn at(&self, round: u64) -> Option<f64> {
        self.0.iter().map(|(_, steps)| epsilon_at(steps, round)).reduce(f64::max)
    }
}
