//! Charts of final regret along the axes of a study, with published values.

use super::axes::{Along, along};
use super::lines::{
    METRICS, capital, count, dependent_axes, grouped, made, named_at, numbers, place, runs_of, slug,
};
use super::points::Axes;
use crate::report::document::Figure;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::scenario::Metric;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// One series along one axis, with the other axes fixed.
struct Track<'a> {
    series: &'a str,
    /// The values of the other axes on which the regret depends, in words.
    place: String,
    cells: Vec<(f64, String, &'a CellSummary, &'a SeriesSummary)>,
}

/// The figures of all axes along which a regret changes, or for which there are published values.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let names = Axes::of(summary);
    let mut figures = Vec::new();
    for axis in along(summary) {
        let (index, name) = (axis.index, &axis.name);
        let others: Vec<usize> = (0..names.len()).filter(|other| *other != index).collect();
        for (place, cells) in grouped(summary, &others, |cells| tracks(cells, &names, &axis).len()) {
            let tracks = tracks(&cells, &names, &axis);
            if !matters(&tracks) {
                continue;
            }
            let charts: Vec<Chart> =
                METRICS.iter().filter_map(|metric| chart(*metric, &axis, &place, &tracks)).collect();
            if charts.is_empty() {
                continue;
            }
            let mut title = format!("Final regret against {name}");
            if !place.is_empty() {
                title.push_str(&format!(", {place}"));
            }
            figures.push(Figure { title, charts });
        }
    }
    figures
}

/// Whether curves along the axis are informative: some regret changes, or there are published values.
fn matters(tracks: &[Track<'_>]) -> bool {
    tracks.iter().any(|track| depends_on_axis(track) || published(track))
}

/// Whether the regret of a series depends on the axis.
fn depends_on_axis(track: &Track<'_>) -> bool {
    let regrets = |run: &SeriesSummary| METRICS.map(|metric| run.metrics.regret(metric));
    track.cells.windows(2).any(|pair| regrets(pair[0].3) != regrets(pair[1].3))
}

fn published(track: &Track<'_>) -> bool {
    track.cells.iter().any(|(_, _, cell, run)| cell.published.iter().any(|row| row.series == run.name))
}

/// The names of the axes that could be drawn, but along which no regret changes and no value is published. Empty if no
/// series has a regret.
pub(super) fn axes_without_effect(summary: &Summary) -> Vec<String> {
    let names = Axes::of(summary);
    let all: Vec<&CellSummary> = summary.cells.iter().collect();
    let found = along(summary).into_iter().filter(|axis| {
        let tracks = tracks(&all, &names, axis);
        !tracks.is_empty() && !matters(&tracks)
    });
    found.map(|axis| axis.name).collect()
}

fn tracks<'a>(cells: &[&'a CellSummary], names: &Axes, axis: &Along) -> Vec<Track<'a>> {
    let mut tracks: Vec<Track<'a>> = Vec::new();
    let Some(first) = cells.first() else { return tracks };
    for series in &first.series {
        let runs = runs_of(cells, &series.name);
        let mut told = dependent_axes(names, &runs);
        told.retain(|other| *other != axis.index);
        for (cell, run) in runs {
            let Some((x, at)) = axis.place(cell) else { continue };
            let place = place(names, cell, &told);
            match tracks.iter_mut().find(|track| track.series == run.name && track.place == place) {
                Some(track) => track.cells.push((x, at, cell, run)),
                None => tracks.push(Track { series: &run.name, place, cells: vec![(x, at, cell, run)] }),
            }
        }
    }
    tracks.retain(|track| {
        track.cells.iter().any(|(.., run)| METRICS.iter().any(|m| run.metrics.regret(*m).is_some()))
    });
    for track in &mut tracks {
        track.cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        track.cells.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    }
    tracks
}

fn chart(metric: Metric, along: &Along, place: &str, tracks: &[Track<'_>]) -> Option<Chart> {
    let mut lines = Vec::new();
    for (key, track) in tracks.iter().enumerate() {
        let ours = track
            .cells
            .iter()
            .filter_map(|(x, at, _, series)| Some(made(*x, series.metrics.regret(metric)?, at.clone())));
        let points: Vec<Point> = ours.collect();
        if !points.is_empty() {
            lines.push(Line { key, kind: Kind::Bars, points });
        }
        let published = track.cells.iter().filter_map(|(x, at, cell, series)| {
            let row = cell.published.iter().find(|row| row.series == series.name && row.metric == metric)?;
            let says = format!("{} published", row.published);
            Some(Point { x: *x, y: row.published, error: 0.0, at: at.clone(), says })
        });
        let points: Vec<Point> = published.collect();
        if !points.is_empty() {
            lines.push(Line { key, kind: Kind::Diamonds, points });
        }
    }
    let name = |track: &Track<'_>| named_at(track.series, &track.place);
    let counts = || {
        tracks
            .iter()
            .flat_map(|track| &track.cells)
            .filter_map(|(_, _, _, series)| series.metrics.regret(metric))
    };
    let n = (counts().map(|estimate| estimate.n).min(), counts().map(|estimate| estimate.n).max());
    let mut note =
        format!("Marks: mean after the last round; bars: one standard error to either side, {}.", count(n));
    if lines.iter().any(|line| line.kind == Kind::Diamonds) {
        note.push_str(" Hollow diamonds: the published values, in the colour of their series.");
    }
    note.push_str(&along.note());
    let axis = along.name.as_str();
    // If the regret of every series is constant along the axis and nothing is published, there is no chart: the table shows
    // the values.
    let flat = |line: &Line| {
        line.kind == Kind::Bars
            && line.points.iter().all(|point| point.y.to_bits() == line.points[0].y.to_bits())
    };
    (!lines.iter().all(flat)).then(|| Chart {
        id: slug(&format!("{} against {axis} {place}", metric.words())),
        title: format!("{} against {axis}", capital(metric.words())),
        x_label: axis.to_owned(),
        y_label: metric.words().to_owned(),
        x: along.axis(),
        y: Axis::fit(numbers(&lines)),
        legend: tracks.iter().map(name).collect(),
        lines,
        note,
        beyond: Vec::new(),
        caption: String::new(),
    })
}
