//! `subrosa convert`: prints a scenario in RON as JSON, or one in JSON as RON.

use super::exit::Exit;
use super::load::print_error;
use super::options::{ConvertArguments, Format};
use super::output::{eprint_line, print};
use crate::scenario::Document;
use crate::vocab::counted;

/// Prints the scenario in JSON if it is in RON, and in RON if it is in JSON.
pub(super) fn convert(arguments: &ConvertArguments) -> Exit {
    let converted = Document::load(&arguments.scenario).and_then(|document| {
        let text = if document.is_json() { document.ron() } else { document.json() };
        text.map(|text| (document, text))
    });
    let (document, text) = match converted {
        Ok(converted) => converted,
        Err(diagnostics) => return print_error(&diagnostics, Format::Text),
    };
    print(&text);
    let comments = document.comments();
    if comments > 0 && !document.is_json() {
        eprint_line(format_args!("note: JSON has no comments: {} left out", counted(comments, "comment")));
    }
    Exit::Ok
}
