//! Ways to release a table of records; each has a file here and an entry in the list below.

mod column_space;
mod design_rule;
mod disclosed;
mod input;
mod johnson_lindenstrauss;
mod lift_branch;
mod noisy_projection;
mod noisy_rows;
mod spectral;
mod withheld;

pub use design_rule::sigma_min;
pub use input::{Input, RowsMechanism};
pub use johnson_lindenstrauss::JohnsonLindenstrauss;
pub use lift_branch::JlVariant;
pub use noisy_projection::{DrawnProjection, NoisyProjection};
pub use noisy_rows::{CalibratedRows, NoisyRows};
pub use withheld::Withheld;

use super::Disclosed;

crate::family! {
    /// What the curator releases of its inputs.
    pub struct InputRelease(InputMember): dyn Input, "release" {
        /// The random projection of PO-GP-UCB, from d columns to r. The published claim is refuted for more than d + 1 rows,
        /// and for d + 1 rows unless epsilon is large relative to r.
        JohnsonLindenstrauss(JohnsonLindenstrauss),
        /// The inputs with Gaussian noise: (epsilon, delta)-DP for one row moved by a distance of at most 1.
        NoisyRows(NoisyRows),
        /// A random projection with Gaussian noise added after it: (epsilon, delta)-DP for one row moved by a distance
        /// of at most 1.
        NoisyProjection(NoisyProjection),
        /// The inputs themselves: no privacy.
        Disclosure(Disclosed),
        /// Nothing but the number of rows; a learner can then only choose at random.
        Withheld(Withheld),
    }
}

impl InputRelease {
    /// Whether the inputs are released in some form, noisy or not.
    #[must_use]
    pub fn shows_inputs(&self) -> bool {
        self.as_dyn().shows_inputs()
    }
}
