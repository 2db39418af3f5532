//! A set of points: the arms of a problem.

use super::blocks::BLOCK;
use super::matrices::row_major;
use faer::MatRef;

/// `n` points in `d` dimensions, each coordinate in the unit of its dimension. All coordinates are stored twice: once point
/// by point, and once in blocks of points, column by column within a block. The second copy is for inner loops that run
/// over the points of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    n: usize,
    d: usize,
    rows: Vec<f64>,
    /// Block after block of `BLOCK` points (fewer in the last one). A block holds the coordinates of its points, one
    /// dimension after the other.
    blocks: Vec<f64>,
}

impl Points {
    /// Points from row-major coordinates: `[n, d]`.
    ///
    /// # Panics
    /// If `rows` does not hold n times d numbers.
    #[must_use]
    pub fn new(n: usize, d: usize, rows: Vec<f64>) -> Self {
        assert_eq!(rows.len(), n * d, "n points of d coordinates each");
        let mut blocks = Vec::with_capacity(n * d);
        for block in rows.chunks((BLOCK * d).max(1)) {
            (0..d).for_each(|column| blocks.extend(block[column..].iter().step_by(d)));
        }
        Self { n, d, rows, blocks }
    }

    /// Points from a matrix of faer, `[n, d]`, of any layout in memory: one point per row.
    #[must_use]
    pub fn of_faer(matrix: MatRef<'_, f64>) -> Self {
        Self::new(matrix.nrows(), matrix.ncols(), row_major(matrix))
    }

    /// All coordinates as a matrix of faer, `[n, d]`: a view, nothing is copied.
    #[must_use]
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.rows, self.n, self.d)
    }

    /// Number of points, n.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of dimensions, d.
    #[must_use]
    pub fn d(&self) -> usize {
        self.d
    }

    /// Coordinates of one point: `[d]`.
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.d..][..self.d]
    }

    /// Squared Euclidean distance between two points, in squared units of the coordinates.
    ///
    /// # Panics
    /// If there are no such points.
    #[must_use]
    pub fn squared_distance(&self, a: usize, b: usize) -> f64 {
        self.row(a).iter().zip(self.row(b)).map(|(x, z)| (x - z) * (x - z)).sum()
    }

    /// All coordinates, point after point: `[n, d]`.
    #[must_use]
    pub fn row_major(&self) -> &[f64] {
        &self.rows
    }

    /// The smallest and the largest coordinate of all points in dimension `dimension`, which is below d; infinity and minus
    /// infinity if there are no points.
    #[must_use]
    pub fn range(&self, dimension: usize) -> (f64, f64) {
        let column = self.rows.iter().skip(dimension).step_by(self.d.max(1));
        column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
    }

    /// The coordinates of a block of points in dimension `index`.
    pub(super) fn block_column(&self, block: usize, index: usize) -> &[f64] {
        let width = BLOCK.min(self.n - block * BLOCK);
        &self.blocks[block * BLOCK * self.d + index * width..][..width]
    }
}

impl From<MatRef<'_, f64>> for Points {
    fn from(matrix: MatRef<'_, f64>) -> Self {
        Self::of_faer(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn matrices_of_any_layout_are_converted() {
        let matrix = Mat::from_fn(3, 2, |i, j| (10 * i + j) as f64);
        let points = Points::of_faer(matrix.as_ref());
        assert_eq!(points.row(2), [20.0, 21.0]);
        assert_eq!(points.as_faer(), matrix.as_ref());
        // faer stores columns contiguously, so the rows of the transpose are contiguous.
        let turned = Points::from(matrix.transpose());
        assert_eq!((turned.n(), turned.d(), turned.row(1)), (2, 3, &[1.0, 11.0, 21.0][..]));
        assert_eq!(turned.as_faer().as_ptr(), turned.row_major().as_ptr());
        let empty = Points::of_faer(Mat::<f64>::zeros(0, 4).as_ref());
        assert_eq!((empty.n(), empty.d(), empty.as_faer().ncols()), (0, 4, 4));
    }
}
