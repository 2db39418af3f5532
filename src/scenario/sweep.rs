//! Applies `Each` and the overrides of the command line as replacements of text, and records the origin of every byte.

use super::diagnostic::{Diagnostic, Place};
use super::printable::acts;
use super::tree;
use super::{names, nesting, ranges};
use crate::vocab::value::{Body, Entry, Node, Step};
use std::ops::Range;

/// The user's text after replacements, with the origin of every byte.
#[derive(Clone, Debug)]
pub(super) struct Edited {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A run of bytes of the edited text, and its origin.
#[derive(Clone, Debug)]
struct Piece {
    length: usize,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    /// Bytes of the user's file, beginning at this one.
    File(usize),
    /// An override, as typed.
    Override(String),
}

impl Edited {
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
                    Origin::File(byte) => {
                        let from = byte + (span.start - start);
                        // If the span is longer than the piece, only its beginning is reported.
                        let length = span.end.min(end).saturating_sub(span.start);
                        Place::at(from..from + length)
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
                    Origin::Override(text) => Origin::Override(text.clone()),
                };
                cut.push(Piece { length: to - from, origin });
            }
            start += piece.length;
        }
        cut
    }

    /// Replaces spans, which must be in order and must not overlap, each by a value of an `Each`. The origin of a computed
    /// value is the start of the span that it replaces.
    fn rearranged(&self, replacements: &[(Range<usize>, Choice)]) -> Self {
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
        let nothing = Choice { shown: String::new(), span: Some(0..0) };
        let comments = nesting::comments(&self.text).into_iter();
        self.rearranged(&comments.map(|span| (span, nothing.clone())).collect::<Vec<_>>())
    }
}

/// Applies one `path=RON` of the command line.
pub(super) fn apply_override(edited: &Edited, argument: &str) -> Result<Edited, Diagnostic> {
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
    // Only the value: a comment behind it would also comment out what follows it in the scenario.
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

/// An `Each`: its place, its name, and its values.
#[derive(Debug)]
struct Sweep {
    span: Range<usize>,
    name: String,
    values: Vec<Choice>,
}

/// One value of an `Each`: its text, and its place if it is written in the text.
#[derive(Clone, Debug)]
struct Choice {
    shown: String,
    span: Option<Range<usize>>,
}

/// One cell before it is typed.
#[derive(Clone, Debug)]
pub(super) struct RawCell {
    pub(super) point: Vec<(String, String)>,
    pub(super) edited: Edited,
}

/// Largest number of cells of a study.
const MOST_CELLS: usize = 100_000;

/// A study's text with every `Each` found in it. Cells are made from it one by one.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    edited: &'a Edited,
    /// In order of the text.
    sweeps: Vec<Sweep>,
    /// Name and number of values of each axis, in order of first occurrence.
    axes: Vec<(String, usize)>,
    cells: usize,
}

/// One cell for every combination of values; the first `Each` in the text changes slowest.
pub(super) fn expand(edited: &Edited) -> Result<Expansion<'_>, Vec<Diagnostic>> {
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
                .cure("two Each of one name change together; give this one another name to combine them"),
            ),
            Some(_) => {}
        }
    }
    let cells = axes.iter().try_fold(1usize, |product, (_, length)| product.checked_mul(*length));
    let cells = cells.filter(|cells| *cells <= MOST_CELLS);
    if cells.is_none() {
        problems.push(
            Diagnostic::new(Place::Whole, "the study has too many cells".to_owned())
                .expected(format!("at most {MOST_CELLS} cells"))
                .cure("shorten a list, or link two Each by one name"),
        );
    }
    if !problems.is_empty() {
        return Err(edited.placed(problems));
    }
    Ok(Expansion { edited, sweeps, axes, cells: cells.unwrap_or(0) })
}

impl Expansion<'_> {
    /// The names of the axes, in order of first occurrence.
    pub(super) fn axes(&self) -> Vec<String> {
        self.axes.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All cells in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = RawCell> + '_ {
        (0..self.cells).map(|index| self.cell(index))
    }

    fn cell(&self, index: usize) -> RawCell {
        let mut chosen = vec![0; self.axes.len()];
        let mut rest = index;
        for (place, (_, length)) in self.axes.iter().enumerate().rev() {
            chosen[place] = rest % length;
            rest /= length;
        }
        let choice = |name: &str| {
            let axis = self.axes.iter().position(|(known, _)| known == name);
            axis.map_or(0, |axis| chosen[axis])
        };
        let chosen = |sweep: &Sweep| (sweep.span.clone(), sweep.values[choice(&sweep.name)].clone());
        let edited = self.edited.rearranged(&self.sweeps.iter().map(chosen).collect::<Vec<_>>());
        let shown = |name: &String| {
            let sweep = self.sweeps.iter().find(|sweep| sweep.name == *name);
            sweep.map_or_else(String::new, |sweep| sweep.values[choice(name)].shown.clone())
        };
        RawCell { point: self.axes.iter().map(|(name, _)| (name.clone(), shown(name))).collect(), edited }
    }
}

fn collect(
    node: &Node,
    text: &str,
    path: &mut String,
    sweeps: &mut Vec<Sweep>,
    problems: &mut Vec<Diagnostic>,
) {
    if node.name.as_deref() == Some("Each") {
        match each(node, text, path) {
            Ok(sweep) => sweeps.push(sweep),
            Err(problem) => problems.push(problem),
        }
        return;
    }
    let length = path.len();
    match &node.body {
        Body::Fields(entries) | Body::Map(entries) => {
            for entry in entries {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&entry.key);
                collect(&entry.value, text, path, sweeps, problems);
                path.truncate(length);
            }
        }
        Body::Tuple(items) | Body::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                collect(item, text, path, sweeps, problems);
                path.truncate(length);
            }
        }
        Body::Leaf(_) => {}
    }
}

const EACH_FORM: &str = "write Each(\"name\", [1, 2, 3]), Each(\"name\", Range(0, 30)), Each(\"name\", LogRange(0.1, 10, 5)) or \
                         Each(\"name\", { \"label\": 1, \"other label\": 2 })";

fn each(node: &Node, text: &str, path: &str) -> Result<Sweep, Diagnostic> {
    let problem = |node: &Node, message: &str| {
        Diagnostic::new(Place::at(node.span.clone()), message.to_owned()).path(path).cure(EACH_FORM)
    };
    let Body::Tuple(arguments) = &node.body else {
        return Err(problem(node, "an Each without a list of values"));
    };
    let (name, list) = match arguments.as_slice() {
        [list] => (path.to_owned(), list),
        [name, list] => {
            let given = name.text().ok_or_else(|| problem(name, "the name of an Each must be a text"))?;
            if given.contains(acts) {
                return Err(problem(name, "the name of an Each has a character that is not visible")
                    .expected("a text of visible characters")
                    .found(format!("{given:?}")));
            }
            (given.to_owned(), list)
        }
        _ => return Err(problem(node, "an Each must have a name and a list of values, or only a list")),
    };
    let values: Vec<Choice> = match &list.body {
        Body::List(items) => {
            let choice = |item: &Node| Choice {
                shown: text[item.span.clone()].to_owned(),
                span: Some(item.span.clone()),
            };
            items.iter().map(choice).collect()
        }
        Body::Tuple(bounds) if list.name.as_deref() == Some("Range") => {
            let (first, count, step) = ranges::whole(bounds, text).ok_or_else(|| {
                problem(
                    list,
                    "a Range must have a first number, a number to stop before, and a step above 0, all whole",
                )
            })?;
            if count > MOST_CELLS as i128 {
                return Err(problem(list, "a Range of too many values")
                    .expected(format!("at most {MOST_CELLS} values"))
                    .found(format!("{count} values"))
                    .cure("bring its ends closer together, or give it a step as in Range(0, 1000, 10)"));
            }
            let shown = |n: i128| (first + n * step).to_string();
            (0..count).map(|n| Choice { shown: shown(n), span: None }).collect()
        }
        Body::Tuple(bounds) if list.name.as_deref() == Some("LogRange") => {
            let range = ranges::logarithmic(bounds, text)
                .filter(|(.., count)| usize::try_from(*count).is_ok_and(|count| count <= MOST_CELLS));
            let range = range.ok_or_else(|| {
                problem(
                    list,
                    "a LogRange must have a first and a last number above 0, and how many values there are",
                )
                .expected(format!("from 2 to {MOST_CELLS} values"))
                .cure("write Each(\"epsilon\", LogRange(0.1, 10, 5)), for example")
            })?;
            let shown = |index: u32| ranges::spaced(range, index).to_string();
            (0..range.2).map(|index| Choice { shown: shown(index), span: None }).collect()
        }
        // Values with labels; tables show the labels instead of the values.
        Body::Map(entries) => {
            if let Some(entry) = entries.iter().find(|entry| !names::is_label(&entry.key)) {
                return Err(problem(list, "a label that cannot stand in a table")
                    .expected("a text of visible characters in quotation marks that does not begin with =, +, - or @")
                    .found(&text[entry.key_span.clone()]));
            }
            let choice =
                |entry: &Entry| Choice { shown: entry.key.clone(), span: Some(entry.value.span.clone()) };
            entries.iter().map(choice).collect()
        }
        Body::Tuple(_) | Body::Fields(_) | Body::Leaf(_) => {
            return Err(problem(list, "the values of an Each must be a list"));
        }
    };
    if values.is_empty() {
        return Err(problem(list, "an Each without any value"));
    }
    if let Some(value) = values.iter().find(|value| names::formula(&value.shown)) {
        return Err(problem(list, "a value that begins with =, +, - or @")
            .expected("texts that begin with something else: spreadsheets take such a cell of a table for a formula")
            .found(value.shown.clone()));
    }
    if list.children().iter().any(|child| holds_each(child)) {
        return Err(problem(list, "an Each within the values of another"));
    }
    Ok(Sweep { span: node.span.clone(), name, values })
}

fn holds_each(node: &Node) -> bool {
    node.name.as_deref() == Some("Each") || node.children().iter().any(|child| holds_each(child))
}
