//! Users who are asked, one after another.

use super::{ArrivalModel, Arrivals, above_zero};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The next user is asked when the previous user's report has arrived or `patience` has passed. A report that arrives after
/// `patience` is still used.
///
/// Example: `OneByOne(patience: "5s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneByOne {
    /// How long the service waits for a report. Default: 5 s.
    #[serde(default = "five_seconds")]
    pub patience: Span,
}

fn five_seconds() -> Span {
    Span::from_millis(5000)
}

impl Default for OneByOne {
    fn default() -> Self {
        Self { patience: five_seconds() }
    }
}

impl Arrivals for OneByOne {
    fn patience(&self) -> Option<Span> {
        Some(self.patience)
    }

    fn problems(&self) -> Vec<Problem> {
        let cure = "write at least the time that a message takes";
        above_zero("patience", self.patience, cure).into_iter().collect()
    }
}

impl Default for ArrivalModel {
    fn default() -> Self {
        Self::from(OneByOne::default())
    }
}
