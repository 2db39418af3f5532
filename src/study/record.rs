//! One replication of one cell, as it is kept in a file.

use super::identity::Identity;
use crate::protocols::SeriesRecord;
use serde::{Deserialize, Serialize};

/// One replication of one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplicationRecord {
    /// Identity of the cell, so that a record never serves another one.
    pub identity: String,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Its series, in the scenario's order.
    pub series: Vec<SeriesRecord>,
}

/// One hash for many records: their series' digests in order.
pub fn digest_of<'a>(records: impl Iterator<Item = &'a ReplicationRecord>) -> String {
    let mut identity = Identity::new("digest");
    for record in records {
        identity.word(record.replication);
        for series in &record.series {
            identity.text(&series.name);
            identity.text(&series.digest);
        }
    }
    identity.hex()
}
