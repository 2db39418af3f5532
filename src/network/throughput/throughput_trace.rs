//! A rate that follows a recorded measurement.

use super::{LineOwner, RateCurve, Throughput};
use crate::network::availability::RecordingOffset;
use crate::network::data_file::{self, Loaded};
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rates of a measured line, one after another: a CSV file with a column of rates and, if they were not measured at
/// regular times, a column of times. Each rate holds until the next one; the recording is repeated without end.
///
/// Tables such as those of MobiPerf's throughput tests and of FCC's mobile measurements can be read unchanged: state
/// the names of their columns and the units.
///
/// Example: `ThroughputTrace(file: "throughput.csv", rate: "kbps", unit: "1kbit/s", time: "seconds")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThroughputTrace {
    /// A CSV file with a header line; relative to the scenario's folder. Lines that begin with # are comments.
    pub file: PathBuf,
    /// Name of the column of rates, each 0 or above.
    pub rate: String,
    /// Unit of the rates. Default: 1kbit/s.
    #[serde(default = "kilobit")]
    pub unit: Rate,
    /// Name of the column of times, ascending. The recording begins at the first time. Default: none, one rate after each
    /// `spacing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Unit of the column of times. Default: 1 s.
    #[serde(default = "second")]
    pub time_unit: Span,
    /// Time between two rates if there is no column of times, and how long the last rate holds before the recording
    /// begins again. Default: 1 s.
    #[serde(default = "second")]
    pub spacing: Span,
    /// How much of the recording has passed for a line when the run begins: `At("2min")`, or `Drawn`, uniformly, once per
    /// replication for each line. Default: At("0s").
    #[serde(default)]
    pub offset: RecordingOffset,
    #[serde(skip)]
    steps: Loaded<Recorded>,
}

/// Steps of a curve, and its length.
#[derive(Clone, Debug, PartialEq)]
struct Recorded {
    steps: Arc<Vec<(Span, f64)>>,
    length: Span,
}

fn kilobit() -> Rate {
    Rate::from_bits_per_second(1000.0).expect("1000 is above 0")
}

fn second() -> Span {
    Span::from_millis(1000)
}

impl ThroughputTrace {
    fn read(&self, base: &DataFolders) -> Result<Recorded, Problem> {
        let text = data_file::read(base, &self.file, "a CSV file")?;
        let rates =
            data_file::numbers(&self.file, &text, &self.rate).map_err(|problem| at(problem, "rate"))?;
        if rates.iter().all(|rate| *rate == 0.0) {
            let found = format!("only 0 in column \"{}\" of {}", self.rate, self.file.display());
            return Err(Problem::wrong("file", "a rate above 0", found, "name the column of rates"));
        }
        let begins: Vec<Span> = match &self.time {
            None => {
                let spacing = self.spacing.nanos();
                (0u64..).take(rates.len()).map(|k| Span::from_nanos(k.saturating_mul(spacing))).collect()
            }
            Some(column) => {
                let times =
                    data_file::numbers(&self.file, &text, column).map_err(|problem| at(problem, "time"))?;
                ascending(&self.file, column, &times)?;
                let unit = self.time_unit.seconds();
                times.iter().map(|time| Span::from_seconds((time - times[0]) * unit)).collect()
            }
        };
        let last = begins.last().copied().unwrap_or(Span::ZERO);
        let unit = self.unit.bits_per_second();
        let steps = begins.into_iter().zip(rates.into_iter().map(|rate| rate * unit)).collect();
        Ok(Recorded { steps: Arc::new(steps), length: last + self.spacing })
    }
}

/// The problem of a column, at the field that names the column.
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

impl Throughput for ThroughputTrace {
    /// If the file has not been read, the rate is always `unit`.
    fn curve(&self, _: LineOwner, mut stream: Stream) -> RateCurve {
        let Some(recorded) = &self.steps else { return RateCurve::constant(self.unit) };
        let offset = match self.offset {
            RecordingOffset::At(offset) => offset,
            RecordingOffset::Drawn => Span::from_seconds(stream.uniform() * recorded.length.seconds()),
        };
        RateCurve::new(Arc::clone(&recorded.steps), Some(recorded.length), offset)
    }

    fn problems(&self) -> Vec<Problem> {
        let lengths = [("spacing", self.spacing), ("time_unit", self.time_unit)].into_iter();
        let zero = lengths.filter(|(_, length)| *length == Span::ZERO);
        zero.map(|(field, _)| Problem::wrong(field, "a duration above 0", "0s", "write \"1s\"")).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = self.read(base);
        data_file::keep(read, &mut self.steps)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
