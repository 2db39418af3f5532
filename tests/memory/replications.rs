//! Memory of many replications: the summary is made from sums and a compact row of each, never from all records at the same
//! time.

use crate::{ALONE, counting};
use std::sync::PoisonError;
use subrosa::study::simulate;

/// A replication whose record takes 5 KB in its file and 14 KB in memory, most of them 150 evaluations.
const RANDOM: &str = "Scenario(name: \"random\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), objective: RkhsSum(points: 16),
    protocol: Outsourced(curator: \"a\", modeler: \"b\", rounds: 150,
        series: [Series(name: \"s\", release: Disclosure(), learner: Random())]))";

/// Most bytes in use while a study of this many replications runs and its files are made.
fn most(replications: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let text = RANDOM.replace("seed: 1,", &format!("seed: 1, replications: {replications},"));
    let before = counting::now();
    counting::forget_most();
    simulate(&text, &[], &folder.path().join("run")).unwrap();
    counting::most().saturating_sub(before) as f64
}

#[test]
fn a_further_replication_takes_less_than_a_kilobyte() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Both have more than the 4 MiB of records of a cell that are kept in memory. The first run allocates what later ones
    // use again.
    let _ = most(10);
    let (some, twice) = (most(900), most(1800));
    let each = (twice - some) / 900.0;
    println!("900 replications {:.1} MB, 1,800 {:.1} MB: {each:.0} bytes each", some / 1e6, twice / 1e6);
    // A row of results takes some 250 bytes in a list that may have doubled, and the index of records 100.
    assert!(each < 1000.0, "{each} bytes a replication");
}
