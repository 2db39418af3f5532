//! Inputs released without protection.

use super::input::{Input, RowsMechanism};
use crate::privacy::mechanisms::{Disclosed, Disclosure, MechanismError, Rows};
use crate::rng::Stream;
use crate::vocab::Positive;

impl Input for Disclosed {
    fn release_name(&self) -> &'static str {
        "inputs X"
    }

    fn about(&self, rows: &Rows) -> String {
        format!("{} records of {} numbers as they are", rows.n(), rows.d())
    }

    fn unprotected(&self) -> Option<&'static str> {
        Some("sent without protection: nothing is claimed")
    }

    fn mechanism(
        &self,
        _: usize,
        _: Positive,
        _: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(Some(Box::new(Disclosure::new())))
    }
}

impl RowsMechanism for Disclosure<Rows> {}
