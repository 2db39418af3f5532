//! How privacy loss grows over the rounds of the first replication: as published, tight and naive.

use crate::accounting::{self, Accountant, Composition, Tight, claims};
use crate::protocols::BookedRelease;
use crate::report::document::Figure;
use crate::report::number::{delta as shown, epsilon};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::report::sections::cells::{axes, point};
use crate::report::sections::lines::slug;
use crate::report::words::unit;
use crate::study::{LossStanding, PrivacyRow, ReplicationRecord, Summary, units};
use crate::vocab::{Delta, PrivacyEvent, counted};

/// Places along the rounds where the loss is counted.
const PLACES: u64 = 12;
/// Charts on a page; a federation of hundreds would otherwise fill it.
const MOST_CHARTS: usize = 4;

/// One chart per observer and protected unit that the first replication of the first cell released to more than once
/// with a finite loss. Charts that would look alike are drawn once, and those of the same accountants stand together.
pub(in crate::report::sections) fn figures(summary: &Summary, first: &ReplicationRecord) -> Vec<Figure> {
    let Some(cell) = summary.cells.first() else { return Vec::new() };
    let mut figures: Vec<Figure> = Vec::new();
    let mut seen: Vec<Vec<BookedRelease>> = Vec::new();
    for entry in &cell.privacy {
        let Some(series) = first.series.iter().find(|series| series.name == entry.series) else { continue };
        let group: Vec<&BookedRelease> =
            series.releases.iter().filter(|booked| concerns(entry, &booked.event)).collect();
        // Where releases are about different units: those about the one that is worst off.
        let counted = entry.losses.iter().find(|loss| loss.standing != LossStanding::Claim);
        let delta = counted.and_then(|loss| Delta::new(loss.delta).ok());
        let Some(group) = worst(units(&group).worst, delta) else { continue };
        if seen.len() == MOST_CHARTS || seen.iter().any(|other| alike(other, &group)) {
            continue;
        }
        let place = point(cell);
        let place = axes(summary)
            .iter()
            .zip(&place)
            .map(|(name, value)| format!(", {name} = {value}"))
            .collect::<String>();
        if let Some(chart) = chart(entry, &group, &format!("replication {}{place}", first.replication)) {
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

/// The history that costs most by the tight accountant.
fn worst(histories: Vec<Vec<BookedRelease>>, delta: Option<Delta>) -> Option<Vec<BookedRelease>> {
    let several = histories.len() > 1;
    let cost = |history: &[BookedRelease]| match delta {
        Some(delta) if several => {
            let events = history.iter().map(|booked| (&booked.event, booked.count));
            Tight.price(&Composition::of_counted(events), delta).one_after_another().epsilon
        }
        Some(_) | None => 0.0,
    };
    let costs = histories.into_iter().map(|history| (cost(&history), history));
    costs.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, history)| history)
}

fn concerns(entry: &PrivacyRow, event: &PrivacyEvent) -> bool {
    entry.protected == event.protected
        && entry.unit == event.unit
        && entry.observer == event.observer.0
        && entry.neighbours == event.neighbours
}

/// Whether the releases are about different units.
fn units_apart(entry: &PrivacyRow) -> bool {
    entry.releases_per_unit.is_some()
}

/// Whether two groups cost the same in the same rounds.
fn alike(a: &[BookedRelease], b: &[BookedRelease]) -> bool {
    let same = |(a, b): (&BookedRelease, &BookedRelease)| {
        (a.count, a.last_round, a.event.round) == (b.count, b.last_round, b.event.round)
            && (&a.event.cost, &a.event.claim) == (&b.event.cost, &b.event.claim)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn chart(entry: &PrivacyRow, group: &[BookedRelease], run: &str) -> Option<Chart> {
    let last = group.iter().map(|booked| booked.last_round).max()?;
    let begin = group.iter().map(|booked| booked.event.round).min()?;
    if last == begin {
        return None;
    }
    let loss = entry.losses.iter().find(|loss| loss.standing != LossStanding::Claim)?;
    let delta = Delta::new(loss.delta).ok()?;
    let mut rounds: Vec<u64> = (0..=PLACES).map(|k| begin + (last - begin) * k / PLACES).collect();
    rounds.dedup();
    let all = accounting::all();
    let of = |name: &str| all.into_iter().find(|accountant| accountant.name() == name);
    let price = |accountant: Option<&'static dyn Accountant>, round: u64| {
        let composition = Composition::of_events(until(group, round));
        Some(accountant?.price(&composition, delta).one_after_another().epsilon)
    };
    let claimed = |round: u64| {
        let claimed = claims(until(group, round));
        (claimed.claimed > 0).then(|| claimed.epsilon_at(delta))
    };
    let names = ["as published", "tight", "naive (basic)"];
    let mut legend: Vec<String> = Vec::new();
    let curves: [&dyn Fn(u64) -> Option<f64>; 3] =
        [&claimed, &|round| price(of("tight"), round), &|round| price(of("basic"), round)];
    let mut lines: Vec<Line> = Vec::new();
    let mut bounded = false;
    let mut without: Vec<&str> = Vec::new();
    for (name, curve) in names.into_iter().zip(curves) {
        // A loss that has no bound at the end is not worth counting on the way there.
        match curve(last) {
            Some(at_last) if at_last.is_finite() => {
                let points = rounds.iter().filter_map(|&round| {
                    let value = if round == last { at_last } else { curve(round)? };
                    let says = format!("epsilon {}", epsilon(value));
                    value.is_finite().then(|| Point {
                        x: round as f64,
                        y: value,
                        error: 0.0,
                        at: format!("round {round}"),
                        says,
                    })
                });
                lines.push(Line { key: legend.len(), kind: Kind::Band, points: points.collect() });
                legend.push(name.to_owned());
                bounded |= name != names[0];
            }
            Some(_) => without.push(name),
            None => {}
        }
    }
    if !bounded {
        return None;
    }
    let mut note = format!(
        "Counted up to each round of {run}, at delta {}; by the end {}.",
        shown(delta.get()),
        counted(group.iter().map(|booked| booked.count).sum(), "release")
    );
    if !without.is_empty() {
        note.push_str(&format!(" No finite bound: {}.", without.join(", ")));
    }
    if entry.runs_differ {
        note.push_str(" Other runs may cost more: see the table.");
    }
    if units_apart(entry) {
        note.push_str(" Of the worst-off unit.");
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
    })
}

/// The releases up to and including a round. Of releases booked together, only the first and the last round are on
/// record: those between are taken as evenly spread.
fn until(group: &[BookedRelease], round: u64) -> impl Iterator<Item = &PrivacyEvent> {
    group.iter().flat_map(move |booked| {
        let (begin, end) = (booked.event.round, booked.last_round);
        let count = if round < begin {
            0
        } else if round >= end {
            booked.count
        } else {
            1 + (booked.count - 1) * (round - begin) / (end - begin)
        };
        std::iter::repeat_n(&booked.event, count as usize)
    })
}
