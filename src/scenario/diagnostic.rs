//! Errors in a scenario, each with place, message, expected value, found value and correction, as text and as JSON.

use super::printable::printable;
use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use serde::Serialize;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A range of bytes of the user's file.
    At(Range<usize>),
    /// An override of the command line, as typed.
    Override(String),
    /// The whole file.
    Whole,
}

impl Place {
    /// A range of bytes of the user's file.
    #[must_use]
    pub fn at(bytes: Range<usize>) -> Self {
        Self::At(bytes)
    }
}

/// One error in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place of the error.
    pub place: Place,
    /// The path of the field, if known.
    pub path: Option<String>,
    /// What is wrong, in a few words.
    pub message: String,
    /// What was expected.
    pub expected: Option<String>,
    /// What was found.
    pub found: Option<String>,
    /// How to correct it.
    pub cure: Option<String>,
}

impl Diagnostic {
    /// The field, what was expected, what was found, and how to correct the error; one line for each of them that is known.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let parts = [
            ("field   ", &self.path),
            ("expected", &self.expected),
            ("found   ", &self.found),
            ("help    ", &self.cure),
        ];
        parts.into_iter().filter_map(|(word, note)| Some(format!("{word} {}", note.as_ref()?))).collect()
    }

    /// The name that was probably meant; `None` if no known name is similar.
    #[must_use]
    pub fn similar_name(&self) -> Option<&str> {
        let name = self.cure.as_ref()?.strip_prefix("did you mean ")?.strip_suffix('?')?;
        Some(name.trim_matches(['`', '"']))
    }

    pub(super) fn new(place: Place, message: String) -> Self {
        Self { place, path: None, message, expected: None, found: None, cure: None }
    }

    pub(super) fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.path = (!path.is_empty()).then_some(path);
        self
    }

    pub(super) fn expected(mut self, text: impl Into<String>) -> Self {
        self.expected = Some(text.into());
        self
    }

    pub(super) fn found(mut self, text: impl Into<String>) -> Self {
        self.found = Some(text.into());
        self
    }

    pub(super) fn cure(mut self, text: impl Into<String>) -> Self {
        self.cure = Some(text.into());
        self
    }
}

/// All errors of a scenario, and its text.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// Name of the file as the user gave it.
    pub file: String,
    /// The text of the file; empty if the file could not be read.
    pub text: String,
    /// The errors in order of place, each once; those without a place in the file come last.
    pub list: Vec<Diagnostic>,
}

/// A diagnostic as JSON.
#[derive(Serialize)]
struct Plain<'a> {
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    #[serde(rename = "override")]
    overridden: Option<&'a str>,
    path: Option<&'a str>,
    message: &'a str,
    expected: Option<&'a str>,
    found: Option<&'a str>,
    cure: Option<&'a str>,
}

impl fmt::Display for Diagnostics {
    /// Writes the text that [`Diagnostics::render`] returns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostics {
    pub(super) fn new(file: &Path, text: &str, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|diagnostic| match &diagnostic.place {
            Place::At(bytes) => bytes.start,
            Place::Override(_) | Place::Whole => usize::MAX,
        });
        let mut unique: Vec<Diagnostic> = Vec::new();
        for diagnostic in list {
            if !unique.contains(&diagnostic) {
                unique.push(diagnostic);
            }
        }
        Self { file: file.display().to_string(), text: text.to_owned(), list: unique }
    }

    /// The errors as text for a terminal, without colour.
    #[must_use]
    pub fn render(&self) -> String {
        let file = SimpleFile::new(&self.file, &self.text);
        let config = term::Config::default();
        let mut out = String::new();
        for diagnostic in &self.list {
            let notes: Vec<String> = diagnostic.notes().iter().map(|note| wrap(note)).collect();
            let mut rendered = Rendered::error();
            match &diagnostic.place {
                Place::At(bytes) => {
                    rendered = rendered
                        .with_message(&diagnostic.message)
                        .with_labels(vec![Label::primary((), bytes.clone())]);
                }
                Place::Override(text) => {
                    rendered = rendered.with_message(format!("-o {text}: {}", diagnostic.message));
                }
                Place::Whole => {
                    rendered = rendered.with_message(format!("{}: {}", self.file, diagnostic.message));
                }
            }
            match term::emit_into_string(&config, &file, &rendered.with_notes(notes)) {
                Ok(text) => out.push_str(&text),
                // If the source lines cannot be shown, the message is still printed.
                Err(_) => out.push_str(&format!("error: {}: {}\n", self.file, diagnostic.message)),
            }
        }
        // The user's text is quoted and may contain control characters.
        printable(&out).into_owned()
    }

    /// The errors as JSON values.
    #[must_use]
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.list
            .iter()
            .map(|diagnostic| {
                let place = match &diagnostic.place {
                    Place::At(bytes) => Some(line_and_column(&self.text, bytes.start)),
                    Place::Override(_) | Place::Whole => None,
                };
                let overridden = match &diagnostic.place {
                    Place::Override(text) => Some(text.as_str()),
                    Place::At(_) | Place::Whole => None,
                };
                serde_json::to_value(Plain {
                    file: &self.file,
                    line: place.map(|(line, _)| line),
                    column: place.map(|(_, column)| column),
                    overridden,
                    path: diagnostic.path.as_deref(),
                    message: &diagnostic.message,
                    expected: diagnostic.expected.as_deref(),
                    found: diagnostic.found.as_deref(),
                    cure: diagnostic.cure.as_deref(),
                })
                .expect("plain data with text keys")
            })
            .collect()
    }
}

/// Line and column of a byte, both from 1; columns count characters.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Breaks a note between words so that it fits 80 columns, and indents continuation lines by the width of the keyword
/// column.
fn wrap(note: &str) -> String {
    const WIDTH: usize = 72;
    let mut out = String::new();
    let mut length = 0;
    for (index, word) in note.split(' ').enumerate() {
        let word_length = word.chars().count();
        if index > 0 && length > 9 && length + 1 + word_length > WIDTH {
            out.push_str("\n         ");
            length = 9;
        } else if index > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += word_length;
    }
    out
}
