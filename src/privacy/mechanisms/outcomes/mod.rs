//! How a single outcome is answered: a member is one file here and its line below.

mod clipped;
mod clipped_gaussian;
mod clipped_laplace;
mod disclosed;
mod outcome;

pub use clipped_gaussian::ClippedGaussian;
pub use clipped_laplace::ClippedLaplace;
pub use outcome::{Outcome, OutcomeMechanism};

use super::Disclosed;

crate::family! {
    /// How outcomes are answered.
    ///
    /// A private outcome belongs to its row: its price is that of the row's outcome replaced by any other. A row that is
    /// asked for again gets the answer it got before, which costs nothing more, so that no row ever costs more than its
    /// one release. The modeler adds the variance of the noise, which is public, to the variance that its model assumes.
    pub struct OutcomeRelease(OutcomeMember): dyn Outcome, "outcomes" {
        /// As they are, measured anew in every round: no privacy.
        Disclosure(Disclosed),
        /// Clipped, with Laplace noise: epsilon-DP for the outcome of one row.
        ClippedLaplace(ClippedLaplace),
        /// Clipped, with Gaussian noise: (epsilon, delta)-DP for the outcome of one row.
        ClippedGaussian(ClippedGaussian),
    }
}

impl Default for OutcomeRelease {
    fn default() -> Self {
        Self::from(Disclosed {})
    }
}
