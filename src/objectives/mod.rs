//! The problems to be optimised: one objective per file.
//!
//! An objective is a recipe. [`Objective::prepare`] does the work that all replications share (read a table, fit
//! hyperparameters); [`Prepared::realise`] draws one replication's problem. Every problem here is a finite set of arms
//! (rows of inputs) with a noise-free value each; optimisation maximises, so a minimised output is negated.

mod branin;
mod correlation;
mod external;
mod federation;
mod gp_sample;
mod hyperparameters;
mod instance;
mod multi_task_sample;
pub mod noise;
mod rkhs_sum;
mod scaling;
mod table;
mod tuning;

pub use branin::BraninHoo;
pub use correlation::Correlation;
pub use external::{External, SettingAxis};
pub use federation::{
    Axis, AxisValues, FederatedModel, FederatedTuning, FitError, HeldOut, LogisticRegression, RbfSvm, Score,
};
pub use gp_sample::GpSample;
pub use hyperparameters::{Fitted, Hyperparameters};
pub use instance::{Background, Change, Facts, Instance, Surrogate, TuningFacts};
pub use multi_task_sample::MultiTaskSample;
pub use noise::{Gaussian, Noise, NoiseLaw, NoiseMember, NoiseModel, Recorded, StudentT, Uniform, Weibull};
pub use rkhs_sum::{Kernel, RkhsSum};
pub use table::{Goal, InputScale, Output, OutputScale, Table, TableError, Transform};
pub use tuning::{Label, Records, Training, TrainingError, Tuning, ValidationLoss, models, performance};

use crate::gp::GpError;
use crate::programs::{ProgramFailure, Programs};
use crate::rng::Key;
use crate::vocab::{Probability, Problem};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The folders in which an objective searches files.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The folder of the scenario file; relative paths of the scenario begin here.
    pub base: PathBuf,
    /// A further folder, for files that are not in the scenario's folder.
    pub data: Option<PathBuf>,
    /// The programs that an objective may ask. Default: none.
    pub programs: Programs,
    /// A folder for scores of trained models, by the hash of all that they depend on. `None`: scores are not kept.
    pub models: Option<PathBuf>,
}

impl Resources {
    /// The place of a file that a scenario names: beside the scenario if it is there, else in the further folder.
    #[must_use]
    pub fn place(&self, file: &Path) -> PathBuf {
        let beside = self.base.join(file);
        match &self.data {
            Some(data) if !beside.exists() => data.join(file),
            Some(_) | None => beside,
        }
    }
}

/// An objective that cannot be prepared, though its scenario was valid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A file changed since the scenario was checked.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A prior from which nothing can be drawn.
    #[error(transparent)]
    Model(#[from] GpError),
    /// A model that is to be tuned could not be trained.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The models of an agent could not be fitted.
    #[error("agent {agent}: {error}")]
    Agent {
        /// The agent.
        agent: String,
        /// Why.
        error: FitError,
    },
    /// Hyperparameters could not be fitted to a table.
    #[error("the likelihood fit of {} failed: {error}", file.display())]
    Fit {
        /// The table.
        file: PathBuf,
        /// Why.
        error: GpError,
    },
    /// A program gave no answer.
    #[error(transparent)]
    Program(#[from] ProgramFailure),
    /// An objective that is the same everywhere.
    #[error("{name} is constant on this grid")]
    Constant {
        /// Its name.
        name: &'static str,
    },
    /// Any other reason, in words: for objectives outside this crate.
    #[error("{0}")]
    Other(String),
}

/// The behaviour of an objective recipe.
pub trait Objective: Send + Sync {
    /// What is wrong with the recipe and with the files that it names; paths begin below the recipe.
    fn problems(&self, resources: &Resources) -> Vec<Problem>;

    /// Files whose contents the objective depends on.
    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        let _ = resources;
        Vec::new()
    }

    /// k1, the correlation of the values on two neighbouring data sets at the same arm, where the objective draws both.
    fn neighbour_correlation(&self) -> Option<Probability> {
        None
    }

    /// Does the work that all replications share. `fitted` are hyperparameters of an earlier preparation, taken
    /// instead of fitting again; `key` is for draws that all replications share.
    ///
    /// # Errors
    /// [`ObjectiveError`].
    fn prepare(
        &self,
        resources: &Resources,
        fitted: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError>;
}

/// Where the values and inputs of an objective come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// Drawn anew in every replication: new data each time.
    Drawn,
    /// Computed from records that were read from a file, and so the same in every replication: the losses of all runs
    /// on them add up.
    Recorded,
    /// Those records themselves, one per row; [`Prepared::changed`] is then available.
    Records,
}

impl DataSource {
    /// Whether the data to be protected are the same in every replication.
    #[must_use]
    pub fn is_same_in_all(self) -> bool {
        self != Self::Drawn
    }
}

/// An objective that is ready to be realised.
pub trait Prepared: fmt::Debug + Send + Sync {
    /// One replication's problem; `key` is that replication's node for its objective.
    ///
    /// # Errors
    /// [`ObjectiveError`].
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError>;

    /// Values of every arm on neighbouring data sets, each with a description of the difference, for the auditor: at
    /// most `count` of them. Empty if values depend on no records.
    fn neighbours(&self, count: u64, key: Key) -> Vec<(String, Vec<f64>)> {
        let _ = (count, key);
        Vec::new()
    }

    /// Where values and inputs come from. An objective that reads files must state it: what is `Drawn` is nobody's data, so that
    /// losses of several runs are not added up, and outcomes are no releases about the rows that they belong to.
    fn source(&self) -> DataSource {
        DataSource::Drawn
    }

    /// The problem on a neighbouring data set, for the auditor: one record is changed, and the scales of inputs and
    /// values are computed again. (Hyperparameters are fitted again only for moved inputs, which are divided by them.)
    /// `None` without records, or if the record to be changed does not exist.
    fn changed(&self, change: &Change) -> Option<Result<Instance, ObjectiveError>> {
        let _ = change;
        None
    }

    /// Hyperparameters that were fitted, so that a replay need not fit again.
    fn fitted(&self) -> Option<&Fitted> {
        None
    }
}

crate::family! {
    /// What is to be optimised.
    pub struct ObjectiveModel(ObjectiveMember): dyn Objective, "objective" {
        GpSample(GpSample),
        MultiTaskSample(MultiTaskSample),
        BraninHoo(BraninHoo),
        Table(Table),
        RkhsSum(RkhsSum),
        Correlation(Correlation),
        Tuning(Tuning),
        FederatedTuning(FederatedTuning),
        External(External),
    }
}
