//! The tables of a run folder, written cell by cell.

use crate::protocols::SeriesRecord;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::{FileError, Staged};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::results::summary::Summary;
use std::collections::BTreeMap;
use std::fmt::Display;

/// A CSV file that is being written.
#[derive(Debug)]
pub(in crate::study) struct Table {
    rows: csv::Writer<Vec<u8>>,
    file: Staged,
}

impl Table {
    pub(in crate::study) fn new(file: Staged, header: &[&str]) -> Self {
        let mut rows = csv::Writer::from_writer(Vec::new());
        rows.write_record(header).expect("writing to memory does not fail");
        Self { rows, file }
    }

    pub(in crate::study) fn row(&mut self, cells: &[&dyn Display]) {
        let cells = cells.iter().map(|cell| cell.to_string());
        self.rows.write_record(cells).expect("a row has as many cells as the header");
    }

    /// Writes the rows so far to the file.
    pub(in crate::study) fn flush(&mut self) -> Result<(), FileError> {
        let rows = std::mem::replace(&mut self.rows, csv::Writer::from_writer(Vec::new()));
        self.file.write(&rows.into_inner().expect("writing to memory does not fail"))
    }

    pub(in crate::study) fn commit(mut self) -> Result<(), FileError> {
        self.flush()?;
        self.file.commit()
    }
}

/// The line of `digest.txt` for one series of one replication.
pub(in crate::study) fn digest_line(
    cell: usize,
    record: &ReplicationRecord,
    series: &SeriesRecord,
) -> String {
    format!("{} {cell} {} {}\n", series.digest, record.replication, series.name)
}

/// `iterations.csv`, `ledger.csv`, `network.csv` and `digest.txt` of a study.
#[derive(Debug)]
pub(in crate::study) struct Tables {
    iterations: Table,
    ledger: Table,
    network: Table,
    digests: Staged,
}

impl Tables {
    pub(in crate::study) fn new(folder: &RunFolder) -> Result<Self, FolderError> {
        let table = |name: &str, header: &[&str]| folder.stage(name).map(|file| Table::new(file, header));
        Ok(Self {
            iterations: table("iterations.csv", ITERATIONS)?,
            ledger: table("ledger.csv", LEDGER)?,
            network: table("network.csv", NETWORK)?,
            digests: folder.stage("digest.txt")?,
        })
    }

    /// Adds the records of one cell.
    pub(in crate::study) fn add(
        &mut self,
        cell: usize,
        records: &BTreeMap<u64, ReplicationRecord>,
    ) -> Result<(), FolderError> {
        for record in records.values() {
            self.iterations(cell, record);
            self.ledger(cell, record);
            self.network(cell, record);
            for series in &record.series {
                self.digests.write(digest_line(cell, record, series).as_bytes())?;
            }
        }
        self.iterations.flush()?;
        self.ledger.flush()?;
        Ok(self.network.flush()?)
    }

    /// Completes all files.
    pub(in crate::study) fn commit(self) -> Result<(), FolderError> {
        self.iterations.commit()?;
        self.ledger.commit()?;
        self.network.commit()?;
        Ok(self.digests.commit()?)
    }

    fn iterations(&mut self, cell: usize, record: &ReplicationRecord) {
        for series in &record.series {
            for i in &series.iterations {
                self.iterations.row(&[
                    &cell,
                    &record.replication,
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

    fn ledger(&mut self, cell: usize, record: &ReplicationRecord) {
        let json = |value: &dyn erased::Json| value.json();
        for series in &record.series {
            for booked in &series.releases {
                let event = &booked.event;
                self.ledger.row(&[
                    &cell,
                    &record.replication,
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

    fn network(&mut self, cell: usize, record: &ReplicationRecord) {
        let quantile = |value: Option<f64>| value.map_or_else(String::new, |seconds| seconds.to_string());
        for series in &record.series {
            for (from, to, link) in &series.network.links {
                self.network.row(&[
                    &cell,
                    &record.replication,
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
}

const ITERATIONS: &[&str] = &[
    "cell",
    "replication",
    "series",
    "t",
    "arm",
    "outcome",
    "value",
    "simple_regret",
    "cumulative_regret",
    "seconds",
];

const LEDGER: &[&str] = &[
    "cell",
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
];

const NETWORK: &[&str] = &[
    "cell",
    "replication",
    "series",
    "from",
    "to",
    "delivered",
    "lost",
    "latency_p50_seconds",
    "latency_p99_seconds",
];

/// Plain data of any type as compact JSON.
mod erased {
    pub(in crate::study) trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("plain data with text keys")
        }
    }
}

/// Writes `summary.csv`: one line per cell, series and metric.
pub(in crate::study) fn summary(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    let header = ["cell", "point", "series", "metric", "mean", "se", "n"];
    let mut table = Table::new(folder.stage("summary.csv")?, &header);
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
    Ok(table.commit()?)
}
