//! External programs that a scenario names. A note lists the programs that are started. Before a study begins, each of
//! these programs is asked for its version line.

use super::exit::Exit;
use super::output::eprint_line;
use crate::programs::{Program, ProgramIdentity, ProgramUse};
use crate::study::{Plan, ask_programs, programs_of};
use crate::vocab::counted;

/// The plans of the branches of a fork, by name.
type Branches = Vec<(String, Plan)>;

/// Prints which programs are started when the scenario is run.
pub(super) fn announce(plan: &Plan) {
    announce_to(plan, ProgramUse::ToPlay);
}

/// Prints which programs are started for the given use of the scenario.
pub(super) fn announce_to(plan: &Plan, starts: ProgramUse) {
    print_programs(plan, &plan.programs_started(starts));
}

fn print_programs(plan: &Plan, programs: &[ProgramIdentity]) {
    if programs.is_empty() {
        return;
    }
    warn_of_modules(programs);
    let named: Vec<String> = programs.iter().map(|program| format!("`{}`", program.words())).collect();
    eprint_line(format_args!(
        "note: this scenario starts {} with your rights, in {}: {} (run only what you trust; a replay starts none)",
        counted(programs.len() as u64, "program"),
        plan.base.display(),
        named.join(", ")
    ));
}

/// Warns of each program that is a Python module and whose identity has no files. The text of such a module is not part of
/// the study's identity.
pub(super) fn warn_of_modules(programs: &[ProgramIdentity]) {
    for (program, module) in programs.iter().filter_map(|program| Some((program, program.unseen_module()?))) {
        eprint_line(format_args!(
            "warning: `{}` runs the module {module}, whose text is not part of the study's identity: after an edit, earlier \
             results are reused (name its files, as in files: [\"{}.py\"])",
            program.words(),
            module.replace('.', "/")
        ));
    }
}

/// Prints which programs are started, and asks each for its version line.
pub(super) fn ask(plan: Plan) -> Result<Plan, Exit> {
    announce(&plan);
    plan.ask_programs().map_err(|failure| {
        eprint_line(format_args!("error: {failure}"));
        Exit::CellsFailed
    })
}

/// As [`ask`], for a study and the branches of its fork: each program is named once, and asked once.
pub(super) fn ask_all(plan: Plan, branches: Branches) -> Result<(Plan, Branches), Exit> {
    let (names, mut plans): (Vec<String>, Vec<Plan>) = branches.into_iter().unzip();
    plans.insert(0, plan);
    print_programs(&plans[0], &programs_of(&plans));
    let mut asked = ask_programs(plans)
        .map_err(|failure| {
            eprint_line(format_args!("error: {failure}"));
            Exit::CellsFailed
        })?
        .into_iter();
    let plan = asked.next().expect("as many plans as before");
    Ok((plan, names.into_iter().zip(asked).collect()))
}

/// Refuses a study if a file of one of its programs has changed since the study was planned.
pub(super) fn same_as_planned(plan: &Plan) -> Result<(), Exit> {
    for planned in plan.programs() {
        let files = planned.files.keys().map(Into::into).collect();
        let program =
            Program { command: planned.command.clone(), timeout: Program::default_timeout(), files };
        if program.identity(&plan.base).files != planned.files {
            eprint_line(format_args!(
                "error: a file of the program `{}` has changed since the study was planned; make the plan anew with \
                 `subrosa cluster plan`",
                planned.words()
            ));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}
