//! Theorems' bounds on a learner's cumulative regret.

use super::knowledge::{Constants, Knowledge};
use crate::vocab::{Delta, Positive, Probability};
use std::fmt;

/// A theorem's upper bound on cumulative regret, with the values of one problem.
pub struct Theorem {
    /// The source of the theorem.
    pub source: &'static str,
    /// Assumptions and limits of the bound, in words.
    pub caveats: Vec<String>,
    /// Noise variance (lambda) for which the information gain is computed, in squared units of the outcome.
    pub noise_variance: f64,
    /// If true, the bound holds for functions drawn from the learner's model, with normal noise; if false, for every
    /// function of bounded norm.
    pub of_the_model: bool,
    formula: Box<dyn Fn(f64, f64) -> f64>,
}

impl fmt::Debug for Theorem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Theorem").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Theorem {
    /// A theorem from `source`. The information gain is computed with `noise_variance`, in squared units of the outcome.
    /// `formula` is the bound, in units of the outcome, as a function of the number of rounds and the information gain in
    /// nats.
    #[must_use]
    pub fn new(
        source: &'static str,
        noise_variance: f64,
        formula: impl Fn(f64, f64) -> f64 + 'static,
    ) -> Self {
        Self { source, caveats: Vec::new(), noise_variance, of_the_model: false, formula: Box::new(formula) }
    }

    /// The bound, in units of the outcome, for a run of `rounds` rounds (0 counts as 1), given an upper bound on the
    /// information gain of `rounds` outcomes, in nats and at least 0. The equation is from [`Self::source`].
    #[must_use]
    pub fn at(&self, rounds: u64, gain: f64) -> f64 {
        (self.formula)(rounds.max(1) as f64, gain)
    }

    /// The theorem with the field `of_the_model` set to true: its bound holds for functions drawn from the learner's model,
    /// with normal noise.
    #[must_use]
    pub fn of_the_model(self) -> Self {
        Self { of_the_model: true, ..self }
    }

    /// The theorem, with `caveat` added to its caveats if `applies` is true.
    #[must_use]
    pub fn with_caveat(mut self, applies: bool, caveat: &str) -> Self {
        if applies {
            self.caveats.push(caveat.to_owned());
        }
        self
    }

    /// The theorem, with a caveat added if the learner uses `constants` that are not the theorem's, or multiplies beta by a
    /// `scale` that is not 1.
    pub(super) fn with_constants_caveat(self, constants: Constants, scale: Positive) -> Self {
        let others = constants != Constants::Theorem || scale.get() != 1.0;
        self.with_caveat(others, "the learner does not use the theorem's constants")
    }
}

const ORDER: &str = "the order of the bound, computed with constant 1";

/// Two factors for an accuracy a of Nystrom features: rho = (1 + a) / (1 - a), and rho B (1 + 1/sqrt(1 - a)), a factor in
/// the first term of the bounds [`ata`] and [`moma`]. Here B bounds the distance of the function from the prior mean.
fn factors(known: &Knowledge, accuracy: Probability) -> (f64, f64) {
    let accuracy = accuracy.get();
    let rho = (1.0 + accuracy) / (1.0 - accuracy);
    (rho, rho * known.bound * (1.0 + 1.0 / (1.0 - accuracy).sqrt()))
}

/// ATA-GP-UCB's bound for T rounds with information gain g, at accuracy a:
/// rho B (1 + 1/sqrt(1-a)) sqrt(T g) + (rho^2/a) g sqrt(ln(T/delta)) (T v)^(1/(1+alpha)) L^(alpha/(1+alpha)), with
/// L = max(ln(g T ln(T/delta) / delta), 1). B, v and alpha are those of [`Knowledge`], rho is that of `factors`, and delta
/// is the probability with which the theorem allows its bound to fail.
///
/// For alpha = 1 this is Zhou and Tan 2021, Theorem 2, except that the paper prints rho/a^2 in place of rho^2/a. The regret
/// is at most 2 beta_T times the sum of the queried arms' posterior standard deviations, computed with the Nystrom
/// features. The second term of beta_T has the factor sqrt m. The number m of features is of order
/// rho^2 g ln(T/delta) / a^2, so sqrt m has the factor rho/a. The sum is of order sqrt(rho T g), so the product of the
/// second term and the sum has the factor rho^(3/2)/a. The bound here has the larger factor rho^2/a, because both of its
/// terms contain rho sqrt(T g) as a bound on the sum. For alpha below 1 the bound is derived in the same way: it has the
/// order of 2 beta_T rho sqrt(T g), with the order of m stated above, and with beta_T from Chowdhury and Gopalan 2019,
/// Algorithm 2.
pub(super) fn ata(
    known: &Knowledge,
    accuracy: Probability,
    delta: Delta,
    lambda: Positive,
) -> Option<Theorem> {
    let ((rho, norm), v, delta) = (factors(known, accuracy), known.raw_moment, delta.get());
    let (alpha, tail) = (known.alpha, rho * rho / accuracy.get());
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds / delta);
        let second = libm::log((gain * rounds * logarithm / delta).max(std::f64::consts::E));
        let widths = if alpha == 1.0 {
            (rounds * v * logarithm * second).sqrt()
        } else {
            let exponent = 1.0 / (1.0 + alpha);
            let moment = libm::pow(rounds * v, exponent) * libm::pow(second, alpha * exponent);
            logarithm.sqrt() * moment
        };
        norm * (rounds * gain).sqrt() + tail * gain * widths
    };
    let source =
        if alpha == 1.0 { "Zhou and Tan 2021, Theorem 2" } else { "Chowdhury and Gopalan 2019, ATA-GP-UCB" };
    (alpha > 0.0).then(|| Theorem::new(source, lambda.get(), formula).with_caveat(true, ORDER))
}

/// TGP-UCB's bound for private outcomes with Laplace scale s: s/2 sqrt(T g) (sqrt(ln T) + ln T sqrt(g + ln(1/delta))), with
/// T, g and delta as in [`ata`]. If the scale is computed from epsilon, it is s = 2 (B + R) / epsilon, where B is as in
/// [`ata`] and R bounds the noise of an outcome before it is made private. Source: Zhou and Tan 2021, Theorem 3.
pub(super) fn private_tgp(scale: f64, delta: Delta, lambda: Positive) -> Theorem {
    let delta = delta.get();
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds);
        let sum = logarithm.sqrt() + logarithm * (gain - libm::log(delta)).sqrt();
        0.5 * scale * (rounds * gain).sqrt() * sum
    };
    Theorem::new("Zhou and Tan 2021, Theorem 3", lambda.get(), formula).with_caveat(true, ORDER)
}

/// MoMA-GP-UCB's bound: rho B (1 + 1/sqrt(1-a)) sqrt(g T ln(T/delta)) + (rho^(3+alpha)/a^2)^(1/(1+alpha)) ln(T/delta) w
/// T^(1/(1+alpha)) g^((3+alpha)/(2(1+alpha))). For private outcomes, w is half the Laplace scale; if the scale is computed
/// from epsilon, w is (B + R) / epsilon (Zhou and Tan 2021, Corollary 1, alpha = 1). For other outcomes, w is
/// c^(1/(1+alpha)), where c is the bound on the central moment (Theorem 4). T, g, a, rho, B and delta are those of [`ata`],
/// and R is that of [`private_tgp`]. For alpha = 1 the second term is (rho^2/a) ln(T/delta) w g sqrt T.
///
/// The exponent of g follows from the second term's order, k beta_N sqrt(N g). Here N is the number of epochs, and k is the
/// number of outcomes in each epoch. beta_N is of order m^(1/(1+alpha)) N^((1-alpha)/(2(1+alpha))), so the second term is of
/// order k N^(1/(1+alpha)) m^(1/(1+alpha)) sqrt(g). m is the number of features, which is of order
/// rho^2 g ln(T/delta) / a^2. So g has the exponent 1/(1+alpha) from m, and 1/2 from sqrt(g). For the exponent of g, the
/// copy of the paper that was used prints 3/(1+alpha), which contradicts the paper's Remark 4 at alpha = 1.
pub(super) fn moma(
    known: &Knowledge,
    accuracy: Probability,
    delta: Delta,
    lambda: Positive,
) -> Option<Theorem> {
    let ((rho, norm), delta) = (factors(known, accuracy), delta.get());
    let (alpha, exponent) = (known.alpha, 1.0 / (1.0 + known.alpha));
    let (source, width) = match known.laplace {
        Some((_, scale)) => ("Zhou and Tan 2021, Corollary 1", 0.5 * scale),
        None if alpha == 1.0 => ("Zhou and Tan 2021, Theorem 4", known.central_moment.sqrt()),
        None => ("Zhou and Tan 2021, Theorem 4", libm::pow(known.central_moment, exponent)),
    };
    let accuracy = accuracy.get();
    let tail = if alpha == 1.0 {
        rho * rho / accuracy
    } else {
        libm::pow(libm::pow(rho, 3.0 + alpha) / (accuracy * accuracy), exponent)
    };
    let formula = move |rounds: f64, gain: f64| {
        let logarithm = libm::log(rounds / delta);
        let growth = if alpha == 1.0 {
            gain * rounds.sqrt()
        } else {
            libm::pow(gain, 0.5 * (3.0 + alpha) * exponent) * libm::pow(rounds, exponent)
        };
        norm * (gain * rounds * logarithm).sqrt() + tail * logarithm * width * growth
    };
    (alpha > 0.0).then(|| Theorem::new(source, lambda.get(), formula).with_caveat(true, ORDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bounds are in tests/oracles/ldp_federated_units.json, for T = 1e4, an information gain of 23.4, B = 4,
    /// R = 1 and epsilon = 1.
    #[test]
    fn bounds_agree_with_the_oracle() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/oracles/ldp_federated_units.json")).unwrap();
        let known = Knowledge {
            bound: 4.0,
            horizon: 1e4,
            raw_moment: 217.0,
            central_moment: 201.0,
            alpha: 1.0,
            laplace: Some((5.0, 10.0)),
            tail: None,
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
        // The bounds of ATA and MoMA are continuous at alpha = 1. At alpha = 1/2 and B = 0 both bounds grow as T^(2/3) times
        // powers of ln T, and MoMA's bound grows as g^(7/6).
        let near = Knowledge { alpha: 1.0 - 1e-9, laplace: None, ..known };
        let (one, plain) =
            (Knowledge { alpha: 1.0, ..near }, Knowledge { bound: 0.0, laplace: None, ..known });
        let heavier = Knowledge { alpha: 0.5, ..plain };
        for of in [ata, moma] {
            let at = |known: &Knowledge, rounds: u64, gain: f64| {
                of(known, half, delta, unit).unwrap().at(rounds, gain)
            };
            assert!((at(&near, 10_000, 23.4) / at(&one, 10_000, 23.4) - 1.0).abs() < 1e-6);
            let growth = at(&heavier, 80_000_000, 23.4) / at(&heavier, 10_000_000, 23.4);
            // T grows by a factor of 8, so the bound grows by 8^(2/3) = 4, times a ratio of logarithms.
            assert!(growth > 4.0 && growth < 4.0 * 1.3, "{growth}");
            assert!(at(&heavier, 10_000, 23.4) > at(&plain, 10_000, 23.4));
            assert!(of(&Knowledge { alpha: 0.0, ..plain }, half, delta, unit).is_none());
        }
        let moma = |gain: f64| moma(&heavier, half, delta, unit).unwrap().at(10_000, gain);
        assert!((moma(16.0) / moma(8.0) / libm::pow(2.0, 7.0 / 6.0) - 1.0).abs() < 1e-12);
    }
}
