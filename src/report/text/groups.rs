//! How groups of agents fared.

use super::style::{table, wrapped};
use crate::report::groups::{JAIN, TITLE, groups};
use crate::study::Summary;

pub(super) fn section(out: &mut String, summary: &Summary) {
    let Some(groups) = groups(summary) else { return };
    table(out, TITLE, groups.header, groups.rows, groups.first_number);
    for note in &groups.notes {
        wrapped(out, 2, note);
    }
    wrapped(out, 2, JAIN);
}
