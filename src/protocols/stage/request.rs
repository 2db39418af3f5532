//! A request with retries, for parties written as processes.

use super::asking::Retry;
use crate::kernel::{ProcessContext, Processes};
use crate::vocab::PartyId;

impl Retry {
    /// Sends a question and waits for its answer, asking again after each timeout: the first message of the asked
    /// party of which `answer` makes something. None when it was asked as often as allowed.
    ///
    /// Other messages of that party that have come before the answer are dropped: late answers to earlier questions.
    pub async fn ask<P: Processes, T>(
        &self,
        ctx: &ProcessContext<P>,
        to: PartyId,
        question: P::Message,
        answer: impl Fn(&P::Message) -> Option<T> + Clone + 'static,
    ) -> Option<T> {
        for _ in 0..self.attempts.get() {
            ctx.send(to, question.clone());
            let is_answer = answer.clone();
            let wanted = ctx.receive_if(move |from, message| from == to && is_answer(message).is_some());
            if let Some((_, message)) = ctx.timeout(self.timeout, wanted).await {
                ctx.discard(|from, _| from == to);
                return answer(&message);
            }
        }
        None
    }
}
