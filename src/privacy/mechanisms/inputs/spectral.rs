//! The largest factor by which a matrix stretches a row, and the direction of that row.

/// Relative margin for rounding errors in P P^T, the Gram matrix of a matrix P; the errors are far smaller.
const ROUNDING: f64 = 1e-9;
/// Sweeps of the eigenvalue iteration. A few are usually enough; with too few the bound is valid but looser.
const SWEEPS: usize = 30;

/// An upper bound on the largest singular value of a d x r matrix P, tight up to rounding if [`SWEEPS`] sweeps suffice.
/// Jacobi's rotations diagonalise P P^T (d x d), and Gershgorin's discs bound the effect of the remaining off-diagonal
/// entries.
pub(super) fn spectral_norm(d: usize, r: usize, matrix: &[f64]) -> f64 {
    let row = |i: usize| &matrix[i * r..][..r];
    let mut gram = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            gram[i * d + j] = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
        }
    }
    for _ in 0..SWEEPS {
        for p in 0..d {
            for q in p + 1..d {
                rotate(d, &mut gram, p, q);
            }
        }
    }
    let disc = |i: usize| (0..d).map(|j| gram[i * d + j].abs()).sum::<f64>();
    let largest = (0..d).map(disc).fold(0.0, f64::max);
    (largest * (1.0 + ROUNDING)).sqrt()
}

/// One of Jacobi's rotations: makes entries (p, q) and (q, p) of a symmetric matrix zero.
fn rotate(d: usize, a: &mut [f64], p: usize, q: usize) {
    let off = a[p * d + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
    let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..d {
        let (kp, kq) = (a[k * d + p], a[k * d + q]);
        a[k * d + p] = c * kp - s * kq;
        a[k * d + q] = s * kp + c * kq;
    }
    for k in 0..d {
        let (pk, qk) = (a[p * d + k], a[q * d + k]);
        a[p * d + k] = c * pk - s * qk;
        a[q * d + k] = s * pk + c * qk;
    }
}

/// The direction, of length 1, that a d x r matrix P stretches most, by power iteration on P P^T.
pub(super) fn worst_direction(d: usize, r: usize, matrix: &[f64]) -> Vec<f64> {
    let row = |i: usize| &matrix[i * r..][..r];
    let mut direction: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * i as f64).collect();
    // 500 steps separate singular values that differ by 1 %.
    for _ in 0..500 {
        let mut image = vec![0.0; r];
        for (i, weight) in direction.iter().enumerate() {
            image.iter_mut().zip(row(i)).for_each(|(sum, value)| *sum += weight * value);
        }
        let back: Vec<f64> = (0..d).map(|i| row(i).iter().zip(&image).map(|(a, b)| a * b).sum()).collect();
        let length = back.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction = back.iter().map(|v| v / length).collect();
    }
    direction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matrices P with known singular values: one with orthogonal rows of lengths 3, 5 and 4; a symmetric one with
    /// eigenvalues 4, 2 and 1; P^T P = (5, 4; 4, 5), with eigenvalues 9 and 1; and P P^T = (5, 1; 1, 5), with eigenvalues 6
    /// and 4.
    #[test]
    fn the_norm_is_the_largest_singular_value_and_its_direction_is_stretched_by_it() {
        let root = |x: f64| x.sqrt();
        // d, r, the matrix, its largest singular value, and the direction.
        type Case<'a> = (usize, usize, &'a [f64], f64, [f64; 3]);
        let cases: [Case<'_>; 4] = [
            (3, 3, &[3.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 4.0], 5.0, [0.0, 1.0, 0.0]),
            (
                3,
                3,
                &[2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0],
                4.0,
                [1.0, 2.0, 1.0].map(|v| v / root(6.0)),
            ),
            (3, 2, &[1.0, 0.0, 0.0, 1.0, 2.0, 2.0], 3.0, [1.0, 1.0, 4.0].map(|v| v / root(18.0))),
            (2, 3, &[2.0, 0.0, 1.0, 0.0, 2.0, 1.0], root(6.0), [root(0.5), root(0.5), 0.0]),
        ];
        for (d, r, matrix, largest, expected) in cases {
            let ratio = spectral_norm(d, r, matrix) / largest - 1.0;
            // The square of the norm has a relative margin of 1e-9, so the norm has half of it.
            assert!((ratio - 0.5e-9).abs() < 1e-12, "{matrix:?}: {ratio:e} above {largest}");
            let direction = worst_direction(d, r, matrix);
            assert_eq!(direction.len(), d);
            for (found, expected) in direction.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{matrix:?}: {direction:?}");
            }
        }
    }

    /// If no direction is stretched more than another, the search stays where it begins: at (1, 1.1, 1.2), scaled to
    /// length 1.
    #[test]
    fn a_multiple_of_the_identity_keeps_the_initial_direction() {
        let direction = worst_direction(3, 3, &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
        let length = (1.0f64 + 1.21 + 1.44).sqrt();
        for (found, expected) in direction.iter().zip([1.0, 1.1, 1.2]) {
            assert!((found - expected / length).abs() < 1e-12, "{direction:?}");
        }
    }
}
