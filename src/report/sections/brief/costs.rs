//! The costs of a run, one line per series: ranges over the cells of a study; series with the same costs share a line.

use crate::report::document::{Block, Section, Table};
use crate::report::number::{quantity, quantity_within, seconds, seconds_within};
use crate::report::sections::cells::by_series;
use crate::study::{Metrics, SeriesSummary, Summary};

/// Largest number of characters of a list of series in one line.
const MAX_NAMES: usize = 30;

/// The section.
pub(super) fn section(summary: &Summary) -> Section {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series);
    let rounds = all().any(|series| !series.groups.is_empty() && series.metrics.seconds_per_round.is_some());
    let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for group in by_series(summary) {
        let series: Vec<&SeriesSummary> = group.iter().map(|(_, series)| *series).collect();
        let of = |mean: fn(&Metrics) -> Option<f64>, error: fn(&Metrics) -> f64, time: bool| {
            let found = series.iter().filter_map(|s| Some((mean(&s.metrics)?, error(&s.metrics))));
            range(&found.collect::<Vec<_>>(), time)
        };
        let mut numbers = vec![of(|m| Some(m.virtual_seconds), |m| m.errors.virtual_seconds, true)];
        if rounds {
            let error = |m: &Metrics| m.seconds_per_round.map_or(0.0, |time| time.se);
            numbers.push(of(|m| Some(m.seconds_per_round?.mean), error, true));
        }
        numbers.push(of(|m| Some(m.messages), |m| m.errors.messages, false));
        numbers.push(of(|m| Some(m.bytes), |m| m.errors.bytes, false));
        numbers.push(of(|m| Some(m.messages_lost), |m| m.errors.messages_lost, false));
        numbers.push(of(|m| m.latency_p99_seconds, |_| 0.0, true));
        let name = group[0].1.name.clone();
        match rows.iter_mut().find(|(_, known)| *known == numbers) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], numbers)),
        }
    }
    let count = by_series(summary).len();
    let body = rows.into_iter().map(|(names, numbers)| {
        let one = names.join(", ");
        let name = match names.len() {
            n if n > 1 && n == count => "every series".to_owned(),
            n if n > 1 && one.chars().count() > MAX_NAMES => format!("{} and {} more", names[0], n - 1),
            _ => one,
        };
        [vec![name], numbers].concat()
    });
    let mut header = vec!["series", "time"];
    header.extend(rounds.then_some("a round"));
    header.extend(["messages", "bytes", "lost", "p99"]);
    let over = if summary.cells.len() > 1 { ", over all cells" } else { "" };
    let title = format!("Network (mean ± standard error{over}; virtual time; p99: latency of a message)");
    let header = header.into_iter().map(str::to_owned).collect();
    let table = Table::new(title, header, body.collect(), 1);
    Section { blocks: vec![Block::Table(table)], ..Section::default() }
}

/// The range of some means, with the largest of their standard errors; if all means are equal, this mean with that error.
fn range(found: &[(f64, f64)], time: bool) -> String {
    let least = found.iter().copied().reduce(|a, b| if b.0 < a.0 { b } else { a });
    let most = found.iter().copied().reduce(|a, b| if b.0 > a.0 { b } else { a });
    let (Some(least), Some(most)) = (least, most) else { return String::new() };
    let error = found.iter().map(|(_, error)| *error).fold(0.0, f64::max);
    let (low, high) = if time {
        (seconds(least.0), seconds_within(most.0, error))
    } else {
        (quantity(least.0), quantity_within(most.0, error))
    };
    if least.0.to_bits() == most.0.to_bits() {
        return high;
    }
    // A unit that both ends have is written once.
    match (low.split_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}
