//! A party, by its position among all parties of one simulation.

use serde::{Deserialize, Serialize};

/// Index of a party within one simulation. The names of parties are in the scenario; the kernel uses only indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartyId(pub u32);

impl PartyId {
    /// The id as a position in a table with one entry per party.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
