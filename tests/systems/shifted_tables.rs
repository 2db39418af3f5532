//! Shifts of functions that are known at their points only: tables and tuned models, which the surrogate continues.

use crate::heterogeneity::{Outcomes, close, measured, outcomes};
use crate::support::{code_and_output, folder, metric, refused, run, subrosa};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An agent's function at all `points` in round 0, each of which it has measured.
fn function(found: &Outcomes, agent: u64, points: u64) -> Vec<f64> {
    (0..points).map(|arm| found.get(&(agent, 0, arm)).expect("every point is measured")[0]).collect()
}

/// A table of one input and a column `who`, scaled by stated numbers: an input keeps its value, one side of the domain is
/// from the smallest to the largest one.
fn table(place: &Path, name: &str, rows: &str, more: &str) -> String {
    let file = place.join(name);
    std::fs::write(&file, format!("who,x,y\n{rows}")).unwrap();
    format!(
        "Table(file: {file:?}, inputs: [\"x\"], input_scale: Stated(centres: [0], units: [1], radius: 25), output: Column(\"y\"), \
         output_scale: Stated(centre: 0, unit: 1), hyperparameters: Given(length_scales: [1], variance: 9, noise_variance: 0.01){more})"
    )
}

/// Five evenly spaced rows: f(x - 1/2) is two rows to the right and f(x + 1/4) one to the left, as for a function that is
/// drawn. An agent that is not shifted has the table to the bit.
#[test]
fn a_table_is_moved_by_whole_rows() {
    let place = TempDir::new().unwrap();
    let objective = table(place.path(), "rows.csv", "a,0,1\na,1,4\na,2,2\na,3,8\na,4,5\n", "");
    let rows = [1.0, 4.0, 2.0, 8.0, 5.0];
    let found = outcomes(&objective, "0", "shift: Given([[0.5], [-0.25]])", 5);
    let (right, left) = (function(&found, 0, 5), function(&found, 1, 5));
    close(&right[2..], &rows[..3]);
    close(&left[..4], &rows[1..]);
    // Beyond the rows the function continues within the range of the table.
    assert!(right.iter().chain(&left).all(|y| (1.0..=8.0).contains(y)), "{right:?} {left:?}");
    let found = outcomes(&objective, "0", "shift: Given([[0], [0.25]])", 5);
    assert_eq!(function(&found, 0, 5), rows);
    assert!(function(&found, 1, 5) != rows);
    // Twice the distance from the prior mean, 0, after the shift; and half of a function of the surrogate's.
    let found = outcomes(&objective, "0", "shift: Given([[0.5]]), scale: Given([1, 2])", 5);
    let doubled: Vec<f64> = function(&found, 0, 5).iter().map(|f| 2.0 * f).collect();
    close(&function(&found, 1, 5), &doubled);
}

/// A federation of two agents that measure 600 random points first, written to a file of this folder.
fn pair(place: &Path, objective: &str, groups: &str) -> (String, String) {
    let text = format!(
        "Scenario(name: \"pair\", seed: 5, replications: 2, parties: {{ \"server\": Party(), \"agent\": Party(count: 2) }}, network: \
         Network(topology: Mesh()), objective: {objective}, protocol: Federated(server: \"server\", groups: [AgentGroup(members: \
         \"agent\", {groups})], rounds: 3, initial_points: 600, features: 4, series: [Series(name: \"alone\", sharing: Alone())]))"
    );
    let path = place.join("pair.ron");
    std::fs::write(&path, &text).unwrap();
    (path.to_str().unwrap().to_owned(), text)
}

/// The 40 rows of a bump at x = 2.3, in no order: the best row of an agent is the one nearest to the bump's top, moved by
/// the agent's shift. Regret is against this row, whose value is not that of the table's best row. A row is missed by 600
/// random points with probability (39/40)^600 = 3e-7.
#[test]
fn the_best_row_moves_by_the_shift() {
    let place = TempDir::new().unwrap();
    let rows: Vec<f64> =
        (0..40).map(|k| f64::from(k * 17 % 40) / 8.0 + 0.02 * f64::from(k * 7 % 5)).collect();
    let of = |x: f64, top: f64| 3.0 * (-(x - top) * (x - top)).exp();
    let text: String = rows.iter().map(|x| format!("a,{x},{}\n", of(*x, 2.3))).collect();
    let objective = table(place.path(), "bump.csv", &text, "");
    let end = |sign: f64| rows.iter().fold(f64::NEG_INFINITY, |most, x| most.max(sign * x));
    let side = end(1.0) + end(-1.0);
    let nearest = |top: f64| {
        let apart = |arm: &usize| (rows[*arm] - top).abs();
        (0..40).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap()
    };
    for shifts in [[-0.3, -0.05], [0.12, 0.4]] {
        let groups = format!("differences: Differences(shift: Given([[{}], [{}]]))", shifts[0], shifts[1]);
        let (path, text) = pair(place.path(), &objective, &groups);
        let found = measured(text);
        for (agent, shift) in (0..).zip(shifts) {
            let own = function(&found, agent, 40);
            let best = (0..40).max_by(|a, b| own[*a].total_cmp(&own[*b])).unwrap();
            let top = 2.3 + shift * side;
            assert_eq!(best, nearest(top), "shift {shift}: {own:?}");
            for (x, y) in
                rows.iter().zip(&own).filter(|(x, _)| **x > shift * side && **x < 5.0 + shift * side)
            {
                assert!((y - of(*x, top)).abs() < 0.05, "at {x}, shift {shift}: {y}");
            }
        }
        let document = run(&path, &place.path().join(shifts[0].to_string()), &[]);
        let (regret, _) = metric(&document, 0, "alone", "simple_regret");
        assert_eq!(regret, 0.0);
    }
}

/// Where rows belong to agents, an agent's shifted function is computed from its own rows: those of the other do not change
/// it.
#[test]
fn rows_of_others_do_not_change_a_shifted_function() {
    let place = TempDir::new().unwrap();
    let own = |name: &str, other: &str| {
        let rows = format!("a,0,1\na,1,4\nb,1.5,{other}\na,2,2\nb,2.5,{other}\n");
        let objective = table(place.path(), name, &rows, ", agent: [\"who\"]");
        let found = outcomes(&objective, "0", "shift: Given([[0.4], [0.2]])", 5);
        [0, 1, 3].map(|arm| found[&(0, 0, arm)][0])
    };
    let found = own("one.csv", "3");
    assert_eq!(found, own("other.csv", "-5"));
    // One of the agent's rows is moved to the next.
    assert!((found[1] - 1.0).abs() < 1e-9 && (found[2] - 4.0).abs() < 1e-9, "{found:?}");
}

/// 240 records of two classes, which the first feature tells apart, with noise.
fn records(place: &Path) -> PathBuf {
    let mut records = "x,y,kind\n".to_owned();
    for row in 0..240u32 {
        let class = row * 7 % 5 < 2;
        let x = f64::from(row * 31 % 17) / 17.0 + if class { 0.4 } else { 0.0 };
        let y = f64::from(row * 13 % 11) / 11.0;
        records += &format!("{x},{y},{}\n", if class { "yes" } else { "no" });
    }
    let file = place.join("records.csv");
    std::fs::write(&file, records).unwrap();
    file
}

/// Tuned models: a shift of two of eight steps moves the performances by two settings, for one owner and for agents with
/// records of their own, each of whom has performances of its own.
#[test]
fn performances_of_tuned_models_are_moved() {
    let place = TempDir::new().unwrap();
    let file = records(place.path());
    let tuning = format!(
        "Tuning(file: {file:?}, inputs: [\"x\", \"y\"], label: Equals(column: \"kind\", value: \"yes\"), training: \
         LogisticRegression, loss: Ramp, lambda_min: 0.0001, lambda_max: 1, settings: 9"
    );
    let split = "split: [Split(agents: 2, labels: Dirichlet(1))]";
    for objective in [format!("{tuning})"), format!("{tuning}, {split})")] {
        let of = |groups: &str| measured(pair(place.path(), &objective, groups).1);
        let (plain, moved) = (of(""), of("differences: Differences(shift: Given([[0.25], [-0.125]]))"));
        for agent in 0..2 {
            let (before, after) = (function(&plain, agent, 9), function(&moved, agent, 9));
            match agent {
                0 => close(&after[2..], &before[..7]),
                _ => close(&after[..8], &before[1..]),
            }
            let most = before.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(after.iter().all(|value| *value <= most), "{after:?}");
        }
    }
}

/// From the command line: a shift of 0 is the scenario without one, a run with shifts is another run, the same with two
/// threads, its replay agrees, and what it finds is no longer called an accuracy.
#[test]
fn shifted_accuracies_run_and_replay() {
    let place = TempDir::new().unwrap();
    let file = records(place.path());
    let model = "LogisticRegression(lambda: Axis(low: 0.0001, high: 10, values: 6, logarithmic: true), steps: Axis(values: [2, 6]), \
                 intercept: Axis(values: [1]))";
    let scenario = format!(
        "Scenario(name: \"split\", seed: 4, replications: 2, parties: {{ \"server\": Party(), \"agent\": Party(count: 4) }}, network: \
         Network(topology: Mesh()), objective: FederatedTuning(file: {file:?}, label: \"kind\", inputs: [\"x\", \"y\"], split: \
         [Split(agents: 4)], model: {model}, prior_mean: 0.7, prior_sd: 0.1), protocol: Federated(server: \"server\", groups: \
         [AgentGroup(members: \"agent\")], rounds: 3, initial_points: 2, features: 4, series: [Series(name: \"alone\", sharing: Alone()), \
         Series(name: \"shared\", sharing: Aggregate(weights: Uniform()))]))"
    );
    let path = place.path().join("split.ron");
    std::fs::write(&path, scenario).unwrap();
    let play = |name: &str, shift: &str, threads: &str| {
        let groups = format!("protocol.groups=[AgentGroup(members: \"agent\"{shift})]");
        run(path.to_str().unwrap(), &place.path().join(name), &["-o", &groups, "--threads", threads])
    };
    let plain = play("plain", "", "1");
    let none = play("none", ", differences: Differences(shift: Uniform(0))", "1");
    assert_eq!(plain["digest"], none["digest"]);
    let uniform = ", differences: Differences(shift: Uniform(0.3))";
    let (one, two) = (play("one", uniform, "1"), play("two", uniform, "2"));
    assert_eq!(one["digest"], two["digest"]);
    assert!(one["digest"] != plain["digest"]);
    let names = |document: &Value| {
        let outcomes = document["cells"][0]["series"][0]["outcomes"].as_array().unwrap().clone();
        outcomes.iter().map(|outcome| outcome["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let accuracy =
        |document: &Value| names(document).iter().any(|name| name.starts_with("1 - best performance"));
    assert!(accuracy(&plain) && !accuracy(&one));
    assert!(names(&one).iter().any(|name| name == "Functions of agents: correlation"));
    let (code, text, errors) = code_and_output(&subrosa(&["replay", folder(&one).to_str().unwrap()]));
    assert_eq!(code, 0, "{text} {errors}");
}

/// Every draw of `BraninHoo` is the same, so a cluster has a function of the surrogate: with clusters that are wholly apart
/// an agent's shifted function is that one, moved, and not Branin's.
#[test]
fn a_cluster_of_the_surrogate_is_moved_too() {
    let branin = "BraninHoo(grid: [5, 1], noise_variance: 0.1, measurement_noise: 0)";
    let clusters = "clusters: Clusters(count: 1, apart: 1)";
    let still = function(&outcomes(branin, "0", clusters, 5), 0, 5);
    let moved = outcomes(branin, "0", &format!("{clusters}, shift: Given([[0.5, 0], [0, 0]])"), 5);
    close(&function(&moved, 0, 5)[2..], &still[..3]);
    close(&function(&moved, 1, 5), &still);
}

/// Five points of Branin's function on the line x2 = 7.5: their shifted values, which are not rounded to the grid, are those
/// of the formula, also beyond the domain.
#[test]
fn a_test_function_is_moved_by_its_formula() {
    let objective = "TestFunction(function: Branin, points: Grid([5, 1]))";
    let plain = outcomes(objective, "0", "", 5);
    let found = outcomes(objective, "0", "shift: Given([[0.45, 0.2], [0, 0]])", 5);
    assert_eq!(function(&found, 1, 5), function(&plain, 0, 5));
    let pi = std::f64::consts::PI;
    let branin = |x: f64, y: f64| {
        let valley = y - 5.1 / (4.0 * pi * pi) * x * x + 5.0 / pi * x - 6.0;
        valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x.cos() + 10.0
    };
    let value = |k: u32| -branin(-5.0 + 3.75 * f64::from(k) - 0.45 * 15.0, 7.5 - 0.2 * 15.0);
    close(&function(&found, 0, 5), &(0..5).map(value).collect::<Vec<f64>>());
}

#[test]
fn shifts_without_a_meaning_are_refused() {
    let golden = "tests/golden/federated.ron";
    let groups = |shift: &str| {
        format!("protocol.groups=[AgentGroup(members: \"quick\", differences: Differences(shift: {shift}))]")
    };
    let categories = "objective=Table(file: \"../../scenarios/data/sacramento.csv\", inputs: [\"sqft\", \"type\"], one_hot: [\"type\"], \
                      output: Column(\"price\"), hyperparameters: Given(length_scales: [1, 1, 1, 1], variance: 1, noise_variance: 0.1))";
    refused(golden, &[&groups("Uniform(0.1)"), categories], &["differences.shift", "one with categories"]);
    let table = "objective=Table(file: \"../../scenarios/data/diabetes.csv\", inputs: [\"bmi\", \"bp\"], output: Column(\"target\"), \
                 hyperparameters: Given(length_scales: [1, 1], variance: 0.5, noise_variance: 0.5))";
    refused(golden, &[&groups("Given([[0.1]])"), table], &["shift.Given[0]", "each of the 2 inputs"]);
    let cohort = "protocol.cohorts=[Cohort(name: \"a\", differences: Differences(shift: Uniform(0.1)))]";
    let stocks = "objective=Correlation(file: \"data/stocks.csv\", ignore: [\"Date\"])";
    refused("scenarios/users.ron", &[cohort, stocks], &["shift", "one whose inputs are readings"]);
}
