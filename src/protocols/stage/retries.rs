//! When a request is repeated: growing waits, the number of attempts, and what happens while the sender is offline.

use crate::kernel::{Connection, Context, Protocol, TimerTicket};
use crate::rng::Key;
use crate::vocab::{Probability, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How often a party sends a request, and how long it waits for each answer.
///
/// While the party itself is offline, nothing is sent and no attempt counts; the request is sent as soon as the party
/// is online again. A party that has been offline for a year, or will never be online again, counts attempts as if it
/// were connected, so that it gives up eventually.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How long to wait for an answer before the request is sent for the second time. Default: 1 s.
    #[serde(default = "default_timeout")]
    pub timeout: Span,
    /// How many times a request is sent in all before the party gives up. Default: 100.
    #[serde(default = "default_attempts")]
    pub attempts: NonZeroU32,
    /// How the wait grows from one attempt to the next. Default: it doubles up to 32 times the timeout, minus a random
    /// part of up to one half.
    #[serde(default)]
    pub backoff: Backoff,
}

/// How the wait for an answer grows from one attempt to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Backoff {
    /// Every wait is the timeout.
    Constant,
    /// The wait doubles with each attempt and is partly random, so that parties whose requests were lost together do
    /// not keep sending at the same times, and an addressee that is offline for long gets few requests. The first wait
    /// is exactly the timeout.
    Exponential {
        /// The longest wait, in timeouts. Default: 32.
        #[serde(default = "default_limit")]
        limit: NonZeroU32,
        /// The largest random reduction of a wait: every wait except the first is multiplied by a uniform draw from
        /// 1 - `jitter` to 1. Default: 0.5.
        #[serde(default = "default_jitter")]
        jitter: Probability,
    },
}

fn default_timeout() -> Span {
    Span::from_millis(1000)
}

fn default_attempts() -> NonZeroU32 {
    const HUNDRED: NonZeroU32 = NonZeroU32::new(100).expect("100 is not zero");
    HUNDRED
}

fn default_limit() -> NonZeroU32 {
    const LIMIT: NonZeroU32 = NonZeroU32::new(32).expect("32 is not zero");
    LIMIT
}

fn default_jitter() -> Probability {
    Probability::new(0.5).expect("0.5 is a probability")
}

impl Default for Backoff {
    fn default() -> Self {
        Self::Exponential { limit: default_limit(), jitter: default_jitter() }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self { timeout: default_timeout(), attempts: default_attempts(), backoff: Backoff::default() }
    }
}

/// How long a party may be offline before its attempts count again: one year.
const LONGEST_ABSENCE: Span = Span::from_millis(365 * 24 * 3600 * 1000);

impl Retry {
    /// A problem if the timeout is 0; empty otherwise.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        if self.timeout > Span::ZERO {
            return Vec::new();
        }
        vec![Problem::wrong(
            "timeout",
            "a duration above 0",
            self.timeout.to_string(),
            "wait at least as long as a request and its answer take",
        )]
    }

    /// How long to wait for an answer after a request was sent for the `attempt`-th time, counted from 1. The random
    /// part is drawn below `key`, the request's node of the seed tree. Never 0 if the timeout is above 0.
    #[must_use]
    pub fn wait(&self, attempt: u32, key: &Key) -> Span {
        let Backoff::Exponential { limit, jitter } = self.backoff else { return self.timeout };
        let doublings = attempt.saturating_sub(1);
        if doublings == 0 {
            return self.timeout;
        }
        let times = 1u64.checked_shl(doublings).unwrap_or(u64::MAX).min(u64::from(limit.get()));
        let longest = self.timeout.nanos().saturating_mul(times);
        let off = jitter.get() * key.index(u64::from(attempt)).stream().uniform();
        Span::from_nanos((longest - (longest as f64 * off) as u64).max(1))
    }

    /// Whether a party that is about to make an attempt waits until it is online again. `away` is the time at which the
    /// party was first offline at an attempt, if it has not been online at an attempt since.
    pub(super) fn waits(connection: Connection, away: Option<Time>, now: Time) -> bool {
        connection == Connection::Offline && away.is_none_or(|since| now.since(since) < LONGEST_ABSENCE)
    }
}

/// The result of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTimeout {
    /// The request was sent again.
    AskedAgain,
    /// The party itself is offline: nothing was sent, and no attempt counted.
    Offline,
    /// The request has been sent as often as allowed, and is given up now.
    GaveUp,
    /// The timer belonged to a request that was closed before.
    Stale,
}

/// The attempts of one request.
#[derive(Clone, Debug)]
pub(in crate::protocols) struct Attempts {
    /// Node of the seed tree for the jitter of the request's waits.
    key: Key,
    sent: u32,
    /// When the party was first offline at an attempt, if it has not been online at an attempt since.
    away: Option<Time>,
    timer: Option<TimerTicket>,
}

impl Attempts {
    /// A request that has not been sent yet; `key` is the node of the seed tree for the jitter of its waits.
    pub(in crate::protocols) fn new(key: Key) -> Self {
        Self { key, sent: 0, away: None, timer: None }
    }

    /// Whether the party was offline at an attempt and has not been online at a later one.
    pub(in crate::protocols) fn waits_for_connection(&self) -> bool {
        self.away.is_some()
    }

    /// Sends the request and counts an attempt, unless the party is offline and waits until it is online again; sets the
    /// timer in both cases.
    pub(in crate::protocols) fn try_again<P: Protocol>(
        &mut self,
        retry: Retry,
        ctx: &mut Context<'_, P>,
        timer: P::Timer,
        send: impl FnOnce(&mut Context<'_, P>),
    ) -> AfterTimeout {
        let (wait, verdict) = if Retry::waits(ctx.connection(), self.away, ctx.now()) {
            // The timer keeps the simulation running. Its wait is the absence so far, but at least the timeout, so that a
            // long absence causes few events.
            let since = *self.away.get_or_insert(ctx.now());
            (retry.timeout.max(ctx.now().since(since)), AfterTimeout::Offline)
        } else {
            if ctx.connection() == Connection::Online {
                self.away = None;
            }
            self.sent += 1;
            send(ctx);
            (retry.wait(self.sent, &self.key), AfterTimeout::AskedAgain)
        };
        self.timer = Some(ctx.after(wait, timer));
        verdict
    }

    /// Makes a further attempt, as `try_again` does, when the request's timer has run out, unless the request was sent as
    /// often as allowed.
    pub(in crate::protocols) fn handle_timeout<P: Protocol>(
        &mut self,
        retry: Retry,
        ctx: &mut Context<'_, P>,
        timer: P::Timer,
        send: impl FnOnce(&mut Context<'_, P>),
    ) -> AfterTimeout {
        if self.sent >= retry.attempts.get() {
            AfterTimeout::GaveUp
        } else {
            self.try_again(retry, ctx, timer, send)
        }
    }

    /// Cancels the timer, because the answer has arrived or is not needed, or because the party is online again and the
    /// request is sent at once.
    pub(in crate::protocols) fn end<P: Protocol>(&self, ctx: &mut Context<'_, P>) {
        if let Some(timer) = self.timer {
            ctx.cancel(timer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry(text: &str) -> Retry {
        ron::from_str(text).unwrap()
    }

    /// Waits double up to the limit, minus a random part; the first wait is the timeout itself. The same key gives the
    /// same waits.
    #[test]
    fn waits_double_up_to_the_limit() {
        let key = Key::root(1).index(7);
        let default = retry("(timeout: \"200ms\")");
        assert_eq!(default, Retry { timeout: Span::from_millis(200), ..Retry::default() });
        assert_eq!(default.wait(1, &key), Span::from_millis(200));
        let mut spread = 0.0f64;
        for attempt in 2..100 {
            let longest = 0.2 * 2f64.powi(i32::min(attempt as i32 - 1, 5));
            let wait = default.wait(attempt, &key);
            assert_eq!(wait, default.wait(attempt, &key));
            let share = wait.seconds() / longest;
            assert!((0.5 - 1e-9..=1.0).contains(&share), "{attempt}: {share}");
            spread = spread.max(1.0 - share);
        }
        // The probability that 98 uniform draws from [0, 0.5] are all below 0.45 is 0.9^98 = 3e-5.
        assert!(spread > 0.45, "{spread}");
        let plain = retry("(timeout: \"200ms\", backoff: Exponential(limit: 4, jitter: 0))");
        let waits: Vec<u64> = (1..6).map(|attempt| plain.wait(attempt, &key).nanos() / 1_000_000).collect();
        assert_eq!(waits, [200, 400, 800, 800, 800]);
        let constant = retry("(timeout: \"200ms\", backoff: Constant)");
        assert!((1..50).all(|attempt| constant.wait(attempt, &key) == Span::from_millis(200)));
    }

    /// The ends of the ranges neither overflow nor give a wait of 0.
    #[test]
    fn extreme_waits_stay_in_range() {
        let key = Key::root(1);
        let long = Retry { timeout: Span::MAX, ..Retry::default() };
        assert!(long.wait(u32::MAX, &key).nanos() > u64::MAX / 2 - 2048);
        let short = retry("(timeout: \"1ns\", backoff: Exponential(limit: 1, jitter: 1))");
        assert!((1..1000).all(|attempt| short.wait(attempt, &key) == Span::from_nanos(1)));
    }
}
