//! A function drawn from a Gaussian process on a regular grid.

use super::grid_function::{GridFunction, GridRecipe, default_norm};
use super::instance::{Instance, ProblemFacts, Surrogate};
use super::{
    Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources, Stated,
};
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A new function in every replication, drawn from a Gaussian process. The inputs are a regular grid, centred and scaled
/// so that the largest norm is `max_norm`.
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
    /// Length-scale in units of the scaled inputs, or a list with one for each dimension.
    pub length_scale: LengthScales,
    /// The kernel. Only the squared exponential factorises over dimensions. With any other kernel, functions are drawn by a
    /// Cholesky factor of the whole covariance matrix, and the grid may have at most 4096 points in all.
    /// Default: `SquaredExponential`.
    #[serde(default, skip_serializing_if = "Kernel::is_default")]
    pub kernel: Kernel,
    /// Variance of the function. Default: 1.
    #[serde(default = "default_variance")]
    pub variance: Positive,
    /// Variance of the noise of an outcome. Default: 1e-5.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
}

fn default_variance() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

fn default_noise() -> NonNegative {
    NonNegative::new(1e-5).expect("1e-5 is above 0")
}

#[derive(Debug)]
struct Ready {
    function: GridFunction,
    surrogate: Surrogate,
}

impl GpSample {
    fn recipe(&self) -> GridRecipe<'_> {
        let Self { max_norm, length_scale, kernel, variance, .. } = self;
        GridRecipe {
            grid: &self.grid,
            max_norm: *max_norm,
            length_scale,
            kernel: *kernel,
            variance: variance.get(),
        }
    }
}

impl Objective for GpSample {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        self.recipe().problems()
    }

    fn extent(&self, _: &Resources) -> Extent {
        self.recipe().extent()
    }

    /// The grid; `None` for kernels that are not a product over dimensions. Functions with such a kernel are continued
    /// beyond the grid by the surrogate when they are shifted.
    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        self.recipe().shift_grid()
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
        let function = self.recipe().prepare()?;
        let surrogate = Surrogate {
            covariance: function.covariance.clone(),
            noise_variance: self.noise_variance.get(),
            mean: 0.0,
        };
        Ok(Box::new(Ready { function, surrogate }))
    }
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.function.sample(&mut key.child("function").stream());
        Ok(Instance {
            inputs: Arc::clone(&self.function.inputs),
            values: Arc::new(values),
            noise: Noise::gaussian(self.surrogate.noise_variance.sqrt()),
            surrogate: self.surrogate.clone(),
            background: ProblemFacts {
                plain: Some(Arc::clone(&self.function.plain)),
                ..ProblemFacts::with_stated_inputs()
            },
        })
    }

    fn shifted(&self, key: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        self.function.shiftable().then_some(())?;
        let values = self.function.sample(&mut key.child("function").stream());
        let mut stream = key.child("function beyond the grid").stream();
        Some(self.function.shifted(&values, shifts, &mut stream))
    }
}
