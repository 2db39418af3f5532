//! A reader: receives the publication and uses it.

use super::messages::{Message, OwnFact, ReleaseProtocol};
use crate::kernel::{Context, Input, Party};
use crate::rng::Stream;

/// One reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// Number of settings to choose from, which is public.
    pub(super) n: usize,
    /// Random numbers for a choice without a publication.
    pub(super) stream: Stream,
    pub(super) chosen: bool,
}

impl Party<ReleaseProtocol> for Reader {
    fn handle(&mut self, input: Input<ReleaseProtocol>, ctx: &mut Context<'_, ReleaseProtocol>) {
        let Input::Message { from, message: Message::Publish { setting, .. }, .. } = input else { return };
        if !self.chosen {
            let blind = |stream: &mut Stream| stream.below(self.n as u64);
            let setting =
                setting.map_or_else(|| blind(&mut self.stream), |setting| setting.into_inner() as u64);
            ctx.record(OwnFact::Chosen { setting }.into());
            self.chosen = true;
        }
        ctx.send(from, Message::Received);
    }
}
