//! Audits of sums over what is common: the attacked sums have the weights, and so the price, of those of the run.

use crate::support::{code_and_output, run, subrosa};
use serde_json::Value;
use tempfile::TempDir;

/// Six agents with halves of a domain of two regions; all answer.
fn scenario(sharing: &str) -> String {
    format!(
        r#"Scenario(
    name: "common",
    seed: 3,
    replications: 1,
    parties: {{ "server": Party(), "agent": Party(count: 6) }},
    network: Network(topology: Star(hub: "server")),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-3),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "agent", differences: Differences(domain: Box(0.5)))],
        rounds: 6, initial_points: 2, features: 4,
        series: [Series(
            name: "sums",
            sharing: Aggregate(
                regions: 2, clip: 11, noise_multiplier: 1, participation: Poisson(0.4), sensitivity: TighterLoss, {sharing}
            ),
        )],
    ),
)
"#
    )
}

/// The epsilon of the run, by the ledger, and the finding of an audit.
fn run_and_audited(sharing: &str) -> (f64, Value) {
    let place = TempDir::new().unwrap();
    let path = place.path().join("common.ron");
    std::fs::write(&path, scenario(sharing)).unwrap();
    let path = path.to_str().unwrap();
    let document = run(path, place.path(), &[]);
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
    let losses = row["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["audit", path, "--trials", "4000", "--format", "json"]));
    assert_eq!(code, 0, "{stderr}");
    let audit: Value = serde_json::from_str(&stdout).unwrap();
    let findings = audit["findings"].as_array().unwrap();
    let finding =
        findings.iter().find(|finding| finding["observer"] == "every agent").unwrap_or(&findings[0]);
    (tight["epsilon"].as_f64().unwrap(), finding.clone())
}

/// Weights differ between agents and regions, so that the ledger's loss is not that of the whole domain; the auditor attacks
/// just these sums, finds part of the loss, and refutes nothing. With masks too, where agents weight their own vectors.
#[test]
fn sums_over_covered_regions_are_attacked_at_their_price() {
    let (whole, _) = run_and_audited("weights: Uniform()");
    for masked in ["", ", server: Masked(planned_dropout: 0)"] {
        let (ledger, finding) =
            run_and_audited(&format!("weights: Uniform(), overlap: CoveredRegions(0.6){masked}"));
        let proven = finding["proven"][0].as_f64().unwrap();
        assert!((proven / ledger - 1.0).abs() < 1e-6, "{masked}: {proven} for {ledger}");
        assert!((ledger / whole - 1.0).abs() > 0.01, "{masked}: {ledger} as for the whole domain");
        assert_eq!(finding["verdict"], "consistent", "{finding}");
        assert!(finding["evidence"]["epsilon_lower"].as_f64().unwrap() > 0.1, "{finding}");
    }
}

/// Where agents follow sums changes no sum: the loss is that of sums that are followed everywhere.
#[test]
fn sums_that_are_followed_to_common_points_cost_the_same() {
    let (whole, _) = run_and_audited("weights: Uniform()");
    let (common, finding) = run_and_audited("weights: Uniform(), overlap: CommonPoints(0.6)");
    assert_eq!(common, whole);
    assert_eq!(finding["verdict"], "consistent", "{finding}");
}
