//! Output: results go to standard output, all other messages to standard error. Of the control characters in files or
//! arguments, only newlines and tabs reach the terminal. A program that calls the command line as a function can collect
//! both outputs instead of printing them.

use super::exit::Exit;
use crate::report::WIDTH;
use crate::scenario::printable;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};

thread_local! {
    /// Standard output and standard error of this thread while [`capture_output`] collects them; `None` while they are
    /// printed.
    static CAPTURED: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs `work` and returns its exit code, standard output and standard error; text printed on this thread is collected, not
/// shown.
pub(super) fn capture_output(work: impl FnOnce() -> Exit) -> (Exit, String, String) {
    CAPTURED.with_borrow_mut(|kept| *kept = Some(<(String, String)>::default()));
    let exit = work();
    let (out, err) = CAPTURED.with_borrow_mut(Option::take).unwrap_or_default();
    (exit, out, err)
}

/// Appends a text to the collected output; returns false if output is not being collected.
fn append_captured(text: &str, of: impl FnOnce(&mut (String, String)) -> &mut String) -> bool {
    CAPTURED.with_borrow_mut(|kept| kept.as_mut().map(|kept| of(kept).push_str(text)).is_some())
}

/// Smallest width, in columns, for which tables are laid out.
const MIN_WIDTH: usize = 40;
/// Largest width, in columns, that tables use.
const MAX_WIDTH: usize = 240;

/// Prints results to standard output. A broken pipe (`| head`) is no error. Any other failure, such as a full disk, ends the
/// program with an error, since exit code 0 means that the results were written.
pub(super) fn print(text: &str) {
    let text = printable(text);
    if append_captured(&text, |kept| &mut kept.0) {
        return;
    }
    let mut out = io::stdout().lock();
    // Without the flush, an error while the rest of the buffer is written would be ignored.
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        exit_unless_broken_pipe(&error);
    }
}

/// Ends the program after a failure to write, unless the failure is a broken pipe.
pub(super) fn exit_unless_broken_pipe(error: &io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        eprint_line(format_args!(
            "error: cannot write to standard output: {error} (free some space, or write the output elsewhere)"
        ));
        std::process::exit(i32::from(Exit::Internal as u8));
    }
}

/// Width for tables: the environment variable COLUMNS, else the terminal's width, else [`WIDTH`], limited to 40 to 240
/// columns.
pub(super) fn width() -> usize {
    known_width().unwrap_or(WIDTH)
}

/// Width of the terminal, limited to 40 to 240 columns: the environment variable COLUMNS, else the terminal's own width;
/// `None` if standard output is no terminal and COLUMNS is not set to a whole number above 0.
pub(super) fn known_width() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    let terminal = || {
        let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(columns))
    };
    let found = stated.filter(|columns| *columns > 0).or_else(terminal);
    found.map(|columns| columns.clamp(MIN_WIDTH, MAX_WIDTH))
}

/// Prints a line to standard error. Failures to write are ignored, so a run continues if standard error is closed.
pub(super) fn eprint_line(line: impl Display) {
    eprint_lines(&format!("{line}\n"));
}

/// Prints lines, each with its newline, to standard error; failures to write are ignored.
pub(super) fn eprint_lines(lines: &str) {
    let lines = printable(lines);
    if !append_captured(&lines, |kept| &mut kept.1) {
        drop(io::stderr().lock().write_all(lines.as_bytes()));
    }
}
