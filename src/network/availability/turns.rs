//! Two alternating kinds of periods of random lengths.

use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::{Span, Time};

/// Shortest period. With periods of length zero, the state could change infinitely often at one point in time.
const SHORTEST: Span = Span::from_nanos(1);

/// Alternating connected and disconnected periods.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    up: LatencyModel,
    down: LatencyModel,
    /// Factor on the lengths of disconnected periods, which are drawn from `down`.
    longer: f64,
    stream: Stream,
    /// The kind of the present period.
    pub(super) online: bool,
    /// When the present period began.
    begun: Time,
}

impl Turns {
    /// Periods that begin at time zero. In the first period the party is connected if `online`.
    pub(super) fn new(up: LatencyModel, down: LatencyModel, stream: Stream, online: bool) -> Self {
        Self { up, down, longer: 1.0, stream, online, begun: Time::ZERO }
    }

    /// The same periods, except that the lengths of disconnected periods are multiplied by `factor`.
    pub(super) fn longer(self, factor: f64) -> Self {
        Self { longer: factor, ..self }
    }

    /// Moves on to the next period; returns when it begins, or `None` if it never begins.
    pub(super) fn next(&mut self) -> Option<Time> {
        let model = if self.online { &self.up } else { &self.down };
        let length = model.as_dyn().quantile(self.stream.open_uniform());
        // With a factor of 1 the length is not converted to floating-point seconds, which would round it.
        let scaled = !self.online && self.longer != 1.0;
        let length = if scaled { Span::from_seconds(length.seconds() * self.longer) } else { length };
        let length = length.max(SHORTEST);
        self.begun = self.begun + length;
        self.online = !self.online;
        (self.begun < Time::NEVER).then_some(self.begun)
    }
}
