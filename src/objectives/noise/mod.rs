//! The noise of outcomes: one distribution per file.

mod beta;
mod gamma;
mod gaussian;
mod gumbel;
mod log_logistic;
mod mixture;
mod realised;
mod scaled;
mod student_t;
mod tail;
mod triangular;
mod truncated_gaussian;
mod uniform;
mod weibull;

pub use beta::Beta;
pub use gamma::Gamma;
pub use gaussian::Gaussian;
pub use gumbel::Gumbel;
pub use log_logistic::LogLogistic;
pub use mixture::{Mixture, Part};
pub use realised::{Noise, Recorded};
pub use scaled::Scaled;
pub use student_t::StudentT;
pub use triangular::Triangular;
pub use truncated_gaussian::TruncatedGaussian;
pub use uniform::Uniform;
pub use weibull::Weibull;

use crate::rng::Stream;
use crate::vocab::{Delta, Problem};

/// The behaviour of a noise distribution. Every noise distribution has mean 0.
pub trait NoiseLaw {
    /// One draw, in units of the outcome. Every outcome has its own stream, so that no draw depends on the number of
    /// random words that another draw takes.
    fn draw(&self, stream: &mut Stream) -> f64;

    /// The variance of a draw, possibly infinite.
    fn variance(&self) -> f64;

    /// R: the largest absolute value of a draw. `None` for an unbounded distribution.
    fn bound(&self) -> Option<f64> {
        None
    }

    /// A bound that the absolute value of a draw exceeds with probability at most `delta`; `None` if none is known. By
    /// default the bound R of [`Self::bound`].
    fn tail(&self, _delta: Delta) -> Option<f64> {
        self.bound()
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

crate::family! {
    /// The noise that is added to the value of an arm to give an outcome.
    ///
    /// The mean of the noise is 0: skewed distributions are centred, and there is no member `Shifted` as there is among
    /// the latencies. An Erlang distribution is a `Gamma` with a whole shape. There is no member `Truncated` that
    /// truncates any other noise, because truncation would change the mean; `TruncatedGaussian` is truncated
    /// symmetrically.
    pub struct NoiseModel(NoiseMember): dyn NoiseLaw, "noise" {
        Gaussian(Gaussian),
        Uniform(Uniform),
        StudentT(StudentT),
        Triangular(Triangular),
        TruncatedGaussian(TruncatedGaussian),
        Gumbel(Gumbel),
        Gamma(Gamma),
        Beta(Beta),
        Mixture(Mixture),
        Weibull(Weibull),
        LogLogistic(LogLogistic),
        Scaled(Scaled),
    }
}
