//! The function that is maximised to choose the next query, for each acquisition function.

use super::knowledge_gradient::KnowledgeGradient;
use super::largest_value;
use super::noisy_improvement::NoisyImprovement;
use super::score::Score;
use super::settings::AcquisitionFunction;
use super::surface::Surface;
use crate::gp::{PointPosterior, PosteriorPath};
use crate::rng::Key;

/// Smallest standard deviation, as a share of the prior standard deviation, so that scores are defined at points
/// with a posterior variance of 0 too.
const LEAST_SD: f64 = 1e-8;

/// The acquisition function for the choice of one query. `best` is the best value so far (`Model::best_value`). `sample`
/// holds points of the domain in a fixed order. Max-value entropy search estimates the largest value of the objective from
/// the posterior at these points. The knowledge gradient is computed over a finite set of points: the points with outcomes,
/// the point at which it is evaluated, and some points of `sample`. `None` if the acquisition function cannot be computed,
/// because no function can be drawn from the posterior or a covariance matrix cannot be factorised.
pub(super) fn surface<'a>(
    function: AcquisitionFunction,
    posterior: &'a PointPosterior,
    best: f64,
    sample: &[&[f64]],
    key: Key,
) -> Option<Box<dyn Surface + 'a>> {
    let score = match function {
        AcquisitionFunction::LogExpectedImprovement => Score::LogImprovement { best },
        AcquisitionFunction::ExpectedImprovement => Score::Improvement { best },
        AcquisitionFunction::ProbabilityOfImprovement => Score::LogProbability { best },
        AcquisitionFunction::UpperConfidenceBound { beta } => Score::UpperBound { weight: beta.get().sqrt() },
        AcquisitionFunction::MaxValueEntropySearch { draws } => {
            let models: Vec<(f64, f64)> = sample.iter().map(|x| posterior.at(x)).collect();
            let mut stream = key.child("largest value").stream();
            Score::LargestValue { draws: largest_value::draws(&models, best, draws.get(), &mut stream) }
        }
        AcquisitionFunction::ThompsonSampling { features } => {
            let path = PosteriorPath::draw(posterior, features.get(), &mut key.child("path").stream());
            return Some(Box::new(path.ok()?));
        }
        AcquisitionFunction::LogNoisyExpectedImprovement { samples } => {
            let improvement = NoisyImprovement::new(posterior, samples.get(), key.child("base samples"));
            return Some(Box::new(improvement.ok()?));
        }
        AcquisitionFunction::KnowledgeGradient { points } => {
            let count = points.min(sample.len());
            let others = (0..count).map(|place| sample[place * sample.len() / count]);
            return Some(Box::new(KnowledgeGradient::new(posterior, others)));
        }
    };
    let least_sd = LEAST_SD * posterior.covariance().variance.sqrt();
    Some(Box::new(PointScore { posterior, score, least_sd }))
}

impl Surface for PosteriorPath<'_> {
    fn at(&self, x: &[f64]) -> f64 {
        Self::at(self, x, &mut vec![0.0; x.len()])
    }

    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Self::at(self, x, gradient)
    }
}

/// A function of the posterior mean and standard deviation at the point.
struct PointScore<'a> {
    posterior: &'a PointPosterior,
    score: Score,
    /// Smaller standard deviations are replaced by this one.
    least_sd: f64,
}

impl Surface for PointScore<'_> {
    fn at(&self, x: &[f64]) -> f64 {
        let (mean, variance) = self.posterior.at(x);
        self.score.at(mean, variance.sqrt().max(self.least_sd)).0
    }

    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let found = self.posterior.with_gradient(x);
        let sd = found.variance.sqrt().max(self.least_sd);
        let (value, by_mean, by_sd) = self.score.at(found.mean, sd);
        let by_variance = if sd > self.least_sd { 0.5 * by_sd / sd } else { 0.0 };
        let slopes = found.mean_gradient.iter().zip(&found.variance_gradient);
        let slopes = slopes.map(|(mean, variance)| by_mean * mean + by_variance * variance);
        gradient.iter_mut().zip(slopes).for_each(|(out, slope)| *out = slope);
        value
    }
}
