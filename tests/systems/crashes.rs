//! Crashes of parties, from the scenario to the report.

use crate::support::run;
use std::fs;
use tempfile::TempDir;

/// A party works .6 s on each call. Its crash from 1 s to 1.1 s drops the repetition of the first call and the second call,
/// which would have been done at 1.2 and 1.8 s. The second call is repeated at 1.12 s and answered at 1.72 s.
#[test]
fn a_party_that_lost_its_memory_is_free_when_it_restarts() {
    let place = TempDir::new().unwrap();
    let text = r#"Scenario(
        name: "crashes", seed: 1,
        parties: {
            "caller": Party(),
            "worker": Party(
                availability: Crashing(up: Constant("1s"), down: Constant("100ms"), memory: Lost),
                compute: Drawn(time: Constant("600ms")),
            ),
        },
        network: Network(topology: Star(hub: "caller")),
        protocol: Echo(caller: "caller", rounds: 2, retry: Retry(timeout: "520ms")),
    )"#;
    let path = place.path().join("crashes.ron");
    fs::write(&path, text).unwrap();
    let document = run(path.to_str().unwrap(), place.path(), &[]);
    let metrics = &document["cells"][0]["series"][0]["metrics"];
    assert_eq!(metrics["virtual_seconds"], 1.72, "{metrics}");
}
