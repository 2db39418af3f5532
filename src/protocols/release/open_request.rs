//! A request of the owner that waits for an answer: a trial, or a publication to a reader.

use super::messages::{Message, ReleaseProtocol, Timer};
use crate::kernel::Context;
use crate::protocols::stage::Retry;
use crate::protocols::stage::retries::Attempts;
use crate::rng::Key;
use crate::vocab::PartyId;

/// A request that waits for an answer.
#[derive(Clone)]
pub(super) struct OpenRequest {
    pub(super) to: PartyId,
    pub(super) message: Message,
    pub(super) attempts: Attempts,
}

impl OpenRequest {
    /// Sends a request, unless the owner is offline and waits until it is online again; sets the request's timer in both
    /// cases. The jitter of the request's waits is drawn from a child of the key `retries`.
    pub(super) fn new(
        (retry, retries): (Retry, Key),
        ctx: &mut Context<'_, ReleaseProtocol>,
        to: PartyId,
        message: Message,
        timer: Timer,
    ) -> Self {
        let (kind, number) = match timer {
            Timer::Trial(trial) => ("trial", trial),
            Timer::Reader(place) => ("reader", place as u64),
        };
        let mut attempts = Attempts::new(retries.child(kind).index(number));
        attempts.try_again(retry, ctx, timer, |ctx| ctx.send(to, message.clone()));
        Self { to, message, attempts }
    }

    /// Sends the request if it waited for the owner's own connection.
    pub(super) fn reconnected(&mut self, retry: Retry, ctx: &mut Context<'_, ReleaseProtocol>, timer: Timer) {
        let Self { to, message, attempts } = self;
        if attempts.waits_for_connection() {
            attempts.end(ctx);
            attempts.try_again(retry, ctx, timer, |ctx| ctx.send(*to, message.clone()));
        }
    }
}
