//! Progress messages while a study is run, its failures, and how it ended.

use crate::vocab::Interruption;
use std::fmt;

/// Receives the progress of a study while it is run. Its methods are called from several threads.
pub trait Progress: Sync {
    /// Called before the start, with the state of the study.
    fn begin(&self, start: &Start);
    /// Called when a replication was finished.
    fn done(&self);
    /// Called when a replication or a cell failed.
    fn failed(&self, failure: &Failure);
}

/// The state of the study before this run.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Number of replications to be run.
    pub to_play: u64,
    /// Number of replications that are stored already, those of `reused` included.
    pub there: u64,
    /// Number of stored replications that have just been copied from earlier runs of other versions of this study.
    pub reused: u64,
    /// Number of earlier runs with the name of this study from which nothing was reused, because another build of the
    /// program made them.
    pub other_builds: u64,
    /// Number of damaged records. Replications without an undamaged record are run again.
    pub damaged: u64,
}

/// A replication, or a whole cell, that could not be run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Position of the cell in the study.
    pub cell: usize,
    /// The cell's point: the names and values of the varied parameters.
    pub point: Vec<(String, String)>,
    /// Number of the replication; absent if the whole cell could not be prepared.
    pub replication: Option<u64>,
    /// The reason.
    pub reason: String,
    /// Whether the replication, or the preparation of the cell, ended only because a stop was requested. If the same command
    /// is run again, it runs this replication or preparation again.
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

impl std::error::Error for Failure {}

/// How a study ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every replication has a record.
    Complete,
    /// Some replications failed. Every other replication was run, unless the study was to stop at the first failure.
    Failed(Vec<Failure>),
    /// The study was interrupted before its end; finished replications are stored.
    Interrupted {
        /// Number of finished replications, those of earlier runs included.
        finished: u64,
        /// Number of replications of the whole study.
        total: u64,
        /// The replications that failed before the interruption.
        failures: Vec<Failure>,
    },
}

/// How a study is run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Number of threads; 0 for one thread per CPU that this process may use.
    pub threads: usize,
    /// Whether to stop at the first failure.
    pub fail_fast: bool,
    /// The caller's request to stop. After it, the replications that are running are finished, but a replication that asks
    /// programs stops at its next question that has no stored answer.
    pub interrupted: &'a Interruption,
}
