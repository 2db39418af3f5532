//! Bandwidth of a link or of a party's access line: messages wait in a queue and are sent one at a time.

use super::throughput::{LineRate, RateCurve};
use crate::vocab::{DataFolders, Problem, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::PathBuf;

/// The capacity of one direction of a link. Messages are sent one at a time, in the order in which they reach the link.
///
/// Example: `Bandwidth(rate: "10Mbit/s", buffer: 64000)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Rate at which messages are sent, as in `"10Mbit/s"`, or a throughput model.
    pub rate: LineRate,
    /// Largest number of bytes in the queue, including the unsent part of the message that is being sent; a message that
    /// does not fit is lost.
    /// Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
}

/// A party's own line to the network, shared by all its links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Rate at which the party can send, as in `"10Mbit/s"`, or a throughput model. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<LineRate>,
    /// Rate at which the party can receive, as in `"50Mbit/s"`, or a throughput model. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<LineRate>,
}

impl Access {
    /// The rates that are stated, each with the name of its field, `up` or `down`.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (&'static str, &LineRate)> {
        [("up", &self.up), ("down", &self.down)]
            .into_iter()
            .filter_map(|(field, rate)| Some((field, rate.as_ref()?)))
    }

    /// The problems of the line's rates.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.limits().flat_map(|(field, rate)| rate.problems().into_iter().map(|p| p.below(field))).collect()
    }

    /// Reads the files that the line's rates name.
    pub fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let rates = [("up", &mut self.up), ("down", &mut self.down)].into_iter();
        let rates = rates.filter_map(|(field, rate)| Some((field, rate.as_mut()?)));
        rates.flat_map(|(field, rate)| rate.load(base).into_iter().map(move |p| p.below(field))).collect()
    }

    /// The files that the line's rates name.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.limits().flat_map(|(_, rate)| rate.files()).collect()
    }
}

/// The state of a line that sends one message at a time: the time at which it has sent all messages so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sender {
    free_at: Time,
}

impl Sender {
    /// When the sending of a message that arrives at `now` begins and ends. Calls are in order of time.
    pub(super) fn send(&mut self, now: Time, bytes: u64, rate: &RateCurve) -> (Time, Time) {
        let begins = self.free_at.max(now);
        self.free_at = rate.sent(begins, bytes);
        (begins, self.free_at)
    }
}

/// The messages of a link that are being sent or wait to be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    sender: Sender,
    /// The messages whose sending had not ended at the last call of [`Self::enter`], in order.
    unsent: VecDeque<Unsent>,
    /// The sum of the sizes of the messages in `unsent`.
    bytes: u128,
}

/// A message, and the times at which its sending begins and ends, each rounded to a nanosecond.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    bytes: u64,
    begins: Time,
    ends: Time,
}

impl Queue {
    /// The time at which a message that arrives at `now` has been sent; `None` if it does not fit into the buffer. Calls are
    /// in order of time.
    pub(super) fn enter(
        &mut self,
        now: Time,
        bytes: u64,
        rate: &RateCurve,
        buffer: Option<u64>,
    ) -> Option<Time> {
        while let Some(sent) = self.unsent.pop_front_if(|first| first.ends <= now) {
            self.bytes -= u128::from(sent.bytes);
        }
        if buffer.is_some_and(|buffer| !self.fits(now, bytes, buffer)) {
            return None;
        }
        let (begins, ends) = self.sender.send(now, bytes, rate);
        self.unsent.push_back(Unsent { bytes, begins, ends });
        self.bytes += u128::from(bytes);
        Some(ends)
    }

    /// Whether the unsent part of the first message, all messages behind it and a further message of `bytes` bytes fit into
    /// the buffer. The unsent part is the first message's size times the share of its sending time that is left. The share
    /// is a quotient of two rounded times. It is exactly 1 when the sending begins, so the first message then counts with
    /// exactly its size, although times are rounded to nanoseconds.
    fn fits(&self, now: Time, bytes: u64, buffer: u64) -> bool {
        let all = self.bytes + u128::from(bytes);
        let Some(first) = self.unsent.front() else { return all <= u128::from(buffer) };
        let whole = all - u128::from(first.bytes);
        let Some(room) = u128::from(buffer).checked_sub(whole) else { return false };
        let nanos = |from: Time, to: Time| u128::from((to - from).nanos());
        let left = nanos(first.begins.max(now), first.ends);
        u128::from(first.bytes).saturating_mul(left) <= room.saturating_mul(nanos(first.begins, first.ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::{Rate, Span};

    #[test]
    fn messages_wait_for_each_other_and_for_nothing_else() {
        let rate = &RateCurve::constant(Rate::from_bits_per_second(8000.0).unwrap());
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut queue = Queue::default();
        assert_eq!(queue.enter(at(0), 100, rate, None), Some(at(100)));
        assert_eq!(queue.enter(at(50), 100, rate, None), Some(at(200)));
        assert_eq!(queue.enter(at(300), 100, rate, None), Some(at(400)));
        // 90 bytes of the last message are unsent: 110 more fill a buffer of 200, and one more byte is too much.
        assert_eq!(queue.enter(at(310), 111, rate, Some(200)), None);
        assert_eq!(queue.enter(at(310), 110, rate, Some(200)), Some(at(510)));
    }

    #[test]
    fn rounding_of_times_takes_no_space_in_the_buffer() {
        // 100 bytes take 266,666.67 ns, rounded to 266,667: two messages fill a buffer of 200 bytes exactly.
        let rate = &RateCurve::constant(Rate::from_bits_per_second(3e6).unwrap());
        let mut queue = Queue::default();
        let nanos = |nanos| Some(Time::from_nanos(nanos));
        assert_eq!(queue.enter(Time::ZERO, 100, rate, Some(200)), nanos(266_667));
        assert_eq!(queue.enter(Time::ZERO, 100, rate, Some(200)), nanos(533_334));
        assert_eq!(queue.enter(Time::ZERO, 1, rate, Some(200)), None);
        assert_eq!(queue.enter(Time::from_nanos(266_667), 100, rate, Some(200)), nanos(800_001));
    }

    #[test]
    fn bytes_in_the_queue_stay_the_same_at_another_rate() {
        let slow = &RateCurve::constant(Rate::from_bits_per_second(8000.0).unwrap());
        let fast = &RateCurve::constant(Rate::from_bits_per_second(80_000.0).unwrap());
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut queue = Queue::default();
        assert_eq!(queue.enter(at(0), 100, slow, Some(200)), Some(at(100)));
        // 50 bytes are unsent when the rate changes, so 150 more fit. The 150 bytes are sent at the new rate, after the 50
        // bytes have been sent at the old rate.
        assert_eq!(queue.enter(at(50), 151, fast, Some(200)), None);
        assert_eq!(queue.enter(at(50), 150, fast, Some(200)), Some(at(115)));
    }
}
