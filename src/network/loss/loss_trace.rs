//! A loss that follows a recorded measurement.

use super::{Loss, LossProcess};
use crate::network::data_file::{self, Loaded, MissingCells};
use crate::network::recording::{Recording, RecordingFile};
use crate::vocab::{DataFolders, Positive, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The measured loss of a link over time, from a CSV file. The file has a column of shares of lost packets and, if the
/// shares were not measured at regular times, a column of times. Each share is the probability with which a message is lost,
/// independently of other messages, from the share's time until the time of the next share. The recording is repeated
/// without end.
///
/// Example: `LossTrace(file: "ping.csv", share: "lost_percent", of: 100, time: "seconds")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossTrace {
    /// A CSV file with a header line; relative to the scenario's folder or to the folder of `--data`. Lines that begin
    /// with # are comments.
    pub file: PathBuf,
    /// Name of the column of shares, each from 0 to `of`.
    pub share: String,
    /// The number in the column that means that everything is lost: 100 for percent. Default: 1.
    #[serde(default = "one")]
    pub of: Positive,
    /// Name of the column of times, ascending. The recording begins at the first time. Default: none; successive shares are
    /// then `spacing` apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Unit of the column of times. Default: 1 s.
    #[serde(default = "second")]
    pub time_unit: Span,
    /// Time between two shares if there is no column of times. With or without such a column, the last share holds for
    /// this time before the recording begins again. Default: 1 s.
    #[serde(default = "second")]
    pub spacing: Span,
    /// How much of the recording has passed when the run begins. Default: 0 s.
    #[serde(default)]
    pub offset: Span,
    #[serde(skip)]
    recorded: Loaded<Recording>,
}

fn second() -> Span {
    Span::from_millis(1000)
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl LossTrace {
    fn recording(&self) -> RecordingFile<'_> {
        RecordingFile {
            file: &self.file,
            value: ("share", &self.share),
            time: self.time.as_deref(),
            time_unit: self.time_unit,
            spacing: self.spacing,
            missing: MissingCells::REFUSED,
        }
    }

    fn read(&self, base: &DataFolders) -> Result<Recording, Problem> {
        let (recording, of) = (self.recording().read(base)?, self.of.get());
        if let Some(row) = recording.steps.iter().position(|(_, share)| *share > of) {
            let expected = format!("a share from 0 to {of} in column \"{}\"", self.share);
            let found = format!("{} in row {} of {}", recording.steps[row].1, row + 1, self.file.display());
            return Err(Problem::wrong(
                "file",
                expected,
                found,
                "correct the file, or write of: 100 for percent",
            ));
        }
        Ok(recording.map(|share| share / of))
    }
}

#[derive(Clone, Debug)]
struct Process {
    recorded: Option<Arc<Recording>>,
    offset: Span,
    mean: f64,
}

impl Loss for LossTrace {
    fn start(&self) -> Box<dyn LossProcess> {
        Box::new(Process { recorded: self.recorded.clone(), offset: self.offset, mean: self.mean() })
    }

    /// The mean over time; 0 if the file has not been read.
    fn mean(&self) -> f64 {
        self.recorded.as_ref().map_or(0.0, |recorded| recorded.mean())
    }

    fn problems(&self) -> Vec<Problem> {
        self.recording().problems()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = self.read(base);
        data_file::keep(read, &mut self.recorded)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}

impl LossProcess for Process {
    /// Whether a message that is sent at a uniformly random time of the recording is lost.
    fn drops(&mut self, u: f64) -> bool {
        u < self.mean
    }

    fn drops_at(&mut self, at: Time, u: f64) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| u < recorded.at(at, self.offset))
    }
}
