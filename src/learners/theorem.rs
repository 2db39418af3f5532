//! Theorems' bounds on a learner's cumulative regret.

use super::knowledge::{Constants, Knowledge};
use crate::vocab::{Delta, Positive, Probability};
use std::fmt;

/// A theorem's upper bound on cumulative regret, with the numbers of one problem put in.
pub struct Theorem {
    /// Where it stands.
    pub source: &'static str,
    /// Assumptions and limits of the bound, in words.
    pub caveats: Vec<String>,
    /// Noise variance (lambda) with respect to which the information gain counts, in squared units of the outcome.
    pub noise_variance: f64,
    formula: Box<dyn Fn(f64, f64) -> f64>,
}

impl fmt::Debug for Theorem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Theorem").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Theorem {
    /// A theorem by where it stands, the noise variance that its information gain counts with respect to, and its bound as a
    /// function of rounds and gain.
    #[must_use]
    pub fn new(
        source: &'static str,
        noise_variance: f64,
        formula: impl Fn(f64, f64) -> f64 + 'static,
    ) -> Self {
        Self { source, caveats: Vec::new(), noise_variance, formula: Box::new(formula) }
    }

    /// The bound, in units of the outcome, for a run of `rounds` rounds (0 counts as 1), given an upper bound on the
    /// information gain of so many outcomes, in nats and at least 0. The equation is that of [`Self::source`].
    #[must_use]
    pub fn at(&self, rounds: u64, gain: f64) -> f64 {
        (self.formula)(rounds.max(1) as f64, gain)
    }

    /// With a caveat, where it applies.
    #[must_use]
    pub fn but(mut self, applies: bool, caveat: &str) -> Self {
        if applies {
            self.caveats.push(caveat.to_owned());
        }
        self
    }

    /// Adds a note where a learner differs from the theorem's assumptions.
    pub(super) fn played_with(self, constants: Constants, scale: Positive) -> Self {
        let others = constants != Constants::Theorem || scale.get() != 1.0;
        self.but(others, "the learner does not play with the theorem's constants")
    }
}

const ORDER: &str = "its order, with constant 1";

/// Accuracy of Nystrom features as the bounds have it: rho, and the factor on B.
fn factors(known: &Knowledge, accuracy: Probability) -> (f64, f64) {
    let accuracy = accuracy.get();
    let rho = (1.0 + accuracy) / (1.0 - accuracy);
    (rho * rho / accuracy, rho * known.bound * (1.0 + 1.0 / (1.0 - accuracy).sqrt()))
}

/// rho B (1 + 1/sqrt(1-a)) sqrt(T g) + rho^2/a g sqrt(T v ln(T/delta) ln(g T ln(T/delta) / delta)), for alpha = 1.
///
/// Zhou and Tan 2021, Theorem 2, whose second factor is printed rho/a^2; m features, m of order rho g ln(T/delta) /
/// a^2, and the features' variances give rho^(3/2)/a, so that rho^2/a is on the safe side of what can be derived.
pub(super) fn ata(
    known: &Knowledge,
    accuracy: Probability,
    delta: Delta,
    lambda: Positive,
) -> Option<Theorem> {
    let ((tail, norm), v, delta) = (factors(known, accuracy), known.raw_moment, delta.get());
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds / delta);
        let second = libm::log((gain * rounds * logarithm / delta).max(std::f64::consts::E));
        norm * (rounds * gain).sqrt() + tail * gain * (rounds * v * logarithm * second).sqrt()
    };
    let theorem = Theorem::new("Zhou and Tan 2021, Theorem 2", lambda.get(), formula).but(true, ORDER);
    (known.alpha == 1.0).then_some(theorem)
}

/// Private: s/2 sqrt(T g) (sqrt(ln T) + ln T sqrt(g + ln(1/delta))), s/2 = (B + R) / epsilon. Zhou and Tan 2021,
/// Theorem 3.
pub(super) fn private_tgp(scale: f64, delta: Delta, lambda: Positive) -> Theorem {
    let delta = delta.get();
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds);
        let sum = logarithm.sqrt() + logarithm * (gain - libm::log(delta)).sqrt();
        0.5 * scale * (rounds * gain).sqrt() * sum
    };
    Theorem::new("Zhou and Tan 2021, Theorem 3", lambda.get(), formula).but(true, ORDER)
}

/// rho B (1 + 1/sqrt(1-a)) sqrt(g T ln(T/delta)) + rho^2/a ln(T/delta) w g sqrt T, for alpha = 1: w is (B + R) /
/// epsilon for private outcomes (Corollary 1) and the root of their second central moment otherwise (Theorem 4).
pub(super) fn moma(
    known: &Knowledge,
    accuracy: Probability,
    delta: Delta,
    lambda: Positive,
) -> Option<Theorem> {
    let ((tail, norm), delta) = (factors(known, accuracy), delta.get());
    let (source, width) = match known.laplace {
        Some((_, scale)) => ("Zhou and Tan 2021, Corollary 1", 0.5 * scale),
        None => ("Zhou and Tan 2021, Theorem 4", known.central_moment.sqrt()),
    };
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds / delta);
        norm * (gain * rounds * logarithm).sqrt() + tail * logarithm * width * gain * rounds.sqrt()
    };
    let theorem = Theorem::new(source, lambda.get(), formula).but(true, ORDER);
    (known.alpha == 1.0).then_some(theorem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ldp_federated_units.json, upper_bounds_order_constant1: T = 1e4, gain 23.4, B = 4, R = 1, epsilon = 1.
    #[test]
    fn bounds_of_the_oracle() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/oracles/ldp_federated_units.json")).unwrap();
        let known = Knowledge {
            bound: 4.0,
            horizon: 1e4,
            raw_moment: 217.0,
            central_moment: 201.0,
            alpha: 1.0,
            laplace: Some((5.0, 10.0)),
        };
        let half = Probability::new(0.5).unwrap();
        let (delta, unit) = (Delta::new(0.1).unwrap(), Positive::new(1.0).unwrap());
        let found = [
            ("ata", ata(&known, half, delta, unit).unwrap()),
            ("tgp", private_tgp(10.0, delta, unit)),
            ("moma", moma(&known, half, delta, unit).unwrap()),
        ];
        for (name, theorem) in found {
            let expected =
                oracle["upper_bounds_order_constant1_T1e4_g23.4_B4_R1_eps1"][name].as_f64().unwrap();
            assert!((theorem.at(10_000, 23.4) / expected - 1.0).abs() < 1e-12, "{name}");
        }
        let heavier = Knowledge { alpha: 0.5, ..known };
        assert!(ata(&heavier, half, delta, unit).is_none() && moma(&heavier, half, delta, unit).is_none());
    }
}
