//! Assumptions of the confidence bounds of LDP-BO's learners: bounds on the function, on the noise, and the
//! horizon.

use super::arms::{Arms, BuildError};
use crate::vocab::{Delta, Epsilon, NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of the outcomes that arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Payoffs {
    /// Outcomes with noise in [-R, R], sent with Laplace noise: local differential privacy. Zhou and Tan 2021,
    /// Theorems 2 and 3 and Corollary 1, whose moments are v = B^2 + R^2 + 2 s^2 and c = R^2 + 2 s^2.
    Private {
        /// R, bound on the noise of an outcome before it is made private. Default: the value that the protocol
        /// provides.
        #[serde(default)]
        noise_bound: Option<NonNegative>,
        /// epsilon of an outcome, from which the Laplace scale s = 2 (B + R) / epsilon follows. Default: none.
        #[serde(default)]
        epsilon: Option<Epsilon>,
        /// Scale s of the Laplace noise, in units of the outcome. Default: computed from epsilon, or the value that the
        /// protocol provides.
        #[serde(default)]
        laplace_scale: Option<Positive>,
    },
    /// Outcomes without privacy noise, of which only the moment of order 1 + alpha is bounded. Chowdhury and Gopalan
    /// 2019.
    HeavyTailed {
        /// c, bound on E|noise|^(1 + alpha); 3 for Student's t with three degrees of freedom.
        central_moment: Positive,
        /// v, bound on E|outcome|^(1 + alpha). Default: B^2 + c, which is right for alpha = 1.
        #[serde(default)]
        raw_moment: Option<Positive>,
        /// alpha, above 0 and at most 1. Default: 1.
        #[serde(default = "one")]
        alpha: Probability,
    },
    /// Outcomes whose noise is sub-Weibull, P(|noise| >= x) <= a exp(-b x^(1/theta)), without privacy: theta = 1/2 is
    /// sub-Gaussian, 1 sub-exponential, more is heavier. Zhou and Tan 2021, section 4.3, equation 5; c and v follow, c = a b^(-2
    /// theta) Gamma(2 theta + 1) and v = B^2 + c.
    SubWeibull {
        /// theta, above 0.
        theta: Positive,
        /// a. Default: 1.
        #[serde(default = "unit")]
        a: Positive,
        /// b, in units of the outcome to the power of -1/theta. Default: 1.
        #[serde(default = "unit")]
        b: Positive,
    },
}

fn one() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

/// Default delta.
pub(super) fn tenth() -> Delta {
    Delta::new(0.1).expect("0.1 is between 0 and 1")
}

/// Default of factors.
pub(super) fn unit() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

/// Default accuracy of Nystrom features.
pub(super) fn accuracy() -> Probability {
    Probability::new(0.1).expect("0.1 is a probability")
}

/// What is wrong with an accuracy of Nystrom features.
pub(super) fn accuracy_problem(accuracy: Probability) -> Vec<Problem> {
    if accuracy.get() > 0.0 && accuracy.get() < 1.0 {
        return Vec::new();
    }
    let cure = "write 0.1, as the papers' code has it";
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
    /// Those of the theorems, under which the regret bounds are proven.
    #[default]
    Theorem,
    /// The orders of the theorems with small constants, as in the experiments of Chowdhury and Gopalan 2019.
    OrderWise,
}

/// What is wrong with what is known of outcomes.
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
            let cure = "lower theta (the papers' laws have 1/2 and 1), or change the unit of the outcome";
            let usable = moment.is_finite() && moment > 0.0;
            let expected = "a second moment a b^(-2 theta) Gamma(2 theta + 1) that is finite and above 0";
            let problem = || Problem::wrong("payoffs.SubWeibull", expected, found, cure);
            if usable { Vec::new() } else { vec![problem()] }
        }
        Payoffs::HeavyTailed { .. } | Payoffs::Private { .. } => Vec::new(),
    }
}

/// A sub-Weibull law of noise around a function of at most `first` in size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// B, in units of the outcome.
    pub first: f64,
    /// theta, above 0.
    pub theta: f64,
    /// a, above 0.
    pub a: f64,
    /// b, above 0.
    pub b: f64,
}

impl Tail {
    /// B + (ln(a t) / b)^theta: an outcome is larger in size with probability at most 1/t, t at least 1. Zhou and Tan 2021,
    /// section 4.3: O((ln t)^theta).
    #[must_use]
    pub fn truncation(&self, t: f64) -> f64 {
        let logarithm = libm::log(self.a * t).max(0.0);
        self.first + libm::pow(logarithm / self.b, self.theta)
    }

    /// E noise^2 is at most the integral of 2 x a exp(-b x^(1/theta)), a b^(-2 theta) Gamma(2 theta + 1).
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        let twice = 2.0 * self.theta;
        self.a * libm::pow(self.b, -twice) * libm::tgamma(twice + 1.0)
    }
}

/// Everything a robust learner knows, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// B, bound on |f - prior mean|, in units of the outcome.
    pub bound: f64,
    /// T, number of outcomes in all; at least 1.
    pub horizon: f64,
    /// v, bound on the raw moment E|outcome - prior mean|^(1 + alpha).
    pub raw_moment: f64,
    /// c, bound on the central moment E|noise|^(1 + alpha), privacy noise included.
    pub central_moment: f64,
    /// alpha, above 0 and at most 1.
    pub alpha: f64,
    /// (B + R, Laplace scale) of private outcomes, whose tails are exponential, in units of the outcome.
    pub laplace: Option<(f64, f64)>,
    /// The tail of sub-Weibull outcomes.
    pub tail: Option<Tail>,
}

impl Knowledge {
    /// Combines recipe and facts; what the recipe states takes precedence. `learner` is for the message of an error.
    /// Moments of private outcomes: Zhou and Tan 2021, Theorems 2 and 3: v = B^2 + R^2 + 2 s^2 and c = R^2 + 2 s^2.
    ///
    /// # Errors
    /// [`BuildError::Unknown`] names the first quantity that neither of them states.
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
        let horizon = need(
            horizon.or(facts.horizon).map(|t| t.max(1) as f64),
            "horizon",
            "how many outcomes will be asked for",
        )?;
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
                let scale = need(scale, "payoffs.Private.epsilon", "how private an outcome is")?;
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
                let raw_moment = raw_moment.map_or(bound * bound + central_moment, Positive::get);
                let alpha = alpha.get();
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

    /// t^((1-alpha)/(2(1+alpha))) of t outcomes or epochs, t at least 0: the growth of ATA's and MoMA's widths; 1 for
    /// alpha = 1. Chowdhury and Gopalan 2019, Algorithm 2; Zhou and Tan 2021, Theorem 4.
    #[must_use]
    pub fn growth(&self, t: f64) -> f64 {
        libm::pow(t, (1.0 - self.alpha) / (2.0 * (1.0 + self.alpha)))
    }
}
