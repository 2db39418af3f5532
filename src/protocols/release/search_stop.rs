//! Why the owner's search ends early.

use super::failure::CannotRelease;
use crate::privacy::ledger::ReleaseError;

/// Why a search ends before its last trial.
pub(super) enum SearchStop {
    /// The search or the release is not possible.
    Failed(CannotRelease),
    /// The budget allows no further release.
    Refused(ReleaseError),
}

impl From<CannotRelease> for SearchStop {
    fn from(reason: CannotRelease) -> Self {
        Self::Failed(reason)
    }
}
