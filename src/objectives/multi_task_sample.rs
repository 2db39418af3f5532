//! Values on two neighbouring data sets, drawn together from a multi-task Gaussian process.

use super::continued::shifted;
use super::gp_sample::{default_norm, prior_problems, scaled_steps};
use super::instance::{Instance, ProblemFacts, Surrogate, UnscaledInputs};
use super::kernel::Kernel;
use super::scaling::{centre_and_scale, grid};
use super::{Extent, Fitted, Noise, Objective, ObjectiveError, Prepared, Resources, Stated};
use crate::gp::covariance::Covariance;
use crate::gp::prior::{CholeskyPrior, GridPrior};
use crate::gp::{ArmCovariance, Points};
use crate::rng::{Key, Stream};
use crate::vocab::effort::{MULTIPLY, NUMBER};
use crate::vocab::{Effort, NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The performance of every setting on a validation set V, and on a neighbouring set V' that no party sees: two
/// functions drawn from GP(0, k1(V, V') k2(lambda, lambda')) in every replication.
///
/// The settings are a regular grid, centred and scaled to a largest norm; k2 has variance 1. The neighbour serves to
/// check guarantees that hold only for functions from this prior. Source: Kusner, Gardner, Garnett and Weinberger 2015,
/// section 2 and Assumption 1 (after Bonilla, Chai and Williams 2008).
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
    /// Length-scale in units of the scaled settings.
    pub length_scale: Positive,
    /// k2, the kernel of the settings. Kernels other than the squared exponential do not factorise over dimensions, and
    /// allow at most 4096 settings in all. Default: `SquaredExponential`.
    #[serde(default, skip_serializing_if = "is_default")]
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

fn is_default(kernel: &Kernel) -> bool {
    *kernel == Kernel::default()
}

/// Largest number of settings for a kernel that does not factorise over dimensions, since then their whole covariance
/// matrix is decomposed.
const MAX_SETTINGS: usize = 4096;

/// The prior from which functions are drawn.
#[derive(Debug)]
enum Prior {
    Grid(GridPrior),
    Matrix(CholeskyPrior),
}

impl Prior {
    fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        match self {
            Self::Grid(prior) => prior.sample(stream),
            Self::Matrix(prior) => prior.sample(stream),
        }
    }
}

#[derive(Debug)]
struct Ready {
    inputs: Arc<Points>,
    plain: Arc<UnscaledInputs>,
    prior: Prior,
    correlation: f64,
    surrogate: Surrogate,
    counts: Vec<usize>,
    /// The grid's step along each dimension, divided by the length-scale.
    scaled_steps: Vec<f64>,
}

impl Objective for MultiTaskSample {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        let mut problems = prior_problems(&self.grid);
        let settings = self.grid.iter().fold(1usize, |product, count| product.saturating_mul(count.get()));
        if problems.is_empty() && !is_default(&self.kernel) && settings > MAX_SETTINGS {
            problems.push(Problem::wrong(
                "grid",
                format!("at most {MAX_SETTINGS} settings in all for {:?}", self.kernel),
                settings.to_string(),
                "write fewer points, or take kernel: SquaredExponential, which factorises over dimensions",
            ));
        }
        problems
    }

    fn neighbour_correlation(&self) -> Option<Probability> {
        Some(self.correlation)
    }

    fn extent(&self, _: &Resources) -> Extent {
        let mut extent = Extent::of_grid(&self.grid.iter().map(|count| count.get()).collect::<Vec<_>>());
        if !is_default(&self.kernel) {
            let n = extent.arms as f64;
            let factor =
                Effort::due_to("grid", extent.arms, 2.0 * NUMBER * n * n, MULTIPLY * n * n * n / 3.0);
            extent.prepared = extent.prepared.and(factor);
            extent.drawn = extent.drawn.and(Effort::new(0.0, MULTIPLY * n * n));
        }
        // The values on both data sets.
        extent.drawn = extent.drawn.times(2.0);
        extent
    }

    /// `None` for kernels that do not factorise over dimensions.
    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        is_default(&self.kernel).then(|| self.grid.clone())
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
        let counts: Vec<usize> = self.grid.iter().map(|count| count.get()).collect();
        let d = counts.len();
        let mut rows = grid(&counts, &vec![(0.0, 1.0); d]);
        let plain = UnscaledInputs::coordinates(d, rows.clone());
        let factor = centre_and_scale(&mut rows, d, self.max_norm.get());
        let axes: Vec<Vec<f64>> = counts
            .iter()
            .map(|&count| grid(&[count], &[(0.0, 1.0)]).into_iter().map(|x| x * factor).collect())
            .collect();
        let covariance = Covariance::new(self.kernel.shape(), self.length_scale.get(), 1.0);
        let inputs = Arc::new(Points::new(rows.len() / d, d, rows));
        let prior = if is_default(&self.kernel) {
            Prior::Grid(GridPrior::new(&axes, self.length_scale.get(), 1.0)?)
        } else {
            let arms = ArmCovariance::of_inputs(Arc::clone(&inputs), covariance.clone());
            Prior::Matrix(CholeskyPrior::new(&arms)?)
        };
        let surrogate = Surrogate { covariance, noise_variance: self.noise_variance.get(), mean: 0.0 };
        let scaled_steps = scaled_steps(&counts, factor / self.length_scale.get());
        let correlation = self.correlation.get();
        Ok(Box::new(Ready { inputs, plain, prior, correlation, surrogate, counts, scaled_steps }))
    }
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.prior.sample(&mut key.child("function").stream());
        let other = self.prior.sample(&mut key.child("neighbour").stream());
        let rest = (1.0 - self.correlation * self.correlation).sqrt();
        let neighbour = values.iter().zip(other).map(|(f, g)| self.correlation * f + rest * g).collect();
        Ok(Instance {
            inputs: Arc::clone(&self.inputs),
            values: Arc::new(values),
            noise: Noise::gaussian(self.surrogate.noise_variance.sqrt()),
            surrogate: self.surrogate.clone(),
            background: ProblemFacts {
                neighbour: Some(Arc::new(neighbour)),
                plain: Some(Arc::clone(&self.plain)),
                ..ProblemFacts::with_stated_inputs()
            },
        })
    }

    fn shifted(&self, key: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let Prior::Grid(prior) = &self.prior else { return None };
        let values = prior.sample(&mut key.child("function").stream());
        let mut stream = key.child("function beyond the grid").stream();
        let found = shifted(&self.counts, &self.scaled_steps, 1.0, &values, shifts, &mut stream);
        Some(found.map_err(ObjectiveError::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2,000 pairs at 16 settings: at each setting, the mean product has a standard error of at most sqrt(2 / 2,000) =
    /// 0.032; five of them are 0.16.
    #[test]
    fn neighbours_have_unit_variance_and_the_stated_correlation() {
        let count = NonZeroUsize::new(4).unwrap();
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            let recipe = MultiTaskSample {
                grid: vec![count, count],
                max_norm: default_norm(),
                length_scale: Positive::new(10.0).unwrap(),
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
            // Two adjacent settings are 11.8 apart, with covariances .50 and .43; five standard errors are at most .14.
            assert!((beside - expected).abs() < 0.14, "{kernel:?}: {beside} for {expected}");
        }
    }
}
