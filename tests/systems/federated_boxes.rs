//! Federations on a box through the public door: points and regrets, equal privacy, refusals, replays, threads, forks,
//! audits.

use crate::support::{code_and_output, folder, metric, refused, run, subrosa};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Agents on Branin's box (or a finite set of its points), with these differences and series.
fn scenario(place: &Path, agents: u64, points: &str, differences: &str, series: &str) -> String {
    let text = format!(
        "Scenario(name: \"federated-box\", seed: 7, replications: 2, parties: {{ \"server\": Party(), \"agent\": Party(count: \
         {agents}) }}, network: Network(topology: Star(hub: \"server\"), default: Link(latency: Constant(\"20ms\"))), objective: \
         TestFunction(function: Branin, points: {points}, noise_variance: 0.01), privacy: Privacy(delta: 0.01), protocol: \
         Federated(server: \"server\", groups: [AgentGroup(members: \"agent\", differences: Differences({differences}))], rounds: \
         12, initial_points: 4, features: 40, series: [{series}]))"
    );
    let path = place.join("federated.ron");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const SERIES: &str = "Series(name: \"TS\", sharing: Alone()), Series(name: \"FTS\", sharing: RandomAgent()), \
    Series(name: \"FTS-DE\", sharing: Aggregate(regions: 4)), Series(name: \"DP-FTS-DE\", sharing: Aggregate(regions: 4, clip: 11, \
    noise_multiplier: 1, participation: Poisson(0.5)))";

/// The rows of `iterations.csv`: series, round, x1, x2, value, simple regret.
fn rows(run: &Path) -> Vec<(String, u64, [f64; 4])> {
    let table = fs::read_to_string(run.join("iterations.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let numbers = ["x.x1", "x.x2", "value", "simple_regret"].map(column);
    let (series, t) = (column("series"), column("t"));
    let lines = reader.records().map(Result::unwrap);
    lines
        .map(|line| {
            let number = |place: usize| line[place].parse::<f64>().unwrap();
            (line[series].to_owned(), line[t].parse().unwrap(), numbers.map(number))
        })
        .collect()
}

/// One agent: results show its own points. Their values are those of the shifted and scaled function, its regret is against
/// the known largest value, and Thompson sampling comes near it.
#[test]
fn one_agents_points_values_and_regret_are_those_of_its_own_function() {
    let place = TempDir::new().unwrap();
    let differences = "shift: Given([[0.1, -0.1]]), scale: Given([2])";
    let path = scenario(place.path(), 1, "Box", differences, "Series(name: \"TS\", sharing: Alone())");
    let mean = "objective.TestFunction.mean=Some(-50)";
    let document = run(&path, &place.path().join("out"), &["-o", mean, "-o", "protocol.Federated.rounds=30"]);
    let branin: subrosa::objectives::Function = ron::from_str("Branin").unwrap();
    let own = |x: &[f64]| -50.0 + 2.0 * (-branin.at(&[x[0] - 1.5, x[1] + 1.5]) + 50.0);
    let best = -50.0 + 2.0 * (-branin.least() + 50.0);
    let rows = rows(&folder(&document));
    assert!(rows.len() >= 60, "{}", rows.len());
    for (_, t, [x1, x2, value, regret]) in &rows {
        assert!(branin.domain().contains(&[*x1, *x2]));
        assert!(*regret >= 0.0);
        // A row of round 0 shows the last of several initial points, and the mean of their values.
        if *t > 0 {
            assert!((value - own(&[*x1, *x2])).abs() < 1e-9, "{value} {}", own(&[*x1, *x2]));
            assert!(*regret <= best - value + 1e-9);
        }
    }
    let (found, _) = metric(&document, 0, "TS", "simple_regret");
    assert!(
        (0.0..3.0).contains(&found),
        "{found}: the function's values have a standard deviation of about 100"
    );
}

/// Sharing helps agents whose functions are alike: after 12 rounds the regret of FTS-DE is below that of the initial points
/// by more than half, and every series stays at or above 0. Each round measures new points of the box.
#[test]
fn every_series_searches_a_box() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 8, "Box", "shift: Uniform(0.05)", SERIES);
    let document = run(&path, &place.path().join("out"), &["--threads", "2"]);
    let rows = rows(&folder(&document));
    for name in ["TS", "FTS", "FTS-DE", "DP-FTS-DE"] {
        let of = |t: u64| -> f64 {
            let here: Vec<f64> =
                rows.iter().filter(|row| row.0 == name && row.1 == t).map(|row| row.2[3]).collect();
            assert_eq!(here.len(), 2, "{name} {t}");
            here.iter().sum::<f64>() / 2.0
        };
        assert!(of(12) >= 0.0 && of(12) < 0.5 * of(0), "{name}: {} {}", of(0), of(12));
    }
    let distinct: std::collections::BTreeSet<String> =
        rows.iter().map(|row| format!("{:?}", &row.2[..2])).collect();
    assert!(distinct.len() > 90, "{} different points of {}", distinct.len(), rows.len());
}

/// The vectors that agents send are clipped and summed as on arms, so that every price is the same.
#[test]
fn a_box_costs_the_same_privacy_as_a_finite_set_of_its_points() {
    let place = TempDir::new().unwrap();
    let of = |points: &str| {
        let path = scenario(place.path(), 8, points, "shift: Uniform(0.05)", SERIES);
        let more: &[&str] = if points == "Box" {
            &[]
        } else {
            &["-o", "protocol.Federated.groups[0].differences=Differences()"]
        };
        let document = run(&path, &place.path().join(points.replace(['(', ')'], "-")), more);
        let rows = document["cells"][0]["privacy"].as_array().unwrap().clone();
        assert!(!rows.is_empty(), "{document}");
        rows
    };
    assert_eq!(of("Box"), of("Sobol(60)"));
}

/// The same digests with one thread and with two, in a replay, and in an empty branch of a fork.
#[test]
fn a_federation_on_a_box_is_replayed_and_forked_bit_for_bit() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 5, "Box", "shift: Uniform(0.05)", SERIES);
    let runs =
        ["1", "2"].map(|threads| folder(&run(&path, &place.path().join(threads), &["--threads", threads])));
    let [one, two] = runs.clone().map(|run| fs::read_to_string(run.join("iterations.csv")).unwrap());
    assert_eq!(one, two);
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", runs[0].to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let text = fs::read_to_string(&path).unwrap();
    let fork = "seed: 7, fork: Fork(at: Round(6), branches: { \"same\": [\"replications=2\"], \
                \"wide\": [\"protocol.scale=3\"] }),";
    fs::write(&path, text.replacen("seed: 7,", &fork.replace("[\"replications=2\"]", "[]"), 1)).unwrap();
    let forked = folder(&run(&path, &place.path().join("fork"), &[]));
    let (_, report, _) = code_and_output(&subrosa(&["report", forked.to_str().unwrap(), "--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&report).unwrap();
    let of = |cell| metric(&document, cell, "TS", "cumulative_regret").0;
    // Branches are in the order of their names after the unchanged one.
    assert_eq!(of(0), of(1));
    assert_ne!(of(0), of(2), "wider draws choose other points");
}

/// The audit of a private series measures a lower bound below the proven epsilon, as on arms.
#[test]
fn an_audit_attacks_the_sums_of_a_federation_on_a_box() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 6, "Box", "", SERIES);
    let audit = ["audit", &path, "--series", "DP-FTS-DE", "--trials", "400", "--format", "json"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&audit));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stdout.contains("all 12 broadcasts of a run"), "{stdout}");
}

/// Every setting whose theory or whose regret needs a finite set of arms, with its place and what to do.
#[test]
fn what_a_box_does_not_allow_is_refused_with_place_and_cure() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 5, "Box", "", SERIES);
    let all_refused = |changes: &[&str], parts: &[&str]| refused(&path, changes, parts);
    let refused = |change: &str, parts: &[&str]| all_refused(&[change], parts);
    refused("protocol.perturbation=0.1", &["has no largest value", "Sobol(1024)"]);
    refused("protocol.width=Theorem()", &["greedy choice among arms", "Sobol(1024)"]);
    refused("protocol.regret_terms=RegretTerms()", &["finite set of arms"]);
    let differences = |of: &str| format!("protocol.groups[0].differences=Differences({of})");
    refused(&differences("domain: Box(0.5)"), &["the largest value in a part of it is not known"]);
    // Branin's best point with the widest margin is (pi, 2.275): 2.275 / 15 = 0.1516.
    refused(&differences("shift: Uniform(0.2)"), &["at most 0.1516", "regret is exact"]);
    refused(&differences("shift: Normal(0.1)"), &["at most 0.0505"]);
    refused(&differences("shift: Given([[0.1, 0.1], [0.5, 0.9]])"), &["Given[1]", "[0.5, 0.9]"]);
    refused(&differences("shift: Given([[0.1]])"), &["a number for each of the 2 inputs"]);
    refused(
        &differences("drift: Drift(rate: 0.1)"),
        &["groups[0].differences.drift", "a mixture with drawn functions is not known"],
    );
    refused("protocol.groups[0].heterogeneity=0.1", &["groups[0].heterogeneity", "is not known on a box"]);
    refused(
        &differences("clusters: Clusters(count: 2)"),
        &["groups[0].differences.clusters", "is not known on a box"],
    );
    let mixed = "objective=TestFunction(function: Levy(dimensions: 2), dimensions: [\
        Integer(name: \"depth\", low: 0, high: 2), Real(name: \"rate\", low: 0.1, high: 10, scale: Log)])";
    // The three values of `depth` are at 1/6, 1/2 and 5/6: the second of four parts along it has none.
    let regions = "protocol.series[2].sharing=Aggregate(regions: 8)";
    let eight = "parties.agent.count=8";
    all_refused(&[mixed, regions, eight], &["series[2].sharing.regions", "number 2 (from 0) has none"]);
    let categories = "objective=TestFunction(function: Levy(dimensions: 2), dimensions: [\
        Categorical(name: \"a\", values: [\"x\", \"y\"]), Categorical(name: \"b\", values: [\"x\", \"y\", \"z\"])])";
    let two = "protocol.series[2].sharing=Aggregate(regions: 2)";
    all_refused(
        &[categories, two, eight],
        &["series[2].sharing.regions", "all categories, which are not divided"],
    );
    let shifted = differences("shift: Uniform(0.01)");
    all_refused(&[mixed, &shifted], &["whose best point is known, of real inputs on linear scales"]);
    let smaller = differences("shift: Uniform(0.15)");
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &path, "-o", &smaller]));
    assert_eq!(code, 0, "{stderr}");
}

/// Whole numbers, a logarithmic scale and a category: agents measure valid points, whose values are the function's.
#[test]
fn a_federation_searches_mixed_inputs() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 1, "Box", "", "Series(name: \"TS\", sharing: Alone())");
    let mixed = "objective=TestFunction(function: Levy(dimensions: 3), dimensions: [Integer(name: \"depth\", low: -3, high: 6), \
        Real(name: \"rate\", low: 0.01, high: 10, scale: Log), Categorical(name: \"solver\", values: [\"a\", \"b\", \"c\"])])";
    let document =
        run(&path, &place.path().join("out"), &["-o", mixed, "-o", "protocol.Federated.rounds=20"]);
    let table = fs::read_to_string(folder(&document).join("iterations.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let columns = ["t", "x.depth", "x.rate", "x.solver (0 = a; 1 = b; 2 = c)", "value"].map(column);
    let levy: subrosa::objectives::Function = ron::from_str("Levy(dimensions: 3)").unwrap();
    let mut solvers = std::collections::BTreeSet::new();
    for line in reader.records() {
        let line = line.unwrap();
        let [t, depth, rate, solver, value] = columns.map(|place| line[place].parse::<f64>().unwrap());
        assert!(depth.fract() == 0.0 && (-3.0..=6.0).contains(&depth) && (0.01..=10.0).contains(&rate));
        solvers.insert(solver as u64);
        // The first category stands for the best coordinate, 1, and each further one for one more.
        assert!(t == 0.0 || (value + levy.at(&[depth, rate, 1.0 + solver])).abs() < 1e-9);
    }
    assert!(solvers.len() > 1 && solvers.iter().all(|solver| *solver < 3), "{solvers:?}");
    let (found, _) = metric(&document, 0, "TS", "simple_regret");
    assert!((0.0..3.0).contains(&found), "{found}");
}
