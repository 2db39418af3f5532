//! A draw of a Gaussian process on a grid, continued beyond the grid.

use super::lattice::{Lattice, whole_steps};
use crate::gp::{Cholesky, GpError};
use crate::rng::Stream;

/// Number that is added to the correlation of a point with itself, along each input, so that the matrices of correlations
/// can be factorised. It is the variance of white noise whose standard deviation is 1e-4 times that of the function.
const NUGGET: f64 = 1e-8;

/// The matrices of one input. An entry is the correlation exp(-r^2 / 2) of two points, where r is their distance divided
/// by the length-scale; the nugget is added if the two points are the same.
struct Axis {
    /// Factor of the correlations among all points of the lattice.
    whole: Cholesky,
    /// Factor of the correlations among the points of the grid.
    inside: Cholesky,
    /// Correlations between points of the lattice and points of the grid: a row for each point of the lattice.
    across: Vec<f64>,
}

impl Axis {
    fn new(lattice: &Lattice, axis: usize, scaled_step: f64) -> Result<Self, GpError> {
        let places = lattice.steps(axis);
        let grid: Vec<f64> = (0..lattice.counts()[axis]).map(|step| step as f64).collect();
        let matrix = |rows: &[f64], columns: &[f64]| -> Vec<f64> {
            let entry = |a: f64, b: f64| {
                let r = (a - b) * scaled_step;
                libm::exp(-0.5 * r * r) + if a == b { NUGGET } else { 0.0 }
            };
            rows.iter().flat_map(|&a| columns.iter().map(move |&b| entry(a, b))).collect()
        };
        Ok(Self {
            whole: Cholesky::with_jitter(places.len(), &matrix(&places, &places))?,
            inside: Cholesky::with_jitter(grid.len(), &matrix(&grid, &grid))?,
            across: matrix(&places, &grid),
        })
    }

    /// The posterior means at the points of the lattice along this input, given the values at the points of the grid.
    fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut weights = values.to_vec();
        self.inside.solve(&mut weights);
        self.across.chunks_exact(weights.len()).map(|row| crate::gp::dot(row, &weights)).collect()
    }
}

/// Applies a linear map to every line of the row-major tensor `tensor` along its axis `axis`. The map may change the
/// length of the lines; `shape` is updated.
fn along(
    tensor: &[f64],
    shape: &mut [usize],
    axis: usize,
    mut map: impl FnMut(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let (length, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let outer: usize = shape[..axis].iter().product();
    let mut lines = Vec::with_capacity(outer * inner);
    for block in 0..outer {
        for column in 0..inner {
            let line: Vec<f64> = (0..length).map(|k| tensor[(block * length + k) * inner + column]).collect();
            lines.push(map(&line));
        }
    }
    let new = lines.first().map_or(0, Vec::len);
    shape[axis] = new;
    let mut out = vec![0.0; outer * new * inner];
    for (index, line) in lines.iter().enumerate() {
        let (block, column) = (index / inner, index % inner);
        line.iter().enumerate().for_each(|(k, value)| out[(block * new + k) * inner + column] = *value);
    }
    out
}

fn normals(count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut drawn = vec![0.0; count];
    stream.fill_normal(&mut drawn);
    drawn
}

/// Draws a function from a Gaussian process with mean 0 and squared-exponential covariance, given the function's values on
/// the grid, `values`. Returns the function's values on the lattice; those on the grid are exactly `values`. `scaled_steps`
/// are the grid's steps divided by the length-scale.
///
/// Matheron's rule: a draw on the whole lattice, plus the posterior means given the differences, on the grid, between
/// `values` and the draw (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors", equation
/// 5). The rule requires that the values and the draw have the same covariance on the grid, but only the draw has the
/// nugget. The covariance of the draw is the Kronecker product of the inputs' matrices. The nugget in the matrix of one
/// input adds a term to this product: the nugget times the product in which that input's matrix is replaced by the
/// identity. (Terms in the square of the nugget are neglected.) For each input, noise with this term as its covariance is
/// therefore added to `values`, by adding it to the differences. Without the noise, the variance beyond the grid would be
/// too small.
pub(super) fn continued(
    lattice: &Lattice,
    scaled_steps: &[f64],
    variance: f64,
    values: &[f64],
    stream: &mut Stream,
) -> Result<Vec<f64>, GpError> {
    let sd = variance.sqrt();
    let axes = scaled_steps
        .iter()
        .enumerate()
        .map(|(axis, &step)| Axis::new(lattice, axis, step))
        .collect::<Result<Vec<_>, _>>()?;
    let mut shape = lattice.lengths().to_vec();
    let mut drawn = normals(shape.iter().product(), stream);
    for (axis, of) in axes.iter().enumerate() {
        drawn = along(&drawn, &mut shape, axis, |line| of.whole.times(line));
    }
    let middle = lattice.places(&vec![0; shape.len()]);
    let mut apart: Vec<f64> = middle.iter().zip(values).map(|(&place, f)| f / sd - drawn[place]).collect();
    let mut shape = lattice.counts().to_vec();
    for noisy in 0..axes.len() {
        let mut noise = normals(values.len(), stream);
        for (axis, of) in axes.iter().enumerate().filter(|(axis, _)| *axis != noisy) {
            noise = along(&noise, &mut shape, axis, |line| of.inside.times(line));
        }
        apart.iter_mut().zip(noise).for_each(|(value, noise)| *value += NUGGET.sqrt() * noise);
    }
    for (axis, of) in axes.iter().enumerate() {
        apart = along(&apart, &mut shape, axis, |line| of.means(line));
    }
    let mut all: Vec<f64> = drawn.iter().zip(apart).map(|(g, mean)| sd * (g + mean)).collect();
    middle.into_iter().zip(values).for_each(|(place, f)| all[place] = *f);
    Ok(all)
}

/// Draws a function as [`continued`] does, with the values `values` on a grid of `counts` points along each input.
/// Returns for each shift s the function's values at x - s, for every point x of the grid. A shift has one number for
/// each input, in units of the grid's side, and is rounded to whole steps of the grid.
pub(super) fn shifted(
    counts: &[usize],
    scaled_steps: &[f64],
    variance: f64,
    values: &[f64],
    shifts: &[Vec<f64>],
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, GpError> {
    let shifts = whole_steps(counts, shifts);
    let lattice = Lattice::reaching(counts, &shifts);
    let all = continued(&lattice, scaled_steps, variance, values, stream)?;
    Ok(lattice.shifted(&all, &shifts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::prior::GridPrior;
    use crate::rng::Key;

    /// Functions on a grid of 4 x 3 points are continued by two points before the grid along the first input, and by
    /// three points after the grid along the second input. For any two points, the mean product of the values is near the
    /// prior's covariance. With 4,000 functions, the mean of a product of normals of variance 2 has a standard error of
    /// at most 2 sqrt(2 / 4,000) = 0.045; six standard errors are 0.27.
    #[test]
    fn a_continued_function_has_the_covariance_of_its_prior() {
        let (counts, steps) = ([4, 3], [0.6, 0.8]);
        let lattice = Lattice::reaching(&counts, &[vec![2, -3]]);
        let axes = [0, 1].map(|axis: usize| (0..counts[axis]).map(|k| k as f64 * steps[axis]).collect());
        let prior = GridPrior::new(&axes, 1.0, 2.0).unwrap();
        let points: Vec<[f64; 2]> = lattice
            .steps(0)
            .iter()
            .flat_map(|a| lattice.steps(1).into_iter().map(move |b| [a * steps[0], b * steps[1]]))
            .collect();
        let n = points.len();
        assert_eq!(n, 36);
        let mut products = vec![0.0; n * n];
        for k in 0..4000 {
            let key = Key::root(5).index(k);
            let inside = prior.sample(&mut key.child("inside").stream());
            let mut stream = key.child("beyond").stream();
            let all = continued(&lattice, &steps, 2.0, &inside, &mut stream).unwrap();
            let kept: Vec<f64> = lattice.places(&[0, 0]).into_iter().map(|place| all[place]).collect();
            assert_eq!(kept, inside, "the grid's values stay");
            for i in 0..n {
                for j in 0..n {
                    products[i * n + j] += all[i] * all[j] / 4000.0;
                }
            }
        }
        for i in 0..n {
            for j in 0..n {
                let r2: f64 = points[i].iter().zip(points[j]).map(|(a, b)| (a - b) * (a - b)).sum();
                let expected = 2.0 * libm::exp(-0.5 * r2);
                let found = products[i * n + j];
                assert!((found - expected).abs() < 0.27, "{i} and {j}: {found} for {expected}");
            }
        }
    }

    /// On a dense grid the function is smooth across the grid's edge: the value at the first point beyond the edge is near
    /// the quadratic extrapolation of the last three values. With 40 points per length-scale, this extrapolation has an
    /// error of some (1/40)^3; the limit of 0.003 also leaves room for the nugget, whose standard deviation is 1e-4.
    #[test]
    fn a_continued_function_has_no_jump_at_the_edge() {
        let axis: Vec<f64> = (0..100).map(|k| f64::from(k) / 40.0).collect();
        let prior = GridPrior::new(&[axis], 1.0, 1.0).unwrap();
        for k in 0..20 {
            let key = Key::root(6).index(k);
            let inside = prior.sample(&mut key.child("inside").stream());
            let mut stream = key.child("beyond").stream();
            let found =
                shifted(&[100], &[1.0 / 40.0], 1.0, &inside, &[vec![-3.0 / 99.0], vec![0.0]], &mut stream)
                    .unwrap();
            assert_eq!(found[1], inside);
            assert_eq!(found[0][..97], inside[3..]);
            let foretold = 3.0 * inside[99] - 3.0 * inside[98] + inside[97];
            assert!((found[0][97] - foretold).abs() < 0.003, "{} for {foretold}", found[0][97]);
        }
    }
}
