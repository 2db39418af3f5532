//! A rate that changes over time in steps, and the time at which the sending of a message ends at this rate.

use crate::vocab::{Rate, Span, Time};
use std::sync::Arc;

/// A rate over time, constant between the times at which it changes. Clones of a curve share the steps. The curves of all
/// lines that follow one recording also share them.
#[derive(Clone, Debug, PartialEq)]
pub struct RateCurve {
    /// When each step begins, and its rate in bits per second, 0 or above. The first step begins at 0.
    steps: Steps,
    /// The period after which the curve begins again; `None` if the last rate stays.
    every: Option<Span>,
    /// How much time of the curve has already passed at virtual time zero.
    offset: Span,
}

/// One rate, which is stored without an allocation, or shared steps.
#[derive(Clone, Debug, PartialEq)]
enum Steps {
    One([(Span, f64); 1]),
    Many(Arc<Vec<(Span, f64)>>),
}

impl Steps {
    fn as_slice(&self) -> &[(Span, f64)] {
        match self {
            Self::One(step) => step,
            Self::Many(steps) => steps,
        }
    }
}

impl RateCurve {
    /// A curve of steps in ascending order, the first of which begins at 0. If `every` is given, the curve is repeated
    /// with this period. The period must be longer than the time at which the last step begins. At virtual time zero, the
    /// time `offset` of the curve has already passed. Without steps, no message is ever sent.
    #[must_use]
    pub fn new(steps: Arc<Vec<(Span, f64)>>, every: Option<Span>, offset: Span) -> Self {
        Self { steps: Steps::Many(steps), every, offset }
    }

    /// A rate that never changes.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self { steps: Steps::One([(Span::ZERO, rate.bits_per_second())]), every: None, offset: Span::ZERO }
    }

    /// The rate at a time, in bits per second.
    #[must_use]
    pub fn bits_per_second(&self, at: Time) -> f64 {
        let passed = at.nanos().saturating_add(self.offset.nanos());
        let place = self.every.map_or(passed, |every| passed % every.nanos().max(1));
        self.steps.as_slice().get(self.step(place)).map_or(0.0, |step| step.1)
    }

    /// The number, from 0, of the step that holds at `place`, a time in nanoseconds from the beginning of the curve (or
    /// of its period).
    fn step(&self, place: u64) -> usize {
        self.steps.as_slice().partition_point(|step| step.0.nanos() <= place).saturating_sub(1)
    }

    /// When a message of `bytes` bytes has been sent if its sending begins at `begins`. [`Time::NEVER`] if the message is
    /// never sent completely, because the rate becomes 0 too early and stays 0.
    #[must_use]
    pub fn sent(&self, begins: Time, bytes: u64) -> Time {
        if let [(_, rate)] = self.steps.as_slice() {
            return match Rate::from_bits_per_second(*rate) {
                Some(rate) => begins + rate.time_for(bytes),
                None => Time::NEVER,
            };
        }
        let mut bits = 8.0 * bytes as f64;
        if bits <= 0.0 {
            return begins;
        }
        let mut passed = begins.nanos().saturating_add(self.offset.nanos());
        if let Some(every) = self.every {
            let each = self.bits_of_period(every);
            if each <= 0.0 {
                return Time::NEVER;
            }
            // Skips whole periods, so that more than 0 bits remain, and at most the bits of one period. The period in
            // which the last bit is sent is never skipped: if the rate is 0 at the end of this period, the message has
            // been sent before the period ends.
            let turns = ((bits / each).ceil() - 1.0).max(0.0);
            bits -= turns * each;
            passed = passed.saturating_add(Span::from_seconds(turns * every.seconds()).nanos());
        }
        // The remaining bits take at most one period or, without repetition, the steps that follow. A period that is
        // counted from the middle of a step ends in the middle of the same step, so it has one part more than the curve has
        // steps.
        for _ in 0..=self.steps.as_slice().len() + 1 {
            let turn = self.every.map_or(0, |every| passed / every.nanos().max(1));
            let begun = self.every.map_or(0, |every| turn * every.nanos());
            let index = self.step(passed - begun);
            let Some(&(_, rate)) = self.steps.as_slice().get(index) else { return Time::NEVER };
            let next = self.steps.as_slice().get(index + 1).map(|step| step.0).or(self.every);
            if next.is_none() && rate <= 0.0 {
                return Time::NEVER;
            }
            let needed = if rate > 0.0 { Span::from_seconds(bits / rate) } else { Span::MAX };
            let left = next.map_or(Span::MAX, |next| Span::from_nanos(begun + next.nanos() - passed));
            if needed <= left {
                let end = passed.saturating_add(needed.nanos());
                return Time::ZERO + Span::from_nanos(end.saturating_sub(self.offset.nanos()));
            }
            bits -= rate * left.seconds();
            passed += left.nanos();
        }
        Time::ZERO + Span::from_nanos(passed.saturating_sub(self.offset.nanos()))
    }

    /// The bits that are sent in one period of the curve.
    fn bits_of_period(&self, every: Span) -> f64 {
        let ends = self.steps.as_slice().iter().skip(1).map(|step| step.0).chain([every]);
        self.steps
            .as_slice()
            .iter()
            .zip(ends)
            .map(|(step, end)| step.1 * (end.seconds() - step.0.seconds()))
            .sum()
    }

    /// Whether every message is eventually sent, whatever its size and the time at which its sending begins.
    #[must_use]
    pub fn ever_sends(&self) -> bool {
        let mut rates = self.steps.as_slice().iter().map(|step| step.1);
        match self.every {
            Some(_) => rates.any(|rate| rate > 0.0),
            None => self.steps.as_slice().last().is_some_and(|step| step.1 > 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: f64) -> Span {
        Span::from_seconds(seconds)
    }

    /// 800 bit/s for 2 s, 0 bit/s for 1 s, then 1,600 bit/s. With a period of 4 s, 400 bytes are sent in each period.
    fn curve(every: Option<Span>, offset: f64) -> RateCurve {
        let steps = vec![(s(0.0), 800.0), (s(2.0), 0.0), (s(3.0), 1600.0)];
        RateCurve::new(Arc::new(steps), every, s(offset))
    }

    #[test]
    fn a_message_is_sent_when_the_integral_of_the_rate_is_its_size() {
        let sent = |every: Option<Span>, offset, begins, bytes| {
            curve(every, offset).sent(Time::ZERO + s(begins), bytes).seconds()
        };
        let four = Some(s(4.0));
        assert_eq!(sent(four, 0.0, 0.0, 100), 1.0);
        assert_eq!(sent(four, 0.0, 0.0, 200), 2.0);
        assert_eq!(sent(four, 0.0, 1.0, 200), 3.5);
        assert_eq!(sent(four, 0.0, 2.5, 400), 6.0);
        assert_eq!(sent(four, 0.0, 0.0, 400 * 1000 + 100), 4001.0);
        assert_eq!(sent(four, 1.0, 0.0, 200), 2.5);
        assert_eq!(sent(None, 0.0, 0.0, 800), 6.0);
        assert_eq!(curve(four, 1.0).bits_per_second(Time::ZERO + s(1.5)), 0.0);
    }

    #[test]
    fn a_constant_curve_sends_at_its_rate() {
        let rate = Rate::from_bits_per_second(3e6).unwrap();
        for bytes in [1, 100, 12_345] {
            let begins = Time::from_nanos(77);
            assert_eq!(RateCurve::constant(rate).sent(begins, bytes), begins + rate.time_for(bytes));
        }
        // The curve sends 5 bits in its first second, and nothing after it. A message of one byte has 8 bits.
        for offset in [0.0, 0.5, 3.0] {
            let ends = RateCurve::new(Arc::new(vec![(s(0.0), 5.0), (s(1.0), 0.0)]), None, s(offset));
            assert!(!ends.ever_sends());
            assert_eq!(ends.sent(Time::ZERO, 1), Time::NEVER, "{offset}");
        }
    }
}
