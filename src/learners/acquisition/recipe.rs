//! How a search by acquisition functions is built, over arms or over a box.

use super::model::Model;
use super::search::{Domain, Search};
use super::settings::{Acquisition, AcquisitionFunction, Refit};
use crate::gp::covariance::Shape;
use crate::gp::{ArmCovariance, Points};
use crate::learners::arms::{Arms, BoxModel, BuildError, covariance};
use crate::learners::{Learner, LearnerRecipe};
use crate::vocab::effort::{COVARIANCE, MULTIPLY, NUMBER};
use crate::vocab::{Effort, Problem};
use std::sync::Arc;

/// The same points with every input scaled to [0, 1]; an input that has the same value at all points becomes 0.
fn to_unit_cube(points: &Points) -> Points {
    let d = points.d();
    let ranges: Vec<(f64, f64)> = (0..d).map(|input| points.range(input)).collect();
    let place =
        |(x, (low, high)): (&f64, &(f64, f64))| if high > low { (x - low) / (high - low) } else { 0.0 };
    let rows = points.row_major().chunks(d.max(1)).flat_map(|row| row.iter().zip(&ranges).map(place));
    Points::new(points.n(), d, rows.collect())
}

impl LearnerRecipe for Acquisition {
    fn predicts(&self) -> bool {
        true
    }

    fn searches_boxes(&self) -> bool {
        true
    }

    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let (n, t) = (arms as f64, outcomes as f64);
        // The estimate assumes that each choice computes the posterior mean and variance at roughly 2 n points, at half of
        // them with gradients. At each point, a triangular system of order t is solved, and t covariances are computed
        // together, which takes a quarter of the time of computing them one by one. Noisy expected improvement adds, for
        // each draw, an inner product of t numbers. The knowledge gradient adds such an inner product for each point of the
        // set over which it takes the largest posterior mean.
        let set = match self.function {
            AcquisitionFunction::LogNoisyExpectedImprovement { samples } => samples.get() as f64,
            AcquisitionFunction::KnowledgeGradient { points } => t + points as f64,
            _ => 0.0,
        };
        let choices = 2.0 * n * t * ((t * t / 3.0 + set * t / 2.0) * MULTIPLY + t / 8.0 * COVARIANCE);
        let fits = match self.refit {
            Refit::Never => 0.0,
            // One fit evaluates the likelihood roughly forty times.
            Refit::Every(rounds) => {
                let each = t * t * t / 4.0 * MULTIPLY + t * t / 6.0 * COVARIANCE;
                40.0 * each * t / rounds.get() as f64
            }
        };
        Effort::new(NUMBER * t * t, choices + fits)
    }

    fn problems(&self) -> Vec<Problem> {
        const MOST: usize = 4096;
        let mut problems = Vec::new();
        let size = match self.function {
            AcquisitionFunction::ThompsonSampling { features } => {
                Some(("ThompsonSampling.features", features.get(), 512))
            }
            AcquisitionFunction::LogNoisyExpectedImprovement { samples } => {
                Some(("LogNoisyExpectedImprovement.samples", samples.get(), 64))
            }
            AcquisitionFunction::KnowledgeGradient { points } => {
                Some(("KnowledgeGradient.points", points, 64))
            }
            AcquisitionFunction::MaxValueEntropySearch { draws } => {
                Some(("MaxValueEntropySearch.draws", draws.get(), 16))
            }
            _ => None,
        };
        if let Some((field, found, usual)) = size
            && found > MOST
        {
            let (_, name) = field.split_once('.').unwrap_or(("", field));
            let expected = format!("at most {MOST}");
            let cure = format!("write {name}: {usual}");
            problems.push(Problem::wrong(format!("function.{field}"), expected, found.to_string(), cure));
        }
        if self.trust_region && self.refit == Refit::Never {
            let expected = "refit: Every(1), for example: a trust region has sides proportional to the fitted length-scales";
            problems.push(Problem::wrong("refit", expected, "Never", "leave out `refit` or `trust_region`"));
        }
        problems
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let learner = "Acquisition";
        let ArmCovariance::Inputs { points, covariance } = covariance(learner, arms)? else {
            return Err(BuildError::NeedsInputs { learner });
        };
        let recipe = self.for_shape(covariance.shape);
        let points = match recipe.refit {
            Refit::Never => Arc::clone(points),
            Refit::Every(_) => Arc::new(to_unit_cube(points)),
        };
        let d = points.d();
        let model = Model::new(recipe.refit, d, (covariance.clone(), arms.noise_variance, arms.mean));
        Ok(Box::new(Search::new(recipe, Domain::Arms(points), d, model)))
    }

    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        let d = model.domain.width();
        let recipe = self.for_shape(model.covariance.shape);
        let stated = (model.covariance.clone(), model.noise_variance, model.mean);
        let own = Model::new(recipe.refit, d, stated);
        Ok(Box::new(Search::new(recipe, Domain::Box(model.domain.clone()), d, own)))
    }
}

impl Acquisition {
    /// These settings for a covariance of this shape. The hyperparameters of a linear covariance are not fitted: a linear
    /// covariance depends on the units of the inputs, and scaling the inputs to the unit cube would change these units.
    /// Without fits, there is no trust region.
    fn for_shape(&self, shape: Shape) -> Self {
        let refit = if shape == Shape::Linear { Refit::Never } else { self.refit };
        Self { refit, trust_region: self.trust_region && refit != Refit::Never, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    /// The hyperparameters of a linear covariance are not fitted, so there is no trust region either; other shapes keep the
    /// settings.
    #[test]
    fn a_linear_covariance_is_not_fitted() {
        let stated = Acquisition {
            refit: Refit::Every(NonZeroUsize::MIN),
            trust_region: true,
            ..Acquisition::default()
        };
        let linear = stated.for_shape(Shape::Linear);
        assert_eq!((linear.refit, linear.trust_region), (Refit::Never, false));
        assert_eq!(linear.function, stated.function);
        for shape in [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52] {
            assert_eq!(stated.for_shape(shape), stated);
        }
    }
}
