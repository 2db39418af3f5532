//! Runs a scenario, given as text, in one call: `subrosa run` as a function.

use crate::objectives::Resources;
use crate::programs::ProgramFailure;
use crate::scenario::{Diagnostics, Document};
use crate::study::{
    Failure, FolderError, Options, Outcome, Plan, Progress, RunFolder, Start, Summary, finish, play,
};
use crate::vocab::Interruption;
use std::path::Path;
use thiserror::Error;

/// Why a scenario could not be run.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// The scenario has problems.
    #[error(transparent)]
    Scenario(#[from] Diagnostics),
    /// The folder cannot be read or written, or has two different records of one replication.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A program that the scenario names does not state its version.
    #[error(transparent)]
    Program(#[from] ProgramFailure),
    /// Some replications could not be run; the records of the others are in the folder.
    #[error("{} replications failed; the first: {}", .0.len(), .0[0])]
    Replications(Vec<Failure>),
}

/// Ignores all progress.
#[derive(Debug)]
struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &Start) {}
    fn done(&self) {}
    fn failed(&self, _: &Failure) {}
}

/// Runs a scenario, given as text and changed by `overrides` (`path=VALUE`, as for `-o`), stores the run in `folder`, and
/// returns its summary. Paths in the scenario are relative to the current folder. Uses one thread per CPU that the process
/// may use; no result depends on the number of threads. Replications that are stored in `folder` already are not run again.
///
/// # Errors
/// [`SimulateError`] if the scenario has errors, a program does not state its version, a replication fails, `folder`
/// cannot be read or written, or `folder` has two different records of one replication.
pub fn simulate(text: &str, overrides: &[&str], folder: &Path) -> Result<Summary, SimulateError> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let resources = Resources::default();
    let document = Document::from_text(Path::new("scenario.ron"), text.to_owned());
    let cells = document.cells(&overrides, &resources)?;
    let plan = Plan::new(document.ron()?, overrides, &resources, cells).ask_programs()?;
    let folder = RunFolder::at(folder);
    let options = Options { threads: 0, fail_fast: false, interrupted: &Interruption::default() };
    match play(&plan, &folder, options, &NoProgress)? {
        Outcome::Failed(failures) => Err(SimulateError::Replications(failures)),
        Outcome::Complete | Outcome::Interrupted { .. } => Ok(finish(&plan, &folder)?),
    }
}
