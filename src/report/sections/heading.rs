//! The heading of a study's report: what was run, by which program, and the digest.

use super::cells::by_series;
use super::points::Axes;
use crate::report::document::{Block, Facts, Span, Visibility};
use crate::study::{Manifest, Summary};
use crate::vocab::counted;
use std::path::Path;

/// The heading in a terminal: the run in one line, then its digest, its folder and its page.
pub(super) fn of_summary(summary: &Summary, page: &str) -> Vec<Block> {
    let replications = summary.cells.iter().flat_map(|cell| &cell.series).map(|s| s.replications).max();
    let line = format!(
        "{}: {}, {}, seed {}",
        summary.scenario,
        counted(summary.cells.len() as u64, "cell"),
        counted(replications.unwrap_or(0), "replication"),
        summary.seed
    );
    let page = Path::new(&summary.run).join(page).display().to_string();
    let rows = [("digest", &summary.digest), ("folder", &summary.run), ("page", &page)];
    let rows = rows.map(|(name, value)| (name.to_owned(), vec![Span::code(value)])).to_vec();
    vec![
        Block::statement(line, Visibility::Terminal),
        Block::Facts(Facts { rows, indent: 0, width: 7, shown: Visibility::Terminal }),
    ]
}

/// The heading on a page: series, cells, replications, values of the sweep, program and digest.
pub(super) fn of_page(summary: &Summary, manifest: &Manifest) -> Vec<Block> {
    let cells = summary.cells.len() as u64;
    let axes = Axes::of(summary);
    let mut sweeps = Vec::new();
    for (index, axis) in axes.names.iter().enumerate() {
        let mut values: Vec<String> = Vec::new();
        for value in summary.cells.iter().filter_map(|cell| axes.value(cell, index)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        sweeps.push(format!("{axis} = {}", values.join(", ")));
    }
    let series: Vec<String> = by_series(summary).iter().map(|group| group[0].1.name.clone()).collect();
    let played = format!(
        "{}, {}{}, seed {}",
        counted(cells, "cell"),
        counted(manifest.replications, "replication"),
        if cells > 1 { " each" } else { "" },
        summary.seed
    );
    let by = format!("subrosa {} on {}", manifest.subrosa, manifest.target);
    let mut rows = vec![("Series", Span::plain(series.join("; "))), ("Played", Span::plain(played))];
    rows.extend((!sweeps.is_empty()).then(|| ("Sweep", Span::plain(sweeps.join("; ")))));
    rows.extend([("By", Span::plain(by)), ("Digest", Span::code(&summary.digest))]);
    let rows = rows.into_iter().map(|(name, value)| (name.to_owned(), vec![value])).collect();
    vec![Block::Facts(Facts { rows, indent: 0, width: 7, shown: Visibility::Page })]
}
