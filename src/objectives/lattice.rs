//! A regular grid of arms with further points around it, for the values of a function beyond its domain.

/// A regular grid, with further points before and after it along each input. The further points continue the grid with its
/// own step. Points are numbered row by row, the last input fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lattice {
    /// Points of the grid along each input.
    counts: Vec<usize>,
    /// Along each input, the number of further points before the first point of the grid.
    before: Vec<usize>,
    /// Points of the lattice along each input: the points of the grid and the further points.
    lengths: Vec<usize>,
}

/// The shifts in whole steps of a grid, rounded. `shifts` are in units of the grid's side along each input, and
/// `counts` are the grid's numbers of points.
pub(super) fn whole_steps(counts: &[usize], shifts: &[Vec<f64>]) -> Vec<Vec<i64>> {
    let rounded = |(share, count): (&f64, &usize)| libm::round(share * ((*count).max(1) - 1) as f64) as i64;
    shifts.iter().map(|shift| shift.iter().zip(counts).map(rounded).collect()).collect()
}

impl Lattice {
    /// The smallest lattice that has the point x - s for every point x of the grid and every shift s. A shift is a number
    /// of whole steps along each input.
    pub(super) fn reaching(counts: &[usize], shifts: &[Vec<i64>]) -> Self {
        let most = |axis: usize, sign: i64| {
            shifts.iter().map(|shift| (sign * shift[axis]).max(0) as usize).max().unwrap_or(0)
        };
        let before: Vec<usize> = (0..counts.len()).map(|axis| most(axis, 1)).collect();
        let length = |(axis, count): (usize, &usize)| count + before[axis] + most(axis, -1);
        let lengths = counts.iter().enumerate().map(length).collect();
        Self { counts: counts.to_vec(), before, lengths }
    }

    /// Points along each input.
    pub(super) fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Points of the grid along each input.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The coordinates of the lattice's points along one input, in steps from the first point of the grid.
    pub(super) fn steps(&self, axis: usize) -> Vec<f64> {
        (0..self.lengths[axis]).map(|place| place as f64 - self.before[axis] as f64).collect()
    }

    /// For every point x of the grid, the number of the lattice's point x - s, where s is `shift`.
    pub(super) fn places(&self, shift: &[i64]) -> Vec<usize> {
        let points = self.counts.iter().product();
        let mut found = Vec::with_capacity(points);
        let mut at = vec![0; self.counts.len()];
        for _ in 0..points {
            let place = at.iter().enumerate().fold(0, |place, (axis, &index)| {
                let along = (index + self.before[axis]) as i64 - shift[axis];
                place * self.lengths[axis] + along as usize
            });
            found.push(place);
            for (index, count) in at.iter_mut().zip(&self.counts).rev() {
                *index += 1;
                if *index < *count {
                    break;
                }
                *index = 0;
            }
        }
        found
    }

    /// For each shift s, the values at x - s for every point x of the grid. `values` are the values at all points of the
    /// lattice.
    pub(super) fn shifted(&self, values: &[f64], shifts: &[Vec<i64>]) -> Vec<Vec<f64>> {
        let of = |shift: &Vec<i64>| self.places(shift).into_iter().map(|place| values[place]).collect();
        shifts.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_moves_the_values_of_the_lattice() {
        let shifts = [vec![1, 0], vec![-2, 1]];
        let lattice = Lattice::reaching(&[2, 3], &shifts);
        assert_eq!(lattice.lengths(), [5, 4]);
        assert_eq!(lattice.steps(0), [-1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(lattice.steps(1), [-1.0, 0.0, 1.0, 2.0]);
        // The value at (a, b), in steps of the grid, is 10 a + b.
        let (rows, columns) = (lattice.steps(0), lattice.steps(1));
        let values: Vec<f64> = rows.iter().flat_map(|a| columns.iter().map(move |b| 10.0 * a + b)).collect();
        let found = lattice.shifted(&values, &[vec![0, 0], shifts[0].clone(), shifts[1].clone()]);
        assert_eq!(found[0], [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        assert_eq!(found[1], [-10.0, -9.0, -8.0, 0.0, 1.0, 2.0], "at (a - 1, b)");
        assert_eq!(found[2], [19.0, 20.0, 21.0, 29.0, 30.0, 31.0], "at (a + 2, b - 1)");
    }
}
