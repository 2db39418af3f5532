//! How a run or a fork ended: its user is told, and the exit code follows.

use super::budget_exit::budget;
use super::exit::Exit;
use super::output::eprint_line;
use crate::study::{Failure, Outcome, Summary};
use crate::vocab::counted;

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
