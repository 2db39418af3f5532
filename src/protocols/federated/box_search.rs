//! An agent's search for the point of a box at which a function is largest. The function is the one that the shared
//! vectors describe, or a draw from the agent's own model.

use super::query::Query;
use super::regions::Regions;
use crate::gp::{
    Climb, FourierFeatures, GpError, PointPosterior, Points, PosteriorPath, maximum_in_box, maximum_in_mixed,
};
use crate::rng::Stream;
use crate::vocab::SearchBox;
use std::sync::Arc;

/// In each group of candidates, local searches start from this number of candidates: those with the largest values. For
/// the function that the shared vectors describe, the points of the sample in one region are a group. For a draw from an
/// agent's own model, there are two groups: the points of the sample, and the measured points.
const REFINED: usize = 4;
/// Number of points of the sample that are candidates for the largest value of a draw from an agent's own model.
const CANDIDATES: usize = 256;
/// Number of features of a draw from an agent's own model.
pub(super) const OWN_FEATURES: usize = 512;
const CLIMB: Climb = Climb { max_steps: 60, gradient_tolerance: 1e-8, value_tolerance: 1e-10 };
/// Approximate number of evaluations of a draw: at the candidates, and at the steps of the searches.
pub(super) const OWN_EVALUATIONS: f64 = 500.0;

/// The box that all agents of a replication search.
#[derive(Debug)]
pub(super) struct BoxSpace {
    pub(super) domain: SearchBox,
    /// The features that all agents share, as functions on the unit cube.
    pub(super) basis: FourierFeatures,
    /// Valid Sobol' points of the unit cube, the same for all agents: candidates for the point with the largest value.
    pub(super) sample: Arc<Points>,
}

impl BoxSpace {
    /// The point x at which phi(x)^T omega is largest, where phi(x) are the shared features at x, and omega is the
    /// vector of the region that contains x. The maximum is approximate: local searches start from the best candidates
    /// of each region ([`Self::refined`]), and the best point that a search finds is returned. `scores` are the values
    /// of phi(x)^T omega at the points of the sample, and `vectors` are the vectors of the regions.
    ///
    /// Source: Dai, Low and Jaillet 2021, Algorithm 2, line 8.
    pub(super) fn best_by_vectors(
        &self,
        regions: &Regions,
        vectors: &[Vec<f64>],
        scores: &[f64],
    ) -> Vec<f64> {
        let mut best: Option<(Vec<f64>, f64)> = None;
        for region in 0..regions.count() {
            let vector = &vectors[region.min(vectors.len() - 1)];
            let ends = regions.ends(region);
            let mut function = |x: &[f64], gradient: &mut [f64]| self.basis.product(vector, x, gradient);
            let known = scores.iter().zip(regions.of_arms()).enumerate();
            let inside = known.filter(|(_, (score, of))| **of == region && score.is_finite());
            let mut inside: Vec<(f64, usize)> = inside.map(|(point, (score, _))| (*score, point)).collect();
            // The sort is stable: among candidates with equal values, the first in the sample comes first.
            inside.sort_by(|a, b| b.0.total_cmp(&a.0));
            let starts = inside.iter().take(REFINED).map(|(_, point)| self.sample.row(*point).to_vec());
            let mut starts: Vec<Vec<f64>> = starts.collect();
            if starts.is_empty() {
                starts.extend(self.domain.valid_point_in(&ends, &vec![0.5; self.domain.d()]));
            }
            let mut value = |x: &[f64]| self.basis.product(vector, x, &mut vec![0.0; x.len()]);
            let found = self.refined(&[starts], &ends, &mut value, &mut function);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.1 > best.1)
            {
                best = Some(found);
            }
        }
        // If the vectors are finite, so are the values, and a point is found. Otherwise the first point of the sample is
        // returned.
        best.map_or_else(|| self.sample.row(0).to_vec(), |(point, _)| point)
    }

    /// The point at which a draw from N(mean, scale^2 covariance) of the agent's own posterior is largest, found by
    /// local searches from Sobol' points and from the measured points. The draw is a sum of random Fourier features,
    /// plus a correction that follows from the outcomes.
    ///
    /// # Errors
    /// [`GpError`] if the covariance has no Fourier features.
    pub(super) fn best_by_draw(
        &self,
        posterior: &PointPosterior,
        scale: f64,
        stream: &mut Stream,
    ) -> Result<Vec<f64>, GpError> {
        let path = PosteriorPath::draw_scaled(posterior, OWN_FEATURES, scale, stream)?;
        let sample = (0..self.sample.n().min(CANDIDATES)).map(|point| self.sample.row(point).to_vec());
        let measured = (0..posterior.observations()).map(|index| posterior.point(index).to_vec());
        let groups = [sample.collect(), measured.collect()];
        let mut function = |x: &[f64], gradient: &mut [f64]| path.at(x, gradient);
        let ends = vec![(0.0, 1.0); self.sample.d()];
        let found = self.refined(&groups, &ends, &mut |x| path.value(x), &mut function);
        Ok(found.map_or_else(|| self.sample.row(0).to_vec(), |(point, _)| point))
    }

    /// A uniformly random point.
    pub(super) fn random_point(&self, stream: &mut Stream) -> Query {
        let ends = vec![(0.0, 1.0); self.sample.d()];
        self.random_point_in(&ends, stream).unwrap_or_else(|| Query::point(self.sample.row(0).to_vec()))
    }

    /// A uniformly random point within these ends; `None` if no point is valid there. The draw takes one random number
    /// for each input.
    pub(super) fn random_point_in(&self, ends: &[(f64, f64)], stream: &mut Stream) -> Option<Query> {
        let shares: Vec<f64> = (0..self.domain.d()).map(|_| stream.uniform()).collect();
        self.domain.valid_point_in(ends, &shares).map(Query::point)
    }

    /// Searches for the largest value of a function within these ends: local searches start from the best candidates of
    /// each group. Returns the best point that a search finds, with its value; `None` if no candidate has a finite
    /// value. Only valid points are tried.
    fn refined(
        &self,
        groups: &[Vec<Vec<f64>>],
        ends: &[(f64, f64)],
        value: &mut impl FnMut(&[f64]) -> f64,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<(Vec<f64>, f64)> {
        if self.domain.is_continuous() {
            return maximum_in_box(groups, ends, (REFINED, CLIMB), value, function);
        }
        let held = self.domain.discrete();
        let region = SearchBox::new(ends.to_vec());
        let neighbours = |unit: &[f64]| self.domain.neighbours(unit, &region);
        maximum_in_mixed(groups, (ends, &held), (REFINED, CLIMB), &neighbours, value, function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::FeatureLength;
    use crate::gp::covariance::{Covariance, Shape};
    use crate::rng::{Key, sobol};

    fn space(d: usize) -> BoxSpace {
        let covariance = Covariance::new(Shape::SquaredExponential, 0.3, 1.0);
        let mut stream = Key::root(2).stream();
        BoxSpace {
            domain: SearchBox::unit(d),
            basis: FourierFeatures::draw(&covariance, d, 40, FeatureLength::Exact, &mut stream).unwrap(),
            sample: Arc::new(Points::new(256, d, sobol::points(256, d, Key::root(4)).concat())),
        }
    }

    /// The point found scores at least as high as every one of 20,000 random points, up to 1e-6, where each point is scored
    /// by the vector of its own region.
    #[test]
    fn the_maximum_over_regions_is_no_smaller_than_at_any_random_point() {
        let space = space(2);
        let regions = Regions::of_box(&space.domain, &space.sample, 4);
        for seed in 0..6 {
            let mut stream = Key::root(seed).stream();
            let vectors: Vec<Vec<f64>> = (0..4).map(|_| (0..40).map(|_| stream.normal()).collect()).collect();
            let score = |x: &[f64]| -> f64 {
                let features = space.basis.of(x);
                features.iter().zip(&vectors[regions.of(x)]).map(|(phi, omega)| phi * omega).sum()
            };
            let scores: Vec<f64> = (0..256).map(|point| score(space.sample.row(point))).collect();
            let found = space.best_by_vectors(&regions, &vectors, &scores);
            let top = score(&found);
            let random = (0..20_000).map(|_| score(&[stream.uniform(), stream.uniform()]));
            let best = random.fold(f64::NEG_INFINITY, f64::max);
            assert!(top > best - 1e-6, "{seed}: {found:?} {top} {best}");
        }
    }

    /// With a scale of nearly 0 the draw is nearly the posterior mean, which is largest close to the top of the hill.
    /// With scale 1 draws are also largest near the top, because the model has many outcomes of the function.
    #[test]
    fn draws_of_the_own_model_are_largest_where_the_model_is_sure_of_large_values() {
        let space = space(2);
        let covariance = Covariance::new(Shape::SquaredExponential, 0.3, 1.0);
        let mut posterior = PointPosterior::new(covariance, 2, 1e-4, 0.0);
        for unit in sobol::points(40, 2, Key::root(6)) {
            let hill = -8.0 * ((unit[0] - 0.62) * (unit[0] - 0.62) + (unit[1] - 0.31) * (unit[1] - 0.31));
            posterior.observe(&unit, 2.0 * libm::exp(hill)).unwrap();
        }
        for seed in 0..10 {
            let found = space.best_by_draw(&posterior, 1.0, &mut Key::root(seed).stream()).unwrap();
            assert!((found[0] - 0.62).abs() < 0.1 && (found[1] - 0.31).abs() < 0.1, "{found:?}");
            let mean = space.best_by_draw(&posterior, 1e-9, &mut Key::root(seed).stream()).unwrap();
            assert!((mean[0] - 0.62).abs() < 0.02 && (mean[1] - 0.31).abs() < 0.02, "{mean:?}");
        }
    }
}
