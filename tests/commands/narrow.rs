//! What every verb prints fits into a terminal of 50 and of 80 columns.

use crate::support::{code_and_output, root};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The words of a scenario file's own text, of paths and of digests stay whole, so that they can be copied.
fn stays_whole(line: &str) -> bool {
    let digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    line.split_whitespace().any(|word| word.contains('/') && word.len() > 20 || digest(word))
}

fn printed(columns: usize, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(arguments)
        .env("COLUMNS", columns.to_string())
        .current_dir(root())
        .output()
        .expect("the binary starts");
    let (code, stdout, stderr) = code_and_output(&output);
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    stdout
}

fn fits(columns: usize, arguments: &[&str]) {
    let text = printed(columns, arguments);
    assert!(!text.trim().is_empty(), "{arguments:?} prints nothing");
    for line in text.lines().filter(|line| !stays_whole(line)) {
        let width = line.chars().count();
        assert!(width <= columns, "{arguments:?} at {columns} columns: {width}\n{line}\n\n{text}");
    }
}

/// The folder of the only run below `place`.
fn run_below(place: &Path) -> String {
    let mut folders = fs::read_dir(place).unwrap();
    folders.next().expect("a run").unwrap().path().to_str().unwrap().to_owned()
}

const WIDTHS: [usize; 2] = [50, 80];

#[test]
fn what_is_said_of_a_run_fits() {
    let place = TempDir::new().unwrap();
    for (system, small) in [
        ("outsourced", "protocol.rounds=6"),
        ("local", "protocol.rounds=20"),
        ("release", "protocol.rounds=3"),
        ("federated", "protocol.rounds=4"),
    ] {
        let file = place.path().join(format!("{system}.ron"));
        let file = file.to_str().unwrap();
        fits(50, &["new", system, file]);
        let small = [small, "replications=2"];
        let runs = ["a", "b"].map(|name| place.path().join(format!("{system}-{name}")));
        for (out, seed, columns) in [(&runs[0], "1", 50), (&runs[1], "2", 80)] {
            let out = out.to_str().unwrap();
            fits(columns, &["run", file, "--out", out, "--seed", seed, "-o", small[0], "-o", small[1]]);
        }
        let [a, b] = runs.map(|out| run_below(&out));
        for columns in WIDTHS {
            fits(columns, &["report", &a]);
            fits(columns, &["report", &a, "--accountants"]);
            fits(columns, &["report", &a, "--full"]);
            fits(columns, &["account", &a]);
            fits(columns, &["account", &a, "--accountants"]);
            fits(columns, &["compare", &a, &b]);
            fits(columns, &["compare", &a, &b, "--full"]);
            fits(columns, &["trace", file, "-o", small[0]]);
            fits(columns, &["check", file]);
        }
    }
}

#[test]
fn lists_and_calibrations_fit() {
    for columns in WIDTHS {
        fits(columns, &["list"]);
        for name in ["protocol", "objective", "latency", "Link", "account", "Each", "Series"] {
            fits(columns, &["list", name]);
        }
        fits(columns, &["calibrate", "--epsilon", "1", "--rounds", "40"]);
        fits(columns, &["calibrate", "--epsilon", "1", "--noise", "20"]);
        fits(columns, &["calibrate", "--scenario", "scenarios/hospital.ron", "--all"]);
    }
}

/// Where the output is no terminal and no width is stated, each event of a trace is one line, so that other programs can
/// read it.
#[test]
fn a_trace_in_a_pipe_has_a_line_per_event() {
    let arguments = ["trace", "scenarios/hospital.ron", "-o", "protocol.rounds=2"];
    let output = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(arguments)
        .env_remove("COLUMNS")
        .current_dir(root())
        .output()
        .unwrap();
    let (_, text, _) = code_and_output(&output);
    assert!(text.lines().all(|line| line.contains(" s  [")), "{text}");
    assert!(text.lines().any(|line| line.chars().count() > 80), "{text}");
    assert!(printed(50, &arguments).lines().count() > text.lines().count());
}
