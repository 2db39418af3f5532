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

/// Two machines train at points that arrive in messages; the published point is the best one tried, and closer to the optimum than
/// a blind one. Two threads and a replay change nothing.
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

/// Two neighbouring data sets, by simulation of the whole search: with every value 0, or every value moved by the sensitivity,
/// each at a random point of the box. The share of runs whose published value is above a threshold is at most e^epsilon times
/// the other one, up to six standard errors: the trials' points say nothing about the data.
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
        ("Lipschitz(epsilon: 1, learner: GpUcb(), FACTS)", "stated for a finite set of settings"),
        ("FixedGrid(epsilon: 1, FACTS)", "it evaluates every setting"),
        ("EverySetting(epsilon: 1, delta: 1e-6, FACTS)", "scores every setting"),
    ] {
        let of = of.replace("FACTS", FACTS);
        refused(&publication(&of), &[reason, "RandomRepetitions, NonPrivate or Blind", "Sobol(1024)"]);
    }
    refused(
        &publication("NonPrivate(learner: GpUcb())"),
        &["a learner that searches a box", "Acquisition()"],
    );
}
