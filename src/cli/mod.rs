//! The command line: one file per verb, exit codes in one place.

mod account;
mod audit;
mod calibrate;
mod check;
mod compare;
mod completions;
mod design_rule;
mod diff;
mod dry;
mod exit;
mod figure;
mod fork;
mod from_csv;
mod interruption;
mod list;
mod load;
mod man;
mod new;
mod options;
mod output;
mod programs;
mod progress;
mod replay;
mod report;
mod run;
mod sweep;
mod templates;
mod trace;

use clap::Parser;
use options::{Arguments, Verb};
use std::ffi::OsString;
use std::process::ExitCode;

pub use exit::Exit;
pub use options::command;

/// Prints what is wrong with the program itself.
pub(crate) fn complain_of(error: &dyn std::error::Error) {
    output::say(format_args!("error: {error}"));
}

/// Runs the program on the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    main_with(std::env::args_os()).into()
}

/// Runs the program on these arguments, the first of which is the program's own name.
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => verb(arguments),
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            if let (Err(failure), false) = (error.print(), error.use_stderr()) {
                output::unless_gone(&failure);
            }
            exit
        }
    }
}

/// What the command line printed for whoever called it.
#[derive(Clone, Debug)]
pub struct Printed {
    /// How it ended.
    pub exit: Exit,
    /// Results: what it would have printed to standard output.
    pub out: String,
    /// What it would have printed to standard error, but for lines of other threads than the caller's.
    pub err: String,
}

/// Runs the program on these arguments, the first of which is the program's own name, and returns what it would have
/// printed. `run` and `cluster work` handle interruptions of the whole process: call [`crate::study::play`] in place of them.
#[must_use]
pub fn printed(arguments: impl IntoIterator<Item = OsString>) -> Printed {
    let (exit, out, err) = output::kept(|| match Arguments::try_parse_from(arguments) {
        Ok(arguments) => verb(arguments),
        Err(error) if error.use_stderr() => {
            output::say_lines(&error.render().to_string());
            Exit::Usage
        }
        Err(error) => {
            output::print(&error.render().to_string());
            Exit::Ok
        }
    });
    Printed { exit, out, err }
}

fn verb(arguments: Arguments) -> Exit {
    match arguments.verb {
        Verb::Check(arguments) => check::check(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Replay(arguments) => replay::replay(&arguments),
        Verb::Sweep(arguments) => sweep::sweep(&arguments),
        Verb::Compare(arguments) => compare::compare(&arguments),
        Verb::Report(arguments) => report::report(&arguments),
        Verb::New(arguments) => new::new(&arguments),
        Verb::Trace(arguments) => trace::trace(&arguments),
        Verb::Account(arguments) => account::account(&arguments),
        Verb::Audit(arguments) => audit::audit(&arguments),
        Verb::Calibrate(arguments) => calibrate::calibrate(&arguments),
        Verb::List(arguments) => list::list(&arguments),
        Verb::Completions(arguments) => completions::completions(&arguments),
        Verb::Man(arguments) => man::man(&arguments),
    }
}
