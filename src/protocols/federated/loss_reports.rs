//! The noise in the losses that agents report for the selection of agents.

use crate::privacy::mechanisms::{Gaussian, NoiseArithmetic};
use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gaussian noise in the losses that agents report for a selection by loss: the server clips each loss to [0, `bound`]
/// and adds noise of standard deviation `noise_multiplier` times `bound` before it uses the loss. Agents see whether
/// they are selected, and the selections depend on the noisy losses. So the ledger counts the noisy losses as released to
/// every agent. It has one entry for all losses that are released in a round.
///
/// Example: `LossReports(bound: 4, noise_multiplier: 5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossReports {
    /// The upper bound of a reported loss, in squared units of the objective: a larger loss is replaced by the bound.
    /// (Which loss is reported depends on the selection.)
    pub bound: Positive,
    /// The standard deviation of the noise, in units of `bound`.
    pub noise_multiplier: Positive,
}

impl LossReports {
    /// The loss clipped to [0, `bound`]; 0 for NaN.
    #[must_use]
    pub fn clipped(&self, loss: f64) -> f64 {
        if loss > 0.0 { loss.min(self.bound.get()) } else { 0.0 }
    }

    /// The noise for clipped losses: neighbours differ in one loss, by at most the bound. `None` if the product of
    /// `noise_multiplier` and `bound` is not a finite number above 0.
    #[must_use]
    pub fn mechanism(&self, arithmetic: NoiseArithmetic) -> Option<Gaussian> {
        let sd = Positive::new(self.noise_multiplier.get() * self.bound.get()).ok()?;
        Some(Gaussian::new(sd, self.bound).with(arithmetic))
    }
}
