//! Charts of virtual time, bytes and lost messages along the axes of a study on which they depend.

use super::axes::{Along, along};
use super::lines::{axes_of, capital, grouped, named_at, place, runs_of, slug};
use super::points::Axes;
use crate::report::document::Figure;
use crate::report::number::{quantity, seconds};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::{CellSummary, Metrics, Summary};

/// A cost of a run.
#[derive(Clone, Copy)]
struct Cost {
    name: &'static str,
    label: &'static str,
    value: fn(&Metrics) -> f64,
    words: fn(f64) -> String,
}

const COSTS: [Cost; 3] = [
    Cost {
        name: "virtual time",
        label: "virtual time in seconds",
        value: |m| m.virtual_seconds,
        words: seconds,
    },
    Cost { name: "bytes", label: "bytes of a run", value: |m| m.bytes, words: quantity },
    Cost {
        name: "messages lost",
        label: "messages lost, % of messages sent (means)",
        value: |m| if m.messages > 0.0 { 100.0 * m.messages_lost / m.messages } else { 0.0 },
        words: |share| format!("{share:.2} %"),
    },
];

/// The line of one series along an axis, with the other axes fixed.
struct Track {
    name: String,
    points: Vec<Point>,
}

/// The figures of all axes on which a cost depends.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let names = Axes::of(summary);
    let mut figures = Vec::new();
    for axis in along(summary) {
        let others: Vec<usize> = (0..names.len()).filter(|other| *other != axis.index).collect();
        let most = |cells: &[&CellSummary]| {
            COSTS.iter().map(|cost| tracks(cells, &names, &axis, *cost).len()).max().unwrap_or(0)
        };
        for (place, cells) in grouped(summary, &others, most) {
            let charts: Vec<Chart> =
                COSTS.iter().filter_map(|cost| chart(*cost, &cells, &names, &axis, &place)).collect();
            for chart in charts {
                let at = if place.is_empty() { String::new() } else { format!(", {place}") };
                figures.push(Figure { title: format!("{}{at}", chart.title), charts: vec![chart] });
            }
        }
    }
    figures
}

/// The lines along the axis: for each series, a line for each combination of values of those other axes on which the cost
/// depends. Lines with the same numbers are drawn as one.
fn tracks(cells: &[&CellSummary], names: &Axes, axis: &Along, cost: Cost) -> Vec<Track> {
    let mut found: Vec<Track> = Vec::new();
    let Some(first) = cells.first() else { return found };
    for series in &first.series {
        let runs = runs_of(cells, &series.name);
        let results: Vec<(Vec<String>, u64)> = runs
            .iter()
            .map(|(cell, run)| (names.point(cell), (cost.value)(&run.metrics).to_bits()))
            .collect();
        let mut told = axes_of(&results);
        told.retain(|other| *other != axis.index);
        for (cell, run) in runs {
            let Some((x, at)) = axis.place(cell) else { continue };
            let y = (cost.value)(&run.metrics);
            let place = place(names, cell, &told);
            let name = named_at(&series.name, &place);
            let made = Point { x, y, error: 0.0, at, says: (cost.words)(y) };
            match found.iter_mut().find(|track| track.name == name) {
                Some(track) => track.points.push(made),
                None => found.push(Track { name, points: vec![made] }),
            }
        }
    }
    for track in &mut found {
        track.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        track.points.dedup_by(|a, b| a.x.total_cmp(&b.x).is_eq());
    }
    let mut shared: Vec<(Track, usize)> = Vec::new();
    for track in found {
        match shared.iter_mut().find(|(known, _)| known.points == track.points) {
            Some((_, more)) => *more += 1,
            None => shared.push((track, 0)),
        }
    }
    let all = shared.len() == 1;
    let named = shared.into_iter().map(|(track, more)| {
        let name = match more {
            0 => track.name,
            _ if all => "every series".to_owned(),
            1 => format!("{} and one more with the same values", track.name),
            more => format!("{} and {more} more with the same values", track.name),
        };
        Track { name, points: track.points }
    });
    named.collect()
}

fn chart(cost: Cost, cells: &[&CellSummary], names: &Axes, axis: &Along, place: &str) -> Option<Chart> {
    let tracks = tracks(cells, names, axis, cost);
    // A cost that is constant along the axis has no chart; the tables of the section on the network show it.
    let changes =
        |track: &Track| track.points.iter().any(|point| point.y.to_bits() != track.points[0].y.to_bits());
    if !tracks.iter().any(changes) {
        return None;
    }
    let lines: Vec<Line> = tracks
        .iter()
        .enumerate()
        .map(|(key, track)| Line { key, kind: Kind::Bars, points: track.points.clone() })
        .collect();
    let values: Vec<(f64, f64)> =
        lines.iter().flat_map(|line| &line.points).map(|point| (point.y, 0.0)).collect();
    let name = axis.name.as_str();
    Some(Chart {
        id: slug(&format!("{} against {name} {place}", cost.name)),
        title: format!("{} against {name}", capital(cost.name)),
        x_label: name.to_owned(),
        y_label: cost.label.to_owned(),
        x: axis.axis(),
        y: Axis::fit(values),
        legend: tracks.iter().map(|track| track.name.clone()).collect(),
        lines,
        note: format!("Marks: mean over replications.{}", axis.note()),
        beyond: Vec::new(),
        caption: String::new(),
    })
}
