//! DP-FTS-DE and its relatives through the public door: prices under dropouts, learning, fairness, determinism.

mod support;

use serde_json::Value;
use support::{metric, run};
use tempfile::TempDir;

fn losses(document: &Value, series: &str, accountant: &str) -> f64 {
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["series"] == series && row["observer"] == "every agent")
        .unwrap_or_else(|| panic!("no row for {series}"));
    let loss =
        row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == accountant).unwrap();
    loss["epsilon"].as_f64().unwrap_or(f64::INFINITY)
}

/// Every row of the dropout table is a series: naive code reports 9.91 for each of them, and the truth is printed beside
/// it (values of `accounting.md`, by the same accountant).
#[test]
fn each_way_to_treat_dropouts_has_its_price() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "objective.grid=[60]", "-o", "protocol.features=10"];
    let document = run("scenarios/federated.ron", out.path(), &more);
    for (series, truth) in [
        ("as planned", 9.91),
        ("late on top", 64.6),
        ("late replaces", 17.2),
        ("keeps the last", 9.91),
        ("first to arrive", 12.0),
        ("visible", 45.8),
    ] {
        let (found, naive) =
            (losses(&document, series, "moments"), losses(&document, series, "as published"));
        assert!((found / truth - 1.0).abs() < 0.01, "{series}: {found} for {truth}");
        let claimed = if series == "first to arrive" { 12.0 } else { 9.91 };
        assert!((naive / claimed - 1.0).abs() < 0.01, "{series}: {naive}");
        assert!(losses(&document, series, "tight") < found, "{series}");
    }
    // About a quarter of the agents is missing at any time: more than planned, less than 19.8 at 30 %.
    let divided = losses(&document, "divides by arrivals", "moments");
    assert!((11.0..30.0).contains(&divided), "{divided}");
    assert!(losses(&document, "fixed size", "moments").is_infinite(), "analysed for Poisson sampling only");
    assert!(losses(&document, "fixed size", "tight") > losses(&document, "as planned", "tight"));
    // The server is trusted and sees everything: the report says so.
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let server = rows.iter().find(|row| row["observer"] == "server").unwrap();
    assert!(server["losses"].as_array().unwrap().iter().all(|loss| loss["basis"] == "unprotected"));
    // Both groups are reported, and slow phones measure less often.
    let groups = document["cells"][0]["series"][0]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert!(groups[1]["evaluations"].as_f64() < groups[0]["evaluations"].as_f64(), "{groups:?}");
}

/// Sharing helps agents that are alike: after ten rounds every way of sharing without noise beats plain Thompson
/// sampling by far. The shared reference has .098 for TS, .038 for FTS, .031 and .023 for FTS-DE with 2 and 4 regions,
/// and .041 for DP-FTS-DE; 200 agents, two functions.
#[test]
fn sharing_helps_agents_that_are_alike() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "2", "-o", "protocol.rounds=10"];
    let document = run("scenarios/papers/dp-fts-de/synthetic.ron", out.path(), &more);
    let alone = metric(&document, 0, "TS", "simple_regret").0;
    for series in ["FTS", "FTS by server", "FTS-DE, P=2", "FTS-DE, P=4", "DP-FTS-DE, P=2, q=.5"] {
        let regret = metric(&document, 0, series, "simple_regret").0;
        assert!(regret < 0.75 * alone, "{series}: {regret}, alone {alone}");
    }
}

/// The same bits whatever the number of threads, with late answers and losses.
#[test]
fn a_federation_in_trouble_is_replayed() {
    let out = TempDir::new().unwrap();
    let digest = |threads: &str| {
        let place = out.path().join(threads);
        run("tests/golden/federated.ron", &place, &["--threads", threads])["digest"].clone()
    };
    assert_eq!(digest("1"), digest("2"));
}

/// The page draws what naive code would book over the rounds, and not a claim of nothing.
#[test]
fn the_page_draws_the_published_loss() {
    let out = TempDir::new().unwrap();
    let document = run("tests/golden/federated.ron", out.path(), &[]);
    let page = support::folder(&document).join("report.html");
    let page = std::fs::read_to_string(page).unwrap();
    let published = losses(&document, "DP-FTS-DE", "as published");
    assert!(published > 0.5, "{published}");
    assert!(page.contains(&format!("epsilon {published:.4}")), "no point at {published:.4}");
}
