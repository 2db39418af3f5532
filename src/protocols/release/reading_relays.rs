//! The relays of the messages of a private release.

use crate::vocab::Observer;
use std::sync::Arc;

/// Relays, by the messages that they can read or see. The owner and the owner's machines are not among them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadingRelays {
    /// Relays that can read messages between the owner and its workers.
    pub(super) of_training: Arc<[Observer]>,
    /// Relays that can read messages from the owner to readers; no reader is among them.
    pub(super) of_publication: Arc<[Observer]>,
    /// Relays that can read messages to workers or messages to readers; no reader is among them.
    pub(super) of_either: Arc<[Observer]>,
    /// Relays of messages to workers or to readers, whether or not the relays can read the messages: even the number, the
    /// times and the lengths of messages may depend on outcomes. No reader is among these relays.
    pub(super) of_traffic: Arc<[Observer]>,
    /// The relays of `of_traffic`, and readers that relay messages to workers. All of these parties see when a search ends.
    pub(super) of_search: Arc<[Observer]>,
}
