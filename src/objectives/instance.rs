//! One replication's problem, as drawn from the objective: arms, their values, and the surrogate model that describes them.

use super::Noise;
use super::split::Holdings;
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::programs::{ProgramFailure, Programs};
use crate::vocab::{Origin, PublicFact, SearchBox};
use std::fmt;
use std::sync::Arc;

/// The Gaussian-process model that a learner assumes, in the units of the (scaled) inputs and of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Surrogate {
    /// Covariance function.
    pub covariance: Covariance,
    /// Variance of the noise of one outcome.
    pub noise_variance: f64,
    /// Prior mean.
    pub mean: f64,
}

/// The inputs of the arms before any scaling, for tables of results; no party sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct UnscaledInputs {
    /// A name for each column.
    pub names: Vec<String>,
    /// The numbers, row-major: for each arm, one number per column.
    pub rows: Vec<f64>,
}

impl UnscaledInputs {
    /// Inputs whose columns have no names of their own; the columns are then called x1, x2, ...
    #[must_use]
    pub fn coordinates(columns: usize, rows: Vec<f64>) -> Arc<Self> {
        Arc::new(Self { names: (1..=columns).map(|column| format!("x{column}")).collect(), rows })
    }

    /// The numbers of an arm; `None` if there is no such arm.
    #[must_use]
    pub fn of(&self, arm: usize) -> Option<&[f64]> {
        let d = self.names.len();
        self.rows.get(arm * d..(arm + 1) * d)
    }
}

/// A function that can be evaluated at every point of a box. Larger values are better.
pub trait PointFunction: fmt::Debug + Send + Sync {
    /// The noise-free value at a point of the box. The point has one number for each input of the box, in the input's own
    /// units.
    fn at(&self, point: &[f64]) -> f64;

    /// For a function whose values a user's own program computes: a copy of the function for one series of a replication.
    /// The copy asks the `programs` of this series. The original asks no program and is 0 everywhere. `None` if the values
    /// come from no program.
    ///
    /// # Errors
    /// If there is no access to programs.
    fn begun(&self, programs: &Programs) -> Result<Option<Arc<dyn PointFunction>>, ProgramFailure> {
        let _ = programs;
        Ok(None)
    }

    /// Whether values come from a user's own program. Default: they do not.
    fn asks_programs(&self) -> bool {
        false
    }

    /// A copy of the function for one branch of a fork. The copy takes over the dialogue with the program so far, and asks
    /// its further questions in a dialogue of its own. `None` if the function has no dialogue with a program: all branches
    /// may then share the function.
    fn duplicate(&self) -> Option<Arc<dyn PointFunction>> {
        None
    }
}

/// A problem whose queries are the points of a box.
#[derive(Debug)]
pub struct Continuum {
    /// The box.
    pub domain: SearchBox,
    /// The function, which gives the noise-free value at each point of the box.
    pub function: Arc<dyn PointFunction>,
    /// The largest value on the box; 0 if it is not known.
    pub best: f64,
    /// Whether the largest value is known. If not, regret is measured against the largest value that any series of the
    /// replication has found.
    pub best_is_known: bool,
}

impl Clone for Continuum {
    fn clone(&self) -> Self {
        let function = self.function.duplicate().unwrap_or_else(|| Arc::clone(&self.function));
        Self { domain: self.domain.clone(), function, ..*self }
    }
}

impl Continuum {
    /// The same problem for one series of a replication. If the function asks programs, the result asks the programs of
    /// this series.
    ///
    /// # Errors
    /// If there is no access to programs.
    pub fn begun(&self, programs: &Programs) -> Result<Self, ProgramFailure> {
        let function = self.function.begun(programs)?;
        Ok(Self { function: function.unwrap_or_else(|| Arc::clone(&self.function)), ..self.clone() })
    }
}

/// One replication's problem. Larger values are better.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Inputs of the arms, n x d. Where queries are points of a box ([`ProblemFacts::continuum`]), there are no arms, and
    /// the inputs are points of the unit cube that represent the box. These points serve where a finite set is needed,
    /// for example as the candidates among which a federation's agents search. On a box, the surrogate is in units of the
    /// unit cube.
    pub inputs: Arc<Points>,
    /// Noise-free value of each arm.
    pub values: Arc<Vec<f64>>,
    /// Noise of one outcome.
    pub noise: Noise,
    /// The model that a learner may assume.
    pub surrogate: Surrogate,
    /// Further facts about the problem.
    pub background: ProblemFacts,
}

/// Facts about a problem besides its arms, values, noise and surrogate.
#[derive(Clone, Debug, Default)]
pub struct ProblemFacts {
    /// For an objective that draws values on two neighbouring data sets: the noise-free value of each arm on the second
    /// data set. These values serve to check guarantees; no party sees them.
    pub neighbour: Option<Arc<Vec<f64>>>,
    /// Facts about the loss, for an objective whose values are minus the mean of a loss.
    pub tuning: Option<TuningFacts>,
    /// Noise-free value of each arm for each agent, for an objective that gives every agent of a federation its own values.
    pub agents: Option<Arc<Vec<Arc<Vec<f64>>>>>,
    /// Whether values are performances whose largest possible value is 1, such as an accuracy, so that 1 minus a value is an
    /// error.
    pub performances: bool,
    /// For each agent and each arm, whether the agent can measure the arm. `None` if all agents can measure all arms.
    pub points: Option<Arc<Vec<Arc<Vec<bool>>>>>,
    /// Number of records of each agent, for an objective whose records belong to agents; no party sees these numbers.
    pub records: Option<Arc<Vec<u64>>>,
    /// The noise of each agent's outcomes, if the noise differs between agents.
    pub agent_noise: Option<Arc<Vec<Noise>>>,
    /// Which agent holds which records, for an objective on the records of several agents; no party sees this list.
    pub holdings: Option<Arc<Holdings>>,
    /// Facts about the data that are taken as public, such as the numbers by which inputs and values are scaled. The
    /// protocol determines which parties know them.
    pub public: Vec<PublicFact>,
    /// The facts in `public`, by subject. Inputs that the scenario states are only in `public`; see `with_stated_inputs`.
    pub facts: PublicFacts,
    /// The box whose points are the queries; `None` if the queries are arms.
    pub continuum: Option<Continuum>,
    /// The inputs of the arms before scaling; `None` if reports show the inputs of the problem instead.
    pub plain: Option<Arc<UnscaledInputs>>,
    /// Whether the surrogate's hyperparameters were computed from the inputs and values of this problem, by a fit or
    /// otherwise. Sending the surrogate to a party is then a release about all records.
    pub fitted: bool,
}

/// Facts of a problem that are taken as public, by subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicFacts {
    /// Facts about the form of the data: how many records, columns and agents there are, and properties without which the
    /// data could not be used, for example that every cell used is a number.
    pub shape: Vec<PublicFact>,
    /// Facts about inputs, such as the numbers by which inputs are scaled, except fitted length-scales.
    pub inputs: Vec<PublicFact>,
    /// Fitted length-scales, by which inputs are divided: functions of all inputs and all outcomes.
    pub length_scales: Vec<PublicFact>,
    /// Facts about values and outcomes, such as the numbers by which they are scaled.
    pub outcomes: Vec<PublicFact>,
    /// Hyperparameters of the surrogate.
    pub model: Vec<PublicFact>,
    /// Whether an outcome and the inputs of its row are, or may be, computed from common data. A release of the outcome
    /// is then also a release about the row.
    pub outcomes_read_inputs: bool,
}

impl PublicFacts {
    /// The conditions under which the privacy loss about a record holds, if the record's inputs are released.
    #[must_use]
    pub fn input_conditions(&self) -> Vec<String> {
        self.inputs.iter().chain(&self.length_scales).filter_map(PublicFact::condition).collect()
    }

    /// The conditions under which the privacy loss about a record holds, if the record's value or outcome is released. With
    /// `inputs_shown`, the observer also sees the inputs, which are divided by length-scales that may be functions of the
    /// outcomes.
    #[must_use]
    pub fn outcome_conditions(&self, inputs_shown: bool) -> Vec<String> {
        let length_scales = self.length_scales.iter().filter(|_| inputs_shown);
        self.outcomes.iter().chain(length_scales).filter_map(PublicFact::condition).collect()
    }
}

impl ProblemFacts {
    /// Problem facts that consist of these facts, all taken as public; every other field has its default.
    #[must_use]
    pub fn public(facts: PublicFacts) -> Self {
        let PublicFacts { shape, inputs, length_scales, outcomes, model, .. } = &facts;
        let public = [shape, inputs, length_scales, outcomes, model].into_iter().flatten().cloned().collect();
        Self { public, facts, ..Self::default() }
    }

    /// Problem facts for inputs and a model that are stated in the scenario. The list `public` contains the inputs and the
    /// model. The field `facts` contains the model but not the inputs, since a protocol may protect the inputs:
    /// `Outsourced` releases them as records.
    #[must_use]
    pub fn with_stated_inputs() -> Self {
        let model = PublicFact::new("kernel, variance and noise variance of the model", Origin::Stated);
        let mut found = Self::public(PublicFacts { model: vec![model], ..PublicFacts::default() });
        found.public.insert(0, PublicFact::new("inputs to choose from", Origin::Stated));
        found
    }
}

/// A change of one record, which turns a data set into a neighbouring one. The change is applied before anything is
/// computed from the data.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The inputs of a row move by these amounts, in units of the scaled inputs of the unchanged data.
    Inputs {
        /// The row.
        row: usize,
        /// The amounts, one number per column.
        by: Vec<f64>,
    },
    /// The outcome of a row is replaced. The new outcome is given as a value in the scale of the unchanged data.
    Outcome {
        /// The row.
        row: usize,
        /// The new value.
        value: f64,
    },
}

/// The public facts of a tuning problem, in which a value is minus the mean, over `records` validation records, of the loss
/// of a linear model that was trained with L2 regularisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuningFacts {
    /// m, the number of validation records.
    pub records: f64,
    /// g*, the largest minus the smallest loss of one record.
    pub loss_range: f64,
    /// L, the Lipschitz constant of the validation loss in the weights, for records of norm at most 1.
    pub lipschitz: f64,
    /// Smallest regularisation parameter among the settings.
    pub lambda_min: f64,
    /// Largest regularisation parameter that the settings may have.
    pub lambda_max: f64,
}

impl TuningFacts {
    /// The weaker facts of `self` and `by`: for each field, that one of the two numbers which allows the larger differences
    /// between neighbouring data sets.
    #[must_use]
    pub(crate) fn weakened(self, by: Self) -> Self {
        Self {
            records: self.records.min(by.records),
            loss_range: self.loss_range.max(by.loss_range),
            lipschitz: self.lipschitz.max(by.lipschitz),
            lambda_min: self.lambda_min.min(by.lambda_min),
            lambda_max: self.lambda_max.max(by.lambda_max),
        }
    }
}

impl Instance {
    /// One arm of value 0: the placeholder problem of a dry run.
    #[must_use]
    pub fn placeholder() -> Self {
        Self::placeholder_on(None)
    }

    /// As [`Self::placeholder`]; if a domain is given, queries are points of the domain, all of value 0.
    #[must_use]
    pub fn placeholder_on(domain: Option<SearchBox>) -> Self {
        let continuum = domain.map(|domain| Continuum {
            domain,
            function: Arc::new(ZeroFunction),
            best: 0.0,
            best_is_known: true,
        });
        Self {
            inputs: Arc::new(Points::new(1, 1, vec![0.0])),
            values: Arc::new(vec![0.0]),
            noise: Noise::gaussian(0.0),
            surrogate: Surrogate {
                covariance: Covariance::squared_exponential(1.0, 1.0),
                noise_variance: 1.0,
                mean: 0.0,
            },
            background: ProblemFacts { continuum, ..ProblemFacts::default() },
        }
    }

    /// The box whose points are the queries; `None` if the queries are arms.
    #[must_use]
    pub fn continuum(&self) -> Option<&Continuum> {
        self.background.continuum.as_ref()
    }

    /// The largest value; 0 for a box on which it is not known ([`Continuum::best_is_known`]).
    #[must_use]
    pub fn best(&self) -> f64 {
        if let Some(continuum) = self.continuum() {
            return continuum.best;
        }
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The function of a dry run: 0 everywhere.
#[derive(Debug)]
struct ZeroFunction;

impl PointFunction for ZeroFunction {
    fn at(&self, _: &[f64]) -> f64 {
        0.0
    }
}
