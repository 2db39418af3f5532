//! A problem of a draft as a diagnostic at its place in the file.

use super::diagnostic::{Diagnostic, Place};
use super::suggest::closest;
use super::sweep::EditedText;
use super::tree;
use crate::vocab::{Problem, ProblemKind};

/// The problem at the place in the file from which its value came.
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
