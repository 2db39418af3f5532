//! The first events of a study's first replication, for a message-sequence diagram.

use crate::protocols::TraceEvent;
use crate::study::disk::error::FolderError;
use crate::study::disk::files;
use crate::study::disk::folder::RunFolder;
use serde::{Deserialize, Serialize};

/// Largest number of events that are stored.
pub(in crate::study) const MAX_EVENTS: usize = 400;
/// Largest number of parties between which events are stored; each party is a column of the
/// diagram.
pub(in crate::study) const MAX_PARTIES: usize = 6;
pub(in crate::study) const FILE: &str = "opening.json";

/// The first events (at most `MAX_EVENTS`) of one series in a replication. The series is the one with the most kinds of
/// messages. If there are more than `MAX_PARTIES` parties, only events among `MAX_PARTIES` of them are stored: the parties
/// that are the first to send a message or to have a message sent to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstMessages {
    /// Name of the series.
    pub series: String,
    /// Number of the replication.
    pub replication: u64,
    /// Names of the parties by their index.
    pub names: Vec<String>,
    /// The events in order.
    pub events: Vec<TraceEvent>,
}

impl FirstMessages {
    /// The contents of the file.
    fn text(&self) -> String {
        serde_json::to_string(self).expect("the first messages are plain data with text keys")
    }
}

impl RunFolder {
    /// The first events of the study's first replication; `None` if they were not stored or cannot be read. This is no
    /// error, because the events are only for a diagram.
    #[must_use]
    pub fn first_messages(&self) -> Option<FirstMessages> {
        serde_json::from_str(&files::read(&self.file(FILE)).ok()?).ok()
    }

    /// Whether the file of the first events exists but cannot be read.
    pub(in crate::study) fn first_messages_are_damaged(&self) -> bool {
        self.file(FILE).exists() && self.first_messages().is_none()
    }

    /// Whether the file of the first events can be read and its text differs from that of `made`.
    pub(in crate::study) fn first_messages_differ(&self, made: &FirstMessages) -> bool {
        let text = files::read(&self.file(FILE)).ok();
        self.first_messages().is_some() && text != Some(made.text())
    }

    /// Stores the first events of the study's first replication.
    ///
    /// # Errors
    /// [`FolderError`].
    pub(in crate::study) fn keep_first_messages(
        &self,
        first_messages: &FirstMessages,
    ) -> Result<(), FolderError> {
        Ok(files::write(&self.file(FILE), first_messages.text().as_bytes())?)
    }
}
