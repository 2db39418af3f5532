//! Inputs that are not released.

use super::input::{Input, RowsMechanism};
use crate::privacy::mechanisms::{MechanismError, Rows};
use crate::rng::Stream;
use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Releases nothing but the number of rows: `Withheld()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Withheld {}

impl Input for Withheld {
    fn release_name(&self) -> &'static str {
        "number of rows"
    }

    fn shows_inputs(&self) -> bool {
        false
    }

    fn about(&self, rows: &Rows) -> String {
        format!("that there are {} records", rows.n())
    }

    fn unprotected(&self) -> Option<&'static str> {
        Some("withheld: only the number of rows is released")
    }

    fn mechanism(
        &self,
        _: usize,
        _: Positive,
        _: &mut Stream,
    ) -> Result<Option<Box<dyn RowsMechanism>>, MechanismError> {
        Ok(None)
    }
}
