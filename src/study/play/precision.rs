//! `--until-halfwidth`: runs replications until the confidence interval of every mean, or of every difference of two series,
//! is narrow enough.

use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::CellRunner;
use crate::study::play::progress::{Options, Outcome, Progress};
use crate::study::play::runner::play;
use crate::study::results::group_metric::{GroupError, GroupsFound};
use crate::study::results::metric::MetricValues;
use crate::study::results::rows::{METRICS, OF_AN_OBJECTIVE, rows};
use crate::study::results::statistics::half_width;
use std::collections::BTreeSet;

/// The study ends only after this number of replications or more, unless the user permits fewer ([`Goal::at_most`]). With
/// fewer replications the standard deviation is hardly known, and a standard deviation that is small by chance would end
/// the study.
const FEWEST: u64 = 10;
/// Probability with which each interval would cover the true mean if the number of replications were fixed in advance.
const CONFIDENCE: f64 = 0.95;

/// The precision that is requested.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Largest half-width of the 95 % interval around the mean, or around the mean difference, in units of the metric.
    pub half_width: f64,
    /// The series that is subtracted from every other series, replication by replication; the intervals of the mean
    /// differences are then judged. If absent, the interval of each mean is judged.
    pub against: Option<String>,
    /// The name of the metric: the name of a column of `results.csv`, from which a prefix "more." is removed, or the name of
    /// a regret of a group of agents or of a cohort.
    pub metric: String,
    /// Largest number of replications of a cell; a number below 2 counts as 2.
    pub at_most: u64,
}

/// The precision that was reached.
#[derive(Clone, Debug)]
pub struct Precision {
    /// The largest half-width of all cells and series. Infinite if, in any cell, series that ended early lack the metric and
    /// a series has fewer than ten values (or differences). Otherwise absent if no series has two values (or differences).
    pub widest: Option<f64>,
    /// Number of replications of every cell.
    pub replications: u64,
}

/// Runs more and more replications, the same number in all cells so that cells stay paired. The function returns when every
/// series of every cell meets `goal`, when [`Precision::widest`] is absent, when `goal.at_most` replications of each cell
/// have run, or when a run does not complete. The final number of replications depends only on the plan, the goal and the
/// results, so the same command ends at the same number after an interruption.
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
        let widest = widest(plan, folder, goal)?;
        let precision = Precision { widest, replications };
        let met = widest.is_none_or(|widest| widest <= goal.half_width);
        if met || replications >= goal.at_most || !matches!(outcome, Outcome::Complete) {
            return Ok((outcome, precision));
        }
        // The half-width is roughly proportional to one over the square root of the number of replications. So the goal
        // needs roughly `ratio` squared times the present number of replications. The next number is at most twice the
        // present number.
        let ratio = widest.unwrap_or_default() / goal.half_width;
        let wanted = (replications as f64 * ratio * ratio).ceil();
        replications = (wanted as u64).clamp(replications + 1, replications * 2).min(goal.at_most);
    }
}

/// The metrics of a study, if the requested metric is not among them; `None` if it is, or if a replication fails. If the
/// scenario alone does not decide whether the study has the metric, the first replication of each cell is run, without
/// being stored, until one of these replications has the metric.
#[must_use]
pub fn unknown_metric(plan: &Plan, metric: &str) -> Option<Vec<String>> {
    let place = METRICS.iter().position(|known| *known == metric);
    let optimises = plan.cells.iter().any(|cell| cell.scenario.draft().objective.is_some());
    // The first `OF_AN_OBJECTIVE` entries of `METRICS` are the regrets, the number of questions and the regret per
    // question. Only a series with an objective has them. Every run has the remaining entries.
    if place.is_some_and(|place| optimises || place >= OF_AN_OBJECTIVE) {
        return None;
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        // If this replication fails, the run will report the failure with all details.
        let record = CellRunner::without_folder(index, cell, plan).play(0).ok()?;
        for row in rows(index, cell, [&record]) {
            let usual = METRICS.iter().zip(row.metrics).filter(|(_, value)| value.is_some());
            known.extend(usual.map(|(name, _)| (*name).to_owned()).chain(row.more.into_keys()));
        }
        if known.contains(metric) {
            return None;
        }
    }
    Some(known.into_iter().collect())
}

/// Why no series has the regret `metric` of `group` ("worst" is the group whose regret is largest); `None` if a series has
/// this regret, or if a replication fails. If groups cannot have a metric called `metric`, nothing is run. Otherwise the
/// first replication of each cell is run, without being stored, until one of these replications has this regret.
#[must_use]
pub fn wrong_group(plan: &Plan, metric: &str, group: &str) -> Option<GroupError> {
    let mut found = GroupsFound::default();
    if let Err(wrong @ GroupError::NotARegret { .. }) = found.check(metric, group) {
        return Some(wrong);
    }
    for (index, cell) in plan.cells.iter().enumerate() {
        // If this replication fails, the run will report the failure with all details.
        let record = CellRunner::without_folder(index, cell, plan).play(0).ok()?;
        rows(index, cell, [&record]).iter().for_each(|row| found.add(row));
        if found.check(metric, group).is_ok() {
            return None;
        }
    }
    found.check(metric, group).err()
}

/// The first name in `named` that no series of any cell has, with the names of all series. `None` if every name in `named`
/// is the name of a series.
#[must_use]
pub fn unknown_series<'a>(plan: &Plan, named: &[&'a str]) -> Option<(&'a str, Vec<String>)> {
    let series = plan.cells.iter().flat_map(|cell| cell.scenario.draft().protocol.as_dyn().series());
    let mut known: Vec<String> = Vec::new();
    for name in series {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let unknown = named.iter().find(|name| !known.iter().any(|known| known == *name));
    unknown.map(|name| (*name, known))
}

fn widest(plan: &Plan, folder: &RunFolder, goal: &Goal) -> Result<Option<f64>, FolderError> {
    let stored = folder.stored_records(&plan.identities())?;
    let mut widest: Option<f64> = None;
    for cell in 0..plan.cells.len() {
        let found = MetricValues::of(cell, plan, &stored, &goal.metric)?;
        let series = found.by_series.keys();
        let values: Vec<Vec<f64>> = match &goal.against {
            None => found.by_series.values().map(|values| values.values().copied().collect()).collect(),
            Some(from) => series
                .filter(|name| *name != from)
                .map(|name| found.differences(name, from).into_values().collect())
                .collect(),
        };
        // Replications that ended early lack the metrics that are measured at the end. If values are missing for this
        // reason, the goal is not met before every series (or difference) has `FEWEST` values.
        if found.short && values.iter().any(|values| (values.len() as u64) < FEWEST) {
            return Ok(Some(f64::INFINITY));
        }
        for half in values.iter().filter_map(|values| half_width(values, CONFIDENCE)) {
            widest = Some(widest.map_or(half, |known| known.max(half)));
        }
    }
    Ok(widest)
}
