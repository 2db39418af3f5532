//! Charts of the network of one replication: latencies of messages, and answers by the close of each round.

use super::lines::{capital, slug};
use crate::protocols::SeriesRecord;
use crate::report::document::Figure;
use crate::report::number::seconds;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::ReplicationRecord;

/// The shares of messages for which the latency is shown.
const SHARES: [f64; 19] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.99, 0.999, 1.0];
/// Largest number of charts of rounds; series with the same closings of rounds share a chart.
const MAX_SERIES: usize = 4;

/// A chart of the share of messages that took at most a given time; series with the same latencies share a line.
pub(super) fn latency(first: &ReplicationRecord, of: &str) -> Option<Figure> {
    let mut lines: Vec<Line> = Vec::new();
    let mut legend: Vec<Vec<&str>> = Vec::new();
    for series in &first.series {
        let total = series.network.total();
        let at = |share: f64| total.latency_seconds(share).map(|time| (share, time));
        let points = SHARES.iter().filter_map(|share| at(*share)).map(|(share, time)| Point {
            x: time,
            y: 100.0 * share,
            error: 0.0,
            at: seconds(time),
            says: format!("{} % of the messages took at most this long", 100.0 * share),
        });
        let points: Vec<Point> = points.collect();
        if points.len() < 2 {
            continue;
        }
        match lines.iter().position(|line| line.points == points) {
            Some(known) => legend[known].push(&series.name),
            None => {
                lines.push(Line { key: lines.len(), kind: Kind::Band, points });
                legend.push(vec![&series.name]);
            }
        }
    }
    let times = || lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if lines.is_empty() || most <= least {
        return None;
    }
    let name = |names: &Vec<&str>| match names.len() {
        n if n > 1 && n == first.series.len() => "every series".to_owned(),
        1 | 2 => names.join(", "),
        n => format!("{} and {} more", names[0], n - 1),
    };
    let chart = Chart {
        id: "latency".to_owned(),
        title: format!("How long messages took, {of}"),
        x_label: "seconds over one link".to_owned(),
        y_label: "% of messages".to_owned(),
        x: Axis::fit(times().filter(|time| *time > 0.0).map(|time| (time, 0.0))),
        y: Axis::plain([(0.0, 0.0), (100.0, 0.0)]),
        legend: legend.iter().map(name).collect(),
        lines,
        note: "Vertical: per cent of the messages that took at most the time on the horizontal axis. Lost messages are not counted."
            .to_owned(),
        beyond: Vec::new(),
        caption: String::new(),
    };
    Some(Figure { title: format!("How long messages took, {of}"), charts: vec![chart] })
}

/// For protocols that ask many parties: over virtual time, the numbers of parties that had answered, and that had not
/// answered, when each round was closed, and the number of late answers.
pub(super) fn closings(first: &ReplicationRecord, of: &str) -> Option<Figure> {
    // Series with the same closings of rounds share a chart.
    let mut shown: Vec<(&SeriesRecord, usize)> = Vec::new();
    for series in first.series.iter().filter(|series| series.closings.len() > 1) {
        match shown.iter_mut().find(|(known, _)| known.closings == series.closings) {
            Some((_, more)) => *more += 1,
            None => shown.push((series, 0)),
        }
    }
    let legend = ["in time", "missing", "late, to an earlier round"];
    let charts = shown.iter().take(MAX_SERIES).map(|(series, more)| {
        let counts = |key: usize| {
            let points = series.closings.iter().map(|closing| {
                let count = [closing.in_time, closing.missing, closing.late][key];
                Point {
                    x: closing.seconds,
                    y: count as f64,
                    error: 0.0,
                    at: format!("round {}, closed after {}", closing.round, seconds(closing.seconds)),
                    says: count.to_string(),
                }
            });
            Line { key, kind: Kind::Band, points: points.collect() }
        };
        let lines: Vec<Line> = (0..legend.len()).map(counts).collect();
        let all = || lines.iter().flat_map(|line| &line.points);
        Chart {
            id: slug(&format!("closings {}", series.name)),
            title: match more {
                0 => series.name.clone(),
                more => format!("{} and {more} series with the same values", series.name),
            },
            x_label: "virtual time in seconds".to_owned(),
            y_label: "agents".to_owned(),
            x: Axis::plain(all().map(|point| (point.x, 0.0))),
            y: Axis::plain(all().map(|point| (point.y, 0.0)).chain([(0.0, 0.0)])),
            legend: legend.map(str::to_owned).to_vec(),
            lines: lines.clone(),
            note: format!(
                "{}; one point per round, when it was closed.{}",
                capital(of),
                if shown.len() > MAX_SERIES {
                    " Only the charts of the first four series that differ are drawn."
                } else {
                    ""
                }
            ),
            beyond: Vec::new(),
            caption: String::new(),
        }
    });
    let charts: Vec<Chart> = charts.collect();
    let title = format!("Rounds: who had answered in time, who was late, who was missing; {of}");
    (!charts.is_empty()).then_some(Figure { title, charts })
}
