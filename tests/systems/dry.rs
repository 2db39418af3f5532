//! A dry run has the times of the full run where times do not depend on values, and costs next to nothing.

use crate::support::{code_and_output, run, subrosa};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn dry(scenario: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["run", scenario, "--dry", "--format", "json"];
    arguments.extend(more);
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).expect("one JSON document")
}

/// Everything that a dry run and a full run both tell of the system is the same.
fn same_system(scenario: &str, out: &Path, more: &[&str]) -> Value {
    let dry = dry(scenario, more);
    let full = run(scenario, out, more);
    let series = full["cells"][0]["series"].as_array().unwrap();
    assert!(!series.is_empty());
    assert_eq!(series.len(), dry["series"].as_array().unwrap().len());
    for (full, dry) in series.iter().zip(dry["series"].as_array().unwrap()) {
        assert_eq!(full["name"], dry["name"]);
        for key in ["virtual_seconds", "messages", "messages_lost", "bytes"] {
            let (full, dry_value) = (&full["metrics"][key], &dry[key]);
            let full = full.as_f64().or_else(|| full["mean"].as_f64()).unwrap();
            assert_eq!(full, dry_value.as_f64().unwrap(), "{key} of {}", dry["name"]);
        }
    }
    dry
}

/// When the server of a series closed its rounds, from the trace of a full run.
fn closings(scenario: &str, series: &str, more: &[&str]) -> Vec<f64> {
    let mut arguments = vec!["trace", scenario, "--series", series, "--format", "jsonl"];
    arguments.extend(more);
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["fact"].as_str().is_some_and(|fact| fact.starts_with("Closed")))
        .map(|event| event["nanos"].as_u64().unwrap() as f64 / 1e9)
        .collect()
}

#[test]
fn a_federation_is_as_late_as_in_full() {
    let out = TempDir::new().unwrap();
    let scenario = "scenarios/federated.ron";
    let shorter = ["-o", "protocol.Federated.rounds=4"];
    let one = ["-o", "protocol.Federated.rounds=4", "--replications", "1"];
    let dry = same_system(scenario, out.path(), &one);
    for name in ["as planned", "first to arrive"] {
        let series = dry["series"].as_array().unwrap().iter().find(|s| s["name"] == name).unwrap();
        let times = closings(scenario, name, &shorter);
        assert_eq!(times.len(), 4);
        assert_eq!(series["rounds"]["count"], 4);
        let longest =
            times.iter().scan(0.0, |last, &t| Some(t - std::mem::replace(last, t))).fold(0.0, f64::max);
        assert!((series["rounds"]["most"].as_f64().unwrap() - longest).abs() < 1e-9, "{name}");
        // All 200 phones are asked in each of the rounds 0 to 3.
        let asked: u64 =
            series["groups"].as_array().unwrap().iter().map(|g| g["asked"].as_u64().unwrap()).sum();
        assert_eq!(asked, 800);
        for group in series["groups"].as_array().unwrap() {
            let of = |key: &str| group[key].as_u64().unwrap();
            assert_eq!(of("asked"), of("in_time") + of("late") + of("missing"));
        }
    }
}

#[test]
fn the_other_protocols_have_their_times_too() {
    let out = TempDir::new().unwrap();
    same_system("tests/golden/echo.ron", out.path(), &[]);
    let untrusted = ["-o", "network.links[0].loss=Independent(0.2)", "-o", "protocol.Federated.rounds=2"];
    same_system("scenarios/studies/untrusted-server.ron", out.path(), &untrusted);
    same_system("tests/golden/branin.ron", out.path(), &[]);
    let one_release = [
        "--replications",
        "1",
        "-o",
        "protocol.Release.series=[Series(name: \"grid\", publication: FixedGrid(epsilon: 1))]",
    ];
    same_system("scenarios/release.ron", out.path(), &one_release);
    same_system(
        "scenarios/users.ron",
        out.path(),
        &["--replications", "1", "-o", "protocol.Local.rounds=300"],
    );
}

#[test]
fn the_report_names_who_is_late_and_leaves_no_folder() {
    let out = TempDir::new().unwrap();
    let place = out.path().to_str().unwrap();
    let arguments = ["run", "tests/golden/federated.ron", "--dry", "--out", place];
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    for words in ["dry run", "Virtual time of a round", "who", "in time", "missing", "slow-", "Network"] {
        assert!(stdout.contains(words), "{words}:\n{stdout}");
    }
    assert!(!stdout.contains("epsilon"), "{stdout}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
}
