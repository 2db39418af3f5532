//! The interface between a protocol and the way in which inputs are released.

use crate::privacy::mechanisms::{Gaussian, Mechanism, MechanismError, Rows};
use crate::rng::Stream;
use crate::vocab::{Delta, Epsilon, Positive, Problem};

/// A mechanism that makes a table of records private, for neighbours that differ in one row, moved by at most a given
/// distance.
pub trait RowsMechanism: Mechanism<Input = Rows, Output = Rows> + Send + Sync {
    /// The unit direction in which a moved row changes the release most, with a description in words; `None` if all
    /// directions are equally bad, or if the worst is not known.
    fn worst_direction(&self) -> Option<(Vec<f64>, &'static str)> {
        None
    }

    /// Whether records can be an affine function of the release, as with a projection to at least as many columns as a
    /// record has numbers. An attacker who knows some records may then compute the others; an audit tries this attack.
    fn is_affine(&self) -> bool {
        false
    }
}

/// A way to release inputs, as a scenario names it.
pub trait Input: Send + Sync {
    /// The name of the release in the ledger ("noisy inputs").
    fn release_name(&self) -> &'static str;

    /// Whether the inputs are released in some form, noisy or not.
    fn shows_inputs(&self) -> bool {
        true
    }

    /// Number of columns of the release, for inputs with `inputs` columns. Default: the same number.
    fn columns(&self, inputs: u64) -> u64 {
        inputs
    }

    /// A description of the release of the table `rows`, for an audit.
    fn about(&self, rows: &Rows) -> String;

    /// Why the inputs have no protection, or need none; `None` for protected inputs.
    fn unprotected(&self) -> Option<&'static str> {
        None
    }

    /// Delta of the (epsilon, delta) guarantee that the scenario states; 0 if it states none.
    fn delta(&self) -> f64 {
        0.0
    }

    /// What is wrong with the recipe as a whole; the paths of problems are relative to the recipe.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The mechanism for records of `d` numbers, if one record moves by at most `distance`; `None` if the inputs are
    /// not released. The mechanism's public random parts, such as a projection, are drawn from `public`.
    ///
    /// # Errors
    /// [`MechanismError`] if no finite noise is large enough, or if the noise cannot be sampled in exact arithmetic.
    fn mechanism(
        &self,
        d: usize,
        distance: Positive,
        public: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError>;
}

/// The problem of an epsilon and a delta for which [`Gaussian::analytic`] finds no noise; empty if it finds noise.
pub(super) fn noise_problems(epsilon: Epsilon, delta: Delta) -> Vec<Problem> {
    let problem = |error: MechanismError| {
        Problem::wrong("", "noise of a finite size", error.to_string(), "raise epsilon or delta")
    };
    Gaussian::can_give(epsilon, delta).err().map(problem).into_iter().collect()
}
