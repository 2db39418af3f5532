//! Requests with retries: one open request at a time, sent again after a timeout, given up in the end.

use crate::kernel::{Context, Digest, Digestible, Protocol, TimerTicket};
use crate::vocab::{PartyId, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How often a party sends a request, and how long it waits for each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How long to wait for an answer before asking again. Default: 1 s.
    #[serde(default = "default_timeout")]
    pub timeout: Span,
    /// How many times a request is sent in all before the party gives up. Default: 100.
    #[serde(default = "default_attempts")]
    pub attempts: NonZeroU32,
}

fn default_timeout() -> Span {
    Span::from_millis(1000)
}

fn default_attempts() -> NonZeroU32 {
    const HUNDRED: NonZeroU32 = NonZeroU32::new(100).expect("100 is not zero");
    HUNDRED
}

impl Default for Retry {
    fn default() -> Self {
        Self { timeout: default_timeout(), attempts: default_attempts() }
    }
}

impl Retry {
    /// What is wrong with the recipe as a whole.
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
}

/// The timer of an open request, by the request's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskAgain(u64);

impl Digestible for AskAgain {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
    }
}

/// The result of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request was sent again.
    AskedAgain,
    /// The request has been sent as often as allowed, and is given up now.
    GaveUp,
    /// The timer belonged to a request that was closed before.
    Stale,
}

#[derive(Clone, Debug)]
struct Question<P: Protocol> {
    number: u64,
    to: PartyId,
    message: P::Message,
    asked: u32,
    timer: TimerTicket,
}

/// The state of a party's requests.
#[derive(Clone, Debug)]
pub struct Asker<P: Protocol> {
    retry: Retry,
    next: u64,
    open: Option<Question<P>>,
}

impl<P: Protocol> Asker<P>
where
    P::Timer: From<AskAgain>,
{
    /// No request so far.
    #[must_use]
    pub fn new(retry: Retry) -> Self {
        Self { retry, next: 0, open: None }
    }

    /// The number of attempts and the timeout.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// Changes the number of attempts and the timeout, from the next timeout on.
    pub fn set_retry(&mut self, retry: Retry) {
        self.retry = retry;
    }

    /// Sends a request, and closes one that may still be open.
    pub fn ask(&mut self, ctx: &mut Context<'_, P>, to: PartyId, message: P::Message) {
        self.close(ctx);
        let number = self.next;
        self.next += 1;
        ctx.send(to, message.clone());
        let timer = ctx.after(self.retry.timeout, AskAgain(number).into());
        self.open = Some(Question { number, to, message, asked: 1, timer });
    }

    /// Closes the open request, if there is one: its answer has come.
    pub fn close(&mut self, ctx: &mut Context<'_, P>) {
        if let Some(question) = self.open.take() {
            ctx.cancel(question.timer);
        }
    }

    /// Reacts to a timer.
    pub fn timeout(&mut self, ctx: &mut Context<'_, P>, timer: AskAgain) -> Verdict {
        let Some(question) = self.open.as_mut().filter(|open| open.number == timer.0) else {
            return Verdict::Stale;
        };
        if question.asked >= self.retry.attempts.get() {
            self.open = None;
            return Verdict::GaveUp;
        }
        question.asked += 1;
        ctx.send(question.to, question.message.clone());
        question.timer = ctx.after(self.retry.timeout, timer.into());
        Verdict::AskedAgain
    }
}
