//! Audits of sums that are divided by the answers that came: the attacked sums are priced as those of the run are.

use crate::support::{code_and_output, run, subrosa};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// 12 agents, half of them in each region; `loss` is that of the first group's answers.
fn scenario(sharing: &str, policy: &str, loss: &str) -> String {
    format!(
        r#"Scenario(
    name: "arrivals",
    about: "Sums divided by those who answered.",
    seed: 3,
    replications: 1,
    parties: {{ "server": Party(), "left": Party(count: 6), "right": Party(count: 6) }},
    network: Network(
        topology: Star(hub: "server"),
        default: Link(latency: Exponential(mean: "300ms")),
        links: [LinkRule(from: "left", to: "server", loss: Independent({loss}))],
    ),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-3),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "left", explores: 0), AgentGroup(members: "right", explores: 1)],
        rounds: 6, initial_points: 2, features: 4,
        series: [Series(
            name: "sums",
            sharing: Aggregate(regions: 2, clip: 11, noise_multiplier: 1, participation: Poisson(0.4), {sharing}),
            policy: {policy},
        )],
    ),
)
"#
    )
}

/// The epsilon of the run, by the ledger, and the proven epsilon of the sums that are attacked.
fn run_and_attacked(sharing: &str, policy: &str, loss: &str) -> (f64, f64) {
    let place = TempDir::new().unwrap();
    let path = place.path().join("arrivals.ron");
    fs::write(&path, scenario(sharing, policy, loss)).unwrap();
    let path = path.to_str().unwrap();
    let document = run(path, place.path(), &[]);
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
    let losses = row["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["audit", path, "--trials", "1000", "--format", "json"]));
    assert_eq!(code, 0, "{stderr}");
    let audit: Value = serde_json::from_str(&stdout).unwrap();
    let finding = &audit["findings"][0];
    assert_ne!(finding["verdict"], "refuted", "{finding}");
    (tight["epsilon"].as_f64().unwrap(), finding["proven"][0].as_f64().unwrap())
}

/// Equal weights: the number of answers is known from the price, also where late answers count twice.
#[test]
fn equal_weights_are_attacked_at_the_price_of_the_run() {
    for divisor in ["Arrived", "ArrivedOrGone"] {
        let sharing = format!("weights: Uniform(), divisor: {divisor}");
        let (ledger, attacked) = run_and_attacked(&sharing, r#"Deadline(after: "800ms")"#, "0.3");
        assert!((attacked / ledger - 1.0).abs() < 1e-6, "{divisor}: {attacked} for {ledger}");
    }
    // A round whose answers were fewer than all others, plus the agent twice, has a price between two numbers.
    for divisor in ["Arrived", "ArrivedOrGone"] {
        let sharing = format!("weights: Uniform(), divisor: {divisor}, late: AddToNext");
        let (ledger, attacked) = run_and_attacked(&sharing, r#"Deadline(after: "800ms")"#, "0.3");
        assert!(attacked <= ledger * (1.0 + 1e-6), "{divisor}: {attacked} above {ledger}");
        assert!(attacked >= 0.8 * ledger, "{divisor}: {attacked} far below {ledger}");
    }
}

/// Weights that differ: never more loss than in the run.
#[test]
fn unequal_weights_are_attacked_at_no_more_than_the_price_of_the_run() {
    for divisor in ["Arrived", "ArrivedOrGone"] {
        let sharing = format!("divisor: {divisor}");
        let (ledger, attacked) = run_and_attacked(&sharing, r#"Deadline(after: "800ms")"#, "0.5");
        assert!(attacked <= ledger * (1.0 + 1e-6), "{divisor}: {attacked} above {ledger}");
        assert!(attacked >= 0.5 * ledger, "{divisor}: {attacked} far below {ledger}");
    }
}

/// A sum without an answer reveals nothing: the attack has nothing to see in it.
#[test]
fn a_run_without_answers_is_no_run_with_all() {
    let text = scenario("weights: Uniform(), divisor: Arrived", r#"Deadline(after: "1ms")"#, "0.3");
    let text = text.replace("Exponential(mean: \"300ms\")", "Constant(\"2s\")");
    let place = TempDir::new().unwrap();
    let path = place.path().join("nobody.ron");
    fs::write(&path, text).unwrap();
    let arguments = ["audit", path.to_str().unwrap(), "--trials", "1000", "--format", "json"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    let audit: Value = serde_json::from_str(&stdout).unwrap();
    let evidence = &audit["findings"][0]["evidence"];
    assert_eq!(evidence["pair_epsilon"].as_f64().unwrap_or(0.0), 0.0, "{evidence}");
    assert_eq!(evidence["membership"]["advantage"], 0.0, "{evidence}");
}

/// The claim of the first k answers has the rate k / N, whether the server is trusted or not.
#[test]
fn the_claim_of_the_first_answers_is_the_same_under_masks() {
    let place = TempDir::new().unwrap();
    let claimed = |more: &str, policy: &str| {
        let text = scenario(more, policy, "0").replace("Poisson(0.4)", "Poisson(0.9)");
        let path = place.path().join("first.ron");
        fs::write(&path, text).unwrap();
        let document = run(path.to_str().unwrap(), place.path(), &[]);
        let rows = document["cells"][0]["privacy"].as_array().unwrap();
        let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
        let losses = row["losses"].as_array().unwrap();
        let loss = losses.iter().find(|loss| loss["accountant"] == "as published").unwrap();
        loss["epsilon"].as_f64().unwrap()
    };
    let masked = "server: Masked(planned_dropout: 0)";
    let first = [claimed("", "FirstK(k: 8)"), claimed(masked, "FirstK(k: 8)")];
    assert!((first[0] / first[1] - 1.0).abs() < 1e-9, "{first:?}");
    assert!(first[1] < 0.99 * claimed(masked, "All()"), "the rate is 8 / 12, not 0.9: {first:?}");
}
