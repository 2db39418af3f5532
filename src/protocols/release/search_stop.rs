//! Why the owner's search ends early.

use super::failure::CannotRelease;
use super::messages::ReleaseProtocol;
use super::public::PUBLIC;
use crate::kernel::Context;
use crate::privacy::ledger::ReleaseError;
use crate::protocols::stage::{end, end_refused};

/// Why a search ends before its last trial.
pub(super) enum SearchStop {
    /// The search or the release is not possible.
    Failed(CannotRelease),
    /// A release did not happen: the budget does not allow it, or the mechanism failed.
    Refused(ReleaseError),
}

impl From<CannotRelease> for SearchStop {
    fn from(reason: CannotRelease) -> Self {
        Self::Failed(reason)
    }
}

impl SearchStop {
    /// Ends the series with the reason. `announced` says whether readers already know a setting, and `for_training`
    /// whether the budget refused a release because of training records.
    pub(super) fn end(self, ctx: &mut Context<'_, ReleaseProtocol>, announced: bool, for_training: bool) {
        let undone = if announced { "gets nothing more" } else { "gets nothing" };
        let for_training = if for_training {
            ", since no mechanism protects training records, and the budget limits their privacy loss too (`unit: ValidationRecord` is for \
             validation records alone)"
        } else {
            ""
        };
        match self {
            Self::Failed(reason) => end(ctx, reason),
            Self::Refused(error) => end_refused(ctx, &format!("{PUBLIC} {undone}{for_training}"), &error),
        }
    }
}
