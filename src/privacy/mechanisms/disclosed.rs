//! The disclosure of data without protection, as a scenario names it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data without protection: `Disclosure()`. No finite epsilon holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disclosed {}
