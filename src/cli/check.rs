//! `subrosa check`: prints every error of a scenario, runs nothing.

use super::exit::Exit;
use super::load::load;
use super::options::{CheckArguments, Format};
use super::output::print;
use crate::report;
use crate::vocab::counted;
use serde::Serialize;

/// A scenario without errors.
#[derive(Serialize)]
struct Valid<'a> {
    valid: bool,
    scenario: &'a str,
    cells: usize,
    replications: u64,
    seed: u64,
    /// Always empty: a scenario with any diagnostic is not valid.
    diagnostics: [&'static str; 0],
}

/// Runs the verb.
pub(super) fn check(arguments: &CheckArguments) -> Exit {
    let plan = match load(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let (cells, replications) = (plan.cells.len(), plan.replications);
    match arguments.scenario.format {
        Format::Text => {
            print(&format!(
                "{}: valid; {} of {}, seed {}\n",
                arguments.scenario.scenario.display(),
                counted(cells as u64, "cell"),
                counted(replications, "replication"),
                plan.first_seed()
            ));
        }
        Format::Json => {
            print(&report::json(&Valid {
                valid: true,
                scenario: &plan.name,
                cells,
                replications,
                seed: plan.first_seed(),
                diagnostics: [],
            }));
        }
    }
    Exit::Ok
}
