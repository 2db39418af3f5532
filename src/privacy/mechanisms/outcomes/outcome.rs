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

    /// The user's own programs that the mechanism asks; [`begin`](Self::begin) gives the mechanism access to them. The
    /// default: none.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// The mechanism for one replication, if answers come from a program. `None`, the default, if no program is needed. The
    /// mechanism that `begin` returns and the mechanism that [`mechanism`](Self::mechanism) returns state the same privacy
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
    /// [`MechanismError`] if no finite noise is large enough, if noise of the required size cannot be sampled in exact
    /// arithmetic, or if the range to which outcomes are clipped has no finite width above 0.
    fn variance(&self) -> Result<f64, MechanismError>;

    /// Delta of one answer, if the scenario states the guarantee of an answer as an epsilon and a delta; else 0.
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

#[cfg(test)]
mod tests {
    use super::Outcome;
    use crate::privacy::mechanisms::Disclosed;
    use crate::privacy::mechanisms::outcomes::{ClippedGaussian, ClippedLaplace, External};
    use crate::vocab::Neighbours;
    use serde::de::DeserializeOwned;

    fn of<O: Outcome + DeserializeOwned + 'static>(fields: &str) -> Box<dyn Outcome> {
        Box::new(ron::from_str::<O>(fields).unwrap())
    }

    /// Delta, variance and whether outcomes are protected, for every way to answer. Every mechanism that protects outcomes
    /// states a cost for neighbours with any two outcomes, and refuses every other neighbouring relation.
    #[test]
    fn every_way_to_answer_states_its_delta_and_its_neighbours() {
        let external = "(command: [\"true\"], cost: PureDp(epsilon: 1), variance: 72)";
        let laplace = "(epsilon: 2, range: Range(low: -1, high: 3))";
        let gaussian = of::<ClippedGaussian>("(epsilon: 1, delta: 1e-5, range: Range(low: 0, high: 1))");
        // The standard deviation of the analytic Gaussian mechanism for sensitivity 1.
        let sd = gaussian.variance().unwrap().sqrt();
        assert!((crate::accounting::single::gaussian_epsilon(1.0 / sd, 1e-5) - 1.0).abs() < 1e-9, "{sd}");
        for (recipe, delta, variance, protects) in [
            (Box::new(Disclosed {}) as Box<dyn Outcome>, 0.0, 0.0, false),
            (of::<ClippedLaplace>(laplace), 0.0, 8.0, true),
            (gaussian, 1e-5, sd * sd, true),
            (of::<External>(external), 0.0, 72.0, true),
        ] {
            assert_eq!((recipe.delta(), recipe.variance().unwrap()), (delta, variance));
            assert_eq!(recipe.mechanism().is_some(), protects, "{variance}");
            let Some(mechanism) = recipe.mechanism() else { continue };
            assert!(mechanism.price(&0.0, &Neighbours::AnyValue).is_ok(), "{variance}");
            for other in [Neighbours::ReplaceOne, Neighbours::AnyMean] {
                let refused = mechanism.price(&0.0, &other).unwrap_err().to_string();
                assert!(refused.contains("one report replaced by any other"), "{refused}");
            }
        }
    }
}
