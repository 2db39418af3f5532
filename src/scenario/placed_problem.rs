//! Turns a problem of a draft into a diagnostic, which has a place in the file or names an override.

use super::diagnostic::{Diagnostic, Place};
use super::suggest::closest;
use super::sweep::EditedText;
use super::tree;
use crate::vocab::{Problem, ProblemKind};

/// The diagnostic of a problem. Its place is the origin of the value at the problem's path: a place in the user's file, or
/// an override. If the text has no value at the path, the last value that the path reaches is taken.
pub(super) fn diagnostic(edited: &EditedText, problem: Problem) -> Diagnostic {
    let place = match (tree::read(&edited.text), tree::path(&problem.path)) {
        (Ok(root), Some(path)) => {
            let (node, _) = tree::follow(&root, &path);
            edited.place(&node.span)
        }
        _ => Place::Whole,
    };
    match problem.complaint {
        ProblemKind::UnknownName { what, found, known } => {
            let diagnostic = Diagnostic::new(place, format!("no {what} is called \"{found}\""))
                .expected(format!("one of {}", known.join(", ")))
                .found(format!("\"{found}\""))
                .path(problem.path);
            match closest(&found, &known) {
                Some(close) => diagnostic.cure(format!("did you mean \"{close}\"?")),
                None => diagnostic.cure("name one that exists"),
            }
        }
        ProblemKind::Wrong { expected, found, cure } => {
            Diagnostic::new(place, format!("expected {expected}, found {found}"))
                .expected(expected)
                .found(found)
                .cure(cure)
                .path(problem.path)
        }
    }
}
