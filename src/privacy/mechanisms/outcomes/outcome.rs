//! The interface between a protocol and the mechanisms that make the answer to a query from an outcome.

use crate::privacy::mechanisms::{Mechanism, MechanismError};
use crate::programs::{Program, ProgramFailure, Programs};
use crate::vocab::Problem;

/// A mechanism that makes one outcome private.
pub type OutcomeMechanism = dyn Mechanism<Input = f64, Output = f64> + Send + Sync;

/// A mechanism that asks a program for its answers, in one replication.
pub trait OutcomeProgram: Mechanism<Input = f64, Output = f64> + Send + Sync {
    /// A copy for a simulation that is cloned. It has the answers to all earlier questions; if it asks the same
    /// questions as the original from then on, it gets the same answers.
    fn duplicate(&self) -> Box<dyn OutcomeProgram>;
}

/// A way to make the answer to a query from an outcome, as a scenario names it.
pub trait Outcome: Send + Sync {
    /// The mechanism of a private answer; `None` for outcomes without protection.
    fn mechanism(&self) -> Option<&OutcomeMechanism>;

    /// The user's own programs that the mechanism asks; [`begin`](Self::begin) gives it access to them. The default: none.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// The mechanism for one replication, if answers come from a program; `None`, the default, if
    /// [`mechanism`](Self::mechanism) draws them itself. This mechanism and that of `mechanism` state the same privacy
    /// cost.
    ///
    /// # Errors
    /// [`ProgramFailure`] if there is no access to programs.
    fn begin(&self, programs: &Programs) -> Result<Option<Box<dyn OutcomeProgram>>, ProgramFailure> {
        let _ = programs;
        Ok(None)
    }

    /// Variance of the noise on one answer, in squared units of an outcome; public.
    ///
    /// # Errors
    /// [`MechanismError`] if no finite noise is large enough.
    fn variance(&self) -> Result<f64, MechanismError>;

    /// Delta of one answer, if its cost is stated as an (epsilon, delta) guarantee; else 0.
    fn delta(&self) -> f64 {
        0.0
    }

    /// What is wrong with the recipe as a whole; the paths of problems are relative to the recipe.
    fn problems(&self) -> Vec<Problem> {
        let problem = |error: MechanismError| {
            let cure = "write a range such as Range(low: -3, high: 3), or a larger epsilon";
            Problem::wrong("", "noise of a finite size", error.to_string(), cure)
        };
        self.variance().err().map(problem).into_iter().collect()
    }
}
