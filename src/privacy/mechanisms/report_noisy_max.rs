//! Report noisy max.

use super::exponential::argmax;
use super::{Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Epsilon, Neighbours, Positive, Sampler};

/// The index of the largest utility after adding exponential noise of mean 2 sensitivity / epsilon to each.
///
/// * Precondition: no single utility differs by more than `sensitivity` between neighbours.
/// * Postcondition: epsilon-DP. (Never less useful than the exponential mechanism of the same epsilon.)
///
/// Source: Dwork and Roth 2014, section 3.3; one-sided exponential noise by McKenna and Sheldon 2020
/// ("permute and flip", of which it is another form: Ding, Kifer and others 2021).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportNoisyMax {
    epsilon: Epsilon,
    sensitivity: Positive,
}

impl ReportNoisyMax {
    /// From its epsilon and the sensitivity of a utility.
    #[must_use]
    pub const fn new(epsilon: Epsilon, sensitivity: Positive) -> Self {
        Self { epsilon, sensitivity }
    }
}

impl Mechanism for ReportNoisyMax {
    type Input = Vec<f64>;
    type Output = usize;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "report noisy max",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::PureDp { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, utilities: &Vec<f64>, stream: &mut Stream) -> Result<usize, MechanismError> {
        all_finite(utilities)?;
        let mean = 2.0 * self.sensitivity.get() / self.epsilon.get();
        argmax(utilities.iter().map(|u| u + mean * stream.exponential()))
    }
}
