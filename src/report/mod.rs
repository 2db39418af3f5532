//! What people read: terminal tables and JSON, from a run's summary and nothing else.

mod number;
mod text;
mod words;

pub use number::{quantity, regret, seconds};
pub use text::text;

use crate::study::Summary;

/// The summary as one JSON document with a newline at the end.
#[must_use]
pub fn json(summary: &Summary) -> String {
    let mut text = serde_json::to_string(summary).expect("plain data with text keys");
    text.push('\n');
    text
}
