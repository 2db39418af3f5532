//! Parties, network and objective of one replication, and how it is run.

use crate::kernel::Event;
use crate::kernel::{CannotFork, Ending, KernelError, Limits, Party, Protocol as KernelProtocol, Simulation};
use crate::network::{Encryption, Network, NetworkMedium, PartyTraits, Relays};
use crate::objectives::{DataSource, Instance, Prepared};
use crate::privacy::ledger::Budget;
use crate::programs::Programs;
use crate::rng::Key;
use crate::vocab::{Observer, Origin, PartyId, Problem, PublicFact, Time};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::facts::{RecordsFacts, SharedFacts};
use super::failure::ReplicationError;
use super::fork_states::{Fork, ForkPoint, ForkStates, ForkedState};
use super::idle_party::IdleParty;
use super::record::CheckpointRecord;
use super::{Releases, Rounds, SeriesRecord, Watcher};

/// Largest number of relays of a series that are listed one by one; a larger number of relays is stated as one fact.
const NAMED_RELAYS: usize = 8;

/// The parties of one replication, their network, the objective, the budget and the options of the run.
#[derive(Debug)]
pub struct ReplicationSetup {
    /// Names of all parties, in order of their ids.
    pub names: Vec<String>,
    /// Group, availability, compute model and access line of each party.
    pub traits: Vec<PartyTraits>,
    /// The network between the parties.
    pub network: Network,
    /// The objective as drawn for this replication; `None` if the scenario has no objective.
    pub instance: Option<Instance>,
    /// Draws further functions of the same objective, for protocols in which each party has a function of its own.
    pub prepared: Option<Arc<dyn Prepared>>,
    /// The privacy budget, if there is one.
    pub budget: Option<Budget>,
    /// Called with every event of every series, if present.
    pub watcher: Option<Watcher>,
    /// Which part of the replication is run, and how.
    pub options: RunOptions,
}

/// Which part of a replication is run, and how. The default is all of it.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Stop before the first event later than this.
    pub until: Option<Time>,
    /// Dry run: parties exchange messages of the right sizes, but nothing is optimised.
    pub dry: bool,
    /// The fork, if several branches are run.
    pub fork: Option<Fork>,
    /// The user's programs that may be run. The first program that gives no answer ends the replication.
    pub programs: Programs,
}

impl ReplicationSetup {
    /// The setup of a replication with these parties, all always online, and without an objective. It is for Rust code that
    /// uses the library without a scenario; such code sets the fields for further settings.
    #[must_use]
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>, network: Network) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self {
            traits: vec![PartyTraits::default(); names.len()],
            names,
            network,
            instance: None,
            prepared: None,
            budget: None,
            watcher: None,
            options: RunOptions::default(),
        }
    }

    /// The fact that all inputs are public, for an objective whose arms are records. It holds in protocols in which
    /// parties other than the records' owner choose among the arms, since these parties know all inputs.
    #[must_use]
    pub(in crate::protocols) fn inputs_of_records(&self) -> Option<PublicFact> {
        let records = self.prepared.as_ref().is_some_and(|prepared| prepared.source() == DataSource::Records);
        records.then(|| PublicFact::new("the inputs of all records", Origin::ComputedFromData))
    }

    /// The fact that the records on which models are trained and validated are taken as public; `None` if the objective
    /// trains no models. All values of such an objective are computed from the same records, whichever party asks for a
    /// value. The fact is for protocols whose privacy losses are about outcomes, users or agents, and not about such a
    /// record.
    #[must_use]
    pub(in crate::protocols) fn records_of_models(&self) -> Option<PublicFact> {
        let tuning = self.instance.as_ref().is_some_and(|instance| instance.background.tuning.is_some());
        let what = "the records on which models are trained and validated: every value is computed from all of them, and no \
                    privacy loss about them is stated";
        tuning.then(|| PublicFact::new(what, Origin::Protocol))
    }

    /// The id of a named party.
    ///
    /// # Errors
    /// If there is no such party: a [`Problem`] that lists all parties, with `path` as the path of the scenario's field.
    pub fn party(&self, path: &str, name: &str) -> Result<PartyId, Problem> {
        let position = self.names.iter().position(|known| known == name);
        position
            .and_then(|index| u32::try_from(index).ok())
            .map(PartyId)
            .ok_or_else(|| Problem::unknown(path, "party", name, &self.names))
    }

    /// The objective as drawn for this replication.
    ///
    /// # Errors
    /// [`ReplicationError::NoObjective`] if the scenario has no objective.
    pub fn objective(&self, series: &str) -> Result<&Instance, ReplicationError> {
        self.instance.as_ref().ok_or_else(|| ReplicationError::NoObjective { series: series.to_owned() })
    }

    /// Whether this is a branch of a fork in which settings of the series differ from those before the fork, so that
    /// theorems about a whole run with the same settings do not apply.
    #[must_use]
    pub fn changes_at_fork(&self, series: &str) -> bool {
        self.options.fork.as_ref().is_some_and(|fork| fork.changes(series))
    }

    /// The parties of `parts` at the positions that their ids state, and idle parties at all other positions.
    #[must_use]
    pub fn all_parties<P: KernelProtocol>(
        &self,
        parts: impl IntoIterator<Item = (PartyId, Box<dyn Party<P>>)>,
    ) -> Vec<Box<dyn Party<P>>> {
        let mut parties: Vec<Box<dyn Party<P>>> = Vec::with_capacity(self.names.len());
        parties.resize_with(self.names.len(), || Box::new(IdleParty));
        for (id, party) in parts {
            parties[id.index()] = party;
        }
        parties
    }

    /// The routes of messages between the parties.
    #[must_use]
    pub fn relays(&self) -> Relays {
        self.network.relays(&self.names, &self.traits)
    }

    /// The relays that can read the messages between `one` party and any of the `others`, except relays that are
    /// `trusted` with the messages. In order of the parties' ids.
    #[must_use]
    pub fn read_between(&self, one: PartyId, others: &[PartyId], trusted: &[PartyId]) -> Vec<Observer> {
        if self.network.encryption == Encryption::EndToEnd {
            return Vec::new();
        }
        self.relays_between(one, others, trusted)
    }

    /// The relays of the messages between `one` party and any of the `others`, except relays that are `trusted`. Relays that
    /// cannot read the messages are included.
    #[must_use]
    pub fn relays_between(&self, one: PartyId, others: &[PartyId], trusted: &[PartyId]) -> Vec<Observer> {
        let mut relays = self.relays();
        let found: BTreeSet<PartyId> = others.iter().flat_map(|&other| relays.between(one, other)).collect();
        let found = found.into_iter().filter(|party| !trusted.contains(party));
        found.map(|party| Observer(self.names[party.index()].clone())).collect()
    }

    /// Runs one simulation from start to end. The network draws all its random numbers from a child of `key`. `watch` is
    /// called with every event. The record's iterations and releases are left for the caller to fill in.
    ///
    /// Depending on the [`RunOptions`] and the [`Watcher`], the simulation runs only up to the time `until`, only until the
    /// watcher ends it, or only from the point of a fork. In the last case, the watcher and `watch` first receive the facts
    /// recorded before the fork. With a fork, `until` and the watcher do not end the run.
    ///
    /// # Errors
    /// [`ReplicationError::Kernel`] if the event loop cannot continue, [`ReplicationError::EndedBeforeFork`] in a branch
    /// whose series ended before the fork, [`ReplicationError::NoRounds`] for a fork after a round if no round ended,
    /// [`ReplicationError::CannotFork`] if a party cannot be copied, [`ReplicationError::Program`] if a program gives no
    /// answer.
    ///
    /// # Panics
    /// If the number of `parties` differs from that of `names`.
    pub fn run<P: Rounds>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        watch: &mut dyn FnMut(Time, &Event<'_, P>),
    ) -> Result<SeriesRecord, ReplicationError> {
        assert_eq!(parties.len(), self.names.len(), "every party of the scenario takes part");
        let medium = || self.network.medium(&self.names, &self.traits, key.child("network"));
        let failed = |error| ReplicationError::Kernel { series: series.to_owned(), error };
        let until = self.options.until.unwrap_or(Time::NEVER);
        let enough = Cell::new(false);
        let mut see = |at: Time, event: &Event<'_, P>| {
            let seen = self.watcher.as_ref().is_some_and(|watcher| !watcher.see(series, at, event));
            if seen || self.options.programs.has_failed() {
                enough.set(true);
            }
            watch(at, event);
        };
        let simulation = match &self.options.fork {
            None => {
                let mut simulation = Simulation::new(parties, medium());
                resume(&mut simulation, until, &|| enough.get(), &mut see).map_err(failed)?;
                simulation
            }
            Some(Fork::Trunk(point, worlds)) => {
                let simulation = Simulation::new(parties, medium());
                self.trunk(simulation, (*point, worlds), series, &mut see)?
            }
            Some(Fork::Branch(worlds, _)) => {
                let Some(copied) = worlds.get::<P>(series) else {
                    return Err(ReplicationError::EndedBeforeFork { series: series.to_owned() });
                };
                let (at, ForkedState { mut world, facts }) =
                    copied.map_err(|error| self.cannot_fork(series, error))?;
                for (at, party, fact) in &facts {
                    see(*at, &Event::Recorded { party: *party, fact });
                }
                self.branch(&mut world, at, parties, &mut see).map_err(failed)?;
                world
            }
        };
        if let Some(failure) = self.options.programs.failure() {
            return Err(ReplicationError::Program { series: series.to_owned(), failure });
        }
        let same_data = self.prepared.as_ref().is_some_and(|prepared| prepared.source().is_same_in_all());
        let reached = self.options.fork.as_ref().and_then(|fork| fork.reached(series));
        let forked_at = reached.map(Time::seconds);
        Ok(SeriesRecord { same_data, forked_at, ..record(series, &simulation) })
    }

    /// Runs one simulation as [`Self::run`] does, for parties that record shared facts. The shared facts are put into the
    /// record, and `own` is called with each of the protocol's own facts. The argument `releases`, which must be empty,
    /// collects the releases; its variant states which releases share a ledger entry.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Panics
    /// As [`Self::run`].
    pub fn play<P: Rounds + RecordsFacts>(
        &self,
        series: &str,
        parties: Vec<Box<dyn Party<P>>>,
        key: Key,
        releases: Releases,
        own: &mut dyn FnMut(Time, &P::Own),
    ) -> Result<SeriesRecord, ReplicationError> {
        let mut shared = SharedFacts::new(releases);
        let mut record = self.run(series, parties, key, &mut |at, event: &Event<'_, P>| {
            if let Event::Recorded { fact, .. } = event
                && let Some(fact) = shared.keep(fact)
            {
                own(at, fact);
            }
        })?;
        shared.into_record(&mut record);
        Ok(record)
    }

    /// Runs to the fork, stores a copy of the simulation there, and continues to the end.
    fn trunk<P: Rounds>(
        &self,
        mut world: Simulation<P, NetworkMedium>,
        (point, worlds): (ForkPoint, &ForkStates),
        series: &str,
        see: &mut dyn FnMut(Time, &Event<'_, P>),
    ) -> Result<Simulation<P, NetworkMedium>, ReplicationError> {
        let failed = |error| ReplicationError::Kernel { series: series.to_owned(), error };
        let mut facts = Vec::new();
        let closed = Cell::new(None);
        let mut collect = |at: Time, event: &Event<'_, P>| {
            if let Event::Recorded { party, fact } = event {
                facts.push((at, *party, (*fact).clone()));
                closed.set(closed.get().max(P::closes(fact)));
            }
            see(at, event);
        };
        let (ending, at) = match point {
            ForkPoint::Round(round) => {
                let reached = || closed.get().is_some_and(|closed| closed >= round);
                let ending = resume(&mut world, Time::NEVER, &reached, &mut collect).map_err(failed)?;
                (ending, world.now())
            }
            ForkPoint::At(at) => {
                let at = Time::ZERO + at;
                // A fork at time 0 is before all events, including the start.
                let ending = match at.nanos().checked_sub(1) {
                    Some(before) => {
                        let until = Time::from_nanos(before);
                        resume(&mut world, until, &|| false, &mut collect).map_err(failed)?
                    }
                    None => None,
                };
                (ending.filter(|ending| *ending != Ending::TimeUp), at)
            }
        };
        if let (Some(_), ForkPoint::Round(_), None) = (ending, point, closed.get()) {
            return Err(ReplicationError::NoRounds { series: series.to_owned() });
        }
        if ending.is_none() {
            let copy = world.fork().map_err(|error| self.cannot_fork(series, error))?;
            worlds.keep(series, at, ForkedState { world: copy, facts });
            resume(&mut world, Time::NEVER, &|| false, see).map_err(failed)?;
        }
        Ok(world)
    }

    fn cannot_fork(&self, series: &str, error: CannotFork) -> ReplicationError {
        let (series, party) = (series.to_owned(), self.names[error.party.index()].clone());
        ReplicationError::CannotFork { series, party, reason: error.reason }
    }

    /// Changes a simulation to the settings of this setup from `at` on, and runs it to its end.
    fn branch<P: Rounds>(
        &self,
        world: &mut Simulation<P, NetworkMedium>,
        at: Time,
        parties: Vec<Box<dyn Party<P>>>,
        see: &mut dyn FnMut(Time, &Event<'_, P>),
    ) -> Result<(), KernelError> {
        let begun = world.has_begun();
        let switches = world.medium_mut().change(&self.network, &self.traits, at);
        world.adopt(parties);
        // A simulation that has not begun reads all connections at its start, so it needs no changes of connections here.
        for (party, switch) in switches.into_iter().filter(|_| begun) {
            if world.reconnect(party, switch, see).is_some() {
                return Ok(());
            }
        }
        resume(world, Time::NEVER, &|| false, see).map(drop)
    }
}

/// Continues until the simulation ends or the time `until` is reached, and returns which of the two happened; `None` if
/// `enough` returned true before.
fn resume<P: Rounds>(
    world: &mut Simulation<P, NetworkMedium>,
    until: Time,
    enough: &dyn Fn() -> bool,
    see: &mut dyn FnMut(Time, &Event<'_, P>),
) -> Result<Option<Ending>, KernelError> {
    let limits = Limits { until, ..Limits::default() };
    while !enough() {
        if let Some(ending) = world.step(limits, see)? {
            return Ok(Some(ending));
        }
    }
    Ok(None)
}

fn record<P: Rounds>(series: &str, world: &Simulation<P, NetworkMedium>) -> SeriesRecord {
    let counts = world.journal().counts();
    SeriesRecord {
        network: world.medium().statistics(),
        virtual_seconds: world.now().seconds(),
        messages: counts.sent,
        messages_lost: counts.lost,
        messages_delivered: counts.delivered,
        bytes: counts.bytes,
        public: learned_by_relays(world.medium()),
        checkpoints: world.journal().checkpoints().iter().map(CheckpointRecord::from).collect(),
        digest: world.journal().hex(),
        ..SeriesRecord::empty(series)
    }
}

/// The facts that relays learn because they relay messages.
fn learned_by_relays(medium: &NetworkMedium) -> Vec<PublicFact> {
    let names: Vec<&str> = medium.relays().collect();
    let what = match medium.encryption() {
        Encryption::EndToEnd => {
            "who sends to whom, when and how much, since it passes messages on; they are encrypted end to end, so it \
             learns nothing about their contents"
        }
        Encryption::None => {
            "all that is in the messages that it passes on, since they are not encrypted end to end; the ledger lists \
             the protected data among it"
        }
    };
    let fact = |known_to: &str| PublicFact::new(what, Origin::Protocol).for_observer(known_to);
    if names.len() <= NAMED_RELAYS {
        return names.into_iter().map(fact).collect();
    }
    vec![fact(&format!("each of {} parties that relay messages", names.len()))]
}
