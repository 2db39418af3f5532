//! MoMA-GP-UCB: each chosen arm is queried k times, which gives k estimates of the function; the learner uses a robust
//! centre of these estimates.

use super::arms::{Arms, BuildError, small_covariance};
use super::ata_gp_ucb::oversampling;
use super::knowledge::{
    self, Constants, Knowledge, Payoffs, accuracy_problem, form_problems, payoff_problems,
};
use super::robust_centre::{Middle, middle};
use super::theorem::{self, Theorem};
use super::{Learner, LearnerRecipe, MATRIX_ARMS, Outcomes, basis_effort, rank};
use crate::gp::{GpError, Nystrom, dot, largest, nystrom, upper_bounds};
use crate::rng::Stream;
use crate::vocab::effort::{MULTIPLY, NUMBER, OUTCOMES};
use crate::vocab::{Delta, Effort, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::E;
use std::num::NonZeroU32;

/// MoMA-GP-UCB: in epoch n the arm with the largest mean + beta_n sd is queried k times. Outcome j of every epoch is
/// used for estimate j, and the means of the arms are computed from a robust centre of the k estimates (see `middle`).
/// Distances between estimates are in the norm of V = Phi^T Phi + lambda I, where row i of Phi has the features of the arm
/// of epoch i.
///
/// k = ceil(24 ln(4 e T / delta)). Let m be the number of features and c the bound on E|noise|^(1+alpha), in units of the
/// outcome to the power 1 + alpha, where c and alpha come from `payoffs`. With the constants `Theorem`,
/// beta_(n+1) = B (1 + 1/sqrt(1 - accuracy)) + 3 (9 m c)^(1/(1+alpha)) n^((1-alpha)/(2(1+alpha))) / sqrt(lambda); with
/// `OrderWise`, beta_(n+1) = B sqrt(lambda) + (m c)^(1/(1+alpha)) n^((1-alpha)/(2(1+alpha))).
/// Source: Zhou and Tan 2021, Algorithm 3 and Theorem 4, and Chowdhury and Gopalan 2019 for the features. n has the
/// exponent of Theorem 4, because the exponent of n that Corollary 1 prints is wrong. A factor lambda^(-1/2), which
/// Theorem 4 lacks, was added.
///
/// Lost outcomes: an epoch ends with its k-th outcome, not with its k-th query. Until then every suggestion is the
/// epoch's arm, so a lost outcome is replaced by another query; the order of arrival decides which estimate an outcome
/// enters. As long as losses do not depend on outcomes, the k outcomes of an epoch remain independent draws from the
/// distribution of its arm's outcomes, and the median of means keeps its guarantee for the number of epochs that were
/// finished. If this learner replaces another learner in a branch of a fork, it forms epochs from the outcomes that the
/// other learner observed: k outcomes of one arm make an epoch, and remaining outcomes count in the next epoch of their
/// arm. A late outcome of an arm that is not the current epoch's arm is ignored. The exception is an arm with such remaining
/// outcomes: the late outcome counts with them in the next epoch of its arm.
///
/// Example: `MomaGpUcb(bound: 2, payoffs: HeavyTailed(central_moment: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MomaGpUcb {
    /// B, bound on |f - prior mean|, in units of the outcome. Default: the value that the protocol provides.
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
    /// Constants of the confidence bounds. Default: `Theorem`.
    #[serde(default)]
    pub constants: Constants,
    /// Factor, dimensionless, by which beta is multiplied. Default: 1.
    #[serde(default = "knowledge::default_factor")]
    pub beta_scale: Positive,
    /// Accuracy of the Nystrom features, dimensionless, above 0 and below 1; a smaller value gives a better approximation
    /// and takes longer. Default: 0.1.
    #[serde(default = "knowledge::accuracy")]
    pub accuracy: Probability,
    /// k, the number of times that a chosen arm is queried before the next arm is chosen.
    /// Default: ceil(24 ln(4 e T / delta)).
    #[serde(default)]
    pub repetitions: Option<NonZeroU32>,
    /// How the estimates are combined. Default: `Medoid`.
    #[serde(default)]
    pub middle: Middle,
}

#[derive(Clone, Debug)]
struct State {
    recipe: MomaGpUcb,
    known: Knowledge,
    prior_mean: f64,
    n: usize,
    matrix: Vec<f64>,
    q: f64,
    repetitions: usize,
    /// The arm of the current epoch.
    epoch: Option<usize>,
    /// The outcomes of the current epoch so far.
    arrived: Vec<f64>,
    /// By arm: the outcomes of an epoch that was unfinished when, in the replayed history of another learner, that learner
    /// went on to another arm.
    left: BTreeMap<usize, Vec<f64>>,
    /// For each arm and each j from 1 to k, the sum of outcome j over the finished epochs of the arm: `[n, k]`.
    sums: Vec<f64>,
    /// Number of finished epochs of each arm.
    counts: Vec<f64>,
    epochs: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    scores: Vec<f64>,
    beta: f64,
    stale: bool,
    failure: Option<GpError>,
}

impl MomaGpUcb {
    /// k for T outcomes, T at least 1: what the recipe states, or ceil(24 ln(4 e T / delta)). Zhou and Tan 2021,
    /// Algorithm 3.
    #[must_use]
    pub fn repetitions(&self, horizon: f64) -> usize {
        match self.repetitions {
            Some(k) => k.get() as usize,
            None => (24.0 * libm::log(4.0 * E * horizon / self.delta.get())).ceil() as usize,
        }
    }

    /// beta_(n+1) after n epochs with m features: the factor by which the standard deviation is multiplied, not yet
    /// multiplied by `beta_scale`. n and m are at least 1. Sources: with `Theorem`, Zhou and Tan 2021, Theorem 4; with
    /// `OrderWise`, Chowdhury and Gopalan 2019.
    #[must_use]
    pub fn width(&self, known: &Knowledge, m: f64, n: f64) -> f64 {
        let (exponent, lambda, growth) = (1.0 / (1.0 + known.alpha), self.lambda.get(), known.growth(n));
        match self.constants {
            Constants::Theorem => {
                let tail = libm::pow(9.0 * m * known.central_moment, exponent) * growth;
                known.bound * (1.0 + 1.0 / (1.0 - self.accuracy.get()).sqrt()) + 3.0 * tail / lambda.sqrt()
            }
            Constants::OrderWise => {
                known.bound * lambda.sqrt() + libm::pow(m * known.central_moment, exponent) * growth
            }
        }
    }
}

impl LearnerRecipe for MomaGpUcb {
    /// The memory for a basis of features and k estimates, and the time to compute, after every k outcomes, a new basis,
    /// the k estimates and the distances between the estimates.
    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let k = self.repetitions(self.horizon.unwrap_or(outcomes).max(1) as f64);
        let (n, estimates, m) = (arms as f64, k as f64, rank(arms));
        let epochs = (outcomes as f64 / estimates).floor();
        let sums = NUMBER * estimates * (n + m);
        let centre = MULTIPLY * estimates * m * (n + m + estimates);
        let place = if self.repetitions.is_some() { "repetitions" } else { OUTCOMES };
        let basis = basis_effort(arms);
        let seconds = epochs * (basis.seconds + centre);
        Effort { seconds, ..basis.and(Effort::due_to(place, k as u64, sums, 0.0)) }
    }

    fn most_arms(&self) -> Option<u64> {
        Some(MATRIX_ARMS)
    }

    fn problems(&self) -> Vec<Problem> {
        let problems = [accuracy_problem(self.accuracy), payoff_problems(self.payoffs)];
        problems.concat()
    }

    fn problems_with(&self, outcomes: Outcomes) -> Vec<Problem> {
        form_problems(self.payoffs, outcomes)
    }

    fn moment(&self, arms: &Arms) -> Option<(f64, f64)> {
        let known = Knowledge::gather("MomaGpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        known.moment()
    }

    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        if self.middle != Middle::Medoid {
            return None;
        }
        let known = Knowledge::gather("MomaGpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        let theorem = theorem::moma(&known, self.accuracy, self.delta, self.lambda)?;
        let theorem = theorem.with_constants_caveat(self.constants, self.beta_scale);
        let by_theorem = Self { repetitions: None, ..self.clone() }.repetitions(known.horizon);
        let differs = self.repetitions(known.horizon) != by_theorem;
        Some(theorem.with_caveat(differs, "the theorem's k differs from the k used here"))
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let known = Knowledge::gather("MomaGpUcb", self.bound, self.horizon, self.payoffs, arms)?;
        let prior = small_covariance("MomaGpUcb", arms)?;
        let q = oversampling(self.constants, known.horizon, self.delta.get(), self.accuracy.get());
        let repetitions = self.repetitions(known.horizon);
        Ok(Box::new(State {
            recipe: self.clone(),
            known,
            prior_mean: arms.mean,
            n: arms.n,
            matrix: prior.dense(),
            q,
            repetitions,
            epoch: None,
            arrived: Vec::new(),
            left: BTreeMap::new(),
            sums: vec![0.0; arms.n * repetitions],
            counts: vec![0.0; arms.n],
            epochs: 0.0,
            mean: vec![0.0; arms.n],
            variance: prior.variances(),
            scores: vec![0.0; arms.n],
            beta: known.bound,
            stale: false,
            failure: None,
        }))
    }
}

impl State {
    /// Recomputes the model if an epoch was finished since the model was last computed.
    fn renew(&mut self, stream: &mut Stream) {
        if self.stale {
            let basis = nystrom::draw_basis(self.q, &self.counts, &self.variance, stream);
            // `refresh` fails only for numbers near overflow; the next call of `observe` reports the error.
            self.failure = self.refresh(basis).err();
        }
    }

    /// Begins an epoch, with the outcomes of the arm's unfinished epoch if there is one.
    fn begin(&mut self, arm: usize) {
        self.epoch = Some(arm);
        if let Some(left) = self.left.remove(&arm) {
            self.arrived = left;
        }
    }

    /// Adds the k outcomes of a finished epoch of `arm` to the sums.
    fn close(&mut self, arm: usize, outcomes: &[f64]) {
        let sums = &mut self.sums[arm * self.repetitions..][..self.repetitions];
        sums.iter_mut().zip(outcomes).for_each(|(sum, outcome)| *sum += outcome);
        self.counts[arm] += 1.0;
        self.epochs += 1.0;
        self.stale = true;
    }

    fn refresh(&mut self, basis: Vec<usize>) -> Result<(), GpError> {
        let (lambda, k) = (self.recipe.lambda.get(), self.repetitions);
        let features = Nystrom::new(self.n, &self.matrix, basis)?;
        let rank = features.rank();
        self.beta = self.recipe.width(&self.known, features.dimension() as f64, self.epochs);
        let factor = features.factor(&self.counts, lambda)?;
        // Estimate j is V^-1 g_j, where g_j is the sum of features times outcome j over all epochs. With V = L L^T, the
        // distance of two estimates in the norm of V is the Euclidean distance of their points L^-1 g_j.
        let mut points = vec![0.0; k * rank];
        for arm in (0..self.n).filter(|&arm| self.counts[arm] > 0.0) {
            let c = features.coordinates(arm);
            for (point, &sum) in points.chunks_mut(rank.max(1)).zip(&self.sums[arm * k..][..k]) {
                point.iter_mut().zip(c).for_each(|(value, &c)| *value += sum * c);
            }
        }
        points.chunks_mut(rank.max(1)).for_each(|point| factor.forward(point));
        let mut weights = middle(self.recipe.middle, &points, rank);
        factor.backward(&mut weights);
        let mut whitened = vec![0.0; rank];
        for arm in 0..self.n {
            let c = features.coordinates(arm);
            self.mean[arm] = dot(c, &weights);
            whitened.copy_from_slice(c);
            factor.forward(&mut whitened);
            self.variance[arm] = features.variance(arm, &whitened, lambda);
        }
        self.stale = false;
        Ok(())
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.n
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        if let Some(arm) = self.epoch {
            return arm;
        }
        self.renew(stream);
        let beta = self.recipe.beta_scale.get() * self.beta;
        upper_bounds(&self.mean, &self.variance, beta, &mut self.scores);
        let arm = largest(&self.scores);
        self.begin(arm);
        arm
    }

    fn replay_choice(&mut self, arm: usize, stream: &mut Stream) {
        if self.epoch == Some(arm) {
            return;
        }
        self.renew(stream);
        if let Some(left) = self.epoch {
            self.left.insert(left, std::mem::take(&mut self.arrived));
        }
        self.begin(arm);
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        let current = self.epoch == Some(arm);
        let outcomes = if current { Some(&mut self.arrived) } else { self.left.get_mut(&arm) };
        let Some(outcomes) = outcomes else { return Ok(()) };
        outcomes.push(outcome - self.prior_mean);
        if outcomes.len() == self.repetitions {
            let outcomes = std::mem::take(outcomes);
            self.close(arm, &outcomes);
            if current {
                self.epoch = None;
            } else {
                self.left.remove(&arm);
            }
        }
        Ok(())
    }

    fn wanted(&self) -> usize {
        self.repetitions - self.arrived.len()
    }
}
