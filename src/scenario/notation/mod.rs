//! Scenarios in JSON: the same document as in RON, in a notation that every programming language can write.
//!
//! A struct and a map are objects; a list and a tuple are arrays. A member of a family is an object whose only key is
//! its name, `{"Constant": "40ms"}`; a member without fields is its name as a string. The module `read` reads JSON into
//! a tree that has the position of each value in the text. `to_ron` writes this tree as RON, together with the position
//! in the JSON to which every byte of the RON belongs. The RON is then treated like any other scenario, so overrides,
//! `Each` and errors need no code for JSON. `to_json` writes RON as JSON.

mod read;
mod to_json;
mod to_ron;

pub(super) use to_json::to_json;
pub(super) use to_ron::to_ron;

/// Whether a text is a document in JSON: its first character opens an object, and no scenario in RON begins so.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}
