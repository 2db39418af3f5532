//! External programs that a scenario names: a note lists those that are started, and before a study begins each is asked for its
//! version line.

use super::exit::Exit;
use super::output::say;
use crate::programs::{Program, ProgramIdentity, Starts};
use crate::study::Plan;
use crate::vocab::counted;

/// Prints which programs are started when the scenario is run.
pub(super) fn announce(plan: &Plan) {
    announce_to(plan, Starts::ToPlay);
}

/// Prints which programs are started for the given use of the scenario.
pub(super) fn announce_to(plan: &Plan, starts: Starts) {
    tell(plan, &plan.programs_started(starts));
}

/// Prints which programs the branches of a fork start, each once.
pub(super) fn announce_all<'a>(plans: impl IntoIterator<Item = &'a Plan>) {
    let mut plans = plans.into_iter().peekable();
    let Some(plan) = plans.peek().copied() else { return };
    let mut programs: Vec<ProgramIdentity> = Vec::new();
    for program in plans.flat_map(Plan::programs) {
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    tell(plan, &programs);
}

fn tell(plan: &Plan, programs: &[ProgramIdentity]) {
    if programs.is_empty() {
        return;
    }
    let named: Vec<String> = programs.iter().map(|program| format!("`{}`", program.words())).collect();
    say(format_args!(
        "note: this scenario starts {} with your rights, in {}: {} (run only what you trust; a replay starts none)",
        counted(programs.len() as u64, "program"),
        plan.base.display(),
        named.join(", ")
    ));
}

/// Prints which programs are started, and asks each for its version line.
pub(super) fn ask(plan: Plan) -> Result<Plan, Exit> {
    announce(&plan);
    plan.ask_programs().map_err(|failure| {
        say(format_args!("error: {failure}"));
        Exit::CellsFailed
    })
}

/// Refuses a study if a file of one of its programs has changed since it was planned.
pub(super) fn same_as_planned(plan: &Plan) -> Result<(), Exit> {
    for planned in plan.programs() {
        let files = planned.files.keys().map(Into::into).collect();
        let program =
            Program { command: planned.command.clone(), timeout: Program::default_timeout(), files };
        if program.identity(&plan.base).files != planned.files {
            say(format_args!(
                "error: a file of the program `{}` is not what the study was planned with; make the plan anew with \
                 `subrosa cluster plan`",
                planned.words()
            ));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}
