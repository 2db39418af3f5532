//! Tables as Parquet files, for programs that read data column by column.

use crate::study::disk::files::{FileError, Staged};
use crate::study::results::columns::{Column, Values};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// An uncompressed Parquet file that is being written.
pub(in crate::study) struct ParquetTable {
    writer: SerializedFileWriter<Sink>,
    path: PathBuf,
}

impl fmt::Debug for ParquetTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetTable").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A staged file as a sink of bytes.
struct Sink(Staged);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| error.error)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ParquetTable {
    /// Begins a file with these columns.
    pub(in crate::study) fn new(
        staged: Staged,
        name: &str,
        columns: &[Column],
    ) -> std::result::Result<Self, FileError> {
        let path = staged.path().to_owned();
        let begun = || {
            let fields = columns.iter().map(field).collect::<Result<Vec<TypePtr>>>()?;
            let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
            SerializedFileWriter::new(Sink(staged), schema, Arc::new(WriterProperties::new()))
        };
        match begun() {
            Ok(writer) => Ok(Self { writer, path }),
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Adds the rows of `columns`, which have equal lengths, as one row group.
    pub(in crate::study) fn group(&mut self, columns: &[Column]) -> std::result::Result<(), FileError> {
        self.add(columns).map_err(|error| failed(self.path.clone(), error))
    }

    fn add(&mut self, columns: &[Column]) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            let Some(mut out) = group.next_column()? else { break };
            match &column.values {
                Values::Integers(values) => {
                    optional(out.typed::<Int64Type>(), values, |value| *value as i64)?
                }
                Values::Truths(values) => optional(out.typed::<BoolType>(), values, |value| *value)?,
                Values::Numbers(values) => optional(out.typed::<DoubleType>(), values, |value| *value)?,
                Values::Texts(values) => {
                    optional(out.typed::<ByteArrayType>(), values, |text| ByteArray::from(&**text))?;
                }
            }
            out.close()?;
        }
        group.close().map(drop)
    }

    /// Completes the file.
    pub(in crate::study) fn commit(self) -> std::result::Result<(), FileError> {
        let Self { writer, path } = self;
        writer.into_inner().map_err(|error| failed(path, error))?.0.commit()
    }
}

fn failed(path: PathBuf, error: ParquetError) -> FileError {
    FileError { doing: "write", path, error: io::Error::other(error) }
}

fn field(column: &Column) -> Result<TypePtr> {
    let (physical, logical) = match &column.values {
        Values::Integers(_) => (Physical::INT64, None),
        Values::Truths(_) => (Physical::BOOLEAN, None),
        Values::Numbers(_) => (Physical::DOUBLE, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build()?))
}

/// Writes optional values; a definition level of 1 marks a row with a value.
fn optional<T: DataType, V>(
    out: &mut ColumnWriterImpl<'_, T>,
    values: &[Option<V>],
    of: impl Fn(&V) -> T::T,
) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.iter().flatten().map(of).collect();
    out.write_batch(&there, Some(&levels), None)?;
    Ok(())
}
