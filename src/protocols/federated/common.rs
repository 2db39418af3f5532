//! The features, covariance and points that all agents of a replication have in common.

use super::box_search::BoxSpace;
use super::failure::StartError;
use super::query::Query;
use super::regions::Regions;
use crate::gp::{ArmCovariance, Cholesky, FeatureLength, FourierFeatures, MAX_ARMS, Points, WeightPosterior};
use crate::objectives::{Instance, LengthScales, Surrogate};
use crate::rng::Key;
use std::borrow::Cow;
use std::sync::Arc;

/// The scenario's settings of the shared features. If a setting is `None`, the surrogate's value is used, or
/// [`RIDGE`] if the surrogate's noise variance is smaller.
#[derive(Clone, Debug, Default)]
pub(super) struct FeatureRecipe {
    /// Number of features, M.
    pub(super) m: usize,
    pub(super) length_scale: Option<LengthScales>,
    /// Prior variance of the function.
    pub(super) variance: Option<f64>,
    /// lambda, the variance of the noise that the shared model assumes.
    pub(super) noise_variance: Option<f64>,
}

/// Smallest default noise variance of the shared model, and smallest noise variance in bounds on the information gain:
/// the shared model and the bounds need a noise variance above 0, even if the objective has no noise.
const RIDGE: f64 = 1e-6;

/// What all agents of a replication have in common.
#[derive(Debug)]
pub(super) struct AgentCommon {
    pub(super) surrogate: Surrogate,
    pub(super) covariance: ArmCovariance,
    /// Cholesky factor of the prior covariance, for joint draws; `None` on a box.
    pub(super) prior: Option<Arc<Cholesky>>,
    /// Features of every arm (on a box: of every point of the sample), the same for all agents: n points x M features, row
    /// by row.
    pub(super) features: Vec<f64>,
    pub(super) m: usize,
    /// The shared model before any outcome.
    pub(super) prior_weights: WeightPosterior,
    /// The box, if queries are its points.
    pub(super) space: Option<BoxSpace>,
    points: Arc<Points>,
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
        let prior = match instance.continuum() {
            None => Some(Arc::new(Cholesky::with_jitter(points.n(), &covariance.dense())?)),
            Some(_) => None,
        };
        let mut of_features = surrogate.covariance.clone();
        if let Some(length_scale) = recipe.length_scale {
            of_features.length_scale = length_scale.of_coordinates(|inputs| match instance.continuum() {
                Some(continuum) => continuum.domain.of_coordinates(inputs),
                None => inputs.to_vec(),
            });
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
        let space = instance.continuum().map(|continuum| BoxSpace {
            domain: continuum.domain.clone(),
            basis: drawn,
            sample: Arc::clone(&points),
        });
        Ok(Self { surrogate, covariance, prior, features, m, space, points, prior_weights })
    }

    /// The domain, cut into `count` regions.
    pub(super) fn regions(&self, count: usize) -> Regions {
        match &self.space {
            Some(space) => Regions::of_box(&space.domain, &self.points, count),
            None => Regions::of_points(&self.points, count),
        }
    }

    /// The coordinates in which models see a query.
    pub(super) fn coordinates<'a>(&'a self, query: &'a Query) -> &'a [f64] {
        query.coordinates(&self.points)
    }

    /// The coordinates of the arms; on a box, of the points of the sample.
    pub(super) fn points(&self) -> &Arc<Points> {
        &self.points
    }

    /// The jitter that was added to the diagonal of the prior covariance of the arms; 0 if none was needed, or on a box.
    pub(super) fn prior_jitter(&self) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.jitter())
    }

    /// The noise variance of the surrogate, at least 1e-6, for bounds on the information gain and the confidence
    /// widths that follow from them. Agents' own models use the surrogate's noise variance itself.
    pub(super) fn assumed_noise(&self) -> f64 {
        self.surrogate.noise_variance.max(RIDGE)
    }

    /// Features of one arm.
    pub(super) fn features(&self, arm: usize) -> &[f64] {
        &self.features[arm * self.m..][..self.m]
    }

    /// Features of a query.
    pub(super) fn features_of(&self, query: &Query) -> Cow<'_, [f64]> {
        match (query, &self.space) {
            (Query::Point(unit), Some(space)) => Cow::Owned(space.basis.of(unit)),
            (Query::Point(_), None) => Cow::Borrowed(&[]),
            (Query::Arm(arm), _) => Cow::Borrowed(self.features(*arm)),
        }
    }

    /// phi(x)^T omega for one query x: its features times the vector of its region.
    pub(super) fn score(&self, query: &Query, regions: &Regions, vectors: &[Vec<f64>]) -> f64 {
        let vector = &vectors[query.region(regions).min(vectors.len() - 1)];
        self.features_of(query).iter().zip(vector).map(|(phi, omega)| phi * omega).sum()
    }

    /// phi(x)^T omega for every arm x (on a box: every point of the sample): its features times the vector of its region.
    pub(super) fn scores(&self, regions: &Regions, vectors: &[Vec<f64>]) -> Vec<f64> {
        self.features
            .chunks_exact(self.m)
            .zip(regions.of_arms())
            .map(|(row, &region)| {
                row.iter().zip(&vectors[region.min(vectors.len() - 1)]).map(|(phi, omega)| phi * omega).sum()
            })
            .collect()
    }
}
