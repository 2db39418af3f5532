//! A worker: trains a model for each requested setting. The training time is the party's `compute` in the scenario.

use super::messages::{Message, ReleaseProtocol};
use crate::kernel::{Context, Input, Party};

/// A machine of the data owner. Parties without a role in the protocol are workers too, but nobody sends them requests.
#[derive(Clone, Debug)]
pub(super) struct Worker;

impl Party<ReleaseProtocol> for Worker {
    fn handle(&mut self, input: Input<ReleaseProtocol>, ctx: &mut Context<'_, ReleaseProtocol>) {
        if let Input::Message {
            from,
            message: Message::Train { trial, .. } | Message::TrainAt { trial, .. },
            ..
        } = input
        {
            ctx.send(from, Message::Trained { trial });
        }
    }
}
