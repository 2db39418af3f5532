//! Reads a whole CSV file with a header line, and defines the possible errors.

use std::fmt;
use std::path::{Path, PathBuf};

/// Largest absolute value of a cell. Sums of squares of larger numbers may be infinite.
const LARGEST: f64 = 1e100;

/// A table of texts with named columns.
#[derive(Clone, Debug)]
pub struct CsvTable {
    /// The file that was read.
    pub file: PathBuf,
    names: Vec<String>,
    /// Line of the names in the file, from 1.
    head: u64,
    /// Line of each row in the file, from 1.
    lines: Vec<u64>,
    rows: Vec<csv::StringRecord>,
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
        /// Line in the file, from 1, where known.
        line: Option<u64>,
        /// What the reader found.
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
        /// Line of the names, from 1.
        line: u64,
        /// The name of both columns.
        column: String,
    },
    /// A cell that is not a number, or one that is too large.
    NotANumber {
        /// The file.
        file: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// Name of the column.
        column: String,
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
    /// A logarithm, of x or of 1 + x, of a number that is not above 0.
    NoLogarithm {
        /// The file.
        file: PathBuf,
        /// The quantity whose logarithm is needed, in words.
        what: String,
        /// The smallest x.
        smallest: f64,
    },
    /// A number is not finite after scaling.
    NotScalable {
        /// The file.
        file: PathBuf,
        /// The quantity that is scaled: a column or the output, in words.
        what: String,
    },
    /// A quantity has the same value in every row.
    Constant {
        /// The file.
        file: PathBuf,
        /// The quantity, in words.
        what: String,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(f, "{}: {reason}", file.display()),
            Self::NotCsv { file, line: Some(line), reason } => {
                write!(f, "{}:{line}: {reason}", file.display())
            }
            Self::NotCsv { file, line: None, reason } => write!(f, "{}: {reason}", file.display()),
            Self::NoRows { file } => write!(f, "{}: no rows below the header line", file.display()),
            Self::NoColumn { file, column, .. } => {
                write!(f, "{}: no column is called \"{column}\"", file.display())
            }
            Self::TwoColumns { file, line, column } => {
                write!(f, "{}:{line}: two columns are called \"{column}\"", file.display())
            }
            Self::NotANumber { file, line, column, found } => {
                let large = found.parse::<f64>().is_ok_and(f64::is_finite);
                let size = if large { format!(" from -{LARGEST:e} to {LARGEST:e}") } else { String::new() };
                write!(
                    f,
                    "{}:{line}: column \"{column}\": expected a number{size}, found \"{found}\"",
                    file.display()
                )
            }
            Self::NeverOccurs { file, column, value, example } => write!(
                f,
                "{}: no row has \"{value}\" in column \"{column}\" (the first has \"{example}\")",
                file.display()
            ),
            Self::NoLogarithm { file, what, smallest } => {
                write!(f, "{}: {what} has no logarithm: its smallest value is {smallest}", file.display())
            }
            Self::NotScalable { file, what } => {
                write!(f, "{}: {what} has a number that is infinite after scaling", file.display())
            }
            Self::Constant { file, what } => {
                write!(f, "{}: {what} is the same in every row", file.display())
            }
        }
    }
}

impl std::error::Error for TableError {}

impl CsvTable {
    /// Reads a file whole. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// [`TableError`] if it cannot be read, is not CSV or has no rows.
    pub fn read(file: &Path) -> Result<Self, TableError> {
        let unreadable = |reason: String| TableError::Unreadable { file: file.to_owned(), reason };
        if file.is_dir() {
            return Err(unreadable("is a folder, not a CSV file".to_owned()));
        }
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_path(file)
            .map_err(|error| unreadable(describe(&error)))?;
        let not_csv = |error: &csv::Error| TableError::NotCsv {
            file: file.to_owned(),
            line: error.position().map(csv::Position::line),
            reason: describe(error),
        };
        let names: Vec<String> =
            reader.headers().map_err(|error| not_csv(&error))?.iter().map(str::to_owned).collect();
        // The position of a record is the end of the record before, so it precedes comments. The reader's own position is
        // the line after the names if lines end with a line feed.
        let head = reader.position().line().saturating_sub(1);
        if let Some(reason) = other_separator(&names) {
            return Err(TableError::NotCsv { file: file.to_owned(), line: Some(head), reason });
        }
        let (mut lines, mut rows) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = record.map_err(|error| not_csv(&error))?;
            lines.push(record.position().map_or(0, csv::Position::line));
            rows.push(record);
        }
        if rows.is_empty() {
            return Err(TableError::NoRows { file: file.to_owned() });
        }
        Ok(Self { file: file.to_owned(), names, head, lines, rows })
    }

    /// Names of the columns, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows; always false, because `read` refuses such a file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A column as texts.
    ///
    /// # Errors
    /// [`TableError::NoColumn`] or [`TableError::TwoColumns`].
    pub fn texts(&self, column: &str) -> Result<Vec<&str>, TableError> {
        let index =
            self.names.iter().position(|name| name == column).ok_or_else(|| TableError::NoColumn {
                file: self.file.clone(),
                column: column.to_owned(),
                known: self.names.clone(),
            })?;
        if self.names[index + 1..].iter().any(|name| name == column) {
            let (file, column) = (self.file.clone(), column.to_owned());
            return Err(TableError::TwoColumns { file, line: self.head, column });
        }
        // The reader refuses rows whose length differs from that of the header, so every row has this column.
        Ok(self.rows.iter().map(|row| row.get(index).unwrap_or("")).collect())
    }

    /// A column as finite numbers of absolute value at most 1e100.
    ///
    /// # Errors
    /// [`TableError::NoColumn`], [`TableError::TwoColumns`] or [`TableError::NotANumber`].
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>, TableError> {
        let parse = |(text, &line): (&&str, &u64)| {
            text.parse::<f64>().ok().filter(|value| value.abs() <= LARGEST).ok_or_else(|| {
                TableError::NotANumber {
                    file: self.file.clone(),
                    line,
                    column: column.to_owned(),
                    found: (*text).to_owned(),
                }
            })
        };
        self.texts(column)?.iter().zip(&self.lines).map(parse).collect()
    }
}

/// The error of a header line with another separator instead of commas; `None` for any other header line.
fn other_separator(names: &[String]) -> Option<String> {
    let [only] = names else { return None };
    let (mark, word) =
        [(';', "`;`"), ('\t', "tabs"), ('|', "`|`")].into_iter().find(|(mark, _)| only.contains(*mark))?;
    let columns = only.split(mark).count();
    Some(format!(
        "the file is separated by {word} ({columns} columns), expected commas: save it with commas between cells and points \
         in numbers, as a spreadsheet program's export as CSV offers"
    ))
}

/// The csv crate's error message without its mention of line and byte.
fn describe(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "no such file".to_owned()
        }
        csv::ErrorKind::Io(error) => error.to_string(),
        csv::ErrorKind::Utf8 { .. } => "expected UTF-8 text".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("expected {expected_len} cells as in the header line, found {len}")
        }
        _ => error.to_string(),
    }
}
