//! Whether a party is connected.

mod always;
mod on_off;
mod per_message;

pub use always::Always;
pub use on_off::OnOff;
pub use per_message::PerMessage;

use crate::kernel::Switch;
use crate::rng::Stream;
use crate::vocab::Problem;

/// The behaviour of an availability model: a recipe that starts one process per party.
pub trait Availability {
    /// A fresh process for one party, which draws from `stream`.
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess>;

    /// Whether a message that is sent again and again will get through at last.
    fn ever_available(&self) -> bool;

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

/// A party's connection in progress.
pub trait AvailabilityProcess: std::fmt::Debug {
    /// Whether the party is connected at time zero.
    fn starts_online(&mut self) -> bool {
        true
    }

    /// The next change of its connection, later than the last one; `None` when there is none any more.
    fn next_switch(&mut self) -> Option<Switch> {
        None
    }

    /// Whether the party, connected, hears a message that has just arrived.
    fn hears(&mut self) -> bool {
        true
    }
}

crate::family! {
    /// Whether a party is connected.
    pub enum AvailabilityModel: dyn Availability {
        Always(Always),
        PerMessage(PerMessage),
        OnOff(OnOff),
    }
}

impl Default for AvailabilityModel {
    fn default() -> Self {
        Self::Always(Always {})
    }
}
