//! Noise of measurements: one distribution per file.

mod gaussian;
mod realised;
mod student_t;
mod uniform;

pub use gaussian::Gaussian;
pub use realised::{Noise, Recorded};
pub use student_t::StudentT;
pub use uniform::Uniform;

use crate::rng::Stream;
use crate::vocab::{Delta, Problem};

/// The behaviour of a law of noise.
pub trait NoiseLaw {
    /// One draw, in units of the outcome.
    fn draw(&self, stream: &mut Stream) -> f64;

    /// Variance; infinite where there is none.
    fn variance(&self) -> f64;

    /// R: no draw is larger in size. None for an unbounded law.
    fn bound(&self) -> Option<f64> {
        None
    }

    /// A size that a draw exceeds with probability at most `delta`. By default the bound, where there is one.
    fn tail(&self, _delta: Delta) -> Option<f64> {
        self.bound()
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

crate::family! {
    /// The noise that is added to an objective when it is measured.
    pub struct NoiseModel(NoiseMember): dyn NoiseLaw, "noise" {
        Gaussian(Gaussian),
        Uniform(Uniform),
        StudentT(StudentT),
    }
}
