//! Folders, files and numbers that nobody means well with: each is said, and nothing else is lost by it.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use subrosa::objectives::Resources;
use subrosa::scenario::Document;
use subrosa::study::{self, Options, Plan, RunFolder};
use tempfile::TempDir;

const ECHO: &str = "tests/golden/echo.ron";

fn written(place: &Path, name: &str, text: &str) -> String {
    fs::write(place.join(name), text).unwrap();
    place.join(name).to_str().unwrap().to_owned()
}

fn play(place: &Path, more: &[&str]) -> PathBuf {
    folder(&run(ECHO, place, &[&["--replications", "2"], more].concat()))
}

fn words(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn ends(code: i32, arguments: &[&str], said: &[&str]) -> String {
    let (found, stdout, stderr) = code_and_output(&subrosa(arguments));
    let all = format!("{stdout}{stderr}");
    assert_eq!(found, code, "{arguments:?}: {all}");
    let flat = all.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in said {
        assert!(flat.contains(word), "{arguments:?}: no {word:?} in\n{all}");
    }
    all
}

/// A sealed line of a record, sealed anew after an edit.
fn sealed(line: &str, edit: &dyn Fn(&str) -> String) -> String {
    let (cell, rest) = line.split_once(",\"seal\":\"").unwrap();
    let rest = edit(rest.split_once("\",").unwrap().1);
    format!("{cell},\"seal\":\"{}\",{rest}", blake3::hash(rest.as_bytes()).to_hex())
}

/// Edits one line of the run's records and seals it anew.
fn forge(run: &Path, line: usize, edit: &dyn Fn(&str) -> String) {
    let path = run.join("records.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let forged: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(index, old)| if index == line { sealed(old, edit) } else { old.to_owned() })
        .collect();
    assert_ne!(forged.join("\n"), text.trim_end(), "nothing was edited");
    fs::write(&path, forged.join("\n") + "\n").unwrap();
}

#[test]
fn a_length_scale_whose_square_is_no_number_is_refused() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("scenarios/users.ron")).unwrap();
    let objective = "objective: RkhsSum(kernel: Matern52, length_scale: Each(\"l\", [0.2, 1e-307]), noise";
    let text = text.replace("objective: RkhsSum(noise", objective);
    let path = written(place.path(), "nan.ron", &text);
    ends(
        3,
        &["check", &path],
        &["objective.RkhsSum.length_scale", "from 1e-100 to 1e100", "closer to 1", "found 1e-307"],
    );
}

#[test]
fn a_sealed_line_that_is_no_record_is_played_again() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    let before = fs::read(run.join("records.jsonl")).unwrap();
    // What a number that is not finite was written as.
    forge(&run, 1, &|rest| {
        let (head, tail) = rest.split_once("\"virtual_seconds\":").unwrap();
        format!("{head}\"virtual_seconds\":null{}", &tail[tail.find(',').unwrap()..])
    });
    ends(0, &["report", words(&run)], &["1 of 2 replications is missing or damaged"]);
    let arguments = ["run", ECHO, "--replications", "2", "--out", words(place.path())];
    ends(0, &arguments, &["Damaged records: 1"]);
    assert_eq!(fs::read(run.join("records.jsonl")).unwrap(), before);
}

/// Records of another study, with correct seals, are neither counted nor shown: the page has no replication to draw.
#[test]
fn records_of_another_study_are_ignored() {
    let [here, there] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let (own, other) = (play(here.path(), &[]), play(there.path(), &["-o", "seed=99"]));
    assert!(RunFolder::at(&own).first_replication(0).unwrap().is_some());
    fs::copy(other.join("records.jsonl"), own.join("records.jsonl")).unwrap();
    assert!(RunFolder::at(&own).first_replication(0).unwrap().is_none());
    ends(0, &["report", words(&own)], &["2 of 2 replications are missing or damaged"]);
}

#[cfg(unix)]
#[test]
fn a_picture_goes_into_a_device_and_does_not_replace_it() {
    let place = TempDir::new().unwrap();
    let run = folder(&run("tests/golden/branin.ron", place.path(), &["--replications", "1"]));
    let full = place.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    ends(1, &["report", words(&run), "--svg", words(&full)], &["cannot write", "No space left"]);
    let pipe = place.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(std::process::Stdio::piped()).spawn().unwrap();
    ends(0, &["report", words(&run), "--svg", words(&pipe)], &[]);
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(read.starts_with(b"<svg") && read.ends_with(b"</svg>"), "{} bytes", read.len());
    assert!(is_pipe(&pipe));
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::symlink_metadata(path).unwrap().file_type().is_fifo()
}

#[test]
fn a_replay_compares_every_field_of_a_record() {
    let place = TempDir::new().unwrap();
    let scenario = "tests/golden/branin.ron";
    let run = folder(&run(scenario, place.path(), &["--replications", "2"]));
    ends(0, &["replay", words(&run)], &["every record equal; every file agrees with the records"]);
    // Better than it was, sealed anew, and every file made again from it.
    forge(&run, 1, &|rest| {
        let at = rest.find("\"simple_regret\":").unwrap() + "\"simple_regret\":".len();
        let end = at + rest[at..].find(',').unwrap();
        format!("{}0.0{}", &rest[..at], &rest[end..])
    });
    ends(0, &["run", scenario, "--replications", "2", "--out", words(place.path())], &[]);
    ends(0, &["replay", words(&run), "--files"], &["files agree"]);
    let said = ["cell 0, replication 1", "iterations[0].simple_regret is not what the replay has"];
    ends(5, &["replay", words(&run)], &said);
}

#[test]
fn files_of_a_run_that_were_edited_are_found_without_playing() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    ends(
        0,
        &["replay", words(&run), "--files"],
        &["files agree", "2 records", "no replication was run", "message diagram"],
    );
    let edits = [
        ("summary.json", "\"seed\": ", "\"seed\": 1"),
        ("summary.csv", "\n0,", "\n1,"),
        ("results.csv", "\n0,", "\n1,"),
        ("network.csv", "caller", "Caller"),
        ("resolved.ron", "echo", "Echo"),
        ("report.html", "</title>", " </title>"),
        ("manifest.json", "\"name\": \"", "\"name\": \"my "),
    ];
    for (name, from, to) in edits {
        let path = run.join(name);
        let before = fs::read_to_string(&path).unwrap();
        assert!(before.contains(from), "{name}");
        fs::write(&path, before.replacen(from, to, 1)).unwrap();
        ends(5, &["replay", words(&run), "--files"], &[&format!("{name} is not what the records")]);
        ends(5, &["replay", words(&run)], &[name]);
        fs::write(&path, before).unwrap();
    }
    // A folder that was moved is the same run.
    let moved = place.path().join("moved");
    fs::rename(&run, &moved).unwrap();
    ends(0, &["replay", words(&moved)], &["replay agrees"]);
    fs::remove_file(moved.join("summary.csv")).unwrap();
    ends(5, &["replay", words(&moved), "--files"], &["summary.csv"]);
}

#[test]
fn counts_that_no_machine_holds_are_refused() {
    let parties = "parties={ \"caller\": Party(), \"far\": Party(count: 4294967295) }";
    let words = ["parties[\"far\"].count", "at most 1000000 parties in all", "4294967296", "lower the count"];
    ends(3, &["check", ECHO, "-o", parties], &words);
    let branin = "tests/golden/branin.ron";
    let local = "scenarios/users.ron";
    for (scenario, edit, place, most) in [
        (branin, "protocol.initial_points=100001", "protocol.Outsourced.initial_points", "at most 100000"),
        (branin, "protocol.retry=Retry(attempts: 4294967295)", "retry.attempts", "at most 1000000"),
        (
            branin,
            "protocol.series[0].release=JohnsonLindenstrauss(epsilon: 1, delta: 1e-5, r: 100000)",
            "series[0].release.JohnsonLindenstrauss.r",
            "at most 10000",
        ),
        (
            local,
            "protocol.series[0].learner=MomaGpUcb(repetitions: 10001)",
            "learner.MomaGpUcb.repetitions",
            "at most 10000",
        ),
        (
            "tests/golden/federated.ron",
            "protocol.features=4097",
            "protocol.Federated.features",
            "at most 4096",
        ),
    ] {
        ends(3, &["check", scenario, "-o", edit], &[place, most, "lower it"]);
    }
}

/// A matrix over all points, or a draw at all of them, has a limit that `check` knows.
#[test]
fn more_points_than_a_learner_or_an_agent_takes_are_refused() {
    let large = "objective.grid=[80, 80]";
    let federated = ["objective.GpSample.grid", "at most 5000 points", "found 6400 points", "coarser"];
    ends(3, &["check", "tests/golden/federated.ron", "-o", large], &federated);
    let branin = "tests/golden/branin.ron";
    let joint = "protocol.series[0].learner=ThompsonSampling()";
    let place = ["protocol.Outsourced.series[0].learner", "at most 5000 points", "another learner"];
    ends(3, &["check", branin, "-o", large, "-o", joint], &place);
    let marginal = "protocol.series[0].learner=ThompsonSampling(sampling: Marginal)";
    ends(0, &["check", branin, "-o", large, "-o", marginal], &["valid"]);
    let users = "scenarios/users.ron";
    ends(3, &["check", users, "-o", "objective.points=6000"], &["series[0].learner.AtaGpUcb", "6000 points"]);
    let release = "protocol.series[2].publication=NonPrivate(learner: ThompsonSampling())";
    let place = "protocol.Release.series[2].publication.NonPrivate.learner.ThompsonSampling";
    let grid = "objective=MultiTaskSample(grid: [80, 80], length_scale: 0.2, correlation: 0.99, noise_variance: 0.01)";
    let dp_bo = "scenarios/papers/dp-bo/algorithm1.ron";
    ends(3, &["check", dp_bo, "-o", grid, "-o", release], &[place]);
}

#[test]
fn the_time_that_accountants_take_is_foreseen() {
    let seconds = |epsilon: &str| {
        let edit = format!("protocol.series[0].publication.epsilon={epsilon}");
        let other = format!("protocol.series[1].publication.epsilon={epsilon}");
        let scenario = "scenarios/papers/dp-bo/algorithm1.ron";
        let all = ["check", scenario, "-o", &edit, "-o", &other, "--replications", "1", "--format", "json"];
        let document: serde_json::Value = serde_json::from_str(&ends(0, &all, &[])).unwrap();
        document["needs"]["seconds"].as_f64().unwrap()
    };
    // Measured: 0.2 s and 14 s of processor time.
    let (small, large) = (seconds("1"), seconds("100"));
    assert!((0.07..0.6).contains(&small) && (5.0..42.0).contains(&large), "{small} {large}");
}

#[test]
fn a_cell_that_differs_in_its_seed_and_more_is_checked() {
    let seed = "seed=Each(\"n\", [1, 2, 3])";
    let rounds = "protocol.rounds=Each(\"n\", [3, 3, 0])";
    let branin = "tests/golden/branin.ron";
    let said = ["protocol.Outsourced.rounds", "at least one round"];
    ends(3, &["check", branin, "-o", seed, "-o", rounds], &said);
    ends(0, &["check", branin, "-o", seed], &["3 cells", "seed 1"]);
}

#[test]
fn names_that_act_on_a_terminal_or_a_spreadsheet_are_refused() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join(ECHO)).unwrap();
    let scenario = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        written(place.path(), "names.ron", &text.replace(from, to))
    };
    let seen = |path: &str, said: &[&str]| {
        let all = ends(3, &["check", path], said);
        assert!(!all.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{all:?}");
    };
    // As they stand, in a text and in a comment, and by an escape.
    for c in ["\u{1b}]0;x\u{7}", "\u{202e}", "\u{9b}2J", "\u{0}", "\u{200b}", "\u{e0041}"] {
        seen(
            &scenario("\"caller\"", &format!("\"caller{c}\"")),
            &["names.ron:", "the character U+", "remove it"],
        );
        seen(&scenario("Scenario(", &format!("/* {c} */ Scenario(")), &["the character U+"]);
    }
    for escape in ["\\u{1b}[2J", "\\u{202e}", "\\n"] {
        let path = scenario("\"caller\"", &format!("\"caller{escape}\""));
        seen(&path, &["a text of visible characters", "written with a backslash"]);
    }
    for first in ["=", "+", "-", "@"] {
        let path = scenario("\"caller\"", &format!("\"{first}caller\""));
        seen(&path, &["does not begin with =, +, - or @", "spreadsheet"]);
    }
    let each = "about=Each(\"a\", [\"=1+1\", \"b\"])";
    ends(3, &["check", ECHO, "-o", each], &["a value that begins with ="]);
    ends(3, &["check", ECHO, "-o", "name=\"=1\""], &["a name that does not begin with ="]);
    let named = "seed=Each(\"=1\", [1, 2])";
    ends(3, &["check", ECHO, "-o", named], &["a name that does not begin with =, +, - or @", "\"=1\""]);
    // An argument is quoted too.
    let all = ends(3, &["check", ECHO, "-o", "na\u{1b}me=1"], &[]);
    assert!(!all.contains('\u{1b}'), "{all:?}");
}

#[test]
fn a_damaged_picture_of_the_beginning_stops_nothing() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    let opening = run.join("opening.json");
    let before = fs::read(&opening).unwrap();
    fs::write(&opening, "{ not JSON").unwrap();
    ends(0, &["report", words(&run)], &[]);
    ends(0, &["run", ECHO, "--replications", "2", "--out", words(place.path())], &[]);
    assert_eq!(fs::read(&opening).unwrap(), before);
}

#[test]
fn a_forged_picture_of_the_beginning_is_found_by_a_replay() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    let opening = run.join("opening.json");
    let text = fs::read_to_string(&opening).unwrap();
    assert!(text.contains("\"caller\""));
    fs::write(&opening, text.replace("\"caller\"", "\"spy\"")).unwrap();
    ends(0, &["report", words(&run)], &[]);
    ends(5, &["replay", words(&run)], &["opening.json is not what the records"]);
}

#[test]
fn a_run_with_all_records_that_is_said_to_be_unfinished_is_no_proof() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    let manifest = run.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"complete\": true", "\"complete\": false")).unwrap();
    for more in [None, Some("--files")] {
        let arguments: Vec<&str> = ["replay", words(&run)].into_iter().chain(more).collect();
        ends(5, &arguments, &["says that the run is not finished", "2 replications has a record"]);
    }
    ends(0, &["run", ECHO, "--replications", "2", "--out", words(place.path())], &[]);
    ends(0, &["replay", words(&run)], &["replay agrees"]);
}

#[test]
fn numbers_whose_squares_exceed_the_largest_one_are_reported() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "2", "-o", "protocol.perturbation=1e200"];
    let run = folder(&run("tests/golden/federated.ron", place.path(), &more));
    ends(0, &["report", words(&run)], &["Regret"]);
    ends(0, &["replay", words(&run)], &["replay agrees"]);
}

#[test]
fn a_cohort_without_any_user_has_a_row_of_its_own() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "1", "--seed", "1", "-o", "protocol.rounds=4"];
    let run = folder(&run("scenarios/studies/cohorts.ron", place.path(), &more));
    assert!(run.join("report.html").is_file());
}

#[test]
fn a_file_that_is_no_file_is_refused() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    for path in [".", "..", "/"] {
        ends(1, &["report", words(&run), "--svg", path], &["cannot write", "is a folder"]);
    }
    #[cfg(unix)]
    {
        let link = place.path().join("link.svg");
        std::os::unix::fs::symlink(place.path().join("missing"), &link).unwrap();
        ends(1, &["report", words(&run), "--svg", words(&link)], &["a symbolic link that leads to no file"]);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}

/// A plan as a program of other sources would make it.
fn plan_of_another_build(overrides: &[String]) -> Plan {
    let document = Document::load(&root().join(ECHO)).unwrap();
    let base = root().join("tests/golden").canonicalize().unwrap();
    let resources = Resources { base, ..Resources::default() };
    let cells = document.cells(overrides, &resources).unwrap();
    Plan::of_build(document.text().to_owned(), overrides.to_vec(), &resources, cells, "0123456789abcdef")
}

#[test]
fn results_of_another_build_are_left_alone_and_still_read() {
    let place = TempDir::new().unwrap();
    let plan = plan_of_another_build(&["replications=2".to_owned()]);
    let old = RunFolder::at(&place.path().join(plan.folder_name()));
    let interrupted = subrosa::vocab::Interruption::default();
    let options = Options { threads: 1, fail_fast: false, interrupted: &interrupted };
    study::play(&plan, &old, options, &Silent).unwrap();
    study::finish(&plan, &old).unwrap();
    let old = words(old.path()).to_owned();
    let arguments = ["run", ECHO, "--replications", "2", "--out", words(place.path())];
    ends(0, &arguments, &["Not reused: 1 earlier run of this name by another build", &study::BUILD[..10]]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "each build has a folder of its own");
    // A second time there is nothing to run and nothing to report.
    assert!(!ends(0, &arguments, &[]).contains("Not reused"));
    ends(0, &["report", &old], &["echo"]);
    ends(0, &["replay", &old], &["the run was made by build 0123456789", "replay agrees: 2 replications"]);
    let planned = ["sweep", "plan", ECHO, "--replications", "3", "--out", words(place.path())];
    let (code, stdout, stderr) = code_and_output(&subrosa(&planned));
    assert!(code == 0 && stderr.contains("by another build"), "{stderr}");
    // A plan of another build is not worked on.
    let manifest = Path::new(stdout.trim()).join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace(study::BUILD, "0123456789abcdef")).unwrap();
    ends(1, &["sweep", "work", stdout.trim()], &["planned by another build"]);
}

#[test]
fn what_a_killed_process_was_writing_is_cleared_away() {
    let place = TempDir::new().unwrap();
    let run = play(place.path(), &[]);
    fs::create_dir_all(run.join("fitted")).unwrap();
    let left: Vec<PathBuf> =
        ["summary.json.4194305-0.tmp", "fitted/ab.json.4194305-12.tmp"].map(|name| run.join(name)).into();
    let kept = ["mine.tmp", "notes.txt.tmp", "records.jsonl.4194305-7.tmp"].map(|name| run.join(name));
    left.iter().chain(&kept).for_each(|path| fs::write(path, "{").unwrap());
    // Somebody is writing to this one.
    let writing = fs::File::open(&kept[2]).unwrap();
    writing.lock().unwrap();
    ends(0, &["run", ECHO, "--replications", "2", "--out", words(place.path())], &[]);
    assert!(left.iter().all(|path| !path.exists()));
    assert!(kept.iter().all(|path| path.exists()));
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_no_data_file_and_no_endless_scenario() {
    let place = TempDir::new().unwrap();
    let pipe = place.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in ["/dev/zero", words(&pipe)] {
        let latency =
            format!("network.default.latency=Empirical(file: \"{file}\", column: \"s\", unit: \"1s\")");
        let said = ["network.default.latency.Empirical.file", "a regular file", "a device or a pipe"];
        ends(3, &["check", ECHO, "-o", &latency], &said);
        let table = format!(
            "objective=Table(file: \"{file}\", inputs: [\"a\"], output: Column(\"y\"), hyperparameters: \
             Given(length_scales: [1], variance: 1, noise_variance: 0.1))"
        );
        let said = ["objective.Table.file", "a regular file"];
        ends(3, &["check", "tests/golden/branin.ron", "-o", &table], &said);
    }
    ends(3, &["check", "/dev/zero"], &["a file of more than 16 MiB"]);
}

#[test]
fn many_cells_are_checked_without_carrying_the_comments_along() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join(ECHO)).unwrap();
    let long = format!("/* {} */\n{text}", "a long comment ".repeat(70_000));
    let took = |name: &str, text: &str| {
        let path = written(place.path(), name, text);
        let begun = std::time::Instant::now();
        ends(0, &["check", &path, "-o", "seed=Each(\"seed\", Range(0, 3000))"], &["valid; 3000 cells"]);
        begun.elapsed()
    };
    let (short, long) = (took("short.ron", &text), took("long.ron", &long));
    assert!(
        long < short * 5 + std::time::Duration::from_secs(2),
        "{short:?} without, {long:?} with a comment"
    );
}

#[test]
fn nothing_released_costs_nothing_and_not_less() {
    let place = TempDir::new().unwrap();
    let path = written(place.path(), "none.ron", "Account(delta: 1e-5, events: [])");
    for format in ["text", "json"] {
        assert!(!ends(0, &["account", &path, "--format", format], &["0.0"]).contains("-0.0"));
    }
}

struct Silent;

impl study::Progress for Silent {
    fn begin(&self, _: &study::Start) {}
    fn done(&self) {}
    fn failed(&self, _: &study::Failure) {}
}
