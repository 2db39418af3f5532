//! What a protocol needs of the way in which inputs are released.

use crate::privacy::mechanisms::{Gaussian, Mechanism, MechanismError, Rows};
use crate::rng::Stream;
use crate::vocab::{Delta, Epsilon, Positive, Problem};

/// Makes a table of records private, for neighbours of whom one row moves by a distance.
pub trait RowsMechanism: Mechanism<Input = Rows, Output = Rows> + Send + Sync {
    /// The direction, of length 1, in which a row moves the release most, and where that is, in words; none where all
    /// directions are alike.
    fn worst_direction(&self) -> Option<(Vec<f64>, &'static str)> {
        None
    }

    /// Whether records are an affine function of the release, so that some of them tell all others: the auditor tries.
    fn is_affine(&self) -> bool {
        false
    }
}

/// A way to release inputs, as a scenario names it.
pub trait Input: Send + Sync {
    /// What the ledger calls what is shown ("noisy inputs").
    fn what(&self) -> &'static str;

    /// Whether anything of the inputs is shown, noisy or not.
    fn shows_inputs(&self) -> bool {
        true
    }

    /// What the release of a table is, in words, for an audit of it.
    fn about(&self, rows: &Rows) -> String;

    /// Why nothing protects the inputs, or nothing need, where that is so.
    fn unprotected(&self) -> Option<&'static str> {
        None
    }

    /// Delta at which the guarantee is stated; 0 where it has none.
    fn delta(&self) -> f64 {
        0.0
    }

    /// What is wrong with the recipe as a whole; paths begin below it.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The mechanism for records of `d` numbers of whom one moves by at most `distance`; none where nothing is shown. What is
    /// public of it and random, such as a projection, is drawn from `public`.
    ///
    /// # Errors
    /// [`MechanismError`] if there is no finite noise.
    fn mechanism(
        &self,
        d: usize,
        distance: Positive,
        public: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError>;
}

/// What is wrong with Gaussian noise for an epsilon and a delta, if it cannot be had.
pub(super) fn noise_problems(epsilon: Epsilon, delta: Delta) -> Vec<Problem> {
    let one = Positive::new(1.0).expect("1 is above 0");
    let problem = |error: MechanismError| {
        Problem::wrong("", "noise of a finite size", error.to_string(), "raise epsilon or delta")
    };
    Gaussian::analytic(epsilon, delta, one).err().map(problem).into_iter().collect()
}
