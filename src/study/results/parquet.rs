//! The results as a Parquet file, for programs that read columns.

use crate::study::disk::files::{FileError, Staged};
use crate::study::results::columns::{Column, Values};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::io;
use std::sync::Arc;

/// Writes columns of equal length as one row group without compression.
pub(in crate::study) fn write(mut staged: Staged, frame: &[Column]) -> std::result::Result<(), FileError> {
    let bytes = bytes(frame).map_err(|error| FileError {
        doing: "write",
        path: staged.path().to_owned(),
        error: io::Error::other(error),
    })?;
    staged.write(&bytes)?;
    staged.commit()
}

fn bytes(frame: &[Column]) -> Result<Vec<u8>> {
    let fields = frame.iter().map(field).collect::<Result<Vec<TypePtr>>>()?;
    let schema = Arc::new(Type::group_type_builder("results").with_fields(fields).build()?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::new()))?;
    let mut group = writer.next_row_group()?;
    for column in frame {
        let Some(mut out) = group.next_column()? else { break };
        match &column.values {
            Values::Integers(values) => {
                let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
                out.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            Values::Truths(values) => {
                out.typed::<BoolType>().write_batch(values, None, None)?;
            }
            Values::Numbers(values) => optional(out.typed::<DoubleType>(), values, |value| *value)?,
            Values::Texts(values) => {
                optional(out.typed::<ByteArrayType>(), values, |text| ByteArray::from(text.as_str()))?;
            }
        }
        out.close()?;
    }
    group.close()?;
    writer.into_inner()
}

fn field(column: &Column) -> Result<TypePtr> {
    let (physical, repetition, logical) = match &column.values {
        Values::Integers(_) => (Physical::INT64, Repetition::REQUIRED, None),
        Values::Truths(_) => (Physical::BOOLEAN, Repetition::REQUIRED, None),
        Values::Numbers(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(builder.with_repetition(repetition).with_logical_type(logical).build()?))
}

/// A definition level of 1 means that there is a value.
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
