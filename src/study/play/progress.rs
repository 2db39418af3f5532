//! Progress messages while a study is run, its failures, and how it ended.

use crate::vocab::Interruption;
use std::fmt;

/// Receives progress while a study is run; its methods are called from several threads.
pub trait Progress: Sync {
    /// Called before the start, with the state of the study.
    fn begin(&self, start: &Start);
    /// A replication was finished.
    fn done(&self);
    /// A replication or a cell failed.
    fn failed(&self, failure: &Failure);
}

/// The state of the study before this run.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Number of replications to be run.
    pub to_play: u64,
    /// Number of replications that are stored already.
    pub there: u64,
    /// How many of the stored replications were copied from earlier runs of other versions of this study.
    pub reused: u64,
    /// Number of earlier runs of this name from which nothing was reused, because another build of the program ran them.
    pub other_builds: u64,
    /// Number of damaged records; their replications are run again.
    pub damaged: u64,
}

/// A replication that could not be run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Position of the cell in the study.
    pub cell: usize,
    /// The cell's point: the names and values of the varied parameters.
    pub point: Vec<(String, String)>,
    /// Number of the replication; absent when the whole cell could not be prepared.
    pub replication: Option<u64>,
    /// The reason.
    pub reason: String,
    /// Whether only a request to stop ended it: nothing is wrong with it, and the same command runs it to its end.
    pub interrupted: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}", self.cell)?;
        for (name, value) in &self.point {
            write!(f, ", {name} = {value}")?;
        }
        if let Some(replication) = self.replication {
            write!(f, ", replication {replication}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// How a study ended.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was run.
    Complete,
    /// Some replications failed; all others were run, unless the study was to stop at the first failure.
    Failed(Vec<Failure>),
    /// The study was interrupted before its end; finished replications are stored.
    Interrupted {
        /// Replications finished, earlier runs included.
        finished: u64,
        /// Replications in all.
        total: u64,
        /// The replications that failed before.
        failures: Vec<Failure>,
    },
}

/// How a study is run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Number of threads; 0 for as many as the machine has.
    pub threads: usize,
    /// Whether to stop at the first failure.
    pub fail_fast: bool,
    /// The caller's request to stop: running replications are finished, but those that ask programs stop at their next
    /// question.
    pub interrupted: &'a Interruption,
}
