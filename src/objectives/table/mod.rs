//! The rows of a CSV file as arms.

mod derived;
mod failure;
mod fields;
mod held;
mod missing;
mod output;
mod plain;
mod public;
mod raw;
mod ready;
mod reader;
mod scales;
mod size;

pub use derived::Formula;
pub(super) use derived::InputColumns;
pub use missing::Missing;
pub use output::Output;
pub use scales::{InputScale, OutputScale};

use super::grid_function::default_norm;
use super::hyperparameters::{Fitted, Hyperparameters, LogNormalPrior};
use super::instance::{Instance, ProblemFacts, Surrogate};
use super::split::{Holder, Split};
use super::{Extent, Noise, Objective, ObjectiveError, Prepared, Resources, Stated};
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::gp::fit::{self, LogNormals};
use crate::rng::Key;
use crate::vocab::{Finite, NonNegative, Positive, Problem};
pub(super) use failure::TableFields;
pub use failure::{BadCell, Quantity, TableError};
pub(crate) use reader::CsvTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether large or small outputs are sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Goal {
    /// The largest output is the best.
    #[default]
    Maximise,
    /// The smallest output is the best.
    Minimise,
}

/// The function that is applied to the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transform {
    /// No transformation.
    #[default]
    Identity,
    /// Natural logarithm; all numbers must be above 0.
    Log,
    /// Natural logarithm of 1 + x; all numbers must be above -1.
    Log1p,
}

/// Every row of a CSV file is an arm: some columns are its inputs; another column, or a number computed from two columns, is
/// its output.
///
/// The output is transformed, negated if it is to be minimised, centred and divided by a unit. Regret, the noise of an
/// outcome and the range of a private outcome are in this unit. Inputs are transformed (`log_inputs`), centred and divided
/// by units. Each input is then divided by its length-scale, so that the surrogate has one length-scale for all inputs, and
/// multiplied by `max_norm` / radius. Centres, units and the radius are computed from the data unless the scenario states
/// them (`input_scale`, `output_scale`). The radius that is computed is the largest norm of a row before the multiplication.
/// Source: Kharkovskii, Dai and Low 2020, section 4, for the preparation of inputs.
///
/// Example: `Table(file: "sacramento.csv", inputs: ["sqft"], output: Column("price"), transform: Log, goal:
/// Minimise)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The file, relative to the scenario's own folder or to the folder of `--data`. First line: names of columns.
    pub file: PathBuf,
    /// For the protocol `Federated`: names of columns whose values in a row together name the agent that holds the row. An
    /// agent measures only its own rows. Default: none, all agents hold all rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    /// Agents among which the rows are divided at random, in place of the columns `agent`. The field `labels` of a split
    /// divides classes of rows. Here the class of a row is the range of its output: the quartiles cut the outputs into four
    /// ranges, which have equal numbers of rows up to ties. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Split>,
    /// Names of the input columns, in the file or in `derived`. All cells of a column that is not in `one_hot` are numbers.
    pub inputs: Vec<String>,
    /// Input columns that hold categories. Each value that occurs becomes an input called `column=value`, which is 1 in
    /// the rows that have the value, 0 in the rows that have another value, and missing where the category is missing. The
    /// inputs of a column are in the alphabetical order of their values. Default: none.
    #[serde(default)]
    pub one_hot: Vec<String>,
    /// Columns that are computed from columns of the file, by name, as in
    /// `{ "pulse": Difference("systolic", "diastolic") }`. Default: none.
    #[serde(default)]
    pub derived: BTreeMap<String, Formula>,
    /// Input columns that are replaced by ln(1 + x). Default: none.
    #[serde(default)]
    pub log_inputs: Vec<String>,
    /// The output that is optimised: a column, or a number computed from two columns.
    pub output: Output,
    /// What happens to missing cells of the columns used. Default: `Refuse`: a missing cell is an error.
    #[serde(default)]
    pub missing: Missing,
    /// Function that is applied to the output first. Default: `Identity`.
    #[serde(default)]
    pub transform: Transform,
    /// Whether large or small outputs are sought. Default: `Maximise`.
    #[serde(default)]
    pub goal: Goal,
    /// How outputs are scaled. Default: `FromData`, by their mean and standard deviation.
    #[serde(default)]
    pub output_scale: OutputScale,
    /// How inputs are scaled. Default: `FromData`, by their means, standard deviations and largest norm.
    #[serde(default)]
    pub input_scale: InputScale,
    /// Prior mean that a learner assumes, in the unit of the scaled output (larger is better). It is taken as public: choose
    /// it independently of the data. Default: 0, which fits an `output_scale` of `FromData`.
    #[serde(default = "zero")]
    pub prior_mean: Finite,
    /// Largest Euclidean norm of a row of scaled inputs. If `input_scale` is stated, `max_norm` is the scaled norm of a row
    /// whose norm after division by units and length-scales is `radius`. Default: 25.
    #[serde(default = "default_norm")]
    pub max_norm: Positive,
    /// Standard deviation of the noise of an outcome, in the unit of the scaled output. Default: 0, an outcome is the
    /// recorded output.
    #[serde(default = "no_noise")]
    pub noise_sd: NonNegative,
    /// The surrogate's hyperparameters. Default: by maximum likelihood.
    #[serde(default)]
    pub hyperparameters: Hyperparameters,
}

pub(super) fn zero() -> Finite {
    Finite::new(0.0).expect("0 is finite")
}

fn no_noise() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

/// Transformed inputs (row-major) and outputs (larger is better), before any scaling.
#[derive(Clone, Debug)]
struct Raw {
    file: PathBuf,
    /// Names of the inputs, one for each column of `rows`.
    names: Vec<String>,
    rows: Vec<f64>,
    values: Vec<f64>,
    /// Which agent holds which rows; empty if all agents hold all rows.
    holders: Vec<Holder>,
}

/// Inputs (row-major) and outputs after centring and division by units, before division by length-scales.
struct Columns {
    rows: Vec<f64>,
    values: Vec<f64>,
    units: Vec<f64>,
    centre: f64,
    unit: f64,
}

/// A table with its records and the optimisation problem computed from them.
#[derive(Debug)]
struct Ready {
    table: Table,
    key: Key,
    raw: Raw,
    scaled: Scaled,
}

/// An optimisation problem, and the scaling by which it was computed from raw records.
#[derive(Debug)]
struct Scaled {
    instance: Instance,
    fitted: Option<Fitted>,
    /// For each column, the change of a raw input that changes the scaled input by 1.
    steps: Vec<f64>,
    /// Centre and unit of the raw outputs.
    centre: f64,
    unit: f64,
}

impl Table {
    fn input_columns(&self) -> InputColumns<'_> {
        InputColumns { inputs: &self.inputs, one_hot: &self.one_hot, derived: &self.derived }
    }

    fn columns(&self, raw: &Raw) -> Result<Columns, TableError> {
        let d = raw.names.len();
        let constant = |of: Quantity| TableError::Constant { file: raw.file.clone(), of };
        let (mut rows, mut values) = (raw.rows.clone(), raw.values.clone());
        let mut units = Vec::with_capacity(d);
        for (index, name) in raw.names.iter().enumerate() {
            let mut column: Vec<f64> = rows[index..].iter().step_by(d).copied().collect();
            let unit = self.input_scale.apply(index, &mut column);
            units.push(unit.ok_or_else(|| constant(Quantity::Column(name.clone())))?);
            rows[index..].iter_mut().step_by(d).zip(column).for_each(|(cell, value)| *cell = value);
        }
        let scale = match self.goal {
            Goal::Maximise => self.output_scale,
            Goal::Minimise => self.output_scale.negated(),
        };
        let (centre, unit) = scale.apply(&mut values).ok_or_else(|| constant(Quantity::Output))?;
        if let Some(column) = rows.iter().position(|x| !x.is_finite()) {
            let of = Quantity::Column(raw.names[column % d].clone());
            return Err(TableError::NotScalable { file: raw.file.clone(), of });
        }
        if values.iter().any(|y| !y.is_finite()) {
            return Err(TableError::NotScalable { file: raw.file.clone(), of: Quantity::Output });
        }
        Ok(Columns { rows, values, units, centre, unit })
    }

    /// Computes the optimisation problem from raw records. `fitted` are hyperparameters that are used
    /// instead of a new fit, provided that they have a length-scale for each input.
    fn scaled(&self, raw: &Raw, fitted: Option<&Fitted>, key: Key) -> Result<Scaled, ObjectiveError> {
        let columns = self.columns(raw)?;
        let d = raw.names.len();
        let hyperparameters = match fitted {
            Some(fitted) if fitted.length_scales.len() == d => fitted.clone(),
            Some(_) | None => self.hyperparameters(&columns, key)?,
        };
        let Columns { mut rows, values, units, centre, unit } = columns;
        for row in rows.chunks_mut(d) {
            row.iter_mut().zip(&hyperparameters.length_scales).for_each(|(cell, scale)| *cell /= scale);
        }
        // After the division all length-scales are 1. After the multiplication of the inputs by `factor`, all
        // length-scales are `factor`.
        let factor = self.input_scale.to_norm(&mut rows, d, self.max_norm.get());
        let steps = units.iter().zip(&hyperparameters.length_scales).map(|(u, l)| u * l / factor).collect();
        let values = Arc::new(values);
        let background = ProblemFacts { plain: Some(self.plain(raw)), ..self.background() };
        let instance = Instance {
            inputs: Arc::new(Points::new(values.len(), d, rows)),
            values: Arc::clone(&values),
            noise: Noise::gaussian(self.noise_sd.get()),
            surrogate: Surrogate {
                covariance: Covariance::new(
                    self.hyperparameters.kernel().shape(),
                    factor,
                    hyperparameters.variance,
                ),
                noise_variance: hyperparameters.noise_variance,
                mean: self.prior_mean.get(),
            },
            background: self.with_agents(raw, &values, background),
        };
        let fitted = hyperparameters.log_likelihood.is_some().then_some(hyperparameters);
        Ok(Scaled { instance, fitted, steps, centre, unit })
    }

    fn hyperparameters(&self, columns: &Columns, key: Key) -> Result<Fitted, ObjectiveError> {
        match &self.hyperparameters {
            Hyperparameters::Given { length_scales, variance, noise_variance, .. } => Ok(Fitted {
                length_scales: length_scales.iter().map(|l| l.get()).collect(),
                variance: variance.get(),
                noise_variance: noise_variance.get(),
                log_likelihood: None,
                slope: None,
            }),
            Hyperparameters::MaximumLikelihood {
                subset,
                starts,
                kernel,
                length_scale_prior,
                variance_prior,
                noise_variance_prior,
            } => {
                let prior = |prior: Option<LogNormalPrior>| prior.map(LogNormalPrior::of_logarithm);
                let priors = LogNormals {
                    length_scale: prior(*length_scale_prior),
                    variance: prior(*variance_prior),
                    noise_variance: prior(*noise_variance_prior),
                };
                let (n, d) = (columns.values.len(), columns.units.len());
                let rows = key.child("likelihood subset").stream().distinct(n, n.min(subset.get()));
                let points: Vec<f64> =
                    rows.iter().flat_map(|&row| columns.rows[row * d..][..d].iter().copied()).collect();
                let outputs: Vec<f64> = rows.iter().map(|&row| columns.values[row]).collect();
                let points = Points::new(rows.len(), d, points);
                let mut stream = key.child("likelihood starts").stream();
                fit::fit(kernel.shape(), priors, &points, &outputs, starts.get(), &mut stream)
                    .map(|fit| Fitted {
                        length_scales: fit.length_scales,
                        variance: fit.variance,
                        noise_variance: fit.noise_variance,
                        log_likelihood: Some(fit.log_likelihood),
                        slope: Some(fit.slope),
                    })
                    .map_err(|error| ObjectiveError::Fit { file: self.file.clone(), error })
            }
        }
    }
}

impl Objective for Table {
    fn is_always_the_same(&self) -> bool {
        true
    }

    fn is_of_agents(&self) -> bool {
        self.is_divided()
    }

    fn is_for_agents_only(&self) -> bool {
        self.is_divided()
    }

    fn has_own_points(&self) -> bool {
        self.is_divided()
    }

    fn divides_records(&self) -> bool {
        self.is_divided()
    }

    fn has_categories(&self) -> bool {
        !self.one_hot.is_empty()
    }

    fn problems(&self, resources: &Resources) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.inputs.is_empty() {
            let cure = "name the columns that describe a row";
            problems.push(Problem::wrong("inputs", "at least one column", "none", cure));
        }
        problems.extend(self.input_columns().problems());
        problems.extend(self.output_among_inputs());
        for (index, name) in self.log_inputs.iter().enumerate() {
            let place = format!("log_inputs[{index}]");
            if !self.inputs.contains(name) {
                problems.push(Problem::unknown(place, "input column", name.clone(), &self.inputs));
            } else if self.one_hot.contains(name) {
                let cure = "leave it out here or in one_hot";
                problems.push(Problem::wrong(place, "a column of numbers", "one of categories", cure));
            }
        }
        problems.extend(self.hyperparameters.problem().map(|problem| problem.below("hyperparameters")));
        let raw = self.raw(resources);
        // Only the file shows how many inputs a column of categories becomes.
        let d = match &raw {
            Ok(raw) => Some(raw.names.len()),
            Err(_) => self.one_hot.is_empty().then_some(self.inputs.len()),
        };
        let scale = d.map_or_else(Vec::new, |d| self.input_scale.problems(d));
        let scalable = scale.is_empty();
        if let (Hyperparameters::Given { length_scales, .. }, Some(d)) = (&self.hyperparameters, d)
            && length_scales.len() != d
        {
            problems.push(Problem::wrong(
                "hyperparameters.Given.length_scales",
                format!("one length-scale for each of the {d} inputs"),
                length_scales.len().to_string(),
                "write as many as there are inputs",
            ));
        }
        problems.extend(scale);
        problems.extend(self.holder_problems(raw.as_ref().ok().map(|raw| raw.values.len())));
        match raw.and_then(|raw| if scalable { self.columns(&raw).map(drop) } else { Ok(()) }) {
            Ok(()) => {}
            Err(error) => problems.push(error.problem(self)),
        }
        problems
    }

    fn extent(&self, resources: &Resources) -> Extent {
        self.size(resources)
    }

    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        vec![resources.place(&self.file)]
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.noise_sd.get())
    }

    fn unit(&self) -> String {
        self.unit_in_words()
    }

    fn prepare(
        &self,
        resources: &Resources,
        fitted: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let mut raw = Arc::unwrap_or_clone(self.raw(resources)?);
        raw.holders = self.holders(&raw, &key.child("split"));
        let scaled = self.scaled(&raw, fitted, key)?;
        Ok(Box::new(Ready { table: self.clone(), key, raw, scaled }))
    }
}
