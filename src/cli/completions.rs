//! `subrosa completions`: the completion script of a shell.

use super::exit::Exit;
use super::options::{CompletionsArguments, command};
use super::output::print;

/// Prints the completion script of the requested shell.
pub(super) fn completions(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "subrosa", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Ok
}
