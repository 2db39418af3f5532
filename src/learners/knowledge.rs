//! Assumptions of the confidence bounds of ATA-, TGP- and MoMA-GP-UCB: bounds on the function and on the noise, and
//! the horizon (the number of outcomes).

use super::Outcomes;
use super::arms::{Arms, BuildError};
use crate::vocab::{Delta, Epsilon, NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known about the distribution of the outcomes that a learner observes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Payoffs {
    /// Outcomes with measurement noise in [-R, R], to which Laplace noise of scale s is added for local differential
    /// privacy. Zhou and Tan 2021, Theorems 2 and 3 and Corollary 1. With |f - prior mean| at most B, v = B^2 + R^2 + 2 s^2
    /// bounds the second moment of outcome - prior mean, and c = R^2 + 2 s^2 bounds the second moment of the sum of both
    /// noises.
    Private {
        /// R, bound on the noise of an outcome before it is made private, in units of the outcome.
        /// Default: the value that the protocol provides.
        #[serde(default)]
        noise_bound: Option<NonNegative>,
        /// Privacy loss epsilon of an outcome (natural logarithm of a likelihood ratio), from which the Laplace scale
        /// s = 2 (B + R) / epsilon follows. Default: none.
        #[serde(default)]
        epsilon: Option<Epsilon>,
        /// Scale s of the Laplace noise, in units of the outcome. Default: computed from epsilon if epsilon is stated, else
        /// the value that the protocol provides.
        #[serde(default)]
        laplace_scale: Option<Positive>,
    },
    /// Outcomes without privacy noise, about which only a bound on the moment of order 1 + alpha is known. Chowdhury and
    /// Gopalan 2019.
    ///
    /// Example: `HeavyTailed(central_moment: 2)`.
    HeavyTailed {
        /// c, bound on E|noise|^(1 + alpha), in units of the outcome to the power 1 + alpha. For alpha = 1 and noise with
        /// Student's t distribution with three degrees of freedom, c is 3.
        central_moment: Positive,
        /// v, bound on E|outcome - prior mean|^(1 + alpha), in the units of c.
        /// Default: B^2 + c for alpha = 1, else (B + c^(1/(1 + alpha)))^(1 + alpha), by Minkowski's inequality.
        #[serde(default)]
        raw_moment: Option<Positive>,
        /// alpha, dimensionless, above 0 and at most 1. Default: 1.
        #[serde(default = "one")]
        alpha: Probability,
    },
    /// Outcomes without privacy noise and with sub-Weibull measurement noise: P(|noise| >= x) <= a exp(-b x^(1/theta)). With
    /// theta = 1/2 the noise is sub-Gaussian, with theta = 1 sub-exponential; larger values of theta allow heavier tails.
    /// Zhou and Tan 2021, section 4.3, equation 5. The bounds on the second moments are
    /// c = a b^(-2 theta) Gamma(2 theta + 1) for the noise and v = B^2 + c for outcome - prior mean.
    ///
    /// Example: `SubWeibull(theta: 0.5)`.
    SubWeibull {
        /// theta, dimensionless, above 0.
        theta: Positive,
        /// a, dimensionless. Default: 1.
        #[serde(default = "default_factor")]
        a: Positive,
        /// b, in units of the outcome to the power of -1/theta. Default: 1.
        #[serde(default = "default_factor")]
        b: Positive,
    },
}

fn one() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

/// Default delta.
pub(super) fn default_delta() -> Delta {
    Delta::new(0.1).expect("0.1 is between 0 and 1")
}

/// 1, the default of factors, of lambda, and of a and b of `SubWeibull`.
pub(super) fn default_factor() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

/// Default accuracy of Nystrom features.
pub(super) fn accuracy() -> Probability {
    Probability::new(0.1).expect("0.1 is a probability")
}

/// A problem if the accuracy of the Nystrom features is not above 0 and below 1; otherwise an empty list.
pub(super) fn accuracy_problem(accuracy: Probability) -> Vec<Problem> {
    if accuracy.get() > 0.0 && accuracy.get() < 1.0 {
        return Vec::new();
    }
    let cure = "write 0.1, the value in the code of the papers";
    vec![Problem::wrong("accuracy", "an accuracy above 0 and below 1", accuracy.to_string(), cure)]
}

impl Default for Payoffs {
    fn default() -> Self {
        Self::Private { noise_bound: None, epsilon: None, laplace_scale: None }
    }
}

/// The constants of a learner's truncation and confidence bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Constants {
    /// The constants of the theorems, for which the regret bounds are proven.
    #[default]
    Theorem,
    /// Small constants, as in the experiments of Chowdhury and Gopalan 2019. The truncation and the confidence bounds then
    /// have the orders that the theorems state.
    OrderWise,
}

/// The problems of `payoffs` that do not depend on the outcomes: parameters for which the bounds are not defined.
pub(super) fn payoff_problems(payoffs: Payoffs) -> Vec<Problem> {
    match payoffs {
        Payoffs::HeavyTailed { alpha, .. } if alpha.get() <= 0.0 => {
            let cure = "write 1, for outcomes with a variance";
            vec![Problem::wrong(
                "payoffs.HeavyTailed.alpha",
                "alpha above 0, at most 1",
                alpha.to_string(),
                cure,
            )]
        }
        Payoffs::SubWeibull { theta, a, b } => {
            let moment = Tail { first: 0.0, theta: theta.get(), a: a.get(), b: b.get() }.second_moment();
            let found = format!("a second moment of {moment}");
            let cure = "lower theta (it is 1/2 or 1 in the papers), or change the unit of the outcome";
            let usable = moment.is_finite() && moment > 0.0;
            let expected = "a second moment a b^(-2 theta) Gamma(2 theta + 1) that is finite and above 0";
            let problem = || Problem::wrong("payoffs.SubWeibull", expected, found, cure);
            if usable { Vec::new() } else { vec![problem()] }
        }
        Payoffs::HeavyTailed { .. } | Payoffs::Private { .. } => Vec::new(),
    }
}

/// The problems of `payoffs` for outcomes with the properties `outcomes`. `HeavyTailed` and `SubWeibull` are refused for
/// private outcomes, because Laplace noise and clipping change the distribution of private outcomes. For outcomes that are
/// not private, `Private` is refused in two cases. In the first, `Private` states neither epsilon nor a scale; protocols
/// provide a scale for private outcomes only. In the second, `Private` states no noise bound although the noise of outcomes
/// is unbounded.
pub(super) fn form_problems(payoffs: Payoffs, outcomes: Outcomes) -> Vec<Problem> {
    let wrong = |path: &str, expected: &str, found: &str, cure: &str| {
        vec![Problem::wrong(format!("payoffs{path}"), expected, found, cure)]
    };
    match (payoffs, outcomes.private) {
        (Payoffs::HeavyTailed { .. } | Payoffs::SubWeibull { .. }, Some(true)) => {
            let name =
                if matches!(payoffs, Payoffs::SubWeibull { .. }) { "SubWeibull" } else { "HeavyTailed" };
            let expected = "Private(..): reports have Laplace noise, and the theorems about private reports assume bounded rewards";
            wrong("", expected, name, "leave payoffs out; or write report: Disclosure(), without privacy")
        }
        (Payoffs::Private { epsilon: None, laplace_scale: None, .. }, Some(false)) => wrong(
            "",
            "HeavyTailed(..) or SubWeibull(..), because outcomes are not private",
            "Private() without epsilon or laplace_scale",
            "write payoffs: HeavyTailed(central_moment: 3), for example; or make reports private",
        ),
        (Payoffs::Private { noise_bound: None, .. }, Some(false)) if outcomes.bounded == Some(false) => {
            wrong(
                ".Private.noise_bound",
                "a bound R on the noise, because the objective's noise is unbounded",
                "none",
                "write noise_bound: Some(1.0), for example; or payoffs: HeavyTailed(..)",
            )
        }
        _ => Vec::new(),
    }
}

/// Sub-Weibull noise around a function whose distance from the prior mean is at most `first`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// B, in units of the outcome.
    pub first: f64,
    /// theta, dimensionless, above 0.
    pub theta: f64,
    /// a, dimensionless, above 0.
    pub a: f64,
    /// b, above 0, in units of the outcome to the power of -1/theta.
    pub b: f64,
}

impl Tail {
    /// B + (ln(a t) / b)^theta, in units of the outcome, with 0 in place of a negative logarithm. The distance of an outcome
    /// from the prior mean exceeds this value with probability at most 1/t, for t >= 1. Zhou and Tan 2021, section 4.3,
    /// state the order of this value, O((ln t)^theta).
    #[must_use]
    pub fn truncation(&self, t: f64) -> f64 {
        let logarithm = libm::log(self.a * t).max(0.0);
        self.first + libm::pow(logarithm / self.b, self.theta)
    }

    /// A bound on E noise^2, in squared units of the outcome: the integral of 2 x a exp(-b x^(1/theta)) over x > 0, which is
    /// a b^(-2 theta) Gamma(2 theta + 1).
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        let twice = 2.0 * self.theta;
        self.a * libm::pow(self.b, -twice) * libm::tgamma(twice + 1.0)
    }
}

/// The quantities from which the bounds of ATA-, TGP- and MoMA-GP-UCB are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// B, bound on |f - prior mean|, in units of the outcome.
    pub bound: f64,
    /// T, total number of outcomes; at least 1.
    pub horizon: f64,
    /// v, bound on the raw moment E|outcome - prior mean|^(1 + alpha), in units of the outcome to the power 1 + alpha.
    pub raw_moment: f64,
    /// c, bound on the central moment E|noise|^(1 + alpha), in units of the outcome to the power 1 + alpha, privacy noise
    /// included.
    pub central_moment: f64,
    /// alpha, dimensionless, above 0 and at most 1.
    pub alpha: f64,
    /// (B + R, Laplace scale) of private outcomes, whose tails are exponential, in units of the outcome; `None` for other
    /// outcomes.
    pub laplace: Option<(f64, f64)>,
    /// The tail of sub-Weibull outcomes; `None` for other outcomes.
    pub tail: Option<Tail>,
}

impl Knowledge {
    /// v, in units of the outcome to the power 1 + alpha, and alpha, dimensionless, if alpha is below 1; else `None`. These
    /// two numbers are needed for the lower bound on regret under heavy tails.
    #[must_use]
    pub fn moment(&self) -> Option<(f64, f64)> {
        (self.alpha < 1.0).then_some((self.raw_moment, self.alpha))
    }

    /// Combines the values of a recipe (`bound`, `horizon` and `payoffs`) with the protocol's facts in `arms`; values of the
    /// recipe take precedence. `bound` is in units of the outcome, and `horizon` is a number of outcomes. Errors name
    /// `learner`. For private outcomes, v = B^2 + R^2 + 2 s^2 and c = R^2 + 2 s^2 (Zhou and Tan 2021, Theorems 2 and 3).
    ///
    /// # Errors
    /// [`BuildError::Unknown`] with the first quantity that neither the recipe nor the facts state.
    pub fn gather(
        learner: &'static str,
        bound: Option<Positive>,
        horizon: Option<u64>,
        payoffs: Payoffs,
        arms: &Arms,
    ) -> Result<Self, BuildError> {
        let facts = arms.facts;
        let need = |value: Option<f64>, field: &'static str, what: &'static str| {
            value.ok_or(BuildError::Unknown { learner, field, what })
        };
        let bound = need(bound.map(Positive::get).or(facts.bound), "bound", "a bound B on the function")?;
        let horizon =
            need(horizon.or(facts.horizon).map(|t| t.max(1) as f64), "horizon", "the number of outcomes")?;
        match payoffs {
            Payoffs::Private { noise_bound, epsilon, laplace_scale } => {
                let noise_bound = need(
                    noise_bound.map(NonNegative::get).or(facts.noise_bound),
                    "payoffs.Private.noise_bound",
                    "a bound R on the noise",
                )?;
                let first = bound + noise_bound;
                let scale = laplace_scale
                    .map(Positive::get)
                    .or(epsilon.map(|epsilon| 2.0 * first / epsilon.get()))
                    .or(facts.laplace_scale);
                let scale =
                    need(scale, "payoffs.Private.epsilon", "the epsilon or the Laplace scale of an outcome")?;
                let central_moment = noise_bound * noise_bound + 2.0 * scale * scale;
                Ok(Self {
                    bound,
                    horizon,
                    raw_moment: bound * bound + central_moment,
                    central_moment,
                    alpha: 1.0,
                    laplace: Some((first, scale)),
                    tail: None,
                })
            }
            Payoffs::HeavyTailed { central_moment, raw_moment, alpha } => {
                let central_moment = central_moment.get();
                let alpha = alpha.get();
                let sum = || match alpha {
                    1.0 => bound * bound + central_moment,
                    _ => {
                        let order = 1.0 + alpha;
                        libm::pow(bound + libm::pow(central_moment, 1.0 / order), order)
                    }
                };
                let raw_moment = raw_moment.map_or_else(sum, Positive::get);
                Ok(Self { bound, horizon, raw_moment, central_moment, alpha, laplace: None, tail: None })
            }
            Payoffs::SubWeibull { theta, a, b } => {
                let tail = Tail { first: bound, theta: theta.get(), a: a.get(), b: b.get() };
                let central_moment = tail.second_moment();
                let raw_moment = bound * bound + central_moment;
                let tail = Some(tail);
                Ok(Self { bound, horizon, raw_moment, central_moment, alpha: 1.0, laplace: None, tail })
            }
        }
    }

    /// v^(1/(1+alpha)) in the theorems of Chowdhury and Gopalan 2019, in units of the outcome.
    #[must_use]
    pub fn raw_root(&self) -> f64 {
        libm::pow(self.raw_moment, 1.0 / (1.0 + self.alpha))
    }

    /// t^((1-alpha)/(2(1+alpha))), dimensionless, with t at least 0: the factor by which the widths of ATA grow with the
    /// number t of outcomes, and those of MoMA with the number t of epochs. The factor is 1 for alpha = 1. Chowdhury and
    /// Gopalan 2019, Algorithm 2; Zhou and Tan 2021, Theorem 4.
    #[must_use]
    pub fn growth(&self, t: f64) -> f64 {
        libm::pow(t, (1.0 - self.alpha) / (2.0 * (1.0 + self.alpha)))
    }
}
