//! Output: results to standard output, everything else to standard error. Control characters in files or arguments
//! never reach the terminal.

use super::exit::Exit;
use crate::scenario::printable;
use std::fmt::Display;
use std::io::{self, Write};

/// Prints results to standard output. A broken pipe (`| head`) is no error; results that cannot be written, as on a
/// full disk, end the program, because exit code 0 would promise that they were.
pub(super) fn print(text: &str) {
    let mut out = io::stdout().lock();
    // Otherwise an error while writing the rest of the buffer would go unnoticed.
    if let Err(error) = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        unless_gone(&error);
    }
}

/// Ends the program for a failure to write, unless it is a broken pipe.
pub(super) fn unless_gone(error: &io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        say(format_args!(
            "error: cannot write to standard output: {error} (free some space, or write the output elsewhere)"
        ));
        std::process::exit(i32::from(Exit::Internal as u8));
    }
}

/// Prints a line on standard error. A run continues if standard error is closed.
pub(super) fn say(line: impl Display) {
    say_lines(&format!("{line}\n"));
}

/// The same for complete lines.
pub(super) fn say_lines(lines: &str) {
    drop(io::stderr().lock().write_all(printable(lines).as_bytes()));
}
