//! HTML tables that scroll on a small screen and that a screen reader reads in order.

use super::words::{explained, words};
use crate::report::document::{Cell, Column, Finding, Layout, Row, Table, Visibility};
use maud::{Markup, html};

/// Number of characters above which a cell of text is kept wide, so that no row becomes very high on a narrow screen.
const LONG: usize = 24;
/// Number of characters up to which a narrow screen may break a cell of text at every space.
const FEW: usize = 12;

/// A table below its caption.
pub(super) fn table(table: &Table) -> Markup {
    let shown: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns[*at].shown != Visibility::Terminal).collect();
    let findings = table.rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.findings.is_empty());
    scrolling(
        &table.title,
        html! {
            table.findings[findings] {
                caption { span { (table.title) } }
                thead { tr { @for &at in &shown {
                    @let column = &table.columns[at];
                    th scope="col" .number[column.number] { (explained(&column.explanation, html! { (column.name) })) }
                } } }
                tbody { @for (index, row) in table.rows.iter().enumerate() { tr { @for &at in &shown {
                    (placed(table, index, row, at, findings))
                } } } }
            }
        },
    )
}

/// A cell in its row; empty if a cell above it spans this row too. In a table of findings, a cell that does not identify
/// the row also has the name of its column, which a narrow screen shows before or above the cell's text.
fn placed(table: &Table, index: usize, row: &Row, at: usize, findings: bool) -> Markup {
    let (column, cell) = (&table.columns[at], &row.cells[at]);
    let head = at < table.heads;
    let grouped = table.layout == Layout::Grouped && table.heads > 0;
    if !(head && grouped) {
        return html! {
            @if head { th scope="row" class=[width(column, cell)] { (content(cell)) } }
            @else { td class=[width(column, cell)] data-name=[findings.then_some(&column.name)] {
                (content(cell)) @if !grouped && at + 1 == row.cells.len() && !row.remark.is_empty() { div.note { (row.remark) } }
            } }
        };
    }
    let alike = |other: &Row| (0..=at).all(|column| other.cells[column].text() == row.cells[column].text());
    if index > 0 && alike(&table.rows[index - 1]) {
        return html! {};
    }
    let rows = table.rows[index..].iter().take_while(|other| alike(other)).count();
    let of_all = at + 1 == table.heads;
    let remarks = table.rows[index..index + rows].iter().filter(|row| of_all && !row.remark.is_empty());
    html! {
        th scope=(if rows > 1 { "rowgroup" } else { "row" }) rowspan=[(rows > 1).then_some(rows)] class=[width(column, cell)] {
            (content(cell)) @for row in remarks { div.note { (row.remark) } }
        }
    }
}

/// The CSS class that sets the width of a cell; `None` for a short text.
fn width(column: &Column, cell: &Cell) -> Option<&'static str> {
    match cell.text().chars().count() {
        _ if column.number => Some("number"),
        _ if !cell.findings.is_empty() => Some("observed"),
        letters if letters > LONG => Some("long"),
        letters if letters > FEW => Some("words"),
        _ => None,
    }
}

fn content(cell: &Cell) -> Markup {
    html! { (words(&cell.words)) @for one in &cell.findings { (finding(one)) } }
}

fn finding(finding: &Finding) -> Markup {
    html! {
        div.finding {
            div { (words(&finding.words)) }
            table.figures { tbody { @for [name, figure, more] in &finding.figures { tr {
                th scope="row" { (words(name)) } td { (words(figure)) } td { (words(more)) }
            } } } }
            @if !finding.remark.is_empty() { div.note { (finding.remark) } }
        }
    }
}

/// A frame that scrolls sideways by touch, mouse or keyboard.
pub(super) fn scrolling(label: &str, inside: Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (inside) } }
}
