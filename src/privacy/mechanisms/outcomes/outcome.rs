//! The interface between a protocol and the way in which outcomes are answered.

use crate::privacy::mechanisms::{Mechanism, MechanismError};
use crate::vocab::Problem;

/// Makes one outcome private.
pub type OutcomeMechanism = dyn Mechanism<Input = f64, Output = f64> + Send + Sync;

/// A way to answer outcomes, as a scenario names it.
pub trait Outcome: Send + Sync {
    /// The mechanism of a private answer; `None` for outcomes without protection.
    fn mechanism(&self) -> Option<&OutcomeMechanism>;

    /// Variance of the noise on one answer, in squared units of an outcome; public.
    ///
    /// # Errors
    /// [`MechanismError`] if there is no finite noise.
    fn variance(&self) -> Result<f64, MechanismError>;

    /// Delta at which the guarantee of one answer is stated; 0 where it has none.
    fn delta(&self) -> f64 {
        0.0
    }

    /// What is wrong with the recipe as a whole; paths begin below it.
    fn problems(&self) -> Vec<Problem> {
        let problem = |error: MechanismError| {
            let cure = "write a range such as Range(low: -3, high: 3), and an epsilon that is not vanishing";
            Problem::wrong("", "noise of a finite size", error.to_string(), cure)
        };
        self.variance().err().map(problem).into_iter().collect()
    }
}
