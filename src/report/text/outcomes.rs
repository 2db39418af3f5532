//! Outcomes beside their bounds.

use super::style::{table, wrapped};
use crate::report::outcomes::tables;
use crate::study::Summary;

pub(super) fn section(out: &mut String, summary: &Summary) {
    for outcome in tables(summary) {
        table(out, &outcome.title, outcome.header, outcome.rows, outcome.first_number);
        if !outcome.sources.is_empty() {
            wrapped(out, 2, &format!("bound: {}", outcome.sources.join("; ")));
        }
    }
}
