//! `subrosa check`: prints every error of a scenario and simulates nothing.

use super::exit::Exit;
use super::load::load;
use super::options::{CheckArguments, Format};
use super::output::print;
use super::programs;
use crate::programs::ProgramIdentity;
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
    /// The programs that the scenario names; with --probe, each with its version line.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    programs: &'a [ProgramIdentity],
}

/// Runs the verb.
pub(super) fn check(arguments: &CheckArguments) -> Exit {
    let plan = match load(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let plan = match if arguments.probe { programs::ask(plan) } else { Ok(plan) } {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let programs = plan.programs();
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
            for program in programs.iter().filter(|_| arguments.probe) {
                print(&format!("`{}`: {}\n", program.words(), program.version));
            }
        }
        Format::Json => {
            print(&report::json(&Valid {
                valid: true,
                scenario: &plan.name,
                cells,
                replications,
                seed: plan.first_seed(),
                diagnostics: [],
                programs: &programs,
            }));
        }
    }
    Exit::Ok
}
