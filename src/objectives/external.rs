//! An objective that a user's own program computes, for example by training a model or calling a simulator.

use super::dimension::{self, Dimension};
use super::external_on_box::{self, Recipe};
use super::grid_function::MAX_POINTS;
use super::instance::{Instance, ProblemFacts, Surrogate, UnscaledInputs};
use super::scaling::combinations;
use super::table::Goal;
use super::{
    DataSource, Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources,
    Stated,
};
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::programs::{Program, ProgramSession, Question};
use crate::rng::Key;
use crate::vocab::effort::QUESTION;
use crate::vocab::{Finite, NonNegative, Positive, Problem, SearchBox, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// A program, in any language, that computes the value of a setting. A setting is a combination of the axes' values. The
/// program reads one question per line on standard input and writes one answer per line on standard output; questions and
/// answers are JSON objects. docs/external.md describes the protocol, with examples.
///
/// Regret is measured against the best setting, so the program computes the value of every setting once, before the first
/// replication; noise is added in each replication. A learner receives the settings scaled to [0, 1] along every axis, and
/// the values unscaled. Whether the program reads records is unknown. So its values are treated as computed from the same
/// records in every replication, and the privacy losses of all replications add up. The program runs with the rights of
/// the user who starts the study.
///
/// With `dimensions` in place of `axes`, the domain of the objective is a box. The program is asked for the value of each
/// point when the point is queried. A question gives the point's inputs by their names.
///
/// Example: `External(command: ["python3", "objective.py"], axes: [SettingAxis(low: 0.01, high: 1, values: 5,
/// logarithmic: true)])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// Program and arguments, word by word: `["python3", "my_objective.py"]`. With `axes`, the program is started once for
    /// each objective and seed of a study; with `dimensions`, once for each series of each replication. Its working
    /// directory is the scenario's folder.
    pub command: Vec<String>,
    /// The settings to choose from: every combination of the axes' values, the last axis changing fastest.
    /// Default: none, and `dimensions` states a box.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<SettingAxis>,
    /// The inputs of a box, in order: real or whole numbers and categories. Only the protocols `Local` and `Release` accept
    /// `dimensions`.
    /// Default: none, and `axes` states a finite set of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Vec<Dimension>>,
    /// On a box: the best value that the program can give, in units of its values. Regret is then measured against
    /// `best`, and a replication fails if the program gives a better value. Default: not known. Regret is then measured
    /// against the best value that any series of the replication has found, so the measured regret is no larger than the
    /// true regret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Finite>,
    /// Whether large or small values are sought. Default: `Maximise`.
    #[serde(default)]
    pub goal: Goal,
    /// Variance of the noise of an outcome, also assumed by the learner, in squared units of the values. Default: 0.01.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
    /// Kernel that the learner assumes. Default: `SquaredExponential`.
    #[serde(default)]
    pub kernel: Kernel,
    /// Length-scale of the kernel that the learner assumes, or a list with one for each input; every axis has length 1.
    /// Default: 0.2.
    #[serde(default = "default_length_scale")]
    pub length_scale: LengthScales,
    /// Prior variance that the learner assumes, in squared units of the values. Default: 1.
    #[serde(default = "default_variance")]
    pub variance: Positive,
    /// Prior mean that the learner assumes, in units of the values as the program gives them. Default: 0.
    #[serde(default = "default_mean")]
    pub mean: Finite,
    /// Number of agents of a federation that have their own values: the program is asked for every setting of every agent,
    /// and the regret of an agent is measured against the best of its own values. In other protocols than `Federated`, the
    /// value of a setting is the mean of the agents' values. Default: none; all agents have the same function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<NonZeroUsize>,
    /// How long one answer may take, in wall time. Default: 1 min.
    #[serde(default = "Program::default_timeout")]
    pub timeout: Span,
    /// Further files on which the answers depend, relative to the scenario's folder. Their contents, and those of files
    /// in `command`, are part of the study's identity: after a change of any of these files, the study is a different one.
    /// Default: none.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// The values of one coordinate of a setting, from low to high.
///
/// Example: `SettingAxis(low: 0.01, high: 1, values: 5, logarithmic: true)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingAxis {
    /// Smallest value; above 0 if `logarithmic`.
    pub low: Finite,
    /// Largest value, above `low`.
    pub high: Finite,
    /// Number of values, at least 2.
    pub values: NonZeroUsize,
    /// Whether the values are spaced evenly in their logarithm. Default: false.
    #[serde(default)]
    pub logarithmic: bool,
}

fn default_noise() -> NonNegative {
    NonNegative::new(0.01).expect("0.01 is above 0")
}

fn default_length_scale() -> LengthScales {
    LengthScales::same(0.2).expect("0.2 is above 0")
}

fn default_variance() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

fn default_mean() -> Finite {
    Finite::new(0.0).expect("0 is finite")
}

impl SettingAxis {
    /// The position of every value on the axis, from 0 to 1.
    fn shares(&self) -> Vec<f64> {
        let count = self.values.get();
        (0..count).map(|step| step as f64 / (count - 1) as f64).collect()
    }

    /// The value at the position `share` on the axis: the smallest value at 0, the largest at 1.
    fn at(&self, share: f64) -> f64 {
        let (low, high) = (self.low.get(), self.high.get());
        let value = if self.logarithmic {
            libm::exp(libm::log(low) + share * (libm::log(high) - libm::log(low)))
        } else {
            low + share * (high - low)
        };
        value.clamp(low, high)
    }

    fn problem(&self) -> Option<(&'static str, &'static str, String)> {
        let (low, high) = (self.low.get(), self.high.get());
        if low >= high || !(high - low).is_finite() {
            return Some(("high", "a number above low", high.to_string()));
        }
        if self.logarithmic && low <= 0.0 {
            return Some(("low", "a number above 0, for values spaced in their logarithm", low.to_string()));
        }
        (self.values.get() < 2).then(|| ("values", "at least 2 values", self.values.to_string()))
    }
}

#[derive(Debug)]
struct Ready(Instance);

impl External {
    fn program(&self) -> Program {
        Program { command: self.command.clone(), timeout: self.timeout, files: self.files.clone() }
    }

    /// For each agent, the value of each arm, multiplied by -1 if small values are sought, so that larger is better; only
    /// one list of values if all agents have the same values. `rows` has the settings, row-major.
    fn values(&self, resources: &Resources, rows: &[f64], key: Key) -> Result<Vec<Vec<f64>>, ObjectiveError> {
        let d = self.axes.len();
        let mut opening = Map::new();
        opening.insert("role".to_owned(), json!("objective"));
        opening.insert("arms".to_owned(), json!(rows.len() / d));
        opening.insert("columns".to_owned(), json!(d));
        if let Some(agents) = self.agents {
            opening.insert("agents".to_owned(), json!(agents));
        }
        let programs = resources.programs.of_series("objective");
        let mut dialogue = ProgramSession::open(&programs, self.program(), opening)?;
        let (sign, key) = (self.sign(), key.child("program"));
        let mut of = |agent: Option<usize>| {
            let key = agent.map_or(key, |agent| key.child("agent").index(agent as u64));
            let of_arm = |(arm, inputs): (usize, &[f64])| {
                // The seed is below 2^31, so that the random generators of all languages accept it.
                let seed = key.index(arm as u64).stream().word() >> 33;
                let fields = [("seed", json!(seed)), ("arm", json!(arm)), ("inputs", json!(inputs))];
                let agent = agent.map(|agent| ("agent", json!(agent)));
                let question = Question {
                    ask: "value",
                    fields: fields
                        .into_iter()
                        .chain(agent)
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                    answer: "value",
                    expected: "\"value\": a finite number".to_owned(),
                    read: &|value| value.as_f64().filter(|value| value.is_finite()),
                };
                Ok(sign * dialogue.answer(&question, &Map::new)?)
            };
            rows.chunks(d).enumerate().map(of_arm).collect()
        };
        match self.agents {
            None => Ok(vec![of(None)?]),
            Some(agents) => (0..agents.get()).map(|agent| of(Some(agent))).collect(),
        }
    }

    /// -1 if small values are sought, else 1.
    fn sign(&self) -> f64 {
        if self.goal == Goal::Minimise { -1.0 } else { 1.0 }
    }
}

impl Objective for External {
    fn programs(&self) -> Vec<Program> {
        vec![self.program()]
    }

    fn is_of_agents(&self) -> bool {
        self.agents.is_some()
    }

    fn is_always_the_same(&self) -> bool {
        true
    }

    fn problems(&self, _: &Resources) -> Vec<Problem> {
        let mut problems = self.program().problems();
        if let Some(dimensions) = &self.dimensions {
            let mut refuse = |field: &str, found: String| {
                let expected = "only `dimensions`: axes and agents need a finite list of settings, which a box does not have";
                problems.push(Problem::wrong(
                    field,
                    expected,
                    found,
                    "leave out either this field or `dimensions`",
                ));
            };
            if !self.axes.is_empty() {
                refuse("axes", format!("{} axes", self.axes.len()));
            }
            if let Some(agents) = self.agents {
                refuse("agents", format!("{agents} agents"));
            }
            problems.extend(dimension::problems(dimensions));
            problems.extend(self.length_scale.problem("length_scale", dimensions.len()));
            return problems;
        }
        if self.best.is_some() {
            problems.push(Problem::wrong(
                "best",
                "no `best` with `axes`: the program is asked for every setting",
                "a value",
                "leave it out",
            ));
        }
        let points =
            self.axes.iter().try_fold(1usize, |product, axis| product.checked_mul(axis.values.get()));
        if let (Some(agents), Some(points)) = (self.agents, points)
            && points.checked_mul(agents.get()).is_none_or(|values| values > MAX_POINTS)
        {
            let cure = "the program is asked for each setting of each agent: write fewer agents, or fewer values of the axes";
            let expected = format!("at most {MAX_POINTS} settings of all agents together");
            problems.push(Problem::wrong(
                "agents",
                expected,
                format!("{agents} agents with {points} settings each"),
                cure,
            ));
        }
        if self.axes.is_empty() || points.is_none_or(|points| points > MAX_POINTS) {
            let counts = self.axes.iter().map(|axis| axis.values.to_string()).collect::<Vec<_>>().join(" x ");
            problems.push(Problem::wrong(
                "axes",
                format!("at least one axis and at most {MAX_POINTS} settings in all"),
                if counts.is_empty() { "no axis".to_owned() } else { counts },
                "write axes: [(low: 0, high: 1, values: 20)]",
            ));
        }
        problems.extend(self.length_scale.problem("length_scale", self.axes.len()));
        for (index, axis) in self.axes.iter().enumerate() {
            if let Some((field, expected, found)) = axis.problem() {
                let cure = "write an axis as in (low: 0.001, high: 10, values: 20, logarithmic: true)";
                problems.push(Problem::wrong(format!("axes[{index}].{field}"), expected, found, cure));
            }
        }
        problems
    }

    /// The running time of the program is unknown. With `axes`, the estimate assumes that the program answers each
    /// question about a setting within `QUESTION` seconds. With `dimensions`, the estimate does not count the questions.
    fn extent(&self, _: &Resources) -> Extent {
        if let Some(dimensions) = &self.dimensions {
            let inputs = dimension::domain(dimensions).width() as u64;
            return Extent::of(external_on_box::SAMPLE as u64, inputs).of_box();
        }
        let mut extent =
            Extent::of_values("axes", &self.axes.iter().map(|axis| axis.values.get()).collect::<Vec<_>>());
        extent.prepared.seconds +=
            QUESTION * extent.arms as f64 * self.agents.map_or(1, NonZeroUsize::get) as f64;
        extent
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.noise_variance.get().sqrt())
    }

    fn domain(&self) -> Option<SearchBox> {
        let dimensions = self.dimensions.as_ref()?;
        dimension::problems(dimensions).is_empty().then(|| dimension::domain(dimensions))
    }

    fn finite_instead(&self) -> (&'static str, &'static str) {
        ("dimensions", "write axes: [(low: 0, high: 1, values: 20)] in place of `dimensions`")
    }

    fn best_is_known(&self) -> bool {
        self.dimensions.is_none() || self.best.is_some()
    }

    fn unit(&self) -> String {
        "units of the program's values".to_owned()
    }

    fn prepare(
        &self,
        resources: &Resources,
        _: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let domain = self.dimensions.as_deref().map(dimension::domain);
        let spread = |inputs: &[f64]| match &domain {
            Some(domain) => domain.of_coordinates(inputs),
            None => inputs.to_vec(),
        };
        let surrogate = Surrogate {
            covariance: Covariance {
                shape: self.kernel.shape(),
                length_scale: self.length_scale.of_coordinates(spread),
                variance: self.variance.get(),
            },
            noise_variance: self.noise_variance.get(),
            mean: self.sign() * self.mean.get(),
        };
        let noise = Noise::gaussian(self.noise_variance.get().sqrt());
        if let Some(domain) = domain {
            let sign = self.sign();
            let best = self.best.map(|best| sign * best.get());
            let recipe = Recipe { program: self.program(), domain, sign, best };
            return Ok(external_on_box::prepared(recipe, surrogate, noise, key));
        }
        let shares: Vec<Vec<f64>> = self.axes.iter().map(SettingAxis::shares).collect();
        let values =
            |(axis, shares): (&SettingAxis, &Vec<f64>)| shares.iter().map(|share| axis.at(*share)).collect();
        let settings = combinations(&self.axes.iter().zip(&shares).map(values).collect::<Vec<_>>());
        let all = self.values(resources, &settings, key)?;
        let rows = combinations(&shares);
        let mean = |arm: usize| all.iter().map(|values| values[arm]).sum::<f64>() / all.len() as f64;
        let values = match all.as_slice() {
            [values] => values.clone(),
            _ => (0..rows.len() / self.axes.len()).map(mean).collect(),
        };
        let mut background = ProblemFacts {
            plain: Some(UnscaledInputs::coordinates(self.axes.len(), settings)),
            ..ProblemFacts::with_stated_inputs()
        };
        background.facts.outcomes_read_inputs = true;
        background.agents = self.agents.map(|_| Arc::new(all.into_iter().map(Arc::new).collect()));
        Ok(Box::new(Ready(Instance {
            inputs: Arc::new(Points::new(values.len(), self.axes.len(), rows)),
            values: Arc::new(values),
            noise,
            surrogate,
            background,
        })))
    }
}

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.0.clone())
    }

    fn source(&self) -> DataSource {
        DataSource::Recorded
    }
}
