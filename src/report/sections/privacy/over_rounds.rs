//! Charts of the privacy loss over the rounds of one replication: as published, tight and naive.

use crate::accounting::{AccountantName, CountedRelease, EpsilonKind, History, units, worst};
use crate::report::document::Figure;
use crate::report::number::{delta as shown, epsilon};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::sections::lines::slug;
use crate::report::sections::shown_replication::ShownReplication;
use crate::report::words::unit;
use crate::study::{PrivacyRow, Summary};
use crate::vocab::{Delta, PrivacyEvent, counted};

/// Number of equal steps into which the rounds are divided; the loss is computed at both ends of each step.
const PLACES: u64 = 12;
/// Largest number of charts on a page; the charts of a federation of hundreds of agents would otherwise fill the page.
const MAX_CHARTS: usize = 4;

/// One chart for each combination of series, observer, owner of the data, kind of unit and neighbouring relation, at
/// most [`MAX_CHARTS`] in all. A combination has a chart if it has releases in more than one round and a finite bound in
/// the replication shown. Of equal charts only the first is drawn, and charts of the same accountants form one figure.
pub(in crate::report::sections) fn figures(summary: &Summary, shown: &ShownReplication<'_>) -> Vec<Figure> {
    let first = shown.record;
    let Some(cell) = summary.cells.get(shown.cell) else { return Vec::new() };
    let mut figures: Vec<Figure> = Vec::new();
    let mut seen: Vec<History> = Vec::new();
    for entry in &cell.privacy {
        let Some(series) = first.series.iter().find(|series| series.name == entry.series) else { continue };
        let group: Vec<&CountedRelease> =
            series.releases.iter().filter(|release| concerns(entry, &release.event)).collect();
        // If releases are about different units, the chart is about the unit with the largest loss.
        let counted = entry.losses.iter().find(|loss| loss.standing != EpsilonKind::Claim);
        let delta = counted.and_then(|loss| Delta::new(loss.delta).ok());
        let Some(group) = worst(units(&group).worst, delta) else { continue };
        if seen.len() == MAX_CHARTS || seen.iter().any(|other| alike(other, &group)) {
            continue;
        }
        if let Some(chart) = chart(entry, &group, &shown.name(summary)) {
            match figures.iter_mut().find(|figure| figure.charts[0].legend == chart.legend) {
                Some(figure) => figure.charts.push(chart),
                None => {
                    figures.push(Figure { title: "Privacy loss over rounds".to_owned(), charts: vec![chart] })
                }
            }
            seen.push(group);
        }
    }
    figures
}

fn concerns(entry: &PrivacyRow, event: &PrivacyEvent) -> bool {
    entry.protected == event.protected
        && entry.unit == event.unit
        && entry.observer == event.observer.0
        && entry.neighbours == event.neighbours
}

/// Whether the releases of an entry are about different units.
fn has_different_units(entry: &PrivacyRow) -> bool {
    entry.releases_per_unit.is_some()
}

/// Whether two histories have the same costs and claims in the same rounds.
fn alike(a: &History, b: &History) -> bool {
    let (a, b) = (a.releases(), b.releases());
    let same = |(a, b): (&CountedRelease, &CountedRelease)| {
        (a.count, a.last_round, a.event.round) == (b.count, b.last_round, b.event.round)
            && (&a.event.cost, &a.event.claim) == (&b.event.cost, &b.event.claim)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn chart(entry: &PrivacyRow, history: &History, run: &str) -> Option<Chart> {
    let group = history.releases();
    let last = group.iter().map(|release| release.last_round).max()?;
    let begin = group.iter().map(|release| release.event.round).min()?;
    if last == begin {
        return None;
    }
    let loss = entry.losses.iter().find(|loss| loss.standing != EpsilonKind::Claim)?;
    let delta = Delta::new(loss.delta).ok()?;
    let mut rounds: Vec<u64> = (0..=PLACES).map(|k| begin + (last - begin) * k / PLACES).collect();
    rounds.dedup();
    let mut legend: Vec<String> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    let mut bounded = false;
    let mut without: Vec<&str> = Vec::new();
    for growth in history.by_round(delta, &rounds) {
        let name = match growth.accountant {
            AccountantName::Basic => "naive (basic)",
            other => other.words(),
        };
        if growth.points.is_empty() {
            without.push(name);
            continue;
        }
        let points = growth.points.into_iter().map(|(round, value)| Point {
            x: round as f64,
            y: value,
            error: 0.0,
            at: format!("round {round}"),
            says: format!("epsilon {}", epsilon(value)),
        });
        lines.push(Line { key: legend.len(), kind: Kind::Band, points: points.collect() });
        legend.push(name.to_owned());
        bounded |= growth.accountant != AccountantName::AsPublished;
    }
    if !bounded {
        return None;
    }
    let mut note = format!(
        "Counted up to each round of {run}, at delta {}; {} in all.",
        shown(delta.get()),
        counted(history.count(), "release")
    );
    if !without.is_empty() {
        note.push_str(&format!(" No finite bound: {}.", without.join(", ")));
    }
    if entry.runs_differ {
        note.push_str(" Other runs may have a larger loss: see the table.");
    }
    if has_different_units(entry) {
        note.push_str(" For the unit with the largest loss.");
    }
    let title = format!(
        "{}: what {} learned about {} of {}",
        entry.series,
        entry.observer,
        unit(&entry.unit),
        entry.protected
    );
    Some(Chart {
        id: slug(&format!("privacy {title}")),
        title,
        x_label: "round".to_owned(),
        y_label: "epsilon".to_owned(),
        x: Axis::counting([begin, last]),
        y: Axis::fit(lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error))),
        legend,
        lines,
        note,
        beyond: Vec::new(),
        caption: String::new(),
    })
}
