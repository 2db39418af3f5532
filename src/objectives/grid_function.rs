//! Functions drawn from a Gaussian process on a regular grid, with any kernel.

use super::continued::shifted;
use super::instance::UnscaledInputs;
use super::scaling::{centre_and_scale, grid};
use super::{Extent, Kernel, LengthScales, ObjectiveError};
use crate::gp::covariance::Covariance;
use crate::gp::prior::{CholeskyPrior, GridPrior};
use crate::gp::{ArmCovariance, Points};
use crate::rng::Stream;
use crate::vocab::effort::{MULTIPLY, NUMBER};
use crate::vocab::{Effort, Positive, Problem};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Largest number of grid points.
pub(super) const MAX_POINTS: usize = 1_000_000;

/// Largest number of points for a kernel that is not a product over dimensions: the covariance matrix of all points is then
/// factorised.
const MAX_OF_MATRIX: usize = 4096;

pub(super) fn default_norm() -> Positive {
    Positive::new(25.0).expect("25 is above 0")
}

pub(super) fn grid_problems(counts: &[NonZeroUsize]) -> Vec<Problem> {
    let points = counts.iter().try_fold(1usize, |product, count| product.checked_mul(count.get()));
    if counts.is_empty() || points.is_none_or(|points| points > MAX_POINTS) {
        let found = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        return vec![Problem::wrong(
            "grid",
            format!("at least one dimension and at most {MAX_POINTS} points in all"),
            if found.is_empty() { "no dimension".to_owned() } else { found },
            "write the number of points along each dimension, as in [100, 100]",
        )];
    }
    Vec::new()
}

/// A regular grid over the unit cube, centred and scaled, and the Gaussian process with mean 0 from which functions on
/// the grid are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridRecipe<'a> {
    /// Points along each dimension.
    pub(super) grid: &'a [NonZeroUsize],
    /// Largest Euclidean norm of a scaled input.
    pub(super) max_norm: Positive,
    /// Length-scale in units of the scaled inputs.
    pub(super) length_scale: &'a LengthScales,
    pub(super) kernel: Kernel,
    pub(super) variance: f64,
}

impl GridRecipe<'_> {
    fn counts(&self) -> Vec<usize> {
        self.grid.iter().map(|count| count.get()).collect()
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = grid_problems(self.grid);
        if !problems.is_empty() {
            return problems;
        }
        let longest = self.grid.iter().map(|count| count.get()).max().unwrap_or(0);
        let points: usize = self.grid.iter().map(|count| count.get()).product();
        if !self.kernel.is_default() && points > MAX_OF_MATRIX {
            problems.push(Problem::wrong(
                "grid",
                format!("at most {MAX_OF_MATRIX} points in all for {:?}", self.kernel),
                points.to_string(),
                "write fewer points, or take kernel: SquaredExponential, which factorises over dimensions",
            ));
        } else if longest > GridPrior::MAX_ALONG {
            problems.push(Problem::wrong(
                "grid",
                format!("at most {} points along each dimension", GridPrior::MAX_ALONG),
                longest.to_string(),
                "spread the points over more dimensions, as in [1000, 1000]; drawing a function takes square matrices with \
                 as many rows as a dimension has points",
            ));
        }
        problems.extend(self.length_scale.problem("length_scale", self.grid.len()));
        problems
    }

    pub(super) fn extent(&self) -> Extent {
        let mut extent = Extent::of_grid(&self.counts());
        if !self.kernel.is_default() {
            let n = extent.arms as f64;
            let factor =
                Effort::due_to("grid", extent.arms, 2.0 * NUMBER * n * n, MULTIPLY * n * n * n / 3.0);
            extent.prepared = extent.prepared.and(factor);
            extent.drawn = extent.drawn.and(Effort::new(0.0, MULTIPLY * n * n));
        }
        extent
    }

    /// The grid, if [`GridFunction::shifted`] continues functions beyond it; `None` for a kernel that is not a product
    /// over dimensions.
    pub(super) fn shift_grid(&self) -> Option<Vec<NonZeroUsize>> {
        self.kernel.is_default().then(|| self.grid.to_vec())
    }

    pub(super) fn prepare(&self) -> Result<GridFunction, ObjectiveError> {
        let counts = self.counts();
        let d = counts.len();
        let mut rows = grid(&counts, &vec![(0.0, 1.0); d]);
        let plain = UnscaledInputs::coordinates(d, rows.clone());
        let factor = centre_and_scale(&mut rows, d, self.max_norm.get());
        let axes: Vec<Vec<f64>> = counts
            .iter()
            .map(|&count| grid(&[count], &[(0.0, 1.0)]).into_iter().map(|x| x * factor).collect())
            .collect();
        let covariance = self.length_scale.covariance(self.kernel, self.variance);
        let inputs = Arc::new(Points::new(rows.len() / d, d, rows));
        let prior = if self.kernel.is_default() {
            Prior::Grid(GridPrior::with_length_scales(&axes, &covariance.length_scale, self.variance)?)
        } else {
            let arms = ArmCovariance::of_inputs(Arc::clone(&inputs), covariance.clone());
            Prior::Matrix(CholeskyPrior::new(&arms)?)
        };
        let step = |(input, &count): (usize, &usize)| {
            (factor / self.length_scale.of(input)) / (count.max(2) - 1) as f64
        };
        let scaled_steps = counts.iter().enumerate().map(step).collect();
        Ok(GridFunction { inputs, plain, covariance, prior, counts, scaled_steps })
    }
}

/// The prior from which functions are drawn.
#[derive(Debug)]
enum Prior {
    /// Functions are drawn with square roots of the correlation matrices along each dimension.
    Grid(GridPrior),
    /// Functions are drawn with a Cholesky factor of the whole covariance matrix.
    Matrix(CholeskyPrior),
}

/// The grid, with everything that is computed once and used for all draws of functions.
#[derive(Debug)]
pub(super) struct GridFunction {
    pub(super) inputs: Arc<Points>,
    pub(super) plain: Arc<UnscaledInputs>,
    pub(super) covariance: Covariance,
    prior: Prior,
    counts: Vec<usize>,
    /// The grid's step along each dimension, divided by the length-scale.
    scaled_steps: Vec<f64>,
}

impl GridFunction {
    /// The values of one function at all points.
    pub(super) fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        match &self.prior {
            Prior::Grid(prior) => prior.sample(stream),
            Prior::Matrix(prior) => prior.sample(stream),
        }
    }

    /// Whether [`Self::shifted`] continues functions beyond the grid.
    pub(super) fn shiftable(&self) -> bool {
        matches!(self.prior, Prior::Grid(_))
    }

    /// For each of the `shifts`, the values of the shifted function on the grid. `values` are the values of the unshifted
    /// function on the grid. A shift has one number for each input, in units of the grid's side, and is rounded to whole
    /// steps of the grid. The kernel must be a product over dimensions.
    pub(super) fn shifted(
        &self,
        values: &[f64],
        shifts: &[Vec<f64>],
        stream: &mut Stream,
    ) -> Result<Vec<Vec<f64>>, ObjectiveError> {
        let variance = self.covariance.variance;
        Ok(shifted(&self.counts, &self.scaled_steps, variance, values, shifts, stream)?)
    }
}
