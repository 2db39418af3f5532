//! One replication of one cell, as stored in a file.

use crate::protocols::SeriesRecord;
use crate::study::plan::identity::Identity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One replication of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplicationRecord {
    /// Identity of the cell. A record is used only for cells with this identity.
    pub identity: String,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// The series of the replication, in the scenario's order.
    pub series: Vec<SeriesRecord>,
}

/// The records of a study: one map per cell, by number of the replication.
pub type Records = Vec<BTreeMap<u64, ReplicationRecord>>;

/// One hash for many records: the hash of their replication numbers and of the names and digests of their series, in order.
#[derive(Debug)]
pub(in crate::study) struct Digest(Identity);

impl Digest {
    pub(in crate::study) fn new() -> Self {
        Self(Identity::new("digest"))
    }

    pub(in crate::study) fn add(&mut self, record: &ReplicationRecord) {
        self.0.word(record.replication);
        for series in &record.series {
            self.0.text(&series.name);
            self.0.text(&series.digest);
        }
    }

    pub(in crate::study) fn hex(&self) -> String {
        self.0.hex()
    }
}

/// A replication that failed, as a worker of a study stores it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::study) struct FailureRecord {
    /// Identity of the cell.
    pub(in crate::study) identity: String,
    /// Number of the replication.
    pub(in crate::study) replication: u64,
    /// The reason.
    pub(in crate::study) failure: String,
}
