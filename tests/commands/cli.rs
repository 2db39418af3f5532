//! The command line as a user meets it: the real binary, right and wrong input, exit codes.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn hospital() -> String {
    fs::read_to_string(root().join("scenarios/hospital.ron")).unwrap()
}

/// A copy of the hospital's scenario, edited, with its data beside it.
fn edited(place: &Path, edits: &[(&str, &str)]) -> PathBuf {
    let mut text = hospital();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::create_dir_all(place.join("data")).unwrap();
    fs::copy(root().join("scenarios/data/diabetes.csv"), place.join("data/diabetes.csv")).unwrap();
    let path = place.join("wrong.ron");
    fs::write(&path, text).unwrap();
    path
}

/// `check` and `run` refuse with exit code 3, name the place, and print all of `words`.
#[track_caller]
fn refused(path: &Path, words: &[&str]) -> String {
    let mut said = String::new();
    for verb in ["check", "run"] {
        let (code, stdout, stderr) = code_and_output(&subrosa(&[verb, path.to_str().unwrap()]));
        assert_eq!(code, 3, "{verb}: {stdout}{stderr}");
        assert_eq!(stdout, "", "{verb}");
        for word in words {
            assert!(stderr.contains(word), "{verb}: no {word:?} in\n{stderr}");
        }
        said = stderr;
    }
    said
}

#[test]
fn a_misspelled_field() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("delta: 1e-3, r: 10", "dleta: 1e-3, r: 10")]);
    let said = refused(
        &path,
        &["wrong.ron:60:76", "unknown field `dleta`", "one of epsilon, delta, r", "did you mean `delta`?"],
    );
    assert_eq!(said.matches("error:").count(), 1, "only the misspelling is an error:\n{said}");
}

#[test]
fn a_negative_epsilon() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("epsilon: 16.444646771097048", "epsilon: -4")]);
    refused(&path, &["wrong.ron:60:56", "expected a finite epsilon above 0", "found    -4"]);
}

#[test]
fn an_unknown_party_everywhere_it_is_named() {
    let place = TempDir::new().unwrap();
    let path = edited(
        place.path(),
        &[("Star(hub: \"hospital\")", "Star(hub: \"hopsital\")"), ("modeler: \"lab\"", "modeler: \"labb\"")],
    );
    let said = refused(
        &path,
        &["no party is called \"hopsital\"", "did you mean \"hospital\"?", "wrong.ron:21:29", "\"labb\""],
    );
    assert_eq!(said.matches("error:").count(), 2, "all semantic problems at once:\n{said}");
}

#[test]
fn a_duplicate_key() {
    let place = TempDir::new().unwrap();
    let path =
        edited(place.path(), &[("\"hospital\": Party(),", "\"hospital\": Party(), \"hospital\": Party(),")]);
    refused(&path, &["wrong.ron:13:30", "duplicate key `hospital`", "keep one of the two"]);
}

#[test]
fn not_a_number() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("max_norm: 25", "max_norm: NaN")]);
    refused(&path, &["wrong.ron:38:19", "expected a finite number above 0, found NaN"]);
}

#[test]
fn a_missing_table() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("data/diabetes.csv", "data/diabets.csv")]);
    refused(&path, &["wrong.ron:34:15", "no such file", "paths begin at the folder of the scenario file"]);
}

#[test]
fn a_missing_column() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("\"bmi\"", "\"bmii\"")]);
    refused(&path, &["wrong.ron:35:25", "no column is called \"bmii\"", "did you mean \"bmi\"?"]);
}

#[test]
fn text_in_a_column_of_numbers() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[]);
    let table = place.path().join("data/diabetes.csv");
    let text = fs::read_to_string(&table).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let bmi = lines[0].split(',').position(|name| name.trim_matches('"') == "bmi").unwrap();
    let mut cells: Vec<&str> = lines[5].split(',').collect();
    cells[bmi] = "oops";
    lines[5] = cells.join(",");
    fs::write(&table, lines.join("\n")).unwrap();
    refused(&path, &["wrong.ron:35:25", "diabetes.csv:6", "column \"bmi\"", "found \"oops\""]);
}

#[test]
fn an_empty_file_and_a_directory_and_nothing_at_all() {
    let place = TempDir::new().unwrap();
    let empty = place.path().join("empty.ron");
    fs::write(&empty, "").unwrap();
    refused(&empty, &["empty.ron", "an empty file", "`subrosa new outsourced` writes"]);
    refused(place.path(), &["a folder", "name a file inside it"]);
    refused(&place.path().join("nowhere.ron"), &["nowhere.ron", "no such file"]);
}

#[test]
fn several_wrong_things_are_all_said() {
    let place = TempDir::new().unwrap();
    let path = edited(
        place.path(),
        &[
            ("sigma: 0.5", "sigmaa: 0.5"),
            ("goal: Maximise", "goal: Maximize"),
            ("rounds: 50", "rounds: \"50\""),
            ("curator: \"hospital\",", ""),
        ],
    );
    let said = refused(
        &path,
        &[
            "did you mean `sigma`?",
            "did you mean `Maximise`?",
            "expected a number",
            "missing field `curator`",
        ],
    );
    assert_eq!(said.matches("error:").count(), 4, "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80 || line.contains('│')), "{said}");
}

#[test]
fn a_wrong_override_names_itself() {
    let (code, _, stderr) = code_and_output(&subrosa(&["check", "scenarios/hospital.ron", "-o", "seeed=4"]));
    assert_eq!(code, 3);
    assert!(stderr.contains("-o seeed=4") && stderr.contains("did you mean `seed`?"), "{stderr}");
}

#[test]
fn usage_is_exit_code_2() {
    assert_eq!(code_and_output(&subrosa(&["run"])).0, 2);
    assert_eq!(code_and_output(&subrosa(&["run", "x.ron", "--threads", "0"])).0, 2);
    assert_eq!(code_and_output(&subrosa(&["dance"])).0, 2);
}

#[test]
fn diagnostics_as_json() {
    let place = TempDir::new().unwrap();
    let path = edited(place.path(), &[("max_norm: 25", "max_norm: NaN")]);
    let (code, stdout, _) = code_and_output(&subrosa(&["check", path.to_str().unwrap(), "--format", "json"]));
    assert_eq!(code, 3);
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let problem = &document["diagnostics"][0];
    assert_eq!((&problem["line"], &problem["column"]), (&38.into(), &19.into()), "{document}");
}

#[test]
fn a_run_leaves_a_folder_that_replays() {
    let out = TempDir::new().unwrap();
    let document = run("scenarios/hospital.ron", out.path(), &["--replications", "2"]);
    assert_eq!(document["schema"], "subrosa.summary/2");
    for key in ["scenario", "run", "seed", "digest"] {
        assert!(!document[key].is_null(), "{key}");
    }
    let series = &document["cells"][0]["series"][0];
    assert_eq!((&series["name"], &series["replications"]), (&"PO-GP-UCB".into(), &2.into()));
    for key in ["mean", "se", "n"] {
        assert!(series["metrics"]["simple_regret"][key].is_number(), "{key}");
        assert!(series["metrics"]["cumulative_regret"][key].is_number(), "{key}");
    }
    for key in ["virtual_seconds", "messages", "bytes", "messages_lost"] {
        assert!(series["metrics"][key].is_number(), "{key}");
    }
    let row = &document["cells"][0]["privacy"][0];
    for key in ["protected", "unit", "observer", "neighbours", "releases"] {
        assert!(!row[key].is_null(), "{key}");
    }
    for key in ["accountant", "epsilon", "delta", "basis", "note"] {
        assert!(!row["losses"][0][key].is_null(), "{key}");
    }
    let run = folder(&document);
    for file in ["manifest.json", "scenario.ron", "summary.json", "summary.csv"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    for file in [
        "records.jsonl",
        "results.csv",
        "results.jsonl",
        "iterations.csv",
        "ledger.csv",
        "network.csv",
        "digest.txt",
    ] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", run.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(
        stdout.trim(),
        "replay agrees: 2 replications, every record equal; every file agrees with the records"
    );
}

#[test]
fn replay_tells_a_run_that_was_changed() {
    let out = TempDir::new().unwrap();
    let run = folder(&run("tests/golden/echo.ron", out.path(), &[]));
    let scenario = run.join("scenario.ron");
    let text = fs::read_to_string(&scenario).unwrap();
    fs::write(&scenario, text.replace("rounds: 40", "rounds: 41")).unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", run.to_str().unwrap()]));
    assert_eq!(code, 5, "{stdout}{stderr}");
}

#[test]
fn the_report_fits_80_columns() {
    let out = TempDir::new().unwrap();
    for (scenario, replications) in
        [("scenarios/hospital.ron", "1"), ("scenarios/papers/po-gp-ucb/figure2a.ron", "2")]
    {
        let arguments =
            ["run", scenario, "--replications", replications, "--out", out.path().to_str().unwrap()];
        let (code, stdout, _) = code_and_output(&subrosa(&arguments));
        assert_eq!(code, 0);
        let long: Vec<&str> =
            stdout.lines().filter(|line| line.chars().count() > 80 && !line.starts_with("folder")).collect();
        assert!(long.is_empty(), "{long:?}");
        for heading in ["Regret at the end", "Network", "Privacy: epsilon of one run", "neighbours"] {
            assert!(stdout.contains(heading), "{heading}");
        }
        assert!(!stdout.contains('\u{1b}'), "no colour when piped");
    }
}

#[test]
fn an_interrupted_run_resumes_to_the_same_result() {
    let out = TempDir::new().unwrap();
    let long = ["--replications", "60"];
    let whole = run("scenarios/hospital.ron", &out.path().join("whole"), &long);
    let broken = out.path().join("broken");
    let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["run", "scenarios/hospital.ron", "--threads", "1", "--out", broken.to_str().unwrap()])
        .args(long)
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // As soon as two replications are on disk.
    let lines = |path: &PathBuf| fs::read_to_string(path).map_or(0, |text| text.lines().count());
    let parts = || -> usize {
        walk(&broken).iter().filter(|path| path.to_string_lossy().contains("segments")).map(lines).sum()
    };
    let begin = Instant::now();
    while parts() < 2 && begin.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(130), "interrupted and resumable");
    let resumed = run("scenarios/hospital.ron", &broken, &long);
    assert_eq!(whole["digest"], resumed["digest"]);
    assert_eq!(whole["cells"], resumed["cells"]);
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() { walk(&path) } else { vec![path] }
        })
        .collect()
}

#[test]
fn a_place_that_cannot_be_written_is_said() {
    let out = TempDir::new().unwrap();
    let file = out.path().join("file");
    fs::write(&file, "here already").unwrap();
    let inside = file.join("runs");
    let (code, _, stderr) =
        code_and_output(&subrosa(&["run", "tests/golden/echo.ron", "--out", inside.to_str().unwrap()]));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(inside.to_str().unwrap()), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "here already");
}

#[test]
fn every_scenario_of_the_repository_is_valid() {
    let mut checked = 0;
    for path in walk(&root().join("scenarios")) {
        if path.extension().is_some_and(|extension| extension == "ron") {
            let (code, _, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
            if fs::read_to_string(&path).unwrap().contains("--data DIR") && code != 0 {
                // Its data may not be passed on; what is wrong then is the missing file, and how to name its folder.
                assert!(
                    code == 3 && stderr.contains("no such file") && stderr.contains("--data"),
                    "{stderr}"
                );
                continue;
            }
            assert_eq!(code, 0, "{stderr}");
            checked += 1;
        }
    }
    assert!(checked >= 7, "{checked}");
}

#[test]
fn list_explains_every_member() {
    let (code, stdout, _) = code_and_output(&subrosa(&["list"]));
    assert_eq!(code, 0);
    for name in ["LogNormal", "Independent", "OnOff", "Table", "Outsourced", "GpUcb", "JohnsonLindenstrauss"]
    {
        assert!(stdout.contains(name), "{name}");
        let (code, one, _) = code_and_output(&subrosa(&["list", name]));
        assert_eq!(code, 0);
        assert!(one.len() > name.len() + 20, "{one}");
    }
    assert_eq!(code_and_output(&subrosa(&["list", "LogNrmal"])).0, 2);
    let (code, stdout, _) = code_and_output(&subrosa(&["list", "each"]));
    assert_eq!(code, 0);
    assert!(stdout.contains("one cell of a study per value"), "{stdout}");
}

/// What a new user types wrong, and what the answer must have.
#[test]
fn stumbles_are_answered_with_a_cure() {
    let place = TempDir::new().unwrap();
    let wrong = |arguments: &[&str], cure: &str| {
        let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
        let flat = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code != 0 && flat.contains(cure), "{arguments:?}: {code}\n{stdout}{stderr}");
    };
    wrong(&["run", "scenarios/hospitl.ron"], "did you mean scenarios/hospital.ron?");
    wrong(&["check", "scenarios/nothing-like-it.ron"], "begins at the current folder");
    wrong(&["list", "Tabel"], "did you mean Table?");
    wrong(&["list", "zzz"], "the families are");
    wrong(&["new"], "possible values: outsourced, local,");
    wrong(&["account", "runs/nowhere"], "the folder of a run");
    wrong(&["calibrate", "--epsilon", "-1", "--rounds", "3"], "expected a finite epsilon above 0");
    wrong(&["report", place.path().to_str().unwrap()], "runs/<name>-<hash>");
    let document = run("tests/golden/echo.ron", place.path(), &[]);
    wrong(&["report", place.path().to_str().unwrap()], folder(&document).to_str().unwrap());
}

#[test]
fn help_fits_80_columns() {
    let (_, help, _) = code_and_output(&subrosa(&["--help"]));
    let verbs = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let verbs: Vec<&str> = verbs
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() >= 12, "{help}");
    for verb in verbs {
        let (_, help, _) = code_and_output(&subrosa(&["help", verb]));
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{verb}: {line}");
        }
    }
}

#[test]
fn a_report_that_cannot_be_written_is_still_read() {
    let out = TempDir::new().unwrap();
    let run = folder(&run("tests/golden/echo.ron", out.path(), &[]));
    // A folder where the page should be stands for a run that one may only read.
    fs::remove_file(run.join("report.html")).unwrap();
    fs::create_dir_all(run.join("report.html/there")).unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["report", run.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("warning: cannot write") && stdout.contains("digest"), "{stderr}{stdout}");
}

#[test]
fn a_figure_wants_a_file_and_a_name_that_there_is() {
    let out = TempDir::new().unwrap();
    let run = folder(&run("tests/golden/echo.ron", out.path(), &[]));
    let run = run.to_str().unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["report", run, "--figure", "latency"]));
    assert!(code == 2 && stderr.contains("--svg <FILE>|--png <FILE>"), "{code}: {stderr}");
    let file = out.path().join("figure");
    let (svg, png) = (file.with_extension("svg"), file.with_extension("png"));
    let both = ["report", run, "--svg", svg.to_str().unwrap(), "--png", png.to_str().unwrap()];
    let (code, _, stderr) = code_and_output(&subrosa(&[&both[..], &["--figure", "nonsense"]].concat()));
    assert!(code == 2 && stderr.contains("it has"), "{code}: {stderr}");
    assert_eq!(code_and_output(&subrosa(&both)).0, 0);
    assert!(svg.is_file() && png.is_file());
}

#[test]
fn a_line_of_a_trace_is_short_and_json_is_whole() {
    let trace = |format: &str| {
        let scenario = root().join("scenarios/hospital.ron");
        let path = scenario.to_str().unwrap();
        code_and_output(&subrosa(&["trace", path, "--until", "1s", "--format", format])).1
    };
    let (text, json) = (trace("text"), trace("jsonl"));
    assert!(text.lines().all(|line| line.chars().count() < 200));
    assert!(text.contains("Released(PrivacyEvent {") && !text.contains("neighbours"));
    assert!(json.lines().any(|line| line.contains("neighbours")));
    assert_eq!(text.lines().count(), json.lines().count());
}
