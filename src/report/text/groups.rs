//! How groups of agents fared.

use super::style::{line, table, wrapped};
use crate::report::cells::{axes, point};
use crate::report::number::regret;
use crate::study::Summary;

pub(super) fn section(out: &mut String, summary: &Summary) {
    let all = || summary.cells.iter().flat_map(|cell| cell.series.iter().map(move |series| (cell, series)));
    if all().all(|(_, series)| series.groups.len() < 2) {
        return;
    }
    let mut header = vec!["series".to_owned(), "group".to_owned()];
    header.extend(axes(summary));
    header.extend(["agents", "simple regret", "worst", "cumulative", "queries"].map(str::to_owned));
    let mut rows = Vec::new();
    for (cell, series) in all() {
        for group in &series.groups {
            let mut row = vec![series.name.clone(), group.group.clone()];
            row.extend(point(cell));
            row.extend([
                group.agents.to_string(),
                regret(group.simple_regret),
                regret(group.worst_simple_regret),
                regret(group.cumulative_regret),
                format!("{:.1}", group.evaluations),
            ]);
            rows.push(row);
        }
    }
    table(out, "Regret by group of agents", header, rows, 2 + axes(summary).len());
    for (_, series) in all() {
        if let (Some(worst), Some(index)) = (worst(series), jain(series)) {
            let text = format!(
                "{}: worst group {worst}; Jain's index of the groups' regrets {index:.3}",
                series.name
            );
            wrapped(out, 2, &text);
        }
    }
    line(out, "  Jain's index is 1 when all groups fare alike, and 1/groups when one bears it all");
}

fn worst(series: &crate::study::SeriesSummary) -> Option<&str> {
    let most = |a: &&crate::study::GroupSummary, b: &&crate::study::GroupSummary| {
        a.simple_regret.mean.total_cmp(&b.simple_regret.mean)
    };
    series.groups.iter().max_by(most).map(|group| group.group.as_str())
}

/// (sum x)^2 / (n sum x^2) of the groups' mean simple regrets.
fn jain(series: &crate::study::SeriesSummary) -> Option<f64> {
    let values: Vec<f64> = series.groups.iter().map(|group| group.simple_regret.mean).collect();
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}
