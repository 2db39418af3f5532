//! Which agents a server asks for their vectors in a round.

mod everyone;
mod fastest;
mod history;
mod oort;
mod power_of_choice;

pub use everyone::Everyone;
pub use fastest::Fastest;
pub use history::{SelectionHistory, by_weight};
pub use oort::Oort;
pub use power_of_choice::PowerOfChoice;

use crate::rng::Stream;
use crate::vocab::Problem;
use std::num::NonZeroU64;

/// The agents that report a prediction loss: how far their measurements are from what the last shared vectors predict
/// ([`Selection::report`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReporters {
    /// Nobody: the selection depends on public values only.
    Nobody,
    /// The agents that were selected.
    Selected,
    /// All agents.
    Everyone,
}

impl LossReporters {
    /// Whether an agent reports its loss, given whether it is selected.
    pub(super) fn include(self, selected: bool) -> bool {
        match self {
            Self::Nobody => false,
            Self::Selected => selected,
            Self::Everyone => true,
        }
    }
}

/// The behaviour of a selection.
pub trait Selection {
    /// Whose prediction losses the selection depends on. The losses are protected data: a private series uses them only
    /// with noise and with a ledger entry.
    fn reporters(&self) -> LossReporters {
        LossReporters::Nobody
    }

    /// The number that an agent reports, computed from its prediction losses, one for each of its measurements so far (at
    /// least one). A prediction loss is the squared difference between the outcome and the shared vectors' prediction.
    /// Default: the mean of the losses.
    fn report(&self, losses: &[f64]) -> f64 {
        losses.iter().sum::<f64>() / losses.len().max(1) as f64
    }

    /// By agent, whether the server asks it for its vector in round `known.round`; `None` if all agents are asked. At least
    /// one agent must be asked. All draws must be from `stream`.
    fn select(&self, known: &SelectionHistory, stream: &mut Stream) -> Option<Vec<bool>>;

    /// What is wrong with the selection as a whole, given the number of agents.
    fn problems(&self, agents: u64) -> Vec<Problem> {
        let _ = agents;
        Vec::new()
    }
}

crate::family! {
    /// The agents that a server asks for their vectors.
    pub struct SelectionModel(SelectionMember): dyn Selection, "selection" {
        Everyone(Everyone),
        Fastest(Fastest),
        PowerOfChoice(PowerOfChoice),
        Oort(Oort),
    }
}

/// What is wrong with a number of selected agents.
fn too_many(field: &str, k: NonZeroU64, agents: u64) -> Vec<Problem> {
    if k.get() <= agents {
        return Vec::new();
    }
    let expected = format!("at most the number of agents, {agents}");
    vec![Problem::wrong(field, expected, k.to_string(), "lower it, or add agents")]
}
