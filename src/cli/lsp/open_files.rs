//! The texts that an editor has open, and their errors.

use super::position::{path_of, range_of};
use crate::cli::load::{resources_of, threads};
use crate::objectives::{Resources, RunLimits};
use crate::scenario::{Diagnostic, Document, Place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// All open texts, by address (URI).
#[derive(Debug, Default)]
pub(super) struct OpenFiles(BTreeMap<String, OpenFile>);

/// A text as the editor shows it, saved or not.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) text: String,
    /// Corrections that the errors suggest: what to replace, and by what.
    pub(super) corrections: Vec<(Range<usize>, String)>,
    is_checked: bool,
    /// The path of the file; for a text that has no file, `scenario.ron` in the current folder.
    path: PathBuf,
}

impl OpenFile {
    /// The folders, programs and limits for the scenario.
    pub(super) fn resources(&self) -> Resources {
        let limits = RunLimits { threads: threads(None), ..RunLimits::default() };
        Resources { limits, ..resources_of(&self.path, None) }
    }

    /// The errors in the form of the language server protocol, with the same texts as `subrosa check` prints.
    fn check(&mut self) -> Vec<Value> {
        self.is_checked = true;
        self.corrections.clear();
        let document = Document::from_text(&self.path, self.text.clone());
        let found = document.cells(&[], &self.resources()).err();
        let mut diagnostics = Vec::new();
        for diagnostic in found.iter().flat_map(|found| &found.list) {
            let bytes = match &diagnostic.place {
                Place::At(bytes) => bytes.clone(),
                Place::Override(_) | Place::Whole => 0..0,
            };
            self.corrections.extend(correction(&self.text, &bytes, diagnostic));
            let lines: Vec<String> =
                std::iter::once(diagnostic.message.clone()).chain(diagnostic.notes()).collect();
            diagnostics.push(json!({
                "range": range_of(&self.text, &bytes),
                "severity": 1,
                "source": "subrosa",
                "message": lines.join("\n"),
            }));
        }
        diagnostics
    }
}

/// The replacement of a misspelt name by the one that was probably meant.
fn correction(text: &str, bytes: &Range<usize>, diagnostic: &Diagnostic) -> Option<(Range<usize>, String)> {
    let (wrong, right) = (diagnostic.found.as_ref()?.trim_matches(['`', '"']), diagnostic.similar_name()?);
    // Quotation marks around the name stay.
    let at = bytes.start + text.get(bytes.clone())?.find(wrong).filter(|&at| at <= 1)?;
    Some((at..at + wrong.len(), right.to_owned()))
}

impl OpenFiles {
    /// Handles a notification that a text was opened, changed or closed. Returns the address of a text that was closed.
    pub(super) fn follow(&mut self, method: &str, params: &Value) -> Option<String> {
        let document = &params["textDocument"];
        let address = document["uri"].as_str()?;
        let text = match method {
            "textDocument/didOpen" => document["text"].as_str()?,
            "textDocument/didChange" => params["contentChanges"].as_array()?.last()?["text"].as_str()?,
            "textDocument/didClose" => {
                self.0.remove(address);
                return Some(address.to_owned());
            }
            _ => return None,
        };
        let path = path_of(address).unwrap_or_else(|| Path::new("scenario.ron").to_owned());
        let file = OpenFile { text: text.to_owned(), corrections: Vec::new(), is_checked: false, path };
        self.0.insert(address.to_owned(), file);
        None
    }

    /// The text with this address.
    pub(super) fn get(&self, address: &str) -> Option<&OpenFile> {
        self.0.get(address)
    }

    /// Whether every text has been checked since it was opened or last changed.
    pub(super) fn are_checked(&self) -> bool {
        self.0.values().all(|file| file.is_checked)
    }

    /// Checks the texts that have not been checked since they were opened or last changed. Returns the errors of each of
    /// these texts.
    pub(super) fn check(&mut self) -> Vec<(String, Vec<Value>)> {
        let changed = self.0.iter_mut().filter(|(_, file)| !file.is_checked);
        changed.map(|(address, file)| (address.clone(), file.check())).collect()
    }
}
