//! The singular value decomposition of a small matrix, bit-identical on every machine.
//!
//! One-sided Jacobi rotations: pairs of columns (of rows, if the matrix has more columns than rows) are rotated until all
//! of them are orthogonal to each other. The lengths of the columns are then the singular values. Small singular values
//! have a small relative error too if the original matrix, with each of its columns (or rows) scaled to length 1, is
//! well-conditioned. This holds for singular values down to roughly 1e-154 of the largest entry, since squares of smaller
//! numbers lose digits when they underflow.
//! Hestenes 1958, "Inversion of matrices by biorthogonalization and related results"; Demmel and Veselic 1992, "Jacobi's
//! method is more accurate than QR".

use super::GpError;
use super::cholesky::dot;
use super::simd::multiversion;
use super::vectors::inner;

/// Singular values, from the largest to the smallest, each with a left and a right singular vector: the matrix is the
/// sum of `value * left right^T` over all values. There are min(n, d) values, in the unit of the matrix; vectors are
/// dimensionless.
#[derive(Clone, Debug)]
pub struct Singular {
    n: usize,
    d: usize,
    values: Vec<f64>,
    /// One left vector per row, of n numbers.
    left: Vec<f64>,
    /// One right vector per row, of d numbers.
    right: Vec<f64>,
}

/// Largest number of passes over all pairs of columns; six to ten passes are typical.
const PASSES: usize = 60;

impl Singular {
    /// The decomposition of a matrix `[n, d]` given by its rows. O(n d min(n, d)) for each pass over all pairs of columns.
    ///
    /// # Errors
    /// [`GpError::NoConvergence`], also for entries that are not finite.
    ///
    /// # Panics
    /// If `matrix` does not hold n times d numbers.
    pub fn new(n: usize, d: usize, matrix: &[f64]) -> Result<Self, GpError> {
        assert_eq!(matrix.len(), n * d, "one number for each cell");
        let largest = matrix.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        if matrix.iter().any(|value| !value.is_finite()) {
            return Err(GpError::NoConvergence);
        }
        // The matrix is divided by a power of two, which changes only the exponents of its entries. Afterwards the squares
        // of entries do not overflow, and they become 0 only for entries below roughly 1e-162 of the largest one. `ldexp`
        // is used because the inverse of the power of two may itself be out of range.
        let exponent = libm::frexp(largest).1;
        let scaled = |value: f64| libm::ldexp(value, -exponent);
        let wide = n < d;
        let (long, short) = if wide { (d, n) } else { (n, d) };
        let mut columns: Vec<f64> = if wide {
            matrix.iter().map(|&value| scaled(value)).collect()
        } else {
            (0..n * d).map(|place| scaled(matrix[place % n * d + place / n])).collect()
        };
        let mut rotations = vec![0.0; short * short];
        (0..short).for_each(|i| rotations[i * short + i] = 1.0);
        orthogonalise(long, &mut columns, short, &mut rotations)?;
        let lengths: Vec<f64> =
            columns.chunks_exact(long.max(1)).map(|column| inner(column, column).sqrt()).collect();
        let mut order: Vec<usize> = (0..short).collect();
        order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]));
        let (mut unit, mut turned) = (Vec::with_capacity(columns.len()), Vec::with_capacity(rotations.len()));
        for &place in &order {
            let (column, length) = (&columns[place * long..][..long], lengths[place]);
            if length > 0.0 {
                unit.extend(column.iter().map(|value| value / length));
            } else {
                let further = orthogonal(long, &unit);
                unit.extend(further);
            }
            turned.extend_from_slice(&rotations[place * short..][..short]);
        }
        let values = order.iter().map(|&place| libm::ldexp(lengths[place], exponent)).collect();
        let (left, right) = if wide { (turned, unit) } else { (unit, turned) };
        Ok(Self { n, d, values, left, right })
    }

    /// Singular values, `[min(n, d)]`, from the largest to the smallest.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The left singular vector, of length 1, that belongs to the singular value `index`: `[n]`. All left singular vectors
    /// are orthogonal to each other, also those that belong to singular values of zero.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn left(&self, index: usize) -> &[f64] {
        &self.left[index * self.n..][..self.n]
    }

    /// The right singular vector, of length 1, that belongs to the singular value `index`: `[d]`.
    ///
    /// # Panics
    /// If there is no such value.
    #[must_use]
    pub fn right(&self, index: usize) -> &[f64] {
        &self.right[index * self.d..][..self.d]
    }
}

/// Rotates pairs of columns (of `long` numbers, stored one after the other) until all columns are orthogonal to each other.
/// When two columns are rotated, the two rows of `rotations` with the same indices undergo the same rotation.
fn orthogonalise(
    long: usize,
    columns: &mut [f64],
    short: usize,
    rotations: &mut [f64],
) -> Result<(), GpError> {
    // Roughly the relative rounding error of an inner product of two columns of `long` numbers.
    let tolerance = f64::EPSILON * (long as f64).sqrt();
    for _ in 0..PASSES {
        let mut converged = true;
        for second in 1..short {
            for first in 0..second {
                let (a, b) = pair(columns, first, second, long);
                let [aa, bb, ab] = products(a, b);
                if ab.abs() <= tolerance * aa.sqrt() * bb.sqrt() {
                    continue;
                }
                converged = false;
                let slope = (bb - aa) / (2.0 * ab);
                let tangent = slope.signum() / (slope.abs() + (1.0 + slope * slope).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                rotate(a, b, cosine, sine);
                let (a, b) = pair(rotations, first, second, short);
                rotate(a, b, cosine, sine);
            }
        }
        if converged {
            return Ok(());
        }
    }
    Err(GpError::NoConvergence)
}

/// Two different rows of a matrix, `first` before `second`.
fn pair(rows: &mut [f64], first: usize, second: usize, length: usize) -> (&mut [f64], &mut [f64]) {
    let (before, after) = rows.split_at_mut(second * length);
    (&mut before[first * length..][..length], &mut after[..length])
}

/// A vector of length 1 that is orthogonal to the orthonormal vectors `rows`, of which there are fewer than n.
fn orthogonal(n: usize, rows: &[f64]) -> Vec<f64> {
    let covered = |place: usize| rows.chunks_exact(n).map(|row| row[place] * row[place]).sum::<f64>();
    let mut vector = vec![0.0; n];
    // The axis with the largest component outside the span of the rows.
    let axis = (0..n).min_by(|&a, &b| covered(a).total_cmp(&covered(b))).unwrap_or(0);
    vector[axis] = 1.0;
    for _ in 0..2 {
        for row in rows.chunks_exact(n) {
            let along = dot(&vector, row);
            vector.iter_mut().zip(row).for_each(|(value, part)| *value -= along * part);
        }
        let length = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

multiversion! {
    /// The inner products of a with a, b with b, and a with b.
    fn products(a: &[f64], b: &[f64]) -> [f64; 3] {
        [inner(a, a), inner(b, b), inner(a, b)]
    }

    /// a and b become cosine a - sine b and sine a + cosine b.
    fn rotate(a: &mut [f64], b: &mut [f64], cosine: f64, sine: f64) {
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use faer::MatRef;

    fn check(n: usize, d: usize, matrix: &[f64]) -> Singular {
        let found = Singular::new(n, d, matrix).unwrap();
        let k = n.min(d);
        let size = found.values().first().copied().unwrap_or(0.0);
        // Tolerance for rounding errors, as a share of the largest singular value.
        let close = 1e-15 * (n + d + 10) as f64;
        assert_eq!(found.values().len(), k);
        assert!(found.values().windows(2).all(|pair| pair[0] >= pair[1]));
        for i in 0..n {
            for j in 0..d {
                let sum: f64 = (0..k).map(|l| found.values()[l] * found.left(l)[i] * found.right(l)[j]).sum();
                assert!((sum - matrix[i * d + j]).abs() <= close * size, "{i} {j}");
            }
        }
        for i in 0..k {
            for j in 0..k {
                let one = if i == j { 1.0 } else { 0.0 };
                assert!((dot(found.left(i), found.left(j)) - one).abs() < close, "{i} {j}");
                assert!((dot(found.right(i), found.right(j)) - one).abs() < close, "{i} {j}");
            }
        }
        let theirs = MatRef::from_row_major_slice(matrix, n, d).thin_svd().unwrap();
        for (ours, theirs) in found.values().iter().zip(theirs.S().column_vector().iter()) {
            assert!((ours - theirs).abs() <= close * size, "{ours} {theirs}");
        }
        found
    }

    #[test]
    fn tall_wide_and_square_matrices_are_decomposed() {
        let mut stream = Key::root(5).stream();
        for (n, d) in [(1, 1), (7, 1), (1, 7), (30, 4), (4, 30), (12, 12), (200, 9), (60, 40)] {
            let mut matrix = vec![0.0; n * d];
            stream.fill_normal(&mut matrix);
            check(n, d, &matrix);
            let scaled = |exponent: i32| matrix.iter().map(|v| libm::ldexp(*v, exponent)).collect::<Vec<_>>();
            // If the matrix is multiplied by a power of two, only the exponents of the singular values change, even where
            // squares of entries would overflow or underflow.
            let plain = Singular::new(n, d, &matrix).unwrap();
            for exponent in [900, -900] {
                let other = Singular::new(n, d, &scaled(exponent)).unwrap();
                assert_eq!(other.left, plain.left);
                let values: Vec<f64> = plain.values.iter().map(|v| libm::ldexp(*v, exponent)).collect();
                assert_eq!(other.values, values);
            }
        }
    }

    #[test]
    fn rank_deficient_matrices_get_orthonormal_vectors_too() {
        let zero = check(5, 3, &[0.0; 15]);
        assert_eq!(zero.values(), [0.0; 3]);
        // Two equal columns, and one of zeros.
        let rows: Vec<f64> = (0..6).flat_map(|i| [f64::from(i), f64::from(i), 0.0, 1.0]).collect();
        let found = check(6, 4, &rows);
        assert!(found.values()[2] < 1e-15 && found.values()[1] > 0.5);
        // Hilbert's matrix of order 12: its condition number is 1.7e16.
        let hilbert: Vec<f64> = (0..144).map(|place| 1.0 / f64::from(place / 12 + place % 12 + 1)).collect();
        check(12, 12, &hilbert);
        assert!(Singular::new(0, 3, &[]).unwrap().values().is_empty());
        assert!(Singular::new(1, 2, &[1.0, f64::NAN]).is_err());
    }

    /// The smallest singular value has a small relative error, even where the largest is 1e10 or 2e8 times as large.
    #[test]
    fn small_singular_values_are_accurate_too() {
        // The columns (1e10, 0, 0) and (0, 1, 0) are orthogonal, so the values are exact.
        let found = check(3, 2, &[1e10, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(found.values(), [1e10, 1.0]);
        // Columns of very different lengths that are not orthogonal: (1e8, 1e8) and (1, 0). The product of the two singular
        // values is 1e8, the absolute value of the determinant.
        let found = check(2, 2, &[1e8, 1.0, 1e8, 0.0]);
        let product = found.values()[0] * found.values()[1];
        assert!((product / 1e8 - 1.0).abs() < 1e-14, "{product}");
    }
}
