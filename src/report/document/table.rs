//! Tables of a report as data, independent of the output format.

use super::span::{Span, Visibility};
use serde::Serialize;

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Number of leading columns that identify a row.
    pub heads: usize,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Row>,
    /// Its layout.
    pub layout: Layout,
    /// Where it is shown.
    pub shown: Visibility,
}

/// The layout of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rows below a header.
    #[default]
    Rows,
    /// Rows grouped by their leading columns. A terminal shows no header, and prints the values of the first two columns
    /// on separate lines above the rows that share them. A page shows a header, and each shared value once, in a cell that
    /// spans its rows.
    Grouped,
    /// Rows below a header; a terminal shows no rule below the header.
    Plain,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its header.
    pub name: String,
    /// Whether cells are aligned to the right, as numbers are.
    pub number: bool,
    /// Whether each cell begins with the column's name where the table has no header.
    pub named_in_cells: bool,
    /// Where it is shown.
    pub shown: Visibility,
    /// An explanation of its header that a page shows on request; may be empty.
    pub explanation: String,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// A remark on the row or, in the layout [`Layout::Grouped`], on all rows that have the same values as this row in the
    /// first [`Table::heads`] columns; may be empty.
    pub remark: String,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// Its text.
    pub words: Vec<Span>,
    /// A shorter text for a terminal; empty to show the whole text.
    pub short: String,
    /// Several findings in one cell, each with its own numbers; usually empty.
    pub findings: Vec<Finding>,
}

/// The releases to one observer about one kind of unit, with the epsilons of several accountants: a small table within a
/// cell.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was released, and the basis of the loss.
    pub words: Vec<Span>,
    /// One row per accountant: its name, the epsilon, and the delta.
    pub figures: Vec<[Vec<Span>; 3]>,
    /// A remark on the finding; may be empty.
    pub remark: String,
}

impl Table {
    /// A table of texts. The columns from `first_number` on are numbers; the columns before column `first_number`
    /// identify a row.
    #[must_use]
    pub fn new(
        title: impl Into<String>,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
        first_number: usize,
    ) -> Self {
        let columns = header.into_iter().enumerate();
        let columns = columns.map(|(at, name)| Column::new(name, at >= first_number)).collect();
        let rows = rows.into_iter().map(|cells| cells.into_iter().map(Cell::plain).collect::<Row>());
        Self {
            title: title.into(),
            columns,
            heads: first_number,
            rows: rows.collect(),
            layout: Layout::Rows,
            shown: Visibility::Everywhere,
        }
    }

    /// The table with an explanation of each header; `explanation` returns an empty text for a header without one.
    #[must_use]
    pub fn explained(mut self, explanation: impl Fn(&str) -> String) -> Self {
        for column in &mut self.columns {
            column.explanation = explanation(&column.name);
        }
        self
    }

    /// The table with the columns of these names shown only where `shown` says.
    #[must_use]
    pub fn column_on(mut self, shown: Visibility, names: &[&str]) -> Self {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name.as_str())) {
            column.shown = shown;
        }
        self
    }
}

impl FromIterator<Cell> for Row {
    fn from_iter<I: IntoIterator<Item = Cell>>(cells: I) -> Self {
        Self { cells: cells.into_iter().collect(), remark: String::new() }
    }
}

impl Column {
    /// A column that is shown everywhere.
    #[must_use]
    pub fn new(name: impl Into<String>, number: bool) -> Self {
        Self {
            name: name.into(),
            number,
            named_in_cells: false,
            shown: Visibility::Everywhere,
            explanation: String::new(),
        }
    }

    /// The column, with its name in each cell where the table has no header.
    #[must_use]
    pub fn named_in_cells(mut self) -> Self {
        self.named_in_cells = true;
        self
    }

    /// The column, shown only where `shown` says.
    #[must_use]
    pub fn on(mut self, shown: Visibility) -> Self {
        self.shown = shown;
        self
    }
}

impl Cell {
    /// A cell of plain words.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(vec![Span::plain(text)])
    }

    /// A cell of words.
    #[must_use]
    pub fn of(words: Vec<Span>) -> Self {
        Self { words, ..Self::default() }
    }

    /// Its words without style.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(|span| span.text.as_str()).collect()
    }
}
