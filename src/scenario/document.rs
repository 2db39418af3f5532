//! A scenario file: loaded, overridden, expanded into cells, typed and checked.

use super::account::Account;
use super::catalogue::{language, language_of};
use super::checked::Scenario;
use super::checked_cells::checked_cells;
use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::draft::Draft;
use super::layout::{broken, laid_out};
use super::notation::{is_json, to_json, to_ron};
use super::placed_problem::diagnostic;
use super::shape::Shape;
use super::suggest::closest;
use super::sweep::{EditedText, apply_override, expand};
use super::{nesting, tree};
use crate::objectives::Resources;
use crate::vocab::Problem;
use serde_json::Value;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A checked cell of a study: the name and the value of each axis, and the scenario with these values.
pub type Cell = (Vec<(String, String)>, Scenario);

/// Once more than this many problems are found, those of further cells are not reported, since cells usually share their
/// mistakes.
const MAX_PROBLEMS: usize = 200;
/// Name of the type that a scenario file holds.
const SCENARIO: &str = "Scenario";
/// Size limit of a scenario file in bytes. The scenarios of this project have a few thousand bytes.
const LONGEST: u64 = 16 << 20;

/// The file name that means standard input.
const STANDARD_INPUT: &str = "-";

/// A scenario file and its text.
#[derive(Clone, Debug)]
pub struct Document {
    file: PathBuf,
    text: String,
}

/// The help text for a missing file. If a scenario file of the same folder has a similar name, the text suggests the file
/// whose name is closest.
fn suggest_neighbouring_file(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".ron") || name.ends_with(".json"));
    names.sort();
    let wanted = file.file_name().unwrap_or_default().to_string_lossy();
    match closest(&wanted, &names) {
        Some(name) => {
            format!("did you mean {}?", folder.map_or(name.into(), |folder| folder.join(name)).display())
        }
        None => "check the path; a relative one begins at the current folder".to_owned(),
    }
}

impl Document {
    /// Reads a scenario file, or standard input if `file` is `-`.
    ///
    /// # Errors
    /// One diagnostic: the file does not exist or cannot be read, is a folder, is not UTF-8 text, is too large, or is empty.
    pub fn load(file: &Path) -> Result<Self, Diagnostics> {
        let refuse = |message: &str, cure: &str| {
            let diagnostic = Diagnostic::new(Place::Whole, message.to_owned())
                .expected("a scenario file in RON or JSON")
                .found(message)
                .cure(cure);
            Diagnostics::new(file, "", vec![diagnostic])
        };
        if file.is_dir() {
            return Err(refuse("a folder", "name a file inside it, such as scenarios/hospital.ron"));
        }
        let mut bytes = Vec::new();
        // The limit also protects against a pipe that never ends.
        let read = if file == Path::new(STANDARD_INPUT) {
            io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)
        } else {
            fs::File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => refuse("no such file", &suggest_neighbouring_file(file)),
            _ => refuse(&error.to_string(), "make the file readable"),
        })?;
        // The size is checked first, because the part that was read of a longer file may end inside a character.
        if bytes.len() as u64 > LONGEST {
            return Err(refuse(
                "a file of more than 16 MiB",
                "name the scenario file, and put data into files of their own",
            ));
        }
        let mut text =
            String::from_utf8(bytes).map_err(|_| refuse("not UTF-8 text", "save the file as UTF-8"))?;
        // Some editors write a byte-order mark at the beginning of a UTF-8 file.
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.trim().is_empty() {
            return Err(refuse("an empty file", "`subrosa new outsourced` writes a scenario to start from"));
        }
        Ok(Self { file: file.to_owned(), text })
    }

    /// A document from a given text; `file` is used only in messages.
    #[must_use]
    pub fn from_text(file: &Path, text: String) -> Self {
        Self { file: file.to_owned(), text }
    }

    /// The text as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the document is written in JSON, not in RON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        is_json(&self.text)
    }

    /// The text, in RON, of the value at a path such as `protocol.series[0]`; `None` if the document cannot be read, or if
    /// no value is at this path.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<String> {
        let edited = self.edited().ok()?;
        let root = tree::read(&edited.text).ok()?;
        let path = tree::path(path)?;
        let (node, taken) = tree::follow(&root, &path);
        (taken == path.len()).then(|| edited.text[node.span.clone()].to_owned())
    }

    /// The scenario's text in RON. A run folder keeps this text. A document in JSON is translated; a document in RON is
    /// returned as written.
    ///
    /// # Errors
    /// Only for a document in JSON: the first syntax error, or every duplicate key, or values that no scenario can have.
    pub fn ron(&self) -> Result<String, Diagnostics> {
        if !self.is_json() {
            return Ok(self.text.clone());
        }
        let edited = self.edited().map_err(|list| self.diagnostics(list))?;
        Ok(broken(&edited.text))
    }

    /// The scenario in JSON. A document in RON is translated, without its comments, because JSON has no comments; a document
    /// in JSON is returned as written.
    ///
    /// # Errors
    /// Only for a document in RON: the first syntax error, or every duplicate key and every number that is not finite, or a
    /// value that JSON cannot write.
    pub fn json(&self) -> Result<String, Diagnostics> {
        if self.is_json() {
            return Ok(self.text.clone());
        }
        let root = tree::read(&self.text).map_err(|list| self.diagnostics(list))?;
        let value = to_json(&root, Shape::of_type(&language(), SCENARIO)).map_err(|left| {
            let problem = Diagnostic::new(Place::at(left.node.span.clone()), left.what.to_owned());
            self.diagnostics(vec![problem.found(&self.text[left.node.span]).cure("write it another way")])
        })?;
        Ok(broken(&value.to_string()))
    }

    /// The formatted text, with the line breaks of the author. A line inside of brackets is indented by 4 columns more than
    /// the line on which the innermost of these brackets opens. Comments and values stay as they are.
    ///
    /// # Errors
    /// The first syntax error, or every duplicate key and, in RON, every number that is not finite. For a document in JSON,
    /// also values that no scenario can have.
    pub fn formatted(&self) -> Result<String, Diagnostics> {
        let readable =
            if self.is_json() { self.edited().map(drop) } else { tree::read(&self.text).map(drop) };
        readable.map_err(|list| self.diagnostics(list))?;
        Ok(laid_out(&self.text))
    }

    /// Number of comments in the text.
    #[must_use]
    pub fn comments(&self) -> u64 {
        if self.is_json() { 0 } else { nesting::comments(&self.text).len() as u64 }
    }

    pub(super) fn diagnostics(&self, list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics::new(&self.file, &self.text, list)
    }

    /// The scenario in RON; each of its bytes has a place in the user's text.
    fn edited(&self) -> Result<EditedText, Vec<Diagnostic>> {
        self.edited_as(&language, SCENARIO)
    }

    /// The account file in RON; each of its bytes has a place in the user's text.
    pub(super) fn edited_account(&self) -> Result<EditedText, Vec<Diagnostic>> {
        self.edited_as(&language_of::<Account>, "Account")
    }

    fn edited_as(&self, language: &dyn Fn() -> Value, root: &str) -> Result<EditedText, Vec<Diagnostic>> {
        if !self.is_json() {
            return Ok(EditedText::unchanged(&self.text));
        }
        to_ron(&self.text, Shape::of_type(&language(), root))
    }

    /// The text without any override.
    fn original(&self) -> Result<EditedText, Diagnostics> {
        let original = self.edited().map_err(|list| self.diagnostics(list))?;
        tree::read(&original.text).map_err(|list| self.diagnostics(original.placed(list)))?;
        Ok(original)
    }

    /// The text after the overrides. Each override is applied to the result of the overrides before it.
    pub(super) fn overridden(&self, overrides: &[String]) -> Result<EditedText, Diagnostics> {
        self.changed(self.original()?, overrides)
    }

    fn changed(&self, mut edited: EditedText, overrides: &[String]) -> Result<EditedText, Diagnostics> {
        let mut problems = Vec::new();
        for argument in overrides {
            match apply_override(&edited, argument) {
                Ok(new) => edited = new,
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(edited) } else { Err(self.diagnostics(problems)) }
    }

    /// All cells, typed and checked.
    ///
    /// # Errors
    /// The errors of the first of these steps that has any:
    ///
    /// 1. reading the text: the first syntax error, or all duplicate keys and all numbers that are not finite;
    /// 2. the overrides;
    /// 3. the expansion of every `Each`;
    /// 4. the cells: for each cell, up to 20 type errors or, if it has none, the problems that [`Scenario::check`]
    ///    returns. A name in the field `at` of a published result or loss is an error too if no `Each` has this name. A
    ///    cell also has an error if it differs from cell 0 in a field that must be the same in all cells, or if it needs
    ///    more memory than the limit. An error of these last two kinds is reported only if no other error was found before,
    ///    so for one cell at most. After more than 200 errors, the errors of further cells are left out.
    pub fn cells(&self, overrides: &[String], resources: &Resources) -> Result<Vec<Cell>, Diagnostics> {
        let fail = |list| self.diagnostics(list);
        let original = self.original()?;
        let edited = self.changed(original.clone(), overrides)?;
        let mut problems = Vec::new();
        let edited = edited.without_comments();
        let mut cells = Vec::<Cell>::new();
        let expansion = expand(&edited).map_err(fail)?;
        let checked = checked_cells(&expansion, resources, MAX_PROBLEMS);
        for (raw, checked) in expansion.cells().zip(checked) {
            if problems.len() > MAX_PROBLEMS {
                break;
            }
            match checked {
                Ok(scenario) => {
                    // All cells have the same axes.
                    if cells.is_empty() {
                        let unknown = unknown_axes(&original, scenario.draft(), &raw.point());
                        problems
                            .extend(unknown.into_iter().map(|problem| diagnostic(&raw.edited(), problem)));
                    }
                    let unlike =
                        cells.first().and_then(|(_, first)| differing_field(first.draft(), scenario.draft()));
                    let replications = scenario.draft().replications.get();
                    let large = scenario.demand().problem(replications, expansion.count(), resources.limits);
                    if let Some(problem) = unlike.or(large).filter(|_| problems.is_empty()) {
                        problems.push(diagnostic(&raw.edited(), problem));
                    }
                    cells.push((raw.point(), scenario));
                }
                Err(found) => problems.extend(found),
            }
        }
        if problems.is_empty() { Ok(cells) } else { Err(fail(problems)) }
    }
}

/// The problems of the fields `at` of published results and losses. Such a field is a map from names of axes to values. A
/// name in it is a problem if no `Each` of the study has this name. The field may also name an `Each` of the file that an
/// override has replaced by one value.
fn unknown_axes(original: &EditedText, draft: &Draft, point: &[(String, String)]) -> Vec<Problem> {
    let results = draft.published.iter().map(|result| &result.at).enumerate();
    let results = results.map(|(index, at)| (format!("published[{index}].at"), at));
    let losses = draft.published_losses.iter().map(|loss| &loss.at).enumerate();
    let losses = losses.map(|(index, at)| (format!("published_losses[{index}].at"), at));
    let named: Vec<_> = results.chain(losses).filter(|(_, at)| !at.is_empty()).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let mut axes: Vec<String> = point.iter().map(|(axis, _)| axis.clone()).collect();
    let written = original.without_comments();
    let written = expand(&written).map(|study| study.axes()).unwrap_or_default();
    axes.extend(written.into_iter().filter(|axis| !point.iter().any(|(known, _)| known == axis)));
    let mut problems = Vec::new();
    for (path, at) in named {
        for axis in at.keys().filter(|axis| !axes.contains(axis)) {
            let path = format!("{path}[\"{axis}\"]");
            problems.push(if axes.is_empty() {
                let cure = "leave `at` out, or vary a value by an Each with this name";
                Problem::wrong(
                    path,
                    "no names here, because the study has no Each",
                    format!("{axis:?}"),
                    cure,
                )
            } else {
                Problem::unknown(path, "Each", axis, &axes)
            });
        }
    }
    problems
}

/// The problem of a field that must be the same in all cells but differs between `first`, the first cell, and `cell`. Seeds
/// may differ, since the random numbers of a cell depend on no other cell's seed.
fn differing_field(first: &Draft, cell: &Draft) -> Option<Problem> {
    let wrong = |path: &str, first: String, found: String| {
        let expected = format!("one value for the whole study: {first}, as in its first cell");
        let cure =
            "write one value: this field is the same in a whole study; run another study for another value";
        Problem::wrong(path, expected, found, cure)
    };
    if cell.name != first.name {
        Some(wrong("name", format!("{:?}", first.name), format!("{:?}", cell.name)))
    } else if cell.about != first.about {
        Some(wrong("about", format!("{:?}", first.about), format!("{:?}", cell.about)))
    } else if cell.replications != first.replications {
        Some(wrong("replications", first.replications.to_string(), cell.replications.to_string()))
    } else if cell.fork != first.fork {
        Some(wrong("fork", "the same fork".to_owned(), "another fork".to_owned()))
    } else {
        None
    }
}
