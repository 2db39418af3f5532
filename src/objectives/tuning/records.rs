//! Records in the form that a linear model needs.

use crate::gp::dot;

/// The features of each record, multiplied by the record's label (1 or -1). The margin of a record is the inner product of
/// these numbers with the weights of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// Number of features.
    pub d: usize,
    /// The features times the label, row-major.
    pub signed: Vec<f64>,
}

impl Records {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.signed.len() / self.d
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.signed.is_empty()
    }

    /// The margin of every record.
    pub fn margins<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.signed.chunks(self.d).map(|row| dot(row, weights))
    }
}
