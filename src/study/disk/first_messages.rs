//! The first events of a study's first replication, for a message-sequence picture.

use crate::protocols::TraceEvent;
use crate::study::disk::error::FolderError;
use crate::study::disk::files;
use crate::study::disk::folder::RunFolder;
use serde::{Deserialize, Serialize};

/// Events that are kept.
pub(in crate::study) const MOST_EVENTS: usize = 400;
/// Parties that they are about: the columns of a picture.
pub(in crate::study) const MOST_PARTIES: usize = 6;
const FILE: &str = "opening.json";

/// The first events of a replication, in the series with most kinds of messages, among its first parties.
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

impl RunFolder {
    /// How the study's first replication began; `None` if that was not kept, or cannot be read: it is only a picture.
    #[must_use]
    pub fn first_messages(&self) -> Option<FirstMessages> {
        serde_json::from_str(&files::read(&self.file(FILE)).ok()?).ok()
    }

    /// Whether a file is there that does not say how the first replication began.
    pub(in crate::study) fn first_messages_are_damaged(&self) -> bool {
        self.file(FILE).exists() && self.first_messages().is_none()
    }

    /// Keeps how the study's first replication began.
    ///
    /// # Errors
    /// [`FolderError`].
    pub(in crate::study) fn keep_first_messages(
        &self,
        first_messages: &FirstMessages,
    ) -> Result<(), FolderError> {
        let text =
            serde_json::to_string(first_messages).expect("the first messages are plain data with text keys");
        Ok(files::write(&self.file(FILE), text.as_bytes())?)
    }
}
