//! The columns of a user's CSV file: which of them become inputs of a model, and why the others do not.

use crate::objectives::{CsvTable, TableError};
use crate::vocab::counted;
use std::collections::BTreeSet;

/// Largest number of columns that become inputs: a model with more inputs needs more rows than most CSV files have.
const MAX_INPUTS: usize = 6;

/// Largest number of different texts in a column whose texts become categories.
const MAX_CATEGORIES: usize = 8;
/// Smallest number of rows per category, on average, in a column whose texts become categories.
const ROWS_PER_CATEGORY: usize = 3;

/// The columns of a CSV file.
pub(super) struct Columns {
    /// Names of the columns that become inputs.
    pub(super) inputs: Vec<String>,
    /// Names of those input columns that hold categories.
    pub(super) one_hot: Vec<String>,
    /// Number of inputs of the model: one for a column of numbers, and one per category of a column of categories.
    pub(super) width: usize,
    /// Whether an input column has missing cells.
    pub(super) gaps: bool,
    /// The columns that are neither inputs nor the output, each with the reason: "id: counts the rows".
    pub(super) left_out: Vec<String>,
    /// Number of rows.
    pub(super) rows: usize,
}

impl Columns {
    /// Selects the inputs: in the order of the file, the first six columns other than `output` whose values vary and are
    /// either numbers or a few different texts. Columns without a name or with the name of another column are left out, and
    /// so is a column of numbers that counts the rows. Cells may be missing.
    pub(super) fn of(table: &CsvTable, output: &str) -> Self {
        let mut found = Self {
            inputs: Vec::new(),
            one_hot: Vec::new(),
            width: 0,
            gaps: false,
            left_out: Vec::new(),
            rows: table.len(),
        };
        for name in table.names().iter().filter(|name| *name != output) {
            match role(table, name, found.inputs.len()) {
                Role::Input { categories, gaps } => {
                    found.inputs.push(name.clone());
                    found.one_hot.extend(categories.map(|_| name.clone()));
                    found.width += categories.unwrap_or(1);
                    found.gaps |= gaps;
                }
                Role::LeftOut(reason) => found.left_out.push(format!("{}: {reason}", name.escape_debug())),
            }
        }
        found
    }
}

/// The use of a column in the scenario.
enum Role {
    Input {
        /// Number of the column's categories; `None` for a column of numbers.
        categories: Option<usize>,
        /// Whether cells are missing.
        gaps: bool,
    },
    /// The column does not become an input, for this reason.
    LeftOut(String),
}

/// The use of a column in the scenario, if there are already `inputs` inputs.
fn role(table: &CsvTable, name: &str, inputs: usize) -> Role {
    let left_out = |reason: &str| Role::LeftOut(reason.to_owned());
    if name.is_empty() {
        return left_out("a column without a name");
    }
    if table.names().iter().filter(|other| *other == name).count() > 1 {
        return left_out("two columns have this name");
    }
    let Ok(numbers) = table.numbers_and_gaps(name) else { return of_texts(table, name, inputs) };
    let known: Vec<f64> = numbers.iter().copied().flatten().collect();
    let gaps = known.len() < numbers.len();
    match known.first() {
        None => left_out("all cells are missing"),
        Some(first) if known.iter().all(|number| number.to_bits() == first.to_bits()) => {
            Role::LeftOut(format!("{first} in every row{}", if gaps { " that has a value" } else { "" }))
        }
        Some(_) if known.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9) => {
            left_out("counts the rows")
        }
        Some(_) if inputs == MAX_INPUTS => beyond(),
        Some(_) => Role::Input { categories: None, gaps },
    }
}

/// The use of a column that has texts, if there are already `inputs` inputs.
fn of_texts(table: &CsvTable, name: &str, inputs: usize) -> Role {
    let reason = || match Gaps::of(table, name) {
        Ok(Some(gaps)) => Role::LeftOut(gaps.told()),
        Ok(None) | Err(_) => Role::LeftOut("not a column of numbers".to_owned()),
    };
    let Ok(texts) = table.texts_and_gaps(name) else { return reason() };
    let known: BTreeSet<&str> = texts.iter().copied().flatten().collect();
    // A column of numbers with a few texts among them holds no categories.
    let numbers = known.iter().any(|text| text.parse::<f64>().is_ok());
    let few = (2..=MAX_CATEGORIES).contains(&known.len()) && known.len() * ROWS_PER_CATEGORY <= texts.len();
    match few && !numbers {
        false => reason(),
        true if inputs == MAX_INPUTS => beyond(),
        true => Role::Input { categories: Some(known.len()), gaps: texts.iter().any(Option::is_none) },
    }
}

fn beyond() -> Role {
    Role::LeftOut(format!("beyond the first {MAX_INPUTS} (add it to `inputs` if it matters)"))
}

/// The cells of a column that are not numbers.
pub(super) struct Gaps {
    /// Number of these cells.
    cells: usize,
    /// Number of empty cells, and the line of the first empty cell.
    empty: (usize, u64),
    /// How many rows the table has.
    rows: usize,
    /// Line and text of the first cell that is not a number.
    first: (u64, String),
}

impl Gaps {
    /// The cells of a column that are not numbers; `None` if all its cells are numbers.
    ///
    /// # Errors
    /// [`TableError`] if no column, or more than one, has this name.
    pub(super) fn of(table: &CsvTable, column: &str) -> Result<Option<Self>, TableError> {
        let found = table.not_numbers(column)?;
        let first = found.first().map(|(line, text)| (*line, (*text).to_owned()));
        let empty = || found.iter().filter(|(_, text)| text.is_empty());
        let empty = (empty().count(), empty().next().map_or(0, |(line, _)| *line));
        Ok(first.map(|first| Self { cells: found.len(), empty, rows: table.len(), first }))
    }

    /// Whether the column holds numbers of which some are missing: more than half of its cells are numbers, or every
    /// cell that is not a number is empty.
    pub(super) fn in_numbers(&self) -> bool {
        2 * self.cells < self.rows || self.cells == self.empty.0
    }

    /// The number of empty cells in words, with the line of the first one: "one empty cell, line 19"; `None` if there
    /// are none.
    pub(super) fn empty(&self) -> Option<String> {
        match self.empty {
            (0, _) => None,
            (1, line) => Some(format!("one empty cell, line {line}")),
            (cells, line) => {
                Some(format!("{}, the first in line {line}", counted(cells as u64, "empty cell")))
            }
        }
    }

    /// These cells in words, with the line of the first one: "one empty cell, line 19", "texts, \"Bonn\" in line 2".
    pub(super) fn told(&self) -> String {
        let (line, text) = (self.first.0, self.first.1.escape_debug());
        match self.cells {
            cells if cells == self.empty.0 => self.empty().unwrap_or_default(),
            1 => format!("one cell that is not a number, \"{text}\" in line {line}"),
            cells if cells == self.rows => format!("texts, \"{text}\" in line {line}"),
            cells => format!("{cells} cells that are not numbers, the first \"{text}\" in line {line}"),
        }
    }
}
