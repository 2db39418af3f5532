//! Replays that agree, replays that differ, and two runs side by side up to the first event that differs.

mod support;

use std::fs;
use std::path::Path;
use subrosa::objectives::Resources;
use subrosa::scenario::Document;
use subrosa::study::{self, Options, Plan, RunFolder};
use support::{folder, root, run, subrosa, told};
use tempfile::TempDir;

/// The golden echo with an edit, as a file.
fn edited(place: &Path, name: &str, edits: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(root().join("tests/golden/echo.ron")).unwrap();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let path = place.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn two_scenarios_part_at_an_event_with_a_cause() {
    let place = TempDir::new().unwrap();
    let one = "tests/golden/echo.ron";
    let other = edited(place.path(), "other.ron", &[("low: \"90ms\"", "low: \"95ms\"")]);
    let (code, stdout, stderr) = told(&subrosa(&["replay", one, "--diff", &other]));
    assert_eq!(code, 5, "{stdout}{stderr}");
    // The first echo on the link that differs arrives at another time.
    assert!(stdout.contains("series \"echo\", event "), "{stdout}");
    let arrivals: Vec<&str> = stdout.lines().filter(|line| line.contains("far >> caller  Echo")).collect();
    assert_eq!(arrivals.len(), 2, "{stdout}");
    assert_ne!(arrivals[0], arrivals[1]);
    let causes: Vec<&str> = stdout.lines().filter(|line| line.contains("because")).collect();
    assert_eq!(causes.len(), 2, "{stdout}");
    for cause in causes {
        assert!(cause.contains("because Echo from far to caller was sent at "), "{cause}");
        assert!(cause.contains("when far handled Call from caller (sent at "), "{cause}");
    }
    let (code, stdout, _) = told(&subrosa(&["replay", one, "--diff", &other, "--format", "json"]));
    assert_eq!(code, 5);
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["agrees"], false);
    let event = document["event"].as_u64().unwrap();
    // The trace, which is made another way, has the same event in the same place.
    let (_, trace, _) = told(&subrosa(&["trace", one]));
    let line = trace.lines().nth(event as usize - 1).unwrap();
    let found = document["left"]["event"].as_str().unwrap();
    assert!(line.trim().starts_with(found.split("  ").next().unwrap()), "{line}\n{found}");
}

#[test]
fn a_series_that_ends_earlier_differs_there() {
    let place = TempDir::new().unwrap();
    let other = edited(place.path(), "other.ron", &[("rounds: 40", "rounds: 39")]);
    let (code, stdout, _) = told(&subrosa(&["replay", &other, "--diff", "tests/golden/echo.ron"]));
    assert_eq!(code, 5);
    assert!(stdout.contains("the series is over"), "{stdout}");
}

#[test]
fn runs_of_the_same_scenario_do_not_differ() {
    let out = TempDir::new().unwrap();
    let path = folder(&run("tests/golden/federated.ron", out.path(), &[]));
    let path = path.to_str().unwrap();
    let (code, stdout, stderr) =
        told(&subrosa(&["replay", path, "--diff", "tests/golden/federated.ron", "--replication", "1"]));
    assert_eq!((code, stdout.trim()), (0, "no event differs"), "{stderr}");
    // Another draw of a weight, at the same times: contents differ, nothing else.
    let text = fs::read_to_string(root().join("tests/golden/federated.ron")).unwrap();
    let other = out.path().join("other.ron");
    fs::write(&other, text.replace("perturbation: 0.05", "perturbation: 0.06")).unwrap();
    let other = other.to_str().unwrap();
    let (code, stdout, _) = told(&subrosa(&["replay", path, "--diff", other]));
    assert_eq!(code, 5);
    assert!(stdout.contains("records Measured"), "{stdout}");
    assert!(stdout.contains("handled Begin from server"), "{stdout}");
    // Nothing differs before the first measurement.
    let (code, stdout, _) = told(&subrosa(&["replay", path, "--diff", other, "--until", "1ms"]));
    assert_eq!((code, stdout.trim()), (0, "no event differs"));
}

#[test]
fn a_replay_tells_between_which_events_it_parts() {
    let place = TempDir::new().unwrap();
    let document = Document::load(&root().join("tests/golden/echo.ron")).unwrap();
    let resources = Resources { base: root().to_owned(), data: None };
    let cells = document.cells(&["replications=1".to_owned()], &resources).unwrap();
    let plan = Plan::new(document.text().to_owned(), Vec::new(), &resources, cells);
    let run = RunFolder::at(&place.path().join("run"));
    let interrupted = std::sync::atomic::AtomicBool::new(false);
    let options = Options { threads: 1, fail_fast: false, interrupted: &interrupted };
    study::play(&plan, &run, options, &Silent).unwrap();
    let records = [run.replications(0).unwrap()];
    let mut record = records[0][&0].clone();
    let waypoints = record.series[0].checkpoints.clone();
    assert!((16..=32).contains(&waypoints.len()), "{}", waypoints.len());
    let replayed = |record: &study::ReplicationRecord, until| {
        study::replay(&plan, &run, &[vec![record.clone()]], until, &|| {})
    };
    assert!(replayed(&record, None).differences.is_empty());

    // What a run would have left that parted from this one between two waypoints.
    for waypoint in &mut record.series[0].checkpoints[20..] {
        waypoint.digest = waypoint.digest.chars().rev().collect();
    }
    record.series[0].digest = record.series[0].digest.chars().rev().collect();
    let found = replayed(&record, None);
    let parting = found.differences[0].parting.as_ref().unwrap();
    assert_eq!(parting.same.as_ref(), Some(&waypoints[19]));
    assert_eq!(parting.differs.as_ref().map(|w| w.events), Some(waypoints[20].events));
    assert!(found.differences[0].to_string().contains("events (until"), "{}", found.differences[0]);

    // Up to a time before, they agree; up to one after, they do not.
    let time = |nanos| Some(subrosa::vocab::Time::from_nanos(nanos));
    assert!(replayed(&record, time(waypoints[19].nanos)).differences.is_empty());
    let after = replayed(&record, time(waypoints[21].nanos));
    assert_eq!(after.differences[0].parting, found.differences[0].parting);
}

struct Silent;

impl study::Progress for Silent {
    fn begin(&self, _: &study::Start) {}
    fn done(&self) {}
    fn failed(&self, _: &study::Failure) {}
}
