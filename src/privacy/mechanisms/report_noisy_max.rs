//! Report noisy max.

use super::exact_choice::{Weights, lattice};
use super::exponential::argmax;
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Epsilon, Neighbours, NonNegative, Positive, Sampler};

/// The index of the largest utility after adding exponential noise of mean 2 sensitivity / epsilon to each.
/// Exactly, it is run as permute and flip on utilities rounded to a lattice.
///
/// * Precondition: utilities are finite, and no single utility differs by more than `sensitivity` between neighbours, but for
///   the error that [`computed_within`](Self::computed_within) states; one above 2^-11 sensitivities is refused.
/// * Postcondition: epsilon-DP. (Never less useful than the exponential mechanism of the same epsilon.)
///
/// Source: Dwork and Roth 2014, section 3.3; one-sided exponential noise by McKenna and Sheldon 2020
/// ("permute and flip", of which it is another form: Ding, Kifer and others 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportNoisyMax {
    epsilon: Epsilon,
    sensitivity: Positive,
    /// How far a utility lies from an exact one at most.
    error: f64,
    arithmetic: NoiseArithmetic,
}

impl ReportNoisyMax {
    /// From its epsilon and the sensitivity of a utility.
    #[must_use]
    pub const fn new(epsilon: Epsilon, sensitivity: Positive) -> Self {
        Self { epsilon, sensitivity, error: 0.0, arithmetic: NoiseArithmetic::Exact }
    }

    /// The same with its choice made so.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { arithmetic, ..self }
    }

    /// The same on utilities as a computer evaluates them: each lies within this error of an exact one, and it is those that
    /// `sensitivity` is about. The error is public, in the units of a utility, and takes no part in `Ideal` arithmetic.
    /// Default: 0, where `sensitivity` is that of the numbers given.
    #[must_use]
    pub fn computed_within(self, error: NonNegative) -> Self {
        Self { error: error.get(), ..self }
    }
}

impl Mechanism for ReportNoisyMax {
    type Input = Vec<f64>;
    type Output = usize;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            lattice(self.epsilon, self.sensitivity, self.error)?;
        }
        Ok(Price {
            mechanism: "report noisy max",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::PureDp { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.booked(),
        })
    }

    fn privatise(&self, utilities: &Vec<f64>, stream: &mut Stream) -> Result<usize, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            return Ok(
                Weights::new(self.epsilon, self.sensitivity, self.error, utilities)?.permute_and_flip(stream)
            );
        }
        all_finite(utilities)?;
        let mean = 2.0 * self.sensitivity.get() / self.epsilon.get();
        argmax(utilities.iter().map(|u| u + mean * stream.exponential()))
    }
}
