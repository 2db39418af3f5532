//! Which charts a run gives: regret by round, final regret along a numeric axis, rounds over virtual time.

use crate::report::cells::{axes, by_series, point};
use crate::report::number::regret;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, ReplicationRecord, SeriesSummary, Summary};

/// Lines that one chart can carry and stay readable; as many as there are colours.
const MOST_LINES: usize = 8;
/// Points of a line that are drawn; of longer ones every second, third, ... point is.
const MOST_POINTS: usize = 400;
const METRICS: [Metric; 2] = [Metric::SimpleRegret, Metric::CumulativeRegret];

/// Charts side by side that share a legend.
#[derive(Clone, Debug)]
pub(super) struct Plate {
    /// What it shows.
    pub(super) title: String,
    /// Its charts.
    pub(super) charts: Vec<Chart>,
}

/// A named run of numbers, one line in each of a plate's charts.
type Named<'a> = (String, &'a SeriesSummary);

/// Regret by round: all cells in one plate while the lines are few, else one plate per value of the other axes.
pub(super) fn by_round(summary: &Summary) -> Vec<Plate> {
    let mut plates = Vec::new();
    for (place, cells) in grouped(summary) {
        let lines: Vec<Named<'_>> = named(&cells, &axes(summary))
            .into_iter()
            .filter(|(_, series)| !series.curve.is_empty())
            .collect();
        if lines.is_empty() {
            continue;
        }
        let title =
            if place.is_empty() { "Regret by round".to_owned() } else { format!("Regret by round, {place}") };
        let counts =
            || lines.iter().flat_map(|(_, series)| series.curve.iter().map(|step| step.simple_regret.n));
        let mut note = format!(
            "Line: mean over replications. Band: one standard error to either side, {}. Round 0 is the initial points.",
            count((counts().min(), counts().max()))
        );
        if let Some(every) =
            lines.iter().map(|(_, series)| stride(series.curve.len())).max().filter(|s| *s > 1)
        {
            note.push_str(&format!(" Drawn: one round in {every}."));
        }
        let charts = METRICS.iter().map(|metric| curve_chart(*metric, &place, &lines, &note)).collect();
        plates.push(Plate { title, charts });
    }
    plates
}

fn curve_chart(metric: Metric, place: &str, lines: &[Named<'_>], note: &str) -> Chart {
    let drawn = |series: &SeriesSummary| -> Vec<Point> {
        let (stride, last) = (stride(series.curve.len()), series.curve.len().saturating_sub(1));
        let shown =
            series.curve.iter().enumerate().filter(|(index, _)| index % stride == 0 || *index == last);
        shown
            .map(|(_, step)| {
                let estimate = match metric {
                    Metric::SimpleRegret => step.simple_regret,
                    Metric::CumulativeRegret => step.cumulative_regret,
                };
                made(step.t as f64, estimate, format!("round {}", step.t))
            })
            .collect()
    };
    let lines_drawn: Vec<Line> = lines
        .iter()
        .enumerate()
        .map(|(key, (_, series))| Line { key, kind: Kind::Band, points: drawn(series) })
        .collect();
    let rounds = lines.iter().flat_map(|(_, series)| series.curve.iter().map(|step| step.t));
    Chart {
        id: slug(&format!("{} {place}", metric.words())),
        title: capital(metric.words()),
        x_label: "round".to_owned(),
        y_label: metric.words().to_owned(),
        x: Axis::counting(rounds),
        y: match metric {
            Metric::SimpleRegret => Axis::fit(numbers(&lines_drawn)),
            // A sum grows from nothing whatever it sums: only its shape on a plain axis tells anything.
            Metric::CumulativeRegret => Axis::plain(numbers(&lines_drawn)),
        },
        legend: lines.iter().map(|(name, _)| name.clone()).collect(),
        lines: lines_drawn,
        note: note.to_owned(),
    }
}

/// Final regret along every axis of the study that is numeric.
pub(super) fn along_axes(summary: &Summary) -> Vec<Plate> {
    let names = axes(summary);
    let mut plates = Vec::new();
    for (index, axis) in names.iter().enumerate() {
        let values: Option<Vec<f64>> = summary
            .cells
            .iter()
            .map(|cell| cell.point.get(axis).and_then(serde_json::Value::as_f64))
            .collect();
        let Some(values) = values else { continue };
        let mut distinct = values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 2 {
            continue;
        }
        let others: Vec<usize> = (0..names.len()).filter(|other| *other != index).collect();
        let tracks = tracks(summary, axis, &others);
        let one = tracks.len() <= MOST_LINES;
        let mut places: Vec<&str> = Vec::new();
        for track in tracks.iter().filter(|track| !one && !track.place.is_empty()) {
            if !places.contains(&track.place.as_str()) {
                places.push(&track.place);
            }
        }
        if one {
            places = vec![""];
        }
        for place in places {
            let here: Vec<&Track<'_>> =
                tracks.iter().filter(|track| one || track.place.is_empty() || track.place == place).collect();
            let charts =
                METRICS.iter().filter_map(|metric| axis_chart(*metric, axis, place, &distinct, &here));
            let charts: Vec<Chart> = charts.collect();
            if charts.is_empty() {
                continue;
            }
            let mut title = format!("Final regret against {axis}");
            if !place.is_empty() {
                title.push_str(&format!(", {place}"));
            }
            plates.push(Plate { title, charts });
        }
    }
    plates
}

/// One series along one axis, the other axes held.
struct Track<'a> {
    series: &'a str,
    /// Values of the other axes; empty where there are none or the series does not depend on them.
    place: String,
    cells: Vec<(f64, &'a CellSummary, &'a SeriesSummary)>,
}

fn tracks<'a>(summary: &'a Summary, axis: &str, others: &[usize]) -> Vec<Track<'a>> {
    let names = axes(summary);
    let mut tracks: Vec<Track<'a>> = Vec::new();
    for group in by_series(summary) {
        let same = group.len() > 1 && group.iter().all(|(_, series)| alike(series, group[0].1));
        for (cell, series) in group {
            let Some(x) = cell.point.get(axis).and_then(serde_json::Value::as_f64) else { continue };
            let place = if same { String::new() } else { place(&names, cell, others) };
            match tracks.iter_mut().find(|track| track.series == series.name && track.place == place) {
                Some(track) => track.cells.push((x, cell, series)),
                None => tracks.push(Track { series: &series.name, place, cells: vec![(x, cell, series)] }),
            }
        }
    }
    for track in &mut tracks {
        track.cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        track.cells.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    }
    tracks
}

fn axis_chart(
    metric: Metric,
    axis: &str,
    place: &str,
    values: &[f64],
    tracks: &[&Track<'_>],
) -> Option<Chart> {
    let mut lines = Vec::new();
    for (key, track) in tracks.iter().enumerate() {
        let at = |x: f64| format!("{axis} = {x}");
        let points =
            track.cells.iter().filter_map(|(x, _, series)| Some(made(*x, of(metric, series)?, at(*x))));
        let points: Vec<Point> = points.collect();
        if !points.is_empty() {
            lines.push(Line { key, kind: Kind::Bars, points });
        }
        let published = track.cells.iter().filter_map(|(x, cell, series)| {
            let row = cell.published.iter().find(|row| row.series == series.name && row.metric == metric)?;
            let says = format!("{} published", row.published);
            Some(Point { x: *x, y: row.published, error: 0.0, at: at(*x), says })
        });
        let points: Vec<Point> = published.collect();
        if !points.is_empty() {
            lines.push(Line { key, kind: Kind::Diamonds, points });
        }
    }
    let name = |track: &&Track<'_>| {
        if track.place.is_empty() || track.place == place {
            track.series.to_owned()
        } else {
            format!("{}, {}", track.series, track.place)
        }
    };
    let counts =
        || tracks.iter().flat_map(|track| &track.cells).filter_map(|(_, _, series)| of(metric, series));
    let n = (counts().map(|estimate| estimate.n).min(), counts().map(|estimate| estimate.n).max());
    let mut note =
        format!("Marks: mean after the last round; bars: one standard error to either side, {}.", count(n));
    if lines.iter().any(|line| line.kind == Kind::Diamonds) {
        note.push_str(" Hollow diamonds: the published figures, in the colour of their series.");
    }
    (!lines.is_empty()).then(|| Chart {
        id: slug(&format!("{} against {axis} {place}", metric.words())),
        title: format!("{} against {axis}", capital(metric.words())),
        x_label: axis.to_owned(),
        y_label: metric.words().to_owned(),
        x: Axis::chosen(values),
        y: Axis::fit(numbers(&lines)),
        legend: tracks.iter().map(name).collect(),
        lines,
        note,
    })
}

/// Rounds over virtual time in one replication; none where time stood still.
pub(super) fn timeline(first: &ReplicationRecord) -> Option<Plate> {
    const UNITS: [(f64, &str); 4] =
        [(86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")];
    let end = first.series.iter().flat_map(|s| s.iterations.iter().map(|i| i.seconds)).fold(0.0, f64::max);
    if end <= 0.0 {
        return None;
    }
    let (size, unit) = UNITS.into_iter().find(|(size, _)| end >= 2.0 * size).unwrap_or((1.0, "seconds"));
    let lines: Vec<Line> = first
        .series
        .iter()
        .enumerate()
        .map(|(key, series)| {
            let stride = stride(series.iterations.len());
            let shown = series.iterations.iter().step_by(stride);
            let points = shown.map(|i| Point {
                x: i.seconds / size,
                y: i.t as f64,
                error: 0.0,
                at: crate::report::seconds(i.seconds),
                says: format!("round {}", i.t),
            });
            Line { key, kind: Kind::Band, points: points.collect() }
        })
        .collect();
    let rounds = first.series.iter().flat_map(|series| series.iterations.iter().map(|i| i.t));
    let chart = Chart {
        id: "rounds-over-time".to_owned(),
        title: format!("Rounds over virtual time, replication {}", first.replication),
        x_label: format!("virtual time in {unit}"),
        y_label: "round measured".to_owned(),
        x: Axis::fit([(0.0, 0.0), (end / size, 0.0)]),
        y: Axis::counting(rounds),
        legend: first.series.iter().map(|series| series.name.clone()).collect(),
        lines,
        note:
            "A flat stretch is waiting: for a slow message, a lost one sent again, or a party that is away. \
               Series meet the same network, so their lines may coincide."
                .to_owned(),
    };
    Some(Plate { title: "When rounds were measured".to_owned(), charts: vec![chart] })
}

/// Cells that go on one plate, with the values of the axes that they share.
fn grouped(summary: &Summary) -> Vec<(String, Vec<&CellSummary>)> {
    let names = axes(summary);
    let fits = |cells: &[&CellSummary]| named(cells, &names).len() <= MOST_LINES;
    let by = |fixed: &[usize]| {
        let mut groups: Vec<(String, Vec<&CellSummary>)> = Vec::new();
        for cell in &summary.cells {
            let place = place(&names, cell, fixed);
            match groups.iter_mut().find(|(known, _)| *known == place) {
                Some((_, cells)) => cells.push(cell),
                None => groups.push((place, vec![cell])),
            }
        }
        groups
    };
    let all: Vec<usize> = (0..names.len()).collect();
    let mut ways = vec![Vec::new()];
    ways.extend(all.iter().rev().map(|free| all.iter().copied().filter(|axis| axis != free).collect()));
    let way = ways.into_iter().map(|fixed: Vec<usize>| by(&fixed));
    let mut fitting = way.filter(|groups| groups.iter().all(|(_, cells)| fits(cells)));
    fitting.next().unwrap_or_else(|| by(&all))
}

/// The series of some cells with names that tell them apart; one that is the same in all cells once.
fn named<'a>(cells: &[&'a CellSummary], names: &[String]) -> Vec<Named<'a>> {
    let mut found: Vec<Named<'a>> = Vec::new();
    let Some(first) = cells.first() else { return found };
    let differing: Vec<usize> = (0..names.len())
        .filter(|axis| cells.iter().any(|cell| point(cell).get(*axis) != point(first).get(*axis)))
        .collect();
    for series in &first.series {
        let runs: Vec<(&CellSummary, &SeriesSummary)> = cells
            .iter()
            .filter_map(|cell| Some((*cell, cell.series.iter().find(|other| other.name == series.name)?)))
            .collect();
        if runs.iter().all(|(_, run)| alike(run, series)) {
            found.push((series.name.clone(), series));
        } else {
            let name = |cell| format!("{}, {}", series.name, place(names, cell, &differing));
            found.extend(runs.into_iter().map(|(cell, run)| (name(cell), run)));
        }
    }
    found
}

/// Whether two cells gave one series the same results.
fn alike(a: &SeriesSummary, b: &SeriesSummary) -> bool {
    let curve = |s: &SeriesSummary| -> Vec<(u64, Estimate, Estimate)> {
        s.curve.iter().map(|step| (step.t, step.simple_regret, step.cumulative_regret)).collect()
    };
    a.metrics.simple_regret == b.metrics.simple_regret
        && a.metrics.cumulative_regret == b.metrics.cumulative_regret
        && curve(a) == curve(b)
}

fn place(names: &[String], cell: &CellSummary, of: &[usize]) -> String {
    let values = point(cell);
    let words = of.iter().filter_map(|axis| Some(format!("{} = {}", names.get(*axis)?, values.get(*axis)?)));
    words.collect::<Vec<_>>().join(", ")
}

fn of(metric: Metric, series: &SeriesSummary) -> Option<Estimate> {
    match metric {
        Metric::SimpleRegret => series.metrics.simple_regret,
        Metric::CumulativeRegret => series.metrics.cumulative_regret,
    }
}

fn made(x: f64, estimate: Estimate, at: String) -> Point {
    Point { x, y: estimate.mean, error: estimate.se, at, says: regret(estimate) }
}

/// Values and errors of all lines.
fn numbers(lines: &[Line]) -> impl Iterator<Item = (f64, f64)> {
    lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error))
}

fn stride(points: usize) -> usize {
    points.div_ceil(MOST_POINTS).max(1)
}

/// Least and largest number of replications in words.
fn count(n: (Option<u64>, Option<u64>)) -> String {
    match n {
        (Some(least), Some(most)) if least < most => format!("n = {least} to {most}"),
        (Some(n), _) => format!("n = {n}"),
        _ => "n = 0".to_owned(),
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Lower-case letters, digits and hyphens.
pub(super) fn slug(words: &str) -> String {
    let mut slug = String::new();
    for letter in words.to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' | '.' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches(['-', '.']).to_owned()
}
