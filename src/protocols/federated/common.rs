//! What all agents have in common.

use super::failure::StartError;
use crate::gp::covariance::LengthScale;
use crate::gp::{ArmCovariance, Cholesky, FeatureLength, FourierFeatures, MAX_ARMS, WeightPosterior};
use crate::objectives::{Instance, Surrogate};
use crate::rng::Key;
use std::sync::Arc;

/// The scenario's settings of the shared features. If a setting is `None`, that of the surrogate is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeatureRecipe {
    /// Number of features, M.
    pub(super) m: usize,
    pub(super) length_scale: Option<f64>,
    /// Prior variance of the function.
    pub(super) variance: Option<f64>,
    /// lambda, the variance of the noise that the shared model assumes.
    pub(super) noise_variance: Option<f64>,
}

/// Smallest default noise variance of the shared model, and smallest noise variance in bounds on the information gain:
/// both need a noise variance above 0, even if the objective has no noise.
const RIDGE: f64 = 1e-6;

/// What all agents of a replication have in common.
#[derive(Debug)]
pub(super) struct AgentCommon {
    pub(super) surrogate: Surrogate,
    pub(super) covariance: ArmCovariance,
    /// Cholesky factor of the prior covariance, for joint draws.
    pub(super) prior: Arc<Cholesky>,
    /// Features of every point, the same for all agents: n points x M features, row by row.
    pub(super) features: Vec<f64>,
    pub(super) m: usize,
    /// The shared model before any outcome.
    pub(super) prior_weights: WeightPosterior,
}

impl AgentCommon {
    pub(super) fn new(instance: &Instance, recipe: FeatureRecipe, key: Key) -> Result<Self, StartError> {
        let m = recipe.m;
        let points = Arc::clone(&instance.inputs);
        if points.n() > MAX_ARMS {
            return Err(StartError::TooManyPoints { found: points.n(), most: MAX_ARMS });
        }
        let surrogate = instance.surrogate.clone();
        let covariance = ArmCovariance::of_inputs(Arc::clone(&points), surrogate.covariance.clone());
        let prior = Cholesky::with_jitter(points.n(), &covariance.dense())?;
        let mut of_features = surrogate.covariance.clone();
        if let Some(length_scale) = recipe.length_scale {
            of_features.length_scale = LengthScale::Same(length_scale);
        }
        of_features.variance = recipe.variance.unwrap_or(of_features.variance);
        let feature_noise = recipe.noise_variance.unwrap_or_else(|| surrogate.noise_variance.max(RIDGE));
        let drawn = FourierFeatures::draw(
            &of_features,
            points.d(),
            m,
            FeatureLength::Exact,
            &mut key.child("features").stream(),
        )?;
        let mut features = vec![0.0; points.n() * m];
        for (index, row) in features.chunks_exact_mut(m).enumerate() {
            drawn.fill(points.row(index), row);
        }
        let prior_weights = WeightPosterior::new(m, feature_noise)?;
        Ok(Self { surrogate, covariance, prior: Arc::new(prior), features, m, prior_weights })
    }

    /// The noise variance of the surrogate, at least 1e-6, for bounds on the information gain and the widths that
    /// follow from them. Agents' own models use the surrogate's noise variance itself.
    pub(super) fn assumed_noise(&self) -> f64 {
        self.surrogate.noise_variance.max(RIDGE)
    }

    /// Features of one point.
    pub(super) fn features(&self, arm: usize) -> &[f64] {
        &self.features[arm * self.m..][..self.m]
    }

    /// phi(x)^T omega for one point x: its features times the vector of its region.
    pub(super) fn score(&self, arm: usize, regions: &[usize], vectors: &[Vec<f64>]) -> f64 {
        let vector = &vectors[regions[arm].min(vectors.len() - 1)];
        self.features(arm).iter().zip(vector).map(|(phi, omega)| phi * omega).sum()
    }

    /// phi(x)^T omega for every point x: its features times the vector of its region.
    pub(super) fn scores(&self, regions: &[usize], vectors: &[Vec<f64>]) -> Vec<f64> {
        self.features
            .chunks_exact(self.m)
            .zip(regions)
            .map(|(row, &region)| {
                row.iter().zip(&vectors[region.min(vectors.len() - 1)]).map(|(phi, omega)| phi * omega).sum()
            })
            .collect()
    }
}
