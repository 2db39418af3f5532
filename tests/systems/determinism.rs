//! The digests that docs/determinism.md states: CI computes them on every platform that it has.

use crate::support::{root, run};
use std::fs;
use tempfile::TempDir;

/// The rows of the table of whole runs: scenario, options, first characters of the digest.
fn rows(page: &str) -> Vec<[&str; 3]> {
    let table = page.lines().skip_while(|line| !line.starts_with("| scenario | options |")).skip(2);
    table
        .map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            cells.try_into().unwrap_or_else(|_| panic!("three columns: {line}"))
        })
        .collect()
}

#[test]
fn one_run_of_each_system_has_the_stated_digest() {
    let page = fs::read_to_string(root().join("docs/determinism.md")).unwrap();
    let rows = rows(&page);
    let (mut systems, mut found) = (Vec::new(), Vec::new());
    for [scenario, options, digest] in &rows {
        assert_eq!(digest.len(), 8, "{digest}");
        let out = TempDir::new().unwrap();
        let mut more = vec!["--threads", "1", "--replications", "1"];
        more.extend(options.split_whitespace());
        let document = run(scenario, out.path(), &more);
        found.push([*scenario, *options, &document["digest"].as_str().unwrap()[..8]].map(str::to_owned));
        let text = fs::read_to_string(root().join(scenario)).unwrap();
        systems.extend(
            ["Outsourced(", "Local(", "Federated(", "Release("]
                .into_iter()
                .filter(|system| text.contains(&format!("protocol: {system}"))),
        );
    }
    assert_eq!(found, rows.iter().map(|row| row.map(str::to_owned)).collect::<Vec<_>>());
    systems.sort_unstable();
    assert_eq!(systems, ["Federated(", "Local(", "Outsourced(", "Release("]);
}
