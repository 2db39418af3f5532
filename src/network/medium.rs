//! The network at work: draws each message's latency and loss, and follows each party's availability.

use super::availability::{AvailabilityModel, AvailabilityProcess};
use super::latency::LatencyModel;
use super::loss::LossProcess;
use super::topology::route;
use super::{LinkStatistics, Network, NetworkStatistics};
use crate::kernel::{Fate, LossCause, Medium, Parcel, Switch};
use crate::rng::{Key, Stream};
use crate::vocab::{PartyId, Span};
use petgraph::graph::UnGraph;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where a medium leaves its statistics, readable after the simulation has taken the medium.
pub type StatisticsHandle = Rc<RefCell<BTreeMap<(PartyId, PartyId), LinkStatistics>>>;

#[derive(Debug)]
struct LinkProcess {
    latency: LatencyModel,
    loss: Box<dyn LossProcess>,
    /// Two words per message, latency then loss, whatever the models: message k always takes words 2k and 2k+1.
    stream: Stream,
}

/// A [`Medium`] made from a scenario's network.
#[derive(Debug)]
pub struct NetworkMedium {
    network: Network,
    names: Vec<String>,
    graph: UnGraph<(), ()>,
    key: Key,
    availability: Vec<Box<dyn AvailabilityProcess>>,
    links: BTreeMap<(PartyId, PartyId), LinkProcess>,
    routes: BTreeMap<(PartyId, PartyId), Option<Vec<PartyId>>>,
    statistics: StatisticsHandle,
}

impl NetworkMedium {
    pub(super) fn new(
        network: &Network,
        names: &[String],
        availability: &[AvailabilityModel],
        key: Key,
    ) -> Self {
        let processes = names
            .iter()
            .zip(availability)
            .map(|(name, model)| model.as_dyn().start(key.child("availability").child(name).stream()))
            .collect();
        Self {
            network: network.clone(),
            names: names.to_vec(),
            graph: network.topology.graph(names),
            key,
            availability: processes,
            links: BTreeMap::new(),
            routes: BTreeMap::new(),
            statistics: StatisticsHandle::default(),
        }
    }

    /// Where the statistics will be.
    #[must_use]
    pub fn statistics(&self) -> StatisticsHandle {
        Rc::clone(&self.statistics)
    }

    /// The statistics with the parties' names.
    #[must_use]
    pub fn named_statistics(handle: &StatisticsHandle, names: &[String]) -> NetworkStatistics {
        let links = handle
            .borrow()
            .iter()
            .map(|((from, to), link)| (names[from.index()].clone(), names[to.index()].clone(), link.clone()))
            .collect();
        NetworkStatistics { links }
    }

    fn hops(&mut self, from: PartyId, to: PartyId) -> Option<Vec<PartyId>> {
        if let Some(known) = self.routes.get(&(from, to)) {
            return known.clone();
        }
        let found = route(&self.graph, from, to, |a, b| {
            let link = self.network.link(&self.names[a.index()], &self.names[b.index()]);
            link.latency.as_dyn().mean_seconds()
        });
        self.routes.insert((from, to), found.clone());
        found
    }

    /// The delay along one link, or `None` if the link drops the message.
    fn cross(&mut self, from: PartyId, to: PartyId) -> Option<Span> {
        let (network, names, key) = (&self.network, &self.names, &self.key);
        let process = self.links.entry((from, to)).or_insert_with(|| {
            let (from, to) = (&names[from.index()], &names[to.index()]);
            let link = network.link(from, to);
            LinkProcess {
                latency: link.latency,
                loss: link.loss.as_dyn().start(),
                stream: key.child("link").child(from).child(to).stream(),
            }
        });
        let delay = process.latency.as_dyn().quantile(process.stream.open_uniform());
        let dropped = process.loss.drops(process.stream.uniform());
        let mut statistics = self.statistics.borrow_mut();
        let statistics = statistics.entry((from, to)).or_default();
        if dropped {
            statistics.lost();
            return None;
        }
        statistics.took(delay.nanos());
        Some(delay)
    }
}

impl Medium for NetworkMedium {
    fn transmit(&mut self, parcel: Parcel) -> Fate {
        let Some(hops) = self.hops(parcel.from, parcel.to) else { return Fate::Lost(LossCause::NoRoute) };
        let mut arrival = parcel.at;
        for hop in hops.windows(2) {
            match self.cross(hop[0], hop[1]) {
                Some(delay) => arrival = arrival + delay,
                None => return Fate::Lost(LossCause::Link),
            }
        }
        Fate::Arrives(arrival)
    }

    fn hears(&mut self, party: PartyId) -> bool {
        self.availability[party.index()].hears()
    }

    fn starts_online(&mut self, party: PartyId) -> bool {
        self.availability[party.index()].starts_online()
    }

    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        self.availability[party.index()].next_switch()
    }
}
