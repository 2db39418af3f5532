//! Reports: documents of sections, shown as text or an HTML page; the report of a run is made from the run's files only.

pub mod document;
mod number;
mod page;
pub mod plots;
mod render_html;
mod render_table;
mod render_text;
mod sections;
mod words;

pub use number::{quantity, regret, seconds};
pub use page::{PAGE, Page};
pub use plots::sequence;
pub use render_html::Refresh;
pub use render_text::WIDTH;
pub use sections::account::{account_curve, account_over_rounds};
pub use sections::audit::audit_chart;
pub use sections::explain::explain_chart;
pub use sections::threshold::threshold_chart;
pub use words::{cause, connection};

use crate::accounting::Statement;
use crate::audit::Finding;
use crate::audit::systems::NotAudited;
use crate::study::{
    Comparison, DrySeries, Explained, FolderError, Forked, LedgerGroup, Plan, RunFolder, Summary, Threshold,
    files,
};
use document::{Block, Card, Document, Layout, Section, Table};
use plots::Chart;
use sections::Curves;
use serde::Serialize;

/// A study's report as plain data, with charts.
#[must_use]
pub fn document(page: &Page) -> Document {
    sections::of_page(page)
}

/// The page as HTML.
#[must_use]
pub fn page(page: &Page) -> String {
    render_html::page(&document(page))
}

/// The HTML page of a run that is not finished: a line on the run's progress and, if there is a `page`, the report so
/// far. The HTML page reloads itself as `refresh` says.
#[must_use]
pub fn growing_page(page: Option<&Page>, line: &str, refresh: Refresh<'_>) -> String {
    match page {
        Some(page) => render_html::growing(&render_html::page(&document(page)), line, refresh),
        None => render_html::waiting(line, refresh),
    }
}

/// Writes the page of a run into its folder; writes nothing if the folder has no manifest or no summary.
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

/// How much of a report a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A few lines per series: regret, privacy losses to each observer, and costs, so that the report fits on a screen.
    #[default]
    Short,
    /// The short report with the losses by every accountant, every condition, and everything that is taken as public.
    Accountants,
    /// Every cell, count, condition and accountant.
    Full,
}

/// The properties of a terminal, and how much of a report it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Its width in columns.
    pub width: usize,
    /// Whether curves are shown as block characters.
    pub sparklines: bool,
    /// How much is shown.
    pub detail: Detail,
}

impl Default for Terminal {
    /// The short report in 80 columns, without sparklines, as it is printed if the output is not a terminal.
    fn default() -> Self {
        Self { width: WIDTH, sparklines: false, detail: Detail::Short }
    }
}

/// The report, without colour, no wider than the terminal.
#[must_use]
pub fn text(summary: &Summary, terminal: Terminal) -> String {
    let curves = if terminal.sparklines { Curves::Sparklines } else { Curves::Nowhere };
    let document = match terminal.detail {
        Detail::Full => sections::of_summary(summary, curves),
        detail => sections::brief::document(summary, curves, detail == Detail::Accountants),
    };
    render_text::document(&document, terminal.width)
}

/// The three answers of a study in sentences: how good, at what cost, who learned what.
#[must_use]
pub fn headline(summary: &Summary) -> Vec<Card> {
    sections::headline::cards(summary)
}

/// All series and cells in one LaTeX table.
#[must_use]
pub fn latex(summary: &Summary) -> String {
    render_table::latex(&sections::paper_table::table(summary))
}

/// All series and cells in one Markdown table.
#[must_use]
pub fn markdown(summary: &Summary) -> String {
    render_table::markdown(&sections::paper_table::table(summary))
}

/// A value as one JSON document with a newline at the end.
#[must_use]
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string(document).expect("plain data with text keys");
    text.push('\n');
    text
}

/// The results of a dry run as text, no wider than `width` columns.
#[must_use]
pub fn dry_text(plan: &Plan, all: &[DrySeries], width: usize) -> String {
    render_text::document(&sections::dry::document(plan, all), width)
}

/// The comparison of the branches of a fork as text, no wider than `width` columns. `at` is the point of the fork in words,
/// such as "after round 20".
#[must_use]
pub fn fork_text(plan: &Plan, at: &str, forked: &Forked, width: usize) -> String {
    render_text::document(&sections::fork::document(plan, at, forked), width)
}

/// Two runs side by side: a line for each series and cell, or with `full` a table of every metric for each series and cell.
#[must_use]
pub fn comparison_text(comparison: &Comparison, full: bool, width: usize) -> String {
    render_text::document(&sections::comparison::document(comparison, full), width)
}

/// A table whose first row is its header, no wider than `width` columns.
#[must_use]
pub fn plain_table(header: Vec<String>, rows: Vec<Vec<String>>, width: usize) -> String {
    let table = Table { layout: Layout::Plain, ..Table::new("", header, rows, 0) };
    render_text::section(&Section { blocks: vec![Block::Table(table)], ..Section::default() }, width)
}

/// A line broken between words at `width` columns; a word that is longer than a line is broken after its commas, and
/// spaces within a line are kept. Further lines are indented by `indent` columns.
#[must_use]
pub fn folded(line: &str, indent: usize, width: usize) -> String {
    render_text::folded(line, indent, width)
}

/// The result of the command `threshold` as text: where one series stops being better than another.
#[must_use]
pub fn threshold_text(found: &Threshold, width: usize) -> String {
    render_text::document(&sections::threshold::document(found), width)
}

/// The result of the command `explain` as text: which of the varied values matter.
#[must_use]
pub fn explain_text(found: &Explained, width: usize) -> String {
    render_text::document(&sections::explain::document(found), width)
}

/// The privacy losses of a run by every accountant, no wider than `width` columns. First there is an entry for each series,
/// observer and unit. Then there is an entry for each sum of a loss about a row and a loss about an outcome: the loss about
/// a person who contributes both. Cells with the same epsilons share an entry.
#[must_use]
pub fn account_table(groups: &[LedgerGroup], width: usize) -> String {
    render_text::section(&sections::account::of_groups(groups), width)
}

/// The privacy loss of some releases of a run by every accountant, with the neighbouring relation, no wider than `width`
/// columns.
#[must_use]
pub fn account_group(group: &LedgerGroup, width: usize) -> String {
    render_text::section(&sections::account::of_group(group), width)
}

/// The privacy loss of a list of releases by every accountant, as a table no wider than `width` columns.
#[must_use]
pub fn account_text(title: &str, statement: &Statement, width: usize) -> String {
    render_text::section(&sections::account::section(title, statement), width)
}

pub use sections::account::{AccountDocument, AccountantFigures, ReleaseFacts, account_document};
pub use sections::audit::AuditDocument;

/// One finding of an audit in full, no wider than `width` columns.
#[must_use]
pub fn audit_text(finding: &Finding, width: usize) -> String {
    render_text::section(&sections::audit::of_finding(finding), width)
}

/// Several findings of an audit, a line each, no wider than `width` columns.
#[must_use]
pub fn audit_table(title: &str, findings: &[Finding], width: usize) -> String {
    render_text::section(&sections::audit::of_findings(title, findings), width)
}

/// The series, or parts of series, that were not audited, a line each, no wider than `width` columns; empty if there are
/// none.
#[must_use]
pub fn audit_left_out(left_out: &[NotAudited], width: usize) -> String {
    render_text::section(&sections::audit::of_left_out(left_out), width)
}

/// A message of several lines, each broken between words at `width` columns.
#[must_use]
pub fn message(text: &str, width: usize) -> String {
    render_text::message(text, width)
}
