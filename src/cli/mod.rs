//! The command line: one file per command, and files that several commands share. `exit` defines the exit codes.

mod account;
mod analysed;
mod audit;
mod calibrate;
mod check;
mod compare;
mod csv_columns;
mod completions;
mod contents;
mod convert;
mod design_rule;
mod diff;
mod dry;
mod ending;
mod exit;
mod explain;
mod figure;
mod fork;
mod format;
mod from_csv;
mod interruption;
mod list;
mod load;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod new;
mod options;
mod output;
mod programs;
mod progress;
mod replay;
mod report;
mod run;
mod schema;
mod sign;
mod budget_exit;
mod sweep;
mod templates;
mod threshold;
mod trace;
mod watch;

use crate::gp::simd;
use clap::Parser;
use options::{Arguments, TopCommand};
use std::ffi::OsString;
use std::process::ExitCode;

pub use exit::Exit;
pub use options::command;

/// Prints an error that occurs before any command begins, for example if a [`Catalogue`](crate::Catalogue) cannot be
/// installed.
pub(crate) fn print_startup_error(error: &dyn std::error::Error) {
    output::eprint_line(format_args!("error: {error}"));
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
                output::exit_unless_broken_pipe(&failure);
            }
            exit
        }
    }
}

/// The exit code and the output of one call of the command line.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The exit code.
    pub exit: Exit,
    /// The results, which a process would have printed to standard output.
    pub out: String,
    /// Messages that a process would have printed to standard error. Lines from threads other than the caller's are missing.
    pub err: String,
}

/// Runs the program on these arguments, the first of which is the program's own name, and returns its output instead of
/// printing it. The commands `run`, `threshold`, `explain` and `cluster work` install a signal handler for the whole
/// process: instead of them, call the functions of [`crate::study`], such as [`crate::study::play`].
#[must_use]
pub fn printed(arguments: impl IntoIterator<Item = OsString>) -> Printed {
    let (exit, out, err) = output::capture_output(|| match Arguments::try_parse_from(arguments) {
        Ok(arguments) => verb(arguments),
        Err(error) if error.use_stderr() => {
            output::eprint_lines(&error.render().to_string());
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
    if let Err(unknown) = simd::wanted() {
        output::eprint_line(format_args!("error: {unknown}"));
        return Exit::Usage;
    }
    match arguments.verb {
        TopCommand::Check(arguments) => check::check(&arguments),
        TopCommand::Run(arguments) => run::run(&arguments),
        TopCommand::Replay(arguments) => replay::replay(&arguments),
        TopCommand::Sign(arguments) => sign::sign(&arguments),
        TopCommand::Sweep(arguments) => sweep::sweep(&arguments),
        TopCommand::Compare(arguments) => compare::compare(&arguments),
        TopCommand::Threshold(arguments) => threshold::threshold(&arguments),
        TopCommand::Explain(arguments) => explain::explain(&arguments),
        TopCommand::Report(arguments) => report::report(&arguments),
        TopCommand::New(arguments) => new::new(&arguments),
        TopCommand::Trace(arguments) => trace::trace(&arguments),
        TopCommand::Account(arguments) => account::account(&arguments),
        TopCommand::Audit(arguments) => audit::audit(&arguments),
        TopCommand::Calibrate(arguments) => calibrate::calibrate(&arguments),
        TopCommand::List(arguments) => list::list(&arguments),
        TopCommand::Schema => schema::schema(),
        TopCommand::Convert(arguments) => convert::convert(&arguments),
        TopCommand::Format(arguments) => format::format(&arguments),
        #[cfg(feature = "lsp")]
        TopCommand::Lsp(_) => lsp::serve(),
        TopCommand::Completions(arguments) => completions::completions(&arguments),
        TopCommand::Man(arguments) => man::man(&arguments),
    }
}
