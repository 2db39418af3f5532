//! How groups of agents fared.

use super::style::{table, wrapped};
use crate::report::groups::{JAIN, tables};
use crate::report::number::mean;
use crate::study::Summary;

pub(super) fn section(out: &mut String, summary: &Summary) {
    // Three errors in a row do not fit; summary.json has them.
    let tables = tables(summary, mean);
    if tables.is_empty() {
        return;
    }
    for one in tables {
        table(out, one.title, one.header, one.rows, one.first_number);
    }
    wrapped(out, 2, JAIN);
}
