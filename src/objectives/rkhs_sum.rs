//! A random function in the RKHS of a kernel: a sum of kernel functions with random weights.

use super::grid_function::MAX_POINTS;
use super::instance::{Instance, ProblemFacts, Surrogate};
use super::kernel::Kernel;
use super::lattice::{Lattice, whole_steps};
use super::noise::{Noise, NoiseModel, Uniform};
use super::{Extent, Fitted, Objective, ObjectiveError, Prepared, Resources, Stated};
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::rng::{Key, Stream};
use crate::vocab::effort::COVARIANCE;
use crate::vocab::{Effort, NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A new function in every replication: f(x) is the sum of a_i k(x, x_i), with a_i uniform on [-1, 1] and x_i uniform on
/// [0, 1]. The arms are equidistant points of [0, 1].
///
/// Source: Zhou and Tan 2021, section 5.1, after Chowdhury and Gopalan 2019, section 5: 100 points, 100 terms,
/// length-scale 0.2. The theorems about learners require a number B that bounds the RKHS norm of f. Unless a learner
/// states B, B is max |f| over the points, as in these papers. The RKHS norm of f is at least max |f|, so this B is
/// usually too small for the theorems: in 5,000 draws with the default settings the norm is 1.2 times as large in the
/// median, and more than 1.5 times as large in 5 % of the draws; with `Matern12` these factors are 1.5 and 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RkhsSum {
    /// Number of arms, which are equidistant points from 0 to 1. Default: 100.
    #[serde(default = "hundred")]
    pub points: NonZeroUsize,
    /// Number of terms of the sum. Default: 100.
    #[serde(default = "hundred")]
    pub terms: NonZeroUsize,
    /// The kernel. Default: `SquaredExponential`.
    #[serde(default)]
    pub kernel: Kernel,
    /// Length-scale of the kernel. Default: 0.2.
    #[serde(default = "fifth")]
    pub length_scale: Positive,
    /// Noise of an outcome. Default: `Uniform(bound: 1)`.
    #[serde(default = "uniform")]
    pub noise: NoiseModel,
}

/// Largest product of the numbers of points and terms. Without shifts, this product is the number of kernel evaluations in a
/// replication; this many evaluations take some seconds.
const MAX_SUMMANDS: usize = 100_000_000;

fn hundred() -> NonZeroUsize {
    const HUNDRED: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
    HUNDRED
}

fn fifth() -> Positive {
    Positive::new(0.2).expect("0.2 is above 0")
}

fn uniform() -> NoiseModel {
    NoiseModel::from(Uniform { bound: NonNegative::new(1.0).expect("1 is above 0") })
}

#[derive(Debug)]
struct Ready {
    inputs: Arc<Points>,
    terms: usize,
    noise: Noise,
    surrogate: Surrogate,
}

impl Objective for RkhsSum {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        for (path, count) in [("points", self.points), ("terms", self.terms)] {
            if count.get() > MAX_POINTS {
                let expected = format!("at most {MAX_POINTS}");
                problems.push(Problem::wrong(
                    path,
                    expected,
                    count.to_string(),
                    "write fewer, for example 100 as in the papers",
                ));
            }
        }
        let product = self.points.get().saturating_mul(self.terms.get());
        if problems.is_empty() && product > MAX_SUMMANDS {
            let found = format!("{} points x {} terms", self.points, self.terms);
            let cure = "write fewer of one or both, for example 100 as in the papers";
            let expected = format!("at most {MAX_SUMMANDS} points x terms");
            problems.push(Problem::wrong("terms", expected, found, cure));
        }
        let name = self.noise.name();
        problems.extend(self.noise.as_dyn().problems().into_iter().map(|p| p.below(name).below("noise")));
        problems
    }

    fn extent(&self, _: &Resources) -> Extent {
        let points = self.points.get() as u64;
        let mut extent = Extent::of(points, 1).due_to("points", points);
        let kernels = COVARIANCE * points as f64 * self.terms.get() as f64;
        extent.drawn = extent.drawn.and(Effort::new(0.0, kernels));
        extent
    }

    fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        Some(vec![self.points])
    }

    fn stated(&self) -> Stated {
        Stated::noise(self.noise.clone())
    }

    fn unit(&self) -> String {
        "units of the drawn function".to_owned()
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let n = self.points.get();
        let step = |arm: usize| if n > 1 { arm as f64 / (n - 1) as f64 } else { 0.5 };
        let noise = Noise::Law(self.noise.clone());
        Ok(Box::new(Ready {
            inputs: Arc::new(Points::new(n, 1, (0..n).map(step).collect())),
            terms: self.terms.get(),
            surrogate: Surrogate {
                covariance: Covariance::new(self.kernel.shape(), self.length_scale.get(), 1.0),
                noise_variance: noise.variance(),
                mean: 0.0,
            },
            noise,
        }))
    }
}

impl Ready {
    /// Draws a function from `stream`, and returns its values at `points`.
    fn values_at(&self, points: &[f64], stream: &mut Stream) -> Vec<f64> {
        let mut values = vec![0.0; points.len()];
        let mut column = vec![0.0; points.len()];
        for _ in 0..self.terms {
            let (weight, centre) = (stream.uniform_between(-1.0, 1.0), stream.uniform());
            for (point, out) in points.iter().zip(&mut column) {
                *out = self.surrogate.covariance.between(&[*point], &[centre]);
            }
            values.iter_mut().zip(&column).for_each(|(value, k)| *value += weight * k);
        }
        values
    }
}

impl Prepared for Ready {
    /// The sum is also defined beyond [0, 1]; the centres of its terms lie in [0, 1].
    fn shifted(&self, key: Key, shifts: &[Vec<f64>]) -> Option<Result<Vec<Vec<f64>>, ObjectiveError>> {
        let n = self.inputs.n();
        let shifts = whole_steps(&[n], shifts);
        let lattice = Lattice::reaching(&[n], &shifts);
        let point = |step: f64| if n > 1 { step / (n - 1) as f64 } else { 0.5 };
        let points: Vec<f64> = lattice.steps(0).into_iter().map(point).collect();
        let values = self.values_at(&points, &mut key.child("function").stream());
        Some(Ok(lattice.shifted(&values, &shifts)))
    }

    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.values_at(self.inputs.row_major(), &mut key.child("function").stream());
        Ok(Instance {
            inputs: Arc::clone(&self.inputs),
            values: Arc::new(values),
            noise: self.noise.clone(),
            surrogate: self.surrogate.clone(),
            background: ProblemFacts::with_stated_inputs(),
        })
    }
}
