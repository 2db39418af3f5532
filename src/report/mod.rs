//! What people read: terminal tables, JSON and a page, from what a run left behind and nothing else.

mod account;
mod audit;
mod cells;
mod comparison;
mod counts;
mod groups;
mod html;
mod jitter;
mod matrix;
mod number;
mod outcomes;
pub mod plots;
mod public;
mod published;
mod relations;
mod sequence;
mod text;
mod whole_study;
mod words;

pub use account::{account_curve, account_json, account_over_rounds, account_text};
pub use audit::{audit_chart, audit_json, audit_left_out, audit_message, audit_table, audit_text};
pub use comparison::comparison_text;
pub use html::{Page, charts, page, write_page};
pub use number::{quantity, regret, seconds};
pub use sequence::sequence;
pub use text::{dry_text, fork_text, text};
pub use words::{cause, connection};

use crate::study::Summary;

/// Name of the page in a run folder.
pub const PAGE: &str = "report.html";

/// The summary as one JSON document with a newline at the end.
#[must_use]
pub fn json(summary: &Summary) -> String {
    let mut text = serde_json::to_string(summary).expect("plain data with text keys");
    text.push('\n');
    text
}
