//! A request to stop: one thread makes it, and the others check for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A request to stop a run. All clones share it. After the first request, a replication in progress is finished, unless it
/// asks a user's program: such a replication stops at its next question that has no stored answer. After a second request,
/// the answer to a question that has been asked is no longer awaited either.
#[derive(Clone, Debug, Default)]
pub struct Interruption(Arc<AtomicU8>);

impl Interruption {
    /// Requests to stop. Returns the number of requests so far, this one included: 2 stands for two or more.
    pub fn request(&self) -> u8 {
        let add = |requests: u8| Some((requests + 1).min(2));
        let before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add).unwrap_or_default();
        (before + 1).min(2)
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Whether a stop was requested more than once.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}
