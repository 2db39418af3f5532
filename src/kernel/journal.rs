//! The journal: it counts all events except [`Event::Handled`] and hashes them, in order, into a digest.

use super::{Digest, Digestible, LossCause, Memory, Payload, Protocol};
use crate::vocab::{PartyId, Time};

/// One event.
#[derive(Debug)]
pub enum Event<'a, P: Protocol> {
    /// A party sent a message. This is also recorded if the party was offline; the message is then lost.
    Sent {
        /// Sender.
        from: PartyId,
        /// Addressee.
        to: PartyId,
        /// Contents.
        message: &'a P::Message,
    },
    /// A message was lost; [`LossCause`] lists the possible causes.
    Lost {
        /// Sender.
        from: PartyId,
        /// Addressee.
        to: PartyId,
        /// Contents.
        message: &'a P::Message,
        /// The cause of the loss.
        cause: LossCause,
    },
    /// A message reached its addressee.
    Delivered {
        /// Sender.
        from: PartyId,
        /// Addressee.
        to: PartyId,
        /// Contents.
        message: &'a P::Message,
        /// When the message had been sent.
        sent_at: Time,
    },
    /// The compute time of a message that was delivered earlier has passed, and the addressee's handler runs. Only the
    /// callback that observes the simulation gets this event: the journal has recorded the delivery already.
    Handled {
        /// Sender.
        from: PartyId,
        /// Addressee.
        to: PartyId,
        /// Contents.
        message: &'a P::Message,
        /// When the message had been sent.
        sent_at: Time,
    },
    /// A timer ran out.
    TimerFired {
        /// The party.
        party: PartyId,
        /// The timer.
        timer: &'a P::Timer,
    },
    /// A party's connection changed, or the party crashed or recovered.
    Switched {
        /// The party.
        party: PartyId,
        /// Whether the party is connected from now on.
        online: bool,
        /// What remains of the party's memory if the party is crashed from now on; else `None`.
        crashed: Option<Memory>,
    },
    /// The network duplicated a message; the copy travels on like the original.
    Doubled {
        /// Sender.
        from: PartyId,
        /// Addressee.
        to: PartyId,
        /// Contents.
        message: &'a P::Message,
    },
    /// A party recorded a fact.
    Recorded {
        /// The party.
        party: PartyId,
        /// The fact.
        fact: &'a P::Fact,
    },
}

/// Counts from the start of a simulation. Between two events, `sent + doubled = delivered + lost + in flight`
/// (`Simulation::in_flight`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Messages sent, without copies.
    pub sent: u64,
    /// Copies that the network made.
    pub doubled: u64,
    /// Messages delivered, copies included.
    pub delivered: u64,
    /// Messages lost, copies included, whatever the cause.
    pub lost: u64,
    /// Bytes of all messages sent, without copies.
    pub bytes: u64,
    /// Events of every kind except [`Event::Handled`].
    pub events: u64,
}

/// Largest number of checkpoints that are stored.
const CHECKPOINTS: usize = 32;

/// The digest after some number of events. A comparison of checkpoints shows where two runs begin to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Number of events up to the checkpoint.
    pub events: u64,
    /// Virtual time of the last of these events.
    pub at: Time,
    /// First 64 bits of the digest of these events.
    pub digest: u64,
}

/// Digest and counts of one simulation.
#[derive(Clone, Debug)]
pub struct Journal {
    digest: Digest,
    digesting: bool,
    counts: EventCounts,
    /// One checkpoint for every `every` events. When there would be more checkpoints than [`CHECKPOINTS`], every second one
    /// is dropped, and `every` is doubled.
    checkpoints: Vec<Checkpoint>,
    every: u64,
    next_checkpoint: u64,
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            digest: Digest::default(),
            digesting: true,
            counts: EventCounts::default(),
            checkpoints: Vec::with_capacity(CHECKPOINTS),
            every: 1,
            next_checkpoint: 1,
        }
    }
}

impl Journal {
    /// A journal that only counts: it has no checkpoints, and its digest is that of an empty journal.
    #[must_use]
    pub fn without_digest() -> Self {
        Self { digesting: false, ..Self::default() }
    }

    /// Counts so far.
    #[must_use]
    pub fn counts(&self) -> EventCounts {
        self.counts
    }

    /// Digest of everything so far, as hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.digest.hex()
    }

    /// The checkpoints, evenly spaced: 16 to 32, or one for each event if there were fewer than 16 events.
    #[must_use]
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    #[cold]
    fn keep_checkpoint(&mut self, at: Time) {
        if self.checkpoints.len() == CHECKPOINTS {
            // Every second checkpoint is kept: those at even multiples of `every`, the distance so far.
            let mut place = 0;
            self.checkpoints.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            self.every *= 2;
        }
        let events = self.counts.events;
        if events.is_multiple_of(self.every) {
            let digest = self.digest.intermediate_fingerprint();
            self.checkpoints.push(Checkpoint { events, at, digest });
        }
        self.next_checkpoint = (events / self.every + 1) * self.every;
    }

    /// Counts and hashes an event. Always inlined: where the compiler knows the kind of event, counting the event takes
    /// only additions.
    #[inline(always)]
    pub(super) fn enter<P: Protocol>(&mut self, at: Time, event: &Event<'_, P>) {
        self.count(event);
        if self.digesting {
            self.absorb(at, event);
        }
    }

    #[inline(always)]
    fn count<P: Protocol>(&mut self, event: &Event<'_, P>) {
        let counts = &mut self.counts;
        counts.events += 1;
        match event {
            Event::Sent { message, .. } => {
                counts.sent += 1;
                counts.bytes += message.wire_bytes();
            }
            Event::Lost { .. } => counts.lost += 1,
            Event::Delivered { .. } => counts.delivered += 1,
            Event::Doubled { .. } => counts.doubled += 1,
            Event::Handled { .. }
            | Event::TimerFired { .. }
            | Event::Switched { .. }
            | Event::Recorded { .. } => {}
        }
    }

    #[inline(always)]
    fn absorb<P: Protocol>(&mut self, at: Time, event: &Event<'_, P>) {
        let digest = &mut self.digest;
        let time = at.nanos();
        let pair = |a: PartyId, b: PartyId| u64::from(a.0) | u64::from(b.0) << 32;
        match event {
            Event::Sent { from, to, message } => {
                digest.words([time, 1, pair(*from, *to)]);
                message.digest(digest);
            }
            Event::Lost { from, to, cause, .. } => {
                let code = match cause {
                    LossCause::Link => 16,
                    LossCause::SenderOffline => 17,
                    LossCause::ReceiverOffline => 18,
                    LossCause::NoRoute => 19,
                    LossCause::RelayOffline => 20,
                    LossCause::QueueFull => 21,
                    LossCause::Partition => 22,
                };
                digest.words([time, code, pair(*from, *to)]);
            }
            Event::Delivered { from, to, sent_at, .. } => {
                // The contents were hashed when the message was sent. Sender, addressee and time of sending identify the
                // message, unless the sender sent several messages to the addressee at the same time.
                digest.words([time, 3, pair(*from, *to), sent_at.nanos()]);
            }
            Event::Handled { .. } => {}
            Event::TimerFired { party, timer } => {
                digest.words([time, 4, pair(*party, *party)]);
                timer.digest(digest);
            }
            Event::Switched { party, online, crashed } => {
                let code = match (online, crashed) {
                    (_, Some(Memory::Kept)) => 8,
                    (_, Some(Memory::Lost)) => 9,
                    (true, None) => 5,
                    (false, None) => 6,
                };
                digest.words([time, code, pair(*party, *party)]);
            }
            Event::Doubled { from, to, .. } => digest.words([time, 10, pair(*from, *to)]),
            Event::Recorded { party, fact } => {
                digest.words([time, 7, pair(*party, *party)]);
                fact.digest(digest);
            }
        }
        if self.counts.events == self.next_checkpoint {
            self.keep_checkpoint(at);
        }
    }
}
