//! A delay that follows a recorded measurement.

use super::Latency;
use crate::network::data_file::{self, Loaded, MissingCells};
use crate::network::recording::{Recording, RecordingFile};
use crate::vocab::{DataFolders, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The delays of a measured link, one after another, from a CSV file, such as the log of a `ping`. The file has a column of
/// delays and, if the delays were not measured at regular times, a column of times. Each delay holds for every message that
/// enters the link from the delay's time until the time of the next delay. The recording is repeated without end. All links
/// with this model have the same delay at the same time.
///
/// Only the delay of a link can change over time: compute times, periods of connection, mixtures and truncations refuse
/// a `DelayTrace`. Routes are computed once, from the mean delay over the recording.
///
/// Example: `DelayTrace(file: "ping.csv", delay: "rtt_ms", round_trips: true, time: "seconds")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayTrace {
    /// A CSV file with a header line; relative to the scenario's folder or to the folder of `--data`. Lines that begin
    /// with # are comments.
    pub file: PathBuf,
    /// Name of the column of delays, each 0 or above.
    pub delay: String,
    /// Unit of the delays. Default: 1 ms.
    #[serde(default = "millisecond")]
    pub unit: Span,
    /// Whether the delays are round-trip times; a message then takes half a round trip. Default: false.
    #[serde(default)]
    pub round_trips: bool,
    /// Name of the column of times, ascending. The recording begins at the first time.
    /// Default: none; successive delays are then `spacing` apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Unit of the column of times. Default: 1 s.
    #[serde(default = "second")]
    pub time_unit: Span,
    /// Time between two delays if there is no column of times. With or without a column of times, `spacing` is also the time
    /// from the last row to the next repetition of the recording. Default: 1 s.
    #[serde(default = "second")]
    pub spacing: Span,
    /// How much of the recording has passed when the run begins. Default: 0 s.
    #[serde(default)]
    pub offset: Span,
    /// What is done with rows without a delay, such as those of lost pings. Default: Refuse.
    #[serde(default)]
    pub missing: MissingDelays,
    #[serde(skip)]
    recorded: Loaded<Recording>,
}

/// What is done with those rows of a recording that have no delay. A cell is missing if it is empty, or one of `NA`, `N/A`,
/// `NaN`, `null`, `None`, `?` and `-`, in upper or lower case. Any other cell that is not a number is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MissingDelays {
    /// A missing cell is an error.
    #[default]
    Refuse,
    /// The row is left out: the last delay measured before the row holds until the next measured delay. The first measured
    /// delay also holds before its own time. Rows without a delay cause no losses of messages; to simulate losses, name a
    /// column of losses in `LossTrace`.
    Drop,
}

fn second() -> Span {
    Span::from_millis(1000)
}

fn millisecond() -> Span {
    Span::from_millis(1)
}

impl DelayTrace {
    fn recording(&self) -> RecordingFile<'_> {
        RecordingFile {
            file: &self.file,
            value: ("delay", &self.delay),
            time: self.time.as_deref(),
            time_unit: self.time_unit,
            spacing: self.spacing,
            missing: match self.missing {
                MissingDelays::Refuse => MissingCells::Refuse(
                    "correct the file, or write missing: Drop to leave out rows without a delay",
                ),
                MissingDelays::Drop => MissingCells::Read,
            },
        }
    }
}

impl Latency for DelayTrace {
    /// The quantile of the delay of a message that enters the link at a random time; zero if the file has not been read.
    fn quantile(&self, u: f64) -> Span {
        let Some(recorded) = &self.recorded else { return Span::ZERO };
        let mut shares: Vec<(f64, f64)> = recorded.shares().collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0.0;
        let found = shares.iter().find(|(_, share)| {
            below += share;
            u < below
        });
        found.or(shares.last()).map_or(Span::ZERO, |(seconds, _)| Span::from_seconds(*seconds))
    }

    fn quantile_at(&self, at: Time, _: f64) -> Span {
        let recorded = self.recorded.as_ref();
        recorded.map_or(Span::ZERO, |recorded| Span::from_seconds(recorded.at(at, self.offset)))
    }

    fn mean_seconds(&self) -> f64 {
        self.recorded.as_ref().map_or(0.0, |recorded| recorded.mean())
    }

    fn probability_within(&self, delay: Span) -> f64 {
        let Some(recorded) = &self.recorded else { return 1.0 };
        let within = recorded.shares().filter(|(seconds, _)| Span::from_seconds(*seconds) <= delay);
        within.map(|(_, share)| share).sum::<f64>().min(1.0)
    }

    fn needs_link(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<Problem> {
        let zero = (self.unit == Span::ZERO).then(|| {
            let cure = "write unit: \"1ms\" for a column of milliseconds";
            Problem::wrong("unit", "a duration above 0", "0s", cure)
        });
        self.recording().problems().into_iter().chain(zero).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let unit = self.unit.seconds() * if self.round_trips { 0.5 } else { 1.0 };
        let read = self.recording().read(base).map(|recording| recording.map(|delay| delay * unit));
        data_file::keep(read, &mut self.recorded)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn is_unread(&self) -> bool {
        self.recorded.is_none()
    }
}
