//! Charts of outcomes with their bounds, along an axis of the study or series by series. Outcomes are numbers at the end
//! of series ([`OutcomeRow`]), such as the regret of the published setting.

use super::axes::{self, Along};
use super::lines::{
    MAX_LINES, axes_of, capital, count, grouped, made, named_at, numbers, place, runs_of, slug,
};
use super::points::Axes;
use crate::report::document::Figure;
use crate::report::number::quantity_of;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::words::{outcome, outcome_in_brief};
use crate::study::{BoundRow, CellSummary, OutcomeRow, SeriesSummary, Summary};

/// On a linear axis, a bound is drawn only if it is at most this multiple of the largest sum of a mean and its standard
/// error.
const ROOM: f64 = 4.0;

/// The values of one outcome of a series along one axis, or a single value of this outcome.
struct Track<'a> {
    name: String,
    rows: Vec<(f64, String, &'a OutcomeRow)>,
}

/// The charts of all outcomes that have bounds, or that can be drawn along an axis.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let mut names: Vec<&str> = Vec::new();
    // An outcome with a name such as "a: b" belongs to the group of outcomes with the common name "a". Outcomes of a group
    // are shown in a table only.
    for outcome in all().filter(|outcome| !outcome.name.contains(": ")) {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    names.into_iter().flat_map(|name| of_outcome(summary, name)).collect()
}

fn of_outcome(summary: &Summary, name: &str) -> Vec<Figure> {
    let names = Axes::of(summary);
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let bounded = all.any(|outcome| outcome.name == name && outcome.bound.is_some());
    let title = |place: &str| {
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        let beside = if bounded { ", with its bound" } else { "" };
        format!("{}{beside}{place}", capital(outcome(name)))
    };
    let mut figures = Vec::new();
    for axis in axes::along(summary) {
        let others: Vec<usize> = (0..names.len()).filter(|other| *other != axis.index).collect();
        for (place, cells) in grouped(summary, &others, |cells| along(cells, &names, &axis, name).len()) {
            let tracks = along(&cells, &names, &axis, name);
            let chart = chart(name, &axis.name, axis.axis(), &place, tracks);
            figures.extend(chart.map(|mut chart| {
                chart.note.push_str(&axis.note());
                Figure { title: title(&place), charts: vec![chart] }
            }));
        }
    }
    if !figures.is_empty() {
        return figures;
    }
    // If nothing can be drawn along an axis, series stand side by side, provided that there are bounds.
    let everything: Vec<usize> = (0..names.len()).collect();
    for (place, cells) in grouped(summary, &everything, |cells| cells.iter().map(|c| c.series.len()).sum()) {
        let rows = cells.iter().flat_map(|cell| &cell.series).filter_map(|s| Some((s, row(s, name)?)));
        let tracks: Vec<Track<'_>> = rows
            .enumerate()
            .map(|(number, (series, row))| Track {
                name: series.name.clone(),
                rows: vec![(number as f64 + 1.0, series.name.clone(), row)],
            })
            .collect();
        let mut axis = Axis::counting([0, tracks.len() as u64 + 1]);
        axis.ticks.clear();
        let chart = chart(name, "series, in the order of the legend", axis, &place, tracks);
        figures.extend(chart.map(|chart| Figure { title: title(&place), charts: vec![chart] }));
    }
    figures
}

fn row<'a>(series: &'a SeriesSummary, name: &str) -> Option<&'a OutcomeRow> {
    series.outcomes.iter().find(|outcome| outcome.name == name)
}

/// The values of the outcome `name` along one axis. Each series has one track for each combination of values of the
/// other axes on which the outcome depends.
fn along<'a>(cells: &[&'a CellSummary], names: &Axes, axis: &Along, name: &str) -> Vec<Track<'a>> {
    let mut tracks: Vec<Track<'a>> = Vec::new();
    let Some(first) = cells.first() else { return tracks };
    for series in &first.series {
        let runs = runs_of(cells, &series.name).into_iter();
        let rows: Vec<(&CellSummary, &OutcomeRow)> =
            runs.filter_map(|(cell, run)| Some((cell, row(run, name)?))).collect();
        let results: Vec<(Vec<String>, &OutcomeRow)> =
            rows.iter().map(|(cell, row)| (names.point(cell), *row)).collect();
        let mut told = axes_of(&results);
        told.retain(|other| *other != axis.index);
        for (cell, row) in rows {
            let Some((x, at)) = axis.place(cell) else { continue };
            let place = place(names, cell, &told);
            let name = named_at(&series.name, &place);
            match tracks.iter_mut().find(|track| track.name == name) {
                Some(track) => track.rows.push((x, at, row)),
                None => tracks.push(Track { name, rows: vec![(x, at, row)] }),
            }
        }
    }
    for track in &mut tracks {
        track.rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        track.rows.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    }
    tracks
}

fn chart(name: &str, axis: &str, x: Axis, place: &str, tracks: Vec<Track<'_>>) -> Option<Chart> {
    let left_out = tracks.len().saturating_sub(2 * MAX_LINES);
    let tracks: Vec<Track<'_>> = tracks.into_iter().take(2 * MAX_LINES).collect();
    let mut lines = Vec::new();
    for (key, track) in tracks.iter().enumerate() {
        let points = track.rows.iter().map(|(x, at, row)| made(*x, row.value, at.clone()));
        lines.push(Line { key, kind: Kind::Bars, points: points.collect() });
    }
    let bounds = || tracks.iter().flat_map(|track| &track.rows).filter_map(|(_, _, row)| row.bound.as_ref());
    let bounded = bounds().next().is_some();
    if !bounded && tracks.iter().all(|track| track.rows.len() < 2) {
        return None;
    }
    let most = numbers(&lines).map(|(value, error)| value + error).fold(f64::MIN, f64::max);
    // Values of 0 or below do not prevent a logarithmic axis here: they are drawn at its lower edge.
    let all = || numbers(&lines).chain(bounds().map(|bound| (bound.at_most, 0.0)));
    let positive = Axis::fit(all().filter(|(value, _)| *value > 0.0));
    let with_bounds = match bounded {
        true if positive.log => positive,
        true => Axis::fit(all()),
        // Without bounds the axis is linear, so that the distance from 0 is easy to read.
        false => Axis::plain(all()),
    };
    let zeros = with_bounds.log && all().any(|(value, _)| value <= 0.0);
    let near = |bound: &BoundRow| with_bounds.log || bound.at_most <= ROOM * most;
    let (mut beyond, mut sources) = (Vec::new(), Vec::<&str>::new());
    for (key, track) in tracks.iter().enumerate() {
        let bounded = || track.rows.iter().filter_map(|(x, at, row)| Some((*x, at, row.bound.as_ref()?)));
        let points = bounded().filter(|(_, _, bound)| near(bound)).map(|(x, at, bound)| Point {
            x,
            y: bound.at_most,
            error: 0.0,
            at: at.clone(),
            says: format!("at most {} with probability {}", quantity_of(bound.at_most), bound.probability),
        });
        let points: Vec<Point> = points.collect();
        if !points.is_empty() {
            lines.push(Line { key, kind: Kind::Ceiling, points });
        }
        let far: Vec<String> = bounded()
            .filter(|(_, _, bound)| !near(bound))
            .map(|(_, at, bound)| {
                let at = if tracks.iter().all(|track| track.rows.len() == 1) {
                    String::new()
                } else {
                    format!(" at {at}")
                };
                format!("{}{at}", quantity_of(bound.at_most))
            })
            .collect();
        if !far.is_empty() {
            beyond.push(format!("Bound on {}, beyond this chart: {}", track.name, far.join(", ")));
        }
        for (_, _, bound) in bounded() {
            if !sources.contains(&bound.source.as_str()) {
                sources.push(&bound.source);
            }
        }
    }
    let values: Vec<(f64, f64)> = numbers(&lines).collect();
    let y = if with_bounds.log { with_bounds } else { Axis::plain(values) };
    let counts = || tracks.iter().flat_map(|track| &track.rows).map(|(_, _, row)| row.value.n);
    let mut note = format!(
        "Marks: mean over replications; bars: one standard error to either side, {}.",
        count((counts().min(), counts().max()))
    );
    if left_out > 0 {
        note.push_str(&format!(" Not drawn: {left_out} more lines, whose values are in the table above."));
    }
    if zeros {
        note.push_str(" Marks at the lower edge: 0 or below.");
    }
    if bounded {
        note.push_str(&format!(
            " Hollow triangles: an upper bound that holds with the probability in the table above. Source: {}.",
            sources.join("; ")
        ));
    }
    Some(Chart {
        id: slug(&format!("outcome {name} against {axis} {place}")),
        title: capital(outcome(name)),
        x_label: axis.to_owned(),
        y_label: outcome_in_brief(name).to_owned(),
        x,
        y,
        legend: tracks.iter().map(|track| track.name.clone()).collect(),
        lines,
        note,
        beyond,
        caption: String::new(),
    })
}
