//! Reads the data files that models name, once, when the scenario is checked.

use crate::vocab::Problem;
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
            "check the path; it begins at the scenario's folder",
        )
    })
}

/// The numbers of a column of a CSV file with a header line: at least one, all finite and 0 or above.
pub(super) fn column(base: &Path, file: &Path, column: &str) -> Result<Vec<f64>, Problem> {
    let text = read(base, file)?;
    let not_csv = |error: csv::Error| {
        Problem::wrong("file", "a CSV file", format!("{}: {error}", file.display()), "correct the file")
    };
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().map_err(not_csv)?.iter().map(str::to_owned).collect();
    let Some(place) = names.iter().position(|name| name == column) else {
        return Err(Problem::unknown("column", "column", column, &names));
    };
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(not_csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = record.get(place).unwrap_or_default();
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        values.push(value.ok_or_else(|| {
            Problem::wrong(
                "file",
                format!("a number, 0 or above, in column \"{column}\""),
                format!("\"{cell}\" at {}:{line}", file.display()),
                "correct the file",
            )
        })?);
    }
    if values.is_empty() {
        let found = format!("no rows in {}", file.display());
        return Err(Problem::wrong(
            "file",
            "at least one row below the header line",
            found,
            "correct the file",
        ));
    }
    Ok(values)
}
