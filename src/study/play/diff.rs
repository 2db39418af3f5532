//! Compares two runs event by event up to the first event that differs, and finds the cause of this event in each run.

use crate::kernel::Memory;
use crate::protocols::{RunOptions, TraceEvent, TraceKind, TracedMessage, Watcher};
use crate::study::disk::folder::RunFolder;
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::{CellRunner, recorded};
use crate::study::play::progress::Failure;
use crate::vocab::{PartyId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// One of the two runs that are compared: one replication of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The plan of the study to which the run belongs.
    pub plan: &'a Plan,
    /// The cell.
    pub cell: usize,
    /// The replication.
    pub replication: u64,
    /// The folder of a stored run, whose recorded answers of programs are used; without a folder the programs are started.
    pub folder: Option<&'a RunFolder>,
}

/// The first difference between two runs.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The series.
    pub series: String,
    /// Number of the event in its series, from 1.
    pub number: u64,
    /// The event in the first run; absent if the series has fewer events in this run.
    pub left: Option<EventWithCause>,
    /// The event in the second run; absent if the series has fewer events in this run.
    pub right: Option<EventWithCause>,
}

/// An event and its cause.
#[derive(Clone, Debug, PartialEq)]
pub struct EventWithCause {
    /// The event.
    pub event: TraceEvent,
    /// Its cause.
    pub cause: Cause,
}

/// The cause of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The start of a party.
    Start(PartyId),
    /// A party handled the given message, which had been sent at the given time.
    Handled(TracedMessage, Time),
    /// A party's timer ran out.
    Timer(PartyId, String),
    /// A party's connection changed, or the party crashed or recovered: the party, and the further values of
    /// [`TraceKind::Switched`].
    Switched(PartyId, bool, Option<Memory>),
    /// The given message was sent at the given time, for the given cause.
    Sent(TracedMessage, Time, Box<Cause>),
    /// The party had set the timer that ran out.
    Set(PartyId),
    /// A change of the availability of the party, or an outage of its group.
    Availability(PartyId),
}

/// Simulates both runs at the same time, and compares them up to the first event that differs or up to `until`. `None` if
/// no event differs.
///
/// # Errors
/// The [`Failure`] of either run.
pub fn diff(left: Side<'_>, right: Side<'_>, until: Option<Time>) -> Result<Option<Divergence>, Failure> {
    std::thread::scope(|scope| {
        let play = |side: Side<'_>, sender: SyncSender<Batch>| {
            let outbox = Outbox { batch: Rc::default(), sender };
            let watcher = outbox.watcher();
            let cell = &side.plan.cells[side.cell];
            let mut runner = CellRunner::without_folder(side.cell, cell, side.plan);
            let mut options = RunOptions { until, ..RunOptions::default() };
            if let Some(folder) = side.folder.filter(|_| !cell.programs.is_empty()) {
                runner = runner.repeating(Some(folder));
                // Without the stored answers, programs would be asked again, and might answer something else.
                let records = folder.replications(side.cell).map_err(|error| Failure {
                    cell: side.cell,
                    point: cell.point.clone(),
                    replication: Some(side.replication),
                    reason: error.to_string(),
                    interrupted: false,
                })?;
                options.programs = records.get(&side.replication).map(recorded).unwrap_or_default();
            }
            let played = runner.play_with(side.replication, Some(watcher), options);
            outbox.flush();
            played.map(drop)
        };
        let (to_left, from_left) = sync_channel(BATCHES);
        let (to_right, from_right) = sync_channel(BATCHES);
        let one = scope.spawn(move || play(left, to_left));
        let other = scope.spawn(move || play(right, to_right));
        let found = compare(Inbox::new(from_left), Inbox::new(from_right));
        for player in [one, other] {
            // A panic in the thread of a run is passed on.
            match player.join() {
                Ok(played) => played?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(found)
    })
}

/// Number of events in a batch.
const BATCH: usize = 512;
/// Number of batches that may wait in the channel.
const BATCHES: usize = 8;

/// Name of a series.
type Name = Arc<str>;
type Batch = Vec<(Name, TraceEvent)>;

/// Sends one run's events in batches to the thread that compares them.
struct Outbox {
    batch: Rc<RefCell<Batch>>,
    sender: SyncSender<Batch>,
}

impl Outbox {
    fn watcher(&self) -> Watcher {
        let (batch, sender) = (Rc::clone(&self.batch), self.sender.clone());
        let mut name: Name = Name::from("");
        Watcher::of_contents(move |series, event| {
            if *name != *series {
                name = Name::from(series);
            }
            let mut batch = batch.borrow_mut();
            batch.push((Name::clone(&name), event));
            // After a difference has been found, there is no receiver, and the result `false` stops the run.
            batch.len() < BATCH || sender.send(std::mem::take(&mut batch)).is_ok()
        })
    }

    fn flush(&self) {
        // An error means that the comparing thread has stopped receiving, which is no failure.
        drop(self.sender.send(std::mem::take(&mut self.batch.borrow_mut())));
    }
}

/// The events of one run, in order.
struct Inbox {
    receiver: Receiver<Batch>,
    batch: std::vec::IntoIter<(Name, TraceEvent)>,
}

impl Inbox {
    fn new(receiver: Receiver<Batch>) -> Self {
        Self { receiver, batch: Vec::new().into_iter() }
    }

    fn next(&mut self) -> Option<(Name, TraceEvent)> {
        loop {
            if let Some(event) = self.batch.next() {
                return Some(event);
            }
            self.batch = self.receiver.recv().ok()?.into_iter();
        }
    }
}

fn compare(mut left: Inbox, mut right: Inbox) -> Option<Divergence> {
    let mut series = Name::from("");
    let mut number = 0;
    // While the events of both runs are equal, one history is valid for both.
    let mut history = History::default();
    loop {
        let (one, other) = (left.next(), right.next());
        if one.is_none() && other.is_none() {
            return None;
        }
        if one == other {
            let (name, event) = one?;
            if name != series {
                (series, number, history) = (name, 0, History::default());
            }
            number += 1;
            history.see(&event);
            continue;
        }
        // A series has ended if the next event belongs to another series.
        let both_elsewhere = [&one, &other].iter().all(|side| side.as_ref().is_none_or(|s| s.0 != series));
        if both_elsewhere && let Some((name, _)) = one.as_ref().or(other.as_ref()) {
            (series, number, history) = (Name::clone(name), 0, History::default());
        }
        let told = |side: Option<(Name, TraceEvent)>| {
            side.filter(|(name, _)| *name == series)
                .map(|(_, event)| EventWithCause { cause: history.cause(&event), event })
        };
        let (left, right) = (told(one), told(other));
        return Some(Divergence { series: series.to_string(), number: number + 1, left, right });
    }
}

/// The part of a run's state that determines causes: the handler that runs, and the cause of each message in flight.
#[derive(Debug, Default)]
struct History {
    /// The party whose handler runs, and its input.
    handling: Option<(PartyId, Cause)>,
    /// The cause of each message in flight, by sender, addressee and time of sending.
    travelling: BTreeMap<(PartyId, PartyId, Time), Cause>,
}

impl History {
    fn see(&mut self, event: &TraceEvent) {
        match &event.kind {
            TraceKind::Sent(parcel) => {
                let cause = self.handler(parcel.from);
                self.travelling.insert((parcel.from, parcel.to, event.at), cause);
            }
            TraceKind::Lost(parcel, _) => {
                let key = self.lost(parcel, event.at);
                key.and_then(|key| self.travelling.remove(&key));
            }
            TraceKind::Delivered(parcel, sent_at) => {
                self.travelling.remove(&(parcel.from, parcel.to, *sent_at));
                self.handling = Some((parcel.to, Cause::Handled(parcel.clone(), *sent_at)));
            }
            TraceKind::Handled(parcel, sent_at) => {
                self.handling = Some((parcel.to, Cause::Handled(parcel.clone(), *sent_at)));
            }
            TraceKind::TimerFired(party, timer) => {
                self.handling = Some((*party, Cause::Timer(*party, timer.clone())));
            }
            TraceKind::Switched(party, online, crashed) => {
                self.handling = Some((*party, Cause::Switched(*party, *online, *crashed)));
            }
            TraceKind::Doubled(_) | TraceKind::Recorded(..) => {}
        }
    }

    /// The input that a party is handling; the party's start if it is handling no other input.
    fn handler(&self, party: PartyId) -> Cause {
        match &self.handling {
            Some((at_work, cause)) if *at_work == party => cause.clone(),
            Some(_) | None => Cause::Start(party),
        }
    }

    /// The key in `travelling` of the message `parcel`, which was lost at the time `at`. If a message from the same sender
    /// to the same addressee was sent at this time, its key is returned. Otherwise the result is the key of the earliest
    /// message in flight from this sender to this addressee.
    fn lost(&self, parcel: &TracedMessage, at: Time) -> Option<(PartyId, PartyId, Time)> {
        let (from, to) = (parcel.from, parcel.to);
        if self.travelling.contains_key(&(from, to, at)) {
            return Some((from, to, at));
        }
        self.travelling.range((from, to, Time::ZERO)..=(from, to, at)).next().map(|(key, _)| *key)
    }

    fn cause(&self, event: &TraceEvent) -> Cause {
        let sent = |parcel: &TracedMessage, at: Time| {
            let why = self.travelling.get(&(parcel.from, parcel.to, at)).cloned();
            Cause::Sent(parcel.clone(), at, Box::new(why.unwrap_or_else(|| self.handler(parcel.from))))
        };
        match &event.kind {
            TraceKind::Sent(parcel) => self.handler(parcel.from),
            TraceKind::Recorded(party, _) => self.handler(*party),
            TraceKind::Lost(parcel, _) => {
                sent(parcel, self.lost(parcel, event.at).map_or(event.at, |(_, _, at)| at))
            }
            TraceKind::Doubled(parcel) => sent(parcel, event.at),
            TraceKind::Delivered(parcel, at) | TraceKind::Handled(parcel, at) => sent(parcel, *at),
            TraceKind::TimerFired(party, _) => Cause::Set(*party),
            TraceKind::Switched(party, ..) => Cause::Availability(*party),
        }
    }
}
