//! The errors of a table, and the problems of a scenario that follow from them.

use crate::vocab::Problem;
use std::fmt;
use std::path::{Path, PathBuf};

/// Largest absolute value of a cell. Sums of squares of larger numbers may be infinite.
pub(super) const LARGEST: f64 = 1e100;

/// What is computed from each row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The number in a column.
    Column(String),
    /// The output.
    Output,
    /// A class, in words ("column \"income\" above 60000").
    Class(String),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => write!(f, "column \"{name}\""),
            Self::Output => f.write_str("the output"),
            Self::Class(words) => f.write_str(words),
        }
    }
}

/// A cell, in a table, that is not a number or is too large a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCell {
    /// Line in the file, from 1.
    pub line: u64,
    /// Name of the column.
    pub column: String,
    /// The cell's text.
    pub found: String,
}

impl fmt::Display for BadCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} \"{}\": \"{}\"", self.line, self.column, self.found)
    }
}

/// An error in a table.
#[derive(Debug)]
pub enum TableError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason, in the operating system's words.
        reason: String,
    },
    /// The file is not CSV.
    NotCsv {
        /// The file.
        file: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// What is wrong, in the reader's words.
        reason: String,
    },
    /// No rows below the header.
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// The table has no column of this name.
    NoColumn {
        /// The file.
        file: PathBuf,
        /// The requested name.
        column: String,
        /// The names of the table's columns.
        known: Vec<String>,
    },
    /// Two columns have this name.
    TwoColumns {
        /// The file.
        file: PathBuf,
        /// The line in the file with the names of the columns, counted from 1.
        line: u64,
        /// The name of both columns.
        column: String,
    },
    /// A cell that is not a number, or is too large a number.
    NotANumber {
        /// The file.
        file: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell's text.
        found: String,
        /// Some of the other cells that are not numbers or are too large.
        others: Vec<BadCell>,
        /// How many such cells were found, this one included; 1 if reading stopped at this cell.
        count: usize,
    },
    /// A cell that is not as expected.
    WrongCell {
        /// The file.
        file: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// What was expected.
        expected: String,
        /// The cell's text.
        found: String,
    },
    /// A value that no row has.
    NeverOccurs {
        /// The file.
        file: PathBuf,
        /// Name of the column.
        column: String,
        /// The value looked for.
        value: String,
        /// A value that does occur.
        example: String,
    },
    /// A column of categories with more values than can become inputs.
    TooManyCategories {
        /// The file.
        file: PathBuf,
        /// Name of the column.
        column: String,
        /// Number of its values.
        found: usize,
        /// Largest number of values.
        most: usize,
    },
    /// A logarithm that is undefined in at least one row: ln(x), where x is not above 0, or ln(1 + x), where x is not above
    /// -1.
    NoLogarithm {
        /// The file.
        file: PathBuf,
        /// The quantity x.
        of: Quantity,
        /// The logarithm: "ln(x)" or "ln(1 + x)".
        logarithm: &'static str,
        /// The smallest x.
        smallest: f64,
    },
    /// A number is not finite after scaling.
    NotScalable {
        /// The file.
        file: PathBuf,
        /// The quantity that is scaled.
        of: Quantity,
    },
    /// A quantity has the same value in every row.
    Constant {
        /// The file.
        file: PathBuf,
        /// The quantity.
        of: Quantity,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(f, "{}: {reason}", file.display()),
            Self::NotCsv { file, line, reason } => write!(f, "{}:{line}: {reason}", file.display()),
            Self::NoRows { file } => write!(f, "{}: no rows below the header line", file.display()),
            Self::NoColumn { file, column, .. } => {
                write!(f, "{}: no column is called \"{column}\"", file.display())
            }
            Self::TwoColumns { file, line, column } => {
                write!(f, "{}:{line}: two columns are called \"{column}\"", file.display())
            }
            Self::NotANumber { file, line, column, found, others, count } => {
                let large = found.parse::<f64>().is_ok_and(f64::is_finite);
                let size = if large { format!(" from -{LARGEST:e} to {LARGEST:e}") } else { String::new() };
                write!(
                    f,
                    "{}:{line}: column \"{column}\": expected a number{size}, found \"{found}\"",
                    file.display()
                )?;
                if others.is_empty() {
                    return Ok(());
                }
                let named: Vec<String> = others.iter().map(ToString::to_string).collect();
                let more = if named.len() + 1 < *count { ", .." } else { "" };
                write!(f, "; {count} cells are not such numbers, also {}{more}", named.join(", "))
            }
            Self::NeverOccurs { file, column, value, example } => write!(
                f,
                "{}: no row has \"{value}\" in column \"{column}\" (the first has \"{example}\")",
                file.display()
            ),
            Self::WrongCell { file, line, column, expected, found } => write!(
                f,
                "{}:{line}: column \"{column}\": expected {expected}, found \"{found}\"",
                file.display()
            ),
            Self::TooManyCategories { file, column, found, most } => write!(
                f,
                "{}: column \"{column}\" has {found} different values, more than the {most} that can become inputs",
                file.display()
            ),
            Self::NoLogarithm { file, of, logarithm, smallest } => write!(
                f,
                "{}: {logarithm} of {of} is undefined: the smallest x is {smallest}",
                file.display()
            ),
            Self::NotScalable { file, of } => {
                write!(f, "{}: {of} has a number that is infinite after scaling", file.display())
            }
            Self::Constant { file, of } => {
                write!(f, "{}: {of} is the same in every row", file.display())
            }
        }
    }
}

impl std::error::Error for TableError {}

/// The fields of an objective at which problems of its tables are reported.
pub(in crate::objectives) trait TableFields {
    /// The field that names a file.
    fn file(&self, file: &Path) -> String;

    /// The field that names a column of a file.
    fn column(&self, file: &Path, column: &str) -> String;

    /// The field that states a value which must occur in a column.
    fn value(&self, file: &Path, column: &str) -> String {
        self.column(file, column)
    }

    /// How to correct a cell that is not a number.
    fn cell_cure(&self) -> &'static str {
        "correct the cell, drop the row, or name another column"
    }

    /// The field of a quantity that is the same in every row, what is expected there, and the cure.
    fn constant(&self, file: &Path, of: &Quantity) -> (String, &'static str, &'static str);

    /// The field that asks for the logarithm of a quantity.
    fn logarithm(&self, file: &Path, _: &Quantity) -> String {
        self.file(file)
    }

    /// The field with the unit of a quantity.
    fn unit(&self, file: &Path, _: &Quantity) -> String {
        self.file(file)
    }
}

impl TableError {
    /// The problem of a scenario, at the field that causes this error.
    pub(in crate::objectives) fn problem(&self, fields: &impl TableFields) -> Problem {
        let wrong =
            |path: String, expected: &str, cure: &str| Problem::wrong(path, expected, self.to_string(), cure);
        match self {
            Self::Unreadable { file, .. } => wrong(
                fields.file(file),
                "a CSV file that can be read",
                "paths begin at the folder of the scenario file; name a further folder with --data DIR",
            ),
            Self::NotCsv { file, .. } | Self::NoRows { file } => wrong(
                fields.file(file),
                "a CSV file with a header line and rows of equal length",
                "correct the file",
            ),
            Self::NoColumn { file, column, known } => {
                Problem::unknown(fields.column(file, column), "column", column, known)
            }
            Self::TwoColumns { file, column, .. } => wrong(
                fields.column(file, column),
                "a name that only one column has",
                "rename one of the two columns, or drop it",
            ),
            Self::NotANumber { file, column, .. } => {
                wrong(fields.column(file, column), "a column of numbers", fields.cell_cure())
            }
            Self::WrongCell { file, column, .. } => {
                let cure = "correct the cell, or drop the row";
                wrong(fields.column(file, column), "a column whose cells can all be used", cure)
            }
            Self::NeverOccurs { file, column, .. } => wrong(
                fields.value(file, column),
                "a value that occurs in the column",
                "write it as the file does",
            ),
            Self::TooManyCategories { file, column, .. } => wrong(
                fields.column(file, column),
                "a column with few different values",
                "name a coarser column, or compute inputs with `derived: { \"name\": Equals(column: .., value: ..) }`",
            ),
            Self::NoLogarithm { file, of, .. } => wrong(
                fields.logarithm(file, of),
                "numbers that have a logarithm",
                "leave out the logarithm, or shift the numbers",
            ),
            Self::NotScalable { file, of } => {
                wrong(fields.unit(file, of), "a unit that leaves numbers finite", "write a larger unit")
            }
            Self::Constant { file, of } => {
                let (field, expected, cure) = fields.constant(file, of);
                wrong(field, expected, cure)
            }
        }
    }
}
