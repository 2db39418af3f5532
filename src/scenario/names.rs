//! Checks of names and texts. No name and no text may contain a character that controls a terminal or reverses text. No
//! name may begin with a character that makes a spreadsheet evaluate a formula.
//!
//! Line breaks and tabs are permitted in the fields `about` and `source`, and in the file outside of names and texts.

use super::diagnostic::{Diagnostic, Place};
use super::printable::controls_display;
use crate::vocab::{Problem, ProblemKind};
use serde_json::Value;

/// Characters that a spreadsheet takes for the beginning of a formula.
pub(super) const FORMULA: [char; 4] = ['=', '+', '-', '@'];
/// Largest number of characters of a name that a message shows.
const SHOWN: usize = 40;

fn breaks_lines(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t')
}

/// The error for the first character that controls the display in the text of a file, also if this character is in a
/// comment. Line breaks and tabs are permitted.
pub(super) fn hidden(text: &str) -> Option<Diagnostic> {
    let (at, c) = text.char_indices().find(|&(_, c)| controls_display(c) && !breaks_lines(c))?;
    Some(
        Diagnostic::new(
            Place::at(at..at + c.len_utf8()),
            format!("the character U+{:04X} in the text", c as u32),
        )
        .expected("visible characters")
        .found(format!("U+{:04X}, which changes how a terminal or page shows the text", c as u32))
        .cure("remove it; an editor that shows hidden characters finds it"),
    )
}

/// The problems of the names and texts of a draft, given as JSON. Keys of maps are names: parties, branches of a fork.
pub(super) fn problems(plain: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    look(plain, "", "", &mut problems);
    problems
}

/// What is wrong with a name that the command line gives, in words; `None` if a scenario accepts it.
pub(crate) fn invalid_name(name: &str) -> Option<String> {
    let ProblemKind::Wrong { expected, found, cure } = name_problem(String::new(), name)?.complaint else {
        return None;
    };
    Some(format!("expected {expected}, found {found} ({cure})"))
}

fn look(value: &Value, path: &str, field: &str, problems: &mut Vec<Problem>) {
    match value {
        Value::String(text) => {
            let path = path.to_owned();
            problems.extend(match field {
                "name" | "group" => name_problem(path, text),
                "about" | "source" => text_problem(path, text, &|c| controls_display(c) && !breaks_lines(c)),
                _ => text_problem(path, text, &controls_display),
            });
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                // Names of fields and members have only letters, digits and underscores.
                let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                let below = match path {
                    "" => name.clone(),
                    "parties" => format!("parties[\"{name}\"]"),
                    _ if !plain => format!("{path}[\"{name}\"]"),
                    _ => format!("{path}.{name}"),
                };
                problems.extend(name_problem(below.clone(), name));
                look(value, &below, name, problems);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                look(item, &format!("{path}[{index}]"), field, problems);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn name_problem(path: String, name: &str) -> Option<Problem> {
    if name.starts_with(FORMULA) {
        return Some(Problem::wrong(
            path,
            "a name that does not begin with =, +, - or @",
            shown(name),
            "begin it with a letter: a spreadsheet would read a cell with this name as a formula",
        ));
    }
    text_problem(path, name, &controls_display)
}

fn text_problem(path: String, text: &str, bad: &dyn Fn(char) -> bool) -> Option<Problem> {
    text.contains(bad).then(|| {
        Problem::wrong(
            path,
            "a text of visible characters",
            shown(text),
            "remove the characters written with a backslash: they change how a terminal or page shows the text",
        )
    })
}

/// The beginning of a text in quotation marks, with control characters escaped.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start:?}{}", if start.len() < text.len() { " .." } else { "" })
}

/// Whether a spreadsheet would evaluate a value of an `Each` as a formula: whether it is a text that begins with a character
/// of [`FORMULA`]. Values of an `Each` become cells of tables. `value` is the value as RON.
pub(super) fn formula(value: &str) -> bool {
    value.trim_start().strip_prefix('"').is_some_and(|text| text.starts_with(FORMULA))
}

/// Whether a label of an `Each` can be a cell of a table.
pub(super) fn is_label(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with(FORMULA) && !text.contains(controls_display)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_control_the_display_are_found_and_escaped() {
        assert_eq!(hidden("// \u{2066}").unwrap().place, Place::at(3..6));
        assert_eq!(hidden("a\r\n\tb"), None);
        assert_eq!(shown("\u{1b}\u{202e}"), "\"\\u{1b}\\u{202e}\"");
        assert!(formula(" \"=1\"") && !formula("-1") && !formula("\"a=\""));
    }
}
