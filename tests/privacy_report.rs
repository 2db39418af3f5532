//! What a report says of privacy is true of every run of the study, not of one of them.

mod support;

use std::fs;
use subrosa::privacy::accountants::{Accountant, Composition, Tight};
use subrosa::vocab::{Cost, Delta};
use support::{folder, run, subrosa, told};
use tempfile::TempDir;

/// Twenty phones, of whose answers one in five is lost; the noise is divided by how many arrive.
const SCENARIO: &str = r#"Scenario(
    name: "arrivals",
    about: "Runs that cost differently.",
    seed: 1,
    replications: 3,
    parties: { "server": Party(), "phone": Party(count: 20) },
    network: Network(
        topology: Star(hub: "server"),
        default: Link(latency: Constant("50ms"), loss: Independent(0.2)),
    ),
    objective: GpSample(grid: [30], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-5),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "phone")], rounds: 3, initial_points: 2, features: 5,
        series: [
            Series(
                name: "arrived",
                sharing: Aggregate(
                    clip: 11, noise_multiplier: 1, participation: Poisson(0.25), weights: Uniform(), divisor: Arrived,
                ),
                policy: Deadline(after: "2s"),
            ),
        ],
    ),
)
"#;

#[test]
fn the_costliest_run_is_reported() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("arrivals.ron");
    fs::write(&path, SCENARIO).unwrap();
    let document = run(path.to_str().unwrap(), place.path(), &[]);
    // The other way: what the ledger has of each run, priced by itself.
    let mut ledger = csv::Reader::from_path(folder(&document).join("ledger.csv")).unwrap();
    let header = ledger.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut runs = vec![Composition::new(); 3];
    for row in ledger.records() {
        let row = row.unwrap();
        if &row[column("observer")] == "every agent" {
            let cost: Cost = serde_json::from_str(&row[column("cost")]).unwrap();
            runs[row[column("replication")].parse::<usize>().unwrap()].add(&cost, 1);
        }
    }
    let delta = Delta::new(1e-5).unwrap();
    let each: Vec<f64> = runs.iter().map(|run| Tight.price(run, delta).epsilon).collect();
    let largest = each.iter().copied().fold(0.0, f64::max);
    assert!(each.iter().any(|&epsilon| epsilon < 0.95 * largest), "runs differ: {each:?}");
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
    let losses = row["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    assert_eq!(tight["epsilon"].as_f64().unwrap(), largest, "{each:?}");
    assert_eq!(row["runs_differ"], true);
    let (_, text, _) = told(&subrosa(&["report", folder(&document).to_str().unwrap()]));
    assert!(text.contains("runs differ: each figure is that of the run where it is largest"), "{text}");
}

#[test]
fn a_budget_for_what_is_never_released_is_refused() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("budget.ron");
    for (unit, code) in [("Record", 3), ("Agent", 0)] {
        let budget = format!("delta: 1e-5, budget: Budget(epsilon: 0.5, delta: 1e-5, unit: {unit})");
        fs::write(&path, SCENARIO.replace("delta: 1e-5", &budget)).unwrap();
        let (found, _, stderr) = told(&subrosa(&["check", path.to_str().unwrap()]));
        assert_eq!(found, code, "{unit}: {stderr}");
        if code == 3 {
            for words in ["budget.ron:12:", "privacy.budget.unit", "expected Agent", "found Record"] {
                assert!(stderr.contains(words), "no {words:?} in {stderr}");
            }
        }
    }
}
