//! Searches through the public door: learners that never leave an arm, and learners with several questions out.

use crate::support::{code_and_output, folder, metric, run, subrosa};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The readings of 30 sensors around 500 units, as a file and a scenario without privacy.
fn sensors(place: &Path) -> String {
    let names: Vec<String> = (0..30).map(|sensor| format!("s{sensor}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..40u64 {
        // Deviations of each sensor that are unrelated to those of the others; sensor 23 is the best by four standard
        // deviations of a reading.
        let cell = |sensor: u64| {
            let mixed = (row * 30 + sensor + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let best = if sensor == 23 { 40.0 } else { 0.0 };
            format!("{:.3}", 500.0 + best + 35.0 * (mixed as f64 / f64::from(1 << 24) - 0.5))
        };
        text += &((0..30).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    fs::write(place.join("sensors.csv"), text).unwrap();
    let scenario = place.join("sensors.ron");
    let text = r#"Scenario(
        name: "sensors", seed: 1,
        parties: { "service": Party(), "users": Party() },
        network: Network(topology: Mesh()),
        objective: Correlation(file: "sensors.csv"),
        protocol: Local(service: "service", users: "users", rounds: 300, series: [
            Series(name: "GP-UCB", report: Disclosure(), learner: GpUcb()),
            Series(name: "random", report: Disclosure(), learner: Random()),
        ]),
    )"#;
    fs::write(&scenario, text).unwrap();
    scenario.to_str().unwrap().to_owned()
}

fn said(scenario: &str, out: &Path, more: &[&str]) -> String {
    let mut arguments = vec!["run", scenario, "--out", out.to_str().unwrap()];
    arguments.extend(more);
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    (stdout + &stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Readings in raw units lie 500 prior standard deviations above the prior mean, so GP-UCB stays at its first arm; the
/// report and the page say so. Standardised, or around a prior mean that fits, it finds the best sensor.
#[test]
fn a_learner_that_never_leaves_an_arm_is_reported() {
    let place = TempDir::new().unwrap();
    let scenario = sensors(place.path());
    let warning = "\"GP-UCB\" played 1 of 30 arms in 300 rounds";
    let raw = said(&scenario, &place.path().join("raw"), &[]);
    assert!(raw.contains(warning), "{raw}");
    assert!(!raw.contains("\"random\" played"), "{raw}");
    let raw = run(&scenario, &place.path().join("raw"), &[]);
    let page = fs::read_to_string(folder(&raw).join("report.html")).unwrap();
    assert!(page.contains("played 1 of 30 arms in 300 rounds"));
    for (name, change) in [
        ("data", "objective.Correlation.output_scale=FromData"),
        ("stated", "objective.Correlation.output_scale=Stated(centre: 500, unit: 10)"),
    ] {
        let out = place.path().join(name);
        let text = said(&scenario, &out, &["-o", change]);
        assert!(!text.contains("played 1 of 30 arms"), "{name}: {text}");
        let document = run(&scenario, &out, &["-o", change]);
        assert!(metric(&document, 0, "GP-UCB", "simple_regret").0 < 1e-9, "{name}");
        let public = "mean and standard deviation of the outcomes";
        assert_eq!(text.contains(public), name == "data", "{name}: {text}");
    }
    let out = place.path().join("prior");
    let text = said(&scenario, &out, &["-o", "objective.Correlation.prior_mean=500"]);
    assert!(!text.contains("played 1 of 30 arms"), "{text}");
}

/// A search on a smooth function that goes to the best arm at once has converged: what it has seen predicts the other arms.
#[test]
fn a_search_that_has_converged_is_not_accused() {
    let place = TempDir::new().unwrap();
    let scenario = place.path().join("smooth.ron");
    let text = r#"Scenario(
        name: "smooth", seed: 4, replications: 10,
        parties: { "curator": Party(), "modeler": Party() },
        network: Network(topology: Mesh()),
        objective: GpSample(grid: [30], max_norm: 1, length_scale: 1.5, noise_variance: 1e-4),
        protocol: Outsourced(curator: "curator", modeler: "modeler", initial_points: 6, rounds: 40, series: [
            Series(name: "EI", release: Disclosure(), outcomes: Disclosure(), learner: GpUcb(scale: 0.01)),
        ]),
    )"#;
    fs::write(&scenario, text).unwrap();
    let document = run(scenario.to_str().unwrap(), &place.path().join("out"), &[]);
    let series = &document["cells"][0]["series"][0];
    assert!(series["one_arm"].as_u64().unwrap_or(0) > 0, "no replication asked one arm only: {series}");
    assert!(series["never_left"].is_null(), "{series}");
}

/// The arms that were tried first, with ten machines that take equally long.
fn first_ten(place: &Path, learner: &str) -> BTreeSet<u64> {
    let machines: Vec<String> = (0..10).map(|machine| format!("\"m{machine}\"")).collect();
    let parties: Vec<String> = machines
        .iter()
        .map(|name| format!("{name}: Party(compute: Drawn(time: Constant(\"10s\")))"))
        .collect();
    let text = format!(
        r#"Scenario(
        name: "ten", seed: 2,
        parties: {{ "owner": Party(), "reader": Party(), {} }},
        network: Network(topology: Star(hub: "owner"), default: Link(latency: Constant("1ms"))),
        objective: GpSample(grid: [20, 20], max_norm: 1, length_scale: 0.2, noise_variance: 0.01),
        protocol: Release(owner: "owner", readers: ["reader"], workers: [{}], rounds: 30, series: [
            Series(name: "search", publication: NonPrivate(learner: {learner})),
        ]),
    )"#,
        parties.join(", "),
        machines.join(", ")
    );
    let scenario = place.join("ten.ron");
    fs::write(&scenario, text).unwrap();
    let document = run(scenario.to_str().unwrap(), &place.join("out"), &[]);
    let text = fs::read_to_string(folder(&document).join("iterations.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| *name == "arm").unwrap();
    lines.take(10).map(|cells| cells[column].parse().unwrap()).collect()
}

#[test]
fn ten_machines_are_asked_different_questions() {
    let place = TempDir::new().unwrap();
    let count = |learner: &str| first_ten(place.path(), learner).len();
    assert!(count("GpUcb()") <= 3);
    for pending in ["KrigingBeliever", "ConstantMin", "ConstantMean"] {
        for inner in ["GpUcb()", "ExpectedImprovement()"] {
            let found = count(&format!("Parallel(learner: {inner}, pending: {pending})"));
            assert!(found >= 8, "{inner}, {pending}: {found} different settings among ten");
        }
    }
}

#[test]
fn a_parallel_learner_needs_one_that_can_be_copied_and_predicts() {
    let place = TempDir::new().unwrap();
    let scenario = sensors(place.path());
    for (learner, expected) in [
        ("Parallel(learner: Random())", "a learner with a posterior mean"),
        ("Parallel(learner: Parallel(learner: GpUcb()))", "nor Parallel"),
        ("Parallel(learner: External(command: [\"sh\"]), pending: ConstantMin)", "nor Parallel"),
    ] {
        let change = format!("protocol.series[0].learner={learner}");
        let (code, stdout, stderr) = code_and_output(&subrosa(&["check", &scenario, "-o", &change]));
        assert_ne!(code, 0, "{learner}: {stdout}");
        let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{learner}: {said}");
    }
    let change = "protocol.series[0].learner=Parallel(learner: Random(), pending: ConstantMin)";
    assert_eq!(code_and_output(&subrosa(&["check", &scenario, "-o", change])).0, 0);
}

/// Every kernel and its priors reach the fit: a narrow prior draws the length-scale to its median, and another kernel has
/// another likelihood.
#[test]
fn a_table_is_fitted_with_the_kernel_and_priors_that_are_named() {
    let place = TempDir::new().unwrap();
    let scenario = place.path().join("homes.ron");
    fs::copy(crate::support::root().join("scenarios/data/diabetes.csv"), place.path().join("patients.csv"))
        .unwrap();
    let text = r#"Scenario(
        name: "patients", seed: 1,
        parties: { "curator": Party(), "modeler": Party() },
        network: Network(topology: Mesh()),
        objective: Table(file: "patients.csv", inputs: ["bmi", "s5"], output: Column("target"),
            hyperparameters: MaximumLikelihood(subset: 60)),
        protocol: Outsourced(curator: "curator", modeler: "modeler", rounds: 2, series: [
            Series(name: "open", release: Disclosure(), outcomes: Disclosure(), learner: GpUcb()),
        ]),
    )"#;
    fs::write(&scenario, text).unwrap();
    let scenario = scenario.to_str().unwrap();
    let field = "objective.Table.hyperparameters.MaximumLikelihood";
    let fitted = |name: &str, changes: &[&str]| -> serde_json::Value {
        let changes: Vec<String> = changes.iter().map(|change| format!("{field}.{change}")).collect();
        let mut more: Vec<&str> = Vec::new();
        changes.iter().for_each(|change| more.extend(["-o", change]));
        let document = run(scenario, &place.path().join(name), &more);
        let mut files = fs::read_dir(folder(&document).join("fitted")).unwrap();
        let fitted = fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
        let fitted: serde_json::Value = serde_json::from_str(&fitted).unwrap();
        find(&fitted, "length_scales").unwrap_or_else(|| panic!("{fitted}")).clone()
    };
    let likelihood = |fit: &serde_json::Value| fit["log_likelihood"].as_f64().unwrap();
    let of = |kernel: &str| likelihood(&fitted(kernel, &[&format!("kernel={kernel}")]));
    let all = ["SquaredExponential", "Matern12", "Matern32", "Matern52"].map(of);
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| (one - other).abs() > 1e-6), "{all:?}");
    }
    let narrow = fitted("prior", &["length_scale_prior=LogNormalPrior(median: 0.3, sigma: 0.001)"]);
    for scale in narrow["length_scales"].as_array().unwrap() {
        assert!((scale.as_f64().unwrap() / 0.3 - 1.0).abs() < 0.02, "{narrow}");
    }
    assert!(likelihood(&narrow) < all[0], "{narrow} {all:?}");
}

/// The first object that has this field.
fn find<'a>(value: &'a serde_json::Value, field: &str) -> Option<&'a serde_json::Value> {
    match value {
        serde_json::Value::Object(fields) if fields.contains_key(field) => Some(value),
        serde_json::Value::Object(fields) => fields.values().find_map(|inner| find(inner, field)),
        serde_json::Value::Array(all) => all.iter().find_map(|inner| find(inner, field)),
        _ => None,
    }
}

/// A table with gaps, and where it is in: cells separated by `mark`.
fn gaps(place: &Path, mark: char) -> String {
    let text = "a,b,note,y\n1,10,x,5\n2,NA,x,6\n3,30,x,\n,40,x,8\n5,50,x,2\n6,60,x,4\n";
    fs::write(place.join("gaps.csv"), text.replace(',', &mark.to_string())).unwrap();
    let scenario = place.join("gaps.ron");
    let text = r#"Scenario(
        name: "gaps", seed: 1,
        parties: { "curator": Party(), "modeler": Party() },
        network: Network(topology: Mesh()),
        objective: Table(file: "gaps.csv", inputs: ["a", "b"], output: Column("y"),
            output_scale: Stated(centre: 0, unit: 1),
            hyperparameters: Given(length_scales: [1, 1], variance: 1, noise_variance: 0.1)),
        protocol: Outsourced(curator: "curator", modeler: "modeler", rounds: 40, series: [
            Series(name: "open", release: Disclosure(), outcomes: Disclosure(), learner: GpUcb(exclude_played: true)),
        ]),
    )"#;
    fs::write(&scenario, text).unwrap();
    scenario.to_str().unwrap().to_owned()
}

/// The first inputs and the outcome of every arm that was asked, by value.
fn asked(document: &serde_json::Value) -> Vec<(Vec<f64>, f64)> {
    let records = fs::read_to_string(folder(document).join("records.jsonl")).unwrap();
    let record: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let series = &record["series"][0];
    let mut found: Vec<(Vec<f64>, f64)> = Vec::new();
    for (arm, inputs) in series["inputs"]["arms"].as_object().unwrap() {
        let iterations = series["iterations"].as_array().unwrap().iter();
        let value =
            iterations.map(|i| (&i["arm"], &i["value"])).find(|(at, _)| at.to_string() == *arm).unwrap();
        let inputs = inputs.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        found.push((inputs, value.1.as_f64().unwrap()));
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found
}

#[test]
fn missing_cells_are_refused_dropped_or_replaced_by_means() {
    for mark in [',', ';', '\t', '|'] {
        let place = TempDir::new().unwrap();
        let scenario = gaps(place.path(), mark);
        let (code, _, stderr) = code_and_output(&subrosa(&["check", &scenario]));
        let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, 3, "{said}");
        for words in [
            "gaps.csv:5: column \"a\"",
            "3 cells are not such numbers",
            "line 3 \"b\": \"NA\"",
            "line 4 \"y\": \"\"",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let of = |how: &str| {
            let change = format!("objective.Table.missing={how}");
            let document = run(&scenario, &place.path().join(how), &["-o", &change]);
            (asked(&document), document["cells"][0]["series"][0]["public"].to_string())
        };
        let row = |a: f64, b: f64, y: f64| (vec![a, b], y);
        let (dropped, public) = of("Drop");
        assert_eq!(dropped, [row(5.0, 50.0, 2.0), row(6.0, 60.0, 4.0), row(1.0, 10.0, 5.0)]);
        assert!(public.contains("which records have a missing cell"), "{public}");
        // The row without an output is no arm, and its inputs are in no mean: (1 + 2 + 5 + 6) / 4 and (10 + 40 + 50 + 60) /
        // 4.
        let (filled, public) = of("Mean");
        let expected = [
            row(5.0, 50.0, 2.0),
            row(6.0, 60.0, 4.0),
            row(1.0, 10.0, 5.0),
            row(2.0, 40.0, 6.0),
            row(3.5, 40.0, 8.0),
        ];
        assert_eq!(filled, expected);
        assert!(public.contains("mean of the known cells of each input column"), "{public}");
    }
}
