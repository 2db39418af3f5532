//! Private release through the public door: what theorems say against what happens, and what the ledger says.

use crate::support::{code_and_output, contents, folder, run, subrosa};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use subrosa::gp::dot;
use subrosa::objectives::{Records, Training, TuningFacts, ValidationLoss, models, performance};
use subrosa::privacy::mechanisms::ExponentialMechanism;
use subrosa::protocols::release::{Constants, sensitivity};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{Epsilon, Positive};
use tempfile::TempDir;

fn rows<'a>(document: &'a Value, cell: usize, series: &str) -> &'a [Value] {
    let all = document["cells"][cell]["series"].as_array().unwrap();
    let found = all.iter().find(|entry| entry["name"] == series).unwrap_or_else(|| panic!("no {series}"));
    found["outcomes"].as_array().map_or(&[], Vec::as_slice)
}

fn outcome<'a>(document: &'a Value, cell: usize, series: &str, name: &str) -> &'a Value {
    let found = rows(document, cell, series).iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("{series} has no {name}"))
}

fn mean(row: &Value) -> f64 {
    row["value"]["mean"].as_f64().unwrap()
}

/// A record of norm at most 1 times its label, of any direction; often as long as it may be.
fn record(stream: &mut Stream, d: usize) -> Vec<f64> {
    let mut row: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
    let length = if stream.bernoulli(0.7) { 1.0 } else { stream.uniform() };
    let scale = length / dot(&row, &row).sqrt();
    row.iter_mut().for_each(|cell| *cell *= scale);
    row
}

fn records(stream: &mut Stream, n: usize, d: usize) -> Records {
    Records { d, signed: (0..n).flat_map(|_| record(stream, d)).collect() }
}

/// Theorem 7 with the corrected constants: the best performance over any settings tried on V, and over any others
/// tried on V', never differ by more than the sensitivity. 40 models families times 100 neighbours, half of them the
/// worst replacement there is: the record along the weights, turned over.
#[test]
fn algorithm_3_never_exceeds_its_sensitivity() {
    let mut stream = Key::root(3).stream();
    let slopes = [0.5, 2.0].map(|slope| ValidationLoss::Sigmoid { slope: Positive::new(slope).unwrap() });
    let losses = [ValidationLoss::Ramp, slopes[0], slopes[1]];
    let mut closest: f64 = 0.0;
    for family in 0..40 {
        let training =
            [Training::LogisticRegression, Training::SmoothedHingeSvm, Training::HingeSvm][family / 2 % 3];
        let loss = losses[family % 3];
        let low = [0.05, 0.5, 1.0, 4.0][family % 4];
        let high = low * [1.0, 1.01, 1.5][family / 4 % 3];
        let lambdas: Vec<f64> = (0..6).map(|k| low + (high - low) * f64::from(k) / 5.0).collect();
        let mut train = records(&mut stream, 1 + family % 5, 3);
        if family % 5 == 0 {
            train.signed = vec![1.0, 0.0, 0.0];
        }
        let weights = models(&train, training, &lambdas).unwrap();
        for pair in 0..100 {
            let m = 1 + pair % 7;
            let mut own = records(&mut stream, m, 3);
            let mut other = own.clone();
            let replaced = stream.below(m as u64) as usize * 3;
            if pair % 2 == 0 {
                let norm = dot(&weights[0], &weights[0]).sqrt();
                for (k, w) in weights[0].iter().enumerate() {
                    own.signed[replaced + k] = w / norm;
                    other.signed[replaced + k] = -w / norm;
                }
            } else {
                other.signed[replaced..replaced + 3].copy_from_slice(&record(&mut stream, 3));
            }
            let tried = |records: &Records, stream: &mut Stream| {
                let count = 1 + stream.below(6) as usize;
                let settings = stream.distinct(6, count);
                let best = settings.iter().map(|&s| performance(&weights[s], records, loss));
                best.fold(f64::NEG_INFINITY, f64::max)
            };
            let (a, b) = (tried(&own, &mut stream), tried(&other, &mut stream));
            let facts = TuningFacts {
                records: m as f64,
                loss_range: ValidationLoss::RANGE,
                lipschitz: loss.lipschitz(),
                lambda_min: low,
                lambda_max: high,
            };
            let most = sensitivity(facts, Constants::Corrected);
            assert!((a - b).abs() <= most * (1.0 + 1e-12), "{} above {most}: {facts:?}", (a - b).abs());
            closest = closest.max((a - b).abs() / most);
        }
    }
    assert!(closest > 0.3, "the neighbours are too tame to test anything: {closest}");
}

/// The printed L / (m lambda_min) is too small: one record turned over moves the loss by more. One training record
/// x = y = 1 and lambda = 2 give w = 1/3.
#[test]
fn the_printed_sensitivity_of_algorithm_3_is_exceeded() {
    let train = Records { d: 1, signed: vec![1.0] };
    let weights = models(&train, Training::SmoothedHingeSvm, &[2.0]).unwrap();
    let loss = ValidationLoss::Sigmoid { slope: Positive::new(1.0).unwrap() };
    let of = |record: f64| performance(&weights[0], &Records { d: 1, signed: vec![record] }, loss);
    let moved = (of(1.0) - of(-1.0)).abs();
    let facts =
        TuningFacts { records: 1.0, loss_range: 1.0, lipschitz: 0.5, lambda_min: 2.0, lambda_max: 2.0 };
    assert!(moved > sensitivity(facts, Constants::Printed), "{moved}");
    assert!(moved <= sensitivity(facts, Constants::Corrected));
}

/// The exact hinge loss exceeds the printed one by as much: one training record x = y = 1 and lambda = 2 give w = 1/2,
/// and a validation record turned over moves the sigmoid loss by tanh(1/2).
#[test]
fn the_exact_hinge_loss_is_the_counterexample_to_theorem_7() {
    let train = Records { d: 1, signed: vec![1.0] };
    let weights = models(&train, Training::HingeSvm, &[2.0]).unwrap();
    assert!((weights[0][0] - 0.5).abs() < 1e-6);
    let loss = ValidationLoss::Sigmoid { slope: Positive::new(1.0).unwrap() };
    let of = |record: f64| performance(&weights[0], &Records { d: 1, signed: vec![record] }, loss);
    let moved = (of(1.0) - of(-1.0)).abs();
    assert!((moved - 0.5f64.tanh()).abs() < 1e-6, "{moved}");
    let facts =
        TuningFacts { records: 1.0, loss_range: 1.0, lipschitz: 0.5, lambda_min: 2.0, lambda_max: 2.0 };
    assert!(moved > sensitivity(facts, Constants::Printed), "{moved}");
    assert!(moved <= sensitivity(facts, Constants::Corrected));
}

/// Every setting of a search published as it is chosen: the whole run keeps its epsilon, each choice has more of it than
/// an equal part, the figure quoted is the one for adaptive choices, and the result is far better than blind.
#[test]
fn every_setting_may_be_published_during_the_run() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/studies/every-setting.ron", out.path(), &["--replications", "20"]);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    for (index, cell) in cells.iter().enumerate() {
        let (rounds, epsilon) =
            (cell["point"]["T"].as_u64().unwrap(), cell["point"]["epsilon"].as_f64().unwrap());
        for series in ["every setting, exponential", "every setting, noisy max"] {
            let rows = cell["privacy"].as_array().unwrap();
            let row = rows.iter().find(|row| row["series"] == series).unwrap();
            // All but the first setting, and the one at the end.
            assert_eq!(row["releases"], rounds, "{series}");
            let losses = row["losses"].as_array().unwrap();
            let by = |name: &str| losses.iter().find(|loss| loss["accountant"] == name).unwrap();
            let (tight, basic) = (by("tight"), by("basic"));
            assert_eq!((&tight["basis"], &tight["standing"]), (&"proven".into(), &"bound".into()), "{tight}");
            let reached = tight["epsilon"].as_f64().unwrap();
            assert!(reached <= epsilon * (1.0 + 1e-9) && reached > 0.98 * epsilon, "{reached} of {epsilon}");
            assert!(basic["epsilon"].as_f64().unwrap() >= 0.999 * epsilon);
            if series.ends_with("exponential") {
                let more = basic["epsilon"].as_f64().unwrap() / epsilon;
                assert!(more > if rounds == 40 { 2.0 } else { 1.2 }, "bounded range is worth {more}");
            }
            let sent =
                cell["series"].as_array().unwrap().iter().find(|entry| entry["name"] == series).unwrap();
            // One announcement for each, the publication, and its confirmation.
            assert_eq!(sent["metrics"]["messages"], (rounds - 1 + 2) as f64);
        }
        let regret = |series| mean(outcome(&document, index, series, "f(lambda*) - f(lambda~)"));
        if epsilon >= 1.0 {
            let (every, blind) = (regret("every setting, exponential"), regret("blind"));
            assert!(every < 0.35 * blind, "{every} against {blind}");
            assert!(regret("fixed grid, exponential") <= every);
        }
    }
}

/// Private selection: one release with the epsilon of the whole publication, conditional on a hidden number of trials; the
/// number is random with the stated mean; and at epsilon 10 the setting is far better than a blind draw.
#[test]
fn a_random_number_of_trials_is_published_once() {
    let out = TempDir::new().unwrap();
    let document = run(
        "scenarios/studies/private-selection.ron",
        out.path(),
        &["--replications", "30", "-o", "objective.Tuning.settings=20"],
    );
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 3);
    for (index, cell) in cells.iter().enumerate() {
        let epsilon = cell["point"]["epsilon"].as_f64().unwrap();
        for series in ["geometric, Laplace", "logarithmic, Laplace", "Poisson, Gaussian"] {
            let rows = cell["privacy"].as_array().unwrap().iter();
            let row = rows.clone().find(|row| row["series"] == series).unwrap();
            assert_eq!(row["releases"], 1, "{series}");
            let losses = row["losses"].as_array().unwrap();
            let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
            assert_eq!(tight["basis"], "conditional", "{tight}");
            let reached = tight["epsilon"].as_f64().unwrap();
            assert!(reached <= epsilon * (1.0 + 1e-9) && reached > 0.99 * epsilon, "{reached} of {epsilon}");
            assert!(row.to_string().contains("do not learn the number of trials"), "{row}");
        }
        let regret = |series| mean(outcome(&document, index, series, "f(lambda*) - f(lambda~)"));
        if epsilon >= 10.0 {
            let (selected, blind) = (regret("geometric, Laplace"), regret("blind"));
            assert!(selected < 0.5 * blind, "{selected} against {blind}");
        }
    }
}

/// A Poisson number of trials may be 0: then nothing is published, and the report says how often. Of 60 replications with
/// mean 1.5 a share of exp(-1.5) = 0.223 has none; six standard errors are 0.32.
#[test]
fn a_replication_without_trials_is_counted() {
    let out = TempDir::new().unwrap();
    let series = "protocol.series=[Series(name: \"p\", publication: RandomRepetitions(epsilon: 1, repetitions: \
                  Poisson(mean: 1.5), noise: Gaussian(delta: 1e-6)))]";
    let more = ["--replications", "60", "-o", "objective.Tuning.settings=20", "-o", series];
    let document = run("scenarios/studies/private-selection.ron", out.path(), &more);
    let counts = &document["cells"][0]["series"][0]["metrics"]["counts"];
    let share = counts["no trial, nothing published"].as_f64().unwrap();
    assert!((share - (-1.5f64).exp()).abs() < 0.32 && share > 0.0, "{share}");
    let (_, text, _) = code_and_output(&subrosa(&["report", folder(&document).to_str().unwrap()]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("without a trial, in which nothing was published: 0."), "{text}");
}

/// Laplace noise with exact arithmetic has room for 5e8 times the sensitivity: `check` refuses what `run` could not play.
#[test]
fn an_epsilon_below_what_exact_arithmetic_reaches_is_refused() {
    for (publication, arithmetic) in [
        ("FixedGrid(epsilon: 1e-9", ""),
        ("RandomRepetitions(epsilon: 1e-8", ""),
        ("AboveThreshold(threshold: -0.2, epsilon: 1e-9", ""),
        ("AboveThreshold(threshold: -0.2, epsilon: 1e-9", ", arithmetic: Ideal"),
        ("Lipschitz(epsilon: 1e-9, learner: Random()", ""),
        ("GpNoisy(epsilon: 1e-9, delta: 0.05, neighbour_correlation: 0.99", ""),
        ("FixedGrid(epsilon: 1e-9", ", arithmetic: Ideal"),
    ] {
        let series =
            format!("protocol.series=[Series(name: \"a\", publication: {publication}{arithmetic}))]");
        let study = "scenarios/studies/private-selection.ron";
        let (code, told, error) = code_and_output(&subrosa(&["check", study, "-o", &series]));
        let words = (told + &error).split_whitespace().collect::<Vec<_>>().join(" ");
        let refused = words.contains("for each release with exact arithmetic");
        assert_eq!(
            (code == 3, refused),
            (arithmetic.is_empty(), arithmetic.is_empty()),
            "{publication}: {words}"
        );
    }
}

/// The time of training, and the messages to machines, would tell the number of trials.
#[test]
fn a_random_number_of_trials_is_not_for_machines_that_take_time() {
    let output = subrosa(&[
        "check",
        "scenarios/studies/private-selection.ron",
        "-o",
        "parties={\"hospital\": Party(), \"journal\": Party(), \"machine\": Party()}",
        "-o",
        "protocol.workers=[\"machine\"]",
    ]);
    let (code, told, error) = code_and_output(&output);
    assert_eq!(code, 3, "{told}{error}");
    let words = (told + &error).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("tell the number of trials, which nobody may learn"), "{words}");
}

/// The study's series for above threshold, and the numbers of trials of each replication.
fn above_threshold(out: &Path, more: &[&str]) -> (Value, Vec<usize>) {
    let series = "protocol.series=[Series(name: \"above\", publication: AboveThreshold(epsilon: 1, threshold: -0.15)), \
                  Series(name: \"value\", publication: AboveThreshold(epsilon: 1, threshold: -0.15, performance: Some(0.5)))]";
    let fixed = ["--replications", "40", "-o", "objective.Tuning.settings=60", "-o", series];
    let all: Vec<&str> = fixed.iter().chain(more).copied().collect();
    let document = run("scenarios/studies/private-selection.ron", out, &all);
    let text = String::from_utf8(contents(&folder(&document), "iterations.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|known| *known == name).unwrap();
    let mut trials = vec![0; 40];
    for line in lines.filter(|line| line[place("series")] == "above") {
        trials[line[place("replication")].parse::<usize>().unwrap()] += 1;
    }
    (document, trials)
}

/// Above threshold: the search stops at the setting that is published; one release, proven, with the whole epsilon (and 0.5
/// more for the performance); the setting is mostly above the threshold, and few models are trained.
#[test]
fn the_first_setting_above_a_threshold_is_published_and_ends_the_search() {
    let out = TempDir::new().unwrap();
    let (document, trials) = above_threshold(out.path(), &[]);
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    for (series, epsilon) in [("above", 1.0), ("value", 1.5)] {
        let of = |unit: &str| rows.iter().find(|row| row["series"] == series && row["unit"] == unit).unwrap();
        let row = of("ValidationRecord");
        assert_eq!(row["releases"], 1, "{row}");
        let tight =
            row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == "tight").unwrap();
        assert_eq!(tight["basis"], "proven", "{tight}");
        let found = tight["epsilon"].as_f64().unwrap();
        assert!(found <= epsilon * (1.0 + 1e-9) && found > 0.99 * epsilon, "{found} for {epsilon}");
        assert_eq!(of("TrainingRecord")["losses"][0]["basis"], "unprotected");
    }
    // A third of the settings or more are above, so most searches end long before 60 trials.
    let mean = trials.iter().sum::<usize>() as f64 / 40.0;
    assert!(trials.iter().all(|trials| (1..=60).contains(trials)) && mean < 15.0, "{trials:?}");
    let regret = self::mean(outcome(&document, 0, "above", "f(lambda*) - f(lambda~)"));
    assert!(regret < 0.2, "{regret}");
    let error = self::mean(outcome(&document, 0, "value", "|v~ - v(lambda~)|"));
    assert!(error < 0.05, "{error}");
}

/// Several machines: outcomes are compared as they arrive, trials under way have no effect, and the price is the same. A
/// relay that can read messages to the machines sees when the search stops, and has an entry of its own from the beginning.
#[test]
fn a_search_that_stops_is_for_machines_too() {
    let out = TempDir::new().unwrap();
    let machines = [
        "-o",
        "parties={\"hospital\": Party(), \"journal\": Party(), \"relay\": Party(), \"one\": Party(compute: Drawn(time: \
         Exponential(mean: \"10min\"))), \"two\": Party(compute: Drawn(time: Exponential(mean: \"10min\")))}",
        "-o",
        "network=Network(topology: Star(hub: \"relay\"), encryption: None, default: Link(latency: Constant(\"40ms\")))",
        "-o",
        "protocol.workers=[\"one\", \"two\"]",
    ];
    let (document, trials) = above_threshold(out.path(), &machines);
    let mean = trials.iter().sum::<usize>() as f64 / 40.0;
    assert!(mean > 1.0 && mean < 15.0, "{trials:?}");
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let of = |observer: &str| {
        let mut rows =
            rows.iter().filter(|row| row["series"] == "above" && row["unit"] == "ValidationRecord");
        rows.find(|row| row["observer"].as_str().unwrap().contains(observer)).unwrap().clone()
    };
    for observer in ["relay", "reads the publication"] {
        let row = of(observer);
        assert_eq!(row["releases"], 1, "{row}");
        let tight =
            row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == "tight").unwrap();
        let found = tight["epsilon"].as_f64().unwrap();
        assert!((found - 1.0).abs() < 1e-5, "{observer}: {found}");
    }
}

/// A threshold that no setting reaches: nothing is published, and the report says how often.
#[test]
fn a_threshold_out_of_reach_publishes_nothing() {
    let out = TempDir::new().unwrap();
    let series = "protocol.series=[Series(name: \"a\", publication: AboveThreshold(epsilon: 50, threshold: 0.5, order: Listed))]";
    let more = ["--replications", "3", "-o", "objective.Tuning.settings=20", "-o", series];
    let document = run("scenarios/studies/private-selection.ron", out.path(), &more);
    let metrics = &document["cells"][0]["series"][0]["metrics"];
    assert_eq!(metrics["counts"]["none above the threshold, nothing published"], 1.0, "{metrics}");
    let text = String::from_utf8(contents(&folder(&document), "iterations.csv")).unwrap();
    assert_eq!(text.lines().count(), 1 + 3 * 20, "every setting is tried once");
}

/// A budget ends a search that tells its settings where it is used up; what was told stays told, and is all there is.
#[test]
fn a_budget_ends_a_search_that_tells_its_settings() {
    let out = TempDir::new().unwrap();
    let document = run(
        "scenarios/studies/every-setting.ron",
        out.path(),
        &[
            "--replications",
            "2",
            "-o",
            "protocol.rounds=40",
            "-o",
            "protocol.series=[Series(name: \"x\", publication: EverySetting(epsilon: 1, delta: 1e-6))]",
            "-o",
            "privacy=Privacy(delta: 1e-6, budget: Budget(epsilon: 0.5, delta: 1e-6, unit: ValidationRecord))",
        ],
    );
    let row = &document["cells"][0]["privacy"][0];
    let releases = row["releases"].as_u64().unwrap();
    assert!(releases > 2 && releases < 20, "{releases}");
    let losses = row["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    assert!(tight["epsilon"].as_f64().unwrap() <= 0.5 * (1.0 + 1e-9), "{tight}");
    let budget = document["cells"][0]["series"][0]["budget"].as_str().unwrap();
    assert!(budget.contains("gets nothing more"), "{budget}");
}

/// Models are trained on records that no noise hides: whatever is published says so of training records, a budget for every
/// unit lets nothing out, and one for validation records alone is what it was. A function that is drawn was trained on
/// nothing.
#[test]
fn training_records_are_listed_as_unprotected() {
    let out = TempDir::new().unwrap();
    let two = "protocol.series=[Series(name: \"grid\", publication: FixedGrid(epsilon: 1)), Series(name: \"blind\", \
               publication: Blind())]";
    let played = |scenario: &str, budget: &str, series: &str| {
        let budget = format!("privacy=Privacy(delta: 1e-6{budget})");
        run(scenario, out.path(), &["--replications", "1", "-o", series, "-o", &budget])
    };
    let units = |document: &Value, series: &str| -> Vec<(String, Value, Value)> {
        let rows = document["cells"][0]["privacy"].as_array().unwrap().iter();
        let of = rows.filter(|row| row["series"] == series).map(|row| {
            let losses = row["losses"].as_array().unwrap();
            let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
            (row["unit"].as_str().unwrap().to_owned(), row["releases"].clone(), tight["basis"].clone())
        });
        of.collect()
    };
    let row = |unit: &str, basis: &str| (unit.to_owned(), Value::from(2), Value::from(basis));
    let document = played("scenarios/release.ron", "", two);
    let both = [row("ValidationRecord", "proven"), row("TrainingRecord", "unprotected")];
    assert_eq!(units(&document, "grid"), both);
    assert!(units(&document, "blind").is_empty());
    let validation = ", budget: Budget(epsilon: 2, delta: 1e-6, unit: ValidationRecord)";
    assert_eq!(units(&played("scenarios/release.ron", validation, two), "grid"), both);
    for unit in ["", ", unit: TrainingRecord"] {
        let budget = format!(", budget: Budget(epsilon: 2, delta: 1e-6{unit})");
        let document = played("scenarios/release.ron", &budget, two);
        assert!(units(&document, "grid").is_empty());
        let reason = document["cells"][0]["series"][0]["budget"].as_str().unwrap();
        assert!(reason.contains("no mechanism protects training records"), "{reason}");
    }
    // Functions that are drawn: without records that models are trained on, and with those that a recipe assumes.
    let drawn = "scenarios/papers/dp-bo/algorithm1.ron";
    let one =
        |publication: &str| format!("protocol.series=[Series(name: \"x\", publication: {publication})]");
    let prior = one("GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.9)");
    assert_eq!(units(&played(drawn, "", &prior), "x"), [row("ValidationRecord", "conditional")]);
    let facts = "TaskFacts(records: 20, loss_range: 1, lipschitz: 1, lambda_min: 1e-4, lambda_max: 10)";
    let assumed = one(&format!("FixedGrid(epsilon: 1, assume: {facts})"));
    let both = [row("ValidationRecord", "conditional"), row("TrainingRecord", "unprotected")];
    assert_eq!(units(&played(drawn, "", &assumed), "x"), both);
}

/// Theorems 1, 2 and 4 hold at least as often as they say when functions come from the assumed prior; the realised
/// sensitivity differs from 0, so that there is something to bound; and epsilon buys utility.
#[test]
fn bounds_of_algorithm_1_hold_at_the_stated_frequency() {
    let out = TempDir::new().unwrap();
    let document = run(
        "scenarios/papers/dp-bo/algorithm1.ron",
        out.path(),
        &["--replications", "60", "-o", "objective.grid=[8, 8]", "-o", "protocol.rounds=25"],
    );
    let cells = document["cells"].as_array().unwrap().len();
    assert_eq!(cells, 4);
    let names = ["max mu_T - mu_T(lambda~)", "max |mu_T - mu_T'|", "|v~ - f(lambda*)|"];
    for cell in 0..cells {
        for series in ["Algorithm 1", "Algorithm 1, as printed"] {
            for name in names {
                let row = outcome(&document, cell, series, name);
                let held = row["bound"]["held"].as_f64().unwrap();
                assert!(held >= row["bound"]["probability"].as_f64().unwrap(), "{series}: {row}");
            }
            assert!(mean(outcome(&document, cell, series, names[1])) > 0.1);
        }
    }
    let regret = |cell, series| mean(outcome(&document, cell, series, "f(lambda*) - f(lambda~)"));
    // Nearly blind at epsilon = 1, useful from 100 on.
    assert!((regret(0, "Algorithm 1") - regret(0, "blind")).abs() < 0.5);
    assert!(regret(2, "Algorithm 1") < 0.7 * regret(0, "blind"));
    assert!(regret(3, "Algorithm 1") < 0.4 * regret(0, "blind"));
    assert!(mean(outcome(&document, 0, "Algorithm 1", names[2])) > 5.0, "noise is large at epsilon = 1");
}

/// Setting by setting, how often a fixed grid is released against the exact probabilities of the exponential
/// mechanism (chi-square at the 0.9999 quantile for 4 degrees of freedom, 23.51; fixed seed).
#[test]
fn a_fixed_grid_releases_settings_at_their_exact_frequencies() {
    let out = TempDir::new().unwrap();
    let more = [
        "--replications",
        "1000",
        "-o",
        "objective.settings=5",
        "-o",
        "objective.noise_sd=0",
        "-o",
        "protocol.workers=[]",
        "-o",
        "protocol.series=[Series(name: \"grid\", publication: FixedGrid(epsilon: 0.4, publish: Setting, \
         assume: TaskFacts(records: 20, loss_range: 1, lipschitz: 1, lambda_min: 1e-4, lambda_max: 10)))]",
    ];
    let document = run("scenarios/release.ron", out.path(), &more);
    let text = String::from_utf8(contents(&folder(&document), "records.jsonl")).unwrap();
    let mut values = Vec::new();
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let series = &record["series"][0];
        values =
            series["iterations"].as_array().unwrap().iter().map(|i| i["value"].as_f64().unwrap()).collect();
        let regret = series["outcomes"][0]["value"].as_f64().unwrap();
        *seen.entry(format!("{regret:.12}")).or_default() += 1;
    }
    assert_eq!((values.len(), seen.values().sum::<u64>()), (5, 1000));
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let counts: Vec<u64> =
        values.iter().map(|v| seen.get(&format!("{:.12}", best - v)).copied().unwrap_or(0)).collect();
    assert_eq!(counts.iter().sum::<u64>(), 1000, "five different performances: {seen:?} {values:?}");
    let statistic = |epsilon: f64| {
        let mechanism =
            ExponentialMechanism::new(Epsilon::new(epsilon).unwrap(), Positive::new(0.05).unwrap());
        let expected = mechanism.probabilities(&values);
        let term = |(count, p): (&u64, &f64)| (*count as f64 - 1000.0 * p).powi(2) / (1000.0 * p);
        counts.iter().zip(&expected).map(term).sum::<f64>()
    };
    assert!(statistic(0.4) < 23.51, "{counts:?}: {}", statistic(0.4));
    assert!(statistic(0.8) > 23.51, "a wrong epsilon goes unseen: {counts:?}");
}

/// What is proven, what is conditional and what is only published stands in the ledger, with its sensitivity.
#[test]
fn the_ledger_tells_proven_from_conditional() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/release.ron", out.path(), &["--replications", "2"]);
    let cell = &document["cells"][1];
    assert_eq!(cell["point"]["epsilon"], 1.0);
    let privacy = |series: &str| {
        let rows = cell["privacy"].as_array().unwrap();
        rows.iter().find(|row| row["series"] == series).unwrap_or_else(|| panic!("no {series}"))
    };
    let basic = |series: &str| {
        let losses = privacy(series)["losses"].as_array().unwrap();
        losses.iter().find(|loss| loss["accountant"] == "basic").unwrap().clone()
    };
    for (series, basis, epsilon) in [
        ("fixed grid", "proven", 2.0),
        ("fixed grid, noisy max", "proven", 2.0),
        ("Algorithm 1", "conditional", 2.0),
        ("Algorithm 3", "proven", 1.0),
    ] {
        let loss = basic(series);
        assert_eq!(loss["basis"], basis, "{series}");
        assert!((loss["epsilon"].as_f64().unwrap() - epsilon).abs() < 1e-9, "{series}: {loss}");
        assert_eq!(privacy(series)["unit"], "ValidationRecord");
    }
    assert_eq!(basic("non-private")["basis"], "unprotected");
    assert!(cell["privacy"].as_array().unwrap().iter().all(|row| row["series"] != "blind"));
    let published = &privacy("Algorithm 1")["losses"][0];
    assert_eq!((&published["accountant"], &published["delta"]), (&"as published".into(), &0.1.into()));
    let ledger = std::fs::read_to_string(folder(&document).join("ledger.csv")).unwrap();
    assert!(ledger.contains("Kusner Algorithm 1, Laplace noise, corrected constants"));
    assert!(ledger.contains("probability 1 - 0.05 over functions drawn from the assumed GP"));
    // g*/m of the fixed grid: 569 records, 285 (rounded up) for training.
    let mut reader = csv::Reader::from_reader(ledger.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|found| found == name).unwrap();
    let grid = reader
        .records()
        .map(Result::unwrap)
        .find(|row| &row[place("cell")] == "1" && &row[place("series")] == "fixed grid")
        .unwrap();
    let sensitivity: f64 = grid[place("sensitivity")].parse().unwrap();
    assert!((sensitivity - 1.0 / 284.0).abs() < 1e-12, "{sensitivity}");
}

/// On real records the fixed grid is close to the non-private choice where the paper's algorithms are close to blind.
#[test]
fn a_fixed_grid_is_useful_at_epsilon_1() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/release.ron", out.path(), &["--replications", "30"]);
    let regret = |series| mean(outcome(&document, 1, series, "f(lambda*) - f(lambda~)"));
    assert!(regret("fixed grid") < 0.3 * regret("blind"), "{} {}", regret("fixed grid"), regret("blind"));
    assert!(regret("Algorithm 1") > 2.0 * regret("fixed grid"));
    let error = |series| mean(outcome(&document, 1, series, "|v~ - f(lambda*)|"));
    assert!(error("fixed grid") < 0.1 && error("Algorithm 3") > 5.0 * error("fixed grid"));
    let grid = outcome(&document, 1, "fixed grid", "max v - v(lambda~)");
    let table = std::fs::read_to_string(folder(&document).join("summary.csv")).unwrap();
    let held = grid["bound"]["held"].as_f64().unwrap();
    let line = format!("share of runs within the bound on max v - v(lambda~),{held},,30");
    assert!(table.contains(&line), "no {line}");
    assert!(table.contains("probability that the bound on max v - v(lambda~) holds,0.95"));
    assert!(grid["bound"]["held"].as_f64().unwrap() >= 0.9, "{grid}");
}

/// Trials on machines that drop out: all are finished, on the same noise, and one machine alone takes longer.
#[test]
fn machines_that_drop_out_cost_time_and_nothing_else() {
    let out = TempDir::new().unwrap();
    let series = "protocol.series=[Series(name: \"grid\", publication: FixedGrid(epsilon: 1))]";
    let common = ["--replications", "3", "-o", series, "-o", "network.default.loss=NoLoss()"];
    let three = run("scenarios/release.ron", out.path(), &common);
    let one = run(
        "scenarios/release.ron",
        out.path(),
        &[&common[..], &["-o", "protocol.workers=[\"machine 3\"]"]].concat(),
    );
    let none =
        run("scenarios/release.ron", out.path(), &[&common[..], &["-o", "protocol.workers=[]"]].concat());
    let seconds =
        |document: &Value| document["cells"][0]["series"][0]["metrics"]["virtual_seconds"].as_f64().unwrap();
    assert!(seconds(&one) > 1.5 * seconds(&three) && seconds(&three) > 200.0);
    assert!(seconds(&none) < 10.0);
    for document in [&three, &one, &none] {
        let series = &document["cells"][0]["series"][0];
        assert_eq!(series["ended_early"], 0);
        assert_eq!(series["curve"].as_array().unwrap().len(), 20);
    }
    // The fixed grid tries setting k in trial k, so noise and releases do not depend on who trains.
    let released = |document: &Value| outcome(document, 0, "grid", "f(lambda*) - f(lambda~)").clone();
    assert_eq!(released(&one), released(&none));
    assert_eq!(released(&one), released(&three));
}

/// A task of which nothing is known cannot be released, and a noise-free one not by Algorithm 1; nor can a choice be made
/// exactly among numbers whose rounding exceeds their sensitivity. All errors say why.
#[test]
fn what_cannot_be_certified_is_refused() {
    let out = TempDir::new().unwrap();
    let facts = "TaskFacts(records: 285, loss_range: 1, lipschitz: 1, lambda_min: 1e-4, lambda_max: 10)";
    let every = format!("EverySetting(epsilon: 1, delta: 1e-6, regulariser: 1e14, assume: {facts}");
    let grid = format!("FixedGrid(epsilon: 1, assume: {facts})");
    for (series, noise, expected) in [
        (&*format!("{every})"), "0.01", "write `arithmetic: Ideal`"),
        (&*grid, "1e24", "write `arithmetic: Ideal`"),
        ("FixedGrid(epsilon: 1)", "0.01", "assume: TaskFacts("),
        ("Lipschitz(epsilon: 1, learner: GpUcb())", "0.01", "assume: TaskFacts("),
        ("GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.9)", "0", "use GpNoiseFree"),
    ] {
        let output = crate::support::subrosa(&[
            "run",
            "scenarios/papers/dp-bo/algorithm1.ron",
            "--out",
            out.path().to_str().unwrap(),
            "--replications",
            "1",
            "-o",
            &format!("objective.noise_variance={noise}"),
            "-o",
            &format!("protocol.series=[Series(name: \"x\", publication: {series})]"),
        ]);
        let (code, _, stderr) = crate::support::code_and_output(&output);
        assert_ne!(code, 0);
        let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{series}: {stderr}");
    }
}

/// Algorithm 2's bound rests on A and tau: wrong ones are found out, as the scenario's comment says, and right ones
/// hold.
#[test]
fn algorithm_2_is_as_good_as_its_inputs() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/papers/dp-bo/algorithm2.ron", out.path(), &[]);
    let cells = document["cells"].as_array().unwrap();
    let held = |rounds: u64, series: &str| {
        let at = |cell: &Value| cell["point"]["T"] == rounds && cell["point"]["epsilon"] == 10.0;
        let index = cells.iter().position(at).unwrap();
        let row = outcome(&document, index, series, "|v~ - f(lambda*)|");
        row["bound"]["held"].as_f64().unwrap()
    };
    assert!(held(20, "A = 1, tau = 0.1") < 0.5);
    assert!(held(90, "A = 1, tau = 0.1") >= 0.9);
    assert!(held(20, "A = 10, tau = 0") >= 0.9);
}

/// Tuning again on the same records is charged again: every cell and replication of a series adds up.
#[test]
fn a_study_on_one_data_set_adds_up() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/release.ron", out.path(), &["--replications", "2"]);
    let rows = document["whole_study"].as_array().unwrap();
    let of_grid = |row: &&Value| row["series"] == "fixed grid" && row["unit"] == "ValidationRecord";
    let grid = rows.iter().find(of_grid).unwrap();
    // 2 replications, 2 releases each, epsilon 0.1, 1 and 10.
    assert_eq!((&grid["runs"], &grid["releases"]), (&6.into(), &12.into()));
    assert!((grid["epsilon_basic"].as_f64().unwrap() - 44.4).abs() < 1e-9, "{grid}");
    assert!(rows.iter().any(|row| row["series"] == "non-private" && row["epsilon_basic"] == "inf"));
    // Functions drawn anew are new data.
    let drawn = run("scenarios/papers/dp-bo/algorithm1.ron", out.path(), &["--replications", "1"]);
    assert!(drawn.get("whole_study").is_none());
}
