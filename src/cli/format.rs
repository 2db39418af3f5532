//! `subrosa fmt`: gives scenario files the standard indentation and spaces; line breaks and everything else stay.

use super::exit::Exit;
use super::load::print_error;
use super::options::{Format, FormatArguments};
use super::output::{eprint_line, print};
use crate::scenario::Document;
use crate::study::files;
use std::path::Path;

/// Formats every file or, with `--check`, reports those that are not formatted. A file with an error stays as it is, and
/// the others are still handled. Returns the exit code of the first file that failed.
pub(super) fn format(arguments: &FormatArguments) -> Exit {
    let mut worst = Exit::Ok;
    for file in &arguments.scenarios {
        let exit = one(file, arguments.check);
        if worst == Exit::Ok {
            worst = exit;
        }
    }
    worst
}

fn one(file: &Path, only_check: bool) -> Exit {
    let formatted = Document::load(file).and_then(|document| {
        let text = document.formatted();
        text.map(|text| (document, text))
    });
    let (document, text) = match formatted {
        Ok(formatted) => formatted,
        Err(diagnostics) => return print_error(&diagnostics, Format::Text),
    };
    let is_input = file == Path::new("-");
    if only_check {
        if document.text() == text {
            return Exit::Ok;
        }
        eprint_line(format_args!(
            "error: {0} is not formatted (`subrosa fmt {0}` formats it)",
            file.display()
        ));
        return Exit::InvalidScenario;
    }
    if is_input {
        print(&text);
    } else if document.text() != text {
        if let Err(error) = files::put(file, text.as_bytes()) {
            eprint_line(format_args!("error: {error}"));
            return Exit::Internal;
        }
        print(&format!("formatted {}\n", file.display()));
    }
    Exit::Ok
}
