//! The network during a run: the route of each message, and each party's connection and work.
//!
//! A message waits for the access line of its sender, crosses a link, and waits for the access line of the party at the
//! other end. Each relay sends the message on in the same way, until the message reaches its addressee. If the route has no
//! relay and the addressee's access line has no limit, the arrival time is known when the message is sent.

use super::bandwidth::Bandwidth;
use super::lines::{access_lines, access_rate, link_rate};
use super::link_process::{Crossing, LinkProcess};
use super::links::Network;
use super::pair_index::LinkIndex;
use super::party::{AccessLine, Connection, Worker};
use super::population::{PartyTraits, Population};
use super::statistics::{Labels, LinkStatistics, NetworkStatistics, StatisticsTable};
use super::together::PartyQuantity;
use super::topology::{Routes, Shape};
use crate::kernel::{Delivery, LossCause, Medium, MessageHeader, Switch};
use crate::rng::Key;
use crate::vocab::{PartyId, Span, Time};

/// The value of the field `leg` of a [`Delivery`] for a message that has reached a party and waits for the party's access
/// line.
const AT_ACCESS_LINE: u8 = 0;
/// The value of `leg` for a message that a relay has received and will send on.
const INSIDE: u8 = 1;

/// A [`Medium`] made from a scenario's network.
#[derive(Clone, Debug)]
pub struct NetworkMedium {
    network: Network,
    names: Vec<String>,
    traits: Vec<PartyTraits>,
    key: Key,
    routes: Routes,
    connections: Vec<Connection>,
    workers: Vec<Option<Box<Worker>>>,
    up: Vec<AccessLine>,
    down: Vec<AccessLine>,
    places: LinkIndex,
    links: Vec<LinkProcess>,
    statistics: StatisticsTable,
    /// Parties that have relayed a message.
    relays: Vec<bool>,
    /// Whether the last work that was given to a party may have changed the time at which this party's connection next
    /// changes.
    replanned: bool,
}

/// A party's connection, as it begins at time zero.
fn connection(network: &Network, name: &str, party: &PartyTraits, key: Key) -> Connection {
    let stream = key.child("availability").child(name).stream();
    let own = match party.level(PartyQuantity::Availability, name, key) {
        Some(level) => party.availability.as_dyn().start_at(level, stream),
        None => party.availability.as_dyn().start_numbered(party.number, stream),
    };
    let shared = party.group.iter().flat_map(|group| {
        network.outages.iter().enumerate().filter_map(move |(index, outage)| {
            let stream = key.child("outage").child(group).index(index as u64).stream();
            Some((index, outage.as_dyn().connection(group, stream)?))
        })
    });
    Connection::new(own, shared)
}

impl Network {
    /// The medium for parties in the order of `names`; `key` is the node of the seed tree for the network.
    #[must_use]
    pub fn medium(&self, names: &[String], traits: &[PartyTraits], key: Key) -> NetworkMedium {
        NetworkMedium::new(self, names, traits, key)
    }
}

impl NetworkMedium {
    fn new(network: &Network, names: &[String], traits: &[PartyTraits], key: Key) -> Self {
        let population = Population { names, traits };
        let connections = names.iter().zip(traits).map(|(name, party)| connection(network, name, party, key));
        let workers =
            names.iter().zip(traits).map(|(name, party)| Worker::new(party, name, key).map(Box::new));
        let routes = network.routes(&population);
        let labels = Labels::new(&network.topology, &population);
        let hub = match network.topology.as_dyn().shape(&population) {
            Shape::Star(hub) => Some(hub),
            Shape::Complete | Shape::Graph => None,
        };
        let places = LinkIndex::new(names.len(), hub);
        Self {
            network: network.clone(),
            names: names.to_vec(),
            traits: traits.to_vec(),
            routes,
            connections: connections.collect(),
            workers: workers.collect(),
            up: access_lines(names, traits, key, "up", |access| &access.up),
            down: access_lines(names, traits, key, "down", |access| &access.down),
            key,
            places,
            links: Vec::new(),
            statistics: StatisticsTable::new(labels),
            relays: vec![false; names.len()],
            replanned: false,
        }
    }

    /// Names of the parties that have relayed a message so far.
    pub(crate) fn relays(&self) -> impl Iterator<Item = &str> {
        self.names.iter().zip(&self.relays).filter(|(_, relays)| **relays).map(|(name, _)| name.as_str())
    }

    /// How messages are encrypted, which determines whether relays can read them.
    pub(crate) fn encryption(&self) -> super::Encryption {
        self.network.encryption
    }

    /// The measurements so far, with the names of the parties, or of their groups if there are many parties.
    #[must_use]
    pub fn statistics(&self) -> NetworkStatistics {
        self.statistics.named()
    }

    /// At the time `at`, becomes the medium of another network with the same parties. The random streams of links and
    /// compute times continue where they are, so that whatever does not change uses the same random numbers in both
    /// networks. A message in transit still arrives at the end of its present link, or is lost there, as decided before. An
    /// availability or an outage that changes is simulated again from time zero to `at`, with its random stream from the
    /// beginning. Availabilities and outages that do not change continue.
    ///
    /// If an outage changes, returns all parties, also those that no outage affects. If no outage changes, returns the
    /// parties whose availability changes and, if there are outages, the parties whose group changes. Each party comes with
    /// the state of its connection at `at`.
    pub(crate) fn change(
        &mut self,
        network: &Network,
        traits: &[PartyTraits],
        at: Time,
    ) -> Vec<(PartyId, Switch)> {
        let names = std::mem::take(&mut self.names);
        let (old, new) =
            (Population { names: &names, traits: &self.traits }, Population { names: &names, traits });
        for link in &mut self.links {
            let (from, to) = (link.ends.0.index(), link.ends.1.index());
            let key = self.key.child("link").child(&names[from]).child(&names[to]);
            let changed = network.link(&new, from, to);
            let rate = |bandwidth: &Bandwidth| link_rate(bandwidth, &names, traits, link.ends, self.key);
            let rate = changed.bandwidth.as_ref().map(rate);
            link.change(&self.network.link(&old, from, to), changed, rate, key);
        }
        let mut switches = Vec::new();
        for (index, party) in traits.iter().enumerate() {
            let before = &self.traits[index];
            let same = |outage: Option<usize>| match outage {
                None => before.availability == party.availability,
                Some(place) => {
                    before.group == party.group
                        && self.network.outages.get(place) == network.outages.get(place)
                }
            };
            let of_group = 0..self.network.outages.len().max(network.outages.len());
            if !same(None) || of_group.into_iter().any(|place| !same(Some(place))) {
                let id = PartyId(u32::try_from(index).expect("fewer than 2^32 parties"));
                let fresh = connection(network, &names[index], party, self.key);
                switches.push((id, self.connections[index].change_to(fresh, at, same)));
            }
            if before.compute != party.compute {
                let fresh = Worker::new(party, &names[index], self.key);
                self.workers[index] = match (self.workers[index].take(), fresh) {
                    (Some(worker), Some(fresh)) => Some(Box::new(worker.change_to(fresh))),
                    (_, fresh) => fresh.map(Box::new),
                };
            }
            let name = &names[index];
            self.up[index].change(access_rate(&party.access.up, name, party, self.key, "up"));
            self.down[index].change(access_rate(&party.access.down, name, party, self.key, "down"));
        }
        if self.network.topology != network.topology
            || self.network.links != network.links
            || self.network.default != network.default
        {
            self.routes = network.routes(&new);
        }
        self.network = network.clone();
        self.traits = traits.to_vec();
        self.names = names;
        switches
    }

    /// The index of a link's process. The process is created when it is first needed.
    fn place(&mut self, from: PartyId, to: PartyId) -> usize {
        if let Some(place) = self.places.get(from, to) {
            return place;
        }
        let population = Population { names: &self.names, traits: &self.traits };
        let link = self.network.link(&population, from.index(), to.index());
        let key = self.key.child("link").child(&self.names[from.index()]).child(&self.names[to.index()]);
        let rate = link.bandwidth.as_ref();
        let rate =
            rate.map(|bandwidth| link_rate(bandwidth, &self.names, &self.traits, (from, to), self.key));
        let row = self.statistics.row(from, to);
        self.links.push(LinkProcess::new(link, rate, key, (row, (from, to))));
        self.places.insert(from, to, self.links.len() - 1);
        self.links.len() - 1
    }

    fn cut(&self, from: PartyId, to: PartyId, at: Time) -> bool {
        let group = |party: PartyId| self.traits[party.index()].group.as_deref();
        self.network.outages.iter().any(|outage| outage.as_dyn().cuts(group(from), group(to), at))
    }

    /// Sends a message that enters the link from `from` to `to` at `now`, and records the result in the statistics.
    fn cross(&mut self, from: PartyId, to: PartyId, bytes: u64, now: Time) -> Crossing {
        let cut = !self.network.outages.is_empty() && self.cut(from, to, now);
        let place = self.place(from, to);
        let link = &mut self.links[place];
        let crossing = link.cross(bytes, now, cut);
        let row: &mut LinkStatistics = self.statistics.at(link.row);
        match crossing {
            Ok((arrival, _)) => row.took((arrival - now).nanos()),
            Err(_) => row.lost(),
        }
        crossing
    }

    /// Sends a message on from the party `at`: the message's sender, or a relay.
    fn forward(&mut self, parcel: MessageHeader, at: PartyId, now: Time) -> Delivery {
        let Some(next) = self.routes.next(at, parcel.to) else {
            return if at == parcel.to { Delivery::Arrives(now) } else { Delivery::Lost(LossCause::NoRoute) };
        };
        self.relays[at.index()] |= at != parcel.from;
        let departure = self.up[at.index()].departure(now, parcel.bytes);
        let leg = if self.down[next.index()].limited() {
            Some(AT_ACCESS_LINE)
        } else {
            (next != parcel.to).then_some(INSIDE)
        };
        match (self.cross(at, next, parcel.bytes, departure), leg) {
            (Err(cause), _) => Delivery::Lost(cause),
            (Ok((arrival, None)), None) => Delivery::Arrives(arrival),
            (Ok((arrival, None)), Some(leg)) => Delivery::Passes { at: arrival, via: next, leg },
            (Ok((arrival, Some(copy))), leg) => Delivery::Doubled { at: [arrival, copy], via: next, leg },
        }
    }
}

impl Medium for NetworkMedium {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        self.forward(parcel, parcel.from, parcel.at)
    }

    fn proceed(&mut self, parcel: MessageHeader, via: PartyId, leg: u8, now: Time) -> Delivery {
        if leg == INSIDE {
            return self.forward(parcel, via, now);
        }
        let at = self.down[via.index()].departure(now, parcel.bytes);
        if via == parcel.to { Delivery::Arrives(at) } else { Delivery::Passes { at, via, leg: INSIDE } }
    }

    fn occupied(&mut self, party: PartyId, work: f64, now: Time) -> Span {
        match &mut self.workers[party.index()] {
            Some(worker) => {
                let (busy, occupied) = worker.occupied(work, now);
                let begins = now + Span::from_nanos(occupied.nanos().saturating_sub(busy.nanos()));
                self.replanned = self.connections[party.index()].works(now, begins, busy);
                occupied
            }
            None => Span::ZERO,
        }
    }

    fn replanned(&mut self, _: PartyId) -> bool {
        std::mem::take(&mut self.replanned)
    }

    fn drops_jobs(&mut self, party: PartyId) {
        if let Some(worker) = &mut self.workers[party.index()] {
            worker.drop_jobs();
        }
    }

    fn receives(&mut self, party: PartyId, _: Time) -> bool {
        self.connections[party.index()].receives()
    }

    fn starts_online(&mut self, party: PartyId) -> bool {
        self.connections[party.index()].online()
    }

    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        self.connections[party.index()].next_switch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::availability::{AvailabilityModel, OnOff, PerMessage};
    use crate::network::latency::{Constant, Exponential};
    use crate::network::links::Link;
    use crate::network::outage::Blackout;
    use crate::network::topology::Mesh;
    use crate::vocab::Probability;

    /// The network has two parties that receive each message with probability 1/2, a third party that is alternately online
    /// and offline, and two blackouts of one group. If only a blackout changes, everything else continues as in the
    /// unchanged network.
    #[test]
    fn a_fork_that_changes_a_blackout_leaves_all_else_as_it_was() {
        let network = |until: u64| {
            let mut network = Network::new(Mesh {}.into(), Link::default());
            let down = |from, until| Blackout { group: "b".to_owned(), from: ms(from), until: ms(until) };
            network.outages = vec![down(10, 20).into(), down(60, until).into()];
            network
        };
        fn ms(ms: u64) -> Span {
            Span::from_millis(ms)
        }
        let turns = || OnOff::new(Exponential { mean: ms(9) }.into(), Constant(ms(1)).into());
        let heard = PerMessage { heard: Probability::new(0.5).unwrap() };
        let party = |group: &str, availability: AvailabilityModel| PartyTraits {
            group: Some(group.to_owned()),
            availability,
            ..PartyTraits::default()
        };
        let traits = [party("a", heard.into()), party("a", turns().into()), party("b", heard.into())];
        let names = ["p", "q", "r"].map(str::to_owned);
        let mut plain = network(70).medium(&names, &traits, Key::root(3));
        let all = [PartyId(0), PartyId(1), PartyId(2)];
        // Advances to 50 ms as the kernel does: it asks for a party's next change when the party's previous change occurs.
        let mut pending: Vec<Option<Switch>> = all.iter().map(|&id| plain.next_switch(id)).collect();
        for (id, next) in all.into_iter().zip(&mut pending) {
            while next.is_some_and(|switch| switch.at <= Time::ZERO + ms(50)) {
                *next = plain.next_switch(id);
            }
        }
        for _ in 0..9 {
            plain.receives(PartyId(0), Time::ZERO);
            plain.receives(PartyId(2), Time::ZERO);
        }
        let mut forked = plain.clone();
        let at = Time::ZERO + ms(50);
        let switches = forked.change(&network(90), &traits, at);
        assert!(switches.iter().all(|(_, switch)| switch.at == at));
        assert!(switches.iter().all(|(id, switch)| *id == PartyId(1) || switch.online), "{switches:?}");
        for id in [PartyId(0), PartyId(2)] {
            let draws = |medium: &mut NetworkMedium| {
                (0..40).map(|_| medium.receives(id, Time::ZERO)).collect::<Vec<_>>()
            };
            assert_eq!(draws(&mut forked), draws(&mut plain), "{id:?}");
        }
        let changed = switches.iter().any(|(id, _)| *id == PartyId(1));
        for _ in 0..50 {
            let next = forked.next_switch(PartyId(1));
            assert_eq!(next, pending[1], "the next change; reported as changed: {changed}");
            pending[1] = plain.next_switch(PartyId(1));
        }
        let of_blackout: Vec<_> = (0..2).map(|_| forked.next_switch(PartyId(2)).unwrap()).collect();
        let time = |ms_: u64| Time::ZERO + ms(ms_);
        assert_eq!(of_blackout, [Switch::connection(time(60), false), Switch::connection(time(90), true)]);
        assert_eq!(forked.next_switch(PartyId(2)), None);
    }
}
