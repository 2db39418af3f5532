//! What-if: branches from a warm world equal runs from the start, and only what may change does.

use crate::support::{code_and_output, root, subrosa, table};
use std::fs;
use subrosa::objectives::Resources;
use subrosa::protocols::{ForkPoint, SeriesRecord};
use subrosa::scenario::Document;
use subrosa::study::{self, Forked, Plan, Records};
use subrosa::vocab::{Interruption, Span};
use tempfile::TempDir;

fn plan(scenario: &str, overrides: &[&str]) -> Plan {
    let document = Document::load(&root().join(scenario)).unwrap();
    let resources =
        Resources { base: root().join(scenario).parent().unwrap().to_owned(), ..Resources::default() };
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let cells = document.cells(&overrides, &resources).map_err(|error| error.render()).unwrap();
    Plan::new(document.text().to_owned(), overrides, &resources, cells)
}

fn forked(scenario: &str, point: ForkPoint, branches: &[(&str, &[&str])]) -> Forked {
    let branches: Vec<(String, Plan)> =
        branches.iter().map(|(name, changes)| ((*name).to_owned(), plan(scenario, changes))).collect();
    let whole = Plan::of_branches(plan(scenario, &[]), point.to_string(), branches);
    let place = TempDir::new().unwrap();
    let folder = study::RunFolder::at(&place.path().join("run"));
    play(&whole, &folder);
    Forked::read(&whole, &folder).unwrap()
}

fn play(plan: &Plan, folder: &study::RunFolder) {
    let interrupted = Interruption::default();
    let options = study::Options { threads: 1, fail_fast: false, interrupted: &interrupted };
    study::play(plan, folder, options, &Silent).unwrap();
}

/// The digest of every series of every replication of a plain run.
fn digests(scenario: &str, overrides: &[&str]) -> Vec<String> {
    let plan = plan(scenario, overrides);
    let place = TempDir::new().unwrap();
    let folder = study::RunFolder::at(&place.path().join("run"));
    play(&plan, &folder);
    let records = vec![folder.replications(0).unwrap()];
    of(&records)
}

fn of(records: &Records) -> Vec<String> {
    let series = records[0].values().flat_map(|record| &record.series);
    series.map(|series| series.digest.clone()).collect()
}

struct Silent;

impl study::Progress for Silent {
    fn begin(&self, _: &study::Start) {}
    fn done(&self) {}
    fn failed(&self, failure: &study::Failure) {
        panic!("{failure}");
    }
}

fn at(millis: u64) -> ForkPoint {
    ForkPoint::At(Span::from_millis(millis))
}

#[test]
fn an_empty_branch_is_the_plain_run_bit_for_bit() {
    for scenario in ["echo", "branin", "federated"] {
        let scenario = format!("tests/golden/{scenario}.ron");
        let plain = digests(&scenario, &[]);
        for point in [ForkPoint::Round(3), at(900), at(0)] {
            let forked = forked(&scenario, point, &[("empty", &[])]);
            assert_eq!(of(&forked.branches[0].1), plain, "{scenario}, unchanged, {point}");
            assert_eq!(of(&forked.branches[1].1), plain, "{scenario}, empty, {point}");
            assert!(forked.rows().iter().all(|row| row.unchanged > 0 || row.branch == "unchanged"));
        }
    }
}

/// Several open queries: a branch from the beginning is the changed scenario, and an unchanged branch from the middle, with
/// queries open, is the plain run.
#[test]
fn open_queries_are_part_of_a_fork() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("tests/golden/branin.ron")).unwrap();
    let text = text.replacen("initial_points: 2,", "initial_points: 2, queries_at_once: 4,", 1);
    let text = text.replacen("learner: GpUcb()", "learner: Parallel(learner: GpUcb())", 1);
    let path = place.path().join("four.ron");
    fs::write(&path, text).unwrap();
    let scenario = path.to_str().unwrap();
    let change: &[&str] = &["protocol.Outsourced.series[0].learner=Parallel(learner: ExpectedImprovement())"];
    let (plain, whole) = (digests(scenario, &[]), digests(scenario, change));
    for point in [ForkPoint::Round(7), at(700)] {
        let forked = forked(scenario, point, &[("empty", &[]), ("changed", change)]);
        assert_eq!(of(&forked.branches[1].1), plain, "{point}");
        assert_ne!(of(&forked.branches[2].1), plain, "{point}");
    }
    assert_eq!(of(&forked(scenario, at(0), &[("changed", change)]).branches[1].1), whole);
}

#[test]
fn a_branch_is_the_run_from_the_start_with_the_change_at_that_time() {
    // With three slow parties an outage begins for all three in the same instant, and the order of the three within it
    // depends on when each was scheduled.
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("tests/golden/federated.ron")).unwrap();
    let path = place.path().join("one-slow.ron");
    fs::write(&path, text.replacen("count: 3", "count: 1", 1)).unwrap();
    let scenario = path.to_str().unwrap();
    let plain = digests(scenario, &[]);
    let changes: [&[&str]; 3] = [
        &["network.outages=[Blackout(group: \"slow\", from: \"1600ms\", until: \"2900ms\")]"],
        &["parties.slow.availability=Scheduled(online: true, switches: [\"1800ms\", \"2500ms\"])"],
        &["parties.quick.availability=Scheduled(online: true, switches: [\"1800ms\", \"2500ms\"])"],
    ];
    for change in changes {
        let whole = digests(scenario, change);
        // Up to 1.5 s the change makes no difference, so it may as well be made then.
        let until = if change[0].contains("slow.availability") { 0 } else { 1500 };
        let forked = forked(scenario, at(until), &[("changed", change)]);
        assert_eq!(of(&forked.branches[0].1), plain);
        assert_eq!(of(&forked.branches[1].1), whole, "{change:?}");
        assert_ne!(whole, plain, "{change:?} matters");
    }
}

#[test]
fn a_branch_from_time_zero_is_the_changed_scenario() {
    let cases: [(&str, &[&str]); 7] = [
        ("federated", &["network.default.loss=Independent(0.6)"]),
        ("federated", &["network.default.latency=Uniform(low: \"50ms\", high: \"2s\")"]),
        ("federated", &["parties.slow.compute=Drawn(time: Constant(\"3s\"))"]),
        ("federated", &["protocol.Federated.series[0].policy=All(patience: \"20s\")"]),
        ("branin", &["network.default.latency=Constant(\"7ms\")"]),
        ("branin", &["protocol.Outsourced.series[0].learner=Random()"]),
        ("echo", &["network.default.loss=Independent(0.5)"]),
    ];
    for (name, change) in cases {
        let scenario = format!("tests/golden/{name}.ron");
        let forked = forked(&scenario, at(0), &[("changed", change)]);
        let whole = digests(&scenario, change);
        assert_eq!(of(&forked.branches[1].1), whole, "{name} with {change:?}");
        assert_ne!(of(&forked.branches[0].1), whole, "{change:?} matters");
    }
}

#[test]
fn a_branch_shares_its_beginning_and_nothing_of_another_branch() {
    let scenario = "tests/golden/federated.ron";
    let slow: &[&str] = &["parties.slow.compute=Drawn(time: Constant(\"3s\"))"];
    let longer: &[&str] = &["protocol.Federated.series[0].policy=All(patience: \"20s\")"];
    let lossy: &[&str] = &["network.default.loss=Independent(0.6)"];
    let together = forked(scenario, ForkPoint::Round(2), &[("a", slow), ("b", longer), ("c", lossy)]);
    let alone = forked(scenario, ForkPoint::Round(2), &[("b", longer)]);
    assert_eq!(of(&together.branches[2].1), of(&alone.branches[1].1), "a branch does not depend on others");
    let plain = &together.branches[0].1[0][&0].series[0];
    for (name, records) in &together.branches[1..] {
        let series = &records[0][&0].series[0];
        assert_ne!(series.digest, plain.digest, "{name}");
        // Rounds 0 to 2 were measured before the fork.
        assert_eq!(series.iterations[..3], plain.iterations[..3], "{name}");
    }
    // With all the time in the world everybody is waited for.
    assert!(together.branches[2].1[0][&0].series[0].virtual_seconds > plain.virtual_seconds);
    assert!(together.branches[3].1[0][&0].series[0].messages_lost > plain.messages_lost);
}

#[test]
fn another_learner_takes_over_what_was_learned() {
    let scenario = "tests/golden/branin.ron";
    let plan = plan(scenario, &[]);
    let series = plan.cells[0].scenario.draft().protocol.as_dyn().series();
    let change = "protocol.Outsourced.series[0].learner=Random()";
    let forked = forked(scenario, ForkPoint::Round(6), &[("random", &[change])]);
    let (plain, random) = (&forked.branches[0].1[0][&0], &forked.branches[1].1[0][&0]);
    assert_eq!(plain.series[0].iterations[..6], random.series[0].iterations[..6]);
    assert_ne!(plain.series[0].digest, random.series[0].digest);
    for index in 1..series.len() {
        assert_eq!(plain.series[index].digest, random.series[index].digest, "other series are left alone");
    }
}

/// Each learner with a blank for a number, the number, and one a hair's width from it.
const LEARNERS: [(&str, &str, &str); 6] = [
    ("GpUcb(scale: #)", "1", "1.0000000001"),
    ("ThompsonSampling(scale: #)", "1", "1.0000000001"),
    ("ExpectedImprovement(margin: #)", "0", "1e-12"),
    (
        "TgpUcb(bound: 2, constants: OrderWise, payoffs: HeavyTailed(central_moment: 0.01), beta_scale: #)",
        "1",
        "1.0000000001",
    ),
    (
        "AtaGpUcb(bound: 2, constants: OrderWise, payoffs: HeavyTailed(central_moment: 0.01), accuracy: 0.9, beta_scale: #)",
        "0.1",
        "0.10000000001",
    ),
    (
        "MomaGpUcb(bound: 2, constants: OrderWise, payoffs: HeavyTailed(central_moment: 0.01), accuracy: 0.9, \
         repetitions: 3, beta_scale: #)",
        "0.1",
        "0.10000000001",
    ),
];

/// A scenario with one series per learner; `series` is what else a series says.
fn hair(protocol: &str, objective: &str, series: &str) -> String {
    let series: Vec<String> = LEARNERS
        .iter()
        .enumerate()
        .map(|(index, (learner, before, _))| {
            format!("Series(name: \"{index}\", {series}, learner: {})", learner.replace('#', before))
        })
        .collect();
    format!(
        "Scenario(name: \"hair\", seed: 1, replications: 2, parties: {{ \"a\": Party(), \"b\": Party() }}, \
         network: Network(topology: Star(hub: \"a\"), default: Link(latency: Exponential(mean: \"100ms\"))), \
         objective: {objective}, protocol: {protocol}, series: [{}]))",
        series.join(", ")
    )
}

/// Whoever takes over from a learner that is all but the same goes on as that one would have.
#[test]
fn a_learner_a_hair_apart_has_the_same_continuation() {
    let place = TempDir::new().unwrap();
    let local = "RkhsSum(noise: Uniform(bound: 0.1))";
    let users = "Local(service: \"a\", users: \"b\", rounds: 60";
    let gp = "GpSample(grid: [60], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01)";
    let asks = "Outsourced(curator: \"a\", modeler: \"b\", rounds: 50, initial_points: 2";
    let cases = [
        ("Local", hair(users, local, "report: Disclosure()")),
        (
            "Local",
            hair(
                &format!(
                    "{users}, arrivals: Poisson(every: \"300ms\"), answer_after: Exponential(mean: \"700ms\")"
                ),
                local,
                "report: Disclosure()",
            ),
        ),
        ("Outsourced", hair(asks, gp, "release: Disclosure()")),
    ];
    let mut apart = Vec::new();
    for (case, (protocol, text)) in cases.iter().enumerate() {
        let path = place.path().join(format!("{case}.ron"));
        fs::write(&path, text).unwrap();
        let changes: Vec<String> = LEARNERS
            .iter()
            .enumerate()
            .map(|(index, (learner, _, after))| {
                format!("protocol.{protocol}.series[{index}].learner={}", learner.replace('#', after))
            })
            .collect();
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        for round in [10, 31] {
            let forked = forked(path.to_str().unwrap(), ForkPoint::Round(round), &[("hair", &changes)]);
            for (replication, plain) in &forked.branches[0].1[0] {
                let changed = &forked.branches[1].1[0][replication];
                for (index, (learner, ..)) in LEARNERS.iter().enumerate() {
                    let (plain, changed) = (&plain.series[index], &changed.series[index]);
                    let place = format!("{learner} in case {case}, forked after {round}");
                    let arms = |series: &SeriesRecord| -> Vec<u64> {
                        series.iterations.iter().map(|iteration| iteration.arm).collect()
                    };
                    if plain.iterations != changed.iterations {
                        apart.push(format!("{place}: {:?}, {:?}", arms(plain), arms(changed)));
                    }
                }
            }
        }
    }
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

#[test]
fn the_command_line_forks_and_refuses() {
    let out = TempDir::new().unwrap();
    let place = out.path().to_str().unwrap();
    let go = |more: &[&str]| {
        let mut arguments = vec!["run", "tests/golden/federated.ron", "--out", place];
        arguments.extend(more);
        code_and_output(&subrosa(&arguments))
    };
    let slower = "all slow: parties.quick.compute=Drawn(time: Constant(\"2s\"))";
    let (code, stdout, stderr) = go(&["--fork-at", "2", "--branch", slower, "--format", "json"]);
    assert_eq!(code, 0, "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["branch"], &rows[1]["branch"]), (&"unchanged".into(), &"all slow".into()));
    assert!(rows[1]["difference"]["mean"].is_number());
    let folder = document["run"].as_str().unwrap();
    for file in ["fork.json", "0-unchanged/report.txt", "1-all-slow/summary.json"] {
        assert!(std::path::Path::new(folder).join(file).is_file(), "{file}");
    }
    // What -o changes is the one branch, where no other is named.
    let (code, stdout, stderr) = go(&["--fork-at", "1s", "-o", "network.default.loss=Independent(0.4)"]);
    assert_eq!(code, 0, "{stderr}");
    for words in
        ["forked at 1s", "unchanged", "changed", "\nRegret at the end (against unchanged", "\nNetwork"]
    {
        assert!(stdout.contains(words), "{words}:\n{stdout}");
    }
    let echo =
        ["run", "scenarios/network/outages.ron", "--fork-at", "1s", "--branch", "x: network.outages=[]"];
    let (code, quiet, stderr) = code_and_output(&subrosa(&[&echo[..], &["--out", place]].concat()));
    assert!(code == 0 && quiet.contains("\nNetwork") && !quiet.contains("Regret"), "{quiet}{stderr}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 80 || line.contains(place)), "{stdout}");

    let fork = |branch: &str| go(&["--fork-at", "2", "--branch", branch]);
    for (branch, words) in [
        (
            "x: seed=5",
            "branch \"x\" changes seed, which cannot change after the fork; a branch may change network.**",
        ),
        ("x: objective.GpSample.variance=2", "changes objective.GpSample.variance"),
        ("x: protocol.Federated.rounds=9", "changes protocol.Federated.rounds"),
        ("x: protocol.Federated.series[0].sharing=Alone()", "changes protocol.Federated.series.0.sharing"),
        (
            "x: protocol.Federated.series[0].sharing.participation=FixedSize(3)",
            "changes protocol.Federated.series.0.sharing.Aggregate.participation",
        ),
        ("x: network.default.loss=Independent(2)", "expected"),
    ] {
        let (code, stdout, stderr) = fork(branch);
        assert_eq!((code, stdout.as_str()), (3, ""), "{branch}: {stderr}");
        assert!(stderr.contains(words), "{branch}: {stderr}");
    }
    // What masks, coins and noise were agreed on for stays.
    let noisier = "protocol.Federated.series[1].sharing.noise_multiplier=2";
    let masked =
        ["run", "scenarios/studies/untrusted-server.ron", "--fork-at", "2", "-o", noisier, "--out", place];
    let (code, _, stderr) = code_and_output(&subrosa(&masked));
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("noise_multiplier, which cannot change after the fork"), "{stderr}");
    let (code, _, stderr) = fork("no change");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("--branch 'NAME: PATH=RON'"), "{stderr}");
    let (code, _, stderr) = go(&["--fork-at", "soon", "--branch", slower]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("expected a round, as in 20, or a virtual time"), "{stderr}");
    let (code, _, stderr) = go(&["--fork-at", "5h", "--branch", slower]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("ended before the fork"), "{stderr}");
}

#[test]
fn a_scenario_may_name_its_branches() {
    let out = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("tests/golden/echo.ron")).unwrap();
    let section = "seed: 11,\n    fork: Fork(at: At(\"20s\"), branches: {\"clean\": [\"network.default.loss=NoLoss()\"]}),";
    let path = out.path().join("forked.ron");
    fs::write(&path, text.replacen("seed: 11,", section, 1)).unwrap();
    let place = out.path().to_str().unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["run", path.to_str().unwrap(), "--out", place]));
    assert_eq!(code, 0, "{stderr}");
    for words in ["forked at 20s", "1 branch,", "clean", "unchanged"] {
        assert!(stdout.contains(words), "{words}:\n{stdout}");
    }
}

/// A provider passes on what a registry and a buyer say to each other.
const PASSED_ON: &str = r#"Scenario(
    name: "passed-on", seed: 1, replications: 1,
    parties: { "registry": Party(), "buyer": Party(), "isp": Party() },
    network: Network(topology: Star(hub: "isp"), encryption: ENCRYPTION, default: Link(latency: Constant("60ms"))),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    protocol: PROTOCOL,
)
"#;
const ASKS: &str = r#"Outsourced(curator: "registry", modeler: "buyer", rounds: 30, initial_points: 4,
    series: [Series(name: "s", release: Withheld(), outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -3, high: 3)),
        learner: Random())])"#;
const VISITS: &str = r#"Local(service: "registry", users: "buyer", rounds: 60,
    series: [Series(name: "s", report: Ctl(epsilon: 1, bound: 3), learner: Random())])"#;

/// What was said before the fork is booked for those who could read it then, so nobody else may read it afterwards.
#[test]
fn a_branch_gives_nothing_to_other_readers() {
    let out = TempDir::new().unwrap();
    let place = out.path().to_str().unwrap();
    let fork = |encryption: &str, protocol: &str, changes: &[&str]| {
        let path = out.path().join("passed-on.ron");
        let text = PASSED_ON.replace("ENCRYPTION", encryption).replace("PROTOCOL", protocol);
        fs::write(&path, text).unwrap();
        let branches: Vec<String> = changes.iter().map(|change| format!("open: {change}")).collect();
        let mut arguments = vec!["run", path.to_str().unwrap(), "--fork-at", "20", "--out", place];
        branches.iter().for_each(|branch| arguments.extend(["--branch", branch]));
        let (code, _, stderr) = code_and_output(&subrosa(&arguments));
        (code, stderr)
    };
    let refused = |(code, stderr): (i32, String), words: &[&str]| {
        assert_eq!(code, 3, "{stderr}");
        for words in words.iter().chain(&["branch \"open\"", "expected", "help: "]) {
            assert!(stderr.contains(words), "{words}: {stderr}");
        }
    };
    let goes = |(code, stderr): (i32, String)| assert_eq!(code, 0, "{stderr}");
    let (open, closed) = ("network.encryption=None", "network.encryption=EndToEnd");
    let hub = "network.topology=Star(hub: \"registry\")";
    let (slow, lossy) = ("network.default.latency=Constant(\"1s\")", "network.default.loss=Independent(0.1)");
    let silence = "protocol.never_answer=WhenBelow(reward: 0, share: 0.5)";
    refused(fork("EndToEnd", ASKS, &[open]), &["network.encryption: expected EndToEnd"]);
    refused(fork("None", ASKS, &[closed]), &["network.encryption: expected None"]);
    refused(fork("None", ASKS, &[hub]), &["network.topology: expected", "encryption: None"]);
    goes(fork("None", ASKS, &[slow, lossy]));
    goes(fork("EndToEnd", ASKS, &[hub, lossy]));
    // That a user answers is seen on the way, encrypted or not.
    refused(fork("EndToEnd", VISITS, &[hub, silence]), &["network.topology", "never_answer"]);
    goes(fork("EndToEnd", VISITS, &[hub]));
    goes(fork("EndToEnd", VISITS, &[silence]));
}

/// A theorem is about one learner for the whole run: a branch with another learner names it without values, and says
/// why; a branch that changes the network only has the bound of the unchanged one.
#[test]
fn a_branch_with_another_learner_has_no_bound() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("bounds.ron");
    let scenario = r#"Scenario(
    name: "bounds",
    about: "A learner with a theorem.",
    seed: 1,
    replications: 1,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("20ms"))),
    objective: GpSample(grid: [20], length_scale: 0.2, variance: 1, noise_variance: 0.01),
    protocol: Outsourced(
        curator: "curator", modeler: "modeler", rounds: 8, initial_points: 1,
        series: [Series(name: "one", release: Disclosure(), learner: GpUcb()),
                 Series(name: "two", release: Disclosure(), learner: GpUcb())],
    ),
)"#;
    fs::write(&path, scenario).unwrap();
    let forked = forked(
        path.to_str().unwrap(),
        ForkPoint::Round(3),
        &[
            ("slower", &["network.default.latency=Constant(\"2s\")"]),
            ("wider", &["protocol.series[1].learner=GpUcb(beta: FiniteDomain(delta: 0.05))"]),
        ],
    );
    let bounds = |branch: usize, series: usize| {
        let record = &forked.branches[branch].1[0][&0].series[series];
        assert_eq!(record.bounds.len(), 1, "{branch} {series}");
        record.bounds[0].clone()
    };
    for series in [0, 1] {
        assert!(!bounds(0, series).points.is_empty());
        assert_eq!(bounds(1, series), bounds(0, series));
    }
    assert_eq!(bounds(2, 0), bounds(0, 0), "the other series has kept its learner");
    let withheld = bounds(2, 1);
    assert!(withheld.points.is_empty(), "{withheld:?}");
    assert!(withheld.caveats[0].contains("this fork changes a setting of the series"), "{withheld:?}");
}

/// More users were left without an answer before the fork than the branch allows: it ends with the next one.
#[test]
fn a_smaller_give_up_after_ends_the_branch() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("unheard.ron");
    let scenario = r#"Scenario(
    name: "unheard",
    about: "A service that nobody hears.",
    seed: 1,
    replications: 1,
    parties: { "service": Party(), "users": Party() },
    network: Network(topology: Star(hub: "service"), default: Link(latency: Constant("10ms"), loss: Independent(0.999))),
    objective: RkhsSum(noise: Uniform(bound: 1)),
    protocol: Local(
        service: "service", users: "users", rounds: 5, arrivals: Poisson(every: "1s"), give_up_after: 60,
        series: [Series(name: "one", report: Disclosure(), learner: Random())],
    ),
)"#;
    fs::write(&path, scenario).unwrap();
    let forked = forked(path.to_str().unwrap(), at(30_000), &[("sooner", &["protocol.give_up_after=10"])]);
    let why = |branch: usize| forked.branches[branch].1[0][&0].series[0].ended_early.clone().unwrap();
    assert!(why(0).contains("60 consecutive users got no arm"), "{}", why(0));
    let users: u64 =
        why(1).split(" consecutive").next().unwrap().split(' ').next_back().unwrap().parse().unwrap();
    assert!((10..60).contains(&users), "{}", why(1));
}

/// The verdicts by branch and observer of a fork that is run with these arguments, from `privacy.csv`.
fn verdicts(scenario: &str, point: &str, branch: &str) -> Vec<(String, String, String)> {
    let out = TempDir::new().unwrap();
    let (path, place) = (out.path().join("scenario.ron"), out.path().join("runs"));
    fs::write(&path, scenario).unwrap();
    let arguments = ["run", path.to_str().unwrap(), "--fork-at", point, "--branch", branch, "--out"];
    let (code, _, stderr) = code_and_output(&subrosa(&[&arguments[..], &[place.to_str().unwrap()]].concat()));
    assert_eq!(code, 0, "{stderr}");
    let folder = fs::read_dir(&place).unwrap().next().unwrap().unwrap().path();
    let losses = table(&folder, "privacy.csv").into_iter();
    let tight = losses.filter(|row| row["accountant"] == "tight" && row["whole_run"] == "true");
    tight.map(|row| (row["point.branch"].clone(), row["observer"].clone(), row["basis"].clone())).collect()
}

/// Silence that costs 0.34 before the fork, and reveals the reward after it.
#[test]
fn silence_that_reveals_more_after_the_fork_is_counted() {
    let before = "Informative(by: Value, slope: -1, base_rate: 0.3, least: 0.25, most: 0.35)";
    let visits = VISITS.replace("rounds: 60,", &format!("rounds: 60, never_answer: {before},"));
    let scenario = PASSED_ON.replace("ENCRYPTION", "EndToEnd").replace("PROTOCOL", &visits);
    let found = verdicts(&scenario, "20", "hard: protocol.Local.never_answer=WhenBelow(reward: 0, share: 1)");
    let basis = |branch: &str| -> Vec<&str> {
        found.iter().filter(|(own, ..)| own == branch).map(|(.., basis)| basis.as_str()).collect()
    };
    assert!(
        !basis("unchanged").is_empty() && basis("unchanged").iter().all(|basis| *basis == "proven"),
        "{found:?}"
    );
    assert!(
        !basis("hard").is_empty() && basis("hard").iter().all(|basis| *basis == "unprotected"),
        "{found:?}"
    );
}

/// Noise that begins with the branch brings the condition on selections by loss with it.
#[test]
fn a_branch_has_the_conditions_of_its_own_settings() {
    let scenario = r#"Scenario(
    name: "selected", seed: 1, replications: 1,
    parties: { "server": Party(), "phone": Party(count: 40) },
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("40ms"))),
    objective: GpSample(grid: [8, 8], max_norm: 1, length_scale: 0.3),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "phone")], rounds: 8, initial_points: 2, features: 20,
        series: [Series(name: "s", sharing: Aggregate(clip: 3, noise_multiplier: 0, participation: Poisson(1),
            weights: Uniform(), sensitivity: TighterLoss, selection: PowerOfChoice(candidates: 20, k: 10),
            loss_reports: LossReports(bound: 4, noise_multiplier: 5)))],
    ),
)"#;
    let found =
        verdicts(scenario, "0s", "noisy: protocol.Federated.series[0].sharing.Aggregate.noise_multiplier=2");
    let noisy = found.iter().find(|(branch, observer, _)| branch == "noisy" && observer == "every agent");
    assert_eq!(noisy.map(|(.., basis)| basis.as_str()), Some("conditional"), "{found:?}");
}

/// A provider that cannot read messages still counts those to the machines, and so learns how many settings were below.
#[test]
fn a_search_above_a_threshold_is_counted_for_relays_of_encrypted_messages() {
    let publishes = r#"Release(owner: "registry", readers: ["buyer"], rounds: 20, workers: ["machine"],
        series: [Series(name: "s", publication: AboveThreshold(epsilon: 1, threshold: 1,
            assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1)))])"#;
    let scenario = PASSED_ON.replace("\"isp\": Party()", "\"isp\": Party(), \"machine\": Party()");
    let scenario = scenario.replace("ENCRYPTION", "EndToEnd").replace("PROTOCOL", publishes);
    let found = verdicts(&scenario, "1", "lossy: network.default.loss=Independent(0.1)");
    assert!(found.iter().any(|(_, observer, _)| observer == "isp"), "{found:?}");
}

/// Whether an outcome is known shows in the number of settings that are announced, also to a relay that cannot read them.
#[test]
fn missing_outcomes_are_counted_for_relays_of_encrypted_messages() {
    let publishes = r#"Release(owner: "registry", readers: ["buyer"], rounds: 6,
        silence: Informative(by: Value, slope: -1, base_rate: 0.5, least: 0.3, most: 0.7),
        series: [Series(name: "every", publication: EverySetting(epsilon: 1, delta: 1e-6, publish: Setting,
            assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1)))])"#;
    let scenario = PASSED_ON.replace("ENCRYPTION", "EndToEnd").replace("PROTOCOL", publishes);
    let found = verdicts(&scenario, "1", "lossy: network.default.loss=Independent(0.1)");
    assert!(found.iter().any(|(_, observer, _)| observer == "isp"), "{found:?}");
}

/// The rates of agents with epsilons of their own were computed for the noise and the sampling of the whole run.
#[test]
fn noise_for_personal_epsilons_does_not_change_at_a_fork() {
    let out = TempDir::new().unwrap();
    let path = out.path().join("personal.ron");
    let scenario = r#"Scenario(
    name: "personal", seed: 1, replications: 1,
    parties: { "server": Party(), "phone": Party(count: 20) },
    network: Network(topology: Star(hub: "server")),
    objective: GpSample(grid: [8, 8], max_norm: 1, length_scale: 0.3),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "phone")], rounds: 4, initial_points: 2, features: 20,
        series: [Series(name: "p", sharing: Aggregate(clip: 3, noise_multiplier: 2, participation: Poisson(0.3),
            weights: Uniform(), personal: PersonalSampling(epsilons: Given([0.5, 2]), delta: 1e-5)))],
    ),
)"#;
    fs::write(&path, scenario).unwrap();
    let place = out.path().join("runs");
    for (field, code) in [("noise_multiplier=0.5", 3), ("participation=Poisson(0.5)", 3), ("clip=2", 0)] {
        let branch = format!("other: protocol.Federated.series[0].sharing.Aggregate.{field}");
        let arguments = ["run", path.to_str().unwrap(), "--fork-at", "2", "--branch", &branch, "--out"];
        let found = code_and_output(&subrosa(&[&arguments[..], &[place.to_str().unwrap()]].concat()));
        assert_eq!(found.0, code, "{field}: {}", found.2);
    }
}
