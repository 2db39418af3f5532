//! The parties of a network: their names, and the network properties of each.

use super::availability::AvailabilityModel;
use super::bandwidth::Access;
use super::compute::ComputeModel;
use super::together::{PartyQuantity, Together};
use crate::rng::Key;
use crate::vocab::Problem;
use std::sync::Arc;

/// The network properties of a party.
#[derive(Clone, Debug, Default)]
pub struct PartyTraits {
    /// The group that the party belongs to.
    pub group: Option<String>,
    /// The party's number, from 0, among the parties of its entry in the scenario.
    pub number: u64,
    /// When the party is connected, and which messages it receives.
    pub availability: AvailabilityModel,
    /// The party's compute model.
    pub compute: ComputeModel,
    /// The party's access line.
    pub access: Access,
    /// Which of the party's quantities depend on each other.
    pub together: Option<Arc<Together>>,
}

impl PartyTraits {
    /// The party's level in the distribution of a quantity; `None` if the quantity does not depend on other quantities. See
    /// [`Together::level`].
    #[must_use]
    pub fn level(&self, quantity: PartyQuantity, name: &str, network: Key) -> Option<f64> {
        self.together.as_ref()?.level(quantity, name, network)
    }

    /// The place of the party's device among all devices in order of slowness: in (0, 1), near 1 for the slowest devices.
    /// The place is `drawn`, unless the party's speed depends on other quantities. The party's compute model computes the
    /// slowness of the device from the place.
    #[must_use]
    pub(super) fn device(&self, name: &str, network: Key, drawn: f64) -> f64 {
        self.level(PartyQuantity::Speed, name, network).map_or(drawn, |speed| 1.0 - speed)
    }
}

/// The parties of a network, in order of their ids.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    /// The names of the parties.
    pub names: &'a [String],
    /// The network properties of the parties.
    pub traits: &'a [PartyTraits],
}

impl<'a> Population<'a> {
    /// The position of a named party.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The group of the party at a position.
    #[must_use]
    pub fn group(&self, index: usize) -> Option<&'a str> {
        self.traits.get(index).and_then(|party| party.group.as_deref())
    }

    /// The names of all groups, in alphabetical order, each once.
    #[must_use]
    pub fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = self.traits.iter().filter_map(|party| party.group.clone()).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// A problem at `path` if no party has this name.
    pub(super) fn expect_party(&self, path: &str, name: &str) -> Option<Problem> {
        self.position(name).is_none().then(|| Problem::unknown(path, "party", name, self.names))
    }
}
