//! A function drawn from a Gaussian process on a regular grid: the synthetic data of the papers.

use super::continued::shifted;
use super::instance::{Instance, ProblemFacts, Surrogate, UnscaledInputs};
use super::scaling::{centre_and_scale, grid};
use super::{Extent, Fitted, Noise, Objective, ObjectiveError, Prepared, Resources, Stated};
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::gp::prior::GridPrior;
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A new function in every replication, drawn from a Gaussian process with squared-exponential covariance. The inputs
/// are a regular grid, centred and scaled so that the largest norm is `max_norm`.
///
/// Source: Kharkovskii, Dai and Low 2020, section 4 (100 x 100, norm 25, variance 1, noise variance 1e-5).
///
/// Example: `GpSample(grid: [10, 10], length_scale: 6.25)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpSample {
    /// Points along each dimension: at most 4096, and 1000000 in all.
    pub grid: Vec<NonZeroUsize>,
    /// Largest Euclidean norm of a scaled input. Default: 25.
    #[serde(default = "default_norm")]
    pub max_norm: Positive,
    /// Length-scale in units of the scaled inputs.
    pub length_scale: Positive,
    /// Variance of the function. Default: 1.
    #[serde(default = "default_variance")]
    pub variance: Positive,
    /// Variance of the noise of an outcome. Default: 1e-5.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
}

pub(super) fn default_norm() -> Positive {
    Positive::new(25.0).expect("25 is above 0")
}

fn default_variance() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

fn default_noise() -> NonNegative {
    NonNegative::new(1e-5).expect("1e-5 is above 0")
}

/// The step along each input of a grid whose sides have this length.
pub(super) fn scaled_steps(counts: &[usize], side: f64) -> Vec<f64> {
    counts.iter().map(|&count| side / (count.max(2) - 1) as f64).collect()
}

/// Largest number of grid points.
pub(super) const MAX_POINTS: usize = 1_000_000;

pub(super) fn grid_problems(counts: &[NonZeroUsize]) -> Vec<Problem> {
    let points = counts.iter().try_fold(1usize, |product, count| product.checked_mul(count.get()));
    if counts.is_empty() || points.is_none_or(|points| points > MAX_POINTS) {
        let found = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        return vec![Problem::wrong(
            "grid",
            format!("at least one dimension and at most {MAX_POINTS} points in all"),
            if found.is_empty() { "no dimension".to_owned() } else { found },
            "write the points along each dimension, as in [100, 100]",
        )];
    }
    Vec::new()
}

/// Problems of a grid on which a [`GridPrior`] is to be defined.
pub(super) fn prior_problems(counts: &[NonZeroUsize]) -> Vec<Problem> {
    let mut problems = grid_problems(counts);
    let longest = counts.iter().map(|count| count.get()).max().unwrap_or(0);
    if problems.is_empty() && longest > GridPrior::MAX_ALONG {
        problems.push(Problem::wrong(
            "grid",
            format!("at most {} points along each dimension", GridPrior::MAX_ALONG),
            longest.to_string(),
            "spread the points over more dimensions, as in [1000, 1000]; drawing a function takes square matrices with \
             as many rows as a dimension has points",
        ));
    }
    problems
}

#[derive(Debug)]
struct Ready {
    inputs: Arc<Points>,
    plain: Arc<UnscaledInputs>,
    prior: GridPrior,
    surrogate: Surrogate,
    counts: Vec<usize>,
    /// The grid's step along each dimension, divided by the length-scale.
    scaled_steps: Vec<f64>,
}

impl Objective for GpSample {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        prior_problems(&self.grid)
    }

    fn extent(&self, _: &Resources) -> Extent {
        Extent::of_grid(&self.grid.iter().map(|count| count.get()).collect::<Vec<_>>())
    }

    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        Some(self.grid.clone())
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.noise_variance.get().sqrt())
    }

    fn unit(&self) -> String {
        if self.variance.get() == 1.0 { "prior standard deviations" } else { "units of the drawn function" }
            .to_owned()
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let counts: Vec<usize> = self.grid.iter().map(|count| count.get()).collect();
        let d = counts.len();
        let mut rows = grid(&counts, &vec![(0.0, 1.0); d]);
        let plain = UnscaledInputs::coordinates(d, rows.clone());
        let factor = centre_and_scale(&mut rows, d, self.max_norm.get());
        let axes: Vec<Vec<f64>> = counts
            .iter()
            .map(|&count| grid(&[count], &[(0.0, 1.0)]).into_iter().map(|x| x * factor).collect())
            .collect();
        let prior = GridPrior::new(&axes, self.length_scale.get(), self.variance.get())?;
        let surrogate = Surrogate {
            covariance: Covariance::squared_exponential(self.length_scale.get(), self.variance.get()),
            noise_variance: self.noise_variance.get(),
            mean: 0.0,
        };
        let inputs = Arc::new(Points::new(rows.len() / d, d, rows));
        let scaled_steps = scaled_steps(&counts, factor / self.length_scale.get());
        Ok(Box::new(Ready { inputs, plain, prior, surrogate, counts, scaled_steps }))
    }
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.prior.sample(&mut key.child("function").stream());
        Ok(Instance {
            inputs: Arc::clone(&self.inputs),
            values: Arc::new(values),
            noise: Noise::gaussian(self.surrogate.noise_variance.sqrt()),
            surrogate: self.surrogate.clone(),
            background: ProblemFacts {
                plain: Some(Arc::clone(&self.plain)),
                ..ProblemFacts::with_stated_inputs()
            },
        })
    }

    fn shifted(&self, key: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let values = self.prior.sample(&mut key.child("function").stream());
        let mut stream = key.child("function beyond the grid").stream();
        let variance = self.surrogate.covariance.variance;
        let found = shifted(&self.counts, &self.scaled_steps, variance, &values, shifts, &mut stream);
        Some(found.map_err(ObjectiveError::from))
    }
}
