//! A reader: receives the publication and uses it.

use super::messages::{Message, OwnFact, ReleaseProtocol};
use crate::kernel::{Context, Input, Party};
use crate::rng::Stream;
use crate::vocab::SearchBox;

/// One reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// Number of settings to choose from, which is public.
    pub(super) n: usize,
    /// The box, if settings are its points.
    pub(super) domain: Option<SearchBox>,
    /// Random numbers for the reader's own choice, if no setting or point is published.
    pub(super) stream: Stream,
    pub(super) chosen: bool,
}

impl Reader {
    /// Uses the published point of a box, or a random point if none is published. Does nothing if this reader has used a
    /// point before.
    fn use_point(&mut self, published: Option<Vec<f64>>, ctx: &mut Context<'_, ReleaseProtocol>) {
        if self.chosen {
            return;
        }
        let stream = &mut self.stream;
        let random = |domain: &SearchBox| {
            let shares: Vec<f64> = (0..domain.d()).map(|_| stream.uniform()).collect();
            domain.from_unit(&domain.at_shares(&shares))
        };
        let point = published.or_else(|| self.domain.as_ref().map(random)).unwrap_or_default();
        ctx.record(OwnFact::ChosenAt { point }.into());
        self.chosen = true;
    }
}

impl Party<ReleaseProtocol> for Reader {
    fn handle(&mut self, input: Input<ReleaseProtocol>, ctx: &mut Context<'_, ReleaseProtocol>) {
        let (from, setting) = match input {
            Input::Message { from, message: Message::Publish { setting, .. } } => (from, setting),
            Input::Message { from, message: Message::PublishAt { point, .. } } => {
                self.use_point(point.map(crate::privacy::Released::into_inner), ctx);
                ctx.send(from, Message::Received);
                return;
            }
            _ => return,
        };
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
