//! The axes of heterogeneity of a federation, through the public door: nothing at zero, what is stated otherwise.

use crate::support::{code_and_output, metric, root, run, subrosa};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use subrosa::objectives::Resources;
use subrosa::protocols::{TraceKind, Watcher};
use subrosa::scenario::Document;
use subrosa::study::{self, Plan};
use tempfile::TempDir;

const GOLDEN: &str = "tests/golden/federated.ron";

fn groups(differences: &str) -> String {
    format!(
        "protocol.groups=[AgentGroup(members: \"quick\", differences: Differences({differences})), AgentGroup(members: \
         \"slow\", heterogeneity: 0.2, differences: Differences({differences}))]"
    )
}

/// Every axis at zero is the scenario without it, and any other value is another one, whatever the number of threads.
#[test]
fn an_axis_at_zero_changes_nothing() {
    let out = TempDir::new().unwrap();
    let digest = |place: &str, differences: &str, threads: &str| {
        let groups = groups(differences);
        let more = ["-o", &groups, "--threads", threads];
        run(GOLDEN, &out.path().join(format!("{place}-{threads}")), &more)["digest"].clone()
    };
    let plain = run(GOLDEN, &out.path().join("plain"), &[])["digest"].clone();
    let axes = [
        ("shift", "shift: Uniform(0)", "shift: Uniform(0.2)"),
        ("normal", "shift: Normal(0)", "shift: Normal(0.1)"),
        ("scale", "scale: LogNormal(0)", "scale: LogNormal(0.5)"),
        ("given", "scale: Given([1])", "scale: Given([2, 1])"),
        ("noise", "noise: LogNormal(0)", "noise: LogNormal(0.5)"),
        ("clusters", "clusters: Clusters(count: 3, apart: 0)", "clusters: Clusters(count: 3)"),
        ("drift", "drift: Drift(rate: 0, own: 0.5)", "drift: Drift(rate: 0.1)"),
        ("own", "drift: Drift(rate: 0)", "drift: Drift(rate: 0.1, own: 1)"),
        ("length", "model_length_scale: LogNormal(0)", "model_length_scale: LogNormal(0.5)"),
        ("assumed", "model_noise: Given([1, 1])", "model_noise: LogNormal(1)"),
        ("domain", "domain: Box(1)", "domain: Box(0.5)"),
        ("subset", "domain: Random(1)", "domain: Random(0.5)"),
    ];
    let mut found = vec![plain.clone()];
    for (place, zero, other) in axes {
        assert_eq!(digest(&format!("{place}-zero"), zero, "1"), plain, "{zero}");
        let (one, two) = (digest(place, other, "1"), digest(place, other, "2"));
        assert_eq!(one, two, "{other}");
        assert!(!found.contains(&one), "{other} is another run");
        found.push(one);
    }
    let all_zero: Vec<&str> = ["shift", "scale", "noise", "clusters", "drift", "length", "assumed", "domain"]
        .iter()
        .filter_map(|name| axes.iter().find(|axis| axis.0 == *name).map(|axis| axis.1))
        .collect();
    assert_eq!(digest("all", &all_zero.join(", "), "2"), plain);
}

/// Two agents on five points, each measured by both in every replication: 60 initial points, of which no point is missed but
/// with probability 5 (4/5)^60 = 8e-6 per agent. Without noise, outcomes are the functions.
const PAIR: &str = "Scenario(name: \"pair\", seed: 5, replications: 1, parties: { \"server\": Party(), \"agent\": Party(count: 2) }, \
     network: Network(topology: Mesh()), objective: OBJECTIVE, protocol: Federated(server: \"server\", groups: [AgentGroup(members: \"agent\", \
     heterogeneity: H, differences: Differences(DIFFERENCES))], rounds: 30, initial_points: 60, features: 4, series: [Series(name: \
     \"alone\", sharing: Alone())]))";

/// Outcomes by agent, round and arm.
pub(crate) type Outcomes = BTreeMap<(u64, u64, u64), Vec<f64>>;

pub(crate) fn outcomes(objective: &str, h: &str, differences: &str, seed: u64) -> Outcomes {
    let text = PAIR
        .replace("OBJECTIVE", objective)
        .replace("DIFFERENCES", differences)
        .replace("H,", &format!("{h},"));
    measured(text.replace("seed: 5", &format!("seed: {seed}")))
}

/// All outcomes of the first replication of a scenario.
pub(crate) fn measured(text: String) -> Outcomes {
    let document = Document::from_text(std::path::Path::new("pair.ron"), text);
    let resources = Resources { base: root().to_owned(), ..Resources::default() };
    let cells = document.cells(&[], &resources).unwrap_or_else(|found| panic!("{}", found.render()));
    let plan = Plan::new(document.text().to_owned(), Vec::new(), &resources, cells);
    let seen = Rc::new(RefCell::new(Outcomes::new()));
    let into = Rc::clone(&seen);
    let watcher = Watcher::of_contents(move |_, event| {
        if let TraceKind::Recorded(_, fact) = &event.kind
            && fact.starts_with("Measured")
        {
            let number = |name: &str| {
                let from = fact.find(&format!("{name}: ")).unwrap() + name.len() + 2;
                fact[from..].split([',', ' ', '}']).next().unwrap().parse::<f64>().unwrap()
            };
            let place = ["agent", "round", "arm"].map(|name| number(name) as u64);
            into.borrow_mut().entry(place.into()).or_default().push(number("outcome"));
        }
        true
    });
    study::trace(&plan, 0, 0, watcher).expect("it can be played");
    seen.take()
}

/// The function of an agent at the five points in round 0.
fn function(found: &Outcomes, agent: u64) -> Vec<f64> {
    (0..5).map(|arm| found.get(&(agent, 0, arm)).expect("every point is measured")[0]).collect()
}

const DRAWN: &str = "GpSample(grid: [5], max_norm: 1, length_scale: 0.8, noise_variance: 0)";

pub(crate) fn close(a: &[f64], b: &[f64]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9) && a.len() == b.len(), "{a:?} and {b:?}");
}

#[test]
fn functions_are_shifted_and_scaled_as_stated() {
    let common = function(&outcomes(DRAWN, "0", "", 5), 1);
    let sum = "RkhsSum(points: 5, terms: 20, noise: Uniform(bound: 0))";
    let branin = "BraninHoo(grid: [5, 1], noise_variance: 0.1, measurement_noise: 0)";
    for (objective, shift) in
        [(DRAWN, "[0.5], [-0.25]"), (sum, "[0.5], [-0.25]"), (branin, "[0.5, 0], [-0.25, 0]")]
    {
        let unmoved = function(&outcomes(objective, "0", "", 5), 0);
        let found = outcomes(objective, "0", &format!("shift: Given([{shift}])"), 5);
        let (right, left) = (function(&found, 0), function(&found, 1));
        // f(x - 1/2): two steps to the right; f(x + 1/4): one to the left.
        close(&right[2..], &unmoved[..3]);
        close(&left[..4], &unmoved[1..]);
        // Beyond the domain both have the same function, which is not that of any point.
        assert!(unmoved.iter().all(|value| (value - right[0]).abs() > 1e-9), "{objective}");
    }
    let found = outcomes(DRAWN, "0", "scale: Given([1, 3])", 5);
    close(&function(&found, 0), &common);
    close(&function(&found, 1), &common.iter().map(|f| 3.0 * f).collect::<Vec<f64>>());
    // Around the prior mean, which is not 0 where a table's values are scaled by constants.
    let tuned = "Tuning(file: \"scenarios/data/loans.csv\", inputs: [\"int_rate\"], label: Equals(column: \"Class\", value: \"good\"), \
                 training: LogisticRegression, loss: Ramp, lambda_min: 0.01, lambda_max: 1, settings: 5, prior_mean: -0.5)";
    let found = outcomes(tuned, "0", "scale: Given([1, 3])", 5);
    let moved: Vec<f64> = function(&found, 0).iter().map(|f| -0.5 + 3.0 * (f + 0.5)).collect();
    close(&function(&found, 1), &moved);
}

/// Every draw of a table gives the same values, so own functions, clusters and drift are functions of the Gaussian process
/// that is its surrogate: at h = 1 an agent has such a function g, at h = 1/2 it has mu + sqrt(1/2) (table - mu) + sqrt(1/2)
/// (g - mu).
///
/// 400 functions in 200 runs at five points: their mean is mu = 2 and their variance 0.25, with standard errors of 0.5 / 20
/// and 0.25 sqrt(2) / 20; five of them. Neighbouring points are half a length-scale apart: correlation exp(-1/8) = 0.8825,
/// with a standard error of at most 1/20.
#[test]
fn agents_deviate_from_a_table_by_functions_of_its_surrogate() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rows.csv");
    std::fs::write(&file, "x,y\n0,1\n1,4\n2,2\n3,8\n4,5\n").unwrap();
    let objective = format!(
        "Table(file: {file:?}, inputs: [\"x\"], input_scale: Stated(centres: [0], units: [2], radius: 25), output: Column(\"y\"), noise_sd: 0, prior_mean: 2, \
         hyperparameters: Given(length_scales: [1], variance: 0.25, noise_variance: 0.01))"
    );
    let of = |h: &str, more: &str, seed, agent| function(&outcomes(&objective, h, more, seed), agent);
    let table = of("0", "", 5, 0);
    close(&of("0", "", 5, 1), &table);
    let own = of("1", "", 5, 1);
    let half: Vec<f64> =
        table.iter().zip(&own).map(|(c, g)| 2.0 + 0.5f64.sqrt() * (c - 2.0 + g - 2.0)).collect();
    close(&of("0.5", "", 5, 1), &half);
    let (mut values, mut products) = (Vec::new(), Vec::new());
    for seed in 0..200 {
        let found = outcomes(&objective, "1", "", seed);
        for agent in 0..2 {
            let deviation: Vec<f64> = function(&found, agent).iter().map(|value| value - 2.0).collect();
            products.push(deviation[0] * deviation[1] / 0.25);
            values.push(deviation[0]);
        }
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let variance = mean(&values.iter().map(|value| value * value).collect::<Vec<_>>());
    assert!(mean(&values).abs() < 5.0 * 0.5 / 20.0, "{}", mean(&values));
    assert!((variance - 0.25).abs() < 5.0 * 0.25 * 2f64.sqrt() / 20.0, "{variance}");
    let expected = (-0.125f64).exp();
    assert!((mean(&products) - expected).abs() < 5.0 * (1.0 + expected * expected).sqrt() / 20.0);
    // Clusters and drift: other functions than the table's, the same ones within a cluster.
    let apart = outcomes(&objective, "0", "clusters: Clusters(count: 1, apart: 1)", 5);
    close(&function(&apart, 0), &function(&apart, 1));
    assert!(function(&apart, 0) != table);
    let drifting = outcomes(&objective, "0", "drift: Drift(rate: 0.5)", 5);
    close(&function(&drifting, 0), &table);
    assert!(
        drifting.iter().any(|((_, round, arm), y)| *round > 0 && (y[0] - table[*arm as usize]).abs() > 0.1)
    );
}

/// Agents measure their own points only, whatever chooses them, and regret is against the best of these: an agent that has
/// measured all of its points has none. What is lost outside is told.
#[test]
fn agents_measure_their_own_points() {
    for seed in 0..10 {
        let found = outcomes(DRAWN, "0", "domain: Box(0.5)", seed);
        for agent in 0..2 {
            let arms: std::collections::BTreeSet<u64> =
                found.keys().filter(|place| place.0 == agent).map(|place| place.2).collect();
            let (first, last) = (*arms.first().unwrap(), *arms.last().unwrap());
            assert!(arms.len() as u64 == last - first + 1 && (2..=3).contains(&arms.len()), "{arms:?}");
        }
    }
    let out = TempDir::new().unwrap();
    let play = |domain: &str| {
        let groups = groups(domain);
        let alone = "protocol.series=[Series(name: \"DP-FTS-DE\", sharing: Alone())]";
        let points = ["-o", "protocol.initial_points=200", "-o", "protocol.repeated=RandomPoint"];
        let more = [&["-o", groups.as_str(), "-o", alone][..], &points].concat();
        run(GOLDEN, &out.path().join(domain), &more)
    };
    let document = play("domain: Random(0.3)");
    // 200 random points of some twelve: each is missed with probability (11/12)^200 = 3e-8.
    assert_eq!(metric(&document, 0, "DP-FTS-DE", "simple_regret").0, 0.0);
    let outcome = |name: &str| {
        let outcomes = document["cells"][0]["series"][0]["outcomes"].as_array().unwrap();
        let found = outcomes.iter().find(|outcome| outcome["name"] == format!("Functions of agents: {name}"));
        found.unwrap()["value"]["mean"].as_f64().unwrap()
    };
    assert!(outcome("value lost at other points") > 0.0);
    // A loss below a tenth is told with its digits, not as 0.0.
    let nearly = play("domain: Random(0.95)");
    let folder = crate::support::folder(&nearly);
    let (_, text, _) = code_and_output(&subrosa(&["report", folder.to_str().unwrap()]));
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, told) =
        flowing.split_once("a difference that regret does not contain: ").unwrap_or_else(|| panic!("{text}"));
    let lost = told.split(' ').next().unwrap().parse::<f64>().unwrap();
    assert!(lost > 0.0 && lost < 0.1, "{told}");
    // 12 of 40 points each, at random: 0.3 of one's points are another's. 36 pairs in two runs; the share of a pair has a
    // standard deviation of 0.11, and six times 0.11 / sqrt(72) is 0.08.
    assert!((outcome("common points") - 0.3).abs() < 0.08, "{}", outcome("common points"));
}

/// The noise of an agent with factor 4 has 16 times the variance: 60 outcomes each in five runs. The mean of 300 squared
/// normals has a relative standard error of sqrt(2 / 300); six of them around 16 and around 1.
#[test]
fn noise_has_the_stated_levels() {
    let (mut sums, mut count) = ([0.0, 0.0], 0.0);
    for seed in 0..5 {
        let quiet = outcomes(DRAWN, "0", "", seed);
        let noisy = DRAWN.replace("noise_variance: 0", "noise_variance: 0.09");
        let found = outcomes(&noisy, "0", "noise: Given([1, 4])", seed);
        for ((agent, round, arm), outcomes) in &found {
            if *round == 0 {
                let value = quiet[&(*agent, 0, *arm)][0];
                sums[*agent as usize] += outcomes.iter().map(|y| (y - value).powi(2)).sum::<f64>();
                count += if *agent == 0 { outcomes.len() as f64 } else { 0.0 };
            }
        }
    }
    assert_eq!(count, 300.0);
    let error = 6.0 * (2.0f64 / 300.0).sqrt();
    for (sum, variance) in sums.into_iter().zip([0.09, 16.0 * 0.09]) {
        assert!((sum / count / variance - 1.0).abs() < error, "{sum} for {variance}");
    }
}

/// In clusters that are wholly apart two agents have one function or two independent ones. Of 200 runs with four clusters a
/// quarter have one: standard error sqrt(3/16 / 200) = 0.031; six. With apart: 0.5, unlike clusters have a correlation of
/// 0.5.
#[test]
fn clusters_have_functions_of_their_own() {
    let (mut alike, mut product, mut square) = (0.0, 0.0, 0.0);
    for seed in 0..200 {
        let found = outcomes(DRAWN, "0", "clusters: Clusters(count: 4)", seed);
        alike += f64::from(u8::from(function(&found, 0) == function(&found, 1)));
        let found = outcomes(DRAWN, "0", "clusters: Clusters(count: 1000, apart: 0.5)", seed);
        let (a, b) = (function(&found, 0), function(&found, 1));
        product += a[2] * b[2] / 200.0;
        square += (a[2] * a[2] + b[2] * b[2]) / 400.0;
    }
    assert!((alike / 200.0 - 0.25f64).abs() < 6.0 * 0.031, "{alike}");
    // Standard errors of at most sqrt(2 / 200) = 0.1; five.
    assert!((product - 0.5).abs() < 0.5 && (square - 1.0).abs() < 0.5, "{product}, {square}");
    assert!(product > 0.2, "{product}");
}

/// With rate 1 the function of round t is the new draw u_t itself, the same for every rate: so f_1 = sqrt(0.9) f_0 +
/// sqrt(0.1) u_1 with rate 0.1, and f_2 likewise of f_1 and u_2, at every point that both runs measure. The new draws are
/// independent of the choice of points: 900 of them have mean 0 and variance 1, with standard errors of 1/30 and sqrt(2)/30;
/// six.
#[test]
fn functions_drift_at_the_stated_rate() {
    for (own, seeds) in [(0, 150), (1, 150)] {
        let (mut matches, mut sum, mut square, mut apart) = ([0, 0], 0.0, 0.0, 0);
        for seed in 0..seeds {
            let news = outcomes(DRAWN, "0", &format!("drift: Drift(rate: 1, own: {own})"), seed);
            let slow = outcomes(DRAWN, "0", &format!("drift: Drift(rate: 0.1, own: {own})"), seed);
            for ((agent, round, arm), found) in &slow {
                let new = |round: u64| news.get(&(*agent, round, *arm)).map(|found| found[0]);
                let step = |before: f64, new: f64| 0.9f64.sqrt() * before + 0.1f64.sqrt() * new;
                let start = function(&slow, *agent)[*arm as usize];
                let expected = match round {
                    1 => new(1).map(|first| step(start, first)),
                    2 => new(1).zip(new(2)).map(|(first, second)| step(step(start, first), second)),
                    _ => None,
                };
                if let Some(expected) = expected {
                    matches[*round as usize - 1] += 1;
                    assert!((found[0] - expected).abs() < 1e-9, "round {round}: {} for {expected}", found[0]);
                }
            }
            for ((agent, round, arm), found) in news.iter().filter(|((_, round, _), _)| *round > 0) {
                if seed < 30 && *agent == 0 {
                    (sum, square) = (sum + found[0], square + found[0] * found[0]);
                }
                if let Some(other) = news.get(&(1 - agent, *round, *arm)) {
                    let same = (found[0] - other[0]).abs() < 1e-9;
                    assert_eq!(same, own == 0, "round {round}");
                    apart += 1;
                }
            }
        }
        assert!(matches[0] > 30 && matches[1] > 5 && apart > 100, "{matches:?}, {apart}");
        assert!((sum / 900.0).abs() < 6.0 / 30.0, "{sum}");
        assert!((square / 900.0 - 1.0).abs() < 6.0 * 2f64.sqrt() / 30.0, "{square}");
    }
}

/// With a new function in every round that nobody can foresee, the cumulative regret is the sum of the best value of each
/// round minus the value of a point that is as good as random, and the simple regret that of the round: the best of five
/// normals, minus the best of those queried.
#[test]
fn regret_is_that_of_the_round() {
    let out = TempDir::new().unwrap();
    let more = [
        "-o",
        "objective=GpSample(grid: [5], max_norm: 1, length_scale: 0.01, noise_variance: 0)",
        "-o",
        &groups("drift: Drift(rate: 1)"),
        "-o",
        "protocol.perturbation=0",
        "-o",
        "protocol.rounds=60",
        "--replications",
        "20",
    ];

    let document = run(GOLDEN, out.path(), &more);
    // The mean of the largest of five standard normals is 1.163. All nine agents drift alike; 20 x 60 rounds, of which
    // agents miss some; the regret of a round has a standard deviation of some 1.2, and so does their mean over 60 rounds,
    // 0.15: six errors of the mean over 20 runs are 0.21.
    let regret = metric(&document, 0, "DP-FTS-DE", "regret_per_question").0;
    assert!((regret - 1.163).abs() < 0.21, "{regret}");
    // After 60 rounds nearly all points were queried.
    let simple = metric(&document, 0, "DP-FTS-DE", "simple_regret").0;
    assert!((0.0..0.2).contains(&simple), "{simple}");
}

/// The report says how unlike the agents' functions are, in the first series.
#[test]
fn the_report_says_how_unlike_functions_are() {
    let out = TempDir::new().unwrap();
    let outcome = |differences: &str, place: &str| -> Vec<f64> {
        let groups = groups(differences).replace("heterogeneity: 0.2", "heterogeneity: 0");
        let more = ["-o", &groups, "-o", "protocol.perturbation=0", "--replications", "1"];
        let document = run(GOLDEN, &out.path().join(place), &more);
        let outcomes = document["cells"][0]["series"][0]["outcomes"].as_array().cloned().unwrap_or_default();
        let value = |outcome: &Value| outcome["value"]["mean"].as_f64().unwrap();
        let of = |outcome: &&Value| outcome["name"].as_str().unwrap().starts_with("Functions of agents: ");
        outcomes.iter().filter(of).map(value).collect()
    };
    assert_eq!(outcome("shift: Uniform(0)", "none"), [0.0; 0]);
    // A scale changes neither the correlation nor the place of the optimum.
    let scaled = outcome("scale: LogNormal(0.5)", "scaled");
    assert!((scaled[0] - 1.0).abs() < 1e-9 && scaled[1].abs() < 1e-12, "{scaled:?}");
    let shifted = outcome("shift: Uniform(0.3)", "shifted");
    assert!(shifted[0] < 0.9 && shifted[1] > 0.01, "{shifted:?}");
}

#[test]
fn what_an_objective_does_not_allow_is_refused() {
    let check = |more: &[&str]| {
        let mut arguments = vec!["check", GOLDEN];
        more.iter().for_each(|change| arguments.extend(["-o", change]));
        code_and_output(&subrosa(&arguments))
    };
    let table = "objective=Table(file: \"../../scenarios/data/diabetes.csv\", inputs: [\"bmi\"], output: Column(\"target\"), \
                 hyperparameters: Given(length_scales: [1], variance: 0.5, noise_variance: 0.5), noise_sd: 0.1)";
    let plain = "protocol.groups=[AgentGroup(members: \"quick\")]";
    for (differences, objective, field, said) in [
        ("shift: Uniform(1.5)", "", "shift", "at most 1"),
        ("shift: Normal(0.5)", "", "shift", "at most 0.3"),
        ("shift: Uniform(0.01)", "", "shift", "half a step of the grid"),
        ("shift: Given([[0.1, 0.1]])", "", "shift", "each of the 1 inputs"),
        ("shift: Given([[2]])", "", "shift", "from -1 to 1"),
        ("shift: Given([])", "", "shift", "at least one shift"),
        ("scale: LogNormal(4)", "", "scale", "at most 3"),
        ("scale: Given([])", "", "scale", "at least one factor"),
        ("noise: Given([1e9])", "", "noise", "1e-6 to 1e6"),
        ("noise: LogNormal(0.1)", "objective.noise_variance=0", "noise", "without noise"),
        ("domain: Box(0)", "", "domain", "a share above 0"),
        ("clusters: Clusters(count: 2000)", "", "clusters", "at most 1000"),
        ("drift: Drift(rate: 1.5)", "", "rate", "0 to 1"),
        ("drift: Drift(rate: 0.1)", "protocol.width=Theorem(norm: 1)", "drift", "Theorem 1"),
        ("noise: LogNormal(0.1)", "protocol.width=Theorem(norm: 1)", "noise", "the same noise"),
        (
            "shift: Uniform(0.3)",
            "objective=GpSample(grid: [4000], length_scale: 5)",
            "shift",
            "at most 5000 points",
        ),
        ("shift: Given([[0.1, 0.1]])", table, "shift", "each of the 1 inputs"),
    ] {
        let groups = format!(
            "protocol.groups=[AgentGroup(members: \"quick\", differences: Differences({differences}))]"
        );
        let mut more = vec![groups.as_str()];
        if !objective.is_empty() {
            let (_, text, _) = check(&[plain, objective]);
            more.push(objective);
            assert!(!text.contains("rror"), "without differences: {text}");
        }
        let (code, _, stderr) = check(&more);
        assert!(
            code == 3 && stderr.contains(said) && stderr.contains(field),
            "{differences}: {code} {stderr}"
        );
    }
}
