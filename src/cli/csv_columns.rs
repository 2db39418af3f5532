//! The columns of a user's CSV file: which become inputs, and why others cannot, with the first place.

use crate::objectives::{CsvTable, TableError};
use crate::vocab::counted;

/// Largest number of columns that become inputs: a model with more needs more rows than most CSV files have.
const MAX_INPUTS: usize = 6;

/// The columns of a CSV file.
pub(super) struct Columns {
    /// Names of the columns that become inputs.
    pub(super) inputs: Vec<String>,
    /// The other columns, each with the reason: "age: one empty cell, line 19".
    pub(super) left_out: Vec<String>,
    /// Number of rows.
    pub(super) rows: usize,
}

impl Columns {
    /// The inputs are the first six columns whose values are numbers, vary, and do not just count the rows, in the order of
    /// the file.
    pub(super) fn of(table: &CsvTable, output: &str) -> Self {
        let mut found = Self { inputs: Vec::new(), left_out: Vec::new(), rows: table.len() };
        for name in table.names().iter().filter(|name| *name != output) {
            match reason(table, name, found.inputs.len()) {
                None => found.inputs.push(name.clone()),
                Some(reason) => found.left_out.push(format!("{}: {reason}", name.escape_debug())),
            }
        }
        found
    }
}

/// Why a column does not become an input if there are already `inputs` of them; `None` if it does.
fn reason(table: &CsvTable, name: &str, inputs: usize) -> Option<String> {
    if name.is_empty() {
        return Some("a column without a name".to_owned());
    }
    if table.names().iter().filter(|other| *other == name).count() > 1 {
        return Some("two columns have this name".to_owned());
    }
    if let Ok(Some(gaps)) = Gaps::of(table, name) {
        return Some(gaps.told());
    }
    let numbers = table.numbers(name).ok()?;
    if numbers.iter().all(|number| number.to_bits() == numbers[0].to_bits()) {
        return Some(format!("{} in every row", numbers[0]));
    }
    if numbers.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9) {
        return Some("counts the rows".to_owned());
    }
    (inputs == MAX_INPUTS)
        .then(|| format!("beyond the first {MAX_INPUTS} (add it to `inputs` if it matters)"))
}

/// The cells of a column that are not numbers.
pub(super) struct Gaps {
    /// Number of these cells.
    cells: usize,
    /// Number of these cells that are empty, and the line of the first of them.
    empty: (usize, u64),
    /// Number of rows of the table.
    rows: usize,
    /// Line and text of the first.
    first: (u64, String),
}

impl Gaps {
    /// The gaps of a column; `None` if all its cells are numbers.
    ///
    /// # Errors
    /// [`TableError`] if no column or several have the name.
    pub(super) fn of(table: &CsvTable, column: &str) -> Result<Option<Self>, TableError> {
        let found = table.not_numbers(column)?;
        let first = found.first().map(|(line, text)| (*line, (*text).to_owned()));
        let empty = || found.iter().filter(|(_, text)| text.is_empty());
        let empty = (empty().count(), empty().next().map_or(0, |(line, _)| *line));
        Ok(first.map(|first| Self { cells: found.len(), empty, rows: table.len(), first }))
    }

    /// Whether a column of numbers misses some: most cells are numbers, or the others are empty.
    pub(super) fn in_numbers(&self) -> bool {
        2 * self.cells < self.rows || self.cells == self.empty.0
    }

    /// The empty cells, with the first place: "one empty cell, line 19"; `None` if there are none.
    pub(super) fn empty(&self) -> Option<String> {
        match self.empty {
            (0, _) => None,
            (1, line) => Some(format!("one empty cell, line {line}")),
            (cells, line) => {
                Some(format!("{}, the first in line {line}", counted(cells as u64, "empty cell")))
            }
        }
    }

    /// All cells that are not numbers, with the first place: "one empty cell, line 19", "texts, \"Bonn\" in line 2".
    pub(super) fn told(&self) -> String {
        let (line, text) = (self.first.0, self.first.1.escape_debug());
        match self.cells {
            cells if cells == self.empty.0 => self.empty().unwrap_or_default(),
            1 => format!("one cell that is no number, \"{text}\" in line {line}"),
            cells if cells == self.rows => format!("texts, \"{text}\" in line {line}"),
            cells => format!("{cells} cells that are no numbers, the first \"{text}\" in line {line}"),
        }
    }
}
