//! The cost of one release, from which accountants compute the privacy loss of the release. In account files, a cost has a
//! count: the number of releases that have this cost.

use super::{AboveOne, Delta, Epsilon, NonNegative, Positive, Probability, RepetitionShape, TreePlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Declares two enums from one list: [`Cost`] with plain numbers, and [`CountedCost`] with range-checked numbers and a
/// count. `stated` lists further forms of `CountedCost`, each with the `Cost` that follows from its numbers.
macro_rules! costs {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $plain:ty as $range:ty,)+ })?
    )+;
    stated {
        $(
            $(#[$form_doc:meta])*
            $form:ident { $($(#[$given_meta:meta])* $given:ident: $given_range:ty,)+ } => $form_cost:expr;
        )+
    }) => {
        /// The cost of one release: its mechanism, scaled to sensitivity 1. Accountants compute privacy losses from costs
        /// alone.
        ///
        /// The meaning of a variant does not change after it has been published; a mechanism that no variant describes gets
        /// a new variant.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Cost {
            $(
                $(#[$doc])*
                $name $({ $($(#[$field_doc])* $field: $plain,)+ })?,
            )+
        }

        /// One kind of release, with the number of such releases: at most 1,000,000,000,000 in an account file.
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
            $(
                $(#[$form_doc])*
                $form {
                    $($(#[$given_meta])* $given: $given_range,)+
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
                    $(Self::$form { $($given,)+ count } => ($form_cost, count.get()),)+
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
        /// Natural logarithm of the ratio of the probability of the true answer to the probability of the false answer.
        epsilon: f64 as Epsilon,
    }
    /// Gaussian noise on a sum over a Poisson sample, for neighbours that differ in one unit, which is added, removed or
    /// replaced by zero.
    ///
    /// Example: `PoissonGaussian(rate: 0.35, noise_multiplier: 1, count: 30)`.
    PoissonGaussian {
        /// Probability with which each unit is in the sample.
        rate: f64 as Probability,
        /// Standard deviation of the noise divided by the largest L2 norm of one unit's term of the sum.
        noise_multiplier: f64 as Positive,
    }
    /// Gaussian noise on a sum over a sample of fixed size drawn without replacement, for neighbours that differ in one
    /// unit, which is replaced by another.
    ///
    /// Example: `FixedSizeGaussian(population: 50, size: 20, noise_multiplier: 1)`.
    FixedSizeGaussian {
        /// Number of units from which the sample is drawn.
        population: u64 as u64,
        /// Number of units in the sample.
        size: u64 as u64,
        /// Standard deviation of the noise divided by the largest L2 norm of one unit's term of the sum. Replacing a unit
        /// can change the sum by twice this norm.
        noise_multiplier: f64 as Positive,
    }
    /// Any mechanism known only to be `rho`-zero-concentrated DP (such as the discrete Gaussian mechanism).
    ///
    /// Example: `ZeroConcentratedDp(rho: 0.1)`.
    ZeroConcentratedDp {
        /// The Renyi divergence of every order a above 1 is at most rho a.
        rho: f64 as NonNegative,
    }
    /// The best result, by a ranking of all results that is fixed in advance, of a Gaussian mechanism that is repeated a
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
    /// The best result, by a ranking of all results that is fixed in advance, of a Gaussian mechanism that is repeated a
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
    Unprotected;
    stated {
        /// The sparse vector technique: a sequence of any number of values is compared with a threshold, until `cutoff`
        /// of them were not below it. AboveThreshold (Dwork and Roth 2014, Algorithm 1) has the scales
        /// `threshold_scale: 2 / epsilon` and `number_scale: 4 / epsilon`. The technique is epsilon-DP with epsilon =
        /// 1 / threshold_scale + 2 cutoff / number_scale (for monotonic values, the second term is cutoff /
        /// number_scale), plus cutoff / value_scale if noisy values are released.
        ///
        /// Source: Lyu, Su and Li 2017, Algorithm 7 and section 4.
        ///
        /// Example: `SparseVector(threshold_scale: 2, number_scale: 4)`.
        SparseVector {
            /// Scale of the Laplace noise on the threshold, divided by the sensitivity of a value. This noise is drawn
            /// once.
            threshold_scale: Positive,
            /// Scale of the fresh Laplace noise on each value that is compared, divided by the sensitivity.
            number_scale: Positive,
            /// Number of values not below the threshold after which the comparisons end. Default: 1.
            #[serde(default = "one")]
            cutoff: NonZeroU64,
            /// Whether all values differ in the same direction between neighbours. Default: false.
            #[serde(default)]
            monotonic: bool,
            /// Scale of the fresh Laplace noise on each value that is released, divided by the sensitivity.
            /// Default: none is released.
            #[serde(default)]
            value_scale: Option<Positive>,
        } => sparse_vector([threshold_scale, number_scale], cutoff, monotonic, value_scale);
        /// Tree aggregation: the sums of all values so far, after each of `steps` steps. They are computed from partial
        /// sums in a binary tree, each with Gaussian noise. All sums together cost as much as one Gaussian mechanism whose
        /// noise multiplier is noise_multiplier / S. For given steps at which one unit contributes, count the unit's
        /// contributions to each partial sum, square these counts, and add up the squares. S^2 is the largest such total
        /// over all choices of these steps; for more than 256 contributions it is an upper bound on this total. For one
        /// contribution, S^2 is floor(log2(n)) + 1, where n is the number of steps of a tree.
        ///
        /// Source: Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011; Kairouz and others 2021.
        ///
        /// Example: `TreeAggregation(steps: 1000, noise_multiplier: 8)`.
        TreeAggregation {
            /// Number of steps.
            steps: NonZeroU64,
            /// Standard deviation of the noise on a partial sum, divided by the largest L2 norm of the change of one value.
            noise_multiplier: Positive,
            /// Number of steps at which one unit may contribute. Default: 1.
            #[serde(default = "one")]
            contributions: NonZeroU64,
            /// Number of steps after which a new tree begins. Default: none, one tree for all steps.
            #[serde(default)]
            restart: Option<NonZeroU64>,
            /// Whether noisy partial sums are drawn for all nodes of the tree, right children included. Honaker's estimate
            /// needs all of these sums. For one contribution, the cost is the same. Default: false.
            #[serde(default)]
            all_nodes: bool,
        } => tree_aggregation(TreePlan { steps, contributions, restart }, noise_multiplier, all_nodes);
    }
}

/// The cost of the sparse vector technique. `scales` are the scale of the noise on the threshold and the scale of the noise
/// on each value that is compared; `value` is the scale of the noise on each released value.
fn sparse_vector(
    scales: [Positive; 2],
    cutoff: NonZeroU64,
    monotonic: bool,
    value: Option<Positive>,
) -> Cost {
    let ([threshold, number], cutoff) = (scales.map(Positive::get), cutoff.get() as f64);
    let sides = if monotonic { 1.0 } else { 2.0 };
    let of_values = value.map_or(0.0, |scale| cutoff / scale.get());
    let epsilon = 1.0 / threshold + sides * cutoff / number + of_values;
    if epsilon.is_finite() { Cost::PureDp { epsilon } } else { Cost::Unprotected }
}

/// The cost of all sums of a tree. `noise` is the standard deviation of the noise on a partial sum, divided by the largest
/// L2 norm of the change of one value.
fn tree_aggregation(plan: TreePlan, noise: Positive, all_nodes: bool) -> Cost {
    let square = if all_nodes { plan.sensitivity_squared_of_all_nodes() } else { plan.sensitivity_squared() };
    let noise_multiplier = noise.get() / square.sqrt();
    if noise_multiplier > 0.0 { Cost::Gaussian { noise_multiplier } } else { Cost::Unprotected }
}

impl Cost {
    /// The delta in (0, 1) of a cost that is itself an (epsilon, delta) guarantee; 0 for every other cost.
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

    /// AboveThreshold with the scales 2 / epsilon and 4 / epsilon of Dwork and Roth 2014 costs epsilon; a tree of 1000 steps
    /// has ten levels.
    #[test]
    fn forms_of_a_file_have_the_cost_of_their_noise() {
        let read = |text: &str| ron::from_str::<CountedCost>(text).map(|event| event.cost()).unwrap();
        let pure = |text: &str| match read(text) {
            (Cost::PureDp { epsilon }, 1) => epsilon,
            other => panic!("{other:?}"),
        };
        assert_eq!(pure("SparseVector(threshold_scale: 4, number_scale: 8)"), 0.5);
        assert_eq!(pure("SparseVector(threshold_scale: 4, number_scale: 8, cutoff: 3)"), 1.0);
        assert_eq!(
            pure(
                "SparseVector(threshold_scale: 4, number_scale: 8, cutoff: 3, monotonic: true, value_scale: Some(6))"
            ),
            1.125
        );
        let (cost, count) = read("TreeAggregation(steps: 1000, noise_multiplier: 8, count: 2)");
        assert_eq!((cost, count), (Cost::Gaussian { noise_multiplier: 8.0 / 10f64.sqrt() }, 2));
        let (cost, _) =
            read("TreeAggregation(steps: 1000, noise_multiplier: 8, contributions: 2, restart: Some(1))");
        assert_eq!(cost, Cost::Gaussian { noise_multiplier: 8.0 / 2f64.sqrt() });
    }
}
