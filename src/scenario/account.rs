//! A list of releases whose privacy loss is to be computed: `Account(delta: 1e-5, events: [..])`.

use crate::vocab::{CountedCost, Delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of a file that `subrosa account FILE` reads; such a file is not a scenario. It lists releases whose privacy
/// loss is to be computed. The cost of each release is scaled to sensitivity 1.
///
/// Example: `Account(delta: 1e-5, events: [PoissonGaussian(rate: 0.35, noise_multiplier: 1, count: 30)])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Delta at which every accountant states its epsilon. Default: 1e-5.
    #[serde(default = "default_delta")]
    pub delta: Delta,
    /// The releases.
    pub events: Vec<CountedCost>,
}

fn default_delta() -> Delta {
    Delta::new(1e-5).expect("1e-5 is between 0 and 1")
}
