//! A search in which every choice is private, so that each can be published at once.

use super::failure::CannotRelease;
use super::publication::{Sampling, Selection, Task, positive};
use crate::gp::Cholesky;
use crate::privacy::mechanisms::{ExponentialMechanism, Mechanism, ReportNoisyMax, TheoremMechanism};
use std::sync::Arc;

/// A relative margin for rounding in sums of weights.
const SUMMED: f64 = 1e-9;

/// A private choice among settings.
pub(super) struct Choice {
    /// The mechanism that chooses among utilities.
    pub(super) mechanism: Box<dyn Mechanism<Input = Vec<f64>, Output = usize>>,
    /// One utility for each candidate.
    pub(super) utilities: Vec<f64>,
    /// Settings to choose from; public.
    pub(super) candidates: Vec<usize>,
    /// The jitter of the model behind the utilities; 0 if there was none.
    pub(super) jitter: f64,
}

/// The search: the settings tried so far whose outcomes are known, and these outcomes, which are not published.
#[derive(Clone)]
pub(super) struct Sampler {
    recipe: Sampling,
    task: Arc<Task>,
    tried: Vec<usize>,
    outcomes: Vec<f64>,
    /// Whether this is a dry run: outcomes have no meaning, and no model is computed.
    dry: bool,
}

/// The posterior at one setting, and how strongly its mean depends on the outcomes.
struct Model {
    mean: f64,
    variance: f64,
    /// Sum of the absolute weights of the outcomes in the mean: a function of the settings tried, not of outcomes.
    reach: f64,
}

impl Sampler {
    pub(super) fn new(recipe: Sampling, task: &Arc<Task>, dry: bool) -> Self {
        Self { recipe, task: Arc::clone(task), tried: Vec::new(), outcomes: Vec::new(), dry }
    }

    /// Adds a setting that was tried, and its outcome.
    pub(super) fn observe(&mut self, setting: usize, outcome: f64) {
        self.tried.push(setting);
        self.outcomes.push(outcome);
    }

    /// The choice of the next setting to try; `None` as long as no outcome is known.
    pub(super) fn next(&self) -> Result<Option<Choice>, CannotRelease> {
        if self.tried.is_empty() {
            return Ok(None);
        }
        let n = self.task.n();
        let round = self.tried.len() as u64 + 1;
        let weight = self.recipe.scale * self.recipe.beta.at(round, n).max(0.0).sqrt();
        self.choose((0..n).collect(), "next setting", |model| weight * model.variance.sqrt()).map(Some)
    }

    /// The choice of the setting to end with, among those tried; `None` if the recipe does not end with a setting, or if no
    /// outcome is known.
    pub(super) fn last(&self) -> Result<Option<Choice>, CannotRelease> {
        if !self.recipe.ends_with_a_setting || self.tried.is_empty() {
            return Ok(None);
        }
        let mut candidates = self.tried.clone();
        candidates.sort_unstable();
        candidates.dedup();
        self.choose(candidates, "setting told", |_| 0.0).map(Some)
    }

    fn choose(
        &self,
        candidates: Vec<usize>,
        what: &'static str,
        width: impl Fn(&Model) -> f64,
    ) -> Result<Choice, CannotRelease> {
        let (models, jitter) = self.models(&candidates)?;
        let reach = models.iter().map(|model| model.reach).fold(0.0, f64::max);
        let sensitivity = self.recipe.record_sensitivity * reach * (1.0 + SUMMED);
        let sensitivity = positive("sensitivity", sensitivity)?;
        let widest = models.iter().map(&width).fold(0.0, f64::max);
        let error = self.task.rounding_of_scores(self.tried.len(), reach, widest)?;
        let utilities = models.iter().map(|model| model.mean + width(model)).collect();
        let (epsilon, basis) = (self.recipe.epsilon, self.recipe.basis.clone());
        let arithmetic = self.recipe.arithmetic;
        let name = |exponential: &'static str, noisy: &'static str| match self.recipe.selection {
            Selection::Exponential => exponential,
            Selection::NoisyMax | Selection::PermuteAndFlip => noisy,
        };
        let name = match what {
            "next setting" => {
                name("exponential mechanism on GP-UCB's score", "report noisy max of GP-UCB's score")
            }
            _ => name("exponential mechanism on posterior means", "report noisy max of posterior means"),
        };
        let mechanism: Box<dyn Mechanism<Input = Vec<f64>, Output = usize>> = match self.recipe.selection {
            Selection::Exponential => {
                let mechanism =
                    ExponentialMechanism::new(epsilon, sensitivity).computed_within(error).with(arithmetic);
                Box::new(TheoremMechanism::new(mechanism, name, None, basis))
            }
            Selection::NoisyMax | Selection::PermuteAndFlip => {
                let mechanism =
                    ReportNoisyMax::new(epsilon, sensitivity).computed_within(error).with(arithmetic);
                Box::new(TheoremMechanism::new(mechanism, name, None, basis))
            }
        };
        Ok(Choice { mechanism, utilities, candidates, jitter })
    }

    /// The posterior at every candidate, given the outcomes so far, and the jitter that the covariance matrix needed. Cost:
    /// O(t^3 + t^2 n) for t outcomes and n candidates.
    fn models(&self, candidates: &[usize]) -> Result<(Vec<Model>, f64), CannotRelease> {
        let (t, covariance, prior) = (self.tried.len(), self.task.covariance(), self.task.surrogate.mean);
        if self.dry {
            let same = |_: &usize| Model { mean: prior, variance: 0.0, reach: 1.0 };
            return Ok((candidates.iter().map(same).collect(), 0.0));
        }
        let mut gram = vec![0.0; t * t];
        for (i, &a) in self.tried.iter().enumerate() {
            for (j, &b) in self.tried.iter().enumerate() {
                gram[i * t + j] = covariance.between(a, b);
            }
            gram[i * t + i] += self.recipe.noise_variance;
        }
        let factor = Cholesky::with_jitter(t, &gram)?;
        let model = |&candidate: &usize| {
            let known: Vec<f64> =
                self.tried.iter().map(|&tried| covariance.between(tried, candidate)).collect();
            let mut weights = known.clone();
            factor.solve(&mut weights);
            let residuals = self.outcomes.iter().map(|outcome| outcome - prior);
            let mean = prior + weights.iter().zip(residuals).map(|(w, r)| w * r).sum::<f64>();
            let explained: f64 = weights.iter().zip(&known).map(|(w, k)| w * k).sum();
            let variance = (covariance.between(candidate, candidate) - explained).max(0.0);
            Model { mean, variance, reach: weights.iter().map(|w| w.abs()).sum() }
        };
        Ok((candidates.iter().map(model).collect(), factor.jitter()))
    }
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").field("tried", &self.tried).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Covariance;
    use crate::gp::{AdaptivePosterior, Points};
    use crate::learners::BetaSchedule;
    use crate::objectives::Surrogate;
    use crate::privacy::mechanisms::NoiseArithmetic;
    use crate::rng::Key;
    use crate::vocab::{Basis, Epsilon, Neighbours};
    use proptest::prelude::*;

    fn sampler(n: usize, noise_variance: f64) -> Sampler {
        let points = Points::new(n, 1, (0..n).map(|i| i as f64 / n as f64).collect());
        let covariance = Covariance::squared_exponential(0.2, 0.09);
        let task = Arc::new(Task {
            domain: None,
            inputs: Arc::new(points),
            surrogate: Surrogate { covariance, noise_variance, mean: -0.4 },
            noise_sd: 0.0,
            rounds: 10,
            facts: None,
        });
        let recipe = Sampling {
            epsilon: Epsilon::new(0.5).unwrap(),
            selection: Selection::Exponential,
            arithmetic: NoiseArithmetic::Exact,
            record_sensitivity: 0.01,
            basis: Basis::Proven,
            beta: BetaSchedule::default(),
            scale: 1.0,
            noise_variance,
            ends_with_a_setting: true,
        };
        Sampler::new(recipe, &task, false)
    }

    proptest! {
        /// The outcomes of a search and of its neighbour are at the same settings and differ by at most 0.01 each. Then the
        /// scores never differ by more than the sensitivity that the mechanism states. For random differences of outcomes,
        /// the largest difference of scores is above 2 % of this sensitivity.
        #[test]
        fn scores_of_neighbours_keep_the_sensitivity(
            n in 2usize..30, t in 1usize..12, noise in 1e-4f64..0.1, seed in 0u64..1_000_000,
        ) {
            let mut stream = Key::root(seed).stream();
            let (mut own, mut worst) = (sampler(n, noise), 0.0f64);
            let trials: Vec<(usize, f64)> =
                (0..t).map(|_| (stream.below(n as u64) as usize, stream.uniform_between(-1.0, 0.0))).collect();
            trials.iter().for_each(|&(setting, outcome)| own.observe(setting, outcome));
            for _ in 0..20 {
                let mut other = sampler(n, noise);
                for &(setting, outcome) in &trials {
                    other.observe(setting, outcome + 0.01 * stream.uniform_between(-1.0, 1.0));
                }
                for pair in [(own.next(), other.next()), (own.last(), other.last())] {
                    let (a, b) = (pair.0.unwrap().unwrap(), pair.1.unwrap().unwrap());
                    prop_assert_eq!(&a.candidates, &b.candidates);
                    let price = |choice: &Choice| {
                        choice.mechanism.price(&choice.utilities, &Neighbours::ReplaceOne).unwrap()
                    };
                    prop_assert_eq!(price(&a), price(&b));
                    let most = price(&a).sensitivity.unwrap();
                    let apart = a.utilities.iter().zip(&b.utilities).map(|(a, b)| (a - b).abs());
                    let apart = apart.fold(0.0, f64::max);
                    prop_assert!(apart <= most * (1.0 + 1e-6), "{apart} above {most}");
                    worst = worst.max(apart / most);
                }
            }
            prop_assert!(worst > 0.02, "the random changes test too little: {worst}");
        }
    }

    /// A larger `noise_variance`, which is added to the diagonal, makes the weights of outcomes and the sensitivity of
    /// scores smaller, but not the rounding errors of scores. At a `noise_variance` of 1e14, a change of one outcome by the
    /// sensitivity of an outcome changes scores by several times their sensitivity. So an exact choice is refused.
    #[test]
    fn an_exact_choice_is_refused_if_rounding_moves_scores_too_far() {
        let apart = |regulariser: f64, outcome: f64| {
            let pair = [outcome, outcome - 0.01].map(|outcome| {
                let mut sampler = sampler(10, regulariser);
                [(3, outcome), (8, -0.7), (0, -0.55)]
                    .iter()
                    .for_each(|&(setting, y)| sampler.observe(setting, y));
                sampler.next().unwrap().unwrap()
            });
            let price = pair[0].mechanism.price(&pair[0].utilities, &Neighbours::ReplaceOne);
            let apart = pair[0].utilities.iter().zip(&pair[1].utilities).map(|(a, b)| (a - b).abs());
            (apart.fold(0.0, f64::max), price)
        };
        for exponent in -4..15 {
            let (apart, price) = apart(libm::pow(10.0, f64::from(exponent)), -0.31);
            match price {
                Ok(price) => {
                    assert!(exponent < 10, "rounding is no small part of the sensitivity at 1e{exponent}");
                    let most = price.sensitivity.unwrap() * (1.0 + libm::scalbn(1.0, -10));
                    assert!(apart <= most, "{apart} above {most} at 1e{exponent}");
                }
                Err(error) => {
                    assert!(exponent > 6, "no need to refuse 1e{exponent}");
                    assert!(error.to_string().contains("write `arithmetic: Ideal`"), "{error}");
                }
            }
        }
        // Three outcomes whose weights in a score are at most the prior variance divided by `regulariser` (1e14): the
        // contribution of the outcomes to the score is lost in rounding, or changes the last digit.
        let most = (0..300).map(|k| apart(1e14, -0.31 - 1e-3 * f64::from(k)).0).fold(0.0, f64::max);
        assert!(most > 4.0 * 0.01 * 0.09 / 1e14, "{most}: scores are moved by more than the sensitivity");
    }

    /// A setting that was tried twice makes the covariance matrix singular if the model has no noise.
    #[test]
    fn a_choice_states_the_jitter_of_its_model() {
        let jitter = |twice: bool| {
            let mut sampler = sampler(10, 0.0);
            [3, 7, if twice { 3 } else { 5 }].iter().for_each(|&setting| sampler.observe(setting, -0.5));
            sampler.choose((0..10).collect(), "next setting", |_| 0.0).map(|choice| choice.jitter)
        };
        assert!(jitter(true).unwrap() > 0.0);
        assert_eq!(jitter(false).unwrap(), 0.0);
    }

    #[test]
    fn a_dry_choice_computes_no_model() {
        let mut sampler = Sampler { dry: true, ..sampler(12, 1e-3) };
        [3, 8].iter().for_each(|&setting| sampler.observe(setting, f64::NAN));
        let choice = sampler.next().unwrap().unwrap();
        assert_eq!(choice.utilities, [-0.4; 12]);
        assert_eq!(sampler.last().unwrap().unwrap().candidates, [3, 8]);
    }

    #[test]
    fn the_model_is_the_posterior_of_the_other_learners() {
        let mut sampler = sampler(12, 1e-3);
        let task = Arc::clone(&sampler.task);
        let mut posterior = AdaptivePosterior::new(task.covariance(), 1e-3, -0.4);
        assert!(sampler.next().unwrap().is_none(), "no outcome is known yet");
        for (setting, outcome) in [(3, -0.2), (8, -0.7), (3, -0.25), (11, -0.1)] {
            sampler.observe(setting, outcome);
            posterior.observe(setting, outcome).unwrap();
        }
        let all: Vec<usize> = (0..12).collect();
        for (setting, model) in sampler.models(&all).unwrap().0.iter().enumerate() {
            assert!((model.mean - posterior.mean()[setting]).abs() < 1e-9);
            assert!((model.variance - posterior.variance()[setting]).abs() < 1e-9);
        }
        assert_eq!(sampler.last().unwrap().unwrap().candidates, [3, 8, 11]);
    }
}
