//! Two runs side by side.

use crate::report::document::{Block, Document, Facts, Section, Shown, Span, Table};
use crate::study::{Comparison, ComparisonRow};

/// One table per point and series. Metrics that are equal in all pairs are named in one line below it.
pub(in crate::report) fn document(comparison: &Comparison) -> Document {
    let runs = [("a", &comparison.a), ("b", &comparison.b)];
    let rows = runs.map(|(name, run)| (name.to_owned(), vec![Span::code(run)])).to_vec();
    let heading = vec![Block::Facts(Facts { rows, indent: 0, width: 7, shown: Shown::Everywhere })];
    let mut blocks = Vec::new();
    let mut rest = comparison.rows.as_slice();
    while let Some(first) = rest.first() {
        let alike = |row: &ComparisonRow| {
            (&row.point, &row.series_a, &row.series_b) == (&first.point, &first.series_a, &first.series_b)
        };
        let length = rest.iter().take_while(|row| alike(row)).count();
        let (group, after) = rest.split_at(length);
        rest = after;
        let mut title = if first.series_a == first.series_b {
            first.series_a.clone()
        } else {
            format!("{} (a), {} (b)", first.series_a, first.series_b)
        };
        for (name, value) in &first.point {
            title.push_str(&format!(", {name} = {value}"));
        }
        let same = |row: &&ComparisonRow| row.difference.mean == 0.0 && row.difference.se == 0.0;
        let rows = group.iter().filter(|row| !same(row)).map(cells).collect::<Vec<_>>();
        let interval = format!("{:.0} % interval", comparison.confidence * 100.0);
        let header = ["metric", "a", "b", "b - a", &interval, "n"].map(str::to_owned).to_vec();
        if rows.is_empty() {
            title.push_str(": equal in every metric");
            blocks.push(Block::Table(Table::new(title, header, rows, 1)));
            continue;
        }
        blocks.push(Block::Table(Table::new(title, header, rows, 1)));
        let equal: Vec<&str> = group.iter().filter(same).map(|row| row.metric.as_str()).collect();
        if !equal.is_empty() {
            blocks.push(Block::remark(format!("equal in both: {}", equal.join(", "))));
        }
    }
    let pairs = "n counts pairs of equal seed and replication, which draw the same random numbers. Each interval is \
                 Student's and holds on its own, not all of them together.";
    if comparison.rows.iter().any(|row| row.paired) {
        blocks.push(Block::statement(pairs, Shown::Everywhere));
    }
    let notes = comparison.notes.iter();
    blocks.extend(notes.map(|note| Block::statement(format!("note: {note}"), Shown::Everywhere)));
    let sections = vec![Section { blocks, ..Section::default() }];
    Document { heading, sections, ..Document::default() }
}

fn cells(row: &ComparisonRow) -> Vec<String> {
    let interval = match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        (None, _) | (_, None) => "none".to_owned(),
    };
    vec![
        row.metric.replace('_', " "),
        number(row.a),
        number(row.b),
        number(row.difference.mean),
        interval,
        row.difference.n.to_string(),
    ]
}

/// A number with four significant digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = libm::floor(libm::log10(value.abs()));
    if (-4.0..7.0).contains(&magnitude) {
        let places = (3.0 - magnitude).max(0.0) as usize;
        format!("{value:.places$}")
    } else {
        format!("{value:.3e}")
    }
}
