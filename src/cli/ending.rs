//! The end of a run or a fork: makes its files, prints messages to the user, and determines the exit code.

use super::budget_exit::budget;
use super::exit::Exit;
use super::load::thread_count;
use super::output::eprint_line;
use crate::report;
use crate::study::{self, Failure, FolderError, Outcome, Plan, RunFolder, Summary};
use crate::vocab::{counted, in_pool};

/// Makes the files of a run on this many threads, one per core if `None`.
pub(super) fn finish(plan: &Plan, folder: &RunFolder, threads: Option<u32>) -> Result<Summary, Exit> {
    let made = || study::finish(plan, folder).and_then(|made| report::write_page(folder).map(|()| made));
    in_pool(thread_count(threads), made).map_err(|error| unreadable(&error))
}

/// Prints the error of a folder that cannot be read or written.
pub(super) fn unreadable(error: &FolderError) -> Exit {
    eprint_line(format_args!("error: {error}"));
    Exit::Internal
}

/// Prints a message if a run was interrupted, and returns the exit code; `None` if the run was not interrupted.
pub(super) fn interrupted_at(outcome: &Outcome) -> Option<Exit> {
    let Outcome::Interrupted { finished, total, failures } = outcome else { return None };
    tell_failures(failures);
    eprint_line(format_args!(
        "Interrupted after {finished} of {}; the same command continues from there.",
        counted(*total, "replication")
    ));
    Some(Exit::Interrupted)
}

/// Prints messages on failures or on spent budgets of a run that was not interrupted, and returns the exit code.
pub(super) fn ended(outcome: &Outcome, summary: &Summary) -> Exit {
    match outcome {
        Outcome::Failed(failures) => {
            tell_failures(failures);
            Exit::CellsFailed
        }
        Outcome::Complete | Outcome::Interrupted { .. } => budget(summary),
    }
}

/// Prints how many replications failed, and the first failure; nothing if none failed.
pub(super) fn tell_failures(failures: &[Failure]) {
    if let Some(first) = failures.first() {
        eprint_line(format_args!("error: {} of the replications failed; the first: {first}", failures.len()));
    }
}
