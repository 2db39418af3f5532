//! Tables of a report as data, independent of the output format.

use super::span::{Shown, Span};
use serde::Serialize;

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Number of columns, from the first on, that identify a row.
    pub heads: usize,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Row>,
    /// Its layout.
    pub layout: Layout,
    /// Where it is shown.
    pub shown: Shown,
}

/// The layout of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rows below a header.
    #[default]
    Rows,
    /// In a terminal the values of the first two columns are printed on lines of their own, above the rows that have
    /// them in common, and there is no header. A page has a header, and shows such a value once, in a cell that spans
    /// these rows.
    Grouped,
    /// As `Rows`, but in a terminal without a rule below the header.
    Plain,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its header.
    pub name: String,
    /// Whether cells are aligned to the right, as numbers are.
    pub number: bool,
    /// Whether its name is repeated in each cell where columns have no header.
    pub named_in_cells: bool,
    /// Where it is shown.
    pub shown: Shown,
    /// An explanation of its header that a page opens on request; may be empty.
    pub explanation: String,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// A remark about the row, or about the rows with the same values in the first [`Table::heads`] columns.
    pub remark: String,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// Its text.
    pub words: Vec<Span>,
    /// A shorter form for a terminal; empty if not needed.
    pub short: String,
    /// Several findings in one cell, each with numbers of its own; usually empty.
    pub findings: Vec<Finding>,
}

/// What one observer learned, with the epsilon of each accountant: a small table within a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was learned.
    pub words: Vec<Span>,
    /// By accountant: its name, the epsilon, and the delta.
    pub figures: Vec<[Vec<Span>; 3]>,
    /// A remark about it.
    pub remark: String,
}

impl Table {
    /// A table of texts; columns from `first_number` on are numbers, those before it identify a row.
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
            shown: Shown::Everywhere,
        }
    }

    /// The table with an explanation of each header that has one.
    #[must_use]
    pub fn explained(mut self, explanation: impl Fn(&str) -> String) -> Self {
        for column in &mut self.columns {
            column.explanation = explanation(&column.name);
        }
        self
    }

    /// The table; the columns with these names are shown only where `shown` says.
    #[must_use]
    pub fn column_on(mut self, shown: Shown, names: &[&str]) -> Self {
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
            shown: Shown::Everywhere,
            explanation: String::new(),
        }
    }

    /// The column with its name in each cell where columns have no header.
    #[must_use]
    pub fn named_in_cells(mut self) -> Self {
        self.named_in_cells = true;
        self
    }

    /// The column, shown only where `shown` says.
    #[must_use]
    pub fn on(mut self, shown: Shown) -> Self {
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
