//! Sums over what is common to agents that can measure parts of the domain only.

use crate::support::{code_and_output, cost_of, folder, metric, refused, run, subrosa};
use crate::traced::traced;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use subrosa::protocols::TraceKind;
use subrosa::vocab::Cost;
use tempfile::TempDir;

/// Agents with 300 random points each, of at most 20: each point that an agent can measure is missed with probability
/// (19/20)^300 = 2e-7. Every second query after round 4 follows the sums.
fn scenario(domain: &str, sharing: &str) -> String {
    format!(
        r#"Scenario(
    name: "common",
    seed: 8,
    replications: 1,
    parties: {{ "server": Party(), "agent": Party(count: 5) }},
    network: Network(topology: Mesh()),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.3, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 0.01),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "agent"{domain})],
        rounds: 30, initial_points: 300, features: 10,
        series: [Series(name: "sums", sharing: Aggregate(initial: Everywhere, {sharing}))],
    ),
)"#
    )
}

const HALVES: &str = ", differences: Differences(domain: Box(0.5))";

/// One measurement: agent, round, arm, and whether the sums chose it.
type Query = (usize, u64, usize, bool);

fn queries(text: &str) -> Vec<Query> {
    let of = |fact: &str| {
        let text = |name: &str| {
            let from = fact.find(&format!("{name}: ")).unwrap() + name.len() + 2;
            fact[from..].split([',', ' ', '}']).next().unwrap().to_owned()
        };
        let number = |name: &str| text(name).parse::<u64>().unwrap();
        (number("agent") as usize, number("round"), number("arm") as usize, text("shared") == "true")
    };
    let facts = traced(text.to_owned()).into_iter().filter_map(|event| match event.kind {
        TraceKind::Recorded(_, fact) if fact.starts_with("Measured") => Some(of(&fact)),
        _ => None,
    });
    facts.collect()
}

/// The points of each agent.
fn parts(queries: &[Query]) -> Vec<BTreeSet<usize>> {
    let of = |agent| queries.iter().filter(|query| query.0 == agent).map(|query| query.2).collect();
    (0..5).map(of).collect()
}

fn played(text: &str, out: &Path) -> Value {
    let path = out.join("common.ron");
    std::fs::write(&path, text).unwrap();
    run(path.to_str().unwrap(), &out.join("runs"), &[])
}

fn outcome(document: &Value, name: &str) -> f64 {
    let outcomes = document["cells"][0]["series"][0]["outcomes"].as_array().unwrap();
    let name = format!("Overlap of domains: {name}");
    let found = outcomes.iter().find(|outcome| outcome["name"] == name.as_str());
    found.unwrap_or_else(|| panic!("{name}: {outcomes:?}"))["value"]["mean"].as_f64().unwrap()
}

/// Where all agents can measure all points, every sum is over what is common already: the same events to the bit.
#[test]
fn whole_domains_are_common() {
    let out = TempDir::new().unwrap();
    let digest = |domain: &str, overlap: &str| {
        let sharing =
            format!("regions: 2, clip: 6, noise_multiplier: 1, participation: Poisson(0.5){overlap}");
        played(&scenario(domain, &sharing), out.path())["digest"].clone()
    };
    let plain = digest("", "");
    for domain in ["", ", differences: Differences(domain: Box(1))"] {
        for overlap in ["WholeDomain", "CommonPoints(1)", "CommonPoints(0.3)", "CoveredRegions(1)"] {
            assert_eq!(digest(domain, &format!(", overlap: {overlap}")), plain, "{domain} {overlap}");
        }
    }
    let halves = digest(HALVES, "");
    for overlap in ["CommonPoints(1)", "CommonPoints(0.7)", "CoveredRegions(0.5)"] {
        assert!(digest(HALVES, &format!(", overlap: {overlap}")) != halves, "{overlap} is another run");
    }
}

/// Agents follow sums only to points that enough of them can measure, and the report says what is lost.
#[test]
fn sums_are_followed_to_common_points_only() {
    let out = TempDir::new().unwrap();
    let domain = ", differences: Differences(domain: Box(0.7))";
    let all = queries(&scenario(domain, "weights: Uniform()"));
    let parts = parts(&all);
    assert!(parts.iter().all(|part| (13..=15).contains(&part.len())), "{parts:?}");
    for (share, least) in [("1", 5), ("0.8", 4)] {
        let common: BTreeSet<usize> =
            (0..20).filter(|arm| parts.iter().filter(|part| part.contains(arm)).count() >= least).collect();
        // Without the option sums lead elsewhere too.
        assert!(all.iter().any(|(_, _, arm, shared)| *shared && !common.contains(arm)));
        let text = scenario(domain, &format!("weights: Uniform(), overlap: CommonPoints({share})"));
        let found = queries(&text);
        let shared: Vec<&Query> = found.iter().filter(|query| query.3).collect();
        assert!(shared.len() > 20, "{}", shared.len());
        assert!(shared.iter().all(|(agent, _, arm, _)| common.contains(arm) && parts[*agent].contains(arm)));
        // Own models still lead elsewhere.
        assert!(found.iter().any(|(_, round, arm, shared)| *round > 0 && !shared && !common.contains(arm)));
        let document = played(&text, out.path());
        let near = |name: &str, expected: f64| {
            let found = outcome(&document, name);
            assert!((found - expected).abs() < 1e-12, "{name}: {found} for {expected}");
        };
        near("share of the domain", common.len() as f64 / 20.0);
        let lost =
            |part: &BTreeSet<usize>| 1.0 - part.intersection(&common).count() as f64 / part.len() as f64;
        near("share of own points lost, mean of agents", parts.iter().map(lost).sum::<f64>() / 5.0);
        near("share of own points lost, most of any agent", parts.iter().map(lost).fold(0.0, f64::max));
        near("agents that follow no sum", 0.0);
        assert!(outcome(&document, "value lost at other points") >= 0.0);
        let (_, text, _) = code_and_output(&subrosa(&["report", folder(&document).to_str().unwrap()]));
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains("or that lie in a region whose sum lacks the agent's vector: 0."), "{text}");
        assert!(flowing.contains("which points enough agents can measure"), "{text}");
    }
}

/// Small parts have nothing in common: nobody follows a sum, so that agents choose as if alone.
#[test]
fn without_anything_in_common_nobody_follows() {
    let out = TempDir::new().unwrap();
    let domain = ", differences: Differences(domain: Random(0.2))";
    let text = scenario(domain, "weights: Uniform(), overlap: CommonPoints(1)");
    assert!(queries(&text).iter().all(|query| !query.3));
    let together = played(&text, out.path());
    assert_eq!(outcome(&together, "agents that follow no sum"), 5.0);
    assert_eq!(outcome(&together, "share of own points lost, mean of agents"), 1.0);
    let alone = text
        .replace("Aggregate(initial: Everywhere, weights: Uniform(), overlap: CommonPoints(1))", "Alone()");
    let alone = played(&alone, out.path());
    let regret = |document: &Value| metric(document, 0, "sums", "cumulative_regret").0;
    assert_eq!(regret(&together), regret(&alone));
}

/// The cost of the first sum in the ledger of a run, for every agent.
fn cost(document: &Value) -> Cost {
    let mut ledger = csv::Reader::from_path(folder(document).join("ledger.csv")).unwrap();
    let header = ledger.headers().unwrap().clone();
    let of_sum = |line: &csv::StringRecord| {
        let has = |text: &str| line.iter().any(|cell| cell == text);
        has("every agent") && has("sums of weights")
    };
    let line = ledger.records().map(Result::unwrap).find(of_sum).unwrap();
    cost_of(&header, &line)
}

/// The sum of a region has weights for the agents that cover enough of it, all alike, and none for others. The noise follows
/// the largest weight, so that the cost stays that of z; with `TighterLoss` it is z times the largest weight over the
/// largest length of an agent's weights (divided by the square root of the regions), computed here from the points that
/// agents were seen to measure.
#[test]
fn weights_are_shared_among_those_who_cover_a_region() {
    let out = TempDir::new().unwrap();
    let parts = parts(&queries(&scenario(HALVES, "weights: Uniform()")));
    for (share, masked) in [(0.6, ""), (0.3, ""), (0.6, ", server: Masked(planned_dropout: 0)")] {
        let sharing = |more: &str| {
            format!(
                "regions: 2, clip: 6, noise_multiplier: 1, participation: Poisson(0.5), weights: Uniform(), overlap: \
                 CoveredRegions({share}){more}"
            )
        };
        let halves = [0..10, 10..20];
        let covers = |region: usize, agent: usize| {
            let held = halves[region].clone().filter(|arm| parts[agent].contains(arm)).count();
            held as f64 >= share * 10.0
        };
        let members = [0, 1].map(|region| (0..5).filter(|&agent| covers(region, agent)).count());
        assert!(members.iter().all(|members| *members > 0) && members.iter().any(|members| *members < 5));
        let weight =
            |region: usize, agent| if covers(region, agent) { 1.0 / members[region] as f64 } else { 0.0 };
        let largest =
            (0..2).flat_map(|region| (0..5).map(move |agent| weight(region, agent))).fold(0.0, f64::max);
        let length = |agent| ((weight(0, agent).powi(2) + weight(1, agent).powi(2)) / 2.0).sqrt();
        let longest = (0..5).map(length).fold(0.0, f64::max);
        // An agent of a masked sum knows its own share of the noise, one of five.
        let known = if masked.is_empty() { 1.0 } else { 0.8f64.sqrt() };
        for (rule, expected) in [("", 1.0), (", sensitivity: TighterLoss", largest / longest)] {
            let document = played(&scenario(HALVES, &sharing(&format!("{rule}{masked}"))), out.path());
            let Cost::PoissonGaussian { rate, noise_multiplier } = cost(&document) else {
                panic!("{:?}", cost(&document))
            };
            assert_eq!(rate, 0.5);
            let expected = expected * known;
            assert!(
                (noise_multiplier / expected - 1.0).abs() < 1e-9,
                "{rule}: {noise_multiplier} for {expected}"
            );
            let near = |name: &str, expected: f64| {
                assert!((outcome(&document, name) - expected).abs() < 1e-12, "{name}")
            };
            near("agents in a sum, mean of regions", (members[0] + members[1]) as f64 / 2.0);
            near("agents in a sum, fewest of any region", members[0].min(members[1]) as f64);
            let lost = |agent: usize| {
                let outside = (0..2).filter(|&region| !covers(region, agent));
                let points = outside
                    .map(|region| halves[region].clone().filter(|arm| parts[agent].contains(arm)).count());
                points.sum::<usize>() as f64 / parts[agent].len() as f64
            };
            near("share of own points lost, mean of agents", (0..5).map(lost).sum::<f64>() / 5.0);
            let common = [0, 1].map(|region| if members[region] == 5 { 0.5 } else { 0.0 });
            near("share of the domain", common[0] + common[1]);
        }
    }
}

#[test]
fn what_has_no_common_part_is_refused() {
    let golden = "tests/golden/federated.ron";
    let series = |overlap: &str| {
        format!("protocol.series=[Series(name: \"a\", sharing: Aggregate(overlap: {overlap}))]")
    };
    refused(golden, &[&series("CommonPoints(0)")], &["sharing.overlap.CommonPoints", "a share above 0"]);
    refused(golden, &[&series("CoveredRegions(0)")], &["sharing.overlap.CoveredRegions", "a share above 0"]);
    let table = "objective=Table(file: \"../../scenarios/data/sacramento.csv\", inputs: [\"sqft\"], output: Column(\"price\"), split: \
                 [Split(agents: 9)], hyperparameters: Given(length_scales: [1], variance: 1, noise_variance: 0.1))";
    refused(
        golden,
        &[&series("CommonPoints(1)"), table],
        &["sharing.overlap", "the rows that an agent holds are protected"],
    );
}
