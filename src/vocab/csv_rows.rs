//! Rows of a CSV text with a header line, each with the number of its line in the text.

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

/// The rows of a CSV text with a header line. Cells are separated by commas. If the header line has no comma, the separator
/// is the first mark of this list that the header line has: semicolon, tab, vertical line. Lines that begin with `#` are
/// comments; spaces around cells are dropped.
#[derive(Clone, Debug)]
pub struct CsvRows {
    names: Vec<String>,
    head: u64,
    lines: Vec<u64>,
    rows: Vec<StringRecord>,
}

/// Why a text cannot be read as CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCsv {
    /// Line in the text, from 1.
    pub line: u64,
    /// What is wrong there.
    pub reason: String,
}

/// Why a name does not identify a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSuchColumn {
    /// No column has the name.
    Missing,
    /// Two columns or more have the name.
    Twice,
}

/// Texts that stand for a missing cell, besides the empty one.
const MARKS: [&str; 7] = ["na", "n/a", "nan", "null", "none", "?", "-"];

/// Whether a cell is missing: it is empty, or one of `NA`, `N/A`, `NaN`, `null`, `None`, `?` and `-`, in upper or lower
/// case.
#[must_use]
pub fn is_missing(text: &str) -> bool {
    text.is_empty() || MARKS.iter().any(|mark| text.eq_ignore_ascii_case(mark))
}

impl CsvRows {
    /// Reads a text.
    ///
    /// # Errors
    /// [`NotCsv`] if a row and the header line differ in the number of cells, or if the text is not UTF-8.
    pub fn read(text: &[u8]) -> Result<Self, NotCsv> {
        Self::separated(text, separator_of(text))
    }

    /// Reads a text whose cells are separated by this byte.
    fn separated(text: &[u8], separator: u8) -> Result<Self, NotCsv> {
        let mut places = Places { text, at: 0, line: 1 };
        let mut reader =
            ReaderBuilder::new().comment(Some(b'#')).delimiter(separator).trim(Trim::All).from_reader(text);
        let head = places.of(0);
        let names: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(str::to_owned).collect(),
            Err(error) => return Err(NotCsv { line: head, reason: describe(&error) }),
        };
        let (mut lines, mut rows) = (Vec::new(), Vec::new());
        let mut row = StringRecord::new();
        loop {
            let begins = reader.position().byte();
            let found = reader.read_record(&mut row);
            // At the end of the text there is no further row.
            if matches!(found, Ok(false)) {
                return Ok(Self { names, head, lines, rows });
            }
            let line = places.of(begins);
            found.map_err(|error| NotCsv { line, reason: describe(&error) })?;
            lines.push(line);
            rows.push(row.clone());
        }
    }

    /// Names of the columns, in the order of the text.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of the header line in the text, from 1.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Number of rows below the header line.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows below the header line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The position of the column with this name, from 0.
    ///
    /// # Errors
    /// [`NoSuchColumn`] if no column or more than one column has this name.
    pub fn position(&self, column: &str) -> Result<usize, NoSuchColumn> {
        let index = self.names.iter().position(|name| name == column).ok_or(NoSuchColumn::Missing)?;
        match self.names[index + 1..].iter().any(|name| name == column) {
            true => Err(NoSuchColumn::Twice),
            false => Ok(index),
        }
    }

    /// Removes the rows for which `keep` is false; `keep` gets the index of a row, from 0.
    pub fn keep(&mut self, keep: impl Fn(usize) -> bool) {
        let kept = |row: &usize| keep(*row);
        let places: Vec<usize> = (0..self.rows.len()).filter(kept).collect();
        self.lines = places.iter().map(|&row| self.lines[row]).collect();
        self.rows = places.iter().map(|&row| self.rows[row].clone()).collect();
    }

    /// Replaces the cell in this row and column, both numbered from 0, by `text`, if there is such a cell.
    pub fn replace(&mut self, row: usize, column: usize, text: &str) {
        let Some(record) = self.rows.get_mut(row) else { return };
        *record =
            record.iter().enumerate().map(|(at, cell)| if at == column { text } else { cell }).collect();
    }

    /// Adds a column with one cell for each row. If there are fewer cells than rows, the last rows get empty cells.
    pub fn add_column(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        self.names.push(name.to_owned());
        let mut cells = cells.into_iter();
        self.rows.iter_mut().for_each(|row| row.push_field(&cells.next().unwrap_or_default()));
    }

    /// The cells of the column at a position, each with its line in the text.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = (u64, &str)> {
        // Rows have as many cells as the header line.
        self.lines.iter().copied().zip(self.rows.iter().map(move |row| row.get(column).unwrap_or("")))
    }
}

/// Finds the line numbers of byte positions in a text. Positions must be requested in ascending order.
struct Places<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Places<'_> {
    /// The line, from 1, of the first row that begins at the position `byte` or later. The csv crate ends a row at the
    /// first byte of its line ending. The rest of the line ending, blank lines and comments may therefore come between
    /// `byte` and the row.
    fn of(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        while self.at < byte {
            self.step();
        }
        if self.at == 0 && self.text.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        loop {
            match self.text.get(self.at) {
                Some(b'\r' | b'\n') => self.step(),
                Some(b'#') => {
                    while self.text.get(self.at).is_some_and(|byte| *byte != b'\n') {
                        self.step();
                    }
                }
                _ => return self.line,
            }
        }
    }

    /// Moves on by one byte. A line ends with a line feed, with a carriage return, or with both.
    fn step(&mut self) {
        let next = self.text.get(self.at + 1);
        match self.text[self.at] {
            b'\n' => self.line += 1,
            b'\r' if next != Some(&b'\n') => self.line += 1,
            _ => {}
        }
        self.at += 1;
    }
}

/// The separator of a text: a comma, unless the header line has none and has a semicolon, a tab or a vertical line.
fn separator_of(text: &[u8]) -> u8 {
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).from_reader(text);
    let Ok(names) = reader.headers() else { return b',' };
    let only = names.get(0).filter(|_| names.len() == 1).unwrap_or("");
    [b';', b'\t', b'|'].into_iter().find(|&mark| only.contains(char::from(mark))).unwrap_or(b',')
}

/// The csv crate's error message without its mention of line and byte.
fn describe(error: &csv::Error) -> String {
    match error.kind() {
        ErrorKind::Utf8 { .. } => "expected UTF-8 text".to_owned(),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("expected {expected_len} cells as in the header line, found {len}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> (u64, Vec<(u64, String)>) {
        let rows = CsvRows::read(text.as_bytes()).unwrap();
        (rows.head(), rows.cells(0).map(|(line, cell)| (line, cell.to_owned())).collect())
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        let expected = |head, rows: &[(u64, &str)]| {
            (head, rows.iter().map(|(line, cell)| (*line, (*cell).to_owned())).collect::<Vec<_>>())
        };
        let plain = "x,y\n1,2\n3,4\n";
        assert_eq!(lines(plain), expected(1, &[(2, "1"), (3, "3")]));
        assert_eq!(lines(&plain.replace('\n', "\r\n")), expected(1, &[(2, "1"), (3, "3")]));
        assert_eq!(lines(&plain.replace('\n', "\r")), expected(1, &[(2, "1"), (3, "3")]));
        let sparse = "# a comment\n\nx,y\n# another\n\n1,2\n\n\n# and, one\n3,4";
        assert_eq!(lines(sparse), expected(3, &[(6, "1"), (10, "3")]));
        assert_eq!(lines(&sparse.replace('\n', "\r\n")), expected(3, &[(6, "1"), (10, "3")]));
        let quoted = "\u{feff}# a comment\nx,y\n\"1\n1\",2\n3,4\n";
        assert_eq!(lines(quoted), expected(2, &[(3, "1\n1"), (5, "3")]));
    }

    #[test]
    fn errors_state_the_line_of_the_row() {
        let fault = |text: &[u8]| CsvRows::read(text).unwrap_err();
        let short = NotCsv { line: 5, reason: "expected 2 cells as in the header line, found 1".to_owned() };
        assert_eq!(fault(b"x,y\r\n1,2\r\n\r\n# 3\r\n4\r\n"), short);
        assert_eq!(fault(b"x,y\n1,2\n\n# 3\n4\n"), short);
        assert_eq!(fault(b"# 1\nx;y\n1;2\n3\n").line, 4);
        assert_eq!(fault(b"x\n\n\xff\n"), NotCsv { line: 3, reason: "expected UTF-8 text".to_owned() });
        assert_eq!(fault(b"\n\xff\n"), NotCsv { line: 2, reason: "expected UTF-8 text".to_owned() });
    }

    #[test]
    fn semicolons_tabs_and_vertical_lines_separate_too() {
        for mark in [";", "\t", "|"] {
            let text = "# a, comment\nx, y;z\n1;2,5\n".replace("x, y", "x").replace(';', mark);
            let rows = CsvRows::read(text.as_bytes()).unwrap();
            assert_eq!(rows.names(), ["x", "z"], "{mark:?}");
            assert_eq!(rows.cells(1).collect::<Vec<_>>(), [(3, "2,5")], "{mark:?}");
        }
        let rows = CsvRows::read(b"a;b,c\n1,2\n").unwrap();
        assert_eq!(rows.names(), ["a;b", "c"]);
    }

    #[test]
    fn a_name_must_identify_one_column() {
        let rows = CsvRows::read(b"x,y,x\n1,2,3\n").unwrap();
        assert_eq!(rows.position("y"), Ok(1));
        assert_eq!(rows.position("x"), Err(NoSuchColumn::Twice));
        assert_eq!(rows.position("z"), Err(NoSuchColumn::Missing));
    }
}
