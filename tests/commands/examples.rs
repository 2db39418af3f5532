//! The programs of examples/ run, and do what they say. `cargo test` has built them; alone, this test builds them, unless
//! `SUBROSA_EXAMPLES_BUILT` is set: for a selection of packages that is not the default one cargo would build them anew.

use crate::support::root;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the built examples.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // target/PROFILE/deps/this-test
        let profile = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
        if std::env::var_os("SUBROSA_EXAMPLES_BUILT").is_some() {
            return profile.join("examples");
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--examples", "--quiet", "--offline", "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "the examples do not compile");
        profile.join("examples")
    })
}

/// Runs an example and returns what it prints; it prints the same when it is run again.
fn run(name: &str) -> String {
    let play = || {
        let output = Command::new(folder().join(name)).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = play();
    assert_eq!(first, play(), "{name} does not replay");
    first
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c| !number(c)).filter_map(|piece| piece.trim_matches('.').parse().ok()).collect()
}

/// The line that begins so, without its beginning.
fn line<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find_map(|line| line.trim().strip_prefix(start)).unwrap_or_else(|| panic!("{start}: {text}"))
}

#[test]
fn gossip_spreads_the_mean() {
    let said = run("own_party");
    let beliefs = numbers(line(&said, "after a minute:"));
    let spread = beliefs.iter().copied().fold(0.0, f64::max) - beliefs.iter().copied().fold(7.0, f64::min);
    assert!(beliefs.len() == 8 && spread < 0.01, "began 7 apart: {said}");
}

#[test]
fn the_modeler_finds_forresters_best_point() {
    let said = run("own_objective");
    let numbers = numbers(line(&said, "GP-UCB:"));
    assert!(numbers[0] < 0.1 && numbers[1] == 25.0, "values differ by 22: {said}");
}

#[test]
fn two_answers_cost_twice_epsilon_and_less_where_a_delta_is_given() {
    let said = run("own_mechanism");
    let counts = numbers(line(&said, "answers by ward:"));
    assert_eq!(counts.iter().sum::<f64>(), 4000.0, "{said}");
    // Ward 0, where a third was: the truth of those, and a quarter of the others' lies. Ward 3: lies alone.
    let e = 1f64.exp();
    let expected = [4000.0 / 3.0 * (e + 2.0) / (e + 4.0), 4000.0 / (e + 4.0)];
    for (ward, expected) in [(0, expected[0]), (3, expected[1])] {
        // The standard deviation is at most sqrt(4000) / 2 = 32.
        assert!((counts[ward] - expected).abs() < 5.0 * 32.0, "ward {ward}: {expected}, {said}");
    }
    let epsilon = |name: &str| numbers(line(&said, &format!("{name}: epsilon")))[0];
    assert_eq!(epsilon("basic"), 2.0);
    assert!(epsilon("tight") <= 2.0 && epsilon("tight") > 1.0, "{said}");
}

#[test]
fn own_delays_carry_the_messages_of_a_link() {
    let said = run("own_latency");
    // 40 ms times Gamma(1 - 1 / 3) = 1.354118.
    assert!((numbers(line(&said, "mean"))[0] - 54.165).abs() < 0.01, "{said}");
    // A hundred calls and their answers at least; some calls are made again before a late answer comes.
    assert!(numbers(line(&said, "echo:"))[0] >= 200.0, "{said}");
}

/// What the program with a protocol of its own prints when its command line is this; it ends well.
fn own_protocol(arguments: &[&str]) -> String {
    let program = folder().join("own_protocol");
    let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every verb that plays, as for the library's own protocols.
#[test]
fn an_own_protocol_is_played_replayed_traced_forked_swept_compared_and_reported() {
    const SCENARIO: &str = "examples/own_protocol.ron";
    assert!(own_protocol(&["list", "protocol"]).contains("Remote"));
    own_protocol(&["check", SCENARIO]);
    let place = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| place.path().join(name).to_str().unwrap().to_owned());
    let played: Value =
        serde_json::from_str(&own_protocol(&["run", SCENARIO, "--out", &one, "--format", "json"])).unwrap();
    let cell = &played["cells"][0];
    let series = cell["series"].as_array().unwrap();
    let regret = |index: usize| series[index]["metrics"]["cumulative_regret"]["mean"].as_f64().unwrap();
    assert_eq!([&series[0]["name"], &series[1]["name"]], ["GpUcb", "Random"]);
    assert!(regret(0) < regret(1), "{} and {}", regret(0), regret(1));
    // The device's outcomes are in the clear: booked, and priced without a bound.
    let rows = cell["privacy"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["observer"] == "service"), "{rows:?}");
    let only = |place: &str| fs::read_dir(place).unwrap().next().unwrap().unwrap().path();
    let run = only(&one);
    let run = run.to_str().unwrap();
    assert!(own_protocol(&["replay", run]).contains("replay agrees: 4 replications"));
    assert!(own_protocol(&["report", run]).contains("GpUcb"));
    let traced = own_protocol(&["trace", SCENARIO, "--series", "GpUcb", "--until", "2s"]);
    assert!(
        traced.contains("Measure") && traced.contains("Outcome") && traced.contains("Measured {"),
        "{traced}"
    );
    // Two workers on one study, one after the other.
    let study = own_protocol(&["sweep", "plan", SCENARIO, "--out", &two]);
    let study = study.trim();
    own_protocol(&["sweep", "work", study, "--slot", "0/2", "--threads", "1"]);
    own_protocol(&["sweep", "work", study, "--slot", "1/2", "--threads", "1"]);
    own_protocol(&["sweep", "merge", study]);
    let compared = own_protocol(&["compare", run, study]);
    assert!(compared.contains("GpUcb"), "{compared}");
    let digests = |folder: &str| {
        let text = fs::read_to_string(Path::new(folder).join("summary.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["digest"].clone()
    };
    assert!(digests(run).is_string());
    assert_eq!(digests(run), digests(study));
    // Its processes keep their inputs, so that a world is copied; a branch that changes nothing changes nothing.
    let branch = "slow: network.default.latency=Constant(\"1s\")";
    let forked = own_protocol(&["run", SCENARIO, "--fork-at", "10", "--branch", branch, "--out", &one]);
    assert!(forked.contains("slow"), "{forked}");
    // Its answers are attacked: epsilon 4 is stated, and 2 would be refuted.
    let audit = ["audit", SCENARIO, "--trials", "2000", "--threads", "1", "--series", "GpUcb", "--expect"];
    own_protocol(&[&audit[..], &["consistent"]].concat());
    own_protocol(&[&audit[..], &["refuted", "--claim", "2,0"]].concat());
}

#[test]
fn examples_are_short_and_all_of_them_run_here() {
    let tests = include_str!("examples.rs");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        // A protocol names messages, two parties and a recipe, in lines of code; the others show one thing each.
        let code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines =
            if name == "own_protocol" { text.lines().filter(code).count() } else { text.lines().count() };
        // Seven of them are for `audit`, and how outcomes are answered.
        let most = if name == "own_protocol" { 67 } else { 60 };
        assert!(lines <= most, "{name} has {lines} lines");
        let called = [format!("run(\"{name}\")"), format!("join(\"{name}\")")];
        assert!(called.iter().any(|call| tests.contains(call)), "{name} is not run");
    }
}
