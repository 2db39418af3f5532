//! The memory that `check` states, and that a run takes: within a factor of three, from small runs to large ones.

use crate::{ALONE, counting};
use std::path::Path;
use std::sync::PoisonError;
use subrosa::objectives::Resources;
use subrosa::scenario::Document;
use subrosa::study::{Plan, simulate};

/// Bytes of the program itself, which the allocator does not count.
const PROGRAM: f64 = 14.0 * 1_048_576.0;

const FEDERATED: &str = "Scenario(name: \"federated\", seed: 1,
    parties: { \"server\": Party(), \"agent\": Party(count: 60) }, network: Network(topology: Star(hub: \"server\")),
    objective: GpSample(grid: [600], max_norm: 1, length_scale: 0.1),
    protocol: Federated(server: \"server\", groups: [AgentGroup(members: \"agent\")], rounds: 12, features: 150,
        series: [Series(name: \"s\", sharing: Aggregate(regions: 2))]))";

const OUTSOURCED: &str =
    "Scenario(name: \"outsourced\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), objective: GpSample(grid: [150, 150], length_scale: 5),
    protocol: Outsourced(curator: \"a\", modeler: \"b\", rounds: 250,
        series: [Series(name: \"s\", release: Disclosure(), learner: GpUcb(scale: 2))]))";

const LOCAL: &str = "Scenario(name: \"local\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), objective: RkhsSum(points: 900),
    protocol: Local(service: \"a\", users: \"b\", rounds: 40,
        series: [Series(name: \"s\", report: Ctl(epsilon: 1), learner: MomaGpUcb(repetitions: 10000))]))";

/// A cohort whose function is another one for every user.
const DRIFTING: &str =
    "Scenario(name: \"drifting\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), objective: GpSample(grid: [100], max_norm: 1, length_scale: 0.1),
    protocol: Local(service: \"a\", users: \"b\", rounds: 20000,
        cohorts: [Cohort(name: \"c\", differences: Differences(drift: Drift(rate: 0.001)))],
        series: [Series(name: \"s\", report: Disclosure(), learner: Random())]))";

const ECHO: &str =
    "Scenario(name: \"echo\", seed: 1, parties: { \"a\": Party(), \"b\": Party(count: 20000) },
    network: Network(topology: Star(hub: \"a\")), protocol: Echo(caller: \"a\", rounds: 1))";

const SMALL: &str = "Scenario(name: \"small\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), protocol: Echo(caller: \"a\", rounds: 3))";

/// A learner that is copied for every question.
const PARALLEL: &str = "Scenario(name: \"parallel\", seed: 1,
    parties: { \"owner\": Party(), \"reader\": Party(), \"machine\": Party(count: 4, compute: Drawn(time: Exponential(mean: \"10min\"))) },
    network: Network(topology: Star(hub: \"owner\")), objective: GpSample(grid: [25, 25], max_norm: 1, length_scale: 0.1),
    protocol: Release(owner: \"owner\", readers: [\"reader\"], workers: [\"machine-1\", \"machine-2\", \"machine-3\", \"machine-4\"], rounds: 160, retry: Retry(timeout: \"1d\"),
        series: [Series(name: \"s\", publication: NonPrivate(learner: Parallel(learner: GpUcb(scale: 0.5))))]))";

/// Many cells with long curves.
const SWEEP: &str = "Scenario(name: \"sweep\", seed: 1, parties: { \"a\": Party(), \"b\": Party() },
    network: Network(topology: Star(hub: \"a\")), objective: RkhsSum(points: 20),
    protocol: Local(service: \"a\", users: \"b\", rounds: 1000, series: [
        Series(name: \"private\", report: Ctl(epsilon: Each(\"epsilon\", [
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])), learner: Random()),
        Series(name: \"s\", report: Disclosure(), learner: Random()),
        Series(name: \"t\", report: Disclosure(), learner: Random())]))";

/// What one replication is estimated to take and what it takes, in bytes.
fn both(text: &str) -> (f64, f64) {
    let resources = Resources::default();
    let cells = Document::from_text(Path::new("it.ron"), text.to_owned()).cells(&[], &resources).unwrap();
    let estimate = Plan::new(text.to_owned(), Vec::new(), &resources, cells).needs(1).bytes as f64;
    let folder = tempfile::tempdir().unwrap();
    let before = counting::now();
    counting::forget_most();
    simulate(text, &[], &folder.path().join("run")).unwrap();
    (estimate, PROGRAM + counting::most().saturating_sub(before) as f64)
}

#[test]
fn estimates_are_within_a_factor_of_three() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let all = [
        ("small", SMALL),
        ("federated", FEDERATED),
        ("outsourced", OUTSOURCED),
        ("local", LOCAL),
        ("drifting", DRIFTING),
        ("echo", ECHO),
        ("parallel", PARALLEL),
        ("sweep", SWEEP),
    ];
    for (name, text) in all {
        let (estimate, taken) = both(text);
        println!("{name}: {:.0} MiB estimated, {:.0} MiB taken", estimate / 1_048_576.0, taken / 1_048_576.0);
        assert!((1.0 / 3.0..3.0).contains(&(estimate / taken)), "{name}: {estimate} for {taken}");
    }
}

/// A drifting function of 100 arms is drawn in less than a millisecond, twice for each of 20,000 users: in less than 40 s.
#[test]
fn drifting_functions_take_the_time_of_their_draws() {
    let resources = Resources::default();
    let cells = Document::from_text(Path::new("it.ron"), DRIFTING.to_owned()).cells(&[], &resources).unwrap();
    let seconds = Plan::new(DRIFTING.to_owned(), Vec::new(), &resources, cells).needs(1).seconds;
    println!("{seconds} s for the drifting functions");
    assert!((0.1..40.0).contains(&seconds), "{seconds} s");
}

/// Beyond as many points as arms a further round takes the same time, as it does in the run.
#[test]
fn a_long_federation_is_estimated_by_its_rounds() {
    let seconds = |rounds: u64| {
        let text = FEDERATED
            .replace("grid: [600]", "grid: [60]")
            .replace("rounds: 12", &format!("rounds: {rounds}"));
        let resources = Resources::default();
        let cells = Document::from_text(Path::new("it.ron"), text.clone()).cells(&[], &resources).unwrap();
        Plan::new(text, Vec::new(), &resources, cells).needs(1).seconds
    };
    let [short, long, longer] = [120, 480, 1920].map(seconds);
    let (first, then) = ((long - short) / 360.0, (longer - long) / 1440.0);
    assert!((then / first - 1.0).abs() < 0.02, "{first} s a round, then {then} s");
}

/// A count whose memory has no room is refused, at its own place, with what to do.
#[test]
fn too_large_a_count_is_refused_at_its_place() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = |text: String| {
        Document::from_text(Path::new("it.ron"), text).cells(&[], &Resources::default()).map(drop)
    };
    let cases = [
        (FEDERATED, "features: 150", "features: 4096", "features", "4096"),
        (OUTSOURCED, "rounds: 250", "rounds: 250, initial_points: 90000", "initial_points", "90000"),
        (FEDERATED, "rounds: 12", "rounds: 12, initial_points: 90000", "initial_points", "90000"),
    ];
    for (text, old, new, place, count) in cases {
        let said = answer(text.replace(old, new)).expect_err("more than 4 GiB").to_string();
        // The count as the scenario states it, not what it adds up to.
        assert!(said.contains(&format!("found {count}, ")), "{said}");
        assert!(said.contains(place) && said.contains("--memory") && said.contains("4.0 GiB"), "{said}");
    }
    assert!(answer(ECHO.replace("20000", "999998")).is_ok(), "a million parties have room");
}
