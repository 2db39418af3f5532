//! The CSV files of a run folder, for whoever analyses further.

use super::files::{self, FileError};
use super::folder::{FolderError, RunFolder};
use super::record::ReplicationRecord;
use super::summary::Summary;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

/// Writes `iterations.csv`, `ledger.csv`, `network.csv` and `digest.txt` of one cell.
pub(super) fn write(
    folder: &RunFolder,
    cell: usize,
    records: &BTreeMap<u64, ReplicationRecord>,
) -> Result<(), FolderError> {
    let place = folder.cell(cell);
    let put = |name: &str, text: String| -> Result<(), FileError> {
        write_if_changed(&place.join(name), text.as_bytes())
    };
    put("iterations.csv", iterations(records))?;
    put("ledger.csv", ledger(records))?;
    put("network.csv", network(records))?;
    put("digest.txt", digests(records))?;
    Ok(())
}

/// A resumed run with nothing left to do leaves the files alone.
fn write_if_changed(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    if std::fs::read(path).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    files::write(path, contents)
}

struct Table(csv::Writer<Vec<u8>>);

impl Table {
    fn new(header: &[&str]) -> Self {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(header).expect("writing to memory does not fail");
        Self(writer)
    }

    fn row(&mut self, cells: &[&dyn Display]) {
        let cells = cells.iter().map(|cell| cell.to_string());
        self.0.write_record(cells).expect("a row has as many cells as the header");
    }

    fn text(self) -> String {
        let bytes = self.0.into_inner().expect("writing to memory does not fail");
        String::from_utf8(bytes).expect("all cells are text")
    }
}

fn iterations(records: &BTreeMap<u64, ReplicationRecord>) -> String {
    let mut table = Table::new(&[
        "replication",
        "series",
        "t",
        "arm",
        "outcome",
        "value",
        "simple_regret",
        "cumulative_regret",
        "seconds",
    ]);
    for (replication, record) in records {
        for series in &record.series {
            for i in &series.iterations {
                table.row(&[
                    replication,
                    &series.name,
                    &i.t,
                    &i.arm,
                    &i.outcome,
                    &i.value,
                    &i.simple_regret,
                    &i.cumulative_regret,
                    &i.seconds,
                ]);
            }
        }
    }
    table.text()
}

fn ledger(records: &BTreeMap<u64, ReplicationRecord>) -> String {
    let mut table = Table::new(&[
        "replication",
        "series",
        "released",
        "mechanism",
        "protected",
        "unit",
        "neighbours",
        "observer",
        "first_round",
        "last_round",
        "first_seconds",
        "last_seconds",
        "releases",
        "sampler",
        "sensitivity",
        "cost",
        "claim",
        "basis",
        "arithmetic",
    ]);
    let json = |value: &dyn erased::Json| value.json();
    for (replication, record) in records {
        for series in &record.series {
            for booked in &series.releases {
                let event = &booked.event;
                table.row(&[
                    replication,
                    &series.name,
                    &event.released,
                    &event.mechanism,
                    &event.protected,
                    &json(&event.unit),
                    &json(&event.neighbours),
                    &event.observer.0,
                    &event.round,
                    &booked.last_round,
                    &booked.first_seconds,
                    &booked.last_seconds,
                    &booked.count,
                    &json(&event.sampler),
                    &event.sensitivity.map_or_else(String::new, |value| value.to_string()),
                    &json(&event.cost),
                    &event.claim.as_ref().map_or_else(String::new, |claim| json(claim)),
                    &json(&event.basis),
                    &json(&event.arithmetic),
                ]);
            }
        }
    }
    table.text()
}

/// Plain data of any type as compact JSON.
mod erased {
    pub(super) trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("plain data with text keys")
        }
    }
}

fn network(records: &BTreeMap<u64, ReplicationRecord>) -> String {
    let mut table = Table::new(&[
        "replication",
        "series",
        "from",
        "to",
        "delivered",
        "lost",
        "latency_p50_seconds",
        "latency_p99_seconds",
    ]);
    let quantile = |value: Option<f64>| value.map_or_else(String::new, |seconds| seconds.to_string());
    for (replication, record) in records {
        for series in &record.series {
            for (from, to, link) in &series.network.links {
                table.row(&[
                    replication,
                    &series.name,
                    from,
                    to,
                    &link.delivered(),
                    &link.losses(),
                    &quantile(link.latency_seconds(0.5)),
                    &quantile(link.latency_seconds(0.99)),
                ]);
            }
        }
    }
    table.text()
}

fn digests(records: &BTreeMap<u64, ReplicationRecord>) -> String {
    let mut text = String::new();
    for (replication, record) in records {
        for series in &record.series {
            text.push_str(&format!("{} {replication} {}\n", series.digest, series.name));
        }
    }
    text
}

/// `summary.csv`: one line per cell, series and metric.
pub(super) fn summary(summary: &Summary) -> String {
    let mut table = Table::new(&["cell", "point", "series", "metric", "mean", "se", "n"]);
    for (index, cell) in summary.cells.iter().enumerate() {
        let point = serde_json::Value::Object(cell.point.clone()).to_string();
        for series in &cell.series {
            let metrics = &series.metrics;
            let mut row = |metric: &str, mean: f64, se: &dyn Display, n: u64| {
                table.row(&[&index, &point, &series.name, &metric, &mean, se, &n]);
            };
            for (name, estimate) in
                [("simple_regret", metrics.simple_regret), ("cumulative_regret", metrics.cumulative_regret)]
            {
                if let Some(estimate) = estimate {
                    row(name, estimate.mean, &estimate.se, estimate.n);
                }
            }
            for outcome in &series.outcomes {
                row(&outcome.name, outcome.value.mean, &outcome.value.se, outcome.value.n);
                if let Some(bound) = &outcome.bound {
                    let n = outcome.value.n;
                    row(&format!("bound on {}", outcome.name), bound.at_most, &"", n);
                    row(
                        &format!("probability that the bound on {} holds", outcome.name),
                        bound.probability,
                        &"",
                        n,
                    );
                    row(&format!("share of runs within the bound on {}", outcome.name), bound.held, &"", n);
                }
            }
            for (name, mean) in [
                ("virtual_seconds", Some(metrics.virtual_seconds)),
                ("messages", Some(metrics.messages)),
                ("bytes", Some(metrics.bytes)),
                ("messages_lost", Some(metrics.messages_lost)),
                ("latency_p50_seconds", metrics.latency_p50_seconds),
                ("latency_p99_seconds", metrics.latency_p99_seconds),
            ] {
                if let Some(mean) = mean {
                    row(name, mean, &"", series.replications);
                }
            }
        }
    }
    table.text()
}
