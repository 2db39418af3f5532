//! Sensitivity analysis: which of the values that a study varies matter, how much they matter, and which of them interact.

use super::design::{Design, Designed};
use super::factorial::{Factorial, pairs};
use super::resampling::{RESAMPLES, Resampled, Share, shares};
use crate::rng::Key;
use crate::study::disk::error::FolderError;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::metric::MetricValues;
use crate::study::results::statistics::Estimate;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Name and version of the document's schema.
const SCHEMA: &str = "subrosa.explain/1";

/// The variance of rounding errors as a share of the mean square of the values.
const ROUNDING: f64 = 1e-22;

/// One varied value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedAxis {
    /// Its name.
    pub name: String,
    /// Its values, as written; in a quasi-random design, the two ends of its range.
    pub values: Vec<String>,
}

/// The shares of one series' variance that one varied value explains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AxisShare {
    /// Name of the varied value.
    pub axis: String,
    /// The share of the variance that the varied value explains alone: the first-order Sobol' index.
    pub first: Share,
    /// The share that it explains alone and in interactions with other varied values: the total Sobol' index.
    pub total: Share,
}

/// The share of the variance that two varied values explain together, beyond what each of them explains alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairShare {
    /// Names of the two varied values.
    pub axes: [String; 2],
    /// The share: the second-order Sobol' index.
    pub share: Share,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedSeries {
    /// Its name.
    pub series: String,
    /// The mean of the metric over all cells and over the replications in which all cells have the metric.
    pub mean: f64,
    /// Estimate of the variance between the true means of the cells: that of the measured means, without the part that is
    /// due to the noise of replications. The estimate is negative if the measured means differ less than the noise alone
    /// would make them differ.
    pub variance: Share,
    /// The variance between the replications of a cell, averaged over the cells.
    pub noise: f64,
    /// The shares of each varied value. Empty if the estimated variance between cells is at most 1e-22 times the mean
    /// square of the values, and so may be rounding error alone.
    pub axes: Vec<AxisShare>,
    /// The shares of each pair of varied values; empty if `axes` is empty, or if pairs are not estimated.
    pub pairs: Vec<PairShare>,
}

/// The shares of variance in a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Name and version of the document's schema.
    pub schema: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// The run folder.
    pub run: String,
    /// The metric.
    pub metric: String,
    /// `factorial` if the cells are all combinations of the values of each `Each`; `quasi-random` if they are points of
    /// ranges.
    pub design: &'static str,
    /// Number of cells.
    pub cells: usize,
    /// The N of a quasi-random design, as given by `--points`. A design of d axes has N (d + 2) cells, or N (2 d + 2) if
    /// pairs are estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<usize>,
    /// The varied values.
    pub axes: Vec<ExplainedAxis>,
    /// Probability with which each interval covers the true share or variance, approximately.
    pub confidence: f64,
    /// Number of bootstrap resamples behind the intervals.
    pub resamples: usize,
    /// Number of replications in which all cells have the metric; if series differ in this number, the largest one.
    pub replications: u64,
    /// The series.
    pub series: Vec<ExplainedSeries>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Why a study cannot be explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// Records cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The study has a single cell.
    #[error(
        "expected a study that varies some values, found one cell (put an Each in place of a value, in the file or by -o, or give ranges by \
         --over PATH=FROM..TO)"
    )]
    NothingVaries,
    /// The seed is varied.
    #[error(
        "expected a study whose cells have one seed, found several: the seed only adds noise, which replications measure (fix it by \
         --seed, and raise --replications instead)"
    )]
    SeedVaries,
    /// An `Each` has a value twice, or the cells are not a full factorial.
    #[error(
        "expected an Each of different values, found a value twice in one of {0} (leave one of the two out)"
    )]
    Repeated(String),
    /// Too few replications.
    #[error(
        "expected at least 2 replications in which all cells have the metric {metric:?}, found {found}: with one, noise \
         cannot be distinguished from effects (raise --replications)"
    )]
    TooFew {
        /// The metric.
        metric: String,
        /// The number of replications.
        found: usize,
    },
}

/// The quasi-random design of a study, whose cells are in the design's order.
#[derive(Clone, Debug)]
pub struct DesignedAxes {
    /// Its size.
    pub design: Design,
    /// The axes with their ranges.
    pub axes: Vec<ExplainedAxis>,
}

/// The node of the seed tree for the points of a design over the ranges of a study with this seed.
#[must_use]
pub fn design_key(seed: u64) -> Key {
    Key::root(seed).child("explain").child("design")
}

/// Computes the shares of variance of every series from the records of a study. The cells of the study are the points of the
/// quasi-random design `designed` or, if it is `None`, all combinations of the values of each `Each`. The random numbers of
/// the bootstrap are from the seed tree, so the same records give the same intervals.
///
/// # Errors
/// [`ExplainError`].
pub fn explain(
    plan: &Plan,
    stored: &StoredRecords,
    run: &str,
    metric: &str,
    designed: Option<&DesignedAxes>,
    confidence: f64,
) -> Result<Explained, ExplainError> {
    if plan.cells.len() < 2 {
        return Err(ExplainError::NothingVaries);
    }
    if plan.cells.iter().any(|cell| cell.seed() != plan.first_seed()) {
        return Err(ExplainError::SeedVaries);
    }
    let axes = match designed {
        Some(designed) => designed.axes.clone(),
        None => levels(plan)?,
    };
    let mut explained = Explained {
        schema: SCHEMA,
        scenario: plan.name.clone(),
        run: run.to_owned(),
        metric: metric.to_owned(),
        design: if designed.is_some() { "quasi-random" } else { "factorial" },
        cells: plan.cells.len(),
        points: designed.map(|designed| designed.design.rows),
        axes,
        confidence,
        resamples: RESAMPLES,
        replications: 0,
        series: Vec::new(),
        notes: Vec::new(),
    };
    let cells = (0..plan.cells.len())
        .map(|cell| Ok(MetricValues::of(cell, plan, stored, metric)?.by_series))
        .collect::<Result<Vec<BTreeMap<String, BTreeMap<u64, f64>>>, FolderError>>()?;
    let key = Key::root(plan.first_seed()).child("explain").child("bootstrap");
    let mut most: Option<usize> = None;
    for name in names(plan) {
        let Some(of_cells) = cells.iter().map(|series| series.get(&name)).collect::<Option<Vec<_>>>() else {
            explained.notes.push(format!("series \"{name}\" is left out: not every cell has it"));
            continue;
        };
        // Only replications that every cell has are used, since the effects in replication k are computed from the values
        // of replication k in all cells.
        let mut common: BTreeSet<u64> = of_cells[0].keys().copied().collect();
        let seen: BTreeSet<u64> = of_cells.iter().flat_map(|values| values.keys().copied()).collect();
        common.retain(|replication| of_cells.iter().all(|values| values.contains_key(replication)));
        if common.len() < 2 {
            most = Some(most.map_or(common.len(), |most| most.max(common.len())));
            explained.notes.push(format!(
                "series \"{name}\" is left out: expected at least 2 replications in which every cell has a {metric} of it, found {}",
                common.len()
            ));
            continue;
        }
        if common.len() < seen.len() {
            explained.notes.push(format!(
                "series \"{name}\": {} of {} replications are left out, because some cell ended early there or has no {metric}",
                seen.len() - common.len(),
                seen.len()
            ));
        }
        let values: Vec<Vec<f64>> =
            common.iter().map(|k| of_cells.iter().map(|values| values[k]).collect()).collect();
        explained.replications = explained.replications.max(common.len() as u64);
        explained.series.push(series(&name, values, &explained.axes, designed, confidence, key));
    }
    if explained.series.is_empty() {
        return Err(ExplainError::TooFew { metric: metric.to_owned(), found: most.unwrap_or(0) });
    }
    Ok(explained)
}

/// The names of the series, in the order of the scenario.
fn names(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in plan.cells.iter().flat_map(|cell| cell.scenario.draft().protocol.as_dyn().series()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The axes of a study in the order of the cells' `point`, each with its values in the order in which cells first have them.
fn levels(plan: &Plan) -> Result<Vec<ExplainedAxis>, ExplainError> {
    let mut axes: Vec<ExplainedAxis> = plan.cells[0]
        .point
        .iter()
        .map(|(name, _)| ExplainedAxis { name: name.clone(), values: Vec::new() })
        .collect();
    for cell in &plan.cells {
        for (axis, (_, value)) in axes.iter_mut().zip(&cell.point) {
            if !axis.values.contains(value) {
                axis.values.push(value.clone());
            }
        }
    }
    if axes.iter().map(|axis| axis.values.len()).product::<usize>() != plan.cells.len() {
        let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        return Err(ExplainError::Repeated(names.join(", ")));
    }
    Ok(axes)
}

fn series(
    name: &str,
    values: Vec<Vec<f64>>,
    axes: &[ExplainedAxis],
    designed: Option<&DesignedAxes>,
    confidence: f64,
    key: Key,
) -> ExplainedSeries {
    let cells = values[0].len() as f64;
    let mean = values.iter().flatten().sum::<f64>() / (cells * values.len() as f64);
    let variance_of = |cell: usize| {
        let estimate = Estimate::of(&values.iter().map(|values| values[cell]).collect::<Vec<f64>>());
        estimate.map_or(0.0, |estimate| estimate.se * estimate.se * estimate.n as f64)
    };
    let noise = (0..values[0].len()).map(variance_of).sum::<f64>() / cells;
    let squares =
        values.iter().flatten().map(|value| value * value).sum::<f64>() / (cells * values.len() as f64);
    let counts: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
    let design: Box<dyn Resampled> = match designed {
        Some(designed) => Box::new(Designed::new(designed.design, values)),
        None => Box::new(Factorial::new(&counts, values)),
    };
    let found =
        shares(&*design, ROUNDING * squares, confidence, key.child(name)).expect("at least two replications");
    let first = found.first.unwrap_or_default();
    let axis_share = |((axis, first), total): ((&ExplainedAxis, &Share), &Share)| AxisShare {
        axis: axis.name.clone(),
        first: *first,
        total: *total,
    };
    let pair = |((one, other), share): ((usize, usize), &Share)| PairShare {
        axes: [axes[one].name.clone(), axes[other].name.clone()],
        share: *share,
    };
    ExplainedSeries {
        series: name.to_owned(),
        mean,
        variance: found.whole,
        noise,
        axes: axes.iter().zip(&first).zip(&found.total).map(axis_share).collect(),
        pairs: pairs(axes.len()).into_iter().zip(&found.pairs).map(pair).collect(),
    }
}
