//! Searches of a box through the public door: points in messages and results, what is refused, replays, threads and forks.

use crate::support::{code_and_output, folder, metric, refused, run, subrosa};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const LEARNERS: [(&str, &str); 9] = [
    ("random", "Random()"),
    ("log-EI", "Acquisition()"),
    ("PI", "Acquisition(function: ProbabilityOfImprovement, refit: Never)"),
    ("UCB", "Acquisition(function: UpperConfidenceBound(beta: 4), refit: Every(5))"),
    ("TS", "Acquisition(function: ThompsonSampling(features: 64), refit: Every(5))"),
    ("MES", "Acquisition(function: MaxValueEntropySearch(draws: 8), refit: Every(5))"),
    ("noisy EI", "Acquisition(function: LogNoisyExpectedImprovement(samples: 16), refit: Every(5))"),
    ("KG", "Acquisition(function: KnowledgeGradient(points: 16), refit: Every(5))"),
    ("TuRBO", "Acquisition(function: ThompsonSampling(features: 64), refit: Every(5), trust_region: true)"),
];

/// A search of Branin's box by several learners, with users who arrive without being asked, so that several reports are out.
fn scenario(place: &Path, rounds: u64, learners: &[(&str, &str)]) -> String {
    let series: Vec<String> = learners
        .iter()
        .map(|(name, learner)| format!("Series(name: \"{name}\", report: Disclosure(), learner: {learner})"))
        .collect();
    let text = format!(
        "Scenario(name: \"box\", seed: 5, replications: 2, parties: {{ \"service\": Party(), \"users\": Party() }}, \
         network: Network(topology: Mesh(), default: Link(latency: Exponential(mean: \"100ms\"), loss: Independent(0.05))), \
         objective: TestFunction(function: Branin, noise_variance: 0.01), protocol: Local(service: \"service\", \
         users: \"users\", rounds: {rounds}, arrivals: Poisson(every: \"200ms\"), series: [{}]))",
        series.join(", ")
    );
    let path = place.join("box.ron");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Every acquisition comes within 0.5 of Branin's known largest value, -0.397887, in 40 queries of which some are lost; the
/// points are in the results, within the box, and their values are those of the function.
#[test]
fn every_acquisition_finds_the_top_of_a_box() {
    let place = TempDir::new().unwrap();
    let scenario = scenario(place.path(), 40, &LEARNERS);
    let document = run(&scenario, &place.path().join("out"), &["--threads", "2"]);
    for (name, _) in &LEARNERS[1..] {
        let (found, _) = metric(&document, 0, name, "simple_regret");
        assert!((0.0..0.5).contains(&found), "{name}: {found}");
    }
    let table = fs::read_to_string(folder(&document).join("iterations.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let (x1, x2, value) = (column("x.x1"), column("x.x2"), column("value"));
    let branin: subrosa::objectives::Function = ron::from_str("Branin").unwrap();
    let mut distinct = std::collections::BTreeSet::new();
    for line in reader.records() {
        let line = line.unwrap();
        let number = |place: usize| line[place].parse::<f64>().unwrap();
        let point = [number(x1), number(x2)];
        assert!(branin.domain().contains(&point), "{point:?}");
        assert!((number(value) + branin.at(&point)).abs() < 1e-9, "{point:?}");
        distinct.insert(line[x1].to_owned());
    }
    assert!(distinct.len() > 300, "{} different points", distinct.len());
}

/// The same digests with one thread and with two, and in a replay.
#[test]
fn a_search_of_a_box_is_replayed_bit_for_bit() {
    let place = TempDir::new().unwrap();
    let scenario = scenario(place.path(), 25, &LEARNERS);
    let runs = ["1", "2"].map(|threads| {
        let out = place.path().join(threads);
        folder(&run(&scenario, &out, &["--threads", threads]))
    });
    let [one, two] = runs.clone().map(|run| fs::read_to_string(run.join("iterations.csv")).unwrap());
    assert_eq!(one, two);
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", runs[0].to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    // A message carries the point: 40 bytes of headers, two numbers, and two coordinates.
    let trace = subrosa(&["trace", &scenario, "--series", "log-EI"]);
    let (code, stdout, stderr) = code_and_output(&trace);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("PlayAt"), "{stdout}");
}

#[test]
fn what_needs_a_finite_set_of_arms_is_refused_with_place_and_cure() {
    let place = TempDir::new().unwrap();
    let scenario = scenario(place.path(), 20, &[("log-EI", "Acquisition()")]);
    let refused = |change: &str, parts: &[&str]| refused(&scenario, &[change], parts);
    for learner in ["GpUcb()", "ThompsonSampling()", "Parallel(learner: GpUcb())"] {
        let change = format!("protocol.series[0].learner={learner}");
        refused(&change, &["needs a finite set of arms", "Sobol(1024)"]);
    }
    refused("protocol.series[0].report=Ctl(epsilon: 1)", &["a stated bound", "bound: Some(6.0)"]);
    refused(
        "protocol.series[0].report=Ctl(epsilon: 1, bound: Some(300), clip: false)",
        &["beyond which rewards are clipped"],
    );
    refused("protocol.cohorts=[Cohort(name: \"a\"), Cohort(name: \"b\")]", &["no cohorts", "Sobol(1024)"]);
    let outsourced = "protocol=Outsourced(curator: \"service\", modeler: \"users\", rounds: 3, series: \
                      [Series(name: \"open\", release: Disclosure(), outcomes: Disclosure(), learner: GpUcb())])";
    refused(outsourced, &["a finite set of arms, which Outsourced needs", "points: Sobol(1024)"]);
    for (function, field) in [
        ("LogNoisyExpectedImprovement(samples: 5000)", "LogNoisyExpectedImprovement.samples"),
        ("KnowledgeGradient(points: 5000)", "KnowledgeGradient.points"),
        ("MaxValueEntropySearch(draws: 5000)", "MaxValueEntropySearch.draws"),
    ] {
        let change = format!("protocol.series[0].learner=Acquisition(function: {function})");
        refused(&change, &["at most 4096", "found 5000", field]);
    }
    refused("objective.TestFunction.points=Grid([3])", &["2 numbers, one for each input of Branin"]);
    refused("objective.TestFunction.function=Rosenbrock(dimensions: 1)", &["2 to 16 inputs"]);
    // On a finite set the same learner is played by both, and a bound is computed.
    for change in [
        "protocol.series[0].learner=GpUcb()",
        "protocol.series[0].learner=Acquisition(function: UpperConfidenceBound(beta: 4))",
        "protocol.series[0].learner=Acquisition(refit: Never)",
        "protocol.series[0].learner=Acquisition(function: LogNoisyExpectedImprovement(samples: 8))",
        "protocol.series[0].learner=Acquisition(function: KnowledgeGradient(points: 8))",
    ] {
        let out = place.path().join("finite");
        let sobol = "objective.TestFunction.points=Sobol(200)";
        let document = run(&scenario, &out, &["-o", sobol, "-o", change]);
        let (found, _) = metric(&document, 0, "log-EI", "simple_regret");
        assert!((0.0..6.0).contains(&found), "{change}: {found}");
    }
}

/// Without privacy the noise of reports is that of the objective; with it, clipped rewards and proven losses.
#[test]
fn reports_about_points_of_a_box_are_private() {
    let place = TempDir::new().unwrap();
    let scenario = scenario(place.path(), 20, &[("private", "Acquisition(refit: Every(5))")]);
    let change = "protocol.series[0].report=Ctl(epsilon: 2, bound: Some(100))";
    let document = run(&scenario, &place.path().join("out"), &["-o", change]);
    let text = document.to_string();
    assert!(text.contains("beyond bound"), "rewards below -100 are clipped and counted");
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    assert!(!rows.is_empty(), "{text}");
    for row in rows {
        let losses = row["losses"].as_array().unwrap();
        let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
        assert!(
            (tight["epsilon"].as_f64().unwrap() - 2.0).abs() < 1e-3 && tight["basis"] == "proven",
            "{row}"
        );
    }
}

/// A fork continues a search of a box with another learner, which is given the points asked before: one that is the same but
/// for how it is written goes on as the first, and another acquisition function does not.
#[test]
fn a_fork_of_a_search_of_a_box_goes_on_with_its_points() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 30, &[("search", "Acquisition(refit: Every(3))")]);
    let text = fs::read_to_string(&path).unwrap();
    let to =
        |learner: &str| format!("[\"protocol.series[0].learner=Acquisition({learner}refit: Every(3))\"]");
    let fork = format!(
        "seed: 5, fork: Fork(at: Round(15), branches: {{ \"same\": {}, \"UCB\": {} }}),",
        to("initial: Some(6), "),
        to("function: UpperConfidenceBound(beta: 9), "),
    );
    fs::write(&path, text.replacen("seed: 5,", &fork, 1)).unwrap();
    let run = folder(&run(&path, &place.path().join("out"), &[]));
    let (_, report, _) = code_and_output(&subrosa(&["report", run.to_str().unwrap(), "--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&report).unwrap();
    let of = |cell| metric(&document, cell, "search", "cumulative_regret").0;
    // Branches are in the order of their names. Outcomes that arrived late are given to the new learner in another order,
    // which moves the last digits of its posterior.
    let (unchanged, ucb, same) = (of(0), of(1), of(2));
    assert!((same / unchanged - 1.0).abs() < 1e-6, "{same} {unchanged}");
    assert!((ucb / unchanged - 1.0).abs() > 1e-3, "{ucb} {unchanged}");
}

const MIXED: &str = "objective=TestFunction(function: Levy(dimensions: 3), dimensions: [\
    Integer(name: \"depth\", low: -10, high: 10), Integer(name: \"width\", low: 1, high: 10, scale: Log), \
    Real(name: \"rate\", low: 0.01, high: 10, scale: Log)])";

/// Queries of a mixed domain are valid points under the stated names, their values are the function's, and log-EI comes
/// nearer to the known top than random search; a run is the same with two threads and in a replay.
#[test]
fn whole_and_logarithmic_inputs_are_searched_at_valid_points() {
    let place = TempDir::new().unwrap();
    let learners = [LEARNERS[0], LEARNERS[1], LEARNERS[4], LEARNERS[8]];
    let scenario = scenario(place.path(), 25, &learners);
    let documents = ["1", "2"]
        .map(|threads| ["--threads", threads, "--replications", "8", "-o", MIXED])
        .map(|more| run(&scenario, &place.path().join(more[1]), &more));
    let [one, two] = documents
        .each_ref()
        .map(|document| fs::read_to_string(folder(document).join("iterations.csv")).unwrap());
    assert_eq!(one, two);
    let (random, _) = metric(&documents[0], 0, "random", "simple_regret");
    let (found, _) = metric(&documents[0], 0, "log-EI", "simple_regret");
    assert!((0.0..random).contains(&found) && found < 0.5, "log-EI {found}, random {random}");
    let mut reader = csv::Reader::from_reader(one.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let columns = ["x.depth", "x.width", "x.rate", "value"].map(column);
    let levy: subrosa::objectives::Function = ron::from_str("Levy(dimensions: 3)").unwrap();
    let mut lines = 0;
    for line in reader.records() {
        let line = line.unwrap();
        let [depth, width, rate, value] = columns.map(|place| line[place].parse::<f64>().unwrap());
        assert!(depth.fract() == 0.0 && (-10.0..=10.0).contains(&depth), "{depth}");
        assert!(width.fract() == 0.0 && (1.0..=10.0).contains(&width), "{width}");
        assert!((0.01..=10.0).contains(&rate), "{rate}");
        assert!((value + levy.at(&[depth, width, rate])).abs() < 1e-9);
        lines += 1;
    }
    assert!(lines >= 150, "{lines}");
    let run = folder(&documents[0]);
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", run.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
}

/// Every wrong end is named at once, with its place.
#[test]
fn wrong_ends_of_inputs_are_refused_all_at_once() {
    let place = TempDir::new().unwrap();
    let scenario = scenario(place.path(), 20, &[("log-EI", "Acquisition()")]);
    let change = "objective=TestFunction(function: Levy(dimensions: 3), dimensions: [\
        Integer(name: \"a\", low: 0.5, high: 3), Real(name: \"a\", low: 0, high: 2, scale: Log), \
        Real(name: \"\", low: 4, high: 20)])";
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &scenario, "-o", change]));
    assert_eq!(code, 3, "{stderr}");
    let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "dimensions[0].Integer.low",
        "a whole number",
        "dimensions[1]",
        "a name of its own",
        "dimensions[1].Real.low",
        "the scale is Log",
        "dimensions[2].Real.name",
        "dimensions[2].Real.low",
        "dimensions[2].Real.high",
    ] {
        assert!(said.contains(part), "{part}: {stderr}");
    }
    let change = "objective=TestFunction(function: Branin, dimensions: [])";
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &scenario, "-o", change]));
    assert!(code == 3 && stderr.contains("whose best point has"), "{stderr}");
}
