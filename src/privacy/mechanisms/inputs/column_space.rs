//! The column space of a released projection of centred records: it distinguishes data sets whichever projection is
//! drawn.

use crate::gp::{combine, dot};
use crate::privacy::mechanisms::{MechanismError, Rows};

/// A space that the columns of a released matrix of n rows may lie in, as an orthonormal basis: vectors of n numbers each.
#[derive(Clone, Debug)]
pub(super) struct ColumnSpace(Vec<Vec<f64>>);

/// A released matrix Z counts as lying in a space if its [`ColumnSpace::distance`] from the space is smaller than this.
/// Rounding causes a distance of about 1e-15; moving one row of the records X by 1 causes a distance of about
/// 1 / (norm of X).
pub(super) const INSIDE: f64 = 1e-9;

impl ColumnSpace {
    /// The column space of the centred rows: one basis vector for each singular value above 1e-10 times the largest.
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

    /// The coordinates, in this space, of each column of the matrix Z (`z`): U^T Z, where the columns of U are the basis
    /// vectors. The coordinates of all columns along the first basis vector come first.
    fn coordinates_of(&self, z: &Rows) -> Vec<f64> {
        let mut along = vec![0.0; self.dimension() * z.d()];
        for (direction, out) in self.0.iter().zip(along.chunks_exact_mut(z.d())) {
            combine(z.values(), direction, out);
        }
        along
    }

    /// Each column of `z` is the sum of a part inside the space and a part orthogonal to it. Returns the length of the
    /// longest orthogonal part, divided by the length of the longest column.
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

    /// For each basis vector of this space, the position in `other` of the basis vector of the same direction (equal up to
    /// its sign); `None` unless every basis vector has such a counterpart and both spaces have the same dimension.
    pub(super) fn same_directions(&self, other: &Self) -> Option<Vec<usize>> {
        if self.dimension() != other.dimension() {
            return None;
        }
        let place = |direction: &Vec<f64>| {
            other.0.iter().position(|theirs| dot(direction, theirs).abs() > 1.0 - INSIDE)
        };
        self.0.iter().map(place).collect()
    }

    /// ln of the density of Z (n x r), up to a constant, if X = U S V^T has the singular values s_i (`sizes`) along the
    /// space's directions U. The numbers in row i of U^T Z are then normal with variance s_i^2 / r, whatever V is.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns (1, -1, 0, 0) and (0, 0, 2, -2): singular values sqrt 2 and sqrt 8, directions along the columns.
    fn rows() -> Rows {
        Rows::new(4, 2, vec![1.0, 0.0, -1.0, 0.0, 0.0, 2.0, 0.0, -2.0]).unwrap()
    }

    #[test]
    fn a_matrix_lies_inside_or_leaves_by_a_share_of_its_length() {
        let space = ColumnSpace::of(&rows()).unwrap();
        assert_eq!(space.dimension(), 2);
        let z = |values: [f64; 4]| Rows::new(4, 1, values.to_vec()).unwrap();
        assert!(space.distance(&z([3.0, -3.0, 5.0, -5.0])) < INSIDE);
        // (3, 1, 0, 0) = (1, -1, 0, 0) + 2 (1, 1, 0, 0), and only the first part lies in the space: the share outside
        // is sqrt(8 / 10).
        assert!((space.distance(&z([3.0, 1.0, 0.0, 0.0])) - 0.8f64.sqrt()).abs() < 1e-12);
        // Two columns: the length of the longer part outside, divided by the length of the longer column.
        let two = Rows::new(4, 2, vec![3.0, 10.0, 1.0, -10.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        assert!((space.distance(&two) - (8f64 / 200.0).sqrt()).abs() < 1e-12);
        let flat = Rows::new(4, 2, vec![1.0, 2.0, -1.0, -2.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let line = ColumnSpace::of(&flat).unwrap();
        assert_eq!((line.dimension(), line.same_directions(&space)), (1, None));
    }

    #[test]
    fn directions_are_found_in_another_order() {
        let space = ColumnSpace::of(&rows()).unwrap();
        let swapped = Rows::new(4, 2, vec![4.0, 0.0, -4.0, 0.0, 0.0, 2.0, 0.0, -2.0]).unwrap();
        let other = ColumnSpace::of(&swapped).unwrap();
        assert_eq!(space.same_directions(&other), Some(vec![1, 0]));
        let turned = Rows::new(4, 2, vec![1.0, 0.0, -1.0, 0.0, 0.0, 2.0, 1.0, -2.0]).unwrap();
        assert_eq!(space.same_directions(&ColumnSpace::of(&turned).unwrap()), None);
    }

    /// Two pairs of singular values are compared: 2 and 3, against 1 and 5. The ratio of the density of Z for the first pair
    /// to that for the second pair is a ratio of densities of normal numbers: with variances 2^2 / r and 3^2 / r, and with
    /// variances 1 / r and 5^2 / r, where r = 2.
    #[test]
    fn the_density_is_that_of_normal_numbers() {
        let space = ColumnSpace(vec![vec![1.0, 0.0, 0.0], vec![0.0, 0.6, 0.8]]);
        let z = Rows::new(3, 2, vec![0.5, -1.5, 1.2, 0.0, 1.6, 3.0]).unwrap();
        // Coordinates: (0.5, -1.5) and (0.72 + 1.28, 2.4) = (2, 2.4).
        let log = |value: f64, sd: f64| -libm::log(sd) - 0.5 * value * value / (sd * sd);
        let sum = |sizes: [f64; 2]| {
            let [a, b] = sizes.map(|size| size / 2f64.sqrt());
            log(0.5, a) + log(-1.5, a) + log(2.0, b) + log(2.4, b)
        };
        let found = space.log_density(&[2.0, 3.0], &z) - space.log_density(&[1.0, 5.0], &z);
        assert!((found - (sum([2.0, 3.0]) - sum([1.0, 5.0]))).abs() < 1e-12, "{found}");
    }

    /// Directions with a singular value below 1e-10 times the largest do not count, whatever the unit; equal rows have
    /// no direction.
    #[test]
    fn the_rank_is_relative_to_the_largest_direction() {
        let of = |long: f64, short: f64| {
            let values = vec![long, 0.0, -long, 0.0, 0.0, short, 0.0, -short];
            ColumnSpace::of(&Rows::new(4, 2, values).unwrap()).unwrap().dimension()
        };
        assert_eq!([of(1e6, 1e-5), of(1e6, 1e-3), of(1e-6, 1e-15), of(0.0, 0.0)], [1, 2, 2, 0]);
        // (5, 1, 0, 0) has the part (3, 3, 0, 0) outside of (1, -1, 0, 0).
        let z = Rows::new(4, 1, vec![5.0, 1.0, 0.0, 0.0]).unwrap();
        let space = ColumnSpace::of(&rows()).unwrap();
        assert!((space.distance(&z) - (18f64 / 26.0).sqrt()).abs() < 1e-12);
    }
}
