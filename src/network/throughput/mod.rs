//! Throughput models: rates of links and access lines that change over time or differ between devices.

mod curve;
mod fedscale_rates;
mod line_rate;
mod rate_schedule;
mod throughput_trace;

pub use curve::RateCurve;
pub use fedscale_rates::FedScaleRates;
pub use line_rate::LineRate;
pub use rate_schedule::{RateSchedule, RateStep};
pub use throughput_trace::ThroughputTrace;

use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem};
use std::path::PathBuf;

/// The party that a line belongs to. A link belongs to its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineOwner {
    /// The place of the party's device among all devices in order of slowness: in (0, 1), near 1 for the slowest devices.
    /// The party's compute model is given the same place, so a device can have both a slow processor and a slow line.
    pub slowness: f64,
    /// The party's number, from 0, among the parties of its entry in the scenario.
    pub number: u64,
}

/// The behaviour of a throughput model.
pub trait Throughput {
    /// The rate of one line over time. Random numbers come from `stream`, which is the line's own.
    fn curve(&self, owner: LineOwner, stream: Stream) -> RateCurve;

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Reads the files that the recipe names.
    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

crate::family! {
    /// How the rate of a line changes over time, or how it differs between devices.
    pub struct ThroughputModel(ThroughputMember): dyn Throughput, "throughput" {
        RateSchedule(RateSchedule),
        ThroughputTrace(ThroughputTrace),
        FedScaleRates(FedScaleRates),
    }
}
