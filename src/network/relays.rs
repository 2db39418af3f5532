//! Relays: which parties relay messages, and whether they can read the messages.

use super::links::{Encryption, Network};
use super::population::{PartyTraits, Population};
use super::topology::Routes;
use crate::vocab::PartyId;

/// The routes of messages in a network, and the relays on them.
#[derive(Debug)]
pub struct Relays {
    routes: Routes,
    encryption: Encryption,
}

impl Network {
    /// The relays on the routes between parties. The id of a party is its position in `names`.
    #[must_use]
    pub fn relays(&self, names: &[String], traits: &[PartyTraits]) -> Relays {
        Relays::new(self, names, traits)
    }
}

impl Relays {
    fn new(network: &Network, names: &[String], traits: &[PartyTraits]) -> Self {
        let population = Population { names, traits };
        Self { routes: network.routes(&population), encryption: network.encryption }
    }

    /// The relays of messages between these two parties in either direction, in order of their ids, without the two
    /// parties themselves. Routes do not depend on which parties are online, so the relays are the same at all times.
    pub fn between(&mut self, one: PartyId, other: PartyId) -> Vec<PartyId> {
        let mut found = self.on_the_way(one, other);
        found.extend(self.on_the_way(other, one));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The relays between these two parties that can read the messages: none if messages are encrypted end to end.
    pub fn reading(&mut self, one: PartyId, other: PartyId) -> Vec<PartyId> {
        match self.encryption {
            Encryption::EndToEnd => Vec::new(),
            Encryption::None => self.between(one, other),
        }
    }

    fn on_the_way(&mut self, from: PartyId, to: PartyId) -> Vec<PartyId> {
        let mut found = Vec::new();
        let mut at = from;
        while let Some(next) = self.routes.next(at, to).filter(|next| *next != to) {
            found.push(next);
            at = next;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::{Edges, Star};
    use super::super::{Link, TopologyModel};
    use super::*;

    const NOBODY: [Vec<u32>; 2] = [Vec::new(), Vec::new()];

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|index| format!("p{index}")).collect()
    }

    fn between(topology: TopologyModel, encryption: Encryption, ends: (u32, u32)) -> [Vec<u32>; 2] {
        let names = names(4);
        let traits = vec![PartyTraits::default(); 4];
        let network = Network { encryption, ..Network::new(topology, Link::default()) };
        let mut relays = network.relays(&names, &traits);
        let ids = |found: Vec<PartyId>| found.into_iter().map(|party| party.0).collect();
        let (one, other) = (PartyId(ends.0), PartyId(ends.1));
        [ids(relays.between(one, other)), ids(relays.reading(one, other))]
    }

    #[test]
    fn the_hub_of_a_star_relays_between_its_leaves() {
        let star = || TopologyModel::from(Star { hub: "p1".to_owned() });
        assert_eq!(between(star(), Encryption::EndToEnd, (0, 3)), [vec![1], vec![]]);
        assert_eq!(between(star(), Encryption::None, (0, 3)), [vec![1], vec![1]]);
        assert_eq!(between(star(), Encryption::None, (1, 3)), NOBODY, "the hub itself is no third party");
    }

    #[test]
    fn every_party_between_the_ends_of_a_route_is_a_relay() {
        let pair = |a: usize, b: usize| (format!("p{a}"), format!("p{b}"));
        let chain = || TopologyModel::from(Edges(vec![pair(0, 2), pair(2, 1), pair(1, 3)]));
        assert_eq!(between(chain(), Encryption::None, (0, 3)), [vec![1, 2], vec![1, 2]]);
        // Without a route there are no relays.
        let islands = TopologyModel::from(Edges(vec![pair(0, 1), pair(2, 3)]));
        assert_eq!(between(islands, Encryption::None, (0, 3)), NOBODY);
    }
}
