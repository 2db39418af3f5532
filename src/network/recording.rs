//! Values measured over time: a column of a CSV file and, if they were not measured at regular times, a column of times.

use super::data_file::{self, MissingCells};
use crate::vocab::{DataFolders, Problem, Span, Time};
use std::path::Path;
use std::sync::Arc;

/// A file with a recording: its path, the names of its columns, and how its times and missing values are read.
#[derive(Debug)]
pub(super) struct RecordingFile<'a> {
    pub(super) file: &'a Path,
    /// The field of the scenario that names the column of values, and the name of that column.
    pub(super) value: (&'static str, &'a str),
    /// The column of times, ascending; without it, successive values are `spacing` apart.
    pub(super) time: Option<&'a str>,
    pub(super) time_unit: Span,
    /// Time between two rows if there is no column of times. With or without a column of times, the recording ends this
    /// long after the time of the last row.
    pub(super) spacing: Span,
    /// What is done with rows without a value. With [`MissingCells::Read`] they are skipped, and the value before them
    /// continues to hold.
    pub(super) missing: MissingCells,
}

/// A recording, which is repeated without end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// When each value begins to hold, ascending from 0, and the value.
    pub(super) steps: Arc<Vec<(Span, f64)>>,
    /// After this time the recording begins again; later than the last step.
    pub(super) length: Span,
}

impl RecordingFile<'_> {
    /// Reads the file.
    pub(super) fn read(&self, base: &DataFolders) -> Result<Recording, Problem> {
        let text = data_file::read(base, self.file, "a CSV file")?;
        let (field, column) = self.value;
        let values = data_file::cells(self.file, &text, column, self.missing);
        let values = values.map_err(|problem| at(problem, field))?;
        let begins: Vec<Span> = match self.time {
            None => {
                let spacing = self.spacing.nanos();
                (0u64..).take(values.len()).map(|k| Span::from_nanos(k.saturating_mul(spacing))).collect()
            }
            Some(column) => {
                let times =
                    data_file::numbers(self.file, &text, column).map_err(|problem| at(problem, "time"))?;
                ascending(self.file, column, &times)?;
                let unit = self.time_unit.seconds();
                times.iter().map(|time| Span::from_seconds((time - times[0]) * unit)).collect()
            }
        };
        let last = begins.last().copied().unwrap_or(Span::ZERO);
        let measured = begins.into_iter().zip(values).filter_map(|(begins, value)| Some((begins, value?)));
        let mut steps: Vec<(Span, f64)> = measured.collect();
        let Some(first) = steps.first_mut() else {
            let expected = format!("at least one number in column \"{column}\"");
            let found = format!("only missing cells in {}", self.file.display());
            return Err(Problem::wrong("file", expected, found, "name another column, or another file"));
        };
        // The first measured value also holds before its own time, from the beginning of the recording.
        first.0 = Span::ZERO;
        Ok(Recording { steps: Arc::new(steps), length: last + self.spacing })
    }

    /// The problems of `spacing` and `time_unit`.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let lengths = [("spacing", self.spacing), ("time_unit", self.time_unit)].into_iter();
        let zero = lengths.filter(|(_, length)| *length == Span::ZERO);
        zero.map(|(field, _)| Problem::wrong(field, "a duration above 0", "0s", "write \"1s\"")).collect()
    }
}

impl Recording {
    /// The same recording with each value changed by `change`.
    pub(super) fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let steps = self.steps.iter().map(|(begins, value)| (*begins, change(*value))).collect();
        Self { steps: Arc::new(steps), ..self }
    }

    /// The value at the time `at` of a run that begins when the time `offset` of the recording has passed.
    pub(super) fn at(&self, at: Time, offset: Span) -> f64 {
        let passed = Span::from_nanos(at.nanos().saturating_add(offset.nanos()));
        let place = Span::from_nanos(passed.nanos() % self.length.nanos().max(1));
        let step = self.steps.partition_point(|(begins, _)| *begins <= place).saturating_sub(1);
        self.steps[step].1
    }

    /// Each value, and the share of the time for which it holds.
    pub(super) fn shares(&self) -> impl Iterator<Item = (f64, f64)> {
        let ends = self.steps.iter().skip(1).map(|step| step.0).chain([self.length]);
        let length = self.length.seconds();
        self.steps
            .iter()
            .zip(ends)
            .map(move |((begins, value), end)| (*value, (end.seconds() - begins.seconds()) / length))
    }

    /// The mean over time.
    pub(super) fn mean(&self) -> f64 {
        self.shares().map(|(value, share)| value * share).sum()
    }
}

/// Moves the problem of a column to the field of the scenario that names the column.
fn at(problem: Problem, field: &str) -> Problem {
    if problem.path == "column" { Problem { path: field.to_owned(), ..problem } } else { problem }
}

fn ascending(file: &Path, column: &str, times: &[f64]) -> Result<(), Problem> {
    match (1..times.len()).find(|&index| times[index] <= times[index - 1]) {
        None => Ok(()),
        Some(index) => {
            let expected = format!("a time after {} in column \"{column}\"", times[index - 1]);
            let found = format!("{} in row {} of {}", times[index], index + 1, file.display());
            Err(Problem::wrong(
                "file",
                expected,
                found,
                "sort the rows by time, and keep one row for each time",
            ))
        }
    }
}
