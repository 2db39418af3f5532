//! Reads the data files that models name, once, when the scenario is checked.

use crate::vocab::{CsvRows, DataFolders, NoSuchColumn, NotCsv, Problem, is_missing};
use std::path::Path;
use std::sync::Arc;

/// The contents of a file, shared by every clone of the recipe; `None` until the file has been read.
pub(super) type Loaded<T> = Option<Arc<T>>;

/// How to convert FedScale's pickles to JSON, for error messages; FILE stands for the path.
pub(super) const FEDSCALE_PICKLE: &str = "convert it: python3 -c \"import json, pickle; json.dump(pickle.load(open('FILE', 'rb')), \
                                          open('FILE.json', 'w'), default=float)\"";

/// The text of a file, whose path is relative to one of the folders of `base`; `kind` is the expected kind of file ("a CSV
/// file"), for error messages.
pub(super) fn read(base: &DataFolders, file: &Path, kind: &str) -> Result<String, Problem> {
    let place = base.place(file);
    let wrong =
        |found: String, cure: String| Problem::wrong("file", format!("{kind} that can be read"), found, cure);
    let bytes = std::fs::read(&place).map_err(|error| {
        let cure = "check the path; it is relative to the scenario's folder, or to the folder of --data";
        wrong(format!("{}: {error}", place.display()), cure.to_owned())
    })?;
    // Pickles of protocol 2 and later begin with this byte, with which no text in UTF-8 begins.
    if bytes.first() == Some(&0x80) {
        let found = format!("{}: a Python pickle, which can run programs when it is read", place.display());
        let cure = match kind.contains("JSON") {
            true => FEDSCALE_PICKLE.replace("FILE", &file.display().to_string()),
            false => format!("write its contents to {kind}, and name that file"),
        };
        return Err(wrong(found, cure));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        let found = format!("{}:{line}: text that is not UTF-8", place.display());
        wrong(found, "save the file as UTF-8".to_owned())
    })
}

/// Stores the value of `read` in `place`; if reading failed, returns the problem.
pub(super) fn keep<T>(read: Result<T, Problem>, place: &mut Loaded<T>) -> Vec<Problem> {
    match read {
        Ok(value) => {
            *place = Some(Arc::new(value));
            Vec::new()
        }
        Err(problem) => vec![problem],
    }
}

/// The numbers of a column of a CSV file with a header line: at least one, all finite and 0 or above.
pub(super) fn column(base: &DataFolders, file: &Path, column: &str) -> Result<Vec<f64>, Problem> {
    numbers(file, &read(base, file, "a CSV file")?, column)
}

/// The numbers of a column, as [`column`] returns them, from `text`, the contents of the file.
pub(super) fn numbers(file: &Path, text: &str, column: &str) -> Result<Vec<f64>, Problem> {
    // Missing cells are refused here, so no element is `None`, and `flatten` drops nothing.
    Ok(cells(file, text, column, MissingCells::REFUSED)?.into_iter().flatten().collect())
}

/// What is done with the missing cells of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum MissingCells {
    /// Missing cells are errors, like cells that are not numbers; the error message states this cure.
    Refuse(&'static str),
    /// Missing cells are read as `None`.
    Read,
}

impl MissingCells {
    /// Missing cells are errors, like cells that are not numbers; the cure is to correct the file.
    pub(super) const REFUSED: Self = Self::Refuse("correct the file");
}

/// Largest number of bad cells of a column that an error message names.
const NAMED: usize = 5;

/// The problem of a column with bad cells. It names the first few bad cells, each with its line. If there are more bad cells
/// than these, it also states how many there are in all.
fn bad_cells(file: &Path, column: &str, bad: &[(u64, &str)], missing: MissingCells) -> Problem {
    let file = file.display();
    let named = bad.iter().take(NAMED).map(|(line, cell)| format!("\"{cell}\" at {file}:{line}"));
    let mut found = named.collect::<Vec<String>>().join(", ");
    if bad.len() > NAMED {
        found = format!("{found}, and {} more ({} cells in all)", bad.len() - NAMED, bad.len());
    }
    let cure = match missing {
        MissingCells::Refuse(cure) => cure,
        MissingCells::Read => "correct the file",
    };
    Problem::wrong("file", format!("a number, 0 or above, in column \"{column}\""), found, cure)
}

/// The cells of a column, as [`numbers`] returns them; with [`MissingCells::Read`], a missing cell is `None`.
pub(super) fn cells(
    file: &Path,
    text: &str,
    column: &str,
    missing: MissingCells,
) -> Result<Vec<Option<f64>>, Problem> {
    let correct =
        |expected: String, found: String| Problem::wrong("file", expected, found, "correct the file");
    let rows = CsvRows::read(text.as_bytes()).map_err(|NotCsv { line, reason }| {
        correct("a CSV file".to_owned(), format!("{}:{line}: {reason}", file.display()))
    })?;
    let place = rows.position(column).map_err(|wrong| match wrong {
        NoSuchColumn::Missing => Problem::unknown("column", "column", column, rows.names()),
        NoSuchColumn::Twice => Problem::wrong(
            "column",
            "a name that only one column has",
            format!("{}:{}: two columns are called \"{column}\"", file.display(), rows.head()),
            "rename one of the two columns, or drop it",
        ),
    })?;
    if rows.is_empty() {
        let expected = "at least one row below the header line".to_owned();
        return Err(correct(expected, format!("no rows in {}", file.display())));
    }
    let may_miss = matches!(missing, MissingCells::Read);
    let (mut values, mut bad) = (Vec::with_capacity(rows.len()), Vec::new());
    for (line, cell) in rows.cells(place) {
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        if value.is_none() && !(may_miss && is_missing(cell)) {
            bad.push((line, cell));
        }
        values.push(value);
    }
    if bad.is_empty() { Ok(values) } else { Err(bad_cells(file, column, &bad, missing)) }
}
