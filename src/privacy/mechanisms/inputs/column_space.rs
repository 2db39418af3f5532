//! The column space of a released projection of centred records: it distinguishes data sets however the projection is
//! drawn.

use crate::privacy::mechanisms::{MechanismError, Rows};
use faer::{Mat, MatRef};

/// A space that the columns of a released matrix may lie in.
#[derive(Clone, Debug)]
pub(super) struct ColumnSpace(Mat<f64>);

/// Z counts as lying in a space if its part outside is shorter than this share of its length. Rounding leaves about
/// 1e-15; a row moved by 1 leaves about 1 / norm of X.
pub(super) const INSIDE: f64 = 1e-9;

impl ColumnSpace {
    /// The column space of the centred rows; orthonormal columns, for the singular values above 1e-10 of the largest.
    pub(super) fn of(rows: &Rows) -> Result<Self, MechanismError> {
        let centred = rows.centred();
        let svd = centred.as_faer().thin_svd().map_err(|_| MechanismError::Decomposition)?;
        let sizes: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let most = sizes.first().copied().unwrap_or(0.0);
        let rank = sizes.iter().filter(|size| **size > 1e-10 * most).count();
        Ok(Self(svd.U().subcols(0, rank).to_owned()))
    }

    /// Number of dimensions.
    pub(super) fn dimension(&self) -> usize {
        self.0.ncols()
    }

    /// Largest length of a column's part outside of the space, relative to the largest column.
    pub(super) fn distance(&self, z: &Rows) -> f64 {
        let z = z.as_faer();
        let inside = &self.0 * (self.0.transpose() * z);
        let outside = z - inside;
        let longest = |m: MatRef<'_, f64>| (0..m.ncols()).map(|j| m.col(j).norm_l2()).fold(0.0, f64::max);
        longest(outside.as_ref()) / longest(z).max(f64::MIN_POSITIVE)
    }

    /// If the other space has the same singular directions: the position there of each direction of this one.
    pub(super) fn same_directions(&self, other: &Self) -> Option<Vec<usize>> {
        if self.dimension() != other.dimension() {
            return None;
        }
        let cosines = self.0.transpose() * &other.0;
        let place = |i: usize| (0..other.dimension()).find(|&j| cosines[(i, j)].abs() > 1.0 - INSIDE);
        (0..self.dimension()).map(place).collect()
    }

    /// ln of the density of Z, up to a constant, if X has these sizes along the space's directions: row i of U^T Z is normal
    /// with variance s_i^2 / r, whatever V is.
    pub(super) fn log_density(&self, sizes: &[f64], z: &Rows) -> f64 {
        let r = z.d() as f64;
        let along = self.0.transpose() * z.as_faer();
        let rows = sizes.iter().enumerate().take(self.dimension());
        rows.map(|(i, s)| {
            let square: f64 = along.row(i).iter().map(|v| v * v).sum();
            -r * libm::log(*s) - 0.5 * r * square / (s * s)
        })
        .sum()
    }
}
