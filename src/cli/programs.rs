//! Programs that a scenario names: who runs them is told so once, and each is asked what it is before a study begins.

use super::exit::Exit;
use super::output::say;
use crate::programs::{Program, ProgramIdentity};
use crate::study::Plan;
use crate::vocab::counted;

/// Says which programs a scenario starts.
pub(super) fn announce(plan: &Plan) {
    let programs = plan.programs();
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

/// Says so, and asks each program what it is: that is part of what the study is.
pub(super) fn ask(plan: Plan) -> Result<Plan, Exit> {
    if plan.programs().is_empty() {
        return Ok(plan);
    }
    announce(&plan);
    let known = versions(&plan)?;
    Ok(plan.with_programs(&known))
}

/// What each program says that it is. Starts each once.
pub(super) fn versions(plan: &Plan) -> Result<Vec<ProgramIdentity>, Exit> {
    let asked = plan.programs().into_iter().map(|identity| {
        let timeout = timeout(plan, &identity);
        let program = Program { command: identity.command.clone(), timeout, files: Vec::new() };
        let version = program.version(&plan.base).map_err(|failure| {
            say(format_args!("error: {failure}"));
            Exit::CellsFailed
        })?;
        Ok(ProgramIdentity { version, ..identity })
    });
    asked.collect()
}

/// Refuses to go on with a study that was planned with other programs.
pub(super) fn same_as_planned(plan: &Plan) -> Result<(), Exit> {
    for planned in plan.programs() {
        let files = planned.files.keys().map(Into::into).collect();
        let program =
            Program { command: planned.command.clone(), timeout: Program::default_timeout(), files };
        if program.identity(&plan.base).files != planned.files {
            say(format_args!(
                "error: a file of the program `{}` is not what the study was planned with; make the plan anew with \
                 `subrosa sweep plan`",
                planned.words()
            ));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}

/// The longest time that any place of the scenario gives the program.
fn timeout(plan: &Plan, identity: &ProgramIdentity) -> crate::vocab::Span {
    let named = plan.cells.iter().flat_map(|cell| cell.scenario.programs());
    let own = named.filter(|program| program.command == identity.command);
    own.map(|program| program.timeout).max().unwrap_or_else(Program::default_timeout)
}
