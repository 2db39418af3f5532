//! The exact privacy loss of a query with integer answers and discrete Gaussian noise, for two neighbours.

use super::root;

/// Discrete Gaussian noise with parameter `sigma`, for two neighbours: the noise is added to one of two integers, which
/// differ by `steps`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Discrete {
    pub(crate) sigma: f64,
    pub(crate) steps: f64,
    /// P(noise <= k - half), k = 0, 1, ...
    cumulative: Vec<f64>,
    /// Largest absolute value of the noise that `cumulative` covers.
    half: f64,
}

impl Discrete {
    pub(crate) fn new(sigma: f64, steps: f64) -> Self {
        let half = (12.0 * sigma).ceil() + steps.abs();
        let mass = |k: u64| {
            let x = (k as f64 - half) / sigma;
            libm::exp(-0.5 * x * x)
        };
        let places = 0..=(2.0 * half) as u64;
        let total: f64 = places.clone().map(mass).sum();
        let mut sum = 0.0;
        let cumulative = places
            .map(|k| {
                sum += mass(k) / total;
                sum
            })
            .collect();
        Self { sigma, steps, cumulative, half }
    }

    /// The smallest epsilon, at least 0, at `delta`; infinite if there is none.
    pub(crate) fn epsilon(&self, delta: f64) -> f64 {
        root(delta, |epsilon| self.delta(epsilon))
    }

    fn at_most(&self, x: f64) -> f64 {
        let place = x + self.half;
        if place < 0.0 { 0.0 } else { self.cumulative[(place as usize).min(self.cumulative.len() - 1)] }
    }

    /// The sum over the integers x of max(0, p(x) - e^epsilon p(x - steps)), where p is the distribution of the noise
    /// and steps > 0. A term is positive for x below steps / 2 - epsilon sigma^2 / steps, where p(x) / p(x - steps)
    /// exceeds e^epsilon, and 0 for larger x.
    fn delta(&self, epsilon: f64) -> f64 {
        let square = self.sigma * self.sigma;
        let end = (0.5 * self.steps - epsilon * square / self.steps).floor();
        (self.at_most(end) - libm::exp(epsilon) * self.at_most(end - self.steps)).max(0.0)
    }
}
