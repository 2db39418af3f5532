//! The column space of a released projection of centred records: it distinguishes data sets however the projection is
//! drawn.

use crate::gp::{combine, dot};
use crate::privacy::mechanisms::{MechanismError, Rows};

/// A space that the columns of a released matrix may lie in: orthonormal vectors, one of n numbers each.
#[derive(Clone, Debug)]
pub(super) struct ColumnSpace(Vec<Vec<f64>>);

/// A released matrix Z counts as lying in a space if its part outside is shorter than this share of its length.
/// Rounding leaves a share of about 1e-15; a row of X moved by 1 leaves about 1 / norm of X.
pub(super) const INSIDE: f64 = 1e-9;

impl ColumnSpace {
    /// The column space of the centred rows; orthonormal columns, for the singular values above 1e-10 of the largest.
    pub(super) fn of(rows: &Rows) -> Result<Self, MechanismError> {
        let svd = rows.centred().singular()?;
        let most = svd.values().first().copied().unwrap_or(0.0);
        let rank = svd.values().iter().filter(|size| **size > 1e-10 * most).count();
        Ok(Self((0..rank).map(|index| svd.left(index).to_vec()).collect()))
    }

    /// Number of dimensions.
    pub(super) fn dimension(&self) -> usize {
        self.0.len()
    }

    /// Each column's coordinates in this space: U^T Z, one direction after the other.
    fn coordinates_of(&self, z: &Rows) -> Vec<f64> {
        let mut along = vec![0.0; self.dimension() * z.d()];
        for (direction, out) in self.0.iter().zip(along.chunks_exact_mut(z.d())) {
            combine(z.values(), direction, out);
        }
        along
    }

    /// Largest length of a column's part outside of the space, relative to the largest column.
    pub(super) fn distance(&self, z: &Rows) -> f64 {
        let along = self.coordinates_of(z);
        let (mut outside, mut whole) = (vec![0.0; z.d()], vec![0.0; z.d()]);
        let mut inside = vec![0.0; z.d()];
        for i in 0..z.n() {
            let coordinates: Vec<f64> = self.0.iter().map(|direction| direction[i]).collect();
            combine(&along, &coordinates, &mut inside);
            for (j, value) in z.row(i).iter().enumerate() {
                outside[j] += (value - inside[j]) * (value - inside[j]);
                whole[j] += value * value;
            }
        }
        let longest = |squares: &[f64]| squares.iter().copied().fold(0.0, f64::max).sqrt();
        longest(&outside) / longest(&whole).max(f64::MIN_POSITIVE)
    }

    /// For each direction of this space, its position in the other space; `None` unless both have the same directions.
    pub(super) fn same_directions(&self, other: &Self) -> Option<Vec<usize>> {
        if self.dimension() != other.dimension() {
            return None;
        }
        let place = |direction: &Vec<f64>| {
            other.0.iter().position(|theirs| dot(direction, theirs).abs() > 1.0 - INSIDE)
        };
        self.0.iter().map(place).collect()
    }

    /// ln of the density of Z (n x r), up to a constant, if X = U S V^T has these singular values s_i along the space's
    /// directions U: the numbers in row i of U^T Z are normal with variance s_i^2 / r, whatever V is.
    pub(super) fn log_density(&self, sizes: &[f64], z: &Rows) -> f64 {
        let r = z.d() as f64;
        let along = self.coordinates_of(z);
        let rows = sizes.iter().zip(along.chunks_exact(z.d()));
        rows.map(|(s, row)| {
            let square: f64 = row.iter().map(|v| v * v).sum();
            -r * libm::log(*s) - 0.5 * r * square / (s * s)
        })
        .sum()
    }
}
