//! Replications and neighbouring data sets of a table that has been read and scaled.

use super::Ready;
use crate::objectives::hyperparameters::Fitted;
use crate::objectives::instance::{Change, Instance};
use crate::objectives::{DataSource, ObjectiveError, Prepared};
use crate::rng::Key;

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        Ok(self.scaled.instance.clone())
    }

    fn changed(&self, change: &Change) -> Option<Result<Instance, ObjectiveError>> {
        let mut raw = self.raw.clone();
        let mut fitted = None;
        match change {
            Change::Inputs { row, by } => {
                let d = raw.names.len();
                let cells = raw.rows.get_mut(row * d..(row + 1) * d)?;
                cells.iter_mut().zip(by).zip(&self.scaled.steps).for_each(|((x, by), step)| *x += by * step);
            }
            Change::Outcome { row, value } => {
                *raw.values.get_mut(*row)? = self.scaled.centre + self.scaled.unit * value;
                // A new fit of the hyperparameters would change the scaled inputs and the surrogate, but no scaled
                // outcome. The earlier fit is kept, because a new fit would take seconds.
                fitted = self.scaled.fitted.as_ref();
            }
        }
        Some(self.table.scaled(&raw, fitted, self.key).map(|scaled| scaled.instance))
    }

    fn source(&self) -> DataSource {
        DataSource::Records
    }

    fn fitted(&self) -> Option<&Fitted> {
        self.scaled.fitted.as_ref()
    }
}
