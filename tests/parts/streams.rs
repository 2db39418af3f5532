//! Outputs that cannot be written: a full disk is said, a reader that has gone away is not.

use crate::support::{folder, root, run};
use std::fs::File;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subrosa"));
    command.args(arguments).current_dir(root());
    command
}

/// With a standard output that is always full.
fn into_full(arguments: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full").unwrap();
    program(arguments).stdout(full).output().unwrap()
}

/// The end of a pipe whose other end is closed.
fn nobody() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let out = TempDir::new().unwrap();
    let place = out.path().to_str().unwrap();
    let run = folder(&run("tests/golden/echo.ron", out.path(), &[]));
    let (run, echo) = (run.to_str().unwrap(), "tests/golden/echo.ron");
    for arguments in [
        &["run", echo, "--out", place][..],
        &["run", echo, "--out", place, "--format", "json"],
        &["check", echo],
        &["list"],
        &["list", "each"],
        &["trace", echo],
        &["report", run],
        &["replay", run],
        &["man"],
        &["completions", "bash"],
        &["sweep", "plan", echo, "--out", place],
        &["help"],
        &["--version"],
    ] {
        let output = into_full(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write to standard output: No space left"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    for arguments in [&["list"][..], &["trace", "scenarios/hospital.ron"], &["--help"]] {
        let output = program(arguments).stdout(nobody()).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_run_goes_on_where_nobody_hears_its_messages() {
    let out = TempDir::new().unwrap();
    let place = out.path().to_str().unwrap();
    let code =
        |arguments: &[&str]| program(arguments).stdout(nobody()).stderr(nobody()).status().unwrap().code();
    let goal = ["--until-halfwidth", "1e9", "--metric", "virtual_seconds"];
    let arguments = [&["run", "tests/golden/echo.ron", "--out", place][..], &goal].concat();
    assert_eq!(code(&arguments), Some(0));
    assert_eq!(code(&["check", "nowhere.ron"]), Some(3));
    assert_eq!(code(&["list", "nothing-of-the-kind"]), Some(2));
}
