//! Algorithm 2 of Kusner et al. 2015: exact outcomes of a function from a Gaussian process.

use super::{
    Guarantee, Measure, Plan, Publication, Search, TAIL, Task, TaskOutline, ValueOf, ValueRelease, positive,
    tail_probability,
};
use crate::learners::{BetaSchedule, Exploration, GpUcb, LearnerModel};
use crate::privacy::mechanisms::{Laplace, NoiseArithmetic, TheoremMechanism};
use crate::protocols::release::constants as k;
use crate::protocols::release::failure::CannotRelease;
use crate::vocab::{Basis, Claim, Delta, Epsilon, NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// GP-UCB on outcomes without noise; the last outcome is published with Laplace noise. If the functions come from the
/// assumed prior and the search converges at the rate that A and tau state, then for every pair of neighbours the
/// publication is epsilon-DP with probability at least 1 - delta / 2 over the functions. The ledger states this probability.
/// (In the paper, the other half of delta is for the convergence, which is assumed here.) This guarantee is not (epsilon,
/// delta)-DP, which would have to hold for every function.
///
/// A and tau are constants of de Freitas, Smola and Zoghi 2012, Theorem 2. Nobody can compute them, so the scenario states
/// them, and the guarantee is conditional on them. The search is GP-UCB over the finite set of settings, with a model whose
/// noise variance is 1e-8, in squared units of the outcome. A and tau describe the regret of another search, the branch and
/// bound of de Freitas et al., which refines a lattice of a continuous domain. For GP-UCB they are an assumption.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, Algorithm 2, Theorems 5 and 6.
///
/// Example: `GpNoiseFree(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99, a: 1, tau: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpNoiseFree {
    /// epsilon of the release.
    pub epsilon: Epsilon,
    /// delta of Algorithm 2. For one pair of neighbours, the bound on the difference of the two functions fails with
    /// probability at most delta / 2 over functions drawn from the assumed prior. In the paper, the other half of delta is
    /// for the regret that A and tau state; here this regret is assumed.
    pub delta: Delta,
    /// k1(V, V'): the smallest correlation of the functions of two neighbouring validation sets. It must not be
    /// computed from the data.
    pub neighbour_correlation: Probability,
    /// A, factor of the regret, in units of the outcome.
    pub a: NonNegative,
    /// tau, rate of the regret. With d inputs, the regret after T rounds is taken to be at most
    /// A exp(-T tau / (ln T)^(d/4)).
    pub tau: NonNegative,
    /// How noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

/// Noise variance of the model. With it, the covariance matrix is invertible even if a setting is tried twice.
const NUGGET: f64 = 1e-8;

impl Publication for GpNoiseFree {
    fn needs_finite_set(&self) -> Option<&'static str> {
        Some("Algorithm 2 of Kusner et al. 2015 is proven by a union bound over a finite set of settings")
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        Some((self.epsilon.get(), self.arithmetic))
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        if foreseen.rounds != 1 {
            return Vec::new();
        }
        let expected = "at least 2 rounds: the bound on Algorithm 2's regret divides by a power of ln T";
        vec![Problem::wrong("", expected, "1", "raise `rounds` of the protocol")]
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(LearnerModel::from(GpUcb {
            beta: BetaSchedule::Kusner { delta: self.delta },
            scale: Positive::new(1.0).expect("1 is above 0"),
            exploration: Exploration::StandardDeviation,
            exclude_played: false,
            regulariser: Some(Positive::new(NUGGET).expect("1e-8 is above 0")),
        })))
    }

    fn sequential(&self) -> bool {
        true
    }

    fn neighbour_correlation(&self) -> Option<Probability> {
        Some(self.neighbour_correlation)
    }

    fn noise_free(&self) -> bool {
        true
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        if task.rounds < 2 {
            return Err(CannotRelease::TooFewRounds);
        }
        let (delta, scale) = (self.delta.get(), task.prior_sd());
        let omega = k::noise_free_regret(self.a.get(), self.tau.get(), task.rounds, task.inputs.d());
        let c = scale * k::c_noise_free(task.n(), delta, self.neighbour_correlation.get());
        let laplace = Laplace::calibrated(self.epsilon, positive("sensitivity", omega + c)?)?
            .computed_within(task.rounding()?)
            .with(self.arithmetic);
        let claim = Claim {
            epsilon: self.epsilon.get(),
            delta,
            source: "Kusner, Gardner, Garnett and Weinberger 2015, Corollary 3".to_owned(),
            cost: None,
        };
        // The bound c on the difference of the functions fails with probability delta / 2. The bound on the regret, which is
        // computed from A and tau, is assumed and not proven.
        let on = format!(
            "probability 1 - {} over functions drawn from the assumed GP (prior sd {scale}, k1 at least {} for all \
             neighbours), for each pair of neighbours separately, and on a regret of at most {omega:.4} in the last round on both \
             data sets, which follows from the stated A = {} and tau = {} and cannot be checked",
            delta / 2.0,
            self.neighbour_correlation,
            self.a,
            self.tau
        );
        let basis = Basis::Conditional { on };
        let name = "Kusner Algorithm 2, Laplace noise";
        let mechanism = Box::new(TheoremMechanism::new(laplace, name, Some(claim), basis));
        let most = omega + laplace.tail(TAIL);
        let failure = delta + tail_probability();
        Ok(Plan {
            setting: None,
            value: Some(ValueRelease { mechanism, of: ValueOf::Last }),
            guarantees: vec![Guarantee::new(Measure::ErrorAgainstOptimum, most, failure, "Theorem 6")],
            ..Plan::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::Points;
    use crate::gp::covariance::Covariance;
    use crate::objectives::Surrogate;
    use crate::vocab::Neighbours;
    use std::sync::Arc;

    /// The ledger states the assumed regret. It also states a bound on the probability that the functions of two neighbours
    /// lie further apart than c at one or more of the n settings. The bound is n exp(-c^2 / (2 v)) = delta / 2, where
    /// v = 2 (1 - 0.9) is the variance of the difference of the two functions at a setting.
    #[test]
    fn the_ledger_states_the_probability_that_c_fails_and_the_assumed_regret() {
        let text = "(epsilon: 1, delta: 0.05, neighbour_correlation: 0.9, a: 2, tau: 0)";
        let recipe: GpNoiseFree = ron::from_str(text).unwrap();
        let covariance = Covariance::squared_exponential(0.2, 1.0);
        let task = Task {
            domain: None,
            inputs: Arc::new(Points::new(20, 1, (0..20).map(|i| f64::from(i) / 20.0).collect())),
            surrogate: Surrogate { covariance, noise_variance: 0.01, mean: 0.0 },
            noise_sd: 0.1,
            rounds: 9,
            facts: None,
        };
        let c = k::c_noise_free(20, 0.05, 0.9);
        assert!((20.0 * (-c * c / (2.0 * 0.2)).exp() - 0.025).abs() < 1e-12);
        let mechanism = recipe.plan(&task).unwrap().value.unwrap().mechanism;
        let Basis::Conditional { on } = mechanism.price(&vec![0.0], &Neighbours::ReplaceOne).unwrap().basis
        else {
            panic!("conditional")
        };
        assert!(
            on.starts_with("probability 1 - 0.025 over") && on.contains("at most 2.0000 in the last"),
            "{on}"
        );
    }
}
