//! Runs the probed values of a threshold search as cells of one run folder. Every value gets the same number of
//! replications, as many as the search needs.

use super::crossing::{Crossing, Rules, search};
use super::grid::{Grid, Spacing, tidy};
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::plan::cells::Plan;
use crate::study::play::progress::{Failure, Options, Outcome, Progress};
use crate::study::play::runner::play;
use crate::study::results::metric::MetricValues;
use serde::Serialize;

/// Name and version of the document's schema.
const SCHEMA: &str = "subrosa.threshold/1";

/// The threshold that is searched for.
#[derive(Clone, Debug, Serialize)]
pub struct Question {
    /// The name of the varied value.
    pub axis: String,
    /// The series that is better on one side of the threshold.
    pub series: String,
    /// The series with which it is compared.
    pub against: String,
    /// The name of the metric: a column of `results.csv`, named without the prefix "more." if it has this prefix, or a
    /// regret of a group of agents or of a cohort.
    pub metric: String,
    /// Whether a larger value of the metric is better.
    pub larger_is_better: bool,
    /// By how much the series must be better to count as better, in the unit of the metric.
    pub margin: f64,
    /// Probability with which the confidence interval is to cover the threshold.
    pub confidence: f64,
    /// Number of replications of each value in the first look, that is, before the first tests.
    pub first: u64,
    /// Largest number of replications of a value.
    pub most: u64,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, Serialize)]
pub struct Threshold {
    /// Name and version of the document's schema.
    pub schema: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// The run folder.
    pub run: String,
    /// What was searched for.
    #[serde(flatten)]
    pub question: Question,
    /// The first value of the range.
    pub from: f64,
    /// The last value of the range.
    pub to: f64,
    /// How the values of the range are spaced.
    pub spacing: Spacing,
    /// The largest width that the confidence interval of the threshold is to have; for logarithmic spacing, the largest
    /// ratio of the interval's ends.
    pub width: f64,
    /// What was found.
    #[serde(flatten)]
    pub crossing: Crossing,
    /// The number of replications in which the two series cannot be compared, because one of them ended early or lacks
    /// the metric. If the number differs between the values that were looked at, it is the largest one.
    pub without_pair: u64,
}

/// Why a search did not end.
#[derive(Debug)]
pub enum Unended<E> {
    /// The scenario is not valid at a probed value.
    Plan(E),
    /// The folder cannot be read or written.
    Folder(FolderError),
    /// The search was interrupted.
    Interrupted {
        /// Number of replications of the current look that are finished.
        finished: u64,
        /// Number of replications of the current look.
        total: u64,
        /// Replications that failed before the interruption.
        failures: Vec<Failure>,
    },
    /// Replications failed.
    Failed(Vec<Failure>),
}

impl<E> From<FolderError> for Unended<E> {
    fn from(error: FolderError) -> Self {
        Self::Folder(error)
    }
}

/// Values as a scenario writes them.
#[must_use]
pub fn written(values: &[f64], whole: bool) -> Vec<String> {
    values
        .iter()
        .map(|&value| if whole { format!("{value:.0}") } else { format!("{}", tidy(value)) })
        .collect()
}

/// Searches for the threshold. `plan` makes the study of some values of the grid, with a cell for each value, in the order
/// of the values. The values of each call begin with those of the previous call, so cells keep their numbers. Returns the
/// threshold and, for [`crate::study::finish`], the plan of all values.
///
/// The same question asks for the same cells and replications, so a search that was interrupted can be continued.
///
/// # Errors
/// [`Unended`]; replications that were run are kept.
pub fn threshold<E>(
    question: &Question,
    grid: &Grid,
    folder: &RunFolder,
    plan: &mut dyn FnMut(&[f64]) -> Result<Plan, E>,
    options: Options<'_>,
    progress: &dyn Progress,
) -> Result<(Threshold, Plan), Unended<E>> {
    let rules = Rules {
        confidence: question.confidence,
        margin: question.margin,
        first: question.first,
        most: question.most,
    };
    let mut played: Option<Plan> = None;
    let mut known: Vec<Gains> = Vec::new();
    let mut observe = |values: &[f64], replications: u64| -> Result<Vec<Vec<f64>>, Unended<E>> {
        let mut plan = plan(values).map_err(Unended::Plan)?;
        plan.set_replications(replications);
        match play(&plan, folder, options, progress)? {
            Outcome::Complete => {}
            Outcome::Interrupted { finished, total, failures } => {
                return Err(Unended::Interrupted { finished, total, failures });
            }
            Outcome::Failed(failures) => return Err(Unended::Failed(failures)),
        }
        add_gains(&mut known, &plan, folder, question)?;
        played = Some(plan);
        Ok(known.iter().map(|(_, gains)| gains.clone()).collect())
    };
    let crossing = search(grid, &rules, &mut observe)?;
    let plan = played.expect("a search observes at least once");
    let pairs = crossing.probes.iter().map(|probe| probe.gain.n).min().unwrap_or(0);
    let found = Threshold {
        schema: SCHEMA,
        scenario: plan.name.clone(),
        run: folder.path().display().to_string(),
        question: question.clone(),
        from: grid.value(0),
        to: grid.value(grid.last()),
        spacing: grid.spacing(),
        width: grid.width(),
        without_pair: crossing.replications.saturating_sub(pairs),
        crossing,
    };
    Ok((found, plan))
}

/// The number of replications of a cell, and by how much the series is better than the other one in each replication that
/// has the metric for both.
type Gains = (u64, Vec<f64>);

/// Reads the gains of the cells that are new or have more replications than before.
fn add_gains(
    known: &mut Vec<Gains>,
    plan: &Plan,
    folder: &RunFolder,
    question: &Question,
) -> Result<(), FolderError> {
    let stored = folder.stored_records(&plan.identities())?;
    let better = if question.larger_is_better { 1.0 } else { -1.0 };
    known.resize(plan.cells.len(), (0, Vec::new()));
    for (cell, (replications, gains)) in known.iter_mut().enumerate() {
        if *replications == plan.replications {
            continue;
        }
        let found = MetricValues::of(cell, plan, &stored, &question.metric)?;
        let differences = found.differences(&question.series, &question.against);
        *gains = differences.into_values().map(|difference| better * difference).collect();
        *replications = plan.replications;
    }
    Ok(())
}
