//! A learner that is an external program, in any language. By default the program is sent the information that any other
//! learner is given.

use super::arms::{Arms, BoxModel, BuildError, ProblemConstants};
use super::external_on_box::{self, kernel};
use super::{Learner, LearnerRecipe};
use crate::gp::{ArmCovariance, GpError};
use crate::programs::{Program, ProgramSession, Programs, Question};
use crate::rng::Stream;
use crate::vocab::effort::{MESSAGE, OUTCOMES};
use crate::vocab::{Effort, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A program, in any language, that chooses arms. It reads one JSON line per question from standard input, and writes
/// one line per answer to standard output. docs/external.md describes these lines, and has examples.
///
/// The program runs with the rights of the user who runs the scenario. The program is sent the information that the party
/// with the learner has received. On a box the program chooses points. A point is an object that has one field for each
/// input, with the input's name.
///
/// Example: `External(command: ["python3", "learner.py"])`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// Program and arguments, word by word: `["python3", "my_learner.py"]`. The program is started in the scenario's folder:
    /// once to ask for its version, and then, in each replication, at least once for each series that needs an answer.
    pub command: Vec<String>,
    /// The longest time that one answer may take, in wall time. Default: 1 min.
    #[serde(default = "Program::default_timeout")]
    pub timeout: Span,
    /// Further files that the program's answers depend on, relative to the scenario's folder. They are part of the study's
    /// identity, as are the files in `command`: a study with changed files is a different study. Default: none.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Whether the program is sent the arms' inputs, the model that the objective suggests and the bounds that the protocol
    /// knows. Otherwise the program is sent only the number of arms (or the box), the number of rounds, seeds, the earlier
    /// choices and the outcomes. Default: true.
    #[serde(default = "yes")]
    pub inputs: bool,
}

fn yes() -> bool {
    true
}

/// One step of the learner's history.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An arm was chosen.
    Chosen(usize),
    /// The outcome of an arm was observed.
    Outcome(usize, f64),
}

impl Step {
    fn json(self) -> Value {
        match self {
            Self::Chosen(arm) => json!({ "arm": arm }),
            Self::Outcome(arm, outcome) => json!({ "arm": arm, "outcome": outcome }),
        }
    }
}

#[derive(Clone, Debug)]
struct State {
    arms: usize,
    dialogue: ProgramSession,
    steps: Vec<Step>,
    /// Number of steps up to and including the program's last choice: each of these steps was sent to the program, or is a
    /// choice of the program.
    known: usize,
}

impl External {
    fn program(&self) -> Program {
        Program { command: self.command.clone(), timeout: self.timeout, files: self.files.clone() }
    }
}

impl LearnerRecipe for External {
    /// The memory is that of the questions and answers as text. The time that the program itself
    /// takes is unknown and not included.
    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let opening = if self.inputs { 100.0 * arms as f64 } else { 0.0 };
        let asked = 300.0 * outcomes as f64;
        Effort::due_to(OUTCOMES, outcomes, opening + asked, MESSAGE * 20.0 * outcomes as f64)
            .with_record_size(asked)
    }

    fn needs_inputs(&self) -> bool {
        self.inputs
    }

    fn problems(&self) -> Vec<Problem> {
        self.program().problems()
    }

    fn programs(&self) -> Vec<Program> {
        vec![self.program()]
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        self.build_with(arms, &Programs::default())
    }

    fn searches_boxes(&self) -> bool {
        true
    }

    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        self.build_on_box_with(model, &Programs::default())
    }

    fn build_on_box_with(
        &self,
        model: &BoxModel,
        programs: &Programs,
    ) -> Result<Box<dyn Learner>, BuildError> {
        external_on_box::begin(self.program(), self.inputs, model, programs)
    }

    fn build_with(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        let mut opening = Map::new();
        opening.insert("role".to_owned(), json!("learner"));
        opening.insert("arms".to_owned(), json!(arms.n));
        opening.insert("rounds".to_owned(), json!(arms.facts.horizon));
        if self.inputs {
            opening.extend(opening_fields(arms));
        }
        let dialogue = ProgramSession::open(programs, self.program(), opening)?;
        Ok(Box::new(State { arms: arms.n, dialogue, steps: Vec::new(), known: 0 }))
    }
}

/// The fields of the opening message that describe the arms and the model.
fn opening_fields(arms: &Arms) -> Map<String, Value> {
    let ProblemConstants { bound, noise_bound, laplace_scale, .. } = arms.facts;
    let mut fields = Map::new();
    match &arms.covariance {
        None => {}
        Some(ArmCovariance::Inputs { points, covariance }) => {
            let rows: Vec<&[f64]> = (0..points.n()).map(|arm| points.row(arm)).collect();
            fields.insert("inputs".to_owned(), json!(rows));
            fields.insert("kernel".to_owned(), kernel(covariance));
        }
        Some(ArmCovariance::Matrix(matrix)) => {
            let rows: Vec<&[f64]> = (0..matrix.n()).map(|arm| matrix.row(arm)).collect();
            fields.insert("covariance".to_owned(), json!(rows));
        }
    }
    fields.insert("noise_variance".to_owned(), json!(arms.noise_variance));
    fields.insert("mean".to_owned(), json!(arms.mean));
    let facts = [("bound", bound), ("noise_bound", noise_bound), ("laplace_scale", laplace_scale)];
    fields.extend(facts.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), json!(fact?)))));
    fields
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.arms
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        // The seed is below 2^31, so that random generators of every language accept it.
        let seed = stream.word() >> 33;
        let steps = |steps: &[Step]| -> Vec<Value> { steps.iter().map(|step| step.json()).collect() };
        let (past, new) = self.steps.split_at(self.known);
        let arms = self.arms as u64;
        let question = Question {
            ask: "suggest",
            fields: Map::from_iter([
                ("seed".to_owned(), json!(seed)),
                ("told".to_owned(), json!(steps(new))),
            ]),
            answer: "arm",
            expected: format!("\"arm\": a whole number from 0 to {}", arms.saturating_sub(1)),
            read: &|value| value.as_u64().filter(|arm| *arm < arms).map(|arm| arm as f64),
        };
        let past = || Map::from_iter([("past".to_owned(), json!(steps(past)))]);
        // Without an answer the replication has failed, and its further results are dropped.
        let arm = self.dialogue.ask(&question, &past).unwrap_or(0.0) as usize;
        self.steps.push(Step::Chosen(arm));
        self.known = self.steps.len();
        arm
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.steps.push(Step::Outcome(arm, outcome));
        Ok(())
    }

    fn replay_choice(&mut self, arm: usize, _: &mut Stream) {
        self.steps.push(Step::Chosen(arm));
    }
}
