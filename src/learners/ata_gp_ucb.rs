//! ATA-GP-UCB: GP-UCB on Nystrom features. In every round, the products of the features and all outcomes so far are
//! truncated anew.

use super::arms::{Arms, BuildError, small_covariance};
use super::knowledge::{
    self, Constants, Knowledge, Payoffs, accuracy_problem, form_problems, payoff_problems,
};
use super::outcome_sums::OutcomeSums;
use super::theorem::{self, Theorem};
use super::{Learner, LearnerRecipe, MATRIX_ARMS, Outcomes, basis_effort};
use crate::gp::{Eigen, GpError, Nystrom, dot, largest, nystrom, upper_bounds};
use crate::rng::Stream;
use crate::vocab::{Delta, Effort, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ATA-GP-UCB: argmax over arms of mean + beta_t sd, where the mean is computed from truncated products of features and
/// outcomes.
///
/// An arm has m features, phi, in units of the outcome; row s of Phi has the features of the arm queried in round s.
/// Let V = Phi^T Phi + lambda I, let u_i be the rows of V^(-1/2) Phi^T (the symmetric root), and let y_s be the outcome of
/// round s minus the prior mean. Then r_i is the sum of those products u_i,s y_s whose absolute value is at most b_t, and
/// the mean of an arm is phi^T V^(-1/2) r. The threshold after t outcomes is
/// b_t = (v/L)^(1/(1+alpha)) t^((1-alpha)/(2(1+alpha))).
///
/// With the constants `Theorem`, L = ln(4 m T / delta),
/// beta_(t+1) = B (1 + 1/sqrt(1 - accuracy)) + 4 sqrt(m / lambda) L b_t and
/// q = 6 rho ln(4T/delta) / accuracy^2, with rho = (1 + accuracy) / (1 - accuracy). With `OrderWise`, L = ln((m+1) T),
/// beta_(t+1) = B sqrt(lambda) + sqrt(m) L b_t and q = ln(T) / accuracy^2. q is the oversampling of the Nystrom features:
/// for each outcome, the outcome's arm enters the basis of the features with probability min(q variance, 1).
/// v, in units of the outcome to the power 1 + alpha, bounds E|outcome - prior mean|^(1+alpha); v and alpha come from
/// `payoffs`.
///
/// Both printed versions of Zhou and Tan keep the product of round s if its absolute value is at most b_s. Here every
/// product is compared with b_t of the current round t, as in Chowdhury and Gopalan. There are two reasons. The features and
/// their number m change with t, so the products of earlier rounds change too. And the proof of Zhou and Tan bounds all
/// products by one number. v is computed with the privacy epsilon; the first printed version of Zhou and Tan has the
/// accuracy in place of epsilon.
///
/// Source: Zhou and Tan 2021, Algorithm 1 and Theorem 2; Chowdhury and Gopalan 2019, Algorithm 2 and their code.
///
/// Example: `AtaGpUcb(bound: 2, payoffs: HeavyTailed(central_moment: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtaGpUcb {
    /// B, bound on |f - prior mean|, in units of the outcome; the regret bound assumes that B also bounds the norm of
    /// f - prior mean in the kernel's reproducing kernel Hilbert space (RKHS).
    /// Default: the value that the protocol provides.
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
    /// Constants of truncation and confidence. Default: `Theorem`.
    #[serde(default)]
    pub constants: Constants,
    /// Factor, dimensionless, by which beta is multiplied. Default: 1.
    #[serde(default = "knowledge::default_factor")]
    pub beta_scale: Positive,
    /// Accuracy of the Nystrom features, dimensionless, above 0 and below 1; a smaller value gives a better approximation
    /// and takes longer. Default: 0.1.
    #[serde(default = "knowledge::accuracy")]
    pub accuracy: Probability,
}

/// Truncation threshold and confidence width for one set of features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Widths {
    /// b_t, in units of the outcome.
    pub truncation: f64,
    /// beta_(t+1), the factor by which the standard deviation is multiplied; not yet multiplied by `beta_scale`.
    pub beta: f64,
}

#[derive(Clone, Debug)]
struct State {
    recipe: AtaGpUcb,
    known: Knowledge,
    prior_mean: f64,
    n: usize,
    matrix: Vec<f64>,
    q: f64,
    /// Outcomes of each arm.
    outcomes: Vec<OutcomeSums>,
    counts: Vec<f64>,
    t: f64,
    features: Option<Nystrom>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    scores: Vec<f64>,
    beta: f64,
    /// Whether outcomes arrived since the model was last computed.
    stale: bool,
    failure: Option<GpError>,
}

impl AtaGpUcb {
    /// b_t and beta_(t+1) for m features, at least 1, after t outcomes. Sources: with `Theorem`, Zhou and Tan 2021,
    /// Algorithm 1 and Theorem 2; with `OrderWise`, Chowdhury and Gopalan 2019, Algorithm 2 and their code. With `Theorem`,
    /// an accuracy of 1 makes beta infinite; recipes with this accuracy are refused.
    #[must_use]
    pub fn widths(&self, known: &Knowledge, m: f64, t: f64) -> Widths {
        let (exponent, lambda) = (1.0 / (1.0 + known.alpha), self.lambda.get());
        let logarithm = match self.constants {
            Constants::Theorem => libm::log(4.0 * m * known.horizon / self.delta.get()),
            Constants::OrderWise => libm::log((m + 1.0) * known.horizon),
        };
        let growth = known.growth(t);
        let truncation = libm::pow(known.raw_moment / logarithm, exponent) * growth;
        let tail = known.raw_root() * libm::pow(logarithm, known.alpha * exponent) * growth;
        let beta = match self.constants {
            Constants::Theorem => {
                known.bound * (1.0 + 1.0 / (1.0 - self.accuracy.get()).sqrt())
                    + 4.0 * (m / lambda).sqrt() * tail
            }
            Constants::OrderWise => known.bound * lambda.sqrt() + m.sqrt() * tail,
        };
        Widths { truncation, beta }
    }
}

/// Time for a basis with the order-wise constants, as a share of the time that `basis_effort` estimates. The share was
/// measured in scenarios/users.ron.
const FEATURES: f64 = 0.1;

/// The oversampling q of the Nystrom features.
pub(super) fn oversampling(constants: Constants, horizon: f64, delta: f64, accuracy: f64) -> f64 {
    match constants {
        Constants::Theorem => nystrom::oversampling(horizon, delta, accuracy),
        Constants::OrderWise => libm::log(horizon) / (accuracy * accuracy),
    }
}

impl LearnerRecipe for AtaGpUcb {
    /// The memory and time for drawing a new basis of features for every outcome.
    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let basis = basis_effort(arms);
        // `basis_effort` assumes one feature per arm, but at most 64. With the constants of the theorem, nearly all arms are
        // in the basis.
        let share = match self.constants {
            Constants::Theorem => 1.0,
            Constants::OrderWise => FEATURES,
        };
        let seconds = basis.seconds * share * outcomes as f64;
        Effort { seconds, ..basis }
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
        let known = Knowledge::gather("AtaGpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        known.moment()
    }

    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        let known = Knowledge::gather("AtaGpUcb", self.bound, self.horizon, self.payoffs, arms).ok()?;
        let theorem = theorem::ata(&known, self.accuracy, self.delta, self.lambda)?;
        Some(theorem.with_constants_caveat(self.constants, self.beta_scale))
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let known = Knowledge::gather("AtaGpUcb", self.bound, self.horizon, self.payoffs, arms)?;
        let prior = small_covariance("AtaGpUcb", arms)?;
        let q = oversampling(self.constants, known.horizon, self.delta.get(), self.accuracy.get());
        Ok(Box::new(State {
            recipe: self.clone(),
            known,
            prior_mean: arms.mean,
            n: arms.n,
            matrix: prior.dense(),
            q,
            outcomes: vec![OutcomeSums::default(); arms.n],
            counts: vec![0.0; arms.n],
            t: 0.0,
            features: None,
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
    /// Recomputes the model if outcomes arrived since the model was last computed.
    fn renew(&mut self, stream: &mut Stream) {
        if self.stale {
            let basis = nystrom::draw_basis(self.q, &self.counts, &self.variance, stream);
            // `refresh` fails only for numbers near overflow; the next call of `observe` reports the error.
            self.failure = self.refresh(basis).err();
        }
    }

    /// Recomputes beta, and the mean and the variance of every arm, with the features on `basis`.
    fn refresh(&mut self, basis: Vec<usize>) -> Result<(), GpError> {
        let features = match self.features.take() {
            Some(features) if features.basis() == basis => features,
            _ => Nystrom::new(self.n, &self.matrix, basis)?,
        };
        let widths = self.recipe.widths(&self.known, features.dimension() as f64, self.t);
        self.beta = widths.beta;
        self.estimate(&features, widths.truncation)?;
        self.features = Some(features);
        self.stale = false;
        Ok(())
    }

    /// Computes mean and variance of every arm. Products of features and outcomes whose absolute value exceeds `truncation`
    /// count as zero.
    fn estimate(&mut self, features: &Nystrom, truncation: f64) -> Result<(), GpError> {
        let lambda = self.recipe.lambda.get();
        let (m, rank) = (features.dimension(), features.rank());
        let eigen = Eigen::new(rank, features.gram(&self.counts, lambda))?;
        // Without rounding errors, the eigenvalues of V are at least lambda.
        let root = eigen.function(|value| 1.0 / value.max(lambda).sqrt());
        let whitened = features.coordinates_times(&root);
        for (arm, whitened) in whitened.chunks(rank.max(1)).enumerate() {
            self.variance[arm] = features.variance(arm, whitened, lambda);
        }
        // r is summed as a vector of m numbers, then projected onto the range of the basis's covariance matrix. The range
        // contains V^(-1/2) phi of every arm, so the projection of r does not change the mean, phi^T V^(-1/2) r.
        let mut r = vec![0.0; m];
        let played = || (0..self.n).filter(|&arm| self.counts[arm] > 0.0);
        let mut of_played = Vec::with_capacity(whitened.len());
        for arm in played() {
            of_played.extend_from_slice(&whitened[arm * rank..(arm + 1) * rank]);
        }
        for (arm, u) in played().zip(features.expand_all(&of_played).chunks(m.max(1))) {
            let outcomes = &self.outcomes[arm];
            for (sum, &u) in r.iter_mut().zip(u) {
                *sum += u * outcomes.within(truncation / u.abs());
            }
        }
        let weights = features.project(&r);
        for (mean, whitened) in self.mean.iter_mut().zip(whitened.chunks(rank.max(1))) {
            *mean = dot(whitened, &weights);
        }
        Ok(())
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.n
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        self.renew(stream);
        let beta = self.recipe.beta_scale.get() * self.beta;
        upper_bounds(&self.mean, &self.variance, beta, &mut self.scores);
        largest(&self.scores)
    }

    /// Recomputes the model as `suggest` does, because the next basis is drawn with the variances of this model.
    fn replay_choice(&mut self, _: usize, stream: &mut Stream) {
        self.renew(stream);
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.outcomes[arm].insert(outcome - self.prior_mean);
        self.counts[arm] += 1.0;
        self.t += 1.0;
        self.stale = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Covariance;
    use crate::gp::{ArmCovariance, Points};
    use crate::learners::ProblemConstants;
    use std::sync::Arc;

    fn known() -> Knowledge {
        Knowledge {
            bound: 4.0,
            horizon: 1e4,
            raw_moment: 217.0,
            central_moment: 201.0,
            alpha: 1.0,
            laplace: Some((5.0, 10.0)),
            tail: None,
        }
    }

    #[test]
    fn constants_agree_with_the_oracle() {
        // The expected numbers are `ata_m20` and, for q, `q_acc0.5` of `ldp_constants` in
        // tests/oracles/ldp_federated_units.json.
        let recipe: AtaGpUcb = ron::from_str("(accuracy: 0.5)").unwrap();
        let widths = recipe.widths(&known(), 20.0, 1234.0);
        assert!((widths.truncation - 3.6948792935833414).abs() < 1e-12);
        assert!((widths.beta - 1060.2497696069522).abs() < 1e-9);
        let q = oversampling(Constants::Theorem, 1e4, 0.1, 0.5);
        assert!((q - 928.7438274784886).abs() < 1e-9);
    }

    #[test]
    fn truncated_means_agree_with_the_oracle() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/oracles/ldp_federated_units.json")).unwrap();
        let points = Arc::new(Points::new(5, 1, vec![0.0, 0.25, 0.5, 0.75, 1.0]));
        let covariance = ArmCovariance::of_inputs(points, Covariance::squared_exponential(0.2, 1.0));
        let recipe: AtaGpUcb = ron::from_str("()").unwrap();
        let features = Nystrom::new(5, &covariance.dense(), vec![0, 2, 4]).unwrap();
        for (b, case) in oracle["ata"]["by_b"].as_object().unwrap() {
            let mut outcomes = vec![OutcomeSums::default(); 5];
            let mut counts = vec![0.0; 5];
            for pair in oracle["ata"]["obs_arm_y"].as_array().unwrap() {
                let arm = pair[0].as_u64().unwrap() as usize;
                outcomes[arm].insert(pair[1].as_f64().unwrap());
                counts[arm] += 1.0;
            }
            let mut player = State {
                recipe: recipe.clone(),
                known: known(),
                prior_mean: 0.0,
                n: 5,
                matrix: covariance.dense(),
                q: 1.0,
                outcomes,
                counts,
                t: 6.0,
                features: None,
                mean: vec![0.0; 5],
                variance: vec![1.0; 5],
                scores: vec![0.0; 5],
                beta: 0.0,
                stale: true,
                failure: None,
            };
            player.estimate(&features, b.parse().unwrap()).unwrap();
            for (found, expected) in player.mean.iter().zip(case["mu"].as_array().unwrap()) {
                let expected = expected.as_f64().unwrap();
                assert!((found - expected).abs() < 1e-12, "{found} {expected} at b = {b}");
            }
            let variances = &oracle["nystrom"]["posterior"]["sigma2"];
            for (found, expected) in player.variance.iter().zip(variances.as_array().unwrap()) {
                assert!((found - expected.as_f64().unwrap()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn without_truncation_the_model_is_the_exact_posterior() {
        // All arms that were played are in the basis and nothing is truncated, so the result is the exact
        // posterior with noise variance lambda.
        let n = 30;
        let points = Points::new(n, 1, (0..n).map(|i| i as f64 / 29.0).collect());
        let covariance = ArmCovariance::of_inputs(Arc::new(points), Covariance::matern52(0.2, 1.0));
        let arms = Arms {
            n,
            covariance: Some(covariance.clone()),
            noise_variance: 1.0,
            mean: 0.0,
            facts: ProblemConstants::default(),
        };
        let recipe: AtaGpUcb = ron::from_str("(lambda: 0.5)").unwrap();
        let mut player = State {
            recipe,
            known: known(),
            prior_mean: 0.0,
            n,
            matrix: covariance.dense(),
            q: 1.0,
            outcomes: vec![OutcomeSums::default(); n],
            counts: vec![0.0; n],
            t: 0.0,
            features: None,
            mean: vec![0.0; n],
            variance: vec![1.0; n],
            scores: vec![0.0; n],
            beta: 0.0,
            stale: true,
            failure: None,
        };
        let mut exact = crate::gp::ArmPosterior::new(arms.covariance.as_ref().unwrap(), 0.5, 0.0);
        let mut stream = crate::rng::Key::root(3).stream();
        for _ in 0..300 {
            let (arm, outcome) = (stream.below(n as u64) as usize, 3.0 * stream.normal());
            player.observe(arm, outcome).unwrap();
            exact.observe(arm, outcome).unwrap();
        }
        let basis = (0..n).filter(|&arm| player.counts[arm] > 0.0).collect();
        let features = Nystrom::new(n, &player.matrix, basis).unwrap();
        player.estimate(&features, f64::INFINITY).unwrap();
        for arm in 0..n {
            assert!((player.mean[arm] - exact.mean()[arm]).abs() < 1e-9);
            assert!((player.variance[arm] - exact.variance()[arm]).abs() < 1e-9);
        }
    }
}
