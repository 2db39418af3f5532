//! Ends a series early, and says why.

use super::facts::{Fact, Stating};
use super::record::BudgetReached;
use crate::kernel::Context;
use crate::privacy::ledger::ReleaseError;
use std::fmt::Display;

/// Ends the series because a party cannot go on.
pub fn end<P: Stating>(ctx: &mut Context<'_, P>, reason: impl Display) {
    ctx.record(Fact::Ended { reason: reason.to_string() });
    ctx.stop();
}

/// Ends the series because a release did not happen; `what` names the step that cannot be completed.
pub fn give_up<P: Stating>(ctx: &mut Context<'_, P>, what: &str, error: &ReleaseError) {
    let reason = format!("{what}: {error}");
    ctx.record(match error {
        ReleaseError::Refused(refusal) => Fact::BudgetReached(BudgetReached { reason, fail: refusal.fail }),
        ReleaseError::Mechanism(_) => Fact::Ended { reason },
    });
    ctx.stop();
}
