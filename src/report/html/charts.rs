//! Charts of a run by round: regret, and when rounds were measured. What other charts share with them is here too.

use super::theory;
use crate::protocols::{BoundedRegret, SeriesRecord};
use crate::report::cells::{axes, dependence, point};
use crate::report::number::regret;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, ReplicationRecord, SeriesSummary, Summary};

/// Lines that one chart can carry and stay readable; as many as there are colours.
pub(super) const MOST_LINES: usize = 8;
/// Points of a line that are drawn; of longer ones every second, third, ... point is.
const MOST_POINTS: usize = 400;
/// Points at the beginning that are drawn however long the line is.
const FIRST_POINTS: usize = 20;
/// Rounds from which on simple regret is drawn over the logarithm of the round.
const LONG: u64 = 300;
/// How many times longer the slowest series may take than the fastest on a plain axis of time.
const SPEEDS: f64 = 8.0;
pub(super) const METRICS: [Metric; 2] = [Metric::SimpleRegret, Metric::CumulativeRegret];

/// Charts side by side that share a legend.
#[derive(Clone, Debug)]
pub(super) struct Plate {
    /// What it shows.
    pub(super) title: String,
    /// Its charts.
    pub(super) charts: Vec<Chart>,
}

/// A named run of numbers, one line in each of a plate's charts.
pub(super) type Named<'a> = (String, &'a SeriesSummary);

/// Regret by round: all cells in one plate while the lines are few, else one plate per value of the other axes.
pub(super) fn by_round(summary: &Summary) -> Vec<Plate> {
    let mut plates = Vec::new();
    let names = axes(summary);
    let all: Vec<usize> = (0..names.len()).collect();
    for (place, cells) in grouped(summary, &all, |cells| named(cells, &names).len()) {
        let lines: Vec<Named<'_>> =
            named(&cells, &names).into_iter().filter(|(_, series)| !series.curve.is_empty()).collect();
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
        let drawn = |index: usize| index < FIRST_POINTS || index.is_multiple_of(stride) || index == last;
        let shown = series.curve.iter().enumerate().filter(|(index, _)| drawn(*index));
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
    let mut chart = Chart {
        id: slug(&format!("{} {place}", metric.words())),
        title: capital(metric.words()),
        x_label: "round".to_owned(),
        y_label: metric.words().to_owned(),
        // Simple regret falls within the first rounds of many.
        x: match (metric, rounds.clone().max()) {
            (Metric::SimpleRegret, Some(most)) if most >= LONG => Axis::magnitudes(most),
            _ => Axis::counting(rounds),
        },
        y: match metric {
            Metric::SimpleRegret => Axis::fit(numbers(&lines_drawn)),
            // A sum grows from nothing whatever it sums: only its shape on a plain axis tells anything.
            Metric::CumulativeRegret => Axis::plain(numbers(&lines_drawn)),
        },
        legend: lines.iter().map(|(name, _)| name.clone()).collect(),
        lines: lines_drawn,
        note: note.to_owned(),
        beyond: Vec::new(),
    };
    let regret = match metric {
        Metric::SimpleRegret => BoundedRegret::Simple,
        Metric::CumulativeRegret => BoundedRegret::Cumulative,
    };
    theory::add(&mut chart, lines, regret);
    chart
}

/// When each round was closed, for protocols that ask many, else measured: of many agents, the slowest may measure an
/// early round long after the others are done with a later one.
fn moments(series: &SeriesRecord) -> Vec<(u64, f64)> {
    if series.closings.len() > 1 {
        return series.closings.iter().map(|closing| (closing.round, closing.seconds)).collect();
    }
    let mut latest = 0.0f64;
    let measured = series.iterations.iter().map(|i| {
        latest = latest.max(i.seconds);
        (i.t, latest)
    });
    measured.collect()
}

/// Rounds over virtual time in one replication; none where time stood still.
pub(super) fn timeline(first: &ReplicationRecord) -> Option<Plate> {
    const UNITS: [(f64, &str); 4] =
        [(86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")];
    let ends: Vec<f64> =
        first.series.iter().filter_map(|s| Some(moments(s).last()?.1)).filter(|end| *end > 0.0).collect();
    let end = ends.iter().copied().fold(0.0, f64::max);
    if end <= 0.0 {
        return None;
    }
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let (size, unit) = UNITS.into_iter().find(|(size, _)| end >= 2.0 * size).unwrap_or((1.0, "seconds"));
    let lines: Vec<Line> = first
        .series
        .iter()
        .enumerate()
        .map(|(key, series)| {
            let moments = moments(series);
            let points = moments.iter().step_by(stride(moments.len())).map(|(t, seconds)| Point {
                x: seconds / size,
                y: *t as f64,
                error: 0.0,
                at: crate::report::seconds(*seconds),
                says: format!("round {t}"),
            });
            Line { key, kind: Kind::Band, points: points.collect() }
        })
        .collect();
    let rounds = first.series.iter().flat_map(moments).map(|(t, _)| t);
    let times = || lines.iter().flat_map(|line: &Line| &line.points).map(|point| (point.x, 0.0));
    let chart = Chart {
        id: "rounds-over-time".to_owned(),
        title: format!("Rounds over virtual time, replication {}", first.replication),
        x_label: format!("virtual time in {unit}"),
        y_label: "round".to_owned(),
        // Series of very different speed would be upright lines at the edge of a plain axis.
        x: if end > SPEEDS * least {
            Axis::fit(times().filter(|(x, _)| *x > 0.0))
        } else {
            Axis::plain([(0.0, 0.0), (end / size, 0.0)])
        },
        y: Axis::counting(rounds),
        legend: first.series.iter().map(|series| series.name.clone()).collect(),
        lines,
        note:
            "When a round was measured; where many are asked, when it was closed. A flat stretch is waiting: for a \
               slow message, a lost one sent again, or a party that is away. Series meet the same network, so their lines may coincide."
                .to_owned(),
        beyond: Vec::new(),
    };
    Some(Plate { title: "When rounds took place".to_owned(), charts: vec![chart] })
}

/// Cells that go on one plate, with the values of the axes that they share: as few as possible of `fixable` are
/// held fixed for the lines of each plate to be few enough.
pub(super) fn grouped<'a>(
    summary: &'a Summary,
    fixable: &[usize],
    lines: impl Fn(&[&CellSummary]) -> usize,
) -> Vec<(String, Vec<&'a CellSummary>)> {
    let names = axes(summary);
    let by = |fixed: &[usize]| {
        let mut groups: Vec<(String, Vec<&'a CellSummary>)> = Vec::new();
        for cell in &summary.cells {
            let place = place(&names, cell, fixed);
            match groups.iter_mut().find(|(known, _)| *known == place) {
                Some((_, cells)) => cells.push(cell),
                None => groups.push((place, vec![cell])),
            }
        }
        groups
    };
    // More axes than these are held fixed all together.
    let some = fixable.len().min(6);
    let fixed_by = |way: u32| {
        let fixed = fixable.iter().enumerate().filter(|(bit, _)| *bit >= some || way >> bit & 1 == 1);
        fixed.map(|(_, axis)| *axis).collect::<Vec<usize>>()
    };
    let mut ways: Vec<Vec<usize>> = (0..1_u32 << some).map(fixed_by).collect();
    ways.sort_by_key(Vec::len);
    let mut groups = ways.iter().map(|fixed| by(fixed));
    let fitting = groups.find(|groups| groups.iter().all(|(_, cells)| lines(cells) <= MOST_LINES));
    fitting.unwrap_or_else(|| by(fixable))
}

/// The series of some cells with names that tell them apart; one that does not depend on some axis, once along it.
fn named<'a>(cells: &[&'a CellSummary], names: &[String]) -> Vec<Named<'a>> {
    let mut found: Vec<Named<'a>> = Vec::new();
    let Some(first) = cells.first() else { return found };
    for series in &first.series {
        let runs: Vec<(&CellSummary, &SeriesSummary)> = cells
            .iter()
            .filter_map(|cell| Some((*cell, cell.series.iter().find(|other| other.name == series.name)?)))
            .collect();
        let told = telling(&runs);
        for (cell, run) in runs {
            let place = place(names, cell, &told);
            let name =
                if place.is_empty() { series.name.clone() } else { format!("{}, {place}", series.name) };
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, run));
            }
        }
    }
    found
}

/// The axes that tell the results of one series apart.
pub(super) fn telling(runs: &[(&CellSummary, &SeriesSummary)]) -> Vec<usize> {
    let results: Vec<(Vec<String>, Results)> =
        runs.iter().map(|(cell, run)| (point(cell), Results::of(run))).collect();
    let varies = |axis: usize| results.iter().any(|(point, _)| point[axis] != results[0].0[axis]);
    let depends = dependence(&results);
    (0..depends.len()).filter(|axis| depends[*axis] && varies(*axis)).collect()
}

/// What a series came to.
#[derive(PartialEq)]
struct Results(Vec<Option<Estimate>>, Vec<(u64, Estimate, Estimate)>);

impl Results {
    fn of(series: &SeriesSummary) -> Self {
        Self(
            METRICS.iter().map(|metric| of(*metric, series)).collect(),
            series.curve.iter().map(|step| (step.t, step.simple_regret, step.cumulative_regret)).collect(),
        )
    }
}

pub(super) fn place(names: &[String], cell: &CellSummary, of: &[usize]) -> String {
    let values = point(cell);
    let words = of.iter().filter_map(|axis| Some(format!("{} = {}", names.get(*axis)?, values.get(*axis)?)));
    words.collect::<Vec<_>>().join(", ")
}

pub(super) fn of(metric: Metric, series: &SeriesSummary) -> Option<Estimate> {
    match metric {
        Metric::SimpleRegret => series.metrics.simple_regret,
        Metric::CumulativeRegret => series.metrics.cumulative_regret,
    }
}

pub(super) fn made(x: f64, estimate: Estimate, at: String) -> Point {
    Point { x, y: estimate.mean, error: estimate.se, at, says: regret(estimate) }
}

/// Values and errors of all lines.
pub(super) fn numbers(lines: &[Line]) -> impl Iterator<Item = (f64, f64)> {
    lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error))
}

fn stride(points: usize) -> usize {
    points.div_ceil(MOST_POINTS).max(1)
}

/// Least and largest number of replications in words.
pub(super) fn count(n: (Option<u64>, Option<u64>)) -> String {
    match n {
        (Some(least), Some(most)) if least < most => format!("n = {least} to {most}"),
        (Some(n), _) => format!("n = {n}"),
        _ => "n = 0".to_owned(),
    }
}

pub(super) fn capital(words: &str) -> String {
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
