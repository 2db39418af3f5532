//! Tuning a linear model on the records of a file: every setting is a regularisation parameter.

mod data;
mod held;
mod hinge;
mod loss;
mod records;
mod training;
mod untrained;

pub use data::Label;
pub use loss::{Training, ValidationLoss};
pub use records::Records;
pub(super) use training::train_at_most;
pub use untrained::TrainingError;

use super::instance::{Instance, ProblemFacts, PublicFacts, Surrogate, TuningFacts, UnscaledInputs};
use super::split::{self, Split};
use super::table::{Formula, InputColumns, Missing, Quantity, TableError, TableFields};
use super::{
    DataSource, Extent, Fitted, Kernel, Noise, Objective, ObjectiveError, Prepared, Resources, Stated,
};
use crate::gp::covariance::Covariance;
use crate::gp::{Points, dot};
use crate::rng::Key;
use crate::vocab::effort::{MULTIPLY, NUMBER};
use crate::vocab::{Effort, Finite, NonNegative, Origin, Positive, Probability, Problem, PublicFact};
use data::RawRecords;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The performance of a linear classifier for each value of its L2 regularisation: minus its mean loss over the
/// validation records. Training and validation records are drawn once per study. Only the validation records are
/// protected, except where records belong to agents of a federation: there the unit of protection is the agent, with all
/// records that the agent holds.
///
/// Features are standardised with the training records' means and standard deviations, and a constant feature 1 is added.
/// All records are then divided by the largest norm of a training record; a validation record of a larger norm is scaled
/// to norm 1. So every record has norm at most 1, and weights have norm at most 1 / lambda. One validation record changes
/// a performance by at most min(1, 2 L / lambda_min) / m, where L is the Lipschitz constant of the loss and m the number of
/// validation records.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, section 5 and Assumption 2.
///
/// Example: `Tuning(file: "loans.csv", inputs: ["funded_amnt", "int_rate"], label: Equals(column: "Class", value:
/// "good"), training: LogisticRegression, loss: Ramp, lambda_min: 0.01, lambda_max: 1, settings: 5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The file, relative to the scenario's own folder or to the folder of `--data`. First line: names of columns.
    pub file: PathBuf,
    /// For the protocol `Federated`: names of columns whose values together name the agent that holds a record. An agent
    /// trains and validates only on its own records. Default: none, all records are the owner's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    /// Agents among which the records are divided at random, in place of the columns `agent`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Split>,
    /// Names of the feature columns, in the file or in `derived`. All cells of a column that is not in `one_hot` are
    /// numbers.
    pub inputs: Vec<String>,
    /// Feature columns that hold categories. Each value that occurs becomes a feature, which is 1 in the records that have
    /// the value, 0 in the records that have another value, and missing where the category is missing. Default: none.
    #[serde(default)]
    pub one_hot: Vec<String>,
    /// Columns that are computed from columns of the file, by name, as in
    /// `{ "pulse": Difference("systolic", "diastolic") }`. Default: none.
    #[serde(default)]
    pub derived: BTreeMap<String, Formula>,
    /// What happens to missing cells of the columns used. With `Mean`, a missing feature is replaced by its mean over the
    /// training records that have it, and records without a label are left out; `Mean` is not allowed where records belong
    /// to agents. Default: `Refuse`: a missing cell is an error.
    #[serde(default)]
    pub missing: Missing,
    /// The class that is predicted.
    pub label: Label,
    /// How a model is trained.
    pub training: Training,
    /// The loss on the validation set.
    pub loss: ValidationLoss,
    /// Smallest regularisation parameter.
    pub lambda_min: Positive,
    /// Largest regularisation parameter.
    pub lambda_max: Positive,
    /// Number of regularisation parameters, spaced evenly in their logarithm. Default: 20.
    #[serde(default = "default_settings")]
    pub settings: NonZeroUsize,
    /// Share of the records on which models are trained; the others are the validation set. Default: 0.5.
    #[serde(default = "default_share")]
    pub train_share: Probability,
    /// Standard deviation of the noise that the owner adds to a performance, in units of the loss. Default: 0.
    #[serde(default = "no_noise")]
    pub noise_sd: NonNegative,
    /// Mean of the prior that a learner assumes for the performance (minus the loss), a public guess. Default: -0.25.
    #[serde(default = "default_mean")]
    pub prior_mean: Finite,
    /// Standard deviation of the prior, a public guess in units of the loss. Default: 0.1.
    #[serde(default = "default_sd")]
    pub prior_sd: Positive,
    /// Kernel that the learner assumes. Default: `SquaredExponential`.
    #[serde(default)]
    pub kernel: Kernel,
    /// Length-scale of the prior in units of ln lambda. Default: 2.
    #[serde(default = "default_length_scale")]
    pub length_scale: Positive,
}

fn default_settings() -> NonZeroUsize {
    const TWENTY: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");
    TWENTY
}

fn default_share() -> Probability {
    Probability::new(0.5).expect("0.5 is a probability")
}

fn no_noise() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

fn default_mean() -> Finite {
    Finite::new(-0.25).expect("a finite number")
}

fn default_sd() -> Positive {
    Positive::new(0.1).expect("0.1 is above 0")
}

fn default_length_scale() -> Positive {
    Positive::new(2.0).expect("2 is above 0")
}

/// The weights of one model per regularisation parameter.
///
/// # Errors
/// [`TrainingError`] if the training of a model fails or does not converge.
pub fn models(
    records: &Records,
    training: Training,
    lambdas: &[f64],
) -> Result<Vec<Vec<f64>>, TrainingError> {
    lambdas.iter().map(|&lambda| training::train(records, training, lambda)).collect()
}

/// Minus the mean loss of a model over records; NaN if there are none.
#[must_use]
pub fn performance(weights: &[f64], records: &Records, loss: ValidationLoss) -> f64 {
    -records.margins(weights).map(|z| loss.at(z)).sum::<f64>() / records.len() as f64
}

impl TableFields for Tuning {
    fn file(&self, _: &Path) -> String {
        "file".to_owned()
    }

    fn column(&self, _: &Path, column: &str) -> String {
        let found = self.input_columns().field(column).or_else(|| split::field(&self.agent, column));
        found.unwrap_or_else(|| self.label.path().to_owned())
    }

    fn value(&self, file: &Path, column: &str) -> String {
        match self.label {
            Label::Equals { .. } => "label.Equals.value".to_owned(),
            Label::Above { .. } => self.column(file, column),
        }
    }

    fn constant(&self, _: &Path, _: &Quantity) -> (String, &'static str, &'static str) {
        ("label".to_owned(), "records of both classes", "name another column, or move the threshold")
    }
}

/// Largest number of settings: a model is trained for every setting.
const MAX_SETTINGS: usize = 1000;

#[derive(Debug)]
struct Ready {
    instance: Instance,
    models: Vec<Vec<f64>>,
    validation: Records,
    loss: ValidationLoss,
}

impl Tuning {
    fn read(&self, resources: &Resources) -> Result<Arc<RawRecords>, TableError> {
        let (file, inputs) = (resources.place(&self.file), self.input_columns());
        let read = || data::read(&file, (inputs, &self.agent), self.missing, &self.label);
        resources.contents.read(&(&file, inputs, &self.agent, self.missing, &self.label), read)
    }

    fn input_columns(&self) -> InputColumns<'_> {
        InputColumns { inputs: &self.inputs, one_hot: &self.one_hot, derived: &self.derived }
    }

    /// Facts taken as public. Some of them can depend on the contents of validation records: which records are left out
    /// because a cell is missing, which categories occur, that `derived` columns can be computed, that both classes occur,
    /// and that numbers are within limits. The other facts do not depend on these contents. `shape` holds the facts about
    /// numbers of records or agents.
    fn facts(&self, mut shape: Vec<PublicFact>) -> PublicFacts {
        shape.extend(self.input_columns().facts());
        shape.push(PublicFact::new(
            "that both classes occur, and that all numbers used have absolute values of at most 1e100",
            Origin::Shape,
        ));
        shape.extend(match self.missing {
            Missing::Refuse => None,
            Missing::Drop => Missing::Drop.facts().0,
            Missing::Mean => {
                Some(PublicFact::new("which records have no label, and so are left out", Origin::Shape))
            }
        });
        PublicFacts {
            shape,
            inputs: vec![PublicFact::new("regularisation parameters to choose from", Origin::Stated)],
            length_scales: Vec::new(),
            outcomes: vec![PublicFact::new("range and Lipschitz constant of the loss", Origin::Stated)],
            model: vec![PublicFact::new("mean, variance and length-scale of the prior", Origin::Stated)],
            outcomes_read_inputs: false,
        }
    }

    /// The regularisation parameters, ascending.
    fn lambdas(&self) -> Vec<f64> {
        let (low, high) = (libm::log(self.lambda_min.get()), libm::log(self.lambda_max.get()));
        let steps = (self.settings.get() - 1).max(1) as f64;
        (0..self.settings.get())
            .map(|index| {
                let between = libm::exp(low + (high - low) * index as f64 / steps);
                between.clamp(self.lambda_min.get(), self.lambda_max.get())
            })
            .collect()
    }
}

impl Objective for Tuning {
    fn is_always_the_same(&self) -> bool {
        true
    }

    fn is_of_agents(&self) -> bool {
        self.is_divided()
    }

    fn is_for_agents_only(&self) -> bool {
        self.is_divided()
    }

    fn divides_records(&self) -> bool {
        self.is_divided()
    }

    fn problems(&self, resources: &Resources) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.inputs.is_empty() {
            let cure = "name the columns that describe a record";
            problems.push(Problem::wrong("inputs", "at least one column", "none", cure));
        }
        problems.extend(self.input_columns().problems());
        if self.lambda_max < self.lambda_min {
            problems.push(Problem::wrong(
                "lambda_max",
                format!("at least lambda_min, {}", self.lambda_min),
                self.lambda_max.to_string(),
                "swap the two values",
            ));
        }
        if self.settings.get() > MAX_SETTINGS {
            let cure = "a model is trained for each: take fewer";
            let expected = format!("at most {MAX_SETTINGS} settings");
            problems.push(Problem::wrong("settings", expected, self.settings.to_string(), cure));
        }
        let read = self.read(resources);
        problems.extend(self.holder_problems(read.as_deref().ok()));
        match read {
            Err(error) => problems.push(error.problem(self)),
            Ok(records) => {
                let training = data::training_records(records.labels.len(), self.train_share.get());
                if training == 0 || training == records.labels.len() {
                    problems.push(Problem::wrong(
                        "train_share",
                        "a share that leaves records for training and for validation",
                        self.train_share.to_string(),
                        "write 0.5, for example",
                    ));
                }
            }
        }
        problems
    }

    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        vec![resources.place(&self.file)]
    }

    fn extent(&self, resources: &Resources) -> Extent {
        let settings = self.settings.get() as u64;
        let read = self.read(resources).ok();
        let (m, d) =
            read.as_ref().map_or((0.0, 0.0), |records| (records.labels.len() as f64, records.d as f64));
        let mut extent = Extent::of(settings, 1).due_to("settings", settings);
        if self.is_divided() {
            let held = match self.split.as_slice() {
                [] => ("agent".to_owned(), read.map_or(0, |records| records.holders.len()) as u64),
                splits => ("split".to_owned(), split::agents(splits) as u64),
            };
            extent.prepared.bytes += NUMBER * settings as f64 * held.1 as f64;
            extent.agents = Some(held);
        }
        // Training passes over the records some two hundred times.
        let training = MULTIPLY * 200.0 * m * (d + 20.0) * settings as f64;
        extent.prepared = extent.prepared.and(Effort::new(3.0 * NUMBER * m * (d + 1.0), training));
        extent
    }

    fn stated(&self) -> Stated {
        Stated { loss: Some(true), ..Stated::gaussian(self.noise_sd.get()) }
    }

    fn unit(&self) -> String {
        "units of the mean validation loss".to_owned()
    }

    fn prepare(
        &self,
        resources: &Resources,
        _: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let records = self.read(resources)?;
        let lambdas = self.lambdas();
        let mut background;
        let (values, models, validation) = if self.is_divided() {
            let agents = self.agent_performances(&records, &lambdas, &key)?;
            let (values, holdings, counts) = (agents.values, agents.holdings, agents.records);
            let mean = |k: usize| values.iter().map(|of| of[k]).sum::<f64>() / values.len() as f64;
            let means = (0..lambdas.len()).map(mean).collect();
            background = ProblemFacts::public(self.facts(split::facts(&self.split)));
            background.holdings = Some(Arc::new(holdings));
            background.records = Some(Arc::new(counts));
            background.agents = Some(Arc::new(values.into_iter().map(Arc::new).collect()));
            (means, Vec::new(), Records { d: records.d + 1, signed: Vec::new() })
        } else {
            let mut stream = key.child("training records").stream();
            let data::Parted { training, validation } = records.split(self.train_share.get(), &mut stream);
            let models = models(&training, self.training, &lambdas)?;
            let values = models.iter().map(|weights| performance(weights, &validation, self.loss)).collect();
            let shape = vec![PublicFact::new("number of validation records", Origin::Shape)];
            background = ProblemFacts::public(self.facts(shape));
            background.tuning = Some(TuningFacts {
                records: validation.len() as f64,
                loss_range: ValidationLoss::RANGE,
                lipschitz: self.loss.lipschitz(),
                lambda_min: self.lambda_min.get(),
                lambda_max: self.lambda_max.get(),
            });
            (values, models, validation)
        };
        let variance = self.prior_sd.get() * self.prior_sd.get();
        let noise_variance = self.noise_sd.get() * self.noise_sd.get();
        let settings = lambdas.iter().map(|&lambda| libm::log(lambda)).collect();
        let instance = Instance {
            inputs: Arc::new(Points::new(lambdas.len(), 1, settings)),
            values: Arc::new(values),
            noise: Noise::gaussian(self.noise_sd.get()),
            surrogate: Surrogate {
                covariance: Covariance::new(self.kernel.shape(), self.length_scale.get(), variance),
                // Without noise the covariance matrix would be singular if a setting is queried twice.
                noise_variance: noise_variance.max(1e-8 * variance),
                mean: self.prior_mean.get(),
            },
            background: ProblemFacts {
                plain: Some(Arc::new(UnscaledInputs { names: vec!["lambda".to_owned()], rows: lambdas })),
                ..background
            },
        };
        Ok(Box::new(Ready { instance, models, validation, loss: self.loss }))
    }
}

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.instance.clone())
    }

    fn source(&self) -> DataSource {
        DataSource::Recorded
    }

    /// One validation record is replaced by a record of norm 1 in the direction, or against the direction, of a model's
    /// weights or of the difference of two models' weights. Such replacements tend to change performances much; the largest
    /// change is not searched for. If the weights or the difference are 0, the new record is 0.
    fn neighbours(&self, count: u64, key: Key) -> Vec<(String, Vec<f64>)> {
        // Where records belong to agents, no models are stored here: the unit of protection is then the agent, and no
        // single record is replaced.
        if self.models.is_empty() {
            return Vec::new();
        }
        let mut stream = key.stream();
        let (n, d) = (self.validation.len(), self.validation.d);
        let m = n as f64;
        (0..count)
            .map(|_| {
                let record = stream.below(n as u64) as usize;
                let one = &self.models[stream.below(self.models.len() as u64) as usize];
                let other = &self.models[stream.below(self.models.len() as u64) as usize];
                let (sign, apart) = (if stream.bernoulli(0.5) { 1.0 } else { -1.0 }, stream.bernoulli(0.5));
                let mut new: Vec<f64> =
                    one.iter().zip(other).map(|(a, b)| sign * if apart { a - b } else { *a }).collect();
                let norm = dot(&new, &new).sqrt();
                if norm > 0.0 {
                    new.iter_mut().for_each(|x| *x /= norm);
                }
                let old = &self.validation.signed[record * d..][..d];
                let values = self
                    .instance
                    .values
                    .iter()
                    .zip(&self.models)
                    .map(|(value, weights)| {
                        value + (self.loss.at(dot(old, weights)) - self.loss.at(dot(&new, weights))) / m
                    })
                    .collect();
                (
                    format!(
                        "validation record {record} replaced by one of norm at most 1, along a model's weights or the \
                         difference of two models' weights"
                    ),
                    values,
                )
            })
            .collect()
    }
}
