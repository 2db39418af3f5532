//! Nystrom features on a subset of the arms, and the posterior variances computed from them.
//!
//! The features of arm x on a basis D of arms are phi(x) = (K_D^(1/2))^+ k_D(x), with ^+ the pseudo-inverse, K_D the
//! covariance matrix of the basis and k_D(x) the covariances of x with the arms of the basis. All features lie in the range
//! of K_D, so only their coordinates c(x) in this range are stored: phi(x) = U c(x) and c(x) = E^(-1/2) U^T k_D(x). E is the
//! diagonal matrix of the eigenvalues of K_D that are above the rounding error, and the columns of U are their
//! eigenvectors. With a smooth kernel, the number of these eigenvalues is much smaller than the number of arms of the
//! basis. Sources: Calandriello et al. 2019 (BKB); Chowdhury and Gopalan 2019, Algorithm 2.

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::matrices::row_major;
use super::products::{add_products, transposed};
use super::symmetric::combine;
use super::{Cholesky, Eigen, GpError, dot, largest};
use crate::rng::Stream;
use faer::MatRef;

/// Eigenvalues of K_D that are at most this share of the largest eigenvalue are treated as zero. The inner product of the
/// features of two arms of the basis then has an error of the order of this share of the largest eigenvalue; for other arms
/// the error can be larger.
const RANK_TOLERANCE: f64 = 1e-11;

/// Nystrom features of all arms on one basis, in units of the outcome.
#[derive(Clone, Debug)]
pub struct Nystrom {
    n: usize,
    basis: Vec<usize>,
    rank: usize,
    /// The columns of U, one per row: rank x m, with m the size of the basis. They are eigenvectors of K_D.
    range: Vec<f64>,
    /// Coordinates c(x), one arm per row: n x rank.
    coordinates: Vec<f64>,
    /// Prior variances of all arms, `[n]`.
    prior: Vec<f64>,
}

/// The oversampling q of BKB, with which features are `accuracy`-accurate with probability 1 - delta/2 in `rounds` rounds:
/// q = 6 rho ln(4 rounds / delta) / accuracy^2, rho = (1 + accuracy) / (1 - accuracy).
///
/// `rounds` is a number of rounds, at least 1; `delta` and `accuracy`, dimensionless, are above 0 and below 1.
/// Source: Calandriello et al. 2019, Theorem 1.
#[must_use]
pub fn oversampling(rounds: f64, delta: f64, accuracy: f64) -> f64 {
    let rho = (1.0 + accuracy) / (1.0 - accuracy);
    6.0 * rho * libm::log(4.0 * rounds / delta) / (accuracy * accuracy)
}

/// Probability that an arm enters the basis. Each of its `plays` is drawn independently with probability min(q variance, 1),
/// and the arm enters the basis if at least one play is drawn.
///
/// `q`, in the inverse unit of the variance, and the arm's posterior `variance`, in squared units of the outcome, are at
/// least 0; `plays` is above 0. Source: Calandriello et al. 2019, Algorithm 1.
#[must_use]
pub fn inclusion(q: f64, variance: f64, plays: f64) -> f64 {
    let p = (q * variance).clamp(0.0, 1.0);
    if p == 1.0 && plays > 0.0 { 1.0 } else { -libm::expm1(plays * libm::log1p(-p)) }
}

/// Draws a basis from the plays and the variances of all arms, `[n]` each and in the units of [`inclusion`]. It takes
/// one draw of `stream` for each arm that was played, in the order of arms; the arm enters the basis with the
/// probability of [`inclusion`]. If no arm is drawn, the basis is the arm with the largest probability. The result,
/// `[m]` arms, is ascending; it is empty only if all probabilities are 0.
///
/// Source: Calandriello et al. 2019, Algorithm 1.
pub fn draw_basis(q: f64, plays: &[f64], variance: &[f64], stream: &mut Stream) -> Vec<usize> {
    let mut likeliest = (0.0, None);
    let mut basis = Vec::new();
    let played = plays.iter().zip(variance).enumerate().filter(|(_, (plays, _))| **plays > 0.0);
    for (arm, (&plays, &variance)) in played {
        let p = inclusion(q, variance, plays);
        if p > likeliest.0 {
            likeliest = (p, Some(arm));
        }
        if stream.bernoulli(p) {
            basis.push(arm);
        }
    }
    if basis.is_empty() {
        basis.extend(likeliest.1);
    }
    basis
}

/// The eigenvalues of a covariance matrix K_D, `[m, m]`, that are above the rounding error, and the unit eigenvectors of
/// these eigenvalues, one per row.
///
/// A pivoted Cholesky factorisation K_D = R^T R, with R of shape k x m, stops when the remainder is numerically zero. If
/// k < m / 2, the smaller matrix R R^T, of order k, is decomposed: it has the same nonzero eigenvalues as R^T R, and if v is
/// an eigenvector of R R^T, then R^T v is an eigenvector of R^T R. Otherwise K_D itself is decomposed.
fn range(m: usize, matrix: Vec<f64>) -> Result<(Vec<f64>, Vec<f64>), GpError> {
    let mut left: Vec<f64> = (0..m).map(|i| matrix[i * m + i]).collect();
    let stop = 0.01 * RANK_TOLERANCE * left.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mut factor: Vec<f64> = Vec::new();
    let mut order = 0;
    // From order m / 2 on, the eigenvalues of R R^T are not computed faster than those of K_D itself.
    while 2 * order < m {
        let pivot = largest(&left);
        if left[pivot].is_nan() || left[pivot] <= stop {
            break;
        }
        let root = left[pivot].sqrt();
        let mut row = matrix[pivot * m..][..m].to_vec();
        for earlier in factor.chunks_exact(m) {
            let weight = earlier[pivot];
            row.iter_mut().zip(earlier).for_each(|(x, y)| *x -= weight * y);
        }
        row.iter_mut().for_each(|x| *x /= root);
        left.iter_mut().zip(&row).for_each(|(left, x)| *left -= x * x);
        left[pivot] = 0.0;
        factor.extend(row);
        order += 1;
    }
    let short = 2 * order < m;
    let eigen = if short {
        let rows = || factor.chunks_exact(m);
        Eigen::new(order, rows().flat_map(|a| rows().map(move |b| dot(a, b))).collect())?
    } else {
        Eigen::new(m, matrix)?
    };
    let largest = eigen.values().iter().fold(0.0, |a: f64, &b| a.max(b));
    let kept = (0..eigen.values().len()).filter(|&k| eigen.values()[k] > RANK_TOLERANCE * largest);
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    for k in kept {
        values.push(eigen.values()[k]);
        if short {
            let mut vector = vec![0.0; m];
            combine(&factor, eigen.vector(k), &mut vector);
            let length = dot(&vector, &vector).sqrt();
            vectors.extend(vector.iter().map(|x| x / length));
        } else {
            vectors.extend_from_slice(eigen.vector(k));
        }
    }
    Ok((values, vectors))
}

impl Nystrom {
    /// Features on `basis`, `[m]` (arms, repetitions allowed), of arms with this covariance matrix, `[n, n]` by rows, in
    /// squared units of the outcome. O(m^3 + n m^2).
    ///
    /// # Errors
    /// [`GpError::NoConvergence`].
    ///
    /// # Panics
    /// If the matrix is not n x n or the basis contains an arm that does not exist.
    pub fn new(n: usize, matrix: &[f64], basis: Vec<usize>) -> Result<Self, GpError> {
        assert_eq!(matrix.len(), n * n, "a square matrix");
        let m = basis.len();
        let inner: Vec<f64> =
            basis.iter().flat_map(|&a| basis.iter().map(move |&b| matrix[a * n + b])).collect();
        let (values, range) = range(m, inner)?;
        let rank = values.len();
        // The coordinates are computed row by row, each row with one coordinate of all arms, and are then transposed.
        let mut along = vec![0.0; rank * n];
        let mut scaled = range.clone();
        for k in 0..rank {
            let inverse = 1.0 / values[k].sqrt();
            for entry in &mut scaled[k * m..(k + 1) * m] {
                *entry *= inverse;
            }
        }
        let mut rows = Vec::with_capacity(m * n);
        for &arm in &basis {
            rows.extend_from_slice(&matrix[arm * n..(arm + 1) * n]);
        }
        add_products(&transposed(&scaled, m), &rows, n, &mut along);
        let coordinates = transposed(&along, n);
        let prior = (0..n).map(|arm| matrix[arm * n + arm]).collect();
        Ok(Self { n, basis, rank, range, coordinates, prior })
    }

    /// The features of arms whose covariance matrix is a matrix of faer, `[n, n]`; see
    /// [`Self::new`].
    ///
    /// # Errors
    /// Those of [`Self::new`].
    ///
    /// # Panics
    /// In the cases of [`Self::new`].
    pub fn of_faer(matrix: MatRef<'_, f64>, basis: Vec<usize>) -> Result<Self, GpError> {
        Self::new(matrix.nrows(), &row_major(matrix), basis)
    }

    /// The coordinates of all arms' features as a matrix of faer, `[n, rank]`: a view, nothing is copied.
    #[must_use]
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.coordinates, self.n, self.rank)
    }

    /// The basis: `[m]` arms.
    #[must_use]
    pub fn basis(&self) -> &[usize] {
        &self.basis
    }

    /// Dimension m of the features, as the sources of this module count it: the size of the basis.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.basis.len()
    }

    /// Dimension of the range of K_D, in which features are stored; at most m.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Coordinates of an arm's features in the range, `[rank]`. Their inner products equal the features' inner products.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn coordinates(&self, arm: usize) -> &[f64] {
        &self.coordinates[arm * self.rank..][..self.rank]
    }

    /// Converts a vector, of any unit, from its coordinates in the range to its coordinates in the basis. `vector`,
    /// `[rank]`, holds the coordinates in the range; those in the basis are written into `out`, `[m]`.
    pub fn expand(&self, vector: &[f64], out: &mut [f64]) {
        combine(&self.range, vector, out);
    }

    /// The results of [`Self::expand`] for several vectors, `[count, rank]`, at once: `[count, m]`.
    #[must_use]
    pub(crate) fn expand_all(&self, vectors: &[f64]) -> Vec<f64> {
        let (m, count) = (self.basis.len(), vectors.len() / self.rank.max(1));
        let mut out = vec![0.0; count * m];
        add_products(&transposed(vectors, self.rank), &self.range, m, &mut out);
        out
    }

    /// The products of the coordinates of all arms with a matrix `[rank, rank]`: `[n, rank]`.
    #[must_use]
    pub(crate) fn coordinates_times(&self, matrix: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n * self.rank];
        add_products(&transposed(&self.coordinates, self.rank), matrix, self.rank, &mut out);
        out
    }

    /// Projects a vector, of any unit, onto the range. `vector`, `[m]`, holds the coordinates of the vector in the basis.
    /// The result, `[rank]`, holds the coordinates of the projection in the range. This function is the transpose of
    /// [`Self::expand`].
    #[must_use]
    pub fn project(&self, vector: &[f64]) -> Vec<f64> {
        self.range.chunks(self.basis.len().max(1)).map(|row| dot(row, vector)).collect()
    }

    /// The features of an arm x as coordinates in the basis, `[m]`: (K_D^(1/2))^+ k_D(x). Chowdhury and Gopalan 2019,
    /// Algorithm 2.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn features(&self, arm: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.basis.len()];
        self.expand(self.coordinates(arm), &mut out);
        out
    }

    /// The matrix V in coordinates of the range: `[rank, rank]`, by rows. V is lambda I plus the sum over arms of phi phi^T
    /// times the arm's count. `counts`, `[n]`, holds the number of plays of each arm; `lambda` and V are in squared units of
    /// the outcome.
    ///
    /// # Panics
    /// If a count after the n-th is above 0.
    #[must_use]
    pub fn gram(&self, counts: &[f64], lambda: f64) -> Vec<f64> {
        let r = self.rank;
        let mut gram = vec![0.0; r * r];
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for arm in 0..counts.len() {
            if counts[arm] > 0.0 {
                right.extend_from_slice(self.coordinates(arm));
                left.extend_from_slice(self.coordinates(arm));
                let begin = left.len() - r;
                for entry in &mut left[begin..] {
                    *entry *= counts[arm];
                }
            }
        }
        add_products(&left, &right, r, &mut gram);
        (0..r).for_each(|k| gram[k * r + k] += lambda);
        gram
    }

    /// The Cholesky factor, `[rank, rank]` and in units of the outcome, of V, the matrix that [`Self::gram`] returns for
    /// the same `counts`, `[n]`, and `lambda`.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] only if `lambda` is not above 0, or so small that rounding errors exceed it.
    pub fn factor(&self, counts: &[f64], lambda: f64) -> Result<Cholesky, GpError> {
        Cholesky::new(self.rank, self.gram(counts, lambda))
    }

    /// Variance of an arm, k(x,x) - phi^T phi + lambda phi^T V^-1 phi, with V the matrix that [`Self::gram`] returns.
    /// `whitened`, `[rank]` and dimensionless, is a vector of squared length phi^T V^-1 phi, such as L^-1 c or V^(-1/2)
    /// c, with L the Cholesky factor of V and c the coordinates of the arm. The variance is at least 0, and is in squared
    /// units of the outcome like `lambda`. Calandriello et al. 2019, and Chowdhury and Gopalan 2019, Algorithm 2.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn variance(&self, arm: usize, whitened: &[f64], lambda: f64) -> f64 {
        let c = self.coordinates(arm);
        // Without rounding errors the difference is at least 0.
        (self.prior[arm] - dot(c, c)).max(0.0) + lambda * dot(whitened, whitened)
    }

    /// Number of arms, n.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }
}
