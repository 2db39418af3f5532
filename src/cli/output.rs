//! Output: results to standard output, everything else to standard error. Control characters in files or arguments
//! never reach the terminal. A program that calls the command line may have both instead.

use super::exit::Exit;
use crate::report::WIDTH;
use crate::scenario::printable;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};

thread_local! {
    /// What was printed on this thread and who called wants to have, standard output and standard error.
    static KEPT: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs `work`, and returns what it printed on this thread in place of printing it: standard output, standard error.
pub(super) fn kept(work: impl FnOnce() -> Exit) -> (Exit, String, String) {
    KEPT.with_borrow_mut(|kept| *kept = Some(<(String, String)>::default()));
    let exit = work();
    let (out, err) = KEPT.with_borrow_mut(Option::take).unwrap_or_default();
    (exit, out, err)
}

/// Keeps a text for whoever called; false where it is to be printed.
fn keep(text: &str, of: impl FnOnce(&mut (String, String)) -> &mut String) -> bool {
    KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| of(kept).push_str(text)).is_some())
}
/// Fewest columns that tables are laid out for.
const LEAST_WIDTH: usize = 60;
/// Most columns that are used.
const MOST_WIDTH: usize = 240;

/// Prints results to standard output. A broken pipe (`| head`) is no error; results that cannot be written, as on a
/// full disk, end the program, because exit code 0 would promise that they were.
pub(super) fn print(text: &str) {
    let text = printable(text);
    if keep(&text, |kept| &mut kept.0) {
        return;
    }
    let mut out = io::stdout().lock();
    // Otherwise an error while writing the rest of the buffer would go unnoticed.
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
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

/// Columns of the terminal: what COLUMNS says, else what the terminal says, else 80.
pub(super) fn width() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    let terminal = || {
        let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(columns))
    };
    let found = stated.filter(|columns| *columns > 0).or_else(terminal);
    found.unwrap_or(WIDTH).clamp(LEAST_WIDTH, MOST_WIDTH)
}

/// Prints a line on standard error. A run continues if standard error is closed.
pub(super) fn say(line: impl Display) {
    say_lines(&format!("{line}\n"));
}

/// The same for complete lines.
pub(super) fn say_lines(lines: &str) {
    let lines = printable(lines);
    if !keep(&lines, |kept| &mut kept.1) {
        drop(io::stderr().lock().write_all(lines.as_bytes()));
    }
}
