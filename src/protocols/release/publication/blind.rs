//! Nothing is tried and nothing is published: the baseline of a reader without the owner's help.

use super::{Plan, Publication, Search, Task};
use crate::protocols::release::failure::CannotRelease;
use crate::vocab::Effort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing is published, and readers draw a setting at random. This costs no privacy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blind {}

impl Publication for Blind {
    fn allows_missing_outcomes(&self) -> bool {
        true
    }

    fn needs_finite_set(&self) -> Option<&'static str> {
        None
    }

    fn effort(&self, _: u64, _: u64) -> Effort {
        Effort::default()
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Nothing)
    }

    fn plan(&self, _: &Task) -> Result<Plan, CannotRelease> {
        Ok(Plan::default())
    }
}
