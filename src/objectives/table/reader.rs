//! Reads a whole CSV file with a header line.

use super::failure::{BadCell, LARGEST, TableError};
use crate::vocab::{CsvRows, NoSuchColumn, NotCsv, is_device_or_pipe, is_missing};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Largest number of cells that an error names besides the first.
const NAMED: usize = 5;

/// The number in a cell; `None` unless it is a finite number of absolute value at most 1e100.
fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.abs() <= LARGEST)
}

/// Largest size of a file. Reading takes two to three times the file's size in memory.
const MOST_BYTES: u64 = 512 << 20;

/// A table of texts with named columns.
#[derive(Clone, Debug)]
pub struct CsvTable {
    /// The file that was read.
    pub file: PathBuf,
    rows: CsvRows,
}

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
        if is_device_or_pipe(file) {
            return Err(unreadable("is a device or a pipe, not a CSV file".to_owned()));
        }
        let size = std::fs::metadata(file).map_or(0, |there| there.len());
        if size > MOST_BYTES {
            let reason =
                format!("has {} MiB, at most 512 are read: keep the rows that are needed", size >> 20);
            return Err(unreadable(reason));
        }
        let text = std::fs::read(file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => unreadable("no such file".to_owned()),
            _ => unreadable(error.to_string()),
        })?;
        let not_csv = |NotCsv { line, reason }| TableError::NotCsv { file: file.to_owned(), line, reason };
        let rows = CsvRows::read(&text).map_err(not_csv)?;
        if rows.is_empty() {
            return Err(TableError::NoRows { file: file.to_owned() });
        }
        Ok(Self { file: file.to_owned(), rows })
    }

    /// Names of the columns, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.rows.names()
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

    /// A column as texts, each with its line in the file, from 1.
    fn cells(&self, column: &str) -> Result<impl Iterator<Item = (u64, &str)>, TableError> {
        let (file, name) = (|| self.file.clone(), column.to_owned());
        match self.rows.position(column) {
            Ok(index) => Ok(self.rows.cells(index)),
            Err(NoSuchColumn::Missing) => {
                Err(TableError::NoColumn { file: file(), column: name, known: self.names().to_vec() })
            }
            Err(NoSuchColumn::Twice) => {
                Err(TableError::TwoColumns { file: file(), line: self.rows.head(), column: name })
            }
        }
    }

    /// A column as texts.
    ///
    /// # Errors
    /// [`TableError::NoColumn`] or [`TableError::TwoColumns`].
    pub fn texts(&self, column: &str) -> Result<Vec<&str>, TableError> {
        Ok(self.cells(column)?.map(|(_, text)| text).collect())
    }

    /// A column as texts; `None` for missing cells.
    ///
    /// # Errors
    /// As [`texts`](Self::texts).
    pub fn texts_and_gaps(&self, column: &str) -> Result<Vec<Option<&str>>, TableError> {
        Ok(self.cells(column)?.map(|(_, text)| Some(text).filter(|text| !is_missing(text))).collect())
    }

    /// A column as texts, of which at least one is this value.
    ///
    /// # Errors
    /// As [`texts`](Self::texts); [`TableError::NeverOccurs`] if no row has the value.
    pub fn texts_with(&self, column: &str, value: &str) -> Result<Vec<&str>, TableError> {
        let texts = self.texts(column)?;
        if texts.contains(&value) {
            return Ok(texts);
        }
        Err(TableError::NeverOccurs {
            file: self.file.clone(),
            column: column.to_owned(),
            value: value.to_owned(),
            example: texts.first().map(|&text| text.to_owned()).unwrap_or_default(),
        })
    }

    /// A column as finite numbers of absolute value at most 1e100.
    ///
    /// # Errors
    /// [`TableError::NoColumn`], [`TableError::TwoColumns`] or [`TableError::NotANumber`].
    pub fn numbers(&self, column: &str) -> Result<Vec<f64>, TableError> {
        let parse =
            |(line, text): (u64, &str)| number(text).ok_or_else(|| self.not_a_number(line, column, text));
        self.cells(column)?.map(parse).collect()
    }

    /// A column as numbers; `None` for missing cells.
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub fn numbers_and_gaps(&self, column: &str) -> Result<Vec<Option<f64>>, TableError> {
        let parse = |(line, text): (u64, &str)| match text {
            text if is_missing(text) => Ok(None),
            text => number(text).map(Some).ok_or_else(|| self.not_a_number(line, column, text)),
        };
        self.cells(column)?.map(parse).collect()
    }

    /// The cells of a column that [`numbers`](Self::numbers) refuses, each with its line in the file, from 1.
    ///
    /// # Errors
    /// [`TableError::NoColumn`] or [`TableError::TwoColumns`].
    pub fn not_numbers(&self, column: &str) -> Result<Vec<(u64, &str)>, TableError> {
        Ok(self.cells(column)?.filter(|(_, text)| number(text).is_none()).collect())
    }

    /// A column as numbers, without the cells of these rows, which are counted from 0.
    ///
    /// # Errors
    /// As [`numbers`](Self::numbers).
    pub(super) fn numbers_except(
        &self,
        column: &str,
        rows: &BTreeSet<usize>,
    ) -> Result<Vec<f64>, TableError> {
        let mut found = Vec::new();
        for (row, (line, text)) in self.cells(column)?.enumerate() {
            if !rows.contains(&row) {
                found.push(number(text).ok_or_else(|| self.not_a_number(line, column, text))?);
            }
        }
        Ok(found)
    }

    /// Checks that all cells of these columns are numbers.
    ///
    /// # Errors
    /// [`TableError::NotANumber`] with the first cell that is not a number, the number of such cells, and the places of some
    /// others. The columns are read one after the other, so the first cell is in the first column that has such a cell.
    /// [`TableError::NoColumn`] or [`TableError::TwoColumns`] unless there is exactly one column of each name.
    pub(super) fn all_numbers(&self, columns: &[&str]) -> Result<(), TableError> {
        let mut bad: Vec<(u64, String, String)> = Vec::new();
        for column in columns {
            let cells = self.not_numbers(column)?.into_iter();
            bad.extend(cells.map(|(line, text)| (line, (*column).to_owned(), text.to_owned())));
        }
        let count = bad.len();
        let mut bad = bad.into_iter();
        let Some((line, column, found)) = bad.next() else { return Ok(()) };
        let others = bad.take(NAMED).map(|(line, column, found)| BadCell { line, column, found }).collect();
        Err(TableError::NotANumber { file: self.file.clone(), line, column, found, others, count })
    }

    /// Removes rows, given by their indices from 0.
    ///
    /// # Errors
    /// [`TableError::NoRows`] if none is left.
    pub(super) fn drop_rows(&mut self, rows: &BTreeSet<usize>) -> Result<(), TableError> {
        self.rows.keep(|row| !rows.contains(&row));
        if self.rows.is_empty() { Err(TableError::NoRows { file: self.file.clone() }) } else { Ok(()) }
    }

    /// Adds a column with one cell for each row.
    ///
    /// # Errors
    /// [`TableError::TwoColumns`] if a column has this name.
    pub(super) fn add_column(&mut self, name: &str, cells: Vec<String>) -> Result<(), TableError> {
        if self.names().iter().any(|known| known == name) {
            let (file, column) = (self.file.clone(), name.to_owned());
            return Err(TableError::TwoColumns { file, line: self.rows.head(), column });
        }
        self.rows.add_column(name, cells);
        Ok(())
    }

    /// Replaces the cells of a column in these rows, which are counted from 0.
    ///
    /// # Errors
    /// [`TableError::NoColumn`] or [`TableError::TwoColumns`].
    pub(super) fn replace(
        &mut self,
        column: &str,
        rows: &BTreeSet<usize>,
        text: &str,
    ) -> Result<(), TableError> {
        // Returns an error unless there is exactly one column of this name.
        drop(self.texts(column)?);
        if let Ok(index) = self.rows.position(column) {
            rows.iter().for_each(|&row| self.rows.replace(row, index, text));
        }
        Ok(())
    }

    fn not_a_number(&self, line: u64, column: &str, found: &str) -> TableError {
        let (column, found) = (column.to_owned(), found.to_owned());
        TableError::NotANumber { file: self.file.clone(), line, column, found, others: Vec::new(), count: 1 }
    }

    /// The error for a cell that is not as expected: [`TableError::WrongCell`]. The cell is in this column and in this row,
    /// which is counted from 0. If there is not exactly one column of this name, the error is [`TableError::NoColumn`] or
    /// [`TableError::TwoColumns`].
    pub(in crate::objectives) fn wrong(&self, column: &str, row: usize, expected: &str) -> TableError {
        match self.cells(column).map(|mut cells| cells.nth(row)) {
            Err(error) => error,
            Ok(cell) => {
                let (line, found) = cell.unwrap_or((self.rows.head(), ""));
                TableError::WrongCell {
                    file: self.file.clone(),
                    line,
                    column: column.to_owned(),
                    expected: expected.to_owned(),
                    found: found.to_owned(),
                }
            }
        }
    }
}
