//! Ends a series early, and records the reason.

use super::facts::{Fact, RecordsFacts};
use super::record::BudgetReached;
use crate::kernel::Recorder;
use crate::privacy::ledger::ReleaseError;
use std::fmt::Display;

/// Ends the series because a party cannot continue.
pub fn end<P: RecordsFacts>(ctx: &mut dyn Recorder<P>, reason: impl Display) {
    ctx.record(Fact::Ended { reason: reason.to_string() });
    ctx.stop();
}

/// Ends the series because a release did not happen. The recorded reason is the text `what`, followed by the error.
pub fn end_refused<P: RecordsFacts>(ctx: &mut dyn Recorder<P>, what: &str, error: &ReleaseError) {
    let reason = format!("{what}: {error}");
    ctx.record(match error {
        ReleaseError::Refused(refusal) => Fact::BudgetReached(BudgetReached { reason, fail: refusal.fail }),
        ReleaseError::Mechanism(_) => Fact::Ended { reason },
    });
    ctx.stop();
}
