//! The cost of one release, from which accountants compute its privacy loss, and its form in account files, with a count.

use super::{AboveOne, Delta, Epsilon, NonNegative, Positive, Probability, RepetitionShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Declares two enums from one list: [`Cost`] with plain numbers, and [`CountedCost`] with range-checked numbers and a count.
macro_rules! costs {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $plain:ty as $range:ty,)+ })?
    )+) => {
        /// The cost of one release: its mechanism, scaled to sensitivity 1. Accountants compute privacy losses from costs alone.
        ///
        /// The meaning of a published variant never changes; a mechanism that no variant describes gets a new variant.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Cost {
            $(
                $(#[$doc])*
                $name $({ $($(#[$field_doc])* $field: $plain,)+ })?,
            )+
        }

        /// One kind of release, with its count. An account file may state at most 1,000,000,000,000 of one kind.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename = "Event")]
        pub enum CountedCost {
            $(
                $(#[$doc])*
                $name {
                    $($($(#[$field_doc])* $field: $range,)+)?
                    /// Number of such releases. Default: 1.
                    #[serde(default = "one")]
                    count: NonZeroU64,
                },
            )+
        }

        impl CountedCost {
            /// The cost of one release, and the number of releases.
            #[must_use]
            pub fn cost(&self) -> (Cost, u64) {
                match *self {
                    $(Self::$name { $($($field,)+)? count } => {
                        (Cost::$name $({ $($field: $field.into(),)+ })?, count.get())
                    })+
                }
            }
        }
    };
}

fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

costs! {
    /// Noise N(0, m^2) added to a quantity of L2 sensitivity 1, where m is the noise multiplier.
    ///
    /// Example: `Gaussian(noise_multiplier: 2)`.
    Gaussian {
        /// Standard deviation divided by the L2 sensitivity.
        noise_multiplier: f64 as Positive,
    }
    /// Laplace noise of scale b added to a quantity of L1 sensitivity 1.
    ///
    /// Example: `Laplace(scale: 2)`.
    Laplace {
        /// Scale divided by the L1 sensitivity.
        scale: f64 as Positive,
    }
    /// An exponential mechanism that is `epsilon`-bounded-range (and so `epsilon`-DP).
    ///
    /// Example: `ExponentialMechanism(epsilon: 0.5)`.
    ExponentialMechanism {
        /// Length of an interval that contains all log-likelihood ratios between two neighbours.
        epsilon: f64 as Epsilon,
    }
    /// Binary randomised response with `epsilon`-DP; also the worst case among all `epsilon`-DP mechanisms.
    ///
    /// Example: `RandomizedResponse(epsilon: 1)`.
    RandomizedResponse {
        /// Natural logarithm of the probability of the true answer over that of the false answer.
        epsilon: f64 as Epsilon,
    }
    /// Gaussian noise on a sum over a Poisson sample.
    ///
    /// Example: `PoissonGaussian(rate: 0.35, noise_multiplier: 1, count: 30)`.
    PoissonGaussian {
        /// Inclusion probability of each unit.
        rate: f64 as Probability,
        /// Standard deviation divided by one unit's largest L2 norm in the sum.
        noise_multiplier: f64 as Positive,
    }
    /// Gaussian noise on a sum over a sample of fixed size drawn without replacement.
    ///
    /// Example: `FixedSizeGaussian(population: 50, size: 20, noise_multiplier: 1)`.
    FixedSizeGaussian {
        /// Units that could have taken part.
        population: u64 as u64,
        /// Units that took part.
        size: u64 as u64,
        /// Standard deviation divided by one unit's largest L2 norm in the sum.
        noise_multiplier: f64 as Positive,
    }
    /// Any mechanism known only to be `rho`-zero-concentrated DP (such as the discrete Gaussian mechanism).
    ///
    /// Example: `ZeroConcentratedDp(rho: 0.1)`.
    ZeroConcentratedDp {
        /// The Renyi divergence of every order a is at most rho a.
        rho: f64 as NonNegative,
    }
    /// The best result, in a fixed order of all results, of a Gaussian mechanism that is repeated a
    /// random number of times. The number of repetitions is not released. It has a truncated
    /// negative binomial distribution: geometric for shape 1, logarithmic for shape 0.
    ///
    /// Source: Papernot and Steinke 2022, Theorem 2.
    ///
    /// Example: `RepeatedGaussian(noise_multiplier: 10, shape: 1, mean: 20)`.
    RepeatedGaussian {
        /// Standard deviation divided by the L2 sensitivity.
        noise_multiplier: f64 as Positive,
        /// Shape eta of the distribution.
        shape: f64 as RepetitionShape,
        /// Mean number of repetitions.
        mean: f64 as AboveOne,
    }
    /// The best result, in a fixed order of all results, of a Gaussian mechanism that is repeated a
    /// Poisson-distributed number of times; no result if the number is 0. The number of repetitions
    /// is not released.
    ///
    /// Source: Papernot and Steinke 2022, Theorem 6.
    ///
    /// Example: `PoissonRepeatedGaussian(noise_multiplier: 10, mean: 20)`.
    PoissonRepeatedGaussian {
        /// Standard deviation divided by the L2 sensitivity.
        noise_multiplier: f64 as Positive,
        /// Mean number of repetitions.
        mean: f64 as Positive,
    }
    /// Any mechanism known only to be `epsilon`-DP.
    ///
    /// Example: `PureDp(epsilon: 0.5, count: 10)`.
    PureDp {
        /// The guarantee's epsilon.
        epsilon: f64 as Epsilon,
    }
    /// Any mechanism known only to be (`epsilon`, `delta`)-DP.
    ///
    /// Example: `ApproximateDp(epsilon: 0.5, delta: 1e-6)`.
    ApproximateDp {
        /// The guarantee's epsilon.
        epsilon: f64 as Epsilon,
        /// The guarantee's delta.
        delta: f64 as Delta,
    }
    /// No finite epsilon holds: the value was released without protection, or the claimed protection is refuted.
    Unprotected
}

impl Cost {
    /// The delta of an (epsilon, delta) guarantee, in [0, 1); 0 for every other cost.
    #[must_use]
    pub fn own_delta(&self) -> f64 {
        match *self {
            Self::ApproximateDp { delta, .. } => delta,
            Self::Gaussian { .. }
            | Self::Laplace { .. }
            | Self::ExponentialMechanism { .. }
            | Self::RandomizedResponse { .. }
            | Self::PoissonGaussian { .. }
            | Self::FixedSizeGaussian { .. }
            | Self::ZeroConcentratedDp { .. }
            | Self::RepeatedGaussian { .. }
            | Self::PoissonRepeatedGaussian { .. }
            | Self::PureDp { .. }
            | Self::Unprotected => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_states_costs_in_the_same_words() {
        let read = |text: &str| ron::from_str::<CountedCost>(text).map(|event| event.cost());
        assert_eq!(
            read("Gaussian(noise_multiplier: 2)").unwrap(),
            (Cost::Gaussian { noise_multiplier: 2.0 }, 1)
        );
        let sampled = Cost::FixedSizeGaussian { population: 9, size: 3, noise_multiplier: 1.0 };
        let text = "FixedSizeGaussian(population: 9, size: 3, noise_multiplier: 1, count: 7)";
        assert_eq!(read(text).unwrap(), (sampled, 7));
        assert_eq!(read("Unprotected()").unwrap(), (Cost::Unprotected, 1));
        assert!(read("Gaussian(noise_multiplier: 0)").is_err() && read("Unprotected(epsilon: 1)").is_err());
        assert_eq!(serde_json::to_string(&Cost::Unprotected).unwrap(), "\"Unprotected\"");
    }
}
