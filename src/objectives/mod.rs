//! The problems to be optimised: one objective per file.
//!
//! An objective is a recipe. [`Objective::prepare`] does the work that all replications share (read a table, fit
//! hyperparameters); [`Prepared::realise`] draws one replication's problem. A problem is a finite set of arms (rows of
//! inputs) with a noise-free value each, or a function on a box ([`Continuum`]). Optimisation maximises, so an output
//! that is to be minimised is negated.

mod branin;
mod continued;
mod correlation;
mod dimension;
mod extent;
mod external;
mod external_on_box;
mod federation;
mod functions;
mod gp_sample;
mod grid_function;
mod hyperparameters;
mod instance;
mod kept_files;
mod kernel;
mod lattice;
mod length_scales;
mod multi_task_sample;
pub mod noise;
mod rkhs_sum;
mod scaling;
mod split;
mod stated;
mod table;
mod tuning;

pub use branin::BraninHoo;
pub use correlation::Correlation;
pub use dimension::{Dimension, DimensionScale};
pub use extent::Extent;
pub use external::{External, SettingAxis};
pub use federation::{
    Axis, AxisValues, FederatedModel, FederatedTuning, FitError, HeldOut, LogisticRegression, RbfSvm, Score,
};
pub use functions::{DomainPoints, Function, TestFunction};
pub use gp_sample::GpSample;
pub use hyperparameters::{Fitted, Hyperparameters, LogNormalPrior};
pub use instance::{
    Change, Continuum, Instance, PointFunction, ProblemFacts, PublicFacts, Surrogate, TuningFacts,
    UnscaledInputs,
};
pub use kept_files::KeptFiles;
pub use kernel::Kernel;
pub use length_scales::LengthScales;
pub use multi_task_sample::MultiTaskSample;
pub use noise::{Gaussian, Noise, NoiseLaw, NoiseMember, NoiseModel, Recorded, StudentT, Uniform, Weibull};
pub use rkhs_sum::RkhsSum;
pub use split::{AgentHoldings, FeatureShift, HoldingDistances, Holdings, Labels, Sizes, Split};
pub use stated::{Stated, StatedNoise};
pub(crate) use table::CsvTable;
pub use table::{
    BadCell, Formula, Goal, InputScale, Missing, Output, OutputScale, Quantity, Table, TableError, Transform,
};
pub use tuning::{Label, Records, Training, TrainingError, Tuning, ValidationLoss, models, performance};

use crate::gp::GpError;
use crate::programs::{Program, ProgramFailure, ProgramUse, Programs};
use crate::rng::Key;
use crate::vocab::{DataFolders, Memory, Probability, Problem, SearchBox};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The folders and programs that an objective may use.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The folder of the scenario file; relative paths of the scenario begin here.
    pub base: PathBuf,
    /// The folder of `--data`, for files that are not in the scenario's folder.
    pub data: Option<PathBuf>,
    /// The user's own programs that an objective may run. Default: none.
    pub programs: Programs,
    /// What the scenario is used for. The use decides which of the scenario's programs are started; only these programs
    /// must exist. Default: to play replications, for which all programs are started.
    pub starts: ProgramUse,
    /// How much memory a run may take, and how many replications run at the same time.
    pub limits: RunLimits,
    /// A folder in which scores of trained models are kept, each file under a hash of everything on which its scores
    /// depend; `None` if scores are not kept.
    pub models: Option<PathBuf>,
    /// The contents of files that were read, if contents are kept. Default: they are not kept, and every objective
    /// reads its files.
    pub contents: KeptFiles,
}

/// How much memory a run may take, and how many replications run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The largest estimated memory of a run; a scenario whose estimate is larger is refused.
    /// Default: 4 GiB, which is half the memory of a small laptop.
    pub memory: Memory,
    /// Number of replications at the same time. Default: 1.
    pub threads: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { memory: Memory(4 << 30), threads: 1 }
    }
}

impl RunLimits {
    /// No limit on memory.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { memory: Memory(u64::MAX), threads: 1 }
    }
}

impl Resources {
    /// The folders in which files are looked for.
    #[must_use]
    pub fn folders(&self) -> DataFolders {
        DataFolders { base: self.base.clone(), data: self.data.clone() }
    }

    /// The path of a file that a scenario names: in the scenario's folder if it exists there, else in the folder of
    /// `--data`.
    #[must_use]
    pub fn place(&self, file: &Path) -> PathBuf {
        self.folders().place(file)
    }
}

/// Why an objective cannot be prepared, or its problem cannot be drawn, shifted or computed from changed data, though its
/// scenario was valid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A table cannot be used, for example because its file changed after the scenario was checked.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No function can be drawn from the prior.
    #[error(transparent)]
    Model(#[from] GpError),
    /// A model whose hyperparameters are tuned could not be trained.
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
    /// All arms have the same value.
    #[error("{name} is constant on this grid")]
    Constant {
        /// Name of the objective.
        name: &'static str,
    },
    /// Any other reason, in words; for objectives of other crates.
    #[error("{0}")]
    Other(String),
}

/// The behaviour of an objective recipe.
pub trait Objective: Send + Sync {
    /// What is wrong with the recipe and with the files that it names; paths are relative to the recipe.
    fn problems(&self, resources: &Resources) -> Vec<Problem>;

    /// Files whose contents the objective depends on.
    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        let _ = resources;
        Vec::new()
    }

    /// The user's programs that the objective runs, by a [`ProgramSession`](crate::programs::ProgramSession) over
    /// [`Resources::programs`]. Each program in this list is announced before it is started, and is part of a study's
    /// identity. `check` verifies that the program exists.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// The unit of the objective's values, and so of regret, in words ("standard deviations of price"). Default: "units
    /// of the objective".
    fn unit(&self) -> String {
        "units of the objective".to_owned()
    }

    /// Whether [`Prepared::realise`] gives the same values for every key, so that agents of a federation cannot differ by
    /// drawing their own functions. Default: false, each key gives other values.
    fn is_always_the_same(&self) -> bool {
        false
    }

    /// Whether the objective has values of its own for each agent of a federation. Default: false, each agent draws its
    /// function.
    fn is_of_agents(&self) -> bool {
        false
    }

    /// Whether the objective is only for protocols whose agents have objectives of their own. Default: false.
    fn is_for_agents_only(&self) -> bool {
        false
    }

    /// Whether the objective's records belong to agents of a federation, so that each agent has its own number of records.
    /// Default: false.
    fn divides_records(&self) -> bool {
        false
    }

    /// Whether the objective states which arms each agent of a federation can measure.
    /// Default: false, agents can measure all arms.
    fn has_own_points(&self) -> bool {
        false
    }

    /// Whether some inputs are categories, along which no function can be shifted. Default: false.
    fn has_categories(&self) -> bool {
        false
    }

    /// Number of points along each input, if the arms are a regular grid. Shifts are then rounded to whole steps of the
    /// grid, and [`Prepared::shifted`] computes shifted functions from values beyond the grid.
    /// Default: `None`, shifts are not rounded.
    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        None
    }

    /// Whether [`Prepared::shifted`] computes shifted functions. If not, the surrogate continues the shifted functions of a
    /// federation's agents between and beyond the arms. Default: true if there is a [`Self::shift_grid`].
    fn continues(&self) -> bool {
        self.shift_grid().is_some()
    }

    /// k1, the correlation of the values on two neighbouring data sets at the same arm; `None` unless the objective draws
    /// the values on both data sets.
    fn neighbour_correlation(&self) -> Option<Probability> {
        None
    }

    /// What the recipe alone states about the problem, before anything is read or drawn. Default: nothing.
    fn stated(&self) -> Stated {
        Stated::default()
    }

    /// The box whose points are the queries of the objective's problems ([`ProblemFacts::continuum`]). Protocols and
    /// learners that need a finite set of arms refuse an objective with a box. Default: none, queries are arms.
    fn domain(&self) -> Option<SearchBox> {
        None
    }

    /// For an objective on a box: the field that states the box, and how to write a finite set of arms instead.
    fn finite_instead(&self) -> (&'static str, &'static str) {
        ("points", "write points: Sobol(1024), for example")
    }

    /// Whether the largest value of the objective's problems is known before they are searched; on a box it may be
    /// unknown.
    /// Default: true, it is known.
    fn best_is_known(&self) -> bool {
        true
    }

    /// The points of the unit cube, each with d coordinates, at which the function on the box ([`Self::domain`]) is largest.
    /// Empty unless the function can be shifted: all inputs are real numbers on a linear scale, and up to one side length
    /// beyond the box the function is defined and has no larger value. The agents of a federation can then have shifted
    /// functions whose largest value is known. Default: none.
    fn best_points(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// The size of the problems that the objective creates, and the memory and time for creating them, estimated from the
    /// counts of a recipe without errors. Default: the extent of 1,000 arms with two inputs.
    fn extent(&self, resources: &Resources) -> Extent {
        let _ = resources;
        Extent::default()
    }

    /// Does the work that all replications share. `fitted` are hyperparameters of an earlier preparation, used instead
    /// of a new fit; `key` is for draws that all replications share.
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
    /// Drawn anew in every replication, or computed from no records at all.
    Drawn,
    /// Computed from records, and so the same in every replication: the privacy losses about a record add up over all
    /// replications.
    Recorded,
    /// The records of a file themselves, one per arm. [`Prepared::changed`] is then available, and privacy losses add up as
    /// for `Recorded`.
    Records,
}

impl DataSource {
    /// Whether the protected data are the same in every replication.
    #[must_use]
    pub fn is_same_in_all(self) -> bool {
        self != Self::Drawn
    }
}

/// An objective after the work that all replications share.
pub trait Prepared: fmt::Debug + Send + Sync {
    /// One replication's problem; `key` is the node of the seed tree for that replication's objective.
    ///
    /// # Errors
    /// [`ObjectiveError`].
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError>;

    /// The function f of [`Prepared::realise`] with the same key, shifted: for each of the shifts s, the value f(x - s) for
    /// every arm x. A shift has one number for each input, in units of the domain's side, and is rounded to whole steps of
    /// [`Objective::shift_grid`], if there is one. `None` if functions are known at the arms only. The surrogate then
    /// continues the shifted functions of a federation's agents between and beyond the arms.
    fn shifted(&self, key: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let _ = (key, shifts);
        None
    }

    /// At most `count` neighbouring data sets for an audit, each as a description of the difference and the value of every
    /// arm. Empty if values depend on no records, or if the objective does not compute its values on neighbouring data
    /// sets.
    fn neighbours(&self, count: u64, key: Key) -> Vec<(String, Vec<f64>)> {
        let _ = (count, key);
        Vec::new()
    }

    /// Where values and inputs come from. An objective that reads files must state this source: with the default, `Drawn`,
    /// privacy losses of several replications are not added up, and the inputs of the records are not listed among what is
    /// taken as public. The source does not decide whether an outcome is also recorded as a release about its row: that
    /// depends on `PublicFacts::outcomes_read_inputs`.
    fn source(&self) -> DataSource {
        DataSource::Drawn
    }

    /// The problem on a neighbouring data set, for an audit: one record is changed, and the scales of inputs and values
    /// are computed again. Hyperparameters are fitted again if inputs change, but not if an outcome changes. `None` if there
    /// are no records, or if the record to be changed does not exist.
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
        TestFunction(TestFunction),
        Table(Table),
        RkhsSum(RkhsSum),
        Correlation(Correlation),
        Tuning(Tuning),
        FederatedTuning(FederatedTuning),
        External(External),
    }
}
