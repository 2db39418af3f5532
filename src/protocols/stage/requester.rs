//! Requests with retries: a request is sent again after each timeout, and given up after a maximum number of attempts.

use super::retries::{AfterTimeout, Attempts, Retry};
use crate::kernel::{Context, Digest, Digestible, Protocol};
use crate::rng::Key;
use crate::vocab::PartyId;
use std::collections::BTreeMap;

/// The timer of an open request; holds the request's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryTimer(u64);

impl RetryTimer {
    /// The number of the request, from 0.
    #[must_use]
    pub const fn request(self) -> u64 {
        self.0
    }
}

impl Digestible for RetryTimer {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
    }
}

#[derive(Clone, Debug)]
struct Question<P: Protocol> {
    to: PartyId,
    message: P::Message,
    attempts: Attempts,
}

/// The state of a party's requests.
#[derive(Clone, Debug)]
pub struct Requester<P: Protocol> {
    retry: Retry,
    key: Key,
    next: u64,
    /// The open requests, by number.
    open: BTreeMap<u64, Question<P>>,
}

impl<P: Protocol> Requester<P>
where
    P::Timer: From<RetryTimer>,
{
    /// A requester without an open request. The jitter of waits is drawn from children of `key` in the seed tree; no
    /// other party or purpose may use this key.
    #[must_use]
    pub fn new(retry: Retry, key: Key) -> Self {
        Self { retry, key, next: 0, open: BTreeMap::new() }
    }

    /// The requester after a crash in which its party lost its memory: the same retry settings, no open request, and other
    /// random draws.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self::new(self.retry, self.key.child("after a crash"))
    }

    /// When and how often a request is sent.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Changes when and how often a request is sent. A timer that is already running keeps its time.
    pub fn set_retry(&mut self, retry: Retry) {
        self.retry = retry;
    }

    /// Sends a request, after closing all open requests. While the party is offline, the request waits as [`Retry`] says.
    pub fn ask(&mut self, ctx: &mut Context<'_, P>, to: PartyId, message: P::Message) {
        self.close(ctx);
        self.ask_too(ctx, to, message);
    }

    /// Sends a further request, without closing the open ones, and returns its number: requests are numbered from 0, in
    /// the order in which they are first sent.
    pub fn ask_too(&mut self, ctx: &mut Context<'_, P>, to: PartyId, message: P::Message) -> u64 {
        let number = self.next;
        self.next += 1;
        let mut attempts = Attempts::new(self.key.index(number));
        attempts.try_again(self.retry, ctx, RetryTimer(number).into(), |ctx| ctx.send(to, message.clone()));
        self.open.insert(number, Question { to, message, attempts });
        number
    }

    /// Closes all open requests, because their answers have arrived or are not needed.
    pub fn close(&mut self, ctx: &mut Context<'_, P>) {
        for question in std::mem::take(&mut self.open).into_values() {
            question.attempts.end(ctx);
        }
    }

    /// Closes the request with this number, if it is open, because its answer has arrived.
    pub fn close_one(&mut self, ctx: &mut Context<'_, P>, number: u64) {
        if let Some(question) = self.open.remove(&number) {
            question.attempts.end(ctx);
        }
    }

    /// Handles a timer: sends the timer's request again, or gives the request up after the last attempt. While the party is
    /// offline, the request waits as [`Retry`] says. The timer of a closed request has no effect.
    pub fn timeout(&mut self, ctx: &mut Context<'_, P>, timer: RetryTimer) -> AfterTimeout {
        let Some(question) = self.open.get_mut(&timer.0) else { return AfterTimeout::Stale };
        let Question { to, message, attempts } = question;
        let verdict =
            attempts.handle_timeout(self.retry, ctx, timer.into(), |ctx| ctx.send(*to, message.clone()));
        if verdict == AfterTimeout::GaveUp {
            self.open.remove(&timer.0);
        }
        verdict
    }

    /// Reacts to [`Input::CameBack`](crate::kernel::Input::CameBack): requests that waited for the connection are sent
    /// at once. If a party does not call this method, such a request is sent at its next timeout.
    pub fn reconnected(&mut self, ctx: &mut Context<'_, P>) {
        for (number, Question { to, message, attempts }) in &mut self.open {
            if attempts.waits_for_connection() {
                attempts.end(ctx);
                attempts.try_again(self.retry, ctx, RetryTimer(*number).into(), |ctx| {
                    ctx.send(*to, message.clone());
                });
            }
        }
    }
}
