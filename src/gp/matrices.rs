//! Conversion of faer matrices to row-major vectors, the layout that the inner loops read.

use faer::MatRef;

/// The numbers of a matrix, row after row, whatever its layout in memory.
pub(super) fn row_major(matrix: MatRef<'_, f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

#[cfg(test)]
mod tests {
    use crate::gp::covariance::Covariance;
    use crate::gp::{ArmCovariance, Cholesky, CovarianceMatrix, Eigen, Nystrom, Points};
    use faer::{Mat, Side};
    use std::sync::Arc;

    /// The largest absolute difference between entries of two matrices.
    fn max_abs_difference(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
        (a - b).norm_max()
    }

    #[test]
    fn factors_and_features_are_those_of_faer() {
        let points =
            Points::of_faer(Mat::from_fn(12, 2, |i, j| ((7 * i + 3 * j) % 11) as f64 / 11.0).as_ref());
        let arms = ArmCovariance::of_inputs(Arc::new(points), Covariance::matern52(0.3, 2.0));
        let mut matrix = arms.to_faer();
        (0..12).for_each(|i| matrix[(i, i)] += 0.1);
        // The matrix is 12 x 12 with a condition number below 300, so 1e-12 is above the rounding errors.
        let theirs = matrix.llt(Side::Lower).unwrap();
        let ours = Cholesky::of_faer(matrix.as_ref()).unwrap();
        assert!(max_abs_difference(&ours.to_faer(), &theirs.L().to_owned()) < 1e-12);
        let eigen = Eigen::of_faer(matrix.as_ref()).unwrap();
        let vectors = eigen.to_faer();
        let values = Mat::from_fn(12, 12, |i, j| if i == j { eigen.values()[i] } else { 0.0 });
        assert!(max_abs_difference(&(&vectors * values * vectors.transpose()), &matrix) < 1e-12);
        // If every arm is in the basis, the inner products of the features are the covariances.
        let nystrom = Nystrom::of_faer(matrix.as_ref(), (0..12).collect()).unwrap();
        assert!(max_abs_difference(&(nystrom.as_faer() * nystrom.as_faer().transpose()), &matrix) < 1e-10);
        let given = CovarianceMatrix::of_faer(matrix.as_ref()).unwrap();
        assert_eq!(given.as_faer(), matrix.as_ref());
        assert_eq!(ArmCovariance::Matrix(Arc::new(given)).to_faer(), matrix);
        assert!(CovarianceMatrix::of_faer(Mat::<f64>::zeros(2, 3).as_ref()).is_err());
    }
}
