//! The exit code of a finished run, which depends on its privacy budget.

use super::exit::Exit;
use super::output::eprint_line;
use crate::study::Summary;

/// The exit code of a finished run: an error if a privacy budget was used up and the scenario treats that as a failure.
pub(super) fn budget(summary: &Summary) -> Exit {
    match summary.spent_budgets().next() {
        Some((name, reason)) => {
            eprint_line(format_args!("error: privacy budget exhausted in series \"{name}\": {reason}"));
            Exit::BudgetExhausted
        }
        None => Exit::Ok,
    }
}
