//! A party of the scenario that takes no part in the protocol.

use crate::kernel::{Context, Input, Party, Protocol};

/// A party that ignores every input.
#[derive(Clone, Debug)]
pub(in crate::protocols) struct IdleParty;

impl<P: Protocol> Party<P> for IdleParty {
    fn handle(&mut self, _: Input<P>, _: &mut Context<'_, P>) {}
}
