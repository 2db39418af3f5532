//! Answers to an editor's requests.

use super::open_files::{OpenFile, OpenFiles};
use super::position::{address_of, byte_of, range_of};
use crate::scenario::Document;
use crate::scenario::editing::{Completion, Target, What, completions, definition, hover};
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;

/// The answer to a request; `None` if the server does not know the method. The answer is null if the text is not open, if
/// there is nothing to explain, if no definition is found, or if the text that is to be formatted cannot be parsed.
/// Completions and corrections of an open text are a list, which may be empty.
pub(super) fn answer(files: &mut OpenFiles, method: &str, params: &Value) -> Option<Value> {
    let address = params["textDocument"]["uri"].as_str().unwrap_or_default();
    let answer: fn(&OpenFile, &str, &Value) -> Option<Value> = match method {
        "textDocument/hover" => explanation,
        "textDocument/completion" => choices,
        "textDocument/definition" => place_of_definition,
        "textDocument/formatting" => layout,
        "textDocument/codeAction" => corrections,
        _ => return None,
    };
    let found = files.get(address).and_then(|file| answer(file, address, params));
    Some(found.unwrap_or(Value::Null))
}

fn markdown(text: &str) -> Value {
    json!({ "kind": "markdown", "value": text })
}

fn explanation(file: &OpenFile, _: &str, params: &Value) -> Option<Value> {
    let found = hover(&file.text, byte_of(&file.text, &params["position"]))?;
    Some(json!({ "contents": markdown(&found.text), "range": range_of(&file.text, &found.bytes) }))
}

fn choices(file: &OpenFile, _: &str, params: &Value) -> Option<Value> {
    let at = byte_of(&file.text, &params["position"]);
    let items = completions(&file.text, at).into_iter().enumerate();
    let items: Vec<Value> = items.map(|(rank, found)| item(&file.text, at, rank, &found)).collect();
    Some(json!({ "isIncomplete": false, "items": items }))
}

/// One completion.
fn item(text: &str, at: usize, rank: usize, found: &Completion) -> Value {
    let kind = match found.what {
        What::Required | What::Optional => 5, // field
        What::Member => 20,                   // enum member
        What::Value => 12,                    // value
        What::Name => 18,                     // reference
    };
    // Optional fields come after everything else.
    let group = u8::from(found.what == What::Optional);
    let filter = if found.what == What::Name { &found.new } else { &found.label };
    json!({
        "label": found.label,
        "kind": kind,
        "detail": found.detail,
        "documentation": markdown(&found.about),
        "sortText": format!("{group}{rank:04}"),
        "filterText": filter,
        "textEdit": { "range": range_of(text, &on_one_line(text, at, &found.bytes)), "newText": found.new },
    })
}

/// The part of a word that a completion may replace. This is the whole word, or only the part before the cursor if the word
/// contains a line break. A string without a closing quotation mark may contain a line break.
fn on_one_line(text: &str, at: usize, bytes: &Range<usize>) -> Range<usize> {
    if text[bytes.clone()].contains('\n') { bytes.start..at } else { bytes.clone() }
}

fn place_of_definition(file: &OpenFile, address: &str, params: &Value) -> Option<Value> {
    let (_, target) = definition(&file.text, byte_of(&file.text, &params["position"]))?;
    match target {
        Target::Here(bytes) => Some(json!({ "uri": address, "range": range_of(&file.text, &bytes) })),
        Target::File(name) => {
            let place = file.resources().place(Path::new(&name));
            place.is_file().then(|| json!({ "uri": address_of(&place), "range": range_of("", &(0..0)) }))
        }
    }
}

/// The edit that formats the text by changing only its white space; `None` if the text cannot be parsed.
fn layout(file: &OpenFile, _: &str, _: &Value) -> Option<Value> {
    let new = Document::from_text(Path::new("scenario.ron"), file.text.clone()).formatted().ok()?;
    if new == file.text {
        return Some(json!([]));
    }
    Some(json!([{ "range": range_of(&file.text, &(0..file.text.len())), "newText": new }]))
}

/// The corrections of those misspelt names that touch the range of the request.
fn corrections(file: &OpenFile, address: &str, params: &Value) -> Option<Value> {
    let range = &params["range"];
    let (from, to) = (byte_of(&file.text, &range["start"]), byte_of(&file.text, &range["end"]));
    let touching = file.corrections.iter().filter(|(bytes, _)| bytes.start <= to && from <= bytes.end);
    let actions = touching.map(|(bytes, new)| {
        let edit = json!({ "range": range_of(&file.text, bytes), "newText": new });
        json!({
            "title": format!("Write {new}"),
            "kind": "quickfix",
            "isPreferred": true,
            "edit": { "changes": { address: [edit] } },
        })
    });
    Some(Value::Array(actions.collect()))
}
