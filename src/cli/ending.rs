//! How a run or a fork ended: its files are made, its user is told, and the exit code follows.

use super::budget_exit::budget;
use super::exit::Exit;
use super::output::eprint_line;
use crate::report;
use crate::study::{self, Failure, FolderError, Outcome, Plan, RunFolder, Summary};
use crate::vocab::counted;

/// Makes the files of a run.
pub(super) fn finish(plan: &Plan, folder: &RunFolder) -> Result<Summary, Exit> {
    let made = study::finish(plan, folder).and_then(|made| report::write_page(folder).map(|()| made));
    made.map_err(|error| unreadable(&error))
}

/// Tells of a folder that cannot be read or written.
pub(super) fn unreadable(error: &FolderError) -> Exit {
    eprint_line(format_args!("error: {error}"));
    Exit::Internal
}

/// The exit of a run that was interrupted, of which its user is told.
pub(super) fn interrupted_at(outcome: &Outcome) -> Option<Exit> {
    let Outcome::Interrupted { finished, total, failures } = outcome else { return None };
    tell_failures(failures);
    eprint_line(format_args!(
        "Interrupted after {finished} of {}; the same command continues from there.",
        counted(*total, "replication")
    ));
    Some(Exit::Interrupted)
}

/// The exit of a run that was not interrupted; its user is told of failures and of spent budgets.
pub(super) fn ended(outcome: &Outcome, summary: &Summary) -> Exit {
    match outcome {
        Outcome::Failed(failures) => {
            tell_failures(failures);
            Exit::CellsFailed
        }
        Outcome::Complete | Outcome::Interrupted { .. } => budget(summary),
    }
}

/// Tells of the first of the replications that failed, if any did.
pub(super) fn tell_failures(failures: &[Failure]) {
    if let Some(first) = failures.first() {
        eprint_line(format_args!("error: {} of the replications failed; the first: {first}", failures.len()));
    }
}
