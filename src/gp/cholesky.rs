//! A Cholesky factorisation, bit-identical on every machine: elementwise updates, in a fixed order.

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::GpError;
use super::matrices::row_major;
use super::simd::multiversion;
use super::vectors::{add_multiple, inner, products, subtract_multiple, total};
use faer::{Mat, MatRef};

/// Jitters tried, as shares of the largest diagonal entry: none, then 1e-14, 1e-13, ..., 1e-6.
const FIRST_JITTER: f64 = 1e-14;
const LARGEST_JITTER: f64 = 1e-6;

/// Number of rows, or of right-hand sides, that are computed together.
const TOGETHER: usize = 4;
/// Number of columns whose sums are kept in registers at the same time.
const TILE: usize = 8;

/// The factor L, `[n, n]`, of a symmetric positive definite matrix A = L L^T. The unit of L is the square root of A's unit;
/// vectors may have any unit. This type is meant for matrices of moderate order.
#[derive(Clone, Debug)]
pub struct Cholesky {
    n: usize,
    /// Rows of L^T, so that every update accesses memory in order. The strict lower part is never read.
    upper: Vec<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factorises a symmetric matrix `[n, n]` given by its rows; only the upper triangle is read. O(n^3).
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`], also for entries that are not finite.
    ///
    /// # Panics
    /// If `matrix` does not hold n times n numbers.
    pub fn new(n: usize, mut matrix: Vec<f64>) -> Result<Self, GpError> {
        assert_eq!(matrix.len(), n * n, "a square matrix");
        if !factorise(n, &mut matrix) {
            return Err(GpError::NotPositiveDefinite { order: n, jitter: 0.0 });
        }
        Ok(Self { n, upper: matrix, jitter: 0.0 })
    }

    /// As [`Self::new`], with the smallest sufficient jitter added to the diagonal: none, or 1e-14, 1e-13, .., 1e-6 of the
    /// largest diagonal entry. [`Self::jitter`] returns the jitter that was added.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] if 1e-6 of the largest diagonal entry is not enough.
    ///
    /// # Panics
    /// If `matrix` does not hold n times n numbers.
    pub fn with_jitter(n: usize, matrix: &[f64]) -> Result<Self, GpError> {
        let largest = (0..n).map(|i| matrix[i * n + i].abs()).fold(0.0, f64::max);
        let mut share = 0.0;
        loop {
            let jitter = share * largest;
            let mut lifted = matrix.to_vec();
            (0..n).for_each(|i| lifted[i * n + i] += jitter);
            match Self::new(n, lifted) {
                Ok(factor) => return Ok(Self { jitter, ..factor }),
                Err(_) if share < 0.5 * LARGEST_JITTER => {
                    share = if share == 0.0 { FIRST_JITTER } else { share * 10.0 };
                }
                Err(_) => return Err(GpError::NotPositiveDefinite { order: n, jitter }),
            }
        }
    }

    /// Factorises a matrix of faer, `[n, n]`, as [`Self::with_jitter`] does; only its upper triangle
    /// is read.
    ///
    /// # Errors
    /// Those of [`Self::with_jitter`].
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of_faer(matrix: MatRef<'_, f64>) -> Result<Self, GpError> {
        assert_eq!(matrix.nrows(), matrix.ncols(), "a square matrix");
        Self::with_jitter(matrix.nrows(), &row_major(matrix))
    }

    /// L as a matrix of faer, `[n, n]`; entries above the diagonal are 0.
    #[must_use]
    pub fn to_faer(&self) -> Mat<f64> {
        Mat::from_fn(self.n, self.n, |i, j| if j <= i { self.upper[j * self.n + i] } else { 0.0 })
    }

    /// Order, n.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The jitter that was added to the diagonal, in units of the matrix; 0 if none.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.upper[k * self.n + k..(k + 1) * self.n]
    }

    /// Column `j` of L from its diagonal entry on.
    pub(super) fn column(&self, j: usize) -> &[f64] {
        self.row(j)
    }

    /// Replaces b, `[n]`, by L^-1 b. O(n^2).
    ///
    /// # Panics
    /// If `b` is shorter than n.
    pub fn forward(&self, b: &mut [f64]) {
        forward(self.n, &self.upper, 0, b);
    }

    /// Replaces b, `[n]`, by L^-T b. O(n^2).
    ///
    /// # Panics
    /// If `b` is shorter than n.
    pub fn backward(&self, b: &mut [f64]) {
        self.backward_to(0, b);
    }

    /// As [`Self::backward`], but only for the entries from `first` on; earlier entries are neither read nor changed.
    fn backward_to(&self, first: usize, b: &mut [f64]) {
        for k in (first..self.n).rev() {
            let row = self.row(k);
            let sum = dot(&row[1..], &b[k + 1..self.n]);
            b[k] = (b[k] - sum) / row[0];
        }
    }

    /// The upper triangle of A^-1, `[n, n]` by rows; entries below the diagonal are 0. O(n^3).
    #[must_use]
    pub fn upper_inverse(&self) -> Vec<f64> {
        let n = self.n;
        let mut inverse = vec![0.0; n * n];
        let (fours, rest) = inverse.split_at_mut(n / TOGETHER * TOGETHER * n);
        for (index, rows) in fours.chunks_exact_mut((TOGETHER * n).max(1)).enumerate() {
            let first = TOGETHER * index;
            (0..TOGETHER).for_each(|r| rows[r * n + first + r] = 1.0);
            solve_together(n, &self.upper, first, rows);
            // All four rows are solved from the entry `first` on. This also fills entries below the diagonal, which are set
            // to 0 again.
            (1..TOGETHER).for_each(|r| rows[r * n + first..][..r].fill(0.0));
        }
        let first = n / TOGETHER * TOGETHER;
        for (i, row) in (first..).zip(rest.chunks_exact_mut(n.max(1))) {
            row[i] = 1.0;
            forward(n, &self.upper, i, row);
            self.backward_to(i, row);
        }
        inverse
    }

    /// Replaces b, `[n]`, by A^-1 b. O(n^2).
    ///
    /// # Panics
    /// If `b` is shorter than n.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        self.backward(b);
    }

    /// The product L z, `[n]`, for z, `[n]`. If z holds standard normals, the product is a draw from N(0, A). O(n^2).
    ///
    /// # Panics
    /// If `z` is longer than n.
    #[must_use]
    pub fn times(&self, z: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.n];
        times(self.n, &self.upper, z, &mut product);
        product
    }

    /// Natural logarithm of the determinant of A. O(n).
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.n).map(|k| libm::log(self.row(k)[0])).sum::<f64>()
    }
}

multiversion! {
    /// Inner product of two vectors, `[n]` each and of any units. It is computed in eight partial sums, and all additions
    /// are made in an order that never changes.
    #[must_use]
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        inner(a, b)
    }

    /// Factorises in place; false if the matrix is not positive definite. Four rows are computed together, so every row
    /// above them is read once for all four. Each entry has the same bits as if the rows were computed one after the other.
    fn factorise(n: usize, matrix: &mut [f64]) -> bool {
        for first in (0..n).step_by(TOGETHER) {
            let (above, rest) = matrix.split_at_mut(first * n);
            let rows = &mut rest[..TOGETHER.min(n - first) * n];
            if rows.len() == TOGETHER * n {
                subtract_above(n, first, above, rows);
            } else {
                for (k, row) in (first..).zip(rows.chunks_exact_mut(n)) {
                    subtract_rows(above, k, &mut row[k..]);
                }
            }
            for k in first..n.min(first + TOGETHER) {
                let (before, rest) = rows.split_at_mut((k - first) * n);
                let row = &mut rest[k..n];
                subtract_rows(before, k, row);
                let pivot = row[0];
                // This also refuses NaN, unlike `pivot <= 0.0`.
                if !(pivot.is_finite() && pivot > 0.0) {
                    return false;
                }
                let root = pivot.sqrt();
                row.iter_mut().for_each(|value| *value /= root);
                row[0] = root;
            }
        }
        true
    }

    /// Takes four right-hand sides b, which are stored one after the other and are 0 before the entry `first`. In each,
    /// replaces the entries from `first` on by those of A^-1 b. The operations on each right-hand side are those of
    /// `forward` and `backward_to`, in the same order.
    fn solve_together(n: usize, upper: &[f64], first: usize, sides: &mut [f64]) {
        let mut sides = rows_of(n, sides);
        let mut k = first;
        while k + TOGETHER <= n {
            // Closures in `from_fn` or `map` of arrays would not be inlined here.
            let pivot = |i: usize| &upper[(k + i) * n + k..][..n - k];
            let pivots = [pivot(0), pivot(1), pivot(2), pivot(3)];
            for side in &mut sides {
                let side = &mut side[k..n];
                let mut values = [0.0; TOGETHER];
                for i in 0..TOGETHER {
                    let mut known = side[i];
                    for j in 0..i {
                        known -= values[j] * pivots[j][i];
                    }
                    values[i] = known / pivots[i][i];
                }
                let (solved, rest) = side.split_at_mut(TOGETHER);
                solved.copy_from_slice(&values);
                // Slices that are known to have the same length need no check of each index.
                let length = rest.len();
                let tail = |i: usize| &pivots[i][TOGETHER..][..length];
                let (a, b, c, d) = (tail(0), tail(1), tail(2), tail(3));
                for i in 0..length {
                    rest[i] = rest[i] - values[0] * a[i] - values[1] * b[i] - values[2] * c[i] - values[3] * d[i];
                }
            }
            k += TOGETHER;
        }
        for k in k..n {
            let row = &upper[k * n + k..(k + 1) * n];
            for side in &mut sides {
                let value = side[k] / row[0];
                side[k] = value;
                subtract_multiple(&mut side[k + 1..], value, &row[1..]);
            }
        }
        for k in (first..n).rev() {
            let row = &upper[k * n + k..(k + 1) * n];
            let [a, b, c, d] = &sides;
            let sums = inner_together(&row[1..], [&a[k + 1..], &b[k + 1..], &c[k + 1..], &d[k + 1..]]);
            for r in 0..TOGETHER {
                sides[r][k] = (sides[r][k] - sums[r]) / row[0];
            }
        }
    }

    /// Adds L z to `product`, column after column.
    fn times(n: usize, upper: &[f64], z: &[f64], product: &mut [f64]) {
        for k in 0..z.len() {
            add_multiple(&mut product[k..n], z[k], &upper[k * n + k..(k + 1) * n]);
        }
    }

    /// Replaces b, which is 0 before entry `first`, by L^-1 b.
    fn forward(n: usize, upper: &[f64], first: usize, b: &mut [f64]) {
        for k in first..n {
            let row = &upper[k * n + k..(k + 1) * n];
            let value = b[k] / row[0];
            b[k] = value;
            subtract_multiple(&mut b[k + 1..], value, &row[1..]);
        }
    }
}

/// Subtracts from row `k` every row of `before`, multiplied by that earlier row's entry k. `row` is row `k` from its
/// diagonal entry on.
#[inline(always)]
fn subtract_rows(before: &[f64], k: usize, row: &mut [f64]) {
    for earlier in before.chunks_exact(k + row.len()) {
        subtract_multiple(row, earlier[k], &earlier[k..]);
    }
}

/// Changes four rows, whose indices k begin with `first`. Every row of `above`, multiplied by its own entry k, is subtracted
/// from row k. The columns are computed [`TILE`] at a time, and the sums of these columns stay in registers; the columns
/// that are left at the end are computed without tiles. Entries below the diagonal change too; they are never read.
#[inline(always)]
fn subtract_above(n: usize, first: usize, above: &[f64], rows: &mut [f64]) {
    let rows = rows_of(n, rows);
    let mut at = first;
    while at + TILE <= n {
        let mut sums = [[0.0; TILE]; TOGETHER];
        for r in 0..TOGETHER {
            sums[r].copy_from_slice(&rows[r][at..at + TILE]);
        }
        for earlier in above.chunks_exact(n) {
            let factors = &earlier[first..first + TOGETHER];
            let tile = &earlier[at..at + TILE];
            for r in 0..TOGETHER {
                for i in 0..TILE {
                    sums[r][i] -= factors[r] * tile[i];
                }
            }
        }
        for r in 0..TOGETHER {
            rows[r][at..at + TILE].copy_from_slice(&sums[r]);
        }
        at += TILE;
    }
    for earlier in above.chunks_exact(n) {
        for r in 0..TOGETHER {
            subtract_multiple(&mut rows[r][at..], earlier[first + r], &earlier[at..]);
        }
    }
}

/// The first four rows of a matrix with rows of `n` numbers.
#[inline(always)]
fn rows_of(n: usize, rows: &mut [f64]) -> [&mut [f64]; TOGETHER] {
    let (a, rest) = rows.split_at_mut(n);
    let (b, rest) = rest.split_at_mut(n);
    let (c, rest) = rest.split_at_mut(n);
    [a, b, c, &mut rest[..n]]
}

/// The inner products of one vector with four others, each as [`inner`] computes it.
#[inline(always)]
fn inner_together(a: &[f64], others: [&[f64]; TOGETHER]) -> [f64; TOGETHER] {
    let mut sums = [[0.0; 8]; TOGETHER];
    let whole = a.len() - a.len() % 8;
    for at in (0..whole).step_by(8) {
        let block = &a[at..at + 8];
        for r in 0..TOGETHER {
            let other = &others[r][at..at + 8];
            for lane in 0..8 {
                sums[r][lane] += block[lane] * other[lane];
            }
        }
    }
    let mut found = [0.0; TOGETHER];
    for r in 0..TOGETHER {
        found[r] = total(sums[r]) + products(&a[whole..], &others[r][whole..a.len()]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_of_a_known_matrix() {
        // L = [[2, 0, 0], [1, 3, 0], [-1, 2, 1]].
        let matrix = vec![4.0, 2.0, -2.0, 2.0, 10.0, 5.0, -2.0, 5.0, 6.0];
        let factor = Cholesky::new(3, matrix).unwrap();
        assert_eq!(factor.times(&[1.0, 1.0, 1.0]), vec![2.0, 4.0, 2.0]);
        let mut b = [4.0, 17.0, 9.0]; // A (1, 1, 1) = (4, 17, 9)
        factor.solve(&mut b);
        b.iter().for_each(|x| assert!((x - 1.0).abs() < 1e-14));
        assert!((factor.log_determinant() - 36.0_f64.ln()).abs() < 1e-14);
        let inverse = factor.upper_inverse();
        assert_eq!([inverse[3], inverse[6], inverse[7]], [0.0; 3]);
        for k in 0..3 {
            let mut unit = [0.0; 3];
            unit[k] = 1.0;
            factor.solve(&mut unit);
            (0..=k).for_each(|i| assert!((inverse[3 * i + k] - unit[i]).abs() < 1e-14));
        }
    }

    #[test]
    fn jitter_is_used_only_when_needed_and_reported() {
        let singular = [1.0, 1.0, 1.0, 1.0];
        assert!(Cholesky::new(2, singular.to_vec()).is_err());
        let factor = Cholesky::with_jitter(2, &singular).unwrap();
        assert!(factor.jitter() > 0.0 && factor.jitter() <= 1e-12, "{}", factor.jitter());
        assert_eq!(Cholesky::with_jitter(1, &[2.0]).unwrap().jitter(), 0.0);
        assert!(Cholesky::with_jitter(2, &[1.0, 2.0, 2.0, 1.0]).is_err());
    }

    /// The results are compared, bit by bit, with those of the same operations on one row after the other.
    #[test]
    fn rows_together_have_the_bits_of_rows_one_by_one() {
        for n in [1, 2, 3, 4, 5, 8, 11, 16, 37, 64] {
            let entry = |i: usize, j: usize| {
                let distance = i.abs_diff(j) as f64 / 7.0;
                libm::exp(-0.5 * distance * distance) + if i == j { 0.01 } else { 0.0 }
            };
            let matrix: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
            let mut alone = matrix.clone();
            for k in 0..n {
                let (above, rest) = alone.split_at_mut(k * n);
                let row = &mut rest[k..n];
                subtract_rows(above, k, row);
                let root = row[0].sqrt();
                row.iter_mut().for_each(|value| *value /= root);
                row[0] = root;
            }
            let factor = Cholesky::new(n, matrix).unwrap();
            for k in 0..n {
                assert_eq!(factor.row(k), &alone[k * n + k..(k + 1) * n], "row {k} of {n}");
            }
            let inverse = factor.upper_inverse();
            for i in 0..n {
                let mut row = vec![0.0; n];
                row[i] = 1.0;
                forward(n, &factor.upper, i, &mut row);
                factor.backward_to(i, &mut row);
                assert_eq!(&inverse[i * n..(i + 1) * n], row, "row {i} of the inverse of {n}");
            }
        }
    }
}
