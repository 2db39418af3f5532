//! What a link does to each message: delay, loss, queue, order and duplication, with the link's own random numbers.

use super::bandwidth::{Bandwidth, Queue};
use super::latency::LatencyModel;
use super::links::{Link, Order};
use super::loss::LossProcess;
use crate::kernel::LossCause;
use crate::rng::{Key, Stream};
use crate::vocab::{PartyId, Span, Time};

#[derive(Clone, Debug)]
pub(super) struct LinkProcess {
    latency: LatencyModel,
    loss: Box<dyn LossProcess>,
    draws: Draws,
    /// The delay of every message, if it is certain and no message is lost. Then nothing is drawn.
    certain: Option<Span>,
    /// Number of messages for which nothing was drawn.
    undrawn: u64,
    bandwidth: Option<Box<(Bandwidth, Queue)>>,
    fifo: bool,
    /// The latest arrival so far, on a link that keeps messages in order.
    last: Time,
    /// Probability that a message is duplicated, and the stream of two words per message: whether there is a copy, and the
    /// delay of the copy. `None` if the probability is 0.
    duplication: Option<Box<(f64, Stream)>>,
    /// Row of the link in the statistics.
    pub(super) row: usize,
    /// Sender and receiver.
    pub(super) ends: (PartyId, PartyId),
}

/// The random draws of a link: two words per message, the first for its latency, the second for its loss. Message k always
/// uses words 2k and 2k + 1, whatever the models. A link that has carried at most one message stores only the key of its
/// stream, which takes a tenth of the memory; in a network of a million links, most are of this kind.
#[derive(Clone, Debug)]
enum Draws {
    None(Key),
    One(Key),
    Many(Box<Stream>),
}

impl Draws {
    /// Passes over the draws of this many messages.
    fn skip(&mut self, messages: u64) {
        for _ in 0..messages {
            self.next();
        }
    }

    /// The draws of the next message: for its latency in (0, 1), for its loss in [0, 1).
    fn next(&mut self) -> (f64, f64) {
        let pair = |stream: &mut Stream| (stream.open_uniform(), stream.uniform());
        match self {
            Self::Many(stream) => pair(stream),
            Self::None(key) => {
                let first = pair(&mut key.stream());
                *self = Self::One(*key);
                first
            }
            Self::One(key) => {
                let mut stream = Box::new(key.stream());
                pair(&mut stream);
                let second = pair(&mut stream);
                *self = Self::Many(stream);
                second
            }
        }
    }
}

/// The result of sending a message over a link: the arrival times of the message and of its copy, if there is one, or the
/// cause of its loss.
pub(super) type Crossing = Result<(Time, Option<Time>), LossCause>;

/// The delay of every message on a link where neither delay nor loss is random; `None` on any other.
fn certain(link: &Link) -> Option<Span> {
    link.latency.as_dyn().certain().filter(|_| link.loss.as_dyn().is_never())
}

impl LinkProcess {
    /// The process of a link that has carried no message. `key` is the link's node of the seed tree, `row` its row in the statistics.
    pub(super) fn new(link: Link, key: Key, row: usize, ends: (PartyId, PartyId)) -> Self {
        let duplication = link.duplication.get();
        Self {
            certain: certain(&link),
            undrawn: 0,
            latency: link.latency,
            loss: link.loss.as_dyn().start(),
            draws: Draws::None(key),
            bandwidth: link.bandwidth.map(|bandwidth| Box::new((bandwidth, Queue::default()))),
            fifo: link.order == Order::Fifo,
            last: Time::ZERO,
            duplication: (duplication > 0.0)
                .then(|| Box::new((duplication, key.child("duplication").stream()))),
            row,
            ends,
        }
    }

    /// Takes over the settings of the same link in another network. Random streams and the queue continue; the loss
    /// process starts again if its settings change.
    pub(super) fn change(&mut self, old: &Link, new: Link, key: Key) {
        self.draws.skip(std::mem::take(&mut self.undrawn));
        self.certain = certain(&new);
        if old.loss != new.loss {
            self.loss = new.loss.as_dyn().start();
        }
        self.latency = new.latency;
        let queue = self.bandwidth.take().map_or_else(Queue::default, |before| before.1);
        self.bandwidth = new.bandwidth.map(|bandwidth| Box::new((bandwidth, queue)));
        self.fifo = new.order == Order::Fifo;
        let stream = self.duplication.take().map(|before| before.1);
        let probability = new.duplication.get();
        self.duplication = (probability > 0.0)
            .then(|| Box::new((probability, stream.unwrap_or_else(|| key.child("duplication").stream()))));
    }

    pub(super) fn cross(&mut self, bytes: u64, now: Time, cut: bool) -> Crossing {
        // All random numbers are drawn even if the message is lost, so that no draw depends on another model.
        let (delay, dropped) = if let Some(delay) = self.certain {
            self.undrawn += 1;
            (delay, false)
        } else {
            let (delay, loss) = self.draws.next();
            (self.latency.as_dyn().quantile(delay), self.loss.drops(loss))
        };
        let copy = self.duplication.as_deref_mut().and_then(|(probability, stream)| {
            let (whether, delay) = (stream.uniform(), stream.open_uniform());
            (whether < *probability).then_some(delay)
        });
        if cut {
            return Err(LossCause::Partition);
        }
        let departure = match self.bandwidth.as_deref_mut() {
            Some((bandwidth, queue)) => {
                queue.enter(now, bytes, bandwidth.rate, bandwidth.buffer).ok_or(LossCause::QueueFull)?
            }
            None => now,
        };
        if dropped {
            return Err(LossCause::Link);
        }
        let copy = copy.map(|u| self.latency.as_dyn().quantile(u));
        let arrival = self.in_order(departure + delay);
        Ok((arrival, copy.map(|delay| self.in_order(departure + delay))))
    }

    /// The arrival time; on a link that keeps messages in order, at least that of every earlier message.
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

    #[test]
    fn a_link_draws_the_words_of_its_stream_in_order() {
        let key = Key::root(5).child("link");
        let (mut draws, mut stream) = (Draws::None(key), key.stream());
        for _ in 0..50 {
            assert_eq!(draws.next(), (stream.open_uniform(), stream.uniform()));
        }
    }

    /// A link whose messages all take 5 ms until its latency becomes random: message k then has the draws of message k.
    #[test]
    fn draws_that_are_not_needed_are_passed_over() {
        let ms = Span::from_millis;
        let (sure, random) = (
            Link { latency: Constant(ms(5)).into(), ..Link::default() },
            Link { latency: Exponential { mean: ms(9) }.into(), ..Link::default() },
        );
        let key = Key::root(5).child("link");
        let ends = (PartyId(0), PartyId(1));
        let mut drawn = LinkProcess::new(random.clone(), key, 0, ends);
        let mut changed = LinkProcess::new(sure.clone(), key, 0, ends);
        for _ in 0..7 {
            assert_eq!(changed.cross(1, Time::ZERO, false), Ok((Time::ZERO + ms(5), None)));
            drawn.cross(1, Time::ZERO, false).unwrap();
        }
        changed.change(&sure, random, key);
        for _ in 0..7 {
            assert_eq!(changed.cross(1, Time::ZERO, false), drawn.cross(1, Time::ZERO, false));
        }
    }
}
