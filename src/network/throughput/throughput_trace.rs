//! A rate that follows a recorded measurement.

use super::{LineOwner, RateCurve, Throughput};
use crate::network::availability::RecordingOffset;
use crate::network::data_file::{self, Loaded, MissingCells};
use crate::network::recording::{Recording, RecordingFile};
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The rates of a measured line, one after another, from a CSV file. The file has a column of rates and, if the rates were
/// not measured at regular times, a column of times. Each rate holds until the next one; the recording is repeated without
/// end.
///
/// Tables such as those of MobiPerf's throughput tests and of FCC's mobile measurements can be read unchanged: state
/// the names of their columns and the units.
///
/// Example: `ThroughputTrace(file: "throughput.csv", rate: "kbps", unit: "1kbit/s", time: "seconds")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThroughputTrace {
    /// A CSV file with a header line; relative to the scenario's folder or to the folder of `--data`. Lines that begin
    /// with # are comments.
    pub file: PathBuf,
    /// Name of the column of rates, each 0 or above.
    pub rate: String,
    /// Unit of the rates. Default: 1kbit/s.
    #[serde(default = "kilobit")]
    pub unit: Rate,
    /// Name of the column of times, ascending. The recording begins at the first time. Default: none; successive rates are
    /// then `spacing` apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Unit of the column of times. Default: 1 s.
    #[serde(default = "second")]
    pub time_unit: Span,
    /// Time between two rates if there is no column of times. With or without this column, also the time for which the
    /// last rate holds before the recording begins again. Default: 1 s.
    #[serde(default = "second")]
    pub spacing: Span,
    /// How much of the recording has passed for a line when the run begins: `At("2min")` for every line, or `Drawn`: a time
    /// that is drawn for each line, once per replication, uniformly over the recording. Default: At("0s").
    #[serde(default)]
    pub offset: RecordingOffset,
    #[serde(skip)]
    steps: Loaded<Recording>,
}

fn kilobit() -> Rate {
    Rate::from_bits_per_second(1000.0).expect("1000 is above 0")
}

fn second() -> Span {
    Span::from_millis(1000)
}

impl ThroughputTrace {
    fn recording(&self) -> RecordingFile<'_> {
        RecordingFile {
            file: &self.file,
            value: ("rate", &self.rate),
            time: self.time.as_deref(),
            time_unit: self.time_unit,
            spacing: self.spacing,
            missing: MissingCells::REFUSED,
        }
    }

    fn read(&self, base: &DataFolders) -> Result<Recording, Problem> {
        let recording = self.recording().read(base)?;
        if recording.steps.iter().all(|(_, rate)| *rate == 0.0) {
            let found = format!("only 0 in column \"{}\" of {}", self.rate, self.file.display());
            return Err(Problem::wrong("file", "a rate above 0", found, "name the column of rates"));
        }
        let unit = self.unit.bits_per_second();
        Ok(recording.map(|rate| rate * unit))
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
        self.recording().problems()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = self.read(base);
        data_file::keep(read, &mut self.steps)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
