//! Laplace noise.

use super::{Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Epsilon, Neighbours, Positive, Sampler};

/// Adds independent Laplace noise of one scale to every number.
///
/// * Precondition: neighbouring inputs differ by at most `sensitivity` in the L1 norm.
/// * Postcondition: epsilon-DP with epsilon = sensitivity / scale.
///
/// Source: Dwork, McSherry, Nissim and Smith 2006; Dwork and Roth 2014, Theorem 3.6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    scale: Positive,
    sensitivity: Positive,
}

impl Laplace {
    /// Noise of a given scale (both in the units of the input).
    #[must_use]
    pub const fn new(scale: Positive, sensitivity: Positive) -> Self {
        Self { scale, sensitivity }
    }

    /// The smallest noise that is epsilon-DP.
    ///
    /// # Errors
    /// If sensitivity / epsilon is not a finite number above 0.
    pub fn calibrated(epsilon: Epsilon, sensitivity: Positive) -> Result<Self, MechanismError> {
        let scale = Positive::new(sensitivity.get() / epsilon.get()).map_err(MechanismError::out_of_range)?;
        Ok(Self { scale, sensitivity })
    }

    /// Scale of the noise.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.get()
    }
}

impl Mechanism for Laplace {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "Laplace noise",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::Laplace { scale: self.scale.get() / self.sensitivity.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        all_finite(input)?;
        Ok(input.iter().map(|value| value + self.scale.get() * stream.laplace()).collect())
    }
}
