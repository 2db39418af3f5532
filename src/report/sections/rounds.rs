//! Numbers by round: tables of some rounds, and charts of all rounds. Also tables of the differences between each series and
//! every reference series that the scenario names (`compared_with`).

use super::cells::{Rows, rows};
use super::lines::{Named, capital, count, grouped, made, named, numbers, slug};
use super::points::Axes;
use crate::report::document::{Block, Figure, Section, Visibility};
use crate::report::number::{quantity_of, regret};
use crate::report::plots::{Axis, Chart, Kind, Line};
use crate::study::{CellSummary, Estimate, SeriesSummary, Summary, TrackPoint, holm};
use crate::vocab::counted;
use std::collections::BTreeSet;

/// The section, with charts if `charts` is true; `None` if no series has numbers by round and no series are compared.
pub(super) fn section(summary: &Summary, charts: bool) -> Option<Section> {
    let mut blocks: Vec<Block> = names(summary).iter().flat_map(|name| table(summary, name)).collect();
    let differences = differences(summary);
    if !differences.is_empty() {
        blocks.extend(differences);
        blocks.push(Block::remark(
            "Differences are taken replication by replication, between series with the same functions and \
             draws. * marks a difference that is significant at 5 %, by Student's t test with Holm's adjustment \
             for the comparisons of its table.",
        ));
    }
    if charts {
        blocks.extend(figures(summary).into_iter().map(Block::Figure));
    }
    (!blocks.is_empty()).then(|| Section::new("rounds", "By round", "By round, and series compared", blocks))
}

/// The section in short for a terminal: the numbers in the last round side by side, then the differences.
pub(super) fn brief(summary: &Summary) -> Option<Section> {
    let names = names(summary);
    let mut blocks = Vec::new();
    if !names.is_empty() {
        let found = rows(summary, |_, series| {
            let last = |name: &String| {
                let track = series.by_round.iter().find(|track| track.name == *name)?;
                track.points.last().map(|point| point.value)
            };
            let found: Vec<Option<Estimate>> = names.iter().map(last).collect();
            let words = found.iter().map(|value| value.map_or_else(String::new, regret)).collect();
            (found, words)
        })
        .filled();
        let told: Vec<&[String]> = found.rows.iter().map(|row| &row[found.heads()..]).collect();
        if told.windows(2).all(|pair| pair[0] == pair[1]) && !told.is_empty() {
            for (name, value) in names.iter().zip(told[0]) {
                blocks.push(Block::statement(
                    format!("{} in the last round: {value}, all series alike", capital(name)),
                    Visibility::Everywhere,
                ));
            }
        } else {
            let remark = found.remark();
            let title = "In the last round (mean ± standard error over replications)";
            blocks.push(Block::Table(found.table(title, names)));
            blocks.extend(remark);
        }
    }
    let differences = differences(summary);
    if !differences.is_empty() {
        blocks.extend(differences);
        blocks.push(Block::remark(
            "Differences are taken replication by replication. * marks a difference that is significant at 5 %, \
             by Student's t test with Holm's adjustment for the comparisons of its table.",
        ));
    }
    (!blocks.is_empty()).then(|| Section { blocks, ..Section::default() })
}

fn names(summary: &Summary) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for track in summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.by_round) {
        if !names.contains(&track.name) {
            names.push(track.name.clone());
        }
    }
    names
}

/// The rounds that a table shows: those at 1/6 and 1/2 of the last round's number, and the last round (10, 30 and 60 of
/// 60). If one of these rounds has no value, the next round with a value is shown instead. No round is shown twice.
fn shown<'a>(points: impl Iterator<Item = &'a TrackPoint>) -> Vec<u64> {
    let known: BTreeSet<u64> = points.map(|point| point.t).collect();
    let last = known.last().copied().unwrap_or(0);
    let mut rounds: Vec<u64> =
        [last / 6, last / 2, last].into_iter().filter_map(|t| known.range(t..).next().copied()).collect();
    rounds.dedup();
    rounds
}

/// The table of some rounds, with a remark.
fn of_rounds(found: Rows, title: String, rounds: &[u64]) -> Vec<Block> {
    let found = found.filled();
    let remark = found.remark();
    let table = found.table(title, rounds.iter().map(|t| format!("round {t}")));
    std::iter::once(Block::Table(table)).chain(remark).collect()
}

fn at(points: &[TrackPoint], t: u64, words: impl Fn(Estimate) -> String) -> String {
    points.iter().find(|point| point.t == t).map_or_else(String::new, |point| words(point.value))
}

fn table(summary: &Summary, name: &str) -> Vec<Block> {
    let all = summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.by_round);
    let rounds = shown(all.filter(|track| track.name == name).flat_map(|track| &track.points));
    let found = rows(summary, |_, series| {
        let track = series.by_round.iter().find(|track| track.name == name);
        let words = |&t: &u64| track.map_or_else(String::new, |track| at(&track.points, t, regret));
        (track.cloned(), rounds.iter().map(words).collect())
    });
    of_rounds(found, format!("{} (mean ± standard error over replications)", capital(name)), &rounds)
}

/// A signed mean with its error, and a mark if the estimate is one of `marked`.
fn signed(estimate: Estimate, marked: &[Estimate]) -> String {
    let sign = if estimate.mean > 0.0 { "+" } else { "" };
    let mark = if marked.contains(&estimate) { " *" } else { "" };
    format!("{sign}{}{mark}", regret(estimate))
}

/// Of the differences `all`, those that are significant at 5 %. Holm's method adjusts the p-values for the number of
/// differences that have a p-value.
fn shown_at_5_percent(all: Vec<Estimate>) -> Vec<Estimate> {
    let told: Vec<(Estimate, f64)> = all.into_iter().filter_map(|one| Some((one, one.p_value()?))).collect();
    let adjusted = holm(&told.iter().map(|(_, p)| *p).collect::<Vec<f64>>());
    told.iter().zip(adjusted).filter(|(_, p)| *p <= 0.05).map(|((one, _), _)| *one).collect()
}

/// A table of differences for each quantity and each series that is subtracted.
fn differences(summary: &Summary) -> Vec<Block> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.differences);
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for row in all() {
        let kind = (row.quantity.as_str(), row.reference.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let table = |(quantity, reference): (&str, &str)| {
        let here = || all().filter(|row| row.quantity == quantity && row.reference == reference);
        let rounds = shown(here().flat_map(|row| &row.points));
        let told = here().flat_map(|row| &row.points).filter(|point| rounds.contains(&point.t));
        let told: Vec<Estimate> = told.map(|point| point.value).collect();
        // Holm's adjustment counts the differences that have a p-value.
        let many = told.iter().filter(|value| value.p_value().is_some()).count();
        let marked = shown_at_5_percent(told);
        let numbers = |cell: &CellSummary, series: &SeriesSummary| {
            let row = cell.differences.iter().find(|row| {
                row.quantity == quantity && row.reference == reference && row.series == series.name
            });
            let words = |&t: &u64| {
                row.map_or_else(String::new, |row| at(&row.points, t, |value| signed(value, &marked)))
            };
            (row.cloned(), rounds.iter().map(words).collect())
        };
        let compared = match many {
            0 => String::new(),
            some => format!(", {}", counted(some as u64, "comparison")),
        };
        let title =
            format!("{} minus that of \"{reference}\" (mean ± standard error{compared})", capital(quantity));
        of_rounds(rows(summary, numbers), title, &rounds)
    };
    kinds.into_iter().flat_map(table).collect()
}

/// Charts of all numbers by round: for each number, one chart for each group of cells.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let axes = Axes::of(summary);
    let all: Vec<usize> = (0..axes.len()).collect();
    let mut figures = Vec::new();
    for name in names(summary) {
        for (place, cells) in grouped(summary, &all, |cells| named(cells, &axes).len()) {
            let told = |(_, series): &Named<'_>| series.by_round.iter().any(|track| track.name == name);
            let lines: Vec<Named<'_>> = named(&cells, &axes).into_iter().filter(told).collect();
            if lines.is_empty() {
                continue;
            }
            let title = match place.is_empty() {
                true => format!("{} by round", capital(&name)),
                false => format!("{} by round, {place}", capital(&name)),
            };
            figures.push(Figure { title, charts: vec![chart(&name, &place, &lines)] });
        }
    }
    figures
}

fn chart(name: &str, place: &str, lines: &[Named<'_>]) -> Chart {
    let points = |series: &SeriesSummary| {
        let track = series.by_round.iter().filter(|track| track.name == name);
        let points = track.flat_map(|track| &track.points);
        points.map(|point| made(point.t as f64, point.value, format!("round {}", point.t))).collect()
    };
    let drawn: Vec<Line> = lines
        .iter()
        .enumerate()
        .map(|(key, (_, series))| Line { key, kind: Kind::Band, points: points(series) })
        .collect();
    let all = || lines.iter().flat_map(|(_, series)| &series.by_round).filter(|track| track.name == name);
    let counts = || all().flat_map(|track| &track.points).map(|point| point.value.n);
    let rounds = all().flat_map(|track| &track.points).map(|point| point.t);
    let lowest = numbers(&drawn).map(|(value, _)| value).fold(f64::INFINITY, f64::min);
    Chart {
        id: slug(&format!("{name} {place}")),
        title: capital(name),
        x_label: "round".to_owned(),
        y_label: name.to_owned(),
        x: Axis::counting(rounds),
        y: if lowest > 0.0 { Axis::fit(numbers(&drawn)) } else { Axis::plain(numbers(&drawn)) },
        legend: lines.iter().map(|(name, _)| name.clone()).collect(),
        lines: drawn,
        note: format!(
            "Line: mean over replications. Band: one standard error to either side, {}; smallest mean {}.",
            count((counts().min(), counts().max())),
            quantity_of(lowest)
        ),
        beyond: Vec::new(),
        caption: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference of 2.5 standard errors at 30 replications (p = .018) is marked if it is alone. It is not marked
    /// beside two others that are no further from 0. Beside a difference of ten standard errors and one near 0, it is
    /// marked, because Holm's method then compares its p-value with 5 % / 2.
    #[test]
    fn a_mark_depends_on_the_number_of_comparisons() {
        let of = |errors: f64| Estimate { mean: errors * 0.1, se: 0.1, n: 30 };
        assert_eq!(shown_at_5_percent(vec![of(2.5)]), [of(2.5)]);
        assert!(shown_at_5_percent(vec![of(2.5), of(2.4), of(-2.3)]).is_empty());
        assert_eq!(shown_at_5_percent(vec![of(0.1), of(2.5), of(-10.0)]), [of(2.5), of(-10.0)]);
        assert_eq!(
            (signed(of(2.5), &[of(2.5)]).as_str(), signed(of(1.0), &[]).as_str()),
            ("+0.25 ± 0.10 *", "+0.10 ± 0.10")
        );
    }
}
