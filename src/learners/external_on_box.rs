//! A learner that is an external program, on a box: it answers with points.

use super::Learner;
use super::arms::{BoxModel, BuildError, ProblemConstants};
use crate::gp::GpError;
use crate::gp::covariance::{Covariance, LengthScale};
use crate::programs::{
    ListQuestion, Program, ProgramSession, Programs, inputs_of_box, point_fields, point_of_fields,
};
use crate::rng::Stream;
use crate::vocab::SearchBox;
use serde_json::{Map, Value, json};

/// One step of the learner's history: the number of a point, and the outcome that was observed at this point. The outcome is
/// `None` if the step is the choice of the point.
#[derive(Clone, Copy, Debug)]
struct Step(usize, Option<f64>);

#[derive(Clone, Debug)]
struct State {
    domain: SearchBox,
    dialogue: ProgramSession,
    /// The points so far, by number: those that the program chose, and those that other learners suggested.
    points: Vec<Vec<f64>>,
    steps: Vec<Step>,
    /// Number of steps up to and including the program's last choice.
    known: usize,
}

/// The learner before its first round. `sends_model` says whether the program is sent the model and the bounds.
pub(super) fn begin(
    program: Program,
    sends_model: bool,
    model: &BoxModel,
    programs: &Programs,
) -> Result<Box<dyn Learner>, BuildError> {
    let ProblemConstants { bound, noise_bound, laplace_scale, horizon } = model.facts;
    let mut opening = Map::new();
    opening.insert("role".to_owned(), json!("learner"));
    opening.insert("box".to_owned(), inputs_of_box(&model.domain));
    opening.insert("rounds".to_owned(), json!(horizon));
    if sends_model {
        opening.insert("kernel".to_owned(), kernel(&model.covariance));
        opening.insert("noise_variance".to_owned(), json!(model.noise_variance));
        opening.insert("mean".to_owned(), json!(model.mean));
        let facts = [("bound", bound), ("noise_bound", noise_bound), ("laplace_scale", laplace_scale)];
        opening.extend(facts.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), json!(fact?)))));
    }
    let dialogue = ProgramSession::open(programs, program, opening)?;
    let domain = model.domain.clone();
    Ok(Box::new(State { domain, dialogue, points: Vec::new(), steps: Vec::new(), known: 0 }))
}

/// A covariance in the form in which external programs read it.
pub(super) fn kernel(covariance: &Covariance) -> Value {
    let length_scale = match &covariance.length_scale {
        LengthScale::Same(length) => json!(length),
        LengthScale::PerDimension(lengths) => json!(lengths),
    };
    json!({
        "shape": format!("{:?}", covariance.shape),
        "length_scale": length_scale,
        "variance": covariance.variance,
    })
}

impl State {
    fn json(&self, steps: &[Step]) -> Vec<Value> {
        let one = |Step(arm, outcome): &Step| {
            let point = self.points.get(*arm).map(|point| point_fields(&self.domain, point));
            match outcome {
                None => json!({ "arm": arm, "point": point }),
                Some(outcome) => json!({ "arm": arm, "point": point, "outcome": outcome }),
            }
        };
        steps.iter().map(one).collect()
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.points.len()
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        // The seed is below 2^31, so that random generators of every language accept it.
        let seed = stream.word() >> 33;
        let (past, new) = self.steps.split_at(self.known);
        let (past, told) = (self.json(past), self.json(new));
        let names = self.domain.names().join("\", \"");
        let domain = self.domain.clone();
        let question = ListQuestion {
            ask: "suggest",
            fields: Map::from_iter([("seed".to_owned(), json!(seed)), ("told".to_owned(), json!(told))]),
            answer: "point",
            expected: format!("\"point\": an object with valid values of \"{names}\""),
            read: &|value| point_of_fields(&domain, value),
            length: domain.d(),
        };
        let past = || Map::from_iter([("past".to_owned(), json!(past))]);
        let point = self.dialogue.ask_list(&question, &past);
        // Without an answer the replication has failed, and its further results are dropped.
        let point = point.unwrap_or_else(|| self.domain.sides().iter().map(|(low, _)| *low).collect());
        self.points.push(point);
        self.steps.push(Step(self.points.len() - 1, None));
        self.known = self.steps.len();
        self.points.len() - 1
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.steps.push(Step(arm, Some(outcome)));
        Ok(())
    }

    fn replay_choice(&mut self, arm: usize, _: &mut Stream) {
        self.steps.push(Step(arm, None));
    }

    fn point(&self, arm: usize) -> Option<&[f64]> {
        self.points.get(arm).map(Vec::as_slice)
    }

    fn add_point(&mut self, point: &[f64]) -> Option<usize> {
        self.points.push(point.to_vec());
        Some(self.points.len() - 1)
    }
}
