//! What is printed where: results to standard output, everything else to standard error. Nothing that a file or an
//! argument holds reaches the terminal as a control character.

use super::exit::Exit;
use crate::scenario::printable;
use std::fmt::Display;
use std::io::{self, Write};

/// Prints results to standard output. A reader that has gone away (`| head`) is no error; results that cannot be
/// written, as on a full disk, end the program, for exit code 0 would promise that they are there.
pub(super) fn print(text: &str) {
    let mut out = io::stdout().lock();
    // What is left in the buffer would be lost without a word.
    if let Err(error) = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        unless_gone(&error);
    }
}

/// Ends the program for a failure to write, unless it is only that the reader has gone away.
pub(super) fn unless_gone(error: &io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        say(format_args!(
            "error: cannot write to standard output: {error} (free some space, or write the output elsewhere)"
        ));
        std::process::exit(i32::from(Exit::Internal as u8));
    }
}

/// Tells the user something: a line on standard error. A run goes on where nobody listens any more.
pub(super) fn say(line: impl Display) {
    say_lines(&format!("{line}\n"));
}

/// The same for lines that are whole already.
pub(super) fn say_lines(lines: &str) {
    drop(io::stderr().lock().write_all(printable(lines).as_bytes()));
}
