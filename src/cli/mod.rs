//! The command line: one file per command; `exit` defines the exit codes.

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
mod pool;
mod programs;
mod progress;
mod replay;
mod report;
mod run;
mod schema;
mod sign;
mod spent;
mod sweep;
mod templates;
mod threshold;
mod trace;
mod watch;

use crate::gp::simd;
use clap::Parser;
use options::{Arguments, Verb};
use std::ffi::OsString;
use std::process::ExitCode;

pub use exit::Exit;
pub use options::command;

/// Prints an error that no command has caused, such as a catalogue that cannot be installed.
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
/// printing it. Instead of the commands `run` and `cluster work`, which install a signal handler for the whole process,
/// call [`crate::study::play`].
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
    if let Err(unknown) = simd::wanted() {
        output::say(format_args!("error: {unknown}"));
        return Exit::Usage;
    }
    match arguments.verb {
        Verb::Check(arguments) => check::check(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Replay(arguments) => replay::replay(&arguments),
        Verb::Sign(arguments) => sign::sign(&arguments),
        Verb::Sweep(arguments) => sweep::sweep(&arguments),
        Verb::Compare(arguments) => compare::compare(&arguments),
        Verb::Threshold(arguments) => threshold::threshold(&arguments),
        Verb::Explain(arguments) => explain::explain(&arguments),
        Verb::Report(arguments) => report::report(&arguments),
        Verb::New(arguments) => new::new(&arguments),
        Verb::Trace(arguments) => trace::trace(&arguments),
        Verb::Account(arguments) => account::account(&arguments),
        Verb::Audit(arguments) => audit::audit(&arguments),
        Verb::Calibrate(arguments) => calibrate::calibrate(&arguments),
        Verb::List(arguments) => list::list(&arguments),
        Verb::Schema => schema::schema(),
        Verb::Convert(arguments) => convert::convert(&arguments),
        Verb::Format(arguments) => format::format(&arguments),
        #[cfg(feature = "lsp")]
        Verb::Lsp(_) => lsp::serve(),
        Verb::Completions(arguments) => completions::completions(&arguments),
        Verb::Man(arguments) => man::man(&arguments),
    }
}
