//! Algorithm 1 of Kusner et al. 2015: noisy outcomes of a function from a Gaussian process.

use super::{
    Constants, Guarantee, Measure, Part, Plan, Publication, Search, SettingRelease, TAIL, Task, Utility,
    ValueOf, ValueRelease, positive, tail_probability,
};
use crate::learners::{BetaSchedule, Exploration, GpUcb, LearnerModel};
use crate::privacy::mechanisms::{ExponentialMechanism, Laplace, Supported};
use crate::protocols::release::constants as k;
use crate::vocab::{Basis, Claim, Delta, Epsilon, Positive, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// GP-UCB on noisy outcomes; the setting by the exponential mechanism on the posterior mean, the best outcome with
/// Laplace noise. Each is (epsilon, delta)-DP if the functions come from the assumed prior; both together twice that.
///
/// The objective's noise variance must be above 0. The learner is GP-UCB with beta_t = 2 ln(n t^2 pi^2 / (3 delta)),
/// which the proof needs.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, Algorithm 1, Theorems 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpNoisy {
    /// epsilon of each of the two releases.
    pub epsilon: Epsilon,
    /// Probability, over functions drawn from the assumed prior, that the guarantee does not hold.
    pub delta: Delta,
    /// k1(V, V'): the smallest correlation of the functions of two neighbouring validation sets. It must not be
    /// computed from the data.
    pub neighbour_correlation: Probability,
    /// Which results are published. Default: `Both`.
    #[serde(default)]
    pub publish: Part,
    /// Constants of the noise. `Printed` takes q and beta as in the paper, whose proof does not cover the noise of
    /// all rounds. Default: `Corrected`.
    #[serde(default)]
    pub constants: Constants,
}

const NAMES: [[&str; 2]; 2] = [
    [
        "Kusner Algorithm 1, exponential mechanism, corrected constants",
        "Kusner Algorithm 1, Laplace noise, corrected constants",
    ],
    [
        "Kusner Algorithm 1, exponential mechanism, printed constants",
        "Kusner Algorithm 1, Laplace noise, printed constants",
    ],
];

impl GpNoisy {
    /// The delta that goes into every constant. With 3/5 of it the failures of both data sets' confidence bounds, of
    /// their distance and of their noise (1/2 + 1/2 + 1/3 + 1/3) sum up to delta.
    fn inner_delta(&self) -> Delta {
        match self.constants {
            Constants::Corrected => {
                Delta::new(0.6 * self.delta.get()).expect("3/5 of a number between 0 and 1")
            }
            Constants::Printed => self.delta,
        }
    }

    fn claim(&self, theorem: &str) -> Claim {
        Claim {
            epsilon: self.epsilon.get(),
            delta: self.delta.get(),
            source: format!("Kusner, Gardner, Garnett and Weinberger 2015, {theorem}"),
            cost: None,
        }
    }

    fn condition(&self, task: &Task) -> Basis {
        Basis::Conditional {
            on: format!(
                "probability 1 - {} over functions drawn from the assumed GP (prior sd {}, k1 at least {} for \
                 all neighbours)",
                self.delta,
                task.prior_sd(),
                self.neighbour_correlation
            ),
        }
    }
}

impl Publication for GpNoisy {
    fn search(&self, _: &Task) -> Result<Search, String> {
        Ok(Search::Learner(LearnerModel::GpUcb(GpUcb {
            beta: BetaSchedule::Kusner { delta: self.inner_delta() },
            scale: Positive::new(1.0).expect("1 is above 0"),
            exploration: Exploration::StandardDeviation,
            exclude_played: false,
            regulariser: None,
        })))
    }

    fn sequential(&self) -> bool {
        true
    }

    fn plan(&self, task: &Task) -> Result<Plan, String> {
        let (n, rounds, scale) = (task.n(), task.rounds, task.prior_sd());
        let noise_sd = task.noise_sd;
        if noise_sd <= 0.0 {
            return Err("Algorithm 1 needs noise, expected a noise variance above 0, found 0: raise the \
                 objective's noise, or use GpNoiseFree"
                .to_owned());
        }
        let (epsilon, delta, k1) = (self.epsilon.get(), self.inner_delta(), self.neighbour_correlation.get());
        let names = NAMES[usize::from(self.constants == Constants::Printed)];
        let failure = self.delta.get() + tail_probability();
        let c = scale * k::c_noisy(n, delta.get(), k1);
        let mut plan = Plan::default();
        if self.publish.setting() {
            let sensitivity = scale * k::mean_sensitivity(k::beta(n, rounds + 1, delta), c / scale);
            let mechanism = ExponentialMechanism::new(self.epsilon, positive("sensitivity", sensitivity)?);
            let basis = self.condition(task);
            let claim = Some(self.claim("Corollary 1"));
            let mechanism = Box::new(Supported::new(mechanism, names[0], claim, basis));
            plan.setting = Some(SettingRelease { mechanism, utility: Utility::PosteriorMean });
            let most = k::choice_bound(sensitivity, epsilon, n, TAIL);
            plan.guarantees.push(Guarantee::new(Measure::PosteriorGap, most, failure, "Theorem 2"));
            let source = "Theorem 1";
            let realised = Measure::RealisedSensitivity;
            plan.guarantees.push(Guarantee::new(realised, sensitivity, self.delta.get(), source));
        }
        if self.publish.value() {
            let width =
                k::mean_regret(noise_sd / scale, k::beta(n, rounds, delta), task.information_gain()?, rounds)
                    * scale;
            let (q, source) = match self.constants {
                Constants::Corrected => {
                    (k::q_corrected(noise_sd, delta.get(), rounds), "Theorem 4, corrected")
                }
                Constants::Printed => (k::q_printed(noise_sd, delta.get()), "Theorem 4"),
            };
            let sensitivity = positive("sensitivity", width + c + q)?;
            let laplace =
                Laplace::calibrated(self.epsilon, sensitivity).map_err(|error| error.to_string())?;
            let basis = match self.constants {
                Constants::Corrected => self.condition(task),
                // q covers one round's noise, not that of the best of T.
                Constants::Printed => Basis::AsPublished,
            };
            let claim = Some(self.claim("Corollary 2"));
            let mechanism = Box::new(Supported::new(laplace, names[1], claim, basis));
            plan.value = Some(ValueRelease { mechanism, of: ValueOf::Best });
            let most = match self.constants {
                // Half of q bounds the noise of every round of one data set.
                Constants::Corrected => q / 2.0 + width + TAIL * laplace.scale(),
                Constants::Printed => k::theorem_4(noise_sd, delta.get(), width, laplace.scale(), TAIL),
            };
            plan.guarantees.push(Guarantee::new(Measure::ErrorAgainstOptimum, most, failure, source));
        }
        Ok(plan)
    }
}
