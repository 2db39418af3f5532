//! Two runs side by side in a terminal of 80 columns.

use super::text::{table, wrapped};
use crate::study::{Comparison, ComparisonRow};

/// A comparison as text: one table per point and series. Metrics equal in all pairs are named in one line.
#[must_use]
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut out = format!("a      {}\nb      {}\n", comparison.a, comparison.b);
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
        if rows.is_empty() {
            out.push_str(&format!("\n{title}: equal in every metric\n"));
            continue;
        }
        let interval = format!("{:.0} % interval", comparison.confidence * 100.0);
        let header = ["metric", "a", "b", "b - a", &interval, "n"].map(str::to_owned).to_vec();
        table(&mut out, &title, header, rows, 1);
        let equal: Vec<&str> = group.iter().filter(same).map(|row| row.metric.as_str()).collect();
        if !equal.is_empty() {
            wrapped(&mut out, 2, &format!("equal in both: {}", equal.join(", ")));
        }
    }
    out.push('\n');
    let pairs = "n counts pairs of equal seed and replication, which draw the same random numbers. Each interval is \
                 Student's and holds on its own, not all of them together.";
    if comparison.rows.iter().any(|row| row.paired) {
        wrapped(&mut out, 0, pairs);
    }
    for note in &comparison.notes {
        wrapped(&mut out, 0, &format!("note: {note}"));
    }
    out
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

/// Four significant digits.
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
