//! The round of a message or fact, for traces, dry runs and forks. A protocol may call it a round, trial, user or call.

use crate::kernel::Protocol;

/// A protocol whose messages and facts belong to rounds.
pub trait Rounds: Protocol {
    /// The round that a message is about. The default: none; then a dry run has no answers to count.
    fn round(message: &Self::Message) -> Option<u64> {
        let _ = message;
        None
    }

    /// The round that is closed when this fact is recorded. The default: none; then there is no fork after a round, and a
    /// dry run has no rounds to time.
    fn closes(fact: &Self::Fact) -> Option<u64> {
        let _ = fact;
        None
    }
}
