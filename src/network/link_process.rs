//! A link during a run: delay, loss, queueing, order and duplication of its messages, from the link's own random
//! numbers.

use super::bandwidth::Queue;
use super::draws::Draws;
use super::latency::LatencyModel;
use super::links::{Link, Order};
use super::loss::{LossModel, LossProcess};
use super::throughput::RateCurve;
use crate::kernel::LossCause;
use crate::rng::{Key, Stream};
use crate::vocab::{PartyId, Span, Time};

#[derive(Clone, Debug)]
pub(super) struct LinkProcess {
    latency: LatencyModel,
    losses: Losses,
    draws: Draws,
    /// The delay that all messages have, if the latency model states such a delay and the loss model states that no message
    /// is lost; `None` otherwise. With such a delay, no random numbers are drawn for delay and loss.
    certain: Option<Span>,
    /// The number of messages for which neither delay nor loss was drawn, counted since the last call of `change`.
    undrawn: u64,
    /// The rate of the link, the size of its buffer (`None` without a limit), and the messages that wait or are being sent.
    /// `None` if the bandwidth is not limited.
    bandwidth: Option<Box<(RateCurve, Option<u64>, Queue)>>,
    fifo: bool,
    /// The latest arrival so far, on a link that keeps messages in order.
    last: Time,
    /// Probability that a message is duplicated, and the stream from which two words are drawn for each message. The first
    /// word decides whether there is a copy, the second decides the delay of the copy. `None` if the probability is 0.
    duplication: Option<Box<(f64, Stream)>>,
    /// Row of the link in the statistics.
    pub(super) row: usize,
    /// Sender and receiver.
    pub(super) ends: (PartyId, PartyId),
}

/// The losses of one link. Independent losses have no state, so they need no boxed process, which would cost further
/// accesses to memory.
#[derive(Clone, Debug)]
enum Losses {
    /// The probability with which each message is lost.
    Independent(f64),
    Process(Box<dyn LossProcess>),
}

impl Losses {
    fn new(model: &LossModel) -> Self {
        let model = model.as_dyn();
        model.independent().map_or_else(|| Self::Process(model.start()), Self::Independent)
    }

    /// Whether the message that enters the link at `at` and has the draw `u` is lost.
    fn drops_at(&mut self, at: Time, u: f64) -> bool {
        match self {
            Self::Independent(probability) => u < *probability,
            Self::Process(process) => process.drops_at(at, u),
        }
    }
}

/// The result of sending a message over a link: the arrival times of the message and of its copy, if there is one, or the
/// cause of its loss.
pub(super) type Crossing = Result<(Time, Option<Time>), LossCause>;

/// The delay of every message, if the link's latency model states that all messages have the same delay and the link's loss
/// model states that no message is lost; `None` otherwise.
fn certain(link: &Link) -> Option<Span> {
    link.latency.as_dyn().certain().filter(|_| link.loss.as_dyn().is_never())
}

impl LinkProcess {
    /// The process of a link that has carried no message. `rate` is the link's rate, if its bandwidth is limited. `key` is
    /// the link's node of the seed tree, `row` its row in the statistics.
    pub(super) fn new(
        link: Link,
        rate: Option<RateCurve>,
        key: Key,
        (row, ends): (usize, (PartyId, PartyId)),
    ) -> Self {
        let duplication = link.duplication.get();
        let buffer = link.bandwidth.as_ref().and_then(|bandwidth| bandwidth.buffer);
        Self {
            certain: certain(&link),
            undrawn: 0,
            losses: Losses::new(&link.loss),
            latency: link.latency,
            draws: Draws::None(key),
            bandwidth: rate.map(|rate| Box::new((rate, buffer, Queue::default()))),
            fifo: link.order == Order::Fifo,
            last: Time::ZERO,
            duplication: (duplication > 0.0)
                .then(|| Box::new((duplication, key.child("duplication").stream()))),
            row,
            ends,
        }
    }

    /// Replaces the link's settings `old` by `new`, for example when a fork changes the network. `rate` is the link's rate
    /// under the new settings, if its bandwidth is then limited. The stream of delays and losses continues. The stream of
    /// duplicates continues if duplicates were and remain possible. The queue continues if the bandwidth was and remains
    /// limited. The loss process starts again if its settings change.
    pub(super) fn change(&mut self, old: &Link, new: Link, rate: Option<RateCurve>, key: Key) {
        self.draws.skip(std::mem::take(&mut self.undrawn));
        self.certain = certain(&new);
        if old.loss != new.loss {
            self.losses = Losses::new(&new.loss);
        }
        self.latency = new.latency;
        let queue = self.bandwidth.take().map_or_else(Queue::default, |before| before.2);
        let buffer = new.bandwidth.and_then(|bandwidth| bandwidth.buffer);
        self.bandwidth = rate.map(|rate| Box::new((rate, buffer, queue)));
        self.fifo = new.order == Order::Fifo;
        let stream = self.duplication.take().map(|before| before.1);
        let probability = new.duplication.get();
        self.duplication = (probability > 0.0)
            .then(|| Box::new((probability, stream.unwrap_or_else(|| key.child("duplication").stream()))));
    }

    pub(super) fn cross(&mut self, bytes: u64, now: Time, cut: bool) -> Crossing {
        // A message takes the same random numbers whether it is lost or not, so the draws of one model (delay, loss or
        // duplication) do not depend on what another model does.
        let (delay, dropped) = if let Some(delay) = self.certain {
            self.undrawn += 1;
            (delay, false)
        } else {
            let (delay, loss) = self.draws.next();
            (self.latency.as_dyn().quantile_at(now, delay), self.losses.drops_at(now, loss))
        };
        let copy = self.duplication.as_deref_mut().and_then(|(probability, stream)| {
            let (whether, delay) = (stream.uniform(), stream.open_uniform());
            (whether < *probability).then_some(delay)
        });
        if cut {
            return Err(LossCause::Partition);
        }
        let departure = match self.bandwidth.as_deref_mut() {
            Some((rate, buffer, queue)) => {
                queue.enter(now, bytes, rate, *buffer).ok_or(LossCause::QueueFull)?
            }
            None => now,
        };
        if dropped {
            return Err(LossCause::Link);
        }
        let copy = copy.map(|u| self.latency.as_dyn().quantile_at(now, u));
        let arrival = self.in_order(departure + delay);
        Ok((arrival, copy.map(|delay| self.in_order(departure + delay))))
    }

    /// The arrival time of a message that would arrive at `arrival` if messages could overtake each other. On a link that
    /// keeps messages in order, the message arrives no earlier than any message before it.
    fn in_order(&mut self, arrival: Time) -> Time {
        if !self.fifo {
            return arrival;
        }
        self.last = self.last.max(arrival);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Constant, Exponential};

    /// All messages of a link take 5 ms, until its latency becomes random. From then on, message k has the same draws as
    /// message k of a link whose latency was random from the start.
    #[test]
    fn draws_that_are_not_needed_are_skipped() {
        let ms = Span::from_millis;
        let (sure, random) = (
            Link { latency: Constant(ms(5)).into(), ..Link::default() },
            Link { latency: Exponential { mean: ms(9) }.into(), ..Link::default() },
        );
        let key = Key::root(5).child("link");
        let ends = (PartyId(0), PartyId(1));
        let mut drawn = LinkProcess::new(random.clone(), None, key, (0, ends));
        let mut changed = LinkProcess::new(sure.clone(), None, key, (0, ends));
        for _ in 0..7 {
            assert_eq!(changed.cross(1, Time::ZERO, false), Ok((Time::ZERO + ms(5), None)));
            drawn.cross(1, Time::ZERO, false).unwrap();
        }
        changed.change(&sure, random, None, key);
        for _ in 0..7 {
            assert_eq!(changed.cross(1, Time::ZERO, false), drawn.cross(1, Time::ZERO, false));
        }
    }
}
