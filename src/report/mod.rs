//! Reports: a document of sections, made from the files of a run only, shown as text, JSON or a page.

pub mod document;
mod number;
mod page;
pub mod plots;
mod render_html;
mod render_text;
mod sections;
mod words;

pub use number::{quantity, regret, seconds};
pub use page::{PAGE, Page};
pub use plots::sequence;
pub use sections::account::{account_curve, account_over_rounds};
pub use sections::audit::audit_chart;
pub use words::{cause, connection};

use crate::accounting::Statement;
use crate::audit::Finding;
use crate::audit::systems::NotAudited;
use crate::study::{Comparison, DrySeries, FolderError, Forked, Plan, RunFolder, Summary, files};
use document::Document;
use plots::Chart;
use sections::Curves;
use serde::Serialize;

/// A study's report as plain data, with charts.
#[must_use]
pub fn document(page: &Page) -> Document {
    sections::of_page(page)
}

/// The page as text of HTML.
#[must_use]
pub fn page(page: &Page) -> String {
    render_html::page(&document(page))
}

/// Writes the page of a run into its folder.
///
/// # Errors
/// [`FolderError`] if the folder cannot be read or written.
pub fn write_page(folder: &RunFolder) -> Result<(), FolderError> {
    if let Some(found) = Page::read(folder)? {
        files::write(&folder.file(PAGE), page(&found).as_bytes())?;
    }
    Ok(())
}

/// All charts of a page, the most important first.
#[must_use]
pub fn charts(page: &Page) -> Vec<Chart> {
    sections::figures(page).into_iter().flat_map(|figure| figure.charts).collect()
}

/// The whole report, at most 80 columns wide, without colour; with a sparkline per curve where `sparklines` are wanted.
#[must_use]
pub fn text(summary: &Summary, sparklines: bool) -> String {
    let curves = if sparklines { Curves::Sparklines } else { Curves::Nowhere };
    render_text::document(&sections::of_summary(summary, curves))
}

/// Anything that serialises as one JSON document with a newline at the end.
#[must_use]
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string(document).expect("plain data with text keys");
    text.push('\n');
    text
}

/// The results of a dry run.
#[must_use]
pub fn dry_text(plan: &Plan, all: &[DrySeries]) -> String {
    render_text::document(&sections::dry::document(plan, all))
}

/// The comparison of all branches of a fork.
#[must_use]
pub fn fork_text(plan: &Plan, at: &str, forked: &Forked) -> String {
    render_text::document(&sections::fork::document(plan, at, forked))
}

/// Two runs side by side.
#[must_use]
pub fn comparison_text(comparison: &Comparison) -> String {
    render_text::document(&sections::comparison::document(comparison))
}

/// The privacy loss of a list of releases by every accountant, as a table of at most 80 columns.
#[must_use]
pub fn account_text(title: &str, statement: &Statement) -> String {
    render_text::section(&sections::account::section(title, statement))
}

pub use sections::account::{AccountDocument, AccountantFigures, Finite, KnownFooting, account_document};
pub use sections::audit::AuditDocument;

/// One finding in full, at most 80 columns.
#[must_use]
pub fn audit_text(finding: &Finding) -> String {
    render_text::section(&sections::audit::of_finding(finding))
}

/// Several findings, a line each, at most 80 columns.
#[must_use]
pub fn audit_table(title: &str, findings: &[Finding]) -> String {
    render_text::section(&sections::audit::of_findings(title, findings))
}

/// The parts that were not audited, a line each, at most 80 columns; empty if there are none.
#[must_use]
pub fn audit_left_out(left_out: &[NotAudited]) -> String {
    render_text::section(&sections::audit::of_left_out(left_out))
}

/// A message of several lines, each broken between words at 80 columns.
#[must_use]
pub fn audit_message(text: &str) -> String {
    render_text::message(text)
}
