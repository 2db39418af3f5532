//! `--until-halfwidth`: replications until every mean has a narrow enough interval.

use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::CellRunner;
use crate::study::play::progress::{Options, Outcome, Progress};
use crate::study::play::runner::play;
use crate::study::results::rows::{METRICS, OF_AN_OBJECTIVE, rows};
use crate::study::results::statistics::half_width;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest replications from which an interval is judged: with fewer the spread is hardly known, and a spread that is
/// small by chance would end the study.
const FEWEST: u64 = 10;
/// Probability with which each interval would cover the true mean if the number of replications were fixed beforehand.
const CONFIDENCE: f64 = 0.95;

/// The precision that is requested.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Largest half-width of the 95 % interval around the mean, in units of the metric.
    pub half_width: f64,
    /// The metric, as named in `results.csv`.
    pub metric: String,
    /// Largest number of replications of a cell.
    pub at_most: u64,
}

/// The precision that was reached.
#[derive(Clone, Debug)]
pub struct Precision {
    /// The widest half-width of all cells and series; absent if no series has the metric.
    pub widest: Option<f64>,
    /// Replications of every cell.
    pub replications: u64,
}

/// Runs more and more replications of all cells, so that they stay paired, until every series of every cell meets
/// `goal`. Their number depends only on the results, so the same command ends at the same number even if it was
/// interrupted.
///
/// # Errors
/// [`FolderError`] as in [`play`].
pub fn play_until(
    plan: &mut Plan,
    folder: &RunFolder,
    goal: &Goal,
    options: Options<'_>,
    progress: &dyn Progress,
) -> Result<(Outcome, Precision), FolderError> {
    let mut replications = plan.replications.max(FEWEST).min(goal.at_most.max(2));
    loop {
        plan.set_replications(replications);
        let outcome = play(plan, folder, options, progress)?;
        let widest = widest(plan, folder, &goal.metric)?;
        let precision = Precision { widest, replications };
        let met = widest.is_none_or(|widest| widest <= goal.half_width);
        if met || replications >= goal.at_most || !matches!(outcome, Outcome::Complete) {
            return Ok((outcome, precision));
        }
        // The half-width falls with the root of the number; the estimate is not trusted for more than a doubling.
        let ratio = widest.unwrap_or_default() / goal.half_width;
        let wanted = (replications as f64 * ratio * ratio).ceil();
        replications = (wanted as u64).clamp(replications + 1, replications * 2).min(goal.at_most);
    }
}

/// The metrics that a study has, if the requested one is none of them. If the scenario alone does not show that, the
/// first replication of one cell after the other is played, and not stored, until one has the metric.
#[must_use]
pub fn unknown_metric(plan: &Plan, metric: &str) -> Option<Vec<String>> {
    let place = METRICS.iter().position(|known| *known == metric);
    let optimises = plan.cells.iter().any(|cell| cell.scenario.draft().objective.is_some());
    // The first metrics are about regret; the others are counted in every run.
    if place.is_some_and(|place| optimises || place >= OF_AN_OBJECTIVE) {
        return None;
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        // The run itself reports a failure with all details.
        let record = CellRunner::without_folder(index, cell, plan).play(0).ok()?;
        for row in rows(index, cell, &BTreeMap::from([(0, record)])) {
            let usual = METRICS.iter().zip(row.metrics).filter(|(_, value)| value.is_some());
            known.extend(usual.map(|(name, _)| (*name).to_owned()).chain(row.more.into_keys()));
        }
        if known.contains(metric) {
            return None;
        }
    }
    Some(known.into_iter().collect())
}

fn widest(plan: &Plan, folder: &RunFolder, metric: &str) -> Result<Option<f64>, FolderError> {
    let stored = folder.stored_records(&plan.identities())?;
    let place = METRICS.iter().position(|known| *known == metric);
    let mut widest: Option<f64> = None;
    for cell in 0..plan.cells.len() {
        let mut records = stored.cell(cell)?;
        records.retain(|&replication, _| replication < plan.replications);
        let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut short = false;
        for row in rows(cell, &plan.cells[cell], &records) {
            let value = place.map_or_else(|| row.more.get(metric).copied(), |place| row.metrics[place]);
            short |= value.is_none() && row.ended_early;
            values.entry(row.series).or_default().extend(value);
        }
        // Runs that ended early have no metric at the end; some must have reached the end.
        if short && values.values().any(|values| (values.len() as u64) < FEWEST) {
            return Ok(Some(f64::INFINITY));
        }
        for half in values.values().filter_map(|values| half_width(values, CONFIDENCE)) {
            widest = Some(widest.map_or(half, |known| known.max(half)));
        }
    }
    Ok(widest)
}
