//! A function on a box that a user's own program computes, point by point.

use super::instance::{Continuum, Instance, PointFunction, ProblemFacts, Surrogate, UnscaledInputs};
use super::{DataSource, Noise, ObjectiveError, Prepared};
use crate::gp::Points;
use crate::programs::{
    Program, ProgramFailure, ProgramSession, Programs, Question, inputs_of_box, point_fields,
};
use crate::rng::{Key, sobol};
use crate::vocab::SearchBox;
use serde_json::{Map, json};
use std::sync::{Arc, Mutex};

/// Number of points that represent the box where a finite set is needed, as for estimates of time and memory.
pub(super) const SAMPLE: usize = 1024;

/// What the scenario states about the function.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) program: Program,
    pub(super) domain: SearchBox,
    /// -1 if small values are sought, else 1.
    pub(super) sign: f64,
    /// The largest possible value of `sign` times the program's answer; `None` if it is not known.
    pub(super) best: Option<f64>,
}

/// The function that the program computes, times `sign`. Before a series begins, the function is 0 everywhere.
#[derive(Debug)]
struct Asked {
    recipe: Recipe,
    /// Node of the seed tree for the seeds of one replication's questions.
    key: Key,
    dialogue: Option<Mutex<Dialogue>>,
}

/// A dialogue with the program, and the number of questions asked in it so far.
#[derive(Clone, Debug)]
struct Dialogue {
    session: ProgramSession,
    asked: u64,
}

impl PointFunction for Asked {
    /// `sign` times the value that the program gives for the point; 0 before a series begins. If the program fails, the
    /// value is 0 and the replication fails.
    fn at(&self, point: &[f64]) -> f64 {
        let Some(dialogue) = &self.dialogue else { return 0.0 };
        let Recipe { domain, sign, best, .. } = &self.recipe;
        let mut dialogue = dialogue.lock().expect("no holder of this lock panics");
        // The seed is below 2^31, so that the random generators of all languages accept it.
        let seed = self.key.index(dialogue.asked).stream().word() >> 33;
        dialogue.asked += 1;
        let possible = |value: &f64| value.is_finite() && best.is_none_or(|best| sign * value <= best);
        let bound = match best {
            Some(best) if *sign > 0.0 => format!(", at most {best}, the stated `best`"),
            Some(best) => format!(", at least {}, the stated `best`", sign * best),
            None => String::new(),
        };
        let question = Question {
            ask: "value",
            fields: Map::from_iter([
                ("seed".to_owned(), json!(seed)),
                ("point".to_owned(), point_fields(domain, point).into()),
            ]),
            answer: "value",
            expected: format!("\"value\": a finite number{bound}"),
            read: &|value| value.as_f64().filter(possible),
        };
        sign * dialogue.session.ask(&question, &Map::new).unwrap_or(0.0)
    }

    fn begun(&self, programs: &Programs) -> Result<Option<Arc<dyn PointFunction>>, ProgramFailure> {
        let mut opening = Map::new();
        opening.insert("role".to_owned(), json!("objective"));
        opening.insert("box".to_owned(), inputs_of_box(&self.recipe.domain));
        let session = ProgramSession::open(programs, self.recipe.program.clone(), opening)?;
        let dialogue = Some(Mutex::new(Dialogue { session, asked: 0 }));
        Ok(Some(Arc::new(Self { recipe: self.recipe.clone(), key: self.key, dialogue })))
    }

    fn asks_programs(&self) -> bool {
        true
    }

    /// A copy that asks its further questions in a dialogue of its own, which continues the present dialogue.
    fn duplicate(&self) -> Option<Arc<dyn PointFunction>> {
        let dialogue = self.dialogue.as_ref()?.lock().expect("no holder of this lock panics").clone();
        let dialogue = Some(Mutex::new(dialogue));
        Some(Arc::new(Self { recipe: self.recipe.clone(), key: self.key, dialogue }))
    }
}

#[derive(Debug)]
struct Ready {
    recipe: Recipe,
    surrogate: Surrogate,
    noise: Noise,
    inputs: Arc<Points>,
    plain: Arc<UnscaledInputs>,
}

/// The objective; `key` is for draws that all replications share.
pub(super) fn prepared(recipe: Recipe, surrogate: Surrogate, noise: Noise, key: Key) -> Box<dyn Prepared> {
    let domain = &recipe.domain;
    let shares = sobol::points(SAMPLE, domain.d(), key.child("sample"));
    let units: Vec<Vec<f64>> = shares.iter().map(|shares| domain.at_shares(shares)).collect();
    let rows = units.iter().flat_map(|unit| domain.from_unit(unit)).collect();
    let plain = Arc::new(UnscaledInputs { names: domain.columns(), rows });
    let inputs = Arc::new(Points::new(SAMPLE, domain.width(), units.concat()));
    Box::new(Ready { recipe, surrogate, noise, inputs, plain })
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let function = Asked { recipe: self.recipe.clone(), key: key.child("program"), dialogue: None };
        let continuum = Continuum {
            domain: self.recipe.domain.clone(),
            function: Arc::new(function),
            best: self.recipe.best.unwrap_or(0.0),
            best_is_known: self.recipe.best.is_some(),
        };
        let mut background = ProblemFacts {
            plain: Some(Arc::clone(&self.plain)),
            continuum: Some(continuum),
            ..ProblemFacts::with_stated_inputs()
        };
        background.facts.outcomes_read_inputs = true;
        Ok(Instance {
            inputs: Arc::clone(&self.inputs),
            values: Arc::new(vec![self.surrogate.mean; self.inputs.n()]),
            noise: self.noise.clone(),
            surrogate: self.surrogate.clone(),
            background,
        })
    }

    fn source(&self) -> DataSource {
        DataSource::Recorded
    }
}
