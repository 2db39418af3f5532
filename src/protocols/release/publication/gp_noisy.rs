//! Algorithm 1 of Kusner et al. 2015: noisy outcomes of a function from a Gaussian process.

use super::{
    Constants, Guarantee, Measure, Part, Plan, Publication, Search, SettingRelease, TAIL, Task, TaskOutline,
    Utility, ValueOf, ValueRelease, positive, tail_probability,
};
use crate::learners::{BetaSchedule, Exploration, GpUcb, LearnerModel};
use crate::privacy::mechanisms::{ExponentialMechanism, Laplace, NoiseArithmetic, TheoremMechanism};
use crate::protocols::release::constants as k;
use crate::protocols::release::failure::CannotRelease;
use crate::vocab::{Basis, Claim, Delta, Epsilon, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// GP-UCB on noisy outcomes. The setting is chosen by the exponential mechanism on the posterior mean; the best outcome
/// is published with Laplace noise. If the functions come from the assumed prior, then for every pair of neighbours each
/// of these two releases is epsilon-DP with probability at least 1 - delta over the functions and the noise of outcomes. The
/// two releases together are 2 epsilon-DP with probability at least 1 - delta. This guarantee is not (epsilon, delta)-DP,
/// which would have to hold for every function. With `Printed` constants, the guarantee is proven for the release of the
/// setting only.
///
/// To publish a performance, the objective's noise variance must be above 0. A setting alone may also be published from
/// exact outcomes (the paper's section 4: Theorems 1 and 2 hold). The owner then adds normal noise of its own to each
/// outcome; the variance of this noise is 1e-8 times the variance of the prior. The owner's model assumes this noise, so
/// that the analysis with noise applies. The learner is GP-UCB with the beta that the proof needs, which is
/// beta_t = 2 ln(n t^2 pi^2 / (3 delta')) for n settings. Here delta' is 3/5 of `delta`, or `delta` itself with `Printed`
/// constants. Source: Kusner, Gardner, Garnett and Weinberger 2015, Algorithm 1, Theorems 1 to 4.
///
/// Example: `GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpNoisy {
    /// epsilon of each of the two releases.
    pub epsilon: Epsilon,
    /// Probability, over functions drawn from the assumed prior and over the noise of their outcomes, that the guarantee
    /// does not hold, for one pair of neighbours. The ledger states the probability that the proof gives. If a setting
    /// alone is published, that probability is smaller than `delta`.
    pub delta: Delta,
    /// k1(V, V'): the smallest correlation of the functions of two neighbouring validation sets. It must not be
    /// computed from the data.
    pub neighbour_correlation: Probability,
    /// Which results are published. Default: `Both`.
    #[serde(default)]
    pub publish: Part,
    /// Constants of the noise. `Printed` uses the paper's q (twice a bound on the noise of outcomes) and beta (of GP-UCB).
    /// Half of this q bounds the noise of one fixed round, but the proof needs a bound for all rounds. Default: `Corrected`.
    #[serde(default)]
    pub constants: Constants,
    /// How noise is sampled and how choices are made. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

/// Variance of the noise that the owner adds to exact outcomes, in units of the prior's variance.
const OWN_NOISE: f64 = 1e-8;

/// The probability with four significant digits; it is rounded upwards.
fn short(probability: f64) -> f64 {
    let scale = libm::pow(10.0, 3.0 - libm::floor(libm::log10(probability)));
    // A rounding error must not raise a number that has four digits to the next such number.
    let digits = probability * scale;
    let near = libm::round(digits);
    (if (digits - near).abs() < 1e-6 { near } else { libm::ceil(digits) }) / scale
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
    /// The number d that goes into every constant in place of `delta`. Four bounds may fail: the confidence bounds of the
    /// two data sets, each with probability d/2; the bound c on the distance of their functions, with probability d/3; and
    /// the bound q/2 on the noise of all their outcomes, with probability d/3. If d is 3/5 of `delta`, the four
    /// probabilities sum up to `delta`, since 3/5 times (1/2 + 1/2 + 1/3 + 1/3) is 1.
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

    /// A bound on the probability that the sensitivities of the published part do not hold. The bound is valid with
    /// corrected constants and, for a setting alone, also with printed constants.
    fn failure(&self, part: Part, rounds: u64) -> f64 {
        let inner = self.inner_delta().get();
        match part {
            Part::Setting => k::failure_of_means(inner, rounds),
            // A value, with or without the setting: a bound on the probability of the union of all failure events.
            Part::Value | Part::Both => k::failure_of_best(inner, k::failure_of_q_corrected(inner)),
        }
    }

    /// The basis of the privacy loss of the published part.
    fn condition(&self, part: Part, task: &Task) -> Basis {
        let rounded = if part != Part::Value && self.arithmetic == NoiseArithmetic::Exact {
            ", and on posterior means that are computed to within 2^-21 of their sensitivity"
        } else {
            ""
        };
        let together = if part == Part::Both { ", for setting and performance together" } else { "" };
        Basis::Conditional {
            on: format!(
                "probability 1 - {} over functions drawn from the assumed GP (prior sd {}, k1 at least {} for all \
                 neighbours) and the noise of their outcomes, for each pair of neighbours separately{together}{rounded}",
                short(self.failure(part, task.rounds)),
                task.prior_sd(),
                self.neighbour_correlation
            ),
        }
    }
}

impl Publication for GpNoisy {
    fn needs_finite_set(&self) -> Option<&'static str> {
        Some("Algorithm 1 of Kusner et al. 2015 is proven by a union bound over a finite set of settings")
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        Some((self.epsilon.get(), self.arithmetic))
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        if foreseen.noise_variance != Some(0.0) || !self.publish.value() {
            return Vec::new();
        }
        vec![Problem::wrong(
            "publish",
            "Setting: a performance needs noisy outcomes, and the objective's noise variance is 0",
            format!("{:?}", self.publish),
            "write publish: Setting, raise the objective's noise, or use GpNoiseFree(..)",
        )]
    }

    fn accounted(&self) -> f64 {
        self.publish.accounted(self.epsilon)
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(LearnerModel::from(GpUcb {
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

    fn neighbour_correlation(&self) -> Option<Probability> {
        Some(self.neighbour_correlation)
    }

    fn prepared_task(&self, task: Task) -> Task {
        let exact = task.noise_sd <= 0.0 && self.publish == Part::Setting;
        if exact { task.with_noise(OWN_NOISE) } else { task.with_model_noise() }
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (n, rounds, scale) = (task.n(), task.rounds, task.prior_sd());
        let noise_sd = task.noise_sd;
        if noise_sd <= 0.0 {
            return Err(CannotRelease::NoNoise);
        }
        let (delta, k1) = (self.inner_delta(), self.neighbour_correlation.get());
        let names = NAMES[usize::from(self.constants == Constants::Printed)];
        let failure = self.delta.get() + tail_probability();
        let c = scale * k::c_noisy(n, delta.get(), k1);
        let mut plan = Plan::default();
        if self.publish.setting() {
            let sensitivity = scale * k::mean_sensitivity(k::beta(n, rounds + 1, delta), c / scale);
            let mechanism = ExponentialMechanism::new(self.epsilon, positive("sensitivity", sensitivity)?)
                .with(self.arithmetic);
            // With printed constants nothing is proven about the performance, so the setting is considered alone.
            let part = match self.constants {
                Constants::Corrected => self.publish,
                Constants::Printed => Part::Setting,
            };
            let basis = self.condition(part, task);
            let claim = Some(self.claim("Corollary 1"));
            let most = mechanism.shortfall(n, TAIL);
            let mechanism = Box::new(TheoremMechanism::new(mechanism, names[0], claim, basis));
            plan.setting = Some(SettingRelease { mechanism, utility: Utility::PosteriorMean });
            plan.guarantees.push(Guarantee::new(Measure::PosteriorGap, most, failure, "Theorem 2"));
            let source = "Theorem 1";
            let realised = Measure::RealisedSensitivity;
            let failure = self.failure(Part::Setting, rounds);
            plan.guarantees.push(Guarantee::new(realised, sensitivity, failure, source));
        }
        if self.publish.value() {
            let width =
                k::mean_regret(noise_sd / scale, k::beta(n, rounds, delta), task.information_gain()?, rounds)
                    * scale;
            let (q, source) = match self.constants {
                Constants::Corrected => {
                    (k::q_corrected(noise_sd, delta.get(), rounds), "Theorem 4, corrected")
                }
                Constants::Printed => (k::q_printed(noise_sd, delta.get()), "Theorem 4, as printed"),
            };
            let sensitivity = positive("sensitivity", width + c + q)?;
            let laplace = Laplace::calibrated(self.epsilon, sensitivity)?
                .computed_within(task.rounding()?)
                .with(self.arithmetic);
            let basis = match self.constants {
                Constants::Corrected => self.condition(self.publish, task),
                // Half of q bounds the noise of one fixed round, but the best outcome may come from any of the T rounds, so
                // the proof gives only the probability 1 - (4 + T) delta / 3.
                Constants::Printed => Basis::AsPublished,
            };
            let claim = Some(self.claim("Corollary 2"));
            let mechanism = Box::new(TheoremMechanism::new(laplace, names[1], claim, basis));
            plan.value = Some(ValueRelease { mechanism, of: ValueOf::Best });
            let most = match self.constants {
                // Half of q bounds the noise of every outcome; here only the outcomes on the owner's data set count.
                Constants::Corrected => q / 2.0 + width + laplace.tail(TAIL),
                Constants::Printed => {
                    k::theorem_4(noise_sd, delta.get(), width, laplace.tail(TAIL) / TAIL, TAIL)
                }
            };
            plan.guarantees.push(Guarantee::new(Measure::ErrorAgainstOptimum, most, failure, source));
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Covariance;
    use crate::gp::{AdaptivePosterior, Cholesky, Points};
    use crate::objectives::Surrogate;
    use crate::rng::Key;
    use std::sync::Arc;

    fn task(rounds: u64) -> Task {
        let points = Points::new(20, 1, (0..20).map(|i| f64::from(i) / 20.0).collect());
        let covariance = Covariance::squared_exponential(0.2, 1.0);
        Task {
            domain: None,
            inputs: Arc::new(points),
            surrogate: Surrogate { covariance, noise_variance: 0.01, mean: 0.0 },
            noise_sd: 0.1,
            rounds,
            facts: None,
        }
    }

    fn recipe(delta: f64, constants: Constants, publish: Part) -> GpNoisy {
        let text = format!("(epsilon: 1, delta: {delta}, neighbour_correlation: 0.9)");
        GpNoisy { constants, publish, ..ron::from_str(&text).unwrap() }
    }

    /// Theorem 1 needs a model that assumes the noise variance of the outcomes. If the model's noise variance differs from
    /// that of the outcomes by rounding only, the model's variance is kept, bit for bit.
    #[test]
    fn the_model_has_the_noise_of_outcomes() {
        let recipe = recipe(0.05, Constants::Corrected, Part::Setting);
        let noise =
            |noise_sd: f64| recipe.prepared_task(Task { noise_sd, ..task(9) }).surrogate.noise_variance;
        assert_eq!((noise(10.0), noise(1e-3), noise(0.1)), (100.0, 1e-3 * 1e-3, 0.01));
    }

    /// The ledger's basis for setting and performance.
    fn bases(constants: Constants, publish: Part) -> Vec<Basis> {
        let recipe = recipe(0.05, constants, publish);
        let plan = recipe.plan(&task(9)).unwrap();
        let of_setting =
            plan.setting.map(|how| how.mechanism.price(&vec![0.0; 20], &NEIGHBOURS).unwrap().basis);
        let of_value = plan.value.map(|how| how.mechanism.price(&vec![0.0], &NEIGHBOURS).unwrap().basis);
        of_setting.into_iter().chain(of_value).collect()
    }

    const NEIGHBOURS: crate::vocab::Neighbours = crate::vocab::Neighbours::ReplaceOne;

    /// Every combination of constants and of what is published, for delta = 0.05 and 9 rounds. The stated probability of
    /// failure is delta (1/3 + 6 / (pi^2 10^2)) for a setting with printed constants, 3/5 of that for a setting alone with
    /// corrected constants, and delta if a performance is published with corrected constants. No probability is stated for a
    /// performance with printed constants.
    #[test]
    fn the_ledger_states_the_probability_that_the_proof_gives() {
        let conditional = |basis: &Basis, failure: &str| match basis {
            Basis::Conditional { on } => {
                assert!(on.starts_with(&format!("probability 1 - {failure} over functions")), "{on}");
                on.contains("together")
            }
            other => panic!("{other:?}"),
        };
        let setting = bases(Constants::Corrected, Part::Setting);
        assert!(!conditional(&setting[0], "0.01019"));
        let value = bases(Constants::Corrected, Part::Value);
        assert!(!conditional(&value[0], "0.05"));
        let both = bases(Constants::Corrected, Part::Both);
        assert!(both.iter().all(|basis| conditional(basis, "0.05")) && both.len() == 2);
        assert!(!conditional(&bases(Constants::Printed, Part::Setting)[0], "0.01698"));
        assert_eq!(bases(Constants::Printed, Part::Value), [Basis::AsPublished]);
        let both = bases(Constants::Printed, Part::Both);
        assert!(!conditional(&both[0], "0.01698"));
        assert_eq!(both[1], Basis::AsPublished);
    }

    /// Draws the functions of two neighbours 2,000 times, and runs a search on each function, at a large delta and with the
    /// printed constants. A draw fails if, at some setting, the functions lie further apart than c, or the posterior mean of
    /// a search after T rounds lies further from the searched function than the confidence bound. Failures are no more
    /// frequent than stated, but frequent enough to be measured, and the sensitivity is exceeded only in draws that fail.
    #[test]
    fn pairs_of_neighbours_fail_no_more_often_than_stated() {
        let recipe = recipe(0.9, Constants::Printed, Part::Setting);
        let delta = recipe.delta;
        let mut stream = Key::root(11).stream();
        let n = 6;
        let points = Points::new(n, 1, (0..n).map(|i| i as f64 / n as f64).collect());
        // The objective's outcomes are exact in the last two cases; the owner then adds noise of its own. The last case has
        // eight rounds but six settings, so that settings are repeated.
        for (rounds, sd) in [(1u64, 0.3), (4, 0.3), (4, 0.0), (8, 0.0)] {
            let surrogate = Surrogate {
                covariance: Covariance::squared_exponential(0.05, 1.0),
                noise_variance: sd * sd,
                mean: 0.0,
            };
            let inputs = Arc::new(points.clone());
            let task = recipe.prepared_task(Task {
                domain: None,
                inputs,
                surrogate,
                noise_sd: sd,
                rounds,
                facts: None,
            });
            let (sd, noise_variance) = (task.noise_sd, task.surrogate.noise_variance);
            assert!(sd > 0.0 && recipe.plan(&task).is_ok());
            let covariance = task.covariance();
            let gram = (0..n * n).map(|k| covariance.between(k / n, k % n)).collect::<Vec<f64>>();
            let factor = Cholesky::with_jitter(n, &gram).unwrap();
            let width = k::beta(n, rounds + 1, delta).sqrt();
            let c = k::c_noisy(n, 0.9, 0.9);
            let (mut failed, mut exceeded) = (0.0, 0.0);
            for _ in 0..2000 {
                let mut draw = || factor.times(&(0..n).map(|_| stream.normal()).collect::<Vec<f64>>());
                let (own, other) = (draw(), draw());
                let mixed = |(a, b): (&f64, &f64)| 0.9 * a + (1.0 - 0.81f64).sqrt() * b;
                let other: Vec<f64> = own.iter().zip(&other).map(mixed).collect();
                let noise: Vec<f64> = (0..rounds).map(|_| sd * stream.normal()).collect();
                let mut apart = own.iter().zip(&other).any(|(a, b)| (a - b).abs() > c);
                let mut means = Vec::new();
                for values in [&own, &other] {
                    let Search::Learner(model) = recipe.search(&task).unwrap() else { panic!("a learner") };
                    let mut learner = model.as_dyn().build(&task.arms()).unwrap();
                    let mut posterior = AdaptivePosterior::new(task.covariance(), noise_variance, 0.0);
                    for noise in &noise {
                        let setting = learner.suggest(&mut stream);
                        learner.observe(setting, values[setting] + noise).unwrap();
                        posterior.observe(setting, values[setting] + noise).unwrap();
                    }
                    apart |= (0..n).any(|setting| {
                        let sd = posterior.variance()[setting].max(0.0).sqrt();
                        (posterior.mean()[setting] - values[setting]).abs() > width * sd
                    });
                    means.push(posterior.mean().to_vec());
                }
                let gap = means[0].iter().zip(&means[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let beyond = gap > k::mean_sensitivity(width * width, c);
                assert!(apart || !beyond, "the sensitivity holds wherever the bounds do");
                failed += f64::from(u8::from(apart)) / 2000.0;
                exceeded += f64::from(u8::from(beyond)) / 2000.0;
            }
            let stated = recipe.failure(Part::Setting, rounds);
            assert!(failed <= stated && failed > stated / 10.0, "{failed} of {stated} after {rounds}");
            assert!(exceeded <= failed);
        }
    }
}
