//! `Each`: the values that a study varies, found in the syntax tree of a scenario's text.

use super::diagnostic::{Diagnostic, Place};
use super::printable::controls_display;
use super::{names, ranges};
use crate::vocab::value::{Body, Entry, Node, Number, Scalar};
use std::ops::Range;

/// Largest number of cells of a study.
pub(super) const MAX_CELLS: usize = 100_000;

/// An `Each`: its place, its name, the path of the value that it varies, and its values.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) span: Range<usize>,
    pub(super) name: String,
    /// The path of the value that it stands for.
    pub(super) path: String,
    pub(super) values: Vec<Choice>,
}

/// One value of an `Each`: its text or label, its place if it is written in the text, and the value itself.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) shown: String,
    pub(super) span: Option<Range<usize>>,
    pub(super) node: Node,
}

impl Choice {
    /// A number that was computed from a `Range` or a `LogRange`.
    pub(super) fn computed(shown: String) -> Self {
        let node = Node::leaf(0..0, Scalar::Number(Number::Written(shown.clone())));
        Self { shown, span: None, node }
    }
}

/// Collects every `Each` in a value, and the problems of those that are wrong; `path` is the path of the value.
pub(super) fn collect(
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
            if given.contains(controls_display) {
                return Err(problem(name, "the name of an Each has a character that is not visible")
                    .expected("a text of visible characters")
                    .found(format!("{given:?}")));
            }
            if given.starts_with(names::FORMULA) {
                return Err(problem(name, "the name of an Each looks like a formula of a spreadsheet")
                    .expected("a name that does not begin with =, +, - or @")
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
                node: item.clone(),
            };
            items.iter().map(choice).collect()
        }
        Body::Tuple(bounds) if list.name.as_deref() == Some("Range") => {
            let (first, count, step) = ranges::whole(bounds, text).ok_or_else(|| {
                problem(
                    list,
                    "a Range must have two or three whole numbers: the first value, the end (not included) and, optionally, a step above 0",
                )
            })?;
            if count > MAX_CELLS as i128 {
                return Err(problem(list, "a Range of too many values")
                    .expected(format!("at most {MAX_CELLS} values"))
                    .found(format!("{count} values"))
                    .cure("bring its ends closer together, or give it a step as in Range(0, 1000, 10)"));
            }
            let shown = |n: i128| (first + n * step).to_string();
            (0..count).map(|n| Choice::computed(shown(n))).collect()
        }
        Body::Tuple(bounds) if list.name.as_deref() == Some("LogRange") => {
            let range = ranges::logarithmic(bounds, text)
                .filter(|(.., count)| usize::try_from(*count).is_ok_and(|count| count <= MAX_CELLS));
            let range = range.ok_or_else(|| {
                problem(
                    list,
                    "a LogRange must have a first and a last number above 0, and how many values there are",
                )
                .expected(format!("from 2 to {MAX_CELLS} values"))
                .cure("write Each(\"epsilon\", LogRange(0.1, 10, 5)), for example")
            })?;
            let shown = |index: u32| ranges::spaced(range, index).to_string();
            (0..range.2).map(|index| Choice::computed(shown(index))).collect()
        }
        // Values with labels; tables show the labels instead of the values.
        Body::Map(entries) => {
            if let Some(entry) = entries.iter().find(|entry| !names::is_label(&entry.key)) {
                return Err(problem(list, "a label that cannot stand in a table")
                    .expected("a text of visible characters in quotation marks that does not begin with =, +, - or @")
                    .found(&text[entry.key_span.clone()]));
            }
            let choice = |entry: &Entry| Choice {
                shown: entry.key.clone(),
                span: Some(entry.value.span.clone()),
                node: entry.value.clone(),
            };
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
            .expected(
                "texts that do not begin with =, +, - or @, because spreadsheets read those as formulas",
            )
            .found(value.shown.clone()));
    }
    if list.children().iter().any(|child| contains_each(child)) {
        return Err(problem(list, "an Each within the values of another"));
    }
    Ok(Sweep { span: node.span.clone(), name, path: path.to_owned(), values })
}

fn contains_each(node: &Node) -> bool {
    node.name.as_deref() == Some("Each") || node.children().iter().any(|child| contains_each(child))
}
