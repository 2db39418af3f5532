//! The world that a protocol is played in.

use crate::kernel::{Event, Protocol as KernelProtocol};
use crate::kernel::{KernelError, Limits, Party, Simulation};
use crate::network::{Network, NetworkMedium, PartyTraits};
use crate::objectives::{Instance, Prepared};
use crate::privacy::ledger::Budget;
use crate::rng::Key;
use crate::vocab::{PartyId, Problem, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{SeriesRecord, Watcher};

/// Parties' names, their network, and the objective.
#[derive(Debug)]
pub struct Stage {
    /// Names of all parties, in order of their ids.
    pub names: Vec<String>,
    /// Group, availability, speed and line of each party.
    pub traits: Vec<PartyTraits>,
    /// Everything between them.
    pub network: Network,
    /// What is to be optimised, in this replication.
    pub instance: Option<Instance>,
    /// Draws further problems of the same kind, for protocols whose parties have one each.
    pub prepared: Option<Arc<dyn Prepared>>,
    /// The most that may be learned, if there is a limit.
    pub budget: Option<Budget>,
    /// Sees every event of every series, if there is somebody to watch.
    pub watcher: Option<Watcher>,
}

/// A replication that cannot be finished.
#[derive(Debug)]
pub enum PlayError {
    /// The event loop cannot go on.
    Kernel {
        /// In which series.
        series: String,
        /// Why.
        error: KernelError,
    },
    /// A party cannot do its part.
    Party {
        /// In which series.
        series: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel { series, error } => write!(f, "series \"{series}\": {error}"),
            Self::Party { series, reason } => write!(f, "series \"{series}\": {reason}"),
        }
    }
}

impl std::error::Error for PlayError {}

impl PlayError {
    /// A problem of the scenario that `check` would have found.
    #[must_use]
    pub fn scenario(series: &str, problem: &Problem) -> Self {
        let reason = format!("the scenario is not valid at {}: {:?}", problem.path, problem.complaint);
        Self::Party { series: series.to_owned(), reason }
    }
}

impl Stage {
    /// The id of a named party.
    ///
    /// # Errors
    /// A [`Problem`] at `path` that lists the parties there are.
    pub fn party(&self, path: &str, name: &str) -> Result<PartyId, Problem> {
        let position = self.names.iter().position(|known| known == name);
        position
            .and_then(|index| u32::try_from(index).ok())
            .map(PartyId)
            .ok_or_else(|| Problem::unknown(path, "party", name, &self.names))
    }

    /// Plays one world from start to end below `key`; `watch` sees every event. The record's iterations and
    /// releases are left for the caller to fill in.
    ///
    /// # Errors
    /// [`PlayError::Kernel`] when the event loop cannot go on.
    pub fn run<P: KernelProtocol>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        watch: &mut dyn FnMut(Time, &Event<'_, P>),
    ) -> Result<SeriesRecord, PlayError> {
        assert_eq!(parties.len(), self.names.len(), "every party of the scenario takes part");
        let medium = self.network.medium(&self.names, &self.traits, key.child("network"));
        let statistics = medium.statistics();
        let mut simulation = Simulation::new(parties, Box::new(medium));
        let ending = match &self.watcher {
            None => simulation.run(Limits::default(), watch),
            Some(watcher) => simulation.run(Limits::default(), &mut |at, event| {
                watcher.see(series, at, event);
                watch(at, event);
            }),
        };
        ending.map_err(|error| PlayError::Kernel { series: series.to_owned(), error })?;
        let tally = simulation.journal().tally();
        Ok(SeriesRecord {
            name: series.to_owned(),
            iterations: Vec::new(),
            releases: Vec::new(),
            network: NetworkMedium::named_statistics(&statistics),
            virtual_seconds: simulation.now().seconds(),
            messages: tally.sent,
            messages_lost: tally.lost,
            messages_delivered: tally.delivered,
            bytes: tally.bytes,
            counts: BTreeMap::new(),
            ended_early: None,
            budget: None,
            groups: Vec::new(),
            outcomes: Vec::new(),
            jitter: 0.0,
            same_data: false,
            digest: simulation.journal().hex(),
        })
    }
}
