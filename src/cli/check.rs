//! `subrosa check`: prints the errors of a scenario, or the memory and time that a run takes, and simulates nothing.

use super::exit::Exit;
use super::load::{load_to, threads};
use super::options::{CheckArguments, Format};
use super::output::{print, width};
use super::programs;
use crate::programs::{ProgramIdentity, ProgramUse};
use crate::report;
use crate::study::{Needs, Plan};
use crate::vocab::{Memory, counted};
use serde::Serialize;

/// A scenario without errors.
#[derive(Serialize)]
struct Valid<'a> {
    valid: bool,
    scenario: &'a str,
    cells: usize,
    replications: u64,
    seed: u64,
    /// The memory and the processor time that a run takes.
    needs: Needs,
    /// Always empty: a scenario with any diagnostic is not valid.
    diagnostics: [&'static str; 0],
    /// Warnings about a run, in sentences.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
    /// The programs that the scenario names; with --probe, each with its version line.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    programs: &'a [ProgramIdentity],
}

/// Runs the command.
pub(super) fn check(arguments: &CheckArguments) -> Exit {
    let plan = match load_to(&arguments.scenario, ProgramUse::ToPlay, arguments.threads) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let plan = match if arguments.probe { programs::ask(plan) } else { Ok(plan) } {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let programs = plan.programs();
    if !arguments.probe {
        programs::warn_of_modules(&programs);
    }
    let (cells, replications) = (plan.cells.len(), plan.replications);
    let needs = plan.needs(threads(arguments.threads));
    let warnings = warnings(&plan);
    match arguments.scenario.format {
        Format::Text => {
            let mut said = format!(
                "{}: valid; {} of {}, seed {}\na run takes about {} of memory with {}, and {} of processor time\n",
                arguments.scenario.scenario.display(),
                counted(cells as u64, "cell"),
                counted(replications, "replication"),
                plan.first_seed(),
                Memory(needs.bytes),
                counted(needs.threads, "thread"),
                duration(needs.seconds)
            );
            for warning in &warnings {
                said.push_str(&format!("warning: {warning}\n"));
            }
            for program in programs.iter().filter(|_| arguments.probe) {
                said.push_str(&format!("`{}`: {}\n", program.words(), program.version));
            }
            print(&report::message(&said, width()));
        }
        Format::Json => {
            print(&report::json(&Valid {
                valid: true,
                scenario: &plan.name,
                cells,
                replications,
                seed: plan.first_seed(),
                needs,
                diagnostics: [],
                warnings: &warnings,
                programs: &programs,
            }));
        }
    }
    Exit::Ok
}

/// The warnings of all cells, each once, in the order in which they first occur.
fn warnings(plan: &Plan) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for cell in &plan.cells {
        let protocol = &cell.scenario.draft().protocol;
        let placed = protocol
            .as_dyn()
            .warnings()
            .into_iter()
            .map(|told| format!("protocol.{}.{told}", protocol.name()));
        let tied = cell.scenario.draft().parties.iter().filter(|(_, party)| {
            party.together.as_ref().is_some_and(|together| !together.revealed_by_times().is_empty())
        });
        let tied = tied.map(|(name, _)| {
            format!(
                "parties[\"{name}\"].together: speed or availability depends on the agents' data, so the agents that \
                 answer are not a representative sample; every privacy loss is conditional on speed and availability being public"
            )
        });
        let new: Vec<String> = placed.chain(tied).filter(|told| !found.contains(told)).collect();
        found.extend(new);
    }
    found
}

/// A time in seconds, minutes or hours: hundredths of a second below 1 s, otherwise a whole number.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{s:.2} s"),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6_000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3_600.0),
    }
}
