//! TGP-UCB: GP-UCB on outcomes that are truncated once, on arrival: an outcome too far from the prior mean is replaced
//! by the prior mean.

use super::arms::{Arms, BuildError, small_covariance};
use super::knowledge::{self, Constants, Knowledge, Payoffs, form_problems, payoff_problems};
use super::theorem::{self, Theorem};
use super::{Learner, LearnerRecipe, MATRIX_ARMS, Outcomes, matrix_effort};
use crate::gp::{ArmPosterior, GpError, largest, upper_bounds};
use crate::rng::Stream;
use crate::vocab::{Delta, Effort, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

/// TGP-UCB: argmax over arms of mean + beta_t sd, on outcomes truncated at b_t. If the distance of an outcome from the prior
/// mean exceeds b_t, the outcome is replaced by the prior mean.
///
/// With the constants `Theorem`, beta_1 = B. The formulas of b_t, and of beta_t for t >= 2, depend on `payoffs`.
/// Private outcomes with Laplace scale s: b_t = B + R + s ln t and
/// beta_t = B + (2 sqrt(2) b_(t-1) sqrt(gamma + ln(1/delta)) + sqrt(v (ln(t-1) + 1))) / sqrt(lambda).
/// Heavy tails: b_t = v^(1/(1+alpha)) t^(1/(2(1+alpha))) and
/// beta_t = B + b_(t-1) (2 sqrt(2) sqrt(gamma + ln(1/delta)) + sqrt(1 + alpha)) / sqrt(lambda).
/// Sub-Weibull: b_t = B + (ln(a t) / b)^theta. The distance of an outcome from the prior mean exceeds b_t with probability
/// at most 1/t. The formula of beta_t is that for private outcomes: the proof needs only this bound on the probability, and
/// the bound v on the second moment.
/// With the constants `OrderWise`, beta_t = B sqrt(lambda) + b_t sqrt(ln t) in all three cases and for every t. gamma
/// is the information gain of the first t - 1 queried arms; R, s, v, alpha, a, b and theta are those of `payoffs`.
/// Source: Zhou and Tan 2021, Algorithm 2 and Theorem 3; for heavy tails, the same proof with the truncation of
/// Chowdhury and Gopalan 2019, Theorem 1. The theorems assume that the prior variance k(x, x) is at most 1.
///
/// Example: `TgpUcb(bound: 2, payoffs: HeavyTailed(central_moment: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TgpUcb {
    /// B, bound on the function's distance from the prior mean, in units of the outcome.
    /// Default: the value that the protocol provides.
    #[serde(default)]
    pub bound: Option<Positive>,
    /// T, number of outcomes that are expected. Default: the value that the protocol provides.
    #[serde(default)]
    pub horizon: Option<u64>,
    /// What is known about the distribution of the outcomes. Default: `Private()`, with the values that the protocol
    /// provides.
    #[serde(default)]
    pub payoffs: Payoffs,
    /// Probability that the confidence bounds fail. Default: 0.1.
    #[serde(default = "knowledge::default_delta")]
    pub delta: Delta,
    /// Regulariser lambda, in squared units of the outcome. Default: 1.
    #[serde(default = "knowledge::default_factor")]
    pub lambda: Positive,
    /// Constants of truncation and confidence. Default: `Theorem`.
    #[serde(default)]
    pub constants: Constants,
    /// Factor, dimensionless, by which beta is multiplied. Default: 1.
    #[serde(default = "knowledge::default_factor")]
    pub beta_scale: Positive,
}

/// The learner during a run. In the formulas of [`TgpUcb`], t is one more than the number of outcomes that have arrived.
/// Lost outcomes do not count, so the bounds remain valid if the value of an outcome has no influence on whether the outcome
/// is lost.
#[derive(Clone, Debug)]
struct State {
    recipe: TgpUcb,
    known: Knowledge,
    posterior: ArmPosterior,
    scores: Vec<f64>,
    mean: f64,
}

impl TgpUcb {
    /// b_t of round `t`, in units of the outcome: an outcome whose distance from the prior mean exceeds b_t is replaced by
    /// the prior mean. The first round is 1. Zhou and Tan 2021, Theorem 3; for heavy tails, Chowdhury and Gopalan 2019,
    /// Theorem 1.
    #[must_use]
    pub fn truncation(&self, known: &Knowledge, t: f64) -> f64 {
        match (known.laplace, known.tail) {
            (Some((first, scale)), _) => first + scale * libm::log(t),
            (None, Some(tail)) => tail.truncation(t),
            (None, None) => known.raw_root() * libm::pow(t, 0.5 / (1.0 + known.alpha)),
        }
    }

    /// beta_t of round `t`: the factor by which the standard deviation is multiplied, not yet multiplied by `beta_scale`.
    /// `gain` is the information gain of the first t - 1 queried arms, in nats. The first round is 1. Zhou and Tan 2021,
    /// Algorithm 2 and Theorem 3.
    #[must_use]
    pub fn width(&self, known: &Knowledge, t: f64, gain: f64) -> f64 {
        let lambda = self.lambda.get();
        match self.constants {
            Constants::OrderWise => {
                known.bound * lambda.sqrt() + self.truncation(known, t) * libm::log(t).sqrt()
            }
            Constants::Theorem if t < 2.0 => known.bound,
            Constants::Theorem => {
                let before = t - 1.0;
                let b = self.truncation(known, before);
                let first = 2.0 * SQRT_2 * b * (gain - libm::log(self.delta.get())).sqrt();
                let second = if known.laplace.is_some() || known.tail.is_some() {
                    (known.raw_moment * (libm::log(before) + 1.0)).sqrt()
                } else {
                    b * (1.0 + known.alpha).sqrt()
                };
                known.bound + (first + second) / lambda.sqrt()
            }
        }
    }
}

impl LearnerRecipe for TgpUcb {
    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        matrix_effort(arms, outcomes)
    }

    fn most_arms(&self) -> Option<u64> {
        Some(MATRIX_ARMS)
    }

    fn problems(&self) -> Vec<Problem> {
        payoff_problems(self.payoffs)
    }

    fn problems_with(&self, outcomes: Outcomes) -> Vec<Problem> {
        form_problems(self.payoffs, outcomes)
    }

    fn moment(&self, arms: &Arms) -> Option<(f64, f64)> {
        let known = Knowledge::gather("TgpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        known.moment()
    }

    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        let known = Knowledge::gather("TgpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        let theorem = match known.laplace {
            Some((_, scale)) => theorem::private_tgp(scale, self.delta, self.lambda),
            None => {
                // R_T, the cumulative regret of T rounds, is at most 2 beta_T times the sum of the posterior standard
                // deviations of the queried arms. By the Cauchy-Schwarz inequality, this sum is at most sqrt(T S), where S
                // is the sum of the posterior variances of the queried arms. S is at most 2 s / ln(1 + s / lambda) times the
                // information gain, where s is the largest prior variance (1 in the papers).
                let recipe = Self { constants: Constants::Theorem, ..self.clone() };
                let most = small_covariance("TgpUcb", arms).ok()?.variances().into_iter().fold(0.0, f64::max);
                let spread = 2.0 * most / libm::log1p(most / self.lambda.get());
                let formula = move |rounds: f64, gain: f64| {
                    2.0 * recipe.width(&known, rounds, gain) * (spread * rounds * gain).sqrt()
                };
                let source = match known.tail {
                    Some(_) => {
                        "Zhou and Tan 2021, section 4.3, sub-Weibull: 2 beta_T sqrt(2 s T gamma_T / ln(1 + s/lambda)) with s the largest prior variance, 1 in the paper"
                    }
                    None => {
                        "Chowdhury and Gopalan 2019, TGP-UCB: 2 beta_T sqrt(2 s T gamma_T / ln(1 + s/lambda)) with s the largest prior variance, 1 in the paper"
                    }
                };
                Theorem::new(source, self.lambda.get(), formula)
            }
        };
        Some(theorem.with_constants_caveat(self.constants, self.beta_scale))
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let known = Knowledge::gather("TgpUcb", self.bound, self.horizon, self.payoffs, arms)?;
        let prior = small_covariance("TgpUcb", arms)?;
        let posterior = ArmPosterior::new(prior, self.lambda.get(), 0.0);
        let scores = vec![0.0; arms.n];
        Ok(Box::new(State { recipe: self.clone(), known, posterior, scores, mean: arms.mean }))
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.posterior.mean().len()
    }

    fn suggest(&mut self, _: &mut Stream) -> usize {
        let t = (self.posterior.observations() + 1) as f64;
        let beta = self.recipe.beta_scale.get()
            * self.recipe.width(&self.known, t, self.posterior.information_gain());
        upper_bounds(self.posterior.mean(), self.posterior.variance(), beta, &mut self.scores);
        largest(&self.scores)
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        let t = (self.posterior.observations() + 1) as f64;
        let centred = outcome - self.mean;
        let keep = !centred.is_finite() || centred.abs() <= self.recipe.truncation(&self.known, t);
        // An outcome that is not finite is passed to the posterior, which returns an error.
        self.posterior.observe(arm, if keep { centred } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_agree_with_the_oracle() {
        // The expected numbers are those of `ldp_constants` in tests/oracles/ldp_federated_units.json, for B = 4, R = 1,
        // epsilon = 1, delta = 0.1 and lambda = 1.
        let recipe: TgpUcb = ron::from_str("()").unwrap();
        let known = Knowledge {
            bound: 4.0,
            horizon: 1e4,
            raw_moment: 217.0,
            central_moment: 201.0,
            alpha: 1.0,
            laplace: Some((5.0, 10.0)),
            tail: None,
        };
        for (t, b) in [
            (1.0, 5.0),
            (2.0, 11.931471805599454),
            (10.0, 28.02585092994046),
            (100.0, 51.05170185988092),
            (1e4, 97.10340371976184),
        ] {
            assert!((recipe.truncation(&known, t) - b).abs() < 1e-12);
        }
        for (t, gain, beta) in [
            (2.0, 0.3466, 41.749108727091446),
            (10.0, 2.0, 188.5838888123887),
            (100.0, 7.44, 488.6621857116652),
            (1e4, 23.4, 1443.4683510963628),
        ] {
            let found = recipe.width(&known, t, gain);
            assert!((found - beta).abs() < 1e-9, "{found} {beta}");
        }
        assert_eq!(recipe.width(&known, 1.0, 0.0), 4.0);
    }

    /// The sub-Weibull tail bound (Zhou and Tan 2021, equation 5) with theta = 1, a = 1, b = 1/10 is the tail of Laplace
    /// noise of scale 10. So b_t equals b_t of private outcomes with R = 0 and Laplace scale 10. The values of beta_t are
    /// equal too, since the second moments are equal. With theta = 2, b_t - B is of order (ln t)^2, and the tail bound on
    /// the probability that the absolute value of the noise exceeds b_t - B is 1/t.
    #[test]
    fn sub_weibull_outcomes_are_truncated_at_a_power_of_the_logarithm() {
        let recipe: TgpUcb = ron::from_str("()").unwrap();
        let payoffs = |text: &str| -> Payoffs { ron::from_str(text).unwrap() };
        let arms = Arms {
            n: 3,
            covariance: None,
            noise_variance: 1.0,
            mean: 0.0,
            facts: crate::learners::ProblemConstants {
                horizon: Some(100),
                bound: Some(4.0),
                ..crate::learners::ProblemConstants::default()
            },
        };
        let known = |text: &str| Knowledge::gather("TgpUcb", None, None, payoffs(text), &arms).unwrap();
        let weibull = known("SubWeibull(theta: 1, b: 0.1)");
        let private = known("Private(noise_bound: Some(0), laplace_scale: Some(10))");
        assert!((weibull.raw_moment - private.raw_moment).abs() < 1e-9, "{}", weibull.raw_moment);
        for t in [1.0, 2.0, 50.0, 1e4] {
            assert!((recipe.truncation(&weibull, t) - recipe.truncation(&private, t)).abs() < 1e-9);
            assert!((recipe.width(&weibull, t, 2.0) - recipe.width(&private, t, 2.0)).abs() < 1e-9);
        }
        let heavier = known("SubWeibull(theta: 2, a: 3, b: 0.5)");
        for t in [2.0f64, 50.0, 1e4] {
            let x = recipe.truncation(&heavier, t) - 4.0;
            assert!((3.0 * (-0.5 * x.sqrt()).exp() * t - 1.0).abs() < 1e-9);
        }
        // The bound on the noise's second moment is a b^(-2 theta) Gamma(2 theta + 1) = 3 * 16 * 24.
        assert!((heavier.central_moment - 1152.0).abs() < 1e-9);
        assert!(!payoff_problems(payoffs("SubWeibull(theta: 1000)")).is_empty());
        assert!(!payoff_problems(payoffs("HeavyTailed(central_moment: 1, alpha: 0)")).is_empty());
    }

    /// The default of `raw_moment` is compared with E|B + noise|^1.5, where the noise is x or -x with equal probability and
    /// E|noise|^1.5 = c.
    #[test]
    fn the_default_raw_moment_is_a_bound_for_every_alpha() {
        for (bound, c) in [(0.5, 1e-4), (0.5, 2.0), (4.0, 1e-4), (4.0, 100.0)] {
            let facts = crate::learners::ProblemConstants {
                horizon: Some(100),
                bound: Some(bound),
                ..crate::learners::ProblemConstants::default()
            };
            let arms = Arms { n: 3, covariance: None, noise_variance: 1.0, mean: 0.0, facts };
            let payoffs = ron::from_str(&format!("HeavyTailed(central_moment: {c}, alpha: 0.5)")).unwrap();
            let v = Knowledge::gather("TgpUcb", None, None, payoffs, &arms).unwrap().raw_moment;
            let x = libm::pow(c, 1.0 / 1.5);
            let power = |outcome: f64| libm::pow(outcome.abs(), 1.5);
            let moment = 0.5 * (power(bound + x) + power(bound - x));
            assert!(moment <= v && power(bound) <= v, "{moment} {v}");
        }
    }

    /// With a prior variance of 4, the bound is larger by the factor sqrt(4 ln 2 / ln 5) than with a variance of 1. The
    /// papers assume a variance of 1, so their bound would be too small for a variance of 4.
    #[test]
    fn the_bound_counts_the_prior_variance() {
        let recipe: TgpUcb = ron::from_str("(payoffs: HeavyTailed(central_moment: 3))").unwrap();
        let bound = |variance: f64| {
            let facts = crate::learners::ProblemConstants {
                horizon: Some(100),
                bound: Some(4.0),
                ..crate::learners::ProblemConstants::default()
            };
            let points = std::sync::Arc::new(crate::gp::Points::new(3, 1, vec![0.0, 0.5, 1.0]));
            let covariance = crate::gp::covariance::Covariance::squared_exponential(0.2, variance);
            let covariance = Some(crate::gp::ArmCovariance::of_inputs(points, covariance));
            let arms = Arms { n: 3, covariance, noise_variance: 1.0, mean: 0.0, facts };
            recipe.theorem(&arms).unwrap().at(50, 3.0)
        };
        let ratio = bound(4.0) / bound(1.0);
        let expected = (4.0 * libm::log(2.0) / libm::log(5.0)).sqrt();
        assert!((ratio - expected).abs() < 1e-12, "{ratio} {expected}");
    }
}
