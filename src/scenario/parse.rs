//! Reads typed values from a text, and locates every error in the user's file or override.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::suggest::closest;
use super::sweep::EditedText;
use super::{faults, tree};
use crate::vocab::value::{Body, Entry, Fault, Node, ReadError, Reader};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::path::Path;

/// Largest number of errors reported for one text.
const MAX_ERRORS: usize = 20;

/// Reads a part of a scenario, such as a member of a family or a recipe.
///
/// ```
/// use subrosa::network::latency::LatencyModel;
/// let latency: LatencyModel = subrosa::scenario::part(r#"Constant("40ms")"#)?;
/// assert_eq!(latency.name(), "Constant");
/// # Ok::<(), subrosa::scenario::Diagnostics>(())
/// ```
///
/// # Errors
/// The first syntax error; or all duplicate keys and all numbers that are not finite; or up to 20 type errors.
pub fn part<T: DeserializeOwned>(text: &str) -> Result<T, Diagnostics> {
    parse(&EditedText::unchanged(text)).map_err(|list| Diagnostics::new(Path::new("the text"), text, list))
}

/// Reads a text as `T`. After an error, the field that caused it is removed and the text is read again, so that one call
/// reports up to 20 errors. A field that is missing only because it was removed is not reported.
pub(super) fn parse<T: DeserializeOwned>(edited: &EditedText) -> Result<T, Vec<Diagnostic>> {
    let mut value = None;
    let problems = problems(edited, &mut |root| {
        value = Some(T::deserialize(Reader::new(root))?);
        Ok(())
    });
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(problems),
    }
}

/// The errors that `read` reports for the text and for the text without the fields that caused earlier errors.
fn problems(edited: &EditedText, read: &mut dyn FnMut(&Node) -> Result<(), ReadError>) -> Vec<Diagnostic> {
    let mut root = match tree::read(&edited.text) {
        Ok(root) => root,
        Err(errors) => return edited.placed(errors),
    };
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    while problems.len() < MAX_ERRORS {
        let Err(error) = read(&root) else { break };
        let culprit = innermost(&root, &error.place());
        let follows = match error.fault() {
            Fault::MissingField { field, .. } => left_out.iter().any(|name| name == field),
            _ => false,
        };
        if !follows {
            problems.push(faults::diagnose(edited, &root, &error, culprit));
        }
        if let Fault::UnknownField { known, found } = error.fault() {
            let names: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
            left_out.extend(closest(found, &names).map(str::to_owned));
        }
        let Some(culprit) = culprit else { break };
        left_out.push(culprit.key.clone());
        let key = culprit.key_span.clone();
        leave_out(&mut root, &key);
    }
    problems
}

/// The innermost field whose key or value contains the place.
fn innermost<'a>(node: &'a Node, place: &Range<usize>) -> Option<&'a Entry> {
    let holds = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
    for entry in node.entries() {
        if holds(entry.key_span.start..entry.value.span.end) {
            return innermost(&entry.value, place).or(Some(entry));
        }
    }
    node.children()
        .into_iter()
        .filter(|child| holds(child.span.clone()))
        .find_map(|child| innermost(child, place))
}

/// Removes the field whose key is at this place.
fn leave_out(node: &mut Node, key: &Range<usize>) {
    match &mut node.body {
        Body::Fields(entries) | Body::Map(entries) => {
            entries.retain(|entry| entry.key_span != *key);
            entries.iter_mut().for_each(|entry| leave_out(&mut entry.value, key));
        }
        Body::Tuple(items) | Body::List(items) => items.iter_mut().for_each(|item| leave_out(item, key)),
        Body::Leaf(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::scenario::EXTENSIONS;
    use serde::Deserialize;
    use serde_json::Value;
    use std::collections::BTreeMap;
    use std::num::NonZeroU8;
    use std::path::PathBuf;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        a: u32,
        #[serde(default)]
        b: Option<f64>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Defaults {
        a: u32,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wrapped(u32);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Pair(i8, String);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Empty;

    #[derive(Debug, PartialEq, Deserialize)]
    enum Form {
        Unit,
        Number(f64),
        Whole(NonZeroU8),
        Text(String),
        Struct(Plain),
        Defaults(Defaults),
        Wrapped(Wrapped),
        Pair(Pair),
        Two(u8, char),
        Fields { x: bool, y: Option<Box<Form>> },
        Nested(Box<Form>),
        Maybe(Option<u8>),
        List(Vec<i64>),
        Array([f32; 2]),
        Map(BTreeMap<String, Form>),
        Empty(Empty),
        Nothing(()),
    }

    /// Reads by the crate `ron`; `None` also if the parser of the tree refuses the text.
    fn by_ron<T: DeserializeOwned>(text: &str) -> Option<T> {
        tree::read(text).ok()?;
        ron::Options::default().with_default_extension(EXTENSIONS).from_str(text).ok()
    }

    fn by_tree<T: DeserializeOwned>(text: &str) -> Option<T> {
        let root = tree::read(text).ok()?;
        T::deserialize(Reader::new(&root)).ok()
    }

    #[test]
    fn every_form_is_read_as_ron_reads_it() {
        for text in [
            "Unit",
            "Number(1)",
            "Number(-1_0.5e-3)",
            "Number(+.5)",
            "Number(2.5f64)",
            "Number(inf)",
            "Number(0x10)",
            "Number(\"1\")",
            "Whole(255)",
            "Whole(0b1_1)",
            "Whole(7u8)",
            "Whole(7u16)",
            "Whole(b'a')",
            "Whole(0)",
            "Whole(256)",
            "Whole(-1)",
            "Whole(1.0)",
            "Text(\"a\\n\\u{e9}\\x41\")",
            "Text(r#\"a\\n\"#)",
            "Text(1)",
            "Struct(a: 1)",
            "Struct(a: 1, b: 2.5)",
            "Struct(a: 1, b: Some(2.5))",
            "Struct(a: 1, b: None)",
            "Struct(b: 1)",
            "Struct(a: 1, c: 1)",
            "Struct(Plain(a: 1))",
            "Struct((a: 1))",
            "Struct(1)",
            "Wrapped(3)",
            "Pair(-3, \"x\")",
            "Pair(-3)",
            "Pair(-3, \"x\", 1)",
            "Two(1, 'x')",
            "Two(1)",
            "Fields(x: true)",
            "Fields(x: false, y: Unit)",
            "Fields(x: false, y: Some(Nested(Number(1))))",
            "Nested(Nested(List([1, -2])))",
            "Maybe(1)",
            "Maybe(Some(1))",
            "Maybe(None)",
            "List([])",
            "List([1, -9223372036854775808, 0o17])",
            "List([18446744073709551615])",
            "List((1, 2))",
            "Array((1, 0.1))",
            "Array([1, 2])",
            "Map({\"a\": Unit, \"b\": Map({})})",
            "Map({a: Unit})",
            "Map([])",
            "Empty()",
            "Nothing()",
            "Other(1)",
            "true",
            "1",
            "()",
        ] {
            assert_eq!(by_tree::<Form>(text), by_ron::<Form>(text), "{text}");
        }
        for text in ["Plain(a: 1)", "(a: 1)", "Other(a: 1)", "1", "{\"a\": 1}", "Plain(a: 4294967296)"] {
            assert_eq!(by_tree::<Plain>(text), by_ron::<Plain>(text), "{text}");
        }
        for text in ["Wrapped(1)", "(1)", "Wrapped(1, 2)", "Other(1)", "Wrapped"] {
            assert_eq!(by_tree::<Wrapped>(text), by_ron::<Wrapped>(text), "{text}");
        }
        for text in ["Pair(1, \"a\")", "(1, \"a\")", "Other(1, \"a\")", "[1, \"a\"]"] {
            assert_eq!(by_tree::<Pair>(text), by_ron::<Pair>(text), "{text}");
        }
        for text in ["(1, 'a', true)", "(1, 'a')", "Name(1, 'a', true)", "[1]"] {
            assert_eq!(by_tree::<(u8, char, bool)>(text), by_ron::<(u8, char, bool)>(text), "{text}");
        }
    }

    #[test]
    fn brackets_with_nothing_in_them_may_be_left_out() {
        let forms = |texts: [&str; 2]| texts.map(|text| by_tree::<Form>(text).unwrap());
        assert_eq!(forms(["Unit", "Unit()"]), [Form::Unit, Form::Unit]);
        let defaults = || Form::Defaults(Defaults::default());
        assert_eq!(forms(["Defaults", "Defaults()"]), [defaults(), defaults()]);
        assert_eq!(forms(["Empty", "Empty()"]), [Form::Empty(Empty), Form::Empty(Empty)]);
        for text in ["Defaults", "Defaults()", "()"] {
            assert_eq!(by_tree::<Defaults>(text), Some(Defaults::default()), "{text}");
        }
        assert_eq!(by_tree::<Empty>("Empty"), by_tree::<Empty>("Empty()"));
    }

    /// Place and path of an error.
    fn refused(text: &str) -> (String, String) {
        let root = tree::read(text).unwrap();
        let error = Form::deserialize(Reader::new(&root)).unwrap_err();
        (text[error.place()].to_owned(), error.path())
    }

    #[test]
    fn errors_have_a_place_and_a_path() {
        for (text, place, path) in [
            ("Nested(Struct(a: 1, c: 1))", "c", "Nested.Struct.c"),
            ("Nested(Struct(a: -1))", "-1", "Nested.Struct.a"),
            ("Nested(Struct(b: 1))", "Struct", "Nested.Struct"),
            ("Map({\"k\": List([1, 2, 3.5])})", "3.5", "Map.k.List[2]"),
            ("Nested(Othr(1))", "Othr(1)", "Nested.Othr"),
            ("Whole(0)", "0", "Whole"),
            ("Unit(1)", "Unit(1)", "Unit"),
            ("Struct(1)", "Struct(1)", "Struct"),
            ("Fields(x: 1)", "1", "Fields.x"),
            ("Nested(Number)", "Number", "Nested.Number"),
        ] {
            assert_eq!(refused(text), (place.to_owned(), path.to_owned()), "{text}");
        }
    }

    fn files() -> Vec<(PathBuf, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (mut folders, mut found) = (vec![root.join("scenarios"), root.join("tests/golden")], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "ron") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.push((path, text));
                }
            }
        }
        found.sort();
        found
    }

    /// Compares `by_tree` with `by_ron` on all scenarios in the folders `scenarios` and `tests/golden`, and on damaged
    /// copies of them.
    #[test]
    fn scenarios_hold_the_values_that_ron_reads() {
        let files = files();
        assert!(files.len() > 20, "{} files", files.len());
        let (mut stream, mut both) = (Key::root(1).child("damaged texts").stream(), 0);
        for (path, text) in &files {
            let whole = by_tree::<Value>(text);
            assert!(whole.is_some(), "{}", path.display());
            assert_eq!(whole, by_ron::<Value>(text), "{}", path.display());
            for _ in 0..15 {
                let from = stream.below(text.len() as u64) as usize;
                let to = (from + stream.below(8) as usize).min(text.len());
                let put = ["", "1", "(", "a", "_", "Some(1)", "-"][stream.below(7) as usize];
                if !text.is_char_boundary(from) || !text.is_char_boundary(to) {
                    continue;
                }
                let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
                let (ours, theirs) = (by_tree::<Value>(&damaged), by_ron::<Value>(&damaged));
                if let (Some(ours), Some(theirs)) = (&ours, &theirs) {
                    both += 1;
                    assert_eq!(ours, theirs, "{}: {put:?} for {from}..{to}", path.display());
                } else if ours.is_some() {
                    panic!(
                        "only ours: {}: {put:?} for {from}..{to}: {:?}",
                        path.display(),
                        &damaged[from.saturating_sub(40)..]
                    );
                }
            }
        }
        assert!(both > 100, "{both} damaged texts are RON");
    }
}
