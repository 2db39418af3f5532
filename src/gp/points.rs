//! A set of points: the arms of a problem.

use super::blocks::BLOCK;

/// `n` points in `d` dimensions. Stored column by column too, because the hot loops run over arms: in blocks of arms,
/// so that a loop over a block reads its columns one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    n: usize,
    d: usize,
    rows: Vec<f64>,
    /// For each block of arms its part of every column.
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

    /// The smallest and the largest coordinate of any point in one dimension, below d; infinity and minus infinity if
    /// there are no points.
    #[must_use]
    pub fn range(&self, dimension: usize) -> (f64, f64) {
        let column = self.rows.iter().skip(dimension).step_by(self.d.max(1));
        column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
    }

    /// One coordinate of a block of points.
    pub(super) fn block_column(&self, block: usize, index: usize) -> &[f64] {
        let width = BLOCK.min(self.n - block * BLOCK);
        &self.blocks[block * BLOCK * self.d + index * width..][..width]
    }
}
