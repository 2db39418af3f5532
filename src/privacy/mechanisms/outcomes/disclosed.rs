//! Answers without protection: each answer is the outcome itself.

use super::outcome::{Outcome, OutcomeMechanism};
use crate::privacy::mechanisms::{Disclosed, MechanismError};

impl Outcome for Disclosed {
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        None
    }

    fn variance(&self) -> Result<f64, MechanismError> {
        Ok(0.0)
    }
}
