//! Studies as a user meets them: kills, full disks, damage, many workers, edits; the bytes must come out the same.

use crate::support::{code_and_output, folder, root, run, subrosa};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ECHO: &str = "tests/golden/echo.ron";

/// A study of 24 cells with two replications each; some milliseconds a replication.
const STUDY: [&str; 6] = [
    "-o",
    "protocol.rounds=Each(\"rounds\", [400, 500, 600])",
    "-o",
    "network.default.loss=Independent(Each(\"loss\", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]))",
    "--replications",
    "2",
];

/// All files below a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(top: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(top, &path, found);
            } else {
                found.insert(path.strip_prefix(top).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Two run folders hold the same files with the same bytes, but for the place of the folder itself.
#[track_caller]
fn same(one: &Path, two: &Path) {
    let (a, b) = (contents(one), contents(two));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    let plain =
        |bytes: &[u8], place: &Path| String::from_utf8_lossy(bytes).replace(place.to_str().unwrap(), "PLACE");
    for (file, bytes) in &a {
        let (x, y) = (plain(bytes, one), plain(&b[file], two));
        assert!(x == y, "{} differs", file.display());
    }
}

fn study(out: &Path, more: &[&str]) -> Value {
    run(ECHO, out, &[&STUDY, more].concat())
}

/// The program in the background, silent.
fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(arguments)
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn plan(out: &Path, more: &[&str]) -> PathBuf {
    let arguments =
        [&["sweep", "plan", ECHO, "--out", out.to_str().unwrap()], STUDY.as_slice(), more].concat();
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    PathBuf::from(stdout.trim())
}

/// Works and merges; gives what the worker said.
#[track_caller]
fn work(folder: &Path, more: &[&str]) -> (i32, String) {
    let arguments = [&["sweep", "work", folder.to_str().unwrap()], more].concat();
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(stdout, "");
    (code, stderr)
}

#[track_caller]
fn merge(folder: &Path, others: &[&Path]) -> (i32, String) {
    let mut arguments = vec!["sweep", "merge", folder.to_str().unwrap()];
    arguments.extend(others.iter().map(|path| path.to_str().unwrap()));
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    (code, stderr)
}

/// Waits until `done`, or a minute.
fn wait(done: &dyn Fn() -> bool) {
    let begin = Instant::now();
    while !done() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_range_stands_for_its_numbers_and_may_be_the_seed() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "seed=Each(\"seed\", Range(3, 9, 2))"];
    let document = run(ECHO, place.path(), &more);
    let points: Vec<u64> =
        document["cells"].as_array().unwrap().iter().map(|c| c["point"]["seed"].as_u64().unwrap()).collect();
    assert_eq!(points, [3, 5, 7]);
    // The cell of a seed is the run of that seed.
    let digests = |path: &Path| -> Vec<String> {
        let text = fs::read_to_string(path.join("digest.txt")).unwrap();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let all = digests(&folder(&document));
    for (index, seed) in ["3", "5", "7"].into_iter().enumerate() {
        let alone = run(ECHO, place.path(), &["--replications", "1", "--seed", seed]);
        assert_eq!(digests(&folder(&alone))[0], all[index], "seed {seed}");
    }
}

#[test]
fn killed_at_any_moment_a_study_resumes_to_the_same_bytes() {
    let place = TempDir::new().unwrap();
    let whole = folder(&study(&place.path().join("whole"), &["--threads", "1"]));
    let out = place.path().join("killed");
    let arguments = [&["run", ECHO, "--out", out.to_str().unwrap()], STUDY.as_slice()].concat();
    let mut kills = 0;
    for turn in 0..12u64 {
        let mut child = start(&arguments);
        // Moments spread over start, work and end, alike in every run of the test.
        std::thread::sleep(Duration::from_millis(7 + (turn * 37) % 150));
        child.kill().unwrap();
        kills += usize::from(child.wait().unwrap().code().is_none());
    }
    assert!(kills > 0, "the study was always over before the kill");
    let resumed = folder(&study(&out, &[]));
    let left: Vec<PathBuf> =
        contents(&resumed).into_keys().filter(|path| path.to_string_lossy().ends_with(".tmp")).collect();
    for path in &left {
        // What a kill leaves half-written has a name of its own and is read by nobody.
        fs::remove_file(resumed.join(path)).unwrap();
    }
    assert!(!resumed.join("segments").exists(), "all was gathered");
    same(&whole, &resumed);
}

#[test]
fn damage_is_found_and_played_again() {
    let place = TempDir::new().unwrap();
    let whole = folder(&study(&place.path().join("whole"), &[]));
    let before = contents(&whole);
    let records = whole.join("records.jsonl");
    let mut bytes = fs::read(&records).unwrap();
    // A digit within the third record, and the end of the last.
    let third: usize = bytes.split_inclusive(|&byte| byte == b'\n').take(2).map(<[u8]>::len).sum();
    bytes[third + 400] ^= 1;
    bytes.truncate(bytes.len() - 30);
    fs::write(&records, bytes).unwrap();
    let out = place.path().join("whole");
    let arguments = [&["run", ECHO, "--out", out.to_str().unwrap()], STUDY.as_slice()].concat();
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("Damaged records: 2"), "{stderr}");
    assert!(stderr.contains("46 replications on disk, 2 left to run"), "{stderr}");
    assert_eq!(before, contents(&whole));
}

#[test]
fn an_edited_study_plays_only_what_changed() {
    let place = TempDir::new().unwrap();
    let play = |rounds: &str| {
        let rounds = format!("protocol.rounds=Each(\"rounds\", {rounds})");
        let out = place.path().to_str().unwrap();
        code_and_output(&subrosa(&["run", ECHO, "--out", out, "-o", &rounds, "--format", "json"]))
    };
    let (code, first, _) = play("[10, 20, 30]");
    assert_eq!(code, 0);
    let (code, edited, stderr) = play("[40, 30, 10, 50]");
    assert_eq!(code, 0);
    assert!(stderr.contains("Taken from an earlier run, unchanged since: 10 replications"), "{stderr}");
    assert!(stderr.contains("10 replications on disk, 10 left to run"), "{stderr}");
    let (first, edited): (Value, Value) =
        (serde_json::from_str(&first).unwrap(), serde_json::from_str(&edited).unwrap());
    assert_eq!(first["cells"][2], edited["cells"][1]);
    assert_eq!(first["cells"][0], edited["cells"][2]);
    // What was taken over is as good as what was played.
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", folder(&edited).to_str().unwrap()]));
    assert_eq!(
        (code, stdout.trim()),
        (0, "replay agrees: 20 replications, every record equal; every file agrees with the records")
    );
}

/// A study whose cells fail but for one, for lack of a file.
fn failing(place: &Path) -> PathBuf {
    let text = fs::read_to_string(root().join("scenarios/studies/computed-scales.ron")).unwrap();
    let text = text.replace("../data", "data");
    fs::create_dir_all(place.join("data")).unwrap();
    fs::copy(root().join("scenarios/data/diabetes.csv"), place.join("data/diabetes.csv")).unwrap();
    let path = place.join("failing.ron");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn failures_are_said_and_the_rest_is_played_unless_told_otherwise() {
    let place = TempDir::new().unwrap();
    // A run whose objective cannot be prepared: the values of the fit are in the way as a folder.
    let scenario = failing(place.path());
    let out = place.path().join("runs");
    let arguments = [
        "run",
        scenario.to_str().unwrap(),
        "--replications",
        "3",
        "--threads",
        "1",
        "--out",
        out.to_str().unwrap(),
        "-o",
        "protocol.rounds=Each(\"rounds\", [3, 4])",
    ];
    let planned =
        code_and_output(&subrosa(&[&["sweep", "plan"], &arguments[1..4], &arguments[6..]].concat()));
    assert_eq!(planned.0, 0, "{}", planned.2);
    let folder = PathBuf::from(planned.1.trim());
    fs::write(folder.join("fitted"), "in the way").unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 4, "{stderr}");
    assert_eq!(stderr.matches("failed: cell").count(), 6, "{stderr}");
    assert!(stderr.contains("error: 6 of the replications failed"), "{stderr}");
    let (code, _, stderr) = code_and_output(&subrosa(&[arguments.as_slice(), &["--fail-fast"]].concat()));
    assert_eq!((code, stderr.matches("failed: cell").count()), (4, 1), "{stderr}");
    // Workers leave failures for the merge to tell, and what is planned again and mended is complete.
    let (code, stderr) = work(&folder, &["--threads", "1"]);
    assert_eq!(code, 4, "{stderr}");
    let (code, stderr) = merge(&folder, &[]);
    assert_eq!(code, 4);
    assert!(stderr.contains("missing: 6 replications, 6 of them failed"), "{stderr}");
    fs::remove_file(folder.join("fitted")).unwrap();
    let again = code_and_output(&subrosa(&[&["sweep", "plan"], &arguments[1..4], &arguments[6..]].concat()));
    assert!(again.2.contains("6 replications to run in 6 blocks"), "{}", again.2);
    assert_eq!(work(&folder, &[]).0, 0);
    assert_eq!(merge(&folder, &[]).0, 0);
}

#[test]
fn two_workers_leave_what_one_run_leaves() {
    let place = TempDir::new().unwrap();
    let whole = folder(&study(&place.path().join("whole"), &[]));
    let shared = plan(&place.path().join("shared"), &[]);
    let path = shared.to_str().unwrap();
    let mut one = start(&["sweep", "work", path, "--slot", "0/2", "--threads", "1"]);
    let mut two = start(&["sweep", "work", path, "--slot", "1/2", "--threads", "1"]);
    assert_eq!((one.wait().unwrap().code(), two.wait().unwrap().code()), (Some(0), Some(0)));
    let (code, stdout, _) = code_and_output(&subrosa(&["sweep", "status", path, "--format", "json"]));
    let status: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &status["blocks_finished"], &status["replications_finished"]),
        (0, &48.into(), &48.into())
    );
    assert_eq!(fs::read_dir(shared.join("work/claims")).unwrap().count(), 48, "no block was claimed twice");
    assert_eq!(merge(&shared, &[]).0, 0);
    same(&whole, &shared);
    assert_eq!(work(&shared, &[]), (0, "Nothing is left to run: the run is complete.\n".to_owned()));
}

#[test]
fn a_worker_that_is_killed_loses_its_block_to_another() {
    let place = TempDir::new().unwrap();
    let whole = folder(&study(&place.path().join("whole"), &[]));
    let shared = plan(&place.path().join("shared"), &["--blocks", "6"]);
    let path = shared.to_str().unwrap();
    let mut first = start(&["sweep", "work", path, "--threads", "1"]);
    let results = shared.join("work/results");
    let finished = || {
        fs::read_dir(&results)
            .unwrap()
            .filter(|e| e.as_ref().unwrap().path().extension().unwrap() == "jsonl")
            .count()
    };
    wait(&|| finished() >= 1);
    first.kill().unwrap();
    first.wait().unwrap();
    let there = finished();
    let (code, stderr) = work(&shared, &["--heartbeat", "50ms", "--dead-after", "200ms"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(there < 6, "the kill came too late to tell anything");
    let heirs = fs::read_dir(shared.join("work/claims"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().unwrap() == "1")
        .count();
    assert!(heirs <= 1, "{heirs} blocks were taken over");
    assert_eq!(merge(&shared, &[]).0, 0);
    same(&whole, &shared);
}

#[test]
fn a_block_computed_twice_is_compared() {
    let place = TempDir::new().unwrap();
    let shared = plan(&place.path().join("shared"), &["--blocks", "2"]);
    // A worker that was held up while others finished its block: stopped, and let go on later.
    let path = shared.to_str().unwrap();
    let mut slow = start(&["sweep", "work", path, "--threads", "1", "--heartbeat", "20ms"]);
    let claims = shared.join("work/claims");
    wait(&|| fs::read_dir(&claims).unwrap().count() > 0);
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &slow.id().to_string()]).status().unwrap().success());
    };
    signal("-STOP");
    let (code, stderr) = work(&shared, &["--heartbeat", "20ms", "--dead-after", "100ms"]);
    assert_eq!(code, 0, "{stderr}");
    // A wrong result in place of the right one, whole and with a good seal.
    let result = shared.join("work/results/0.jsonl");
    let right = fs::read(&result).unwrap();
    let text = String::from_utf8(right.clone()).unwrap();
    let line = text.lines().next().unwrap();
    let (head, rest) = line.split_once("\",\"identity\"").unwrap();
    let rest = format!("\"identity\"{}", rest.replacen("\"lost\":", "\"lost\":1", 1));
    let head = head.split_once("\"seal\":\"").unwrap().0;
    let wrong = format!("{head}\"seal\":\"{}\",{rest}", blake3::hash(rest.as_bytes()).to_hex());
    fs::write(&result, text.replacen(line, &wrong, 1)).unwrap();
    signal("-CONT");
    let code = slow.wait().unwrap().code();
    assert_eq!(code, Some(5), "the alarm");
    let (code, stderr) = merge(&shared, &[]);
    assert_eq!(code, 5);
    assert!(stderr.contains("computed twice with different results"), "{stderr}");
    let (code, stdout, _) = code_and_output(&subrosa(&["sweep", "status", path]));
    assert_eq!(code, 5);
    assert!(stdout.contains("warning: cell 0, replication 0"), "{stdout}");
    // The judge's verdict: the right one stays.
    fs::write(&result, right).unwrap();
    assert_eq!(merge(&shared, &[]).0, 0, "two equal results are no conflict");
}

#[test]
fn parts_played_apart_merge_in_any_order() {
    let place = TempDir::new().unwrap();
    let whole = folder(&study(&place.path().join("whole"), &[]));
    let part = |name: &str| plan(&place.path().join(name), &["--blocks", "8"]);
    let interrupted = |folder: &Path, keep: &dyn Fn(u64) -> bool| {
        assert_eq!(work(folder, &[]).0, 0);
        for block in (0..8).filter(|block| !keep(*block)) {
            fs::remove_file(folder.join(format!("work/results/{block}.jsonl"))).unwrap();
        }
    };
    let (a, b) = (part("a"), part("b"));
    interrupted(&a, &|block| block < 5);
    interrupted(&b, &|block| block > 2);
    let (code, stderr) = merge(&a, &[]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("missing: 18 replications"), "{stderr}");
    // Into each other's, and into a folder that has nothing of its own.
    let c = part("c");
    assert_eq!(merge(&c, &[&b, &a]).0, 0);
    same(&whole, &c);
    assert_eq!(merge(&b, &[&a]).0, 0);
    same(&whole, &b);
    assert_eq!(merge(&a, &[&b]).0, 0);
    same(&whole, &a);
}

#[test]
fn compare_pairs_what_draws_the_same_numbers() {
    let place = TempDir::new().unwrap();
    let of = |more: &[&str]| folder(&run(ECHO, place.path(), more));
    let a = of(&["--replications", "12"]);
    let b = of(&["--replications", "9", "-o", "protocol.rounds=44"]);
    let arguments = ["compare", a.to_str().unwrap(), b.to_str().unwrap()];
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&[arguments.as_slice(), &["--format", "json"]].concat()));
    assert_eq!(code, 0, "{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let row = |metric: &str| {
        document["rows"].as_array().unwrap().iter().find(|row| row["metric"] == metric).unwrap().clone()
    };
    // Two messages to each of two parties in each of four more rounds, and what is lost again: by hand from the CSV.
    let column = |run: &Path| -> Vec<f64> {
        let mut reader = csv::Reader::from_path(run.join("results.csv")).unwrap();
        let place = reader.headers().unwrap().iter().position(|name| name == "messages").unwrap();
        reader.records().map(|row| row.unwrap()[place].parse().unwrap()).collect()
    };
    let pairs: Vec<f64> = column(&a).iter().zip(column(&b)).map(|(x, y)| y - x).collect();
    let mean = pairs.iter().sum::<f64>() / 9.0;
    let se = (pairs.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 8.0 / 9.0).sqrt();
    let found = row("messages");
    assert_eq!((found["paired"].as_bool(), found["difference"]["n"].as_u64()), (Some(true), Some(9)));
    assert!((found["difference"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    // t(0.975) with 8 degrees of freedom.
    assert!((found["high"].as_f64().unwrap() - (mean + 2.306_004_135 * se)).abs() < 1e-6, "{found}");
    let (code, stdout, _) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0);
    assert!(
        stdout.contains("95 % interval") && stdout.lines().skip(2).all(|l| l.chars().count() <= 80),
        "{stdout}"
    );
    let (_, itself, _) = code_and_output(&subrosa(&["compare", arguments[1], arguments[1]]));
    assert!(itself.contains("equal in every metric"), "{itself}");
    // Cells that differ in the seed alone are one group.
    let seeds = of(&["--replications", "2", "-o", "seed=Each(\"seed\", Range(0, 4))"]);
    let (_, stdout, _) = code_and_output(&subrosa(&[
        "compare",
        seeds.to_str().unwrap(),
        seeds.to_str().unwrap(),
        "--format",
        "json",
    ]));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert!(document["rows"].as_array().unwrap().iter().all(|row| row["difference"]["n"] == 8), "{document}");
    // Another seed: independent samples, and it is said.
    let other = of(&["--seed", "99"]);
    let (_, stdout, _) = code_and_output(&subrosa(&["compare", arguments[1], other.to_str().unwrap()]));
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("fewer than two replications of the same seed and number"), "{stdout}");
}

#[test]
fn replications_until_the_mean_is_known() {
    let place = TempDir::new().unwrap();
    let goal = ["--until-halfwidth", "1.25", "--metric", "virtual_seconds", "--at-most", "400"];
    let document = run(ECHO, place.path(), &goal);
    let mut reader = csv::Reader::from_path(folder(&document).join("results.csv")).unwrap();
    let column = reader.headers().unwrap().iter().position(|name| name == "virtual_seconds").unwrap();
    let seconds: Vec<f64> = reader.records().map(|row| row.unwrap()[column].parse().unwrap()).collect();
    let n = seconds.len() as f64;
    let spread = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0) / n).sqrt()
    };
    // Between t(0.975) of 9 and of very many degrees of freedom; and not met by half as many.
    assert!(n >= 10.0 && 1.96 * spread(&seconds) <= 1.25, "{n}");
    assert!(n == 10.0 || 2.27 * spread(&seconds[..seconds.len() / 3]) > 1.25, "{n} are far too many");
    let (code, stdout, _) = code_and_output(&subrosa(&["replay", folder(&document).to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}");
    // The fewer it is allowed, the fewer it plays, and says that they do not do.
    let out = place.path().join("few");
    let arguments =
        ["run", ECHO, "--out", out.to_str().unwrap(), "--until-halfwidth", "1e-6", "--at-most", "12"];
    let (code, _, stderr) =
        code_and_output(&subrosa(&[arguments.as_slice(), &["--metric", "virtual_seconds"]].concat()));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("after 12 replications, above"), "{stderr}");
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let place = TempDir::new().unwrap();
    let Some(mounted) = Mounted::new(&place.path().join("small"), "size=700k") else {
        eprintln!("skipped: no right to mount a tmpfs here");
        return;
    };
    let out = mounted.path.to_str().unwrap().to_owned();
    let big = ["-o", "protocol.rounds=Each(\"rounds\", Range(200, 400))"];
    let arguments = [["run", ECHO, "--out", &out].as_slice(), &big].concat();
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("what was finished is kept; make room"), "{stderr}");
    // With room the same command goes on from what is there.
    mounted.remount("size=100m");
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("Resuming: ") && stderr.contains("replications on disk"), "{stderr}");
    let resumed = fs::read_dir(&mounted.path).unwrap().next().unwrap().unwrap().path();
    let whole = folder(&run(ECHO, &place.path().join("whole"), &big));
    same(&whole, &resumed);
    // Read-only: nothing can be played, and what is there can be read.
    mounted.remount("ro");
    let arguments = ["run", ECHO, "--out", &out, "--seed", "5"];
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("choose a folder that you may write to"), "{stderr}");
    let (code, stdout, _) =
        code_and_output(&subrosa(&["replay", resumed.to_str().unwrap(), "--replication", "0"]));
    assert_eq!(code, 0, "{stdout}");
}

/// A small file system of its own; gone at the end.
struct Mounted {
    path: PathBuf,
}

impl Mounted {
    fn new(path: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let output =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path).output().ok()?;
        output.status.success().then(|| Self { path: path.to_owned() })
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.path).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.path).status());
    }
}

/// Few files and little memory however many cells; 2,000 here, and `docs/performance.md` says what 10,000 took.
#[test]
fn many_cells_leave_few_files() {
    let place = TempDir::new().unwrap();
    let more =
        ["--replications", "1", "-o", "protocol.rounds=2", "-o", "seed=Each(\"seed\", Range(0, 2000))"];
    let document = run(ECHO, place.path(), &more);
    assert_eq!(document["cells"].as_array().unwrap().len(), 2000);
    let files = contents(&folder(&document));
    assert!(files.len() <= 16, "{:?}", files.keys());
}

#[test]
fn a_batch_script_is_printed_and_is_shell() {
    let place = TempDir::new().unwrap();
    let shared = plan(&place.path().join("it's shared"), &[]);
    let arguments = ["sweep", "submit", shared.to_str().unwrap(), "--engine", "slurm", "--workers", "3"];
    let more = ["--threads", "2", "--directive", "--partition=long", "--dry-run"];
    let (code, script, stderr) = code_and_output(&subrosa(&[arguments.as_slice(), &more].concat()));
    assert_eq!(code, 0, "{stderr}");
    for line in ["#!/bin/sh", "#SBATCH --array=0-2", "#SBATCH --cpus-per-task=2", "#SBATCH --partition=long"]
    {
        assert!(script.lines().any(|found| found == line), "{line}:\n{script}");
    }
    // Played as an element of the array would be.
    let file = place.path().join("script.sh");
    fs::write(&file, script).unwrap();
    let status =
        Command::new("sh").arg(&file).env("SLURM_ARRAY_TASK_ID", "2").stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(merge(&shared, &[]).0, 0);
}
