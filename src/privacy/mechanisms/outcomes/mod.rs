//! Ways to answer a query for one outcome; each has a file here and an entry in the list below.

mod clipped;
mod clipped_gaussian;
mod clipped_laplace;
mod disclosed;
mod external;
mod outcome;

pub use clipped_gaussian::ClippedGaussian;
pub use clipped_laplace::ClippedLaplace;
pub use external::External;
pub use outcome::{Outcome, OutcomeMechanism, OutcomeProgram};

use super::Disclosed;

crate::family! {
    /// How the answer to a query is made from the outcome.
    ///
    /// A private answer protects the outcome of the row that is queried: neighbours differ in that outcome, which may be
    /// replaced by any other. If a row is queried again, a private answer is the same as before, so the outcome of each
    /// row is released at most once. The modeler adds the variance of the noise, which is public, to its model's noise
    /// variance.
    pub struct OutcomeRelease(OutcomeMember): dyn Outcome, "outcomes" {
        /// Outcomes as they are, measured again in every round: no privacy.
        Disclosure(Disclosed),
        /// Clipped, with Laplace noise: epsilon-DP for the outcome of one row.
        ClippedLaplace(ClippedLaplace),
        /// Clipped, with Gaussian noise: (epsilon, delta)-DP for the outcome of one row.
        ClippedGaussian(ClippedGaussian),
        /// By the user's own program, at the cost that the scenario states for it.
        External(External),
    }
}

impl Default for OutcomeRelease {
    fn default() -> Self {
        Self::from(Disclosed {})
    }
}
