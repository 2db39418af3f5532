//! The command line: one file per verb, exit codes in one place.

mod account;
mod audit;
mod calibrate;
mod check;
mod compare;
mod completions;
mod diff;
mod dry;
mod exit;
mod fork;
mod interruption;
mod list;
mod load;
mod man;
mod new;
mod options;
mod output;
mod progress;
mod replay;
mod report;
mod run;
mod sweep;
mod templates;
mod trace;

use clap::Parser;
use options::{Arguments, Verb};
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
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            if let (Err(failure), false) = (error.print(), error.use_stderr()) {
                output::unless_gone(&failure);
            }
            return exit.into();
        }
    };
    let exit = match arguments.verb {
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
    };
    exit.into()
}
