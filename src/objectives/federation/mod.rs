//! A federation on the records of a file: every agent tunes the same kind of model on its own records.

mod axis;
mod data;
mod logistic;
mod measured;
mod model;
mod platt;
mod support_vectors;
mod trained;
#[cfg(feature = "svm")]
mod trained_svm;
mod unfitted;
#[cfg(not(feature = "svm"))]
mod without_svm;

pub use axis::{Axis, AxisValues};
pub use data::HeldOut;
pub use logistic::LogisticRegression;
pub use model::FederatedModel;
pub use support_vectors::{RbfSvm, Score};
pub use unfitted::FitError;

use super::instance::{Instance, ProblemFacts, PublicFacts, Surrogate};
use super::split::{self, Held, Holdings, Split};
use super::table::{Quantity, TableError, TableFields};
use super::{
    DataSource, Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources,
    Stated,
};
use crate::rng::Key;
use crate::vocab::effort::{COVARIANCE, MULTIPLY, NUMBER};
use crate::vocab::{Effort, Finite, NonNegative, Origin, Positive, Problem, PublicFact};
use data::{AgentRecords, Agents, Columns};
use measured::{mean, noise_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trained::Trained;
#[cfg(not(feature = "svm"))]
use without_svm as trained_svm;

/// The performance of a model for each setting of its hyperparameters, measured for each agent of a federation on the
/// agent's own records. An arm is a setting, a point of a grid in the unit cube. For an agent, the arm's value is the
/// performance on the agent's held-out records.
///
/// The objective is for the protocol `Federated`, with at most as many agents as the columns in `agent` identify, or
/// exactly as many as `split` states. In other protocols a value is the mean over all agents. Sources: Dai, Low and
/// Jaillet 2020, section 5, and 2021, section 5.2 (activity recognition, landmine detection).
///
/// Example: `FederatedTuning(file: "activity.csv", agent: ["subject", "side"], label: "activity", inputs:
/// ["ax_std", "ay_std"], model: LogisticRegression(lambda: Axis(low: 0.01, high: 1, values: 3), steps: Axis(low: 1,
/// high: 4, values: 2), intercept: Axis(low: 0.1, high: 1, values: 2)), prior_mean: 0.6, prior_sd: 0.2)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FederatedTuning {
    /// The file, relative to the scenario's own folder or to the folder of `--data`. First line: names of columns.
    pub file: PathBuf,
    /// Names of the columns whose values together identify an agent; required unless `split` divides the records.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    /// Agents among which the records are divided at random, in place of the columns `agent`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Split>,
    /// Names of the feature columns; all their cells are numbers.
    pub inputs: Vec<String>,
    /// Name of the column with the class.
    pub label: String,
    /// The classes, if they are public knowledge; every cell of `label` is one of them. Default: the classes that occur
    /// in any agent's records. With this default, all agents' models depend on which classes occur, so privacy losses
    /// hold only if these classes are public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Which records are held out from training. Default: the last half of each agent's records of each class.
    #[serde(default)]
    pub held_out: HeldOut,
    /// The model, and the values of its hyperparameters.
    pub model: FederatedModel,
    /// Standard deviation of the noise of an outcome, in units of the performance. Default: 0.
    #[serde(default = "no_noise")]
    pub noise_sd: NonNegative,
    /// Mean of the prior that agents assume, in units of the performance. It is a public guess.
    pub prior_mean: Finite,
    /// Standard deviation of the prior, in units of the performance. It is a public guess.
    pub prior_sd: Positive,
    /// Kernel that agents assume. Default: `SquaredExponential`.
    #[serde(default, skip_serializing_if = "Kernel::is_default")]
    pub kernel: Kernel,
    /// Length-scale of the prior in the unit cube of settings, or a list with one for each hyperparameter. Default: 0.3.
    #[serde(default = "default_length_scale")]
    pub length_scale: LengthScales,
    /// Standard deviation of the noise that agents assume, in units of the performance. Default: 0.01.
    #[serde(default = "default_assumed_noise")]
    pub assumed_noise_sd: Positive,
}

fn no_noise() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

fn default_length_scale() -> LengthScales {
    LengthScales::same(0.3).expect("0.3 is above 0")
}

fn default_assumed_noise() -> Positive {
    Positive::new(0.01).expect("0.01 is above 0")
}

/// Largest number of settings: for every setting, a model is trained for each agent.
const MAX_SETTINGS: usize = 2000;

/// Names the objective's fields in messages about its files, which may be in the scenario's folder or in the folder of
/// `--data`.
struct Named<'a> {
    tuning: &'a FederatedTuning,
    resources: &'a Resources,
}

impl Named<'_> {
    /// The fields of `held_out` that name columns of the second file (the file of `held_out`), each with the column's name;
    /// `None` if `file` is not the second file, or is the first file too.
    fn split(&self, file: &Path) -> Option<[(&'static str, &str); 3]> {
        match &self.tuning.held_out {
            HeldOut::Column { file: split, agent, row, column, .. }
                if self.resources.place(split) == file && self.resources.place(&self.tuning.file) != file =>
            {
                Some([("agent", agent), ("row", row), ("column", column)])
            }
            HeldOut::Column { .. } | HeldOut::LastOfEachClass { .. } => None,
        }
    }
}

impl TableFields for Named<'_> {
    fn file(&self, file: &Path) -> String {
        let field = if self.split(file).is_some() { "held_out.Column.file" } else { "file" };
        field.to_owned()
    }

    fn column(&self, file: &Path, column: &str) -> String {
        if let Some(columns) = self.split(file) {
            let found = columns.iter().find(|(_, name)| *name == column);
            return found
                .map_or_else(|| "held_out".to_owned(), |(field, _)| format!("held_out.Column.{field}"));
        }
        let place = |field: &str, names: &[String]| {
            let index = names.iter().position(|name| name == column)?;
            Some(format!("{field}[{index}]"))
        };
        let inputs = place("inputs", &self.tuning.inputs);
        inputs.or_else(|| place("agent", &self.tuning.agent)).unwrap_or_else(|| "label".to_owned())
    }

    fn constant(&self, _: &Path, _: &Quantity) -> (String, &'static str, &'static str) {
        ("label".to_owned(), "records of several classes", "name another column")
    }
}

impl FederatedTuning {
    fn read(&self, resources: &Resources) -> Result<Arc<Agents>, TableError> {
        let columns =
            Columns { agent: &self.agent, inputs: &self.inputs, label: &self.label, classes: &self.classes };
        let file = resources.place(&self.file);
        let arguments = (&file, columns, &self.held_out, &resources.base, &resources.data);
        let read = || data::read(&file, columns, &self.held_out, resources);
        resources.contents.read(&arguments, read)
    }

    /// Facts taken as public. Who holds which records is not among them.
    fn facts(&self) -> PublicFacts {
        let classes = if self.classes.is_empty() { Origin::ComputedFromData } else { Origin::Stated };
        let mut shape = split::facts(&self.split);
        shape.insert(1, PublicFact::new("the classes of all agents' records", classes));
        PublicFacts {
            shape,
            inputs: vec![PublicFact::new("settings to choose from", Origin::Stated)],
            length_scales: Vec::new(),
            outcomes: Vec::new(),
            model: vec![PublicFact::new("prior and noise variance that agents assume", Origin::Stated)],
            outcomes_read_inputs: false,
        }
    }

    /// The records of the agents, divided at random if the scenario states `split`.
    fn read_divided(&self, resources: &Resources, key: &Key) -> Result<Agents, TableError> {
        let read = Arc::unwrap_or_clone(self.read(resources)?);
        let HeldOut::LastOfEachClass { share } = self.held_out else { return Ok(read) };
        Ok(data::divided(read, (&self.split, &self.inputs), share, key))
    }

    /// Problems of the fields `agent` and `split`. A scenario states exactly one of these two fields.
    fn split_problems(&self) -> Vec<Problem> {
        if self.split.is_empty() {
            let cure = "name at least one column, or divide the records by `split`";
            let none = || Problem::wrong("agent", "at least one column", "none", cure);
            return self.agent.is_empty().then(none).into_iter().collect();
        }
        let mut problems = split::problems(&self.agent, &self.split, &self.inputs);
        if let HeldOut::Column { .. } = self.held_out {
            let expected = "a share of each agent's records, since agents are drawn by `split`";
            let cure = "write LastOfEachClass(share: 0.5)";
            problems.push(Problem::wrong("held_out", expected, "a column of a file", cure));
        }
        problems
    }

    /// The first problem of the classes or of an agent's training and held-out records, if there is one. With `split`,
    /// the records are not yet divided among agents, so of the records only their number is checked.
    fn record_problems(&self, read: &Agents) -> Option<Problem> {
        let two = matches!(self.model, FederatedModel::RbfSvm(_));
        let classes = read.classes.len();
        if classes < 2 || (two && classes > 2) {
            let expected = if two { "two classes" } else { "at least two classes" };
            let cure = "name another column";
            return Some(Problem::wrong("label", expected, classes.to_string(), cure));
        }
        if !self.split.is_empty() {
            return split::too_few(&self.split, read.agents.iter().map(|agent| agent.classes.len()).sum());
        }
        let lacks_records = |records: &&AgentRecords| {
            let kinds = |places: Vec<usize>| {
                let mut kinds: Vec<usize> = places.iter().map(|&place| records.classes[place]).collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds.len()
            };
            kinds(records.places(true)) < 2 || kinds(records.places(false)) == 0
        };
        read.agents.iter().find(lacks_records).map(|records| {
            let found = format!("too few for agent {}", records.name);
            let expected = "records of two classes for training, and some held out, for every agent";
            Problem::wrong("held_out", expected, found, "hold out another share, or drop the agent")
        })
    }
}

fn held_by(read: &Agents) -> Vec<Held<'_>> {
    read.agents.iter().map(AgentRecords::held).collect()
}

#[derive(Debug)]
struct Ready(Instance);

impl Objective for FederatedTuning {
    fn is_of_agents(&self) -> bool {
        true
    }

    fn divides_records(&self) -> bool {
        true
    }

    fn is_always_the_same(&self) -> bool {
        true
    }

    fn problems(&self, resources: &Resources) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.inputs.is_empty() {
            problems.push(Problem::wrong(
                "inputs",
                "at least one column",
                "none",
                "name at least one column",
            ));
        }
        problems.extend(self.split_problems());
        let axes = self.model.axes();
        for (path, axis) in &axes {
            problems.extend(axis.problem().map(|problem| problem.below(&format!("model.{path}"))));
        }
        if let FederatedModel::RbfSvm(model) = &self.model {
            // Where only stored results are read, as for the report of a finished run, no model is trained, so a build of
            // `subrosa` without the feature `svm` is accepted. In this case the user's programs are not started either:
            // their answers are recorded.
            let build = RbfSvm::problem_of_build().filter(|_| !resources.programs.are_recorded());
            problems.extend(
                build.into_iter().chain(model.problem()).map(|problem| problem.below("model.RbfSvm")),
            );
        }
        if self.model.is_random() && self.noise_sd.get() > 0.0 {
            let expected = "0, because scores by Platt scaling are already random";
            let found = self.noise_sd.to_string();
            problems.push(Problem::wrong("noise_sd", expected, found, "leave it out"));
        }
        let settings = axes.iter().map(|(_, axis)| axis.count()).fold(1usize, usize::saturating_mul);
        if settings > MAX_SETTINGS {
            let cure = "every agent trains a model for every setting: state fewer values";
            let expected = format!("at most {MAX_SETTINGS} settings");
            problems.push(Problem::wrong("model", expected, settings.to_string(), cure));
        }
        problems.extend(self.length_scale.problem("length_scale", axes.len()));
        match self.read(resources) {
            Err(error) => problems.push(error.problem(&Named { tuning: self, resources })),
            Ok(read) => problems.extend(self.record_problems(&read)),
        }
        problems
    }

    fn files(&self, resources: &Resources) -> Vec<PathBuf> {
        let mut files = vec![resources.place(&self.file)];
        if let HeldOut::Column { file, .. } = &self.held_out {
            files.push(resources.place(file));
        }
        files
    }

    fn extent(&self, resources: &Resources) -> Extent {
        let axes = self.model.axes();
        let settings =
            axes.iter().fold(1u64, |product, (_, axis)| product.saturating_mul(axis.count() as u64));
        let mut extent = Extent::of(settings, axes.len() as u64).due_to("model", settings);
        let Ok(read) = self.read(resources) else { return extent };
        let (n, d) = (settings as f64, self.inputs.len() as f64);
        let held = |agent: &AgentRecords| agent.classes.len() as f64;
        let mut records: Vec<f64> = read.agents.iter().map(held).collect();
        if !self.split.is_empty() {
            let agents = split::agents(&self.split);
            records = vec![records.iter().sum::<f64>() / agents as f64; agents];
        }
        let field = if self.split.is_empty() { "agent" } else { "split" };
        extent.agents = Some((field.to_owned(), records.len() as u64));
        for records in records {
            let (held, once) = match &self.model {
                FederatedModel::LogisticRegression(_) => {
                    (0.0, MULTIPLY * 300.0 * d * read.classes.len() as f64)
                }
                // The solver keeps the kernel matrix of all records of the agent.
                FederatedModel::RbfSvm(_) => {
                    (NUMBER * records * records, records * (COVARIANCE + MULTIPLY * d))
                }
            };
            let held = Effort::new(held, n * records * once);
            extent.prepared = extent.prepared.then(held);
            extent.prepared.bytes += NUMBER * (n + records * (d + 4.0));
        }
        extent
    }

    fn stated(&self) -> Stated {
        if self.model.is_random() { Stated::recorded() } else { Stated::gaussian(self.noise_sd.get()) }
    }

    fn unit(&self) -> String {
        "units of the performance".to_owned()
    }

    fn prepare(
        &self,
        resources: &Resources,
        _: Option<&Fitted>,
        key: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let read = self.read_divided(resources, &key.child("split"))?;
        let classes = read.classes.len();
        let trained = Trained::at(resources.models.as_deref());
        let scores = read
            .agents
            .iter()
            .map(|records| {
                let key = key.child("training").child(&records.name);
                let train = || self.model.performances(records, classes, &key);
                let found = trained.scores(&self.model, records, (classes, &key), train);
                found.map_err(|error| ObjectiveError::Agent { agent: records.name.clone(), error })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let agents: Vec<Arc<Vec<f64>>> =
            scores.iter().map(|scores| Arc::new(scores.iter().map(|draws| mean(draws)).collect())).collect();
        let points = self.model.points();
        let of_agents =
            |point: usize| agents.iter().map(|values| values[point]).sum::<f64>() / agents.len() as f64;
        let values: Vec<f64> = (0..points.n()).map(of_agents).collect();
        let square = |sd: f64| sd * sd;
        let mut background = ProblemFacts::public(self.facts());
        background.plain = Some(Arc::new(self.model.settings()));
        let held = held_by(&read);
        background.holdings = Some(Arc::new(Holdings::of(&held, &read.classes)));
        background.records = Some(Arc::new(split::records_of(&held)));
        let noise = if self.model.is_random() {
            let (noise, all) = noise_of(&scores, &agents);
            background.agent_noise = Some(Arc::new(noise));
            all
        } else {
            Noise::gaussian(self.noise_sd.get())
        };
        background.agents = Some(Arc::new(agents));
        background.performances = true;
        Ok(Box::new(Ready(Instance {
            inputs: Arc::new(points),
            values: Arc::new(values),
            noise,
            surrogate: Surrogate {
                covariance: self.length_scale.covariance(self.kernel, square(self.prior_sd.get())),
                noise_variance: square(self.assumed_noise_sd.get()),
                mean: self.prior_mean.get(),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_show_the_values_of_the_hyperparameters() {
        let axis = |text: &str| serde_json::from_str::<Axis>(text).unwrap();
        let machine = serde_json::from_str(
            r#"{"c": {"values": [0.0001, 10]}, "gamma": {"low": 0.01, "high": 0.1, "values": 2}}"#,
        );
        let settings = FederatedModel::RbfSvm(machine.unwrap()).settings();
        assert_eq!(settings.names, ["C", "gamma"]);
        assert_eq!(settings.rows, [0.0001, 0.01, 0.0001, 0.1, 10.0, 0.01, 10.0, 0.1]);
        let model = FederatedModel::LogisticRegression(LogisticRegression {
            lambda: axis(r#"{"values": [0.5]}"#),
            steps: axis(r#"{"low": 1, "high": 2, "values": 3}"#),
            intercept: axis(r#"{"values": [0.1]}"#),
        });
        assert_eq!(model.settings().names, ["lambda", "steps", "intercept"]);
        assert_eq!(model.settings().rows, [0.5, 1.0, 0.1, 0.5, 2.0, 0.1, 0.5, 2.0, 0.1]);
        assert_eq!(model.points().n(), 3);
        // The prepared objective has the same settings.
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..8).map(|i| format!("{},{i},{}\n", ["a", "b"][i / 4], i % 2)).collect();
        std::fs::write(folder.path().join("r.csv"), format!("who,x,kind\n{rows}")).unwrap();
        let tuning: FederatedTuning = serde_json::from_value(serde_json::json!({
            "file": "r.csv", "agent": ["who"], "inputs": ["x"], "label": "kind", "model": model,
            "prior_mean": 0.6, "prior_sd": 0.2,
        }))
        .unwrap();
        let resources = Resources { base: folder.path().to_owned(), ..Resources::default() };
        let ready = tuning.prepare(&resources, None, Key::root(1)).unwrap();
        let plain = ready.realise(Key::root(1)).unwrap().background.plain.unwrap();
        assert_eq!(*plain, model.settings());
    }
}
