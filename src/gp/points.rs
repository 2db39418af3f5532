//! A set of points: the arms of a problem.

/// `n` points in `d` dimensions. Kept column by column too, since the hot loops run along candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    n: usize,
    d: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Points {
    /// Points from row-major coordinates.
    ///
    /// # Panics
    /// If `rows` does not hold n times d numbers.
    #[must_use]
    pub fn new(n: usize, d: usize, rows: Vec<f64>) -> Self {
        assert_eq!(rows.len(), n * d, "n points of d coordinates each");
        let mut columns = Vec::with_capacity(n * d);
        for column in 0..d {
            columns.extend(rows[column.min(rows.len())..].iter().step_by(d.max(1)));
        }
        Self { n, d, rows, columns }
    }

    /// Number of points.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of dimensions.
    #[must_use]
    pub fn d(&self) -> usize {
        self.d
    }

    /// Coordinates of one point.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.d..][..self.d]
    }

    /// Squared Euclidean distance between two points.
    #[must_use]
    pub fn squared_distance(&self, a: usize, b: usize) -> f64 {
        self.row(a).iter().zip(self.row(b)).map(|(x, z)| (x - z) * (x - z)).sum()
    }

    /// All coordinates, point after point.
    #[must_use]
    pub fn row_major(&self) -> &[f64] {
        &self.rows
    }

    /// One coordinate of all points.
    #[must_use]
    pub fn column(&self, index: usize) -> &[f64] {
        &self.columns[index * self.n..][..self.n]
    }
}
