//! A request with retries, for parties written as processes.

use super::retries::Retry;
use crate::kernel::{Connection, ProcessContext, Processes};
use crate::vocab::PartyId;

impl Retry {
    /// Sends a question and waits for its answer, sending the question again after each timeout. `answer` is called on
    /// messages from `to`, and its first result that is not `None` is returned. Returns `None` if no attempt was answered in
    /// time.
    ///
    /// While the process itself is offline, nothing is sent and no attempt counts: the process waits until it is online
    /// again, with the exceptions that [`Retry`] states. When the answer has arrived, all other messages from `to` in the
    /// mailbox are discarded, such as late answers to earlier questions. The random parts of the waits (`jitter`) are the
    /// same for two questions that are asked of the same party at the same virtual time.
    pub async fn ask<P: Processes, T>(
        &self,
        ctx: &ProcessContext<P>,
        to: PartyId,
        question: P::Message,
        answer: impl Fn(&P::Message) -> Option<T> + Clone + 'static,
    ) -> Option<T> {
        let key = ctx.key("retries").index(u64::from(to.0)).index(ctx.now().nanos());
        let (mut sent, mut away) = (0, None);
        while sent < self.attempts.get() {
            if Self::waits(ctx.connection(), away, ctx.now()) {
                let since = *away.get_or_insert(ctx.now());
                let wait = self.timeout.max(ctx.now().since(since));
                ctx.timeout(wait, ctx.connection_change()).await;
                continue;
            }
            if ctx.connection() == Connection::Online {
                away = None;
            }
            sent += 1;
            ctx.send(to, question.clone());
            let is_answer = answer.clone();
            let wanted = ctx.receive_if(move |from, message| from == to && is_answer(message).is_some());
            if let Some((_, message)) = ctx.timeout(self.wait(sent, &key), wanted).await {
                ctx.discard(|from, _| from == to);
                return answer(&message);
            }
        }
        None
    }
}
