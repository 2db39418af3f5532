//! Applies `Each` and the overrides of the command line as replacements of text, and records the origin of every byte.

use super::diagnostic::{Diagnostic, Place};
use super::each::{Choice, MAX_CELLS, Sweep, collect};
use super::{nesting, tree};
use crate::vocab::value::{Body, Entry, Node, Step};
use std::ops::Range;

/// The user's text after replacements, with the origin of every byte.
#[derive(Clone, Debug)]
pub(super) struct EditedText {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// Consecutive bytes of the edited text that have one origin.
#[derive(Clone, Debug)]
struct Piece {
    length: usize,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    /// Bytes of the user's file, the first of which has this position.
    File(usize),
    /// A translation of these bytes of the user's file.
    Translated(Range<usize>),
    /// An override, as typed.
    Override(String),
}

impl EditedText {
    pub(super) fn unchanged(text: &str) -> Self {
        let piece = Piece { length: text.len(), origin: Origin::File(0) };
        Self { text: text.to_owned(), pieces: vec![piece] }
    }

    /// The place in the user's text that a span of the edited text comes from.
    pub(super) fn place(&self, span: &Range<usize>) -> Place {
        let mut start = 0;
        for piece in &self.pieces {
            let end = start + piece.length;
            if span.start < end || (span.start == end && end == self.text.len()) {
                return match &piece.origin {
                    Origin::Override(text) => Place::Override(text.clone()),
                    Origin::Translated(bytes) => Place::at(bytes.clone()),
                    Origin::File(byte) => {
                        let from = byte + (span.start - start);
                        // If a part of the span was replaced, such as an `Each` or a comment, the span has several
                        // pieces. The place then ends where the bytes of the last piece end in the file, unless the last
                        // piece is from an override.
                        let last = self.cut(span.clone()).pop();
                        let to = last.and_then(|piece| match piece.origin {
                            Origin::File(byte) => Some(byte + piece.length),
                            Origin::Translated(bytes) => Some(bytes.end),
                            Origin::Override(_) => None,
                        });
                        let length = span.end.min(end).saturating_sub(span.start);
                        Place::at(from..to.unwrap_or(0).max(from + length))
                    }
                };
            }
            start = end;
        }
        Place::Whole
    }

    /// The diagnostics for the edited text, with their places in the user's text.
    pub(super) fn placed(&self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        for diagnostic in &mut diagnostics {
            if let Place::At(span) = &diagnostic.place {
                diagnostic.place = self.place(span);
            }
        }
        diagnostics
    }

    /// The pieces that make up a span.
    fn cut(&self, span: Range<usize>) -> Vec<Piece> {
        let mut cut = Vec::new();
        let mut start = 0;
        for piece in &self.pieces {
            let (from, to) = (span.start.max(start), span.end.min(start + piece.length));
            if from < to {
                let origin = match &piece.origin {
                    Origin::File(byte) => Origin::File(byte + (from - start)),
                    other => other.clone(),
                };
                cut.push(Piece { length: to - from, origin });
            }
            start += piece.length;
        }
        cut
    }

    /// Replaces spans, which must be in order and must not overlap, each by a value of an `Each`. A computed value, which is
    /// not written in the text, gets the origin of the first byte of the span that the value replaces.
    fn with_choices(&self, replacements: &[(Range<usize>, Choice)]) -> Self {
        let (mut text, mut pieces, mut at) = (String::new(), Vec::new(), 0);
        for (old, new) in replacements {
            text.push_str(&self.text[at..old.start]);
            pieces.extend(self.cut(at..old.start));
            match &new.span {
                Some(span) => {
                    text.push_str(&self.text[span.clone()]);
                    pieces.extend(self.cut(span.clone()));
                }
                None => {
                    text.push_str(&new.shown);
                    let first = self.cut(old.clone()).into_iter().next();
                    let origin = first.map_or(Origin::File(0), |piece| piece.origin);
                    pieces.push(Piece { length: new.shown.len(), origin });
                }
            }
            at = old.end;
        }
        text.push_str(&self.text[at..]);
        pieces.extend(self.cut(at..self.text.len()));
        Self { text, pieces }
    }

    /// Replaces one span by the text of an override.
    fn overridden(&self, span: Range<usize>, new: &str, argument: &str) -> Self {
        let mut text = self.text[..span.start].to_owned();
        text.push_str(new);
        text.push_str(&self.text[span.end..]);
        let mut pieces = self.cut(0..span.start);
        pieces.push(Piece { length: new.len(), origin: Origin::Override(argument.to_owned()) });
        pieces.extend(self.cut(span.end..self.text.len()));
        Self { text, pieces }
    }

    /// The text without comments, so that cells do not copy them. In valid RON, removing a comment never joins two tokens.
    pub(super) fn without_comments(&self) -> Self {
        let nothing = Choice { span: Some(0..0), ..Choice::computed(String::new()) };
        let comments = nesting::comments(&self.text).into_iter();
        self.with_choices(&comments.map(|span| (span, nothing.clone())).collect::<Vec<_>>())
    }
}

/// A document that is translated from another notation to RON, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Translation {
    text: String,
    pieces: Vec<Piece>,
}

impl Translation {
    /// Appends a text that stands for these bytes of the user's file.
    pub(super) fn push(&mut self, text: &str, bytes: Range<usize>) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.pieces.push(Piece { length: text.len(), origin: Origin::Translated(bytes) });
        }
    }

    /// The whole document.
    pub(super) fn finish(self) -> EditedText {
        EditedText { text: self.text, pieces: self.pieces }
    }
}

/// Applies one override of the command line, `path=VALUE` with a value in RON.
pub(super) fn apply_override(edited: &EditedText, argument: &str) -> Result<EditedText, Diagnostic> {
    let problem = |message: String| Diagnostic::new(Place::Override(argument.to_owned()), message);
    let form = "write -o path.to.field=VALUE, as in -o seed=7";
    let Some((left, right)) = argument.split_once('=') else {
        return Err(problem("no `=` in the override".to_owned()).cure(form));
    };
    let Some(path) = tree::path(left).filter(|path| !path.is_empty()) else {
        return Err(problem(format!("`{left}` is not a path")).cure(form));
    };
    let value = tree::read(right).map_err(|errors| {
        let what = errors.first().map_or_else(String::new, |error| error.message.clone());
        let empty = right.trim().is_empty();
        let diagnostic = problem(if empty { what } else { format!("the value is not RON: {what}") });
        diagnostic.expected("a value after the `=`").found(if empty { "nothing" } else { right }).cure(
            if empty {
                form
            } else {
                "texts need quotation marks inside the shell's own: -o name='\"trial\"'"
            },
        )
    })?;
    // Only the value is inserted. A comment behind the value is left out, since it would also comment out the text that
    // follows in the scenario.
    let value = &right[value.span];
    let root = tree::read(&edited.text).map_err(|mut errors| errors.remove(0))?;
    let (node, taken) = tree::follow(&root, &path);
    if taken == path.len() {
        return Ok(edited.overridden(node.span.clone(), value, argument));
    }
    // A field that the scenario leaves out is inserted if its struct is written in the scenario.
    match (&path[taken], &node.body) {
        (Step::Name(name), Body::Fields(entries)) if taken + 1 == path.len() => {
            let at = entries.first().map_or(node.span.end - 1, |entry| entry.span.start);
            Ok(edited.overridden(at..at, &format!("{name}: {value}, "), argument))
        }
        (Step::Name(name), Body::Tuple(items)) if taken + 1 == path.len() && items.is_empty() => {
            let at = node.span.end - 1;
            Ok(edited.overridden(at..at, &format!("{name}: {value}"), argument))
        }
        (step, _) => {
            let step = match step {
                Step::Name(name) => format!("`{name}`"),
                Step::Index(index) => format!("[{index}]"),
            };
            let known: Vec<String> = node.entries().iter().map(|entry| entry.key.clone()).collect();
            let message = format!("the scenario has no {step} there");
            let mut diagnostic = problem(message).found(left);
            if known.is_empty() {
                diagnostic = diagnostic.cure("set the value that contains it as a whole");
            } else {
                diagnostic = diagnostic.expected(format!("one of {}", known.join(", ")));
                if let Some(close) = super::suggest::closest(step.trim_matches('`'), &known) {
                    diagnostic = diagnostic.cure(format!("did you mean `{close}`?"));
                }
            }
            Err(diagnostic)
        }
    }
}

/// One cell before its text is parsed into types: the value that each axis has.
#[derive(Debug)]
pub(super) struct RawCell<'a> {
    expansion: &'a Expansion<'a>,
    chosen: Vec<usize>,
}

/// A study's text with every `Each` found in it. Cells are made from it one by one.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    edited: &'a EditedText,
    /// The text as a tree, with every `Each`.
    root: Node,
    /// Every `Each`, in order of the text.
    sweeps: Vec<Sweep>,
    /// Name and number of values of each axis, in order of first occurrence.
    axes: Vec<(String, usize)>,
    cells: usize,
}

/// Finds every `Each` of a text. All `Each` of one name are one axis and change together. There is one cell for every
/// combination of the values of the axes; the axis that occurs first in the text changes slowest.
pub(super) fn expand(edited: &EditedText) -> Result<Expansion<'_>, Vec<Diagnostic>> {
    let root = tree::read(&edited.text).map_err(|errors| edited.placed(errors))?;
    let (mut sweeps, mut problems) = (Vec::new(), Vec::new());
    collect(&root, &edited.text, &mut String::new(), &mut sweeps, &mut problems);
    let mut axes: Vec<(String, usize)> = Vec::new();
    for sweep in &sweeps {
        match axes.iter().find(|(name, _)| *name == sweep.name) {
            None => axes.push((sweep.name.clone(), sweep.values.len())),
            Some((_, length)) if *length != sweep.values.len() => problems.push(
                Diagnostic::new(
                    Place::at(sweep.span.clone()),
                    format!("two Each are called \"{}\" but differ in length", sweep.name),
                )
                .expected(format!("{length} values, as in the first of them"))
                .found(format!("{} values", sweep.values.len()))
                .cure("two Each of one name change together; give this one another name, so that all combinations of values are run"),
            ),
            Some(_) => {}
        }
    }
    let cells = axes.iter().try_fold(1usize, |product, (_, length)| product.checked_mul(*length));
    let cells = cells.filter(|cells| *cells <= MAX_CELLS);
    if cells.is_none() {
        problems.push(
            Diagnostic::new(Place::Whole, "the study has too many cells".to_owned())
                .expected(format!("at most {MAX_CELLS} cells"))
                .cure("shorten a list, or link two Each by one name"),
        );
    }
    if !problems.is_empty() {
        return Err(edited.placed(problems));
    }
    Ok(Expansion { edited, root, sweeps, axes, cells: cells.unwrap_or(0) })
}

impl Expansion<'_> {
    /// The names of the axes, in order of first occurrence.
    pub(super) fn axes(&self) -> Vec<String> {
        self.axes.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Every `Each`, in order of the text.
    pub(super) fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// Number of cells.
    pub(super) fn count(&self) -> usize {
        self.cells
    }

    /// All cells in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = RawCell<'_>> {
        (0..self.cells).map(|index| self.cell(index))
    }

    pub(super) fn cell(&self, index: usize) -> RawCell<'_> {
        let mut chosen = vec![0; self.axes.len()];
        let mut rest = index;
        for (place, (_, length)) in self.axes.iter().enumerate().rev() {
            chosen[place] = rest % length;
            rest /= length;
        }
        RawCell { expansion: self, chosen }
    }
}

impl RawCell<'_> {
    /// The value that an `Each` has in this cell.
    fn choice<'b>(&self, sweep: &'b Sweep) -> &'b Choice {
        let axis = self.expansion.axes.iter().position(|(known, _)| *known == sweep.name);
        &sweep.values[axis.map_or(0, |axis| self.chosen[axis])]
    }

    /// The name and the value of every axis.
    pub(super) fn point(&self) -> Vec<(String, String)> {
        let shown = |name: &String| {
            let sweep = self.expansion.sweeps.iter().find(|sweep| sweep.name == *name);
            sweep.map_or_else(String::new, |sweep| self.choice(sweep).shown.clone())
        };
        self.expansion.axes.iter().map(|(name, _)| (name.clone(), shown(name))).collect()
    }

    /// The text of the cell.
    pub(super) fn edited(&self) -> EditedText {
        let sweeps = &self.expansion.sweeps;
        let chosen = sweeps.iter().map(|sweep| (sweep.span.clone(), self.choice(sweep).clone()));
        self.expansion.edited.with_choices(&chosen.collect::<Vec<_>>())
    }

    /// The tree of the cell. It is made from the tree of the study, without parsing the text of the cell. So the places of
    /// its values are places in the study's text, in which every `Each` still stands.
    pub(super) fn tree(&self) -> Node {
        self.without_each(&self.expansion.root)
    }

    fn without_each(&self, node: &Node) -> Node {
        if node.name.as_deref() == Some("Each") {
            let sweep = self.expansion.sweeps.iter().find(|sweep| sweep.span == node.span);
            return sweep.map_or_else(|| node.clone(), |sweep| self.choice(sweep).node.clone());
        }
        let entries = |entries: &[Entry]| {
            let entry = |entry: &Entry| Entry {
                key: entry.key.clone(),
                kind: entry.kind,
                key_span: entry.key_span.clone(),
                span: entry.span.clone(),
                value: self.without_each(&entry.value),
            };
            entries.iter().map(entry).collect()
        };
        let items = |items: &[Node]| items.iter().map(|item| self.without_each(item)).collect();
        let body = match &node.body {
            Body::Fields(fields) => Body::Fields(entries(fields)),
            Body::Map(fields) => Body::Map(entries(fields)),
            Body::Tuple(inner) => Body::Tuple(items(inner)),
            Body::List(inner) => Body::List(items(inner)),
            Body::Leaf(scalar) => Body::Leaf(scalar.clone()),
        };
        Node { span: node.span.clone(), name: node.name.clone(), body }
    }
}
