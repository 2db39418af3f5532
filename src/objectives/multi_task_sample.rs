//! Values on two neighbouring data sets, drawn together from a multi-task Gaussian process.

use super::grid_function::{GridFunction, GridRecipe, default_norm};
use super::instance::{Instance, ProblemFacts, Surrogate};
use super::{
    Extent, Fitted, Kernel, LengthScales, Noise, Objective, ObjectiveError, Prepared, Resources, Stated,
};
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The performance of every setting lambda on a validation set V, and on a neighbouring set V' that no party sees. In
/// every replication, the two functions of lambda are drawn together from a Gaussian process with mean 0 and covariance
/// k1(V, V') k2(lambda, lambda').
///
/// The settings are a regular grid, centred and scaled so that the largest norm is `max_norm`; k2 has variance 1. The
/// function on V' serves to check guarantees that hold only for functions drawn from this process. Source: Kusner,
/// Gardner, Garnett and Weinberger 2015, section 2 and Assumption 1 (after Bonilla, Chai and Williams 2008).
///
/// Example: `MultiTaskSample(grid: [10, 10], length_scale: 6.25, correlation: 0.99, noise_variance: 0.01)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiTaskSample {
    /// Points along each dimension: at most 4096, and 1000000 in all.
    pub grid: Vec<NonZeroUsize>,
    /// Largest Euclidean norm of a scaled setting. Default: 25.
    #[serde(default = "default_norm")]
    pub max_norm: Positive,
    /// Length-scale in units of the scaled settings, or a list with one for each dimension.
    pub length_scale: LengthScales,
    /// k2, the kernel of the settings. Only the squared exponential factorises over dimensions; with any other kernel,
    /// the grid may have at most 4096 settings in all. Default: `SquaredExponential`.
    #[serde(default, skip_serializing_if = "Kernel::is_default")]
    pub kernel: Kernel,
    /// k1(V, V'), the correlation of the two functions at the same setting.
    pub correlation: Probability,
    /// Variance of the noise of an outcome. Default: 0.01.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
}

fn default_noise() -> NonNegative {
    NonNegative::new(0.01).expect("0.01 is above 0")
}

#[derive(Debug)]
struct Ready {
    function: GridFunction,
    correlation: f64,
    surrogate: Surrogate,
}

impl MultiTaskSample {
    fn recipe(&self) -> GridRecipe<'_> {
        let Self { max_norm, length_scale, kernel, .. } = self;
        GridRecipe { grid: &self.grid, max_norm: *max_norm, length_scale, kernel: *kernel, variance: 1.0 }
    }
}

impl Objective for MultiTaskSample {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        self.recipe().problems()
    }

    fn neighbour_correlation(&self) -> Option<Probability> {
        Some(self.correlation)
    }

    fn extent(&self, _: &Resources) -> Extent {
        let mut extent = self.recipe().extent();
        // Two functions are drawn, one for each data set.
        extent.drawn = extent.drawn.times(2.0);
        extent
    }

    /// The grid; `None` for a kernel that does not factorise over dimensions. With such a kernel, the surrogate continues
    /// shifted functions beyond the grid.
    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        self.recipe().shift_grid()
    }

    fn stated(&self) -> Stated {
        Stated::gaussian(self.noise_variance.get().sqrt())
    }

    fn unit(&self) -> String {
        "prior standard deviations".to_owned()
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
        Ok(Box::new(Ready { function, correlation: self.correlation.get(), surrogate }))
    }
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.function.sample(&mut key.child("function").stream());
        let other = self.function.sample(&mut key.child("neighbour").stream());
        let rest = (1.0 - self.correlation * self.correlation).sqrt();
        let neighbour = values.iter().zip(other).map(|(f, g)| self.correlation * f + rest * g).collect();
        Ok(Instance {
            inputs: Arc::clone(&self.function.inputs),
            values: Arc::new(values),
            noise: Noise::gaussian(self.surrogate.noise_variance.sqrt()),
            surrogate: self.surrogate.clone(),
            background: ProblemFacts {
                neighbour: Some(Arc::new(neighbour)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// With 2,000 pairs of functions, the mean of each product of two values (f f, g g and f g at one setting) has a
    /// standard error of at most sqrt(2 / 2,000) = 0.032; five standard errors are 0.16.
    #[test]
    fn neighbours_have_unit_variance_and_the_stated_correlation() {
        let count = NonZeroUsize::new(4).unwrap();
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            let recipe = MultiTaskSample {
                grid: vec![count, count],
                max_norm: default_norm(),
                length_scale: LengthScales::same(10.0).unwrap(),
                kernel,
                correlation: Probability::new(0.8).unwrap(),
                noise_variance: default_noise(),
            };
            let ready = recipe.prepare(&Resources::default(), None, Key::root(1)).unwrap();
            let mut sums = vec![[0.0; 3]; 16];
            let (mut beside, mut expected) = (0.0, 0.0);
            for k in 0..2000 {
                let instance = ready.realise(Key::root(7).index(k)).unwrap();
                let neighbour = instance.background.neighbour.unwrap();
                for (sum, (f, g)) in sums.iter_mut().zip(instance.values.iter().zip(neighbour.iter())) {
                    sum[0] += f * f / 2000.0;
                    sum[1] += g * g / 2000.0;
                    sum[2] += f * g / 2000.0;
                }
                beside += instance.values[0] * instance.values[1] / 2000.0;
                expected =
                    instance.surrogate.covariance.between(instance.inputs.row(0), instance.inputs.row(1));
            }
            for [own, other, both] in sums {
                assert!((own - 1.0).abs() < 0.16 && (other - 1.0).abs() < 0.16 && (both - 0.8).abs() < 0.16);
            }
            // The first two settings are 11.8 apart: their covariance is 0.50 with the squared exponential kernel and 0.43
            // with the Matern kernel; five standard errors are at most 0.14.
            assert!((beside - expected).abs() < 0.14, "{kernel:?}: {beside} for {expected}");
        }
    }
}
