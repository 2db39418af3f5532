//! An arrival model and a popularity model of users, and a learner that asks a program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::learners::{Arms, BuildError, External, Learner, LearnerRecipe};
use subrosa::programs::{Program, Programs};
use subrosa::protocols::local::{ArrivalProcess, Arrivals, Popularity};
use subrosa::rng::Stream;
use subrosa::vocab::{Probability, Problem, Span};

/// Users arrive in bursts: `burst` of them at exponential intervals, and then nobody for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bursts {
    /// Number of users in a burst, at least 1.
    burst: u64,
    /// Mean interval in a burst.
    every: Span,
    /// Time without arrivals between two bursts.
    pause: Span,
}

#[derive(Clone, Debug)]
struct Coming {
    recipe: Bursts,
    came: u64,
}

impl Arrivals for Bursts {
    fn process(&self) -> Box<dyn ArrivalProcess> {
        Box::new(Coming { recipe: self.clone(), came: 0 })
    }

    fn problems(&self) -> Vec<Problem> {
        let wrong = self.burst == 0 || self.every == Span::ZERO;
        let problem =
            Problem::wrong("burst", "at least one user, at intervals above 0", "none", "write burst: 5");
        wrong.then_some(problem).into_iter().collect()
    }
}

impl ArrivalProcess for Coming {
    fn next(&mut self, stream: &mut Stream) -> Option<Span> {
        let Bursts { burst, every, pause } = self.recipe;
        self.came += 1;
        let interval = Span::from_seconds(every.seconds() * stream.exponential());
        Some(if self.came.is_multiple_of(burst) { interval + pause } else { interval })
    }
}

/// The first of the people makes a fixed share of all visits, the others the rest, equally often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Regular {
    /// The share of visits that are the first person's.
    share: Probability,
}

impl Popularity for Regular {
    fn person(&self, size: u64, stream: &mut Stream) -> u64 {
        let (regular, other) = (stream.uniform() < self.share.get(), stream.below(size));
        if regular { 0 } else { other }
    }
}

/// A learner whose choices a shell script makes; the script receives the number of arms, and outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scripted {
    /// The script, from the scenario's folder on.
    script: String,
}

impl Scripted {
    fn asked(&self) -> External {
        let command = vec!["sh".to_owned(), self.script.clone()];
        External { command, timeout: Program::default_timeout(), files: Vec::new(), inputs: false }
    }
}

impl LearnerRecipe for Scripted {
    fn needs_inputs(&self) -> bool {
        false
    }

    fn programs(&self) -> Vec<Program> {
        self.asked().programs()
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        self.asked().build(arms)
    }

    fn build_with(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        self.asked().build_with(arms, programs)
    }
}
