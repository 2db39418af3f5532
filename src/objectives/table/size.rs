//! The size of a table as an objective, and the memory and time for reading the table and fitting hyperparameters to it.

use super::{Hyperparameters, Table};
use crate::objectives::split;
use crate::objectives::{Extent, Resources};
use crate::vocab::Effort;
use crate::vocab::effort::{COVARIANCE, MULTIPLY, NUMBER};

/// Approximate number of evaluations of the likelihood from one starting point.
const EVALUATIONS: f64 = 30.0;

impl Table {
    /// An estimate from the numbers of rows, inputs and agents; the default extent if the file cannot be read.
    pub(super) fn size(&self, resources: &Resources) -> Extent {
        let Ok(raw) = self.raw(resources) else { return Extent::default() };
        let (n, d) = (raw.values.len() as u64, raw.names.len() as u64);
        let mut extent = Extent::of(n, d);
        if self.is_divided() {
            let (field, held) = match self.split.as_slice() {
                [] => ("agent", raw.holders.len()),
                splits => ("split", split::agents(splits)),
            };
            extent.agents = Some((field.to_owned(), held as u64));
            // For every agent a byte for each row.
            extent.prepared.bytes += n as f64 * held as f64;
        }
        // The file's cells as text, which take some thirty bytes each, and the columns of numbers that are read from them.
        let cells = n as f64 * (d + 1) as f64;
        extent.prepared = extent.prepared.and(Effort::new(40.0 * cells, 5.0 * COVARIANCE * cells));
        if let Hyperparameters::MaximumLikelihood { subset, starts, .. } = self.hyperparameters {
            let (rows, d) = ((subset.get() as u64).min(n) as f64, d as f64);
            let fit = EVALUATIONS
                * starts.get() as f64
                * (MULTIPLY * rows * rows * rows + (COVARIANCE + MULTIPLY * d) * rows * rows);
            extent.prepared = extent.prepared.and(Effort::new(NUMBER * rows * rows * (d + 3.0), fit));
        }
        extent
    }
}
