//! Bandwidth of a link or a party's access line: messages wait in a queue and are sent one at a time.

use crate::vocab::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The capacity of one direction of a link. Messages are sent one after another, in the order in which they reach the
/// link.
///
/// Example: `Bandwidth(rate: "10Mbit/s", buffer: 64000)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Rate at which messages are sent, as in `"10Mbit/s"`.
    pub rate: Rate,
    /// Most bytes in the queue, including the unsent part of the message that is being sent; a message that does not fit
    /// is lost.
    /// Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
}

/// A party's own line to the network, shared by all its links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Rate at which the party can send, as in `"10Mbit/s"`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Rate>,
    /// Rate at which the party can receive, as in `"50Mbit/s"`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<Rate>,
}

/// The state of a queue: when its last message will have been sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    free_at: Time,
}

impl Queue {
    /// The time at which a message that arrives at `now` has been sent; `None` if it does not fit into the buffer. Calls are
    /// in order of time.
    pub(super) fn enter(&mut self, now: Time, bytes: u64, rate: Rate, buffer: Option<u64>) -> Option<Time> {
        if let Some(buffer) = buffer
            && rate.bytes_in(self.free_at - now) + bytes as f64 > buffer as f64
        {
            return None;
        }
        self.free_at = self.free_at.max(now) + rate.time_for(bytes);
        Some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Span;

    #[test]
    fn messages_wait_for_each_other_and_for_nothing_else() {
        let rate = Rate::from_bits_per_second(8000.0).unwrap();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut queue = Queue::default();
        assert_eq!(queue.enter(at(0), 100, rate, None), Some(at(100)));
        assert_eq!(queue.enter(at(50), 100, rate, None), Some(at(200)));
        assert_eq!(queue.enter(at(300), 100, rate, None), Some(at(400)));
        // 90 bytes of the last message are unsent: 110 more fill a buffer of 200, and one more byte is too much.
        assert_eq!(queue.enter(at(310), 111, rate, Some(200)), None);
        assert_eq!(queue.enter(at(310), 110, rate, Some(200)), Some(at(510)));
    }
}
