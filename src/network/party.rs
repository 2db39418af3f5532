//! The state of a party in the network: its connection, its access line, and its work.

use super::availability::AvailabilityProcess;
use super::bandwidth::Sender;
use super::compute::ComputeModel;
use super::population::PartyTraits;
use super::throughput::RateCurve;
use crate::kernel::Switch;
use crate::rng::{Key, Stream};
use crate::vocab::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One reason why a party may be offline.
#[derive(Clone, Debug)]
struct Cause {
    /// `None` for the party's own availability, else the position of an outage in the network's list.
    outage: Option<usize>,
    process: Box<dyn AvailabilityProcess>,
    online: bool,
    next: Option<Switch>,
    /// The change after `next`; `None` if no change follows `next`, or if the change has not been computed.
    after: Option<Switch>,
    /// Whether `after` has been computed.
    asked: bool,
}

impl Cause {
    fn new(outage: Option<usize>, mut process: Box<dyn AvailabilityProcess>) -> Self {
        let online = process.starts_online();
        Self { outage, next: process.next_switch(), after: None, asked: false, online, process }
    }

    /// Applies the next change.
    fn advance(&mut self) {
        if let Some(switch) = self.next.take() {
            self.online = switch.online;
        }
        self.next = self.after.take();
        self.asked = false;
    }
}

/// A party's connection: the party is online while no cause makes it offline.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The party's own availability first, then the outages of its group.
    causes: Vec<Cause>,
    /// The cause whose next change was returned by [`Self::next_switch`] and has not been applied.
    announced: Option<usize>,
    /// If the last change of the party's own availability was a crash, what happens to the party's memory; else `None`.
    crashed: Option<crate::kernel::Memory>,
}

impl Connection {
    /// The connection of a party with this availability and these outages. Each outage comes with its position in the
    /// network's list of outages.
    pub(super) fn new(
        own: Box<dyn AvailabilityProcess>,
        outages: impl IntoIterator<Item = (usize, Box<dyn AvailabilityProcess>)>,
    ) -> Self {
        let outages = outages.into_iter().map(|(place, process)| Cause::new(Some(place), process));
        let causes = std::iter::once(Cause::new(None, own)).chain(outages).collect();
        Self { causes, announced: None, crashed: None }
    }

    pub(super) fn online(&self) -> bool {
        self.causes.iter().all(|cause| cause.online)
    }

    pub(super) fn receives(&mut self) -> bool {
        self.causes[0].process.receives()
    }

    /// Informs the party's availability that the party, at `now`, was given work that begins at `begins` and lasts for
    /// `for_time`. Returns true if the work may change the time of the connection's next change; [`Self::next_switch`] then
    /// returns the new next change.
    pub(super) fn works(&mut self, now: Time, begins: Time, for_time: Span) -> bool {
        let cause = &mut self.causes[0];
        if !cause.process.works(now, begins, for_time) {
            return false;
        }
        cause.next = cause.process.next_switch();
        cause.after = None;
        cause.asked = false;
        // The announced change has not happened, so it is not applied.
        self.announced = None;
        true
    }

    /// At the time `at`, replaces this connection by `fresh`: the party's connection under the settings that a fork changes
    /// to. `fresh` is advanced to `at`. A cause that both connections have, and for which `same` is true, keeps its
    /// present state and its random draws. Returns the state of the connection at `at`.
    pub(super) fn change_to(
        &mut self,
        mut fresh: Self,
        at: Time,
        same: impl Fn(Option<usize>) -> bool,
    ) -> Switch {
        // If the time of the announced change is at most `at`, the change has happened, so it is applied.
        if self.announced.is_some_and(|due| self.causes[due].next.is_some_and(|switch| switch.at <= at)) {
            self.apply();
        }
        fresh.forward(at);
        for cause in &mut fresh.causes {
            let known = self.causes.iter().position(|known| known.outage == cause.outage);
            if let Some(known) = known.filter(|_| same(cause.outage)) {
                std::mem::swap(cause, &mut self.causes[known]);
            }
        }
        if same(None) {
            fresh.crashed = self.crashed;
        }
        *self = fresh;
        self.forward(at);
        Switch { at, online: self.online(), crashed: self.crashed }
    }

    /// Applies all changes up to and including `at`.
    fn forward(&mut self, at: Time) {
        while self.causes.iter().filter_map(|cause| cause.next).any(|switch| switch.at <= at) {
            self.next_switch();
            self.apply();
        }
    }

    /// Applies the change that was announced last.
    fn apply(&mut self) {
        let Some(due) = self.announced.take() else { return };
        if due == 0 {
            self.crashed = self.causes[0].next.and_then(|switch| switch.crashed);
        }
        self.causes[due].advance();
    }

    /// Applies the change that was announced last. Then announces the next change of any cause: returns the time of this
    /// change and the state of the connection after it. The state may be the same as before the change. Returns `None` if no
    /// more changes follow.
    pub(super) fn next_switch(&mut self) -> Option<Switch> {
        self.apply();
        let due = (0..self.causes.len())
            .filter_map(|index| Some((self.causes[index].next?.at, index)))
            .min()
            .map(|(_, index)| index)?;
        self.announced = Some(due);
        let cause = &mut self.causes[due];
        if !cause.asked {
            cause.after = cause.process.next_switch();
            cause.asked = true;
        }
        let switch = cause.next?;
        let others = self.causes.iter().enumerate().all(|(index, cause)| index == due || cause.online);
        let crashed = if due == 0 { switch.crashed } else { self.crashed };
        Some(Switch { at: switch.at, online: switch.online && others, crashed })
    }
}

/// A party's access line to the network.
#[derive(Clone, Debug)]
pub(super) struct AccessLine {
    rate: Option<RateCurve>,
    sender: Sender,
}

impl AccessLine {
    pub(super) fn new(rate: Option<RateCurve>) -> Self {
        Self { rate, sender: Sender::default() }
    }

    /// Changes the rate for messages that reach the line later; messages in the queue are sent at the old rate.
    pub(super) fn change(&mut self, rate: Option<RateCurve>) {
        self.rate = rate;
    }

    pub(super) fn limited(&self) -> bool {
        self.rate.is_some()
    }

    /// The time at which a message that reaches the line at `now` has passed it. Calls must be in order of time.
    pub(super) fn departure(&mut self, now: Time, bytes: u64) -> Time {
        match &self.rate {
            Some(rate) => self.sender.send(now, bytes, rate).1,
            None => now,
        }
    }
}

/// A party's work on the messages that it receives. The party's servers take jobs from one queue, and each server works on
/// one job at a time.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    model: ComputeModel,
    slowness: f64,
    stream: Stream,
    /// For each server that has worked, the time at which it becomes free, the earliest first. A server without an entry is
    /// free.
    free_at: BinaryHeap<Reverse<Time>>,
}

impl Worker {
    /// A worker without pending jobs; `None` for a party whose jobs take no time. `network` is the network's node of the
    /// seed tree.
    pub(super) fn new(party: &PartyTraits, name: &str, network: Key) -> Option<Self> {
        let model = party.compute.clone();
        if model.as_dyn().is_instant() {
            return None;
        }
        let mut stream = network.child("compute").child(name).stream();
        let drawn = stream.open_uniform();
        let device = party.device(name, network, drawn);
        let slowness = model.as_dyn().slowness_numbered(party.number, device);
        Some(Self { model, slowness, stream, free_at: BinaryHeap::new() })
    }

    /// The model and the slowness of `other`, with this worker's random stream and pending work. If `other` has fewer
    /// servers, the servers that become free first are removed when the next job arrives.
    pub(super) fn change_to(self, other: Self) -> Self {
        Self { model: other.model, slowness: other.slowness, ..self }
    }

    /// Drops all jobs: every server is free.
    pub(super) fn drop_jobs(&mut self) {
        self.free_at.clear();
    }

    /// How long a job of `work` units takes, and the time from `now` until it is done, including its wait for a free server.
    pub(super) fn occupied(&mut self, work: f64, now: Time) -> (Span, Span) {
        let (length, slowdown_draw) = (self.stream.open_uniform(), self.stream.uniform());
        let unit = self.model.as_dyn().job(self.slowness, length, slowdown_draw);
        let job = if work == 1.0 { unit } else { Span::from_seconds(unit.seconds() * work) };
        let most = self.model.as_dyn().servers() as usize;
        while self.free_at.len() > most {
            self.free_at.pop();
        }
        let idle = self.free_at.peek().is_some_and(|free| free.0 <= now);
        let begins = match self.free_at.len() == most || idle {
            true => self.free_at.pop().map_or(now, |free| free.0.max(now)),
            false => now,
        };
        let done = begins + job;
        self.free_at.push(Reverse(done));
        (job, done - now)
    }
}
