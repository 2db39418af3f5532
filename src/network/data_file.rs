//! Reads the data files that models name, once, when the scenario is checked.

use crate::vocab::{CsvRows, NoSuchColumn, NotCsv, Problem};
use std::path::Path;
use std::sync::Arc;

/// The contents of a file, shared by every clone of the recipe; `None` until the file has been read.
pub(super) type Loaded<T> = Option<Arc<T>>;

/// The text of a file, whose path is relative to `base`.
pub(super) fn read(base: &Path, file: &Path) -> Result<String, Problem> {
    let place = base.join(file);
    std::fs::read_to_string(&place).map_err(|error| {
        Problem::wrong(
            "file",
            "a CSV file that can be read",
            format!("{}: {error}", place.display()),
            "check the path; it is relative to the scenario's folder",
        )
    })
}

/// The numbers of a column of a CSV file with a header line: at least one, all finite and 0 or above.
pub(super) fn column(base: &Path, file: &Path, column: &str) -> Result<Vec<f64>, Problem> {
    let text = read(base, file)?;
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
    let number = |(line, cell): (u64, &str)| {
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        value.ok_or_else(|| {
            let found = format!("\"{cell}\" at {}:{line}", file.display());
            correct(format!("a number, 0 or above, in column \"{column}\""), found)
        })
    };
    rows.cells(place).map(number).collect()
}
