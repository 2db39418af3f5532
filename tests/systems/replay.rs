//! Replays that agree, replays that differ, and two runs side by side up to the first event that differs.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use subrosa::objectives::Resources;
use subrosa::scenario::Document;
use subrosa::study::{self, Options, Plan, RunFolder};
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
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", one, "--diff", &other]));
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
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", one, "--diff", &other, "--format", "json"]));
    assert_eq!(code, 5);
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["agrees"], false);
    let event = document["event"].as_u64().unwrap();
    // The trace, which is made another way, has the same event in the same place.
    let (_, trace, _) = code_and_output(&subrosa(&["trace", one]));
    let line = trace.lines().nth(event as usize - 1).unwrap();
    let found = document["left"]["event"].as_str().unwrap();
    assert!(line.trim().starts_with(found.split("  ").next().unwrap()), "{line}\n{found}");
}

#[test]
fn a_series_that_ends_earlier_differs_there() {
    let place = TempDir::new().unwrap();
    let other = edited(place.path(), "other.ron", &[("rounds: 40", "rounds: 39")]);
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", &other, "--diff", "tests/golden/echo.ron"]));
    assert_eq!(code, 5);
    assert!(stdout.contains("the series is over"), "{stdout}");
}

#[test]
fn runs_of_the_same_scenario_do_not_differ() {
    let out = TempDir::new().unwrap();
    let path = folder(&run("tests/golden/federated.ron", out.path(), &[]));
    let path = path.to_str().unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&[
        "replay",
        path,
        "--diff",
        "tests/golden/federated.ron",
        "--replication",
        "1",
    ]));
    assert_eq!((code, stdout.trim()), (0, "no event differs"), "{stderr}");
    // Another draw of a weight, at the same times: contents differ, nothing else.
    let text = fs::read_to_string(root().join("tests/golden/federated.ron")).unwrap();
    let other = out.path().join("other.ron");
    fs::write(&other, text.replace("perturbation: 0.05", "perturbation: 0.06")).unwrap();
    let other = other.to_str().unwrap();
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", path, "--diff", other]));
    assert_eq!(code, 5);
    assert!(stdout.contains("records Measured"), "{stdout}");
    assert!(stdout.contains("handled Begin from server"), "{stdout}");
    // Nothing differs before the first measurement.
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", path, "--diff", other, "--until", "1ms"]));
    assert_eq!((code, stdout.trim()), (0, "no event differs"));
}

#[test]
fn a_replay_tells_between_which_events_it_parts() {
    let place = TempDir::new().unwrap();
    let document = Document::load(&root().join("tests/golden/echo.ron")).unwrap();
    let resources = Resources { base: root().to_owned(), ..Resources::default() };
    let cells = document.cells(&["replications=1".to_owned()], &resources).unwrap();
    let plan = Plan::new(document.text().to_owned(), Vec::new(), &resources, cells);
    let run = RunFolder::at(&place.path().join("run"));
    let interrupted = subrosa::vocab::Interruption::default();
    let options = Options { threads: 1, fail_fast: false, interrupted: &interrupted };
    study::play(&plan, &run, options, &Silent).unwrap();
    let records = [run.replications(0).unwrap()];
    let mut record = records[0][&0].clone();
    let checkpoints = record.series[0].checkpoints.clone();
    assert!((16..=32).contains(&checkpoints.len()), "{}", checkpoints.len());
    let replayed = |record: &study::ReplicationRecord, until| {
        study::replay(&plan, &run, &[vec![record.clone()]], until, &|| {})
    };
    assert!(replayed(&record, None).differences.is_empty());

    // What a run would have left that parted from this one between two checkpoints.
    for checkpoint in &mut record.series[0].checkpoints[20..] {
        checkpoint.digest = checkpoint.digest.chars().rev().collect();
    }
    record.series[0].digest = record.series[0].digest.chars().rev().collect();
    let found = replayed(&record, None);
    let divergence = found.differences[0].divergence.as_ref().unwrap();
    assert_eq!(divergence.same.as_ref(), Some(&checkpoints[19]));
    assert_eq!(divergence.differs.as_ref().map(|w| w.events), Some(checkpoints[20].events));
    assert!(found.differences[0].to_string().contains("events (until"), "{}", found.differences[0]);

    // Up to a time before, they agree; up to one after, they do not.
    let time = |nanos| Some(subrosa::vocab::Time::from_nanos(nanos));
    assert!(replayed(&record, time(checkpoints[19].nanos)).differences.is_empty());
    let after = replayed(&record, time(checkpoints[21].nanos));
    assert_eq!(after.differences[0].divergence, found.differences[0].divergence);
}

/// A run of the golden echo with six replications, in a folder of its own.
fn six(place: &Path) -> PathBuf {
    folder(&run("tests/golden/echo.ron", place, &["--replications", "6"]))
}

/// Exit code and both outputs of a verb on a run.
fn of(verb: &str, run: &Path) -> (i32, String, String) {
    code_and_output(&subrosa(&[verb, run.to_str().unwrap()]))
}

#[test]
fn a_run_that_lost_records_does_not_replay() {
    let place = TempDir::new().unwrap();
    let run = six(place.path());
    let records = run.join("records.jsonl");
    let whole = fs::read(&records).unwrap();
    let third = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0;
    fs::write(&records, &whole[..third - 50]).unwrap();
    let said = "4 of 6 replications are missing or damaged: run the same command again to make them";
    let (code, stdout, stderr) = of("replay", &run);
    assert!(code == 5 && stderr.contains(said) && !stdout.contains("agrees"), "{code}: {stdout}{stderr}");
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", run.to_str().unwrap(), "--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &document["agrees"], &document["compared"]), (5, &false.into(), &2.into()));
    assert!(document["problems"][0].as_str().unwrap().contains(said));
    let (code, _, stderr) = of("report", &run);
    assert!(code == 0 && stderr.contains(&format!("warning: {said}")), "{code}: {stderr}");

    // Nothing left at all, and one letter that was changed.
    fs::write(&records, "").unwrap();
    let (code, _, stderr) = of("replay", &run);
    assert!(code == 5 && stderr.contains("6 of 6 replications are missing"), "{code}: {stderr}");
    let mut altered = whole.clone();
    altered[third - 50] ^= 1;
    fs::write(&records, altered).unwrap();
    let (code, _, stderr) = of("replay", &run);
    assert!(code == 5 && stderr.contains("1 of 6 replications is missing or damaged"), "{code}: {stderr}");

    // The cure works.
    self::six(place.path());
    assert_eq!((of("replay", &run).0, of("report", &run).2.as_str()), (0, ""));
}

#[test]
fn a_run_whose_digests_were_changed_does_not_replay() {
    let place = TempDir::new().unwrap();
    let run = six(place.path());
    let changed = |file: &str, change: &dyn Fn(String) -> String, code: i32, words: &str| {
        let before = fs::read_to_string(run.join(file)).unwrap();
        fs::write(run.join(file), change(before.clone())).unwrap();
        let (found, stdout, stderr) = of("replay", &run);
        assert_eq!(found, code, "{file}: {stdout}{stderr}");
        assert!(stderr.contains(words), "{file}: {stderr}");
        let report = of("report", &run);
        fs::write(run.join(file), before).unwrap();
        report
    };
    let manifest = fs::read_to_string(run.join("manifest.json")).unwrap();
    let digest = serde_json::from_str::<serde_json::Value>(&manifest).unwrap()["digest"].clone();
    let digest = digest.as_str().unwrap().to_owned();
    let turned: String = digest.chars().rev().collect();
    let (_, _, stderr) = changed(
        "manifest.json",
        &|text| text.replace(&digest, &turned),
        5,
        "the manifest's digest does not match the records",
    );
    assert!(stderr.contains("warning: summary.json does not match the records"), "{stderr}");
    changed("digest.txt", &|text| text.chars().rev().collect(), 5, "digest.txt does not match the records");
    let fewer = |text: String| text.replace("\"replications\": 6", "\"replications\": 5");
    changed("manifest.json", &fewer, 5, "the number of replications is 5 in manifest.json");
    let (code, _, stderr) = changed(
        "manifest.json",
        &|text| text[..200].to_owned(),
        1,
        "remove it and run the same `subrosa run` again",
    );
    assert!(code == 1 && stderr.contains("remove it and run"), "{code}: {stderr}");
    // The last page was made while a file was changed.
    assert_eq!(of("report", &run).0, 0);
    let (code, _, stderr) = of("replay", &run);
    assert!(code == 0 && !stderr.contains("note:"), "{stderr}");
    // Files that other commands wrote, and those of somebody else, are named: a replay does not make them again.
    let (code, _, stderr) =
        code_and_output(&subrosa(&["report", run.to_str().unwrap(), "--replication", "1"]));
    assert!(code == 0 && run.join("report-cell0-replication1.html").exists(), "{code}: {stderr}");
    fs::write(run.join("results.xlsx"), "").unwrap();
    let (code, _, stderr) = of("replay", &run);
    let named = "in the folder, but not checked: report-cell0-replication1.html, results.xlsx\n";
    assert!(code == 0 && stderr.contains(named), "{code}: {stderr}");
}

#[test]
fn a_file_of_a_run_is_not_the_run() {
    let place = TempDir::new().unwrap();
    let run = six(place.path());
    for verb in ["report", "replay"] {
        let (code, _, stderr) = of(verb, &run.join("summary.json"));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(&format!("such as {}", run.display())), "{stderr}");
    }
}

/// The page does not depend on how its folder was named when the report was made.
#[test]
fn a_report_by_another_path_is_the_same_page() {
    let place = TempDir::new().unwrap();
    let run = six(place.path());
    assert_eq!(of("report", &run.join("")).0, 0);
    assert_eq!(of("replay", &run).0, 0);
    let moved = place.path().join("moved");
    fs::rename(&run, &moved).unwrap();
    let (code, stdout, _) = of("report", &moved);
    assert!(code == 0 && stdout.contains(&format!("folder {}", moved.display())), "{stdout}");
    let (code, stdout, stderr) = of("replay", &moved.join("."));
    assert!(code == 0 && stdout.contains("replay agrees"), "{stdout}{stderr}");
}

struct Silent;

impl study::Progress for Silent {
    fn begin(&self, _: &study::Start) {}
    fn done(&self) {}
    fn failed(&self, _: &study::Failure) {}
}
