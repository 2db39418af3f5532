//! How tables and long lines look.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

/// Columns of the terminal that the report is made for.
pub(super) const WIDTH: u16 = 80;

pub(super) fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// A table with a rule below its header and none between rows; columns from `first_number` on stand to the right.
pub(in crate::report) fn table(
    out: &mut String,
    title: &str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    first_number: usize,
) {
    let least = least_widths(&header, &rows, first_number).unwrap_or_default();
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (column, width) in table.column_iter_mut().zip(least) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
    line(out, "");
    line(out, title);
    for row in table.lines() {
        line(out, &row);
    }
}

/// The least width of each column for as much as possible to stay whole: headers' words are broken first, then numbers
/// lose their errors to the next line; nothing is held where even that does not fit.
fn least_widths(header: &[String], rows: &[Vec<String>], first_number: usize) -> Option<Vec<u16>> {
    let long = |text: &str| text.chars().count();
    let word = |text: &String| text.split_whitespace().map(long).max().unwrap_or(0);
    // Columns whose header's words may not be broken either, and whether numbers keep their errors beside them.
    let widths = |(headers, whole): (usize, bool)| {
        let width = |(column, name): (usize, &String)| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let cell =
                cells.map(|cell| if whole && column >= first_number { long(cell) } else { word(cell) });
            let header = if column < headers { word(name) } else { 0 };
            // One column of padding to either side.
            cell.max().unwrap_or(0).max(header) as u16 + 2
        };
        header.iter().enumerate().map(width).collect::<Vec<u16>>()
    };
    let fits = |widths: &Vec<u16>| widths.iter().map(|width| width + 1).sum::<u16>() <= WIDTH + 1;
    let all = header.len();
    let tiers =
        [(all, true), (first_number, true), (0, true), (all, false), (first_number, false), (0, false)];
    tiers.into_iter().map(widths).find(fits)
}

/// Rows without header or rules, indented.
pub(super) fn block(out: &mut String, indent: usize, rows: Vec<Vec<String>>, right: &[usize]) {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new())
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH - indent as u16);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in table.lines() {
        line(out, &format!("{}{row}", " ".repeat(indent)));
    }
}

/// Breaks a long line between words; the first line indented by `indent`, later ones by four more.
pub(in crate::report) fn wrapped(out: &mut String, indent: usize, text: &str) {
    let mut current = " ".repeat(indent);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && current.chars().count() + 1 + word.chars().count() > WIDTH as usize {
            line(out, &current);
            current = " ".repeat(indent + 4);
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    line(out, &current);
}
