//! A list of releases to be priced, as a file: `Account(delta: 1e-5, events: [..])`.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::Document;
use super::parse::parse;
use super::sweep::Edited;
use super::tree;
use crate::accounting::MOST_RELEASES;
use crate::vocab::{Cost, Delta, Epsilon, NonNegative, Positive, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Releases to be priced, all at sensitivity 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Delta at which every accountant states its epsilon. Default: 1e-5.
    #[serde(default = "default_delta")]
    pub delta: Delta,
    /// The releases.
    pub events: Vec<AccountEvent>,
}

fn default_delta() -> Delta {
    Delta::new(1e-5).expect("1e-5 is between 0 and 1")
}

fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

/// One kind of release, and how often: at most 1,000,000,000,000 times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Event")]
pub enum AccountEvent {
    /// Gaussian noise.
    Gaussian {
        /// Standard deviation over the L2 sensitivity.
        noise_multiplier: Positive,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Laplace noise.
    Laplace {
        /// Scale over the L1 sensitivity.
        scale: Positive,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// An exponential mechanism.
    ExponentialMechanism {
        /// Its bounded range.
        epsilon: Epsilon,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Randomised response on one bit.
    RandomizedResponse {
        /// Its epsilon.
        epsilon: Epsilon,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Gaussian noise on a sum over a Poisson sample.
    PoissonGaussian {
        /// Inclusion probability of each unit.
        rate: Probability,
        /// Standard deviation over one unit's largest norm.
        noise_multiplier: Positive,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Gaussian noise on a sum over a sample of fixed size.
    FixedSizeGaussian {
        /// Units to draw from.
        population: u64,
        /// Units drawn.
        size: u64,
        /// Standard deviation over one unit's largest norm.
        noise_multiplier: Positive,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Anything known to be rho-zero-concentrated DP.
    ZeroConcentratedDp {
        /// Its rho.
        rho: NonNegative,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Anything known to be epsilon-DP.
    PureDp {
        /// Its epsilon.
        epsilon: Epsilon,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// Anything known to be (epsilon, delta)-DP.
    ApproximateDp {
        /// Its epsilon.
        epsilon: Epsilon,
        /// Its delta.
        delta: Delta,
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
    /// A value released as it is.
    Unprotected {
        /// How often. Default: 1.
        #[serde(default = "one")]
        count: NonZeroU64,
    },
}

impl AccountEvent {
    /// Its cost and how often it occurs.
    #[must_use]
    pub fn cost(&self) -> (Cost, u64) {
        match *self {
            Self::Gaussian { noise_multiplier, count } => {
                (Cost::Gaussian { noise_multiplier: noise_multiplier.get() }, count.get())
            }
            Self::Laplace { scale, count } => (Cost::Laplace { scale: scale.get() }, count.get()),
            Self::ExponentialMechanism { epsilon, count } => {
                (Cost::ExponentialMechanism { epsilon: epsilon.get() }, count.get())
            }
            Self::RandomizedResponse { epsilon, count } => {
                (Cost::RandomizedResponse { epsilon: epsilon.get() }, count.get())
            }
            Self::PoissonGaussian { rate, noise_multiplier, count } => {
                let noise_multiplier = noise_multiplier.get();
                (Cost::PoissonGaussian { rate: rate.get(), noise_multiplier }, count.get())
            }
            Self::FixedSizeGaussian { population, size, noise_multiplier, count } => {
                let noise_multiplier = noise_multiplier.get();
                (Cost::FixedSizeGaussian { population, size, noise_multiplier }, count.get())
            }
            Self::ZeroConcentratedDp { rho, count } => {
                (Cost::ZeroConcentratedDp { rho: rho.get() }, count.get())
            }
            Self::PureDp { epsilon, count } => (Cost::PureDp { epsilon: epsilon.get() }, count.get()),
            Self::ApproximateDp { epsilon, delta, count } => {
                (Cost::ApproximateDp { epsilon: epsilon.get(), delta: delta.get() }, count.get())
            }
            Self::Unprotected { count } => (Cost::Unprotected, count.get()),
        }
    }
}

impl Document {
    /// The document as a list of releases.
    ///
    /// # Errors
    /// Everything that is wrong: all errors of form, or else all errors of meaning.
    pub fn account(&self) -> Result<Account, Diagnostics> {
        let fail = |list| Diagnostics::new(self.file(), self.text(), list);
        let edited = Edited::unchanged(self.text());
        tree::read(&edited.text).map_err(fail)?;
        let account: Account = parse(&edited).map_err(fail)?;
        let root = tree::read(&edited.text).map_err(fail)?;
        let too_large = |(index, event): (usize, &AccountEvent)| match *event {
            AccountEvent::FixedSizeGaussian { population, size, .. } if size > population => {
                let path = format!("events[{index}]");
                let (node, _) = root.follow(&tree::path(&path).unwrap_or_default());
                let found = format!("size {size}, population {population}");
                Some(
                    Diagnostic::new(
                        edited.place(&node.span),
                        "a sample larger than its population".to_owned(),
                    )
                    .path(path)
                    .expected(format!("a size of at most {population}"))
                    .found(found)
                    .cure("lower size, or raise population"),
                )
            }
            _ => None,
        };
        let too_many = |(index, event): (usize, &AccountEvent)| {
            let (_, count) = event.cost();
            let path = format!("events[{index}].count");
            let (node, _) = root.follow(&tree::path(&path).unwrap_or_default());
            (count > MOST_RELEASES).then(|| {
                let words = "more releases than an accountant can add up".to_owned();
                Diagnostic::new(edited.place(&node.span), words)
                    .path(path)
                    .expected(format!("a count of at most {MOST_RELEASES}"))
                    .found(count.to_string())
                    .cure("lower count: so many releases protect nothing")
            })
        };
        let events = || account.events.iter().enumerate();
        let problems: Vec<Diagnostic> =
            events().filter_map(too_large).chain(events().filter_map(too_many)).collect();
        if problems.is_empty() { Ok(account) } else { Err(fail(problems)) }
    }
}
