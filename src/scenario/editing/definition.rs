//! Finds what a name in a scenario refers to: the entry of a party, the name of a group or of a series, or a file.

use super::context::Context;
use super::names::definition_of;
use crate::scenario::notation::is_json;
use crate::scenario::tokens::tokens;
use std::ops::Range;

/// The place that a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A range of bytes of the scenario's text.
    Here(Range<usize>),
    /// A path as the scenario writes it; the caller checks whether this file exists.
    File(String),
}

/// What the text in quotation marks at byte `at` of a scenario refers to, with the range of bytes of this quoted text.
///
/// `None` if the scenario is in JSON, or if the byte `at` is not inside a quoted text, or is inside one that is a key.
#[must_use]
pub fn definition(text: &str, at: usize) -> Option<(Range<usize>, Target)> {
    if is_json(text) {
        return None;
    }
    let tokens = tokens(text);
    let context = Context::at(&tokens, at)?;
    let word = tokens[context.word?];
    if !word.is_text() || context.is_key(&tokens) {
        return None;
    }
    let target = match definition_of(&tokens, word.unquoted()) {
        Some(known) => Target::Here(known.token.span()),
        None => Target::File(word.unquoted().to_owned()),
    };
    Some((word.span(), target))
}
