//! Tables as text: rows below a header and a rule, or groups of rows below the values that they share.

use super::lines::{FIXED, Lines};
use super::words::words;
use crate::report::document::{Cell, Column, Layout, Table, Visibility};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

/// A table below its title.
pub(super) fn table(out: &mut Lines, table: &Table) {
    out.line("");
    out.wrapped(0, &table.title);
    // A table without rows is shown as its title alone.
    if table.rows.is_empty() {
        return;
    }
    let shown: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns[*at].shown != Visibility::Page).collect();
    let columns: Vec<&Column> = shown.iter().map(|&at| &table.columns[at]).collect();
    let header = || columns.iter().map(|column| column.name.clone()).collect::<Vec<String>>();
    let rows = || {
        let row = |cells: &[Cell]| shown.iter().map(|&at| text(&cells[at])).collect::<Vec<String>>();
        table.rows.iter().map(|one| row(&one.cells)).collect::<Vec<_>>()
    };
    match table.layout {
        Layout::Rows => {
            let numbers: Vec<bool> = columns.iter().map(|column| column.number).collect();
            let heads = shown.iter().filter(|at| **at < table.heads).count();
            with_header(out, Grid { header: header(), rows: rows(), numbers }, heads);
        }
        Layout::Plain => Grid::of_words(std::iter::once(header()).chain(rows()).collect()).print(out, 2),
        Layout::Grouped => grouped(out, table, &columns, rows()),
    }
    for remark in table.rows.iter().filter(|_| table.layout != Layout::Grouped).map(|row| &row.remark) {
        if !remark.is_empty() {
            out.wrapped(2, remark);
        }
    }
}

fn text(cell: &Cell) -> String {
    if !cell.short.is_empty() {
        return cell.short.clone();
    }
    let findings = cell.findings.iter().map(|finding| {
        let figure = |figure: &[Vec<_>; 3]| figure.each_ref().map(|part| words(part)).join(" ");
        let figures: Vec<String> = finding.figures.iter().map(figure).collect();
        [words(&finding.words), figures.join(", "), finding.remark.clone()].join(" ").trim().to_owned()
    });
    let findings = findings.collect::<Vec<_>>().join("; ");
    format!("{}{findings}", words(&cell.words)).replace(FIXED, " ")
}

/// Prints a table with a rule below the header and none between rows; numbers are aligned to the right. Columns that do not
/// fit without breaking a word follow in a further block, which repeats the first `heads` columns.
fn with_header(out: &mut Lines, table: Grid, heads: usize) {
    let width = out.width;
    let columns = table.header.len();
    let least: Vec<usize> = (0..columns.min(heads + 1)).collect();
    let table = if table.only(&least).widths(width).is_none() { table.loosened() } else { table };
    let all: Vec<usize> = (0..columns).collect();
    let heads = heads.min(columns.saturating_sub(1));
    let mut rest = &all[heads..];
    let mut first = true;
    while !rest.is_empty() || (first && columns > 0) {
        // As many columns as fit, and at least one.
        let beside = |count: usize| [&all[..heads], &rest[..count]].concat();
        let fitting =
            (1..=rest.len()).rev().find(|&count| table.only(&beside(count)).widths(width).is_some());
        let count = fitting.unwrap_or(1).min(rest.len());
        let shown = table.only(&beside(count));
        if !first {
            out.line("");
        }
        shown.print(out, 0);
        rest = &rest[count..];
        first = false;
    }
}

/// The header and the rows of a table, as texts.
struct Grid {
    /// The names of the columns; empty for a table without a header.
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Which columns are numbers.
    numbers: Vec<bool>,
}

/// Spaces to the left and to the right of each cell: first those of a table that has room for them, then those of a table
/// that has to be narrow.
const PADDINGS: [(u16, u16); 2] = [(1, 1), (0, 1)];

/// Smallest number of characters of a word that may be broken after its commas, if the table does not fit otherwise.
const LONG: usize = 16;

impl Grid {
    /// Rows of words without a header.
    fn of_words(rows: Vec<Vec<String>>) -> Self {
        let numbers = vec![false; rows.iter().map(Vec::len).max().unwrap_or(0)];
        Self { header: Vec::new(), rows, numbers }
    }

    /// The table with a space after each comma of a long word. At such a space a line may end.
    fn loosened(mut self) -> Self {
        let loose = |word: &str| {
            if word.chars().count() < LONG {
                word.to_owned()
            } else {
                word.replace(',', ", ").trim_end().to_owned()
            }
        };
        for cell in self.rows.iter_mut().flatten().chain(&mut self.header) {
            *cell = cell.split(' ').map(loose).collect::<Vec<_>>().join(" ");
        }
        self
    }

    /// The table with only these columns, in this order.
    fn only(&self, columns: &[usize]) -> Self {
        let pick = |cells: &[String]| {
            columns.iter().map(|&at| cells.get(at).cloned().unwrap_or_default()).collect::<Vec<String>>()
        };
        Self {
            header: pick(&self.header),
            rows: self.rows.iter().map(|row| pick(row)).collect(),
            numbers: columns.iter().map(|&at| self.numbers[at]).collect(),
        }
    }

    /// The padding, and the smallest width of each column, with which the table fits and no word is broken; `None` if
    /// nothing fits. If a table does not fit, the padding is reduced. If this is not enough, cells of text are broken
    /// between words, first with the wide padding and then with the reduced one. Finally, cells of numbers are broken
    /// between words too, so that a standard error ("+- 0.0042") moves to the next line.
    fn widths(&self, most: usize) -> Option<((u16, u16), Vec<u16>)> {
        let long = |text: &str| text.chars().count() as u16;
        let word = |text: &String| text.split_whitespace().map(long).max().unwrap_or(0);
        // `words` and `numbers`: whether cells of text and cells of numbers stay on one line.
        let widths = |(padding, words, numbers): ((u16, u16), bool, bool)| {
            let width = |column: usize| {
                let whole = if self.numbers[column] { numbers } else { words };
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                let cell = cells.map(|cell| if whole { long(cell) } else { word(cell) });
                let name = self.header.get(column).map_or(0, word);
                cell.max().unwrap_or(0).max(name) + padding.0 + padding.1
            };
            (0..self.numbers.len()).map(width).collect::<Vec<u16>>()
        };
        let fits =
            |widths: &Vec<u16>| widths.iter().map(|width| usize::from(*width) + 1).sum::<usize>() <= most + 1;
        let [wide, narrow] = PADDINGS;
        let ways = [
            (wide, true, true),
            (narrow, true, true),
            (wide, false, true),
            (narrow, false, true),
            (narrow, false, false),
        ];
        ways.into_iter().map(|way| (way.0, widths(way))).find(|(_, widths)| fits(widths))
    }

    /// Prints the table, indented.
    fn print(self, out: &mut Lines, indent: usize) {
        let width = out.width.saturating_sub(indent);
        let table = if self.widths(width).is_none() { self.loosened() } else { self };
        let found = table.widths(width);
        let Self { header, rows, numbers } = table;
        let mut table = comfy_table::Table::new();
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
        if header.is_empty() {
            table.load_style(TableStyle::new());
        } else {
            let rule = LineStyle::none().fill('─').junction('─');
            table.load_style(TableStyle::new().header_separator(rule)).set_header(header);
        }
        table.add_rows(rows);
        let (padding, least) = found.map_or((PADDINGS[0], None), |(padding, least)| (padding, Some(least)));
        for (column, number) in table.column_iter_mut().zip(numbers) {
            column.set_padding(padding);
            if number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for (column, width) in table.column_iter_mut().zip(least.unwrap_or_default()) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
        for row in table.lines() {
            out.line(&format!("{}{row}", " ".repeat(indent)));
        }
    }
}

/// Prints groups of rows. The value of the first column stands at the left edge, above all groups that share it; the value
/// of the second column stands indented, above its group.
fn grouped(out: &mut Lines, table: &Table, columns: &[&Column], rows: Vec<Vec<String>>) {
    let mut last: Option<&str> = None;
    let mut rest = rows.as_slice();
    let mut remarks = table.rows.iter().map(|row| row.remark.as_str());
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|row| row[..2] == first[..2]).count();
        let (group, after) = rest.split_at(length);
        rest = after;
        if last != Some(&first[0]) {
            out.wrapped(0, &first[0]);
            last = Some(&first[0]);
        }
        out.wrapped(2, &first[1]);
        let cell = |(column, cell): (&&Column, &String)| {
            if column.named_in_cells { format!("{} {cell}", column.name) } else { cell.clone() }
        };
        let cells = |row: &Vec<String>| columns.iter().zip(row).skip(2).map(cell).collect::<Vec<String>>();
        Grid::of_words(group.iter().map(cells).collect()).print(out, 4);
        for remark in remarks.by_ref().take(length).filter(|remark| !remark.is_empty()) {
            out.wrapped(5, remark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::render_text::WIDTH;

    fn shown(header: &[&str], cells: &[&str], first_number: usize) -> String {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
        let mut out = Lines::new(WIDTH);
        table(&mut out, &Table::new("title", owned(header), vec![owned(cells)], first_number));
        out.text
    }

    #[test]
    fn words_of_a_header_stay_whole_in_a_wide_table() {
        let header = [
            "series",
            "epsilon",
            "noise",
            "group",
            "agents",
            "simple regret",
            "worst",
            "cumulative",
            "queries",
        ];
        let cells =
            ["late on top", "10.0", "1.0", "slow", "20", "0.0334 ± 0.0042", "0.0964", "1234.2821", "24.6"];
        let text = shown(&header, &cells, 4);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for word in header.iter().flat_map(|name| name.split(' ')) {
            assert!(text.contains(word), "{word} is broken: {text}");
        }
    }

    #[test]
    fn rows_that_share_their_first_columns_show_them_once() {
        let names = ["series", "who", "accountant", "epsilon"];
        let columns = names.map(|name| Column::new(name, false)).to_vec();
        let row = |accountant: &str| {
            ["A", "lab about a row", accountant, "1"].map(Cell::plain).into_iter().collect()
        };
        let mut rows: Vec<crate::report::document::Row> = vec![row("tight"), row("basic")];
        rows[1].remark = "runs differ".to_owned();
        let layout = Layout::Grouped;
        let one = Table { title: "T".to_owned(), columns, heads: 2, rows, layout, ..Table::default() };
        let mut out = Lines::new(WIDTH);
        table(&mut out, &one);
        assert_eq!(out.text, "\nT\nA\n  lab about a row\n     tight  1\n     basic  1\n     runs differ\n");
    }
}
