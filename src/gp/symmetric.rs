//! Eigenvalues and eigenvectors of a small symmetric matrix, bit-identical on every machine.
//!
//! Householder's reduction to a tridiagonal matrix is EISPACK's tred2, after Martin, Reinsch and Wilkinson. The implicit QL
//! algorithm is EISPACK's imtql2, after Martin and Wilkinson as modified by Dubrulle. Both are in Handbook for Automatic
//! Computation II (1971).

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::GpError;
use super::matrices::row_major;
use super::products::add_products;
use super::simd::multiversion;
use super::vectors::inner;
use faer::{Mat, MatRef};

/// Eigenvalues in the unit of the matrix, in no particular order, each with a dimensionless eigenvector of length 1.
#[derive(Clone, Debug)]
pub struct Eigen {
    n: usize,
    values: Vec<f64>,
    /// One eigenvector per row.
    vectors: Vec<f64>,
}

/// Largest number of QL steps per eigenvalue; two steps are typical.
const STEPS: usize = 60;

impl Eigen {
    /// The eigenvalues and eigenvectors of a symmetric matrix `[n, n]`, given by its rows. O(n^3).
    ///
    /// # Errors
    /// [`GpError::NoConvergence`], also for entries that are not finite.
    ///
    /// # Panics
    /// If `matrix` does not hold n times n numbers.
    pub fn new(n: usize, matrix: Vec<f64>) -> Result<Self, GpError> {
        assert_eq!(matrix.len(), n * n, "a square matrix");
        if matrix.iter().any(|value| !value.is_finite()) {
            return Err(GpError::NoConvergence);
        }
        let mut vectors = matrix;
        let mut off = vec![0.0; n];
        let mut values = tridiagonal(n, &mut vectors, &mut off);
        ql(n, &mut values, &mut off, &mut vectors)?;
        Ok(Self { n, values, vectors })
    }

    /// The eigenvalues and eigenvectors of a symmetric matrix of faer, `[n, n]`.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn of_faer(matrix: MatRef<'_, f64>) -> Result<Self, GpError> {
        assert_eq!(matrix.nrows(), matrix.ncols(), "a square matrix");
        Self::new(matrix.nrows(), row_major(matrix))
    }

    /// The unit eigenvectors as the columns of a matrix of faer, `[n, n]`, in the order of [`Self::values`].
    #[must_use]
    pub fn to_faer(&self) -> Mat<f64> {
        Mat::from_fn(self.n, self.n, |i, j| self.vectors[j * self.n + i])
    }

    /// Eigenvalues, `[n]`, in no particular order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The unit eigenvector of eigenvalue `index`: `[n]`.
    ///
    /// # Panics
    /// If there is no such eigenvalue.
    #[must_use]
    pub fn vector(&self, index: usize) -> &[f64] {
        &self.vectors[index * self.n..][..self.n]
    }

    /// The symmetric matrix that has the eigenvectors of the decomposed matrix, and the eigenvalue `map(value)` in place of
    /// each eigenvalue `value`: `[n, n]`, by rows. O(n^3).
    #[must_use]
    pub fn function(&self, map: impl Fn(f64) -> f64) -> Vec<f64> {
        let n = self.n;
        let mut out = vec![0.0; n * n];
        let mut scaled = self.vectors.clone();
        for k in 0..n {
            let factor = map(self.values[k]);
            for entry in &mut scaled[k * n..(k + 1) * n] {
                *entry *= factor;
            }
        }
        add_products(&scaled, &self.vectors, n, &mut out);
        out
    }
}

/// sums += factor * values, entry by entry; `values` has at least as many entries as `sums`.
#[inline(always)]
fn add_times(sums: &mut [f64], factor: f64, values: &[f64]) {
    let values = &values[..sums.len()];
    for k in 0..sums.len() {
        sums[k] += factor * values[k];
    }
}

multiversion! {
    /// out = the sum of all rows, each multiplied by its factor: `out` is `[d]`, `rows` is `[n, d]`, `factors` is `[n]`.
    pub(crate) fn combine(rows: &[f64], factors: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (row, &factor) in rows.chunks_exact(out.len().max(1)).zip(factors) {
            add_times(out, factor, row);
        }
    }

/// Reduces `a` to tridiagonal form. Returns the diagonal, and leaves the subdiagonal in `off[1..]` and the transposed
/// transformation in `a`. By rotations, `ql` turns the rows of this transposed transformation into the eigenvectors.
fn tridiagonal(n: usize, a: &mut [f64], off: &mut [f64]) -> Vec<f64> {
    let mut scales = vec![0.0; n]; // h = u.u / 2 of each Householder vector u; 0 for a row without one
    for i in (1..n).rev() {
        let (above, below) = a.split_at_mut(i * n);
        let u = &mut below[..i];
        let size: f64 = u.iter().map(|x| x.abs()).sum();
        if i == 1 || size == 0.0 {
            off[i] = u[i - 1];
            continue;
        }
        u.iter_mut().for_each(|x| *x /= size);
        let h: f64 = inner(u, u);
        let f = u[i - 1];
        let g = if f >= 0.0 { -h.sqrt() } else { h.sqrt() };
        off[i] = size * g;
        let h = h - f * g;
        u[i - 1] = f - g;
        scales[i] = h;
        // p = A u / h from the lower triangle of A, then A -= u q^T + q u^T with q = p - (u.p / (2 h)) u.
        let mut p = vec![0.0; i];
        for j in 0..i {
            let row = &above[j * n..][..=j];
            p[j] += inner(row, &u[..=j]);
            add_times(&mut p[..j], u[j], &row[..j]);
        }
        p.iter_mut().for_each(|x| *x /= h);
        let half = inner(u, &p) / (h + h);
        p.iter_mut().zip(&*u).for_each(|(q, &u)| *q -= half * u);
        for j in 0..i {
            let row = &mut above[j * n..][..=j];
            let (length, p_j, u_j) = (row.len(), p[j], u[j]);
            let (p, u) = (&p[..length], &u[..length]);
            for k in 0..length {
                row[k] -= u_j * p[k] + p_j * u[k];
            }
        }
    }
    // Multiplies the transformations, for i = 0, 1, ..: Z <- (I - u u^T / h) Z, on the leading block of order i. Here u and
    // h are those of row i.
    let mut diagonal = vec![0.0; n];
    let mut z = vec![0.0; n * n];
    for i in 0..n {
        diagonal[i] = a[i * n + i];
        z[i * n + i] = 1.0;
        if scales[i] != 0.0 {
            let u = &a[i * n..][..i];
            // `z` holds the transpose of Z: each of its first i rows, x, becomes x - (x.u / h) u.
            for row in z.chunks_mut(n).take(i) {
                let factor = inner(&row[..i], u) / scales[i];
                let row = &mut row[..i];
                for k in 0..i {
                    row[k] -= factor * u[k];
                }
            }
        }
    }
    a.copy_from_slice(&z);
    diagonal
}

/// Diagonalises the tridiagonal matrix with the diagonal `d` and the subdiagonal `e[1..]` by rotations, and applies the same
/// rotations to the rows of `vectors`. Afterwards `d` holds the eigenvalues, and `vectors` an eigenvector in each row.
fn ql(n: usize, d: &mut [f64], e: &mut [f64], vectors: &mut [f64]) -> Result<(), GpError> {
    if n == 0 {
        return Ok(());
    }
    e.rotate_left(1);
    e[n - 1] = 0.0;
    for l in 0..n {
        for step in 0.. {
            let m = (l..n - 1)
                .find(|&m| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs()))
                .unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == STEPS {
                return Err(GpError::NoConvergence);
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = (g * g + 1.0).sqrt();
            g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r } else { -r });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut deflated = false;
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                let r = (f * f + g * g).sqrt();
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    deflated = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let (upper, lower) = vectors.split_at_mut((i + 1) * n);
                let (x, y) = (&mut upper[i * n..][..n], &mut lower[..n]);
                for k in 0..n {
                    let f = y[k];
                    y[k] = s * x[k] + c * f;
                    x[k] = c * x[k] - s * f;
                }
            }
            if !deflated {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Ok(())
}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::dot;
    use crate::rng::Key;

    #[test]
    fn vectors_diagonalise_and_are_orthonormal() {
        for n in [1, 2, 3, 5, 17, 40] {
            let mut stream = Key::root(n as u64).stream();
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    // `Stream::normal` takes a square root by inline assembly on x86, which miri cannot run. So the entries
                    // are uniform.
                    let value = 4.0 * stream.open_uniform() - 2.0;
                    (a[i * n + j], a[j * n + i]) = (value, value);
                }
            }
            let eigen = Eigen::new(n, a.clone()).unwrap();
            for k in 0..n {
                let vector = eigen.vector(k);
                for i in 0..n {
                    let image = dot(&a[i * n..][..n], vector);
                    assert!((image - eigen.values()[k] * vector[i]).abs() < 1e-12 * n as f64, "{n} {k} {i}");
                }
                for other in 0..n {
                    let expected = f64::from(u8::from(k == other));
                    assert!((dot(vector, eigen.vector(other)) - expected).abs() < 1e-13 * n as f64);
                }
            }
            let again = eigen.function(|value| value);
            again.iter().zip(&a).for_each(|(x, y)| assert!((x - y).abs() < 1e-12 * n as f64));
        }
    }

    #[test]
    fn a_singular_kernel_matrix_is_decomposed() {
        // Neighbouring rows are nearly equal: the numerical rank in double precision is roughly 16, and the order is 60.
        let n = 60;
        let a: Vec<f64> =
            (0..n * n).map(|k| libm::exp(-0.5 * ((k / n) as f64 - (k % n) as f64).powi(2) / 400.0)).collect();
        let eigen = Eigen::new(n, a.clone()).unwrap();
        let again = eigen.function(|value| value);
        again.iter().zip(&a).for_each(|(x, y)| assert!((x - y).abs() < 1e-12));
        assert!(eigen.values().iter().all(|&value| value > -1e-12));
        assert!(Eigen::new(1, vec![f64::NAN]).is_err());
    }
}
