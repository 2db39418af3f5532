//! A user's own program, in any language, that makes outcomes private; the scenario states the privacy cost of an answer.

use super::outcome::{Outcome, OutcomeMechanism, OutcomeProgram};
use crate::privacy::mechanisms::{Mechanism, MechanismError, Price, any_value};
use crate::programs::{Program, ProgramFailure, ProgramSession, Programs, Question};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, CountedCost, Neighbours, NonNegative, Problem, Sampler, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program, in any language, that makes an outcome private. It reads each question as one JSON line from standard input
/// and writes its answer as one JSON line to standard output. docs/external.md has the protocol.
///
/// * Precondition, which subrosa cannot check: each answer depends on the outcome and the question's seeds only, and for
///   any two outcomes, the two distributions of an answer have the stated cost.
/// * Postcondition: the stated cost, reported as conditional on the precondition, with ideal arithmetic.
///
/// The program runs with the rights of the user who runs the scenario, and receives outcomes as they were measured.
/// Audits do not attack it.
///
/// Example: `External(command: ["python3", "mechanism.py"], cost: PureDp(epsilon: 1), variance: 72)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// Program and arguments, word by word: `["python3", "my_mechanism.py"]`. The program is started in the scenario's
    /// folder: once to ask for its version, and then, in each replication, at least once for each series that needs an
    /// answer.
    pub command: Vec<String>,
    /// Privacy cost of one answer, for an outcome replaced by any other: written as in an account file, without a count and
    /// without subsampling.
    pub cost: CountedCost,
    /// Variance of the noise on one answer, in squared units of an outcome. It is public; the learner's model adds it to its
    /// own noise variance.
    pub variance: NonNegative,
    /// How long one answer may take, in wall time. Default: 1 min.
    #[serde(default = "Program::default_timeout")]
    pub timeout: Span,
    /// Further files that the program's answers depend on, relative to the scenario's folder. Their contents, and those
    /// of files in `command`, are part of the study's identity: after a change of any of these files, the scenario
    /// describes another study. Default: none.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

const NAME: &str = "a program's mechanism";

/// Number of seeds of one answer. Each seed is below 2^31, so together they have 124 random bits.
const SEEDS: usize = 4;

impl External {
    fn program(&self) -> Program {
        Program { command: self.command.clone(), timeout: self.timeout, files: self.files.clone() }
    }

    fn cost(&self) -> Cost {
        self.cost.cost().0
    }

    /// Why the stated cost cannot be the cost of one answer: what is expected, what was found, and the cure. `None` if
    /// it can be.
    fn cost_problem(&self) -> Option<(&'static str, String, &'static str)> {
        let (cost, count) = self.cost.cost();
        match cost {
            Cost::PoissonGaussian { .. } | Cost::FixedSizeGaussian { .. } => Some((
                "a cost without subsampling: every query is answered",
                "the cost of noise on a sum over a sample".to_owned(),
                "write the cost of the noise alone, such as Gaussian(noise_multiplier: 2)",
            )),
            Cost::Unprotected => Some((
                "a cost that is finite",
                "Unprotected".to_owned(),
                "write outcomes: Disclosure() for outcomes as they are",
            )),
            _ if count != 1 => Some((
                "the cost of one answer",
                format!("count: {count}"),
                "leave count out: each answer is entered in the ledger when it is given",
            )),
            _ => None,
        }
    }
}

impl Mechanism for External {
    type Input = f64;
    type Output = f64;

    fn price(&self, _: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        any_value(NAME, neighbours)?;
        let on = format!(
            "the program `{}` keeping the cost that is stated for it: each answer follows from the outcome and fresh random \
             numbers alone",
            self.program().words()
        );
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Full,
            sensitivity: None,
            cost: self.cost(),
            claim: None,
            basis: Basis::Conditional { on },
            arithmetic: Arithmetic::Ideal,
        })
    }

    /// Always an error: within a replication, the mechanism that [`Outcome::begin`] returns asks the program.
    fn privatise(&self, _: &f64, _: &mut Stream) -> Result<f64, MechanismError> {
        let why = format!("the program `{}` is asked within a replication only", self.program().words());
        Err(MechanismError::NoAnswer { why })
    }
}

impl Outcome for External {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        Some(self)
    }

    fn variance(&self) -> Result<f64, MechanismError> {
        Ok(self.variance.get())
    }

    fn delta(&self) -> f64 {
        self.cost().own_delta()
    }

    fn problems(&self) -> Vec<Problem> {
        let cost = |(expected, found, cure)| Problem::wrong("cost", expected, found, cure);
        let mut problems = self.program().problems();
        problems.extend(self.cost_problem().map(cost));
        problems
    }

    fn programs(&self) -> Vec<Program> {
        vec![self.program()]
    }

    fn begin(&self, programs: &Programs) -> Result<Option<Box<dyn OutcomeProgram>>, ProgramFailure> {
        let opening = Map::from_iter([("role".to_owned(), json!("outcomes"))]);
        let dialogue = Mutex::new(ProgramSession::open(programs, self.program(), opening)?);
        Ok(Some(Box::new(OutcomeSession { recipe: self.clone(), dialogue })))
    }
}

/// The mechanism in one replication; it asks the program for each answer.
#[derive(Debug)]
struct OutcomeSession {
    recipe: External,
    /// The dialogue is behind a lock, because a release takes its mechanism by shared reference.
    dialogue: Mutex<ProgramSession>,
}

impl OutcomeSession {
    fn dialogue(&self) -> MutexGuard<'_, ProgramSession> {
        // The lock is poisoned only if a callback panicked. Such a panic ends the replication, so the dialogue is not used
        // again.
        self.dialogue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mechanism for OutcomeSession {
    type Input = f64;
    type Output = f64;

    fn price(&self, input: &f64, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.recipe.price(input, neighbours)
    }

    fn privatise(&self, input: &f64, stream: &mut Stream) -> Result<f64, MechanismError> {
        // The seeds are below 2^31, so that the random generators of all languages accept them.
        let seeds: [u64; SEEDS] = std::array::from_fn(|_| stream.word() >> 33);
        let question = Question {
            ask: "answer",
            fields: Map::from_iter([
                ("seeds".to_owned(), json!(seeds)),
                ("outcome".to_owned(), json!(input)),
            ]),
            answer: "outcome",
            expected: "\"outcome\": a finite number".to_owned(),
            read: &|value| value.as_f64().filter(|value| value.is_finite()),
        };
        // Answers are independent of each other, so the question includes no earlier answers.
        // Without an answer the replication fails, for the reason that the dialogue states.
        let answered = self.dialogue().ask(&question, &Map::new);
        answered.ok_or_else(|| MechanismError::NoAnswer {
            why: format!("the program `{}` gave no answer", self.recipe.program().words()),
        })
    }
}

impl OutcomeProgram for OutcomeSession {
    fn duplicate(&self) -> Box<dyn OutcomeProgram> {
        let dialogue = Mutex::new(self.dialogue().clone());
        Box::new(Self { recipe: self.recipe.clone(), dialogue })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn a_program_answers_within_a_replication_only_and_has_the_delta_of_its_cost() {
        let text = "(command: [\"true\"], cost: ApproximateDp(epsilon: 1, delta: 1e-6), variance: 2)";
        let external: External = ron::from_str(text).unwrap();
        let refused = external.privatise(&0.5, &mut Key::root(1).stream()).unwrap_err();
        assert!(refused.to_string().contains("within a replication"), "{refused}");
        assert_eq!((external.delta(), external.variance().unwrap()), (1e-6, 2.0));
    }

    /// A cost that cannot be the cost of one answer is refused, with a cure.
    #[test]
    fn the_cost_is_that_of_one_answer() {
        for (cost, found) in [
            ("PureDp(epsilon: 1)", None),
            ("Gaussian(noise_multiplier: 2)", None),
            ("PureDp(epsilon: 1, count: 3)", Some("count: 3")),
            ("PoissonGaussian(noise_multiplier: 2, rate: 0.1)", Some("a sum over a sample")),
            ("Unprotected()", Some("Unprotected")),
        ] {
            let text = format!("(command: [\"true\"], cost: {cost}, variance: 2)");
            let external: External = ron::from_str(&text).unwrap();
            let problems: Vec<String> =
                external.problems().iter().map(|problem| problem.complaint.to_string()).collect();
            assert_eq!(problems.len(), usize::from(found.is_some()), "{cost}: {problems:?}");
            assert!(problems.iter().zip(found).all(|(text, found)| text.contains(found)), "{problems:?}");
            assert_eq!(external.programs().len(), 1);
        }
    }
}
