//! A chart of the rounds of one replication over virtual time.

use super::lines::stride;
use crate::protocols::SeriesRecord;
use crate::report::document::Figure;
use crate::report::number::seconds as duration;
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::ReplicationRecord;

/// Ratio of the end times of the slowest and the fastest series above which the time axis may be logarithmic.
const SPEEDS: f64 = 8.0;

/// Each round with a virtual time in seconds. If the series has several closings, this is the time at which the round
/// was closed; otherwise it is the latest time of a measurement up to this round. Times never fall, although a slow
/// agent may measure an early round after other agents have measured a later one.
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

/// Rounds over virtual time in one replication; `None` if no time passed.
pub(super) fn timeline(first: &ReplicationRecord, name: &str) -> Option<Figure> {
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
                at: duration(*seconds),
                says: format!("round {t}"),
            });
            Line { key, kind: Kind::Band, points: points.collect() }
        })
        .collect();
    let rounds = first.series.iter().flat_map(moments).map(|(t, _)| t);
    let times = || lines.iter().flat_map(|line: &Line| &line.points).map(|point| (point.x, 0.0));
    let chart = Chart {
        id: "rounds-over-time".to_owned(),
        title: format!("Rounds over virtual time, {name}"),
        x_label: format!("virtual time in {unit}"),
        y_label: "round".to_owned(),
        // On a linear axis, a series that is much faster than another would be a vertical line at the edge.
        x: if end > SPEEDS * least {
            Axis::fit(times().filter(|(x, _)| *x > 0.0))
        } else {
            Axis::plain([(0.0, 0.0), (end / size, 0.0)])
        },
        y: Axis::counting(rounds),
        legend: first.series.iter().map(|series| series.name.clone()).collect(),
        lines,
        note:
            "Each point shows the time at which a round's outcome was measured or, where the server asks many parties, at \
               which it closed the round. A flat stretch is a \
               wait: for a slow message, for a lost message that is sent again, or for a party that is offline. All \
               series have the same network, so their lines may coincide."
                .to_owned(),
        beyond: Vec::new(),
        caption: String::new(),
    };
    Some(Figure { title: format!("Rounds over virtual time, {name}"), charts: vec![chart] })
}
