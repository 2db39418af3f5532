//! A worker: trains a model for each requested setting. How long that takes is its `compute` in the scenario.

use super::messages::{Message, World};
use crate::kernel::{Context, Input, Party};

/// A machine of the owner's. Also used for a party that takes no part, since it only reacts to requests.
#[derive(Clone, Debug)]
pub(super) struct Worker;

impl Party<World> for Worker {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        if let Input::Message { from, message: Message::Train { trial, .. }, .. } = input {
            ctx.send(from, Message::Trained { trial });
        }
    }
}
