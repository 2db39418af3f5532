//! Private release on a box: what is published, at which price, and what is refused.

use crate::support::{code_and_output, folder, metric, refused, run, subrosa};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FACTS: &str =
    "assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1)";

/// An owner that tunes Branin (in hundredths) on its box or on a finite set of its points.
fn scenario(place: &Path, points: &str, workers: &str, series: &str) -> String {
    let text = format!(
        "Scenario(name: \"release-box\", seed: 3, replications: 3, parties: {{ \"owner\": Party(), \"reader\": Party(), \"machine 1\": \
         Party(compute: Drawn(time: Exponential(mean: \"10s\"))), \"machine 2\": Party(compute: Drawn(time: Exponential(mean: \
         \"10s\"))) }}, network: Network(topology: Mesh(), default: Link(latency: Constant(\"20ms\"))), objective: \
         TestFunction(function: Branin, points: {points}), protocol: Release(owner: \"owner\", readers: [\"reader\"], workers: \
         {workers}, rounds: 30, series: [{series}]))"
    );
    let path = place.join("release.ron");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn private() -> String {
    format!("Series(name: \"private\", publication: RandomRepetitions(epsilon: 2, {FACTS}))")
}

const OPEN: &str = "Series(name: \"log-EI\", publication: NonPrivate(learner: Acquisition(refit: Every(3)))), \
    Series(name: \"random\", publication: NonPrivate(learner: Random())), Series(name: \"blind\", publication: Blind())";

/// Two machines train at points that arrive in messages; the published point is the best one tried, and closer to the
/// optimum than a blind one. Two threads and a replay change nothing.
#[test]
fn machines_search_a_box_and_the_best_point_is_published() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), "Box", "[\"machine 1\", \"machine 2\"]", OPEN);
    let documents =
        ["1", "2"].map(|threads| run(&path, &place.path().join(threads), &["--threads", threads]));
    let [one, two] =
        documents.each_ref().map(|all| fs::read_to_string(folder(all).join("iterations.csv")).unwrap());
    assert_eq!(one, two);
    let branin: subrosa::objectives::Function = ron::from_str("Branin").unwrap();
    let mut reader = csv::Reader::from_reader(one.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let columns = ["x.x1", "x.x2", "value"].map(column);
    let mut lines = 0;
    for line in reader.records() {
        let line = line.unwrap();
        let [x1, x2, value] = columns.map(|place| line[place].parse::<f64>().unwrap());
        assert!((value + branin.at(&[x1, x2])).abs() < 1e-9);
        lines += 1;
    }
    assert_eq!(lines, 3 * 2 * 30);
    let regret = |name: &str| metric(&documents[0], 0, name, "simple_regret").0;
    assert!((0.0..1.0).contains(&regret("log-EI")) && regret("log-EI") < regret("random"));
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["replay", folder(&documents[0]).to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let trace = subrosa(&["trace", &path, "--series", "log-EI"]);
    let (code, stdout, stderr) = code_and_output(&trace);
    assert!(code == 0 && stdout.contains("TrainAt") && stdout.contains("PublishAt"), "{stdout}{stderr}");
}

/// The price of private selection does not depend on the number of settings, so it is the same on a box.
#[test]
fn private_selection_costs_the_same_on_a_box() {
    let place = TempDir::new().unwrap();
    let of = |points: &str| {
        let path = scenario(place.path(), points, "[]", &private());
        let document = run(&path, &place.path().join(points.replace(['(', ')'], "-")), &[]);
        let rows = document["cells"][0]["privacy"].as_array().unwrap().clone();
        assert!(!rows.is_empty(), "{document}");
        rows
    };
    let on_box = of("Box");
    assert_eq!(on_box, of("Sobol(50)"));
    let losses: Vec<f64> = on_box
        .iter()
        .flat_map(|row| row["losses"].as_array().unwrap())
        .filter(|loss| loss["accountant"] == "tight")
        // Nothing is proven about training records, which nothing protects.
        .filter_map(|loss| loss["epsilon"].as_f64())
        .collect();
    assert!(!losses.is_empty() && losses.iter().all(|epsilon| *epsilon <= 2.0 + 1e-6), "{losses:?}");
}

/// Two neighbouring data sets, by simulation of the whole search: with every value 0, or every value moved by the
/// sensitivity, each at a random point of the box. The share of runs whose published value is above a threshold is at most
/// e^epsilon times the other one, up to six standard errors: the trials' points say nothing about the data.
#[test]
fn publications_of_neighbours_on_a_box_differ_by_at_most_epsilon() {
    use subrosa::privacy::mechanisms::{
        Laplace, Mechanism, PrivateSelection, Repetitions, ResultNoise, SelectionAmongTrials,
    };
    use subrosa::rng::Key;
    use subrosa::vocab::{Epsilon, Positive};
    let repetitions: Repetitions = ron::from_str("Geometric(mean: 5)").unwrap();
    // A geometric number costs three times one outcome.
    let noise = Laplace::calibrated(Epsilon::new(1.0 / 3.0).unwrap(), Positive::new(1.0).unwrap()).unwrap();
    let selection =
        SelectionAmongTrials(PrivateSelection::new(ResultNoise::Laplace(noise), repetitions).unwrap());
    let n = 40_000u64;
    // Larger values on the left half of the box in one data set, on the right half in the other.
    let share = |left: f64, right: f64, above: &dyn Fn(f64, f64) -> bool| {
        let mut count = 0u64;
        for run in 0..n {
            let mut stream = Key::root(11).index(run).stream();
            let points: Vec<f64> = (0..repetitions.draw(&mut stream)).map(|_| stream.uniform()).collect();
            let outcomes = points.iter().map(|x| if *x < 0.5 { left } else { right });
            let trials: Vec<(u64, f64)> = (0..).zip(outcomes).collect();
            let best = selection.privatise(&trials, &mut stream).unwrap();
            count += u64::from(best.is_some_and(|(trial, value)| {
                value.is_some_and(|value| above(points[trial as usize], value))
            }));
        }
        count as f64 / n as f64
    };
    let events: [&dyn Fn(f64, f64) -> bool; 3] =
        [&|x, _| x < 0.5, &|_, value| value > 8.0, &|x, value| x < 0.5 && value > 8.0];
    for event in events {
        let (p, q) = (share(1.0, 0.0, event), share(0.0, 1.0, event));
        // Six standard errors of p - e q.
        let e = std::f64::consts::E;
        let error = |p: f64, q: f64| 6.0 * ((p + e * e * q) / n as f64).sqrt();
        assert!(p <= e * q + error(p, q) && q <= e * p + error(q, p), "{p} {q}");
        assert!(p > 0.0 && q > 0.0);
    }
}

#[test]
fn what_needs_a_finite_set_of_settings_is_refused_with_the_reason() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), "Box", "[]", OPEN);
    let refused = |change: &str, parts: &[&str]| refused(&path, &[change], parts);
    let publication = |of: &str| format!("protocol.series[0].publication={of}");
    for (of, reason) in [
        (
            "GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99)",
            "a union bound over a finite set of settings",
        ),
        ("FixedGrid(epsilon: 1, FACTS)", "it evaluates every setting"),
        ("EverySetting(epsilon: 1, delta: 1e-6, FACTS)", "scores every setting"),
    ] {
        let of = of.replace("FACTS", FACTS);
        refused(
            &publication(&of),
            &[reason, "RandomRepetitions, Lipschitz, NonPrivate or Blind", "Sobol(1024)"],
        );
    }
    refused(
        &publication("NonPrivate(learner: GpUcb())"),
        &["a learner that searches a box", "Acquisition()"],
    );
    let lipschitz = format!("Lipschitz(epsilon: 1, learner: Acquisition(), {FACTS})");
    refused(
        &publication(&lipschitz),
        &["a box with one input, lambda", "says nothing about another input", "2 inputs"],
    );
}

/// Algorithm 3 publishes the best outcome of a search of lambda on an interval, at the price that it has for a finite set of
/// settings within the same ends.
#[test]
fn algorithm_3_costs_the_same_on_an_interval_of_lambda() {
    let place = TempDir::new().unwrap();
    let objective = |points: &str, low: f64| {
        format!(
            "objective=TestFunction(function: Levy(dimensions: 1), points: {points}, dimensions: [Real(name: \"lambda\", low: \
             {low}, high: 1)])"
        )
    };
    let series =
        format!("Series(name: \"3\", publication: Lipschitz(epsilon: 2, learner: Acquisition(), {FACTS}))");
    let path = scenario(place.path(), "Box", "[]", &series);
    let of = |points: &str| {
        let out = place.path().join(points.replace(['(', ')'], "-"));
        let document = run(&path, &out, &["-o", &objective(points, 0.1)]);
        let ledger = fs::read_to_string(folder(&document).join("ledger.csv")).unwrap();
        let mut reader = csv::Reader::from_reader(ledger.as_bytes());
        let header = reader.headers().unwrap().clone();
        let wanted = ["released", "sensitivity", "cost.scale", "basis_reason"];
        let columns = wanted.map(|name| header.iter().position(|known| known == name).unwrap());
        let rows = reader.records().map(|row| row.unwrap());
        let protected = rows.filter(|row| !row[columns[1]].is_empty());
        protected.map(|row| columns.map(|column| row[column].to_owned())).collect::<Vec<_>>()
    };
    let (on_box, of_set) = (of("Box"), of("Sobol(64)"));
    assert!(!on_box.is_empty());
    assert_eq!(on_box.len(), of_set.len());
    for (a, b) in on_box.iter().zip(&of_set) {
        assert_eq!(a[..3], b[..3]);
        assert!(a[3].contains("the input of the box being lambda") && !b[3].contains("box"), "{a:?} {b:?}");
    }
    refused(
        &path,
        &[&objective("Box", 0.05)],
        &["a box within lambda_min and lambda_max, 0.1 to 1", "0.05 to 1"],
    );
}

/// Two neighbouring validation sets, models trained at every lambda of an interval: the best outcomes of two searches differ
/// by at most the stated sensitivity, wherever each search went, and for one pair by all of it. So the released numbers have
/// Laplace laws whose ratio is at most e^epsilon, by simulation too.
#[test]
fn the_best_outcomes_of_neighbours_on_an_interval_are_within_the_sensitivity() {
    use subrosa::objectives::{Records, Training, TuningFacts, ValidationLoss, models, performance};
    use subrosa::privacy::mechanisms::{Laplace, Mechanism};
    use subrosa::protocols::release::{Constants, sensitivity};
    use subrosa::rng::Key;
    use subrosa::vocab::{Epsilon, Positive};
    let (low, high) = (1.0, 4.0);
    let facts = |records: usize| TuningFacts {
        records: records as f64,
        loss_range: 1.0,
        lipschitz: 1.0,
        lambda_min: low,
        lambda_max: high,
    };
    let mut stream = Key::root(27).stream();
    for run in 0..60 {
        let (d, m) = (2, 3 + run % 5);
        let mut draw = |count: usize| -> Vec<f64> {
            (0..count)
                .flat_map(|_| {
                    let x: Vec<f64> = (0..d).map(|_| stream.normal()).collect();
                    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
                    x.into_iter().map(move |x| x / norm)
                })
                .collect()
        };
        let training = Records { d, signed: draw(8) };
        let given = Records { d, signed: draw(m) };
        let mut neighbour = given.clone();
        neighbour.signed[..d].copy_from_slice(&draw(1));
        let how = [Training::LogisticRegression, Training::HingeSvm][run % 2];
        // Two searches, each anywhere on the interval.
        let best = |records: &Records, stream: &mut subrosa::rng::Stream| {
            let at: Vec<f64> = (0..6).map(|_| low + (high - low) * stream.uniform()).collect();
            let found = models(&training, how, &at).unwrap();
            found
                .iter()
                .map(|w| performance(w, records, ValidationLoss::Ramp))
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let mut searches = Key::root(28).index(run as u64).stream();
        let apart = (best(&given, &mut searches) - best(&neighbour, &mut searches)).abs();
        let most = sensitivity(facts(m), Constants::Corrected);
        assert!(apart <= most + 1e-6, "{run}: {apart} for {most}");
    }
    // One training record at 1 with the hinge loss: w(lambda) = 1 / lambda. At the two ends of the interval the ramp loss of
    // a record at 1 differs by 1/1 - 1/4: all of the part of the sensitivity that does not shrink with more records.
    let training = Records { d: 1, signed: vec![1.0] };
    let found = models(&training, Training::HingeSvm, &[low, high]).unwrap();
    let many = Records { d: 1, signed: vec![1.0; 1_000_000] };
    let ends: Vec<f64> = found.iter().map(|w| performance(w, &many, ValidationLoss::Ramp)).collect();
    let most = sensitivity(facts(many.len()), Constants::Corrected);
    assert!((ends[0] - ends[1] - 0.75).abs() < 1e-5 && most < 0.75 + 1e-5, "{ends:?} {most}");
    // The two laws of what is released, at epsilon 1: no event of a threshold is more than e times as likely on one side.
    let laplace = Laplace::calibrated(Epsilon::new(1.0).unwrap(), Positive::new(most).unwrap()).unwrap();
    let n = 40_000;
    let share = |at: f64, threshold: f64, key: u64| {
        let mut stream = Key::root(key).stream();
        let above = (0..n).filter(|_| laplace.privatise(&vec![at], &mut stream).unwrap()[0] > threshold);
        above.count() as f64 / f64::from(n)
    };
    for threshold in [ends[0], ends[1], 0.0] {
        let (p, q) = (share(ends[0], threshold, 1), share(ends[1], threshold, 2));
        let e = std::f64::consts::E;
        // Six standard errors.
        assert!(p <= e * q + 6.0 * ((p + e * e * q) / f64::from(n)).sqrt(), "{p} {q}");
        assert!(p > q);
    }
    // Noise for less than the whole distance would not do: at the larger value the ratio is e^2.
    let half = Laplace::calibrated(Epsilon::new(1.0).unwrap(), Positive::new(most / 2.0).unwrap()).unwrap();
    let above = |at: f64, key: u64| {
        let mut stream = Key::root(key).stream();
        let above = (0..n).filter(|_| half.privatise(&vec![at], &mut stream).unwrap()[0] > ends[0]);
        above.count() as f64 / f64::from(n)
    };
    assert!(above(ends[0], 3) > 5.0 * above(ends[1], 4));
}
