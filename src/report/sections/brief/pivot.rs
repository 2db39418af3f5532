//! Shortens a long table: the values of one axis become columns.

use crate::report::document::Table;
use crate::report::sections::cells::{ALL, Rows};

/// Largest number of rows of a table that is not pivoted.
const MAX_ROWS: usize = 12;
/// Largest number of values of an axis that can become columns.
const MAX_COLUMNS: usize = 6;

/// Whether the table of `rows` is to be pivoted: it has more than [`MAX_ROWS`] rows, and an axis whose values can become
/// columns.
pub(super) fn wanted(rows: &Rows) -> bool {
    rows.rows.len() > MAX_ROWS && pivoted(rows).is_some()
}

/// The axis whose values become columns, given by its index in a row of `rows`, and these values. It is the axis with the
/// most values among those with 2 to [`MAX_COLUMNS`] values; `None` if there is no such axis.
fn pivoted(rows: &Rows) -> Option<(usize, Vec<String>)> {
    let values = |column: usize| {
        let mut values: Vec<String> = Vec::new();
        for row in rows.rows.iter().filter(|row| row[column] != ALL) {
            if !values.contains(&row[column]) {
                values.push(row[column].clone());
            }
        }
        values
    };
    let axes = (1..=rows.axes.len()).map(|column| (column, values(column)));
    axes.filter(|(_, values)| (2..=MAX_COLUMNS).contains(&values.len()))
        .max_by_key(|(_, values)| values.len())
}

/// A table of one number of each row: the number with the index `place`, counted from 0 after the series and the axes. The
/// values of one axis become columns; `None` if no axis can be pivoted. A row that holds for all values of this axis has its
/// number in the first of these columns, and "same" in the others.
pub(super) fn table(rows: &Rows, title: String, place: usize) -> Option<Table> {
    let (column, values) = pivoted(rows)?;
    let first = 1 + rows.axes.len();
    let mut body: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for row in &rows.rows {
        let mut head = row[..first].to_vec();
        let value = head.remove(column);
        let known = body.iter().position(|(known, _)| *known == head).unwrap_or_else(|| {
            body.push((head, vec![String::new(); values.len()]));
            body.len() - 1
        });
        let number = row[first + place].clone();
        match values.iter().position(|other| *other == value) {
            Some(at) => body[known].1[at] = number,
            None => {
                body[known].1.iter_mut().skip(1).for_each(|cell| "same".clone_into(cell));
                body[known].1[0] = number;
            }
        }
    }
    let axis = &rows.axes[column - 1];
    let mut header = vec!["series".to_owned()];
    header.extend(rows.axes.iter().filter(|name| *name != axis).cloned());
    let heads = header.len();
    header.extend(values.iter().map(|value| format!("{axis} {value}")));
    let body = body.into_iter().map(|(head, numbers)| [head, numbers].concat()).collect();
    Some(Table::new(title, header, body, heads))
}
