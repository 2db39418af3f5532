//! A table of a run folder, written row by row as CSV and, with the feature `parquet`, also as Parquet.

use crate::study::disk::error::FolderError;
use crate::study::disk::files::{FileError, Staged};
use crate::study::disk::folder::RunFolder;
use crate::study::results::columns::{Column, Entry};
#[cfg(feature = "parquet")]
use crate::study::results::parquet::ParquetTable;
use crate::vocab::in_order;
use std::ops::Range;

/// Number of rows that are collected in memory before they are written; also the size of a row group of a Parquet file.
const KEPT: usize = 16_384;
/// Number of rows that are formatted together, in parallel with other rows.
const TOGETHER: usize = 64;

/// Why a line of a CSV file is always written.
const IN_MEMORY: &str = "writing to memory does not fail, and all rows have the same columns";

/// A table that is being written.
#[derive(Debug)]
pub(in crate::study) struct Table {
    columns: Vec<Column>,
    csv: Staged,
    #[cfg(feature = "parquet")]
    parquet: ParquetTable,
}

impl Table {
    /// Begins `NAME.csv` and, with the feature `parquet`, `NAME.parquet`. A large `NAME.csv` is stored as `NAME.csv.gz`.
    pub(in crate::study) fn new(
        folder: &RunFolder,
        name: &str,
        columns: Vec<Column>,
    ) -> Result<Self, FolderError> {
        let mut csv = folder.stage_packing(&format!("{name}.csv"))?;
        let mut header = csv::Writer::from_writer(Vec::new());
        header.write_record(columns.iter().map(|column| &column.name)).expect(IN_MEMORY);
        csv.write(&header.into_inner().expect(IN_MEMORY))?;
        Ok(Self {
            #[cfg(feature = "parquet")]
            parquet: ParquetTable::new(folder.stage(&format!("{name}.parquet"))?, name, &columns)?,
            columns,
            csv,
        })
    }

    /// The names of the columns.
    pub(in crate::study) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Adds a row with a value for every column.
    pub(in crate::study) fn row(&mut self, entries: Vec<Entry>) -> Result<(), FileError> {
        debug_assert_eq!(entries.len(), self.columns.len(), "a value for every column");
        for (column, entry) in self.columns.iter_mut().zip(entries) {
            column.push(entry);
        }
        if self.columns.first().is_some_and(|column| column.len() >= KEPT) { self.flush() } else { Ok(()) }
    }

    /// Writes the collected rows to the files.
    fn flush(&mut self) -> Result<(), FileError> {
        let rows = self.columns.first().map_or(0, Column::len);
        let columns = &self.columns;
        let formatted = in_order((0..rows.div_ceil(TOGETHER)).collect(), |part: usize| {
            let some = part * TOGETHER..rows.min((part + 1) * TOGETHER);
            lines(columns, some)
        });
        formatted.iter().try_for_each(|lines| self.csv.write(lines))?;
        #[cfg(feature = "parquet")]
        if rows > 0 {
            self.parquet.group(&self.columns)?;
        }
        self.columns.iter_mut().for_each(Column::clear);
        Ok(())
    }

    /// Completes the files.
    pub(in crate::study) fn commit(mut self) -> Result<(), FileError> {
        self.flush()?;
        #[cfg(feature = "parquet")]
        self.parquet.commit()?;
        self.csv.commit()
    }
}

/// Rows of the columns as lines of a CSV file.
fn lines(columns: &[Column], rows: Range<usize>) -> Vec<u8> {
    let mut written = csv::Writer::from_writer(Vec::new());
    let mut text = String::new();
    for row in rows {
        for column in columns {
            column.write(row, &mut text);
            written.write_field(&text).expect(IN_MEMORY);
        }
        // Ends the line.
        written.write_record(None::<&[u8]>).expect(IN_MEMORY);
    }
    written.into_inner().expect(IN_MEMORY)
}
