//! Damaged scenarios, tables, traces, account files and run folders: each is accepted or refused with an error, and none
//! ends in a panic. The same functions as the targets of `fuzz/`, on mutations drawn from a fixed seed.
//! `SUBROSA_FUZZ_SEED` picks another seed and `SUBROSA_FUZZ_CASES` how many cases of each kind; a failure prints the text.

#[path = "../../fuzz/doors.rs"]
mod doors;
#[path = "../../fuzz/edits.rs"]
mod edits;

use crate::support::{folder, root, run};
use doors::Answer;
use edits::mutated;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use subrosa::rng::Key;
use tempfile::TempDir;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

/// The texts of a corpus folder, in the order of their names.
fn corpus(kind: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join("fuzz/corpus").join(kind)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{kind} has no corpus");
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Plays all cases of one kind; says how many texts were accepted and how many refused.
fn try_all(kind: &str, texts: &[String], default: u64, door: impl Fn(usize, &str) -> Answer) -> (u64, u64) {
    let (seed, cases) = (number("SUBROSA_FUZZ_SEED", 24), number("SUBROSA_FUZZ_CASES", default));
    let key = Key::root(seed).child(kind);
    let (mut accepted, mut refused) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(door(index, text), Answer::Accepted, "{kind}: the corpus itself:\n{text}");
    }
    for case in 0..cases {
        let mut stream = key.index(case).stream();
        let index = stream.below(texts.len() as u64) as usize;
        let text = mutated(&texts[index], texts, &mut stream);
        match catch_unwind(AssertUnwindSafe(|| door(index, &text))) {
            Ok(Answer::Accepted) => accepted += 1,
            Ok(Answer::Refused) => refused += 1,
            Err(_) => panic!("{kind}, seed {seed}, case {case} ends in a panic:\n{text}"),
        }
    }
    println!("{kind}: {accepted} accepted, {refused} refused, seed {seed}");
    (accepted, refused)
}

/// Mutations that are all refused, or all accepted, would test nothing.
#[track_caller]
fn both((accepted, refused): (u64, u64)) {
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

#[test]
fn damaged_scenarios_are_refused_or_played() {
    let base = root().join("scenarios");
    both(try_all("scenario", &corpus("scenario"), 300, |_, text| doors::scenario(&base, text)));
}

#[test]
fn damaged_tables_are_refused_or_read() {
    let place = TempDir::new().unwrap();
    both(try_all("table", &corpus("table"), 300, |_, text| doors::table(place.path(), text)));
}

#[test]
fn damaged_traces_are_refused_or_read() {
    let place = TempDir::new().unwrap();
    both(try_all("trace", &corpus("trace"), 300, |_, text| doors::trace(place.path(), text)));
}

#[test]
fn damaged_account_files_are_refused_or_priced() {
    both(try_all("account", &corpus("account"), 150, |_, text| doors::account(text)));
}

/// The file of a run's folder with the records.
const RECORDS: &str = "records.jsonl";

#[test]
fn damaged_run_folders_are_refused_or_reported() {
    let place = TempDir::new().unwrap();
    let played = folder(&run("tests/golden/federated.ron", place.path(), &["--replications", "2"]));
    let names = |folder: &Path| {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                entry.unwrap().path().file_name().map(|name| name.to_str().unwrap().to_owned())
            })
            .filter(|name| name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ron"))
            .collect();
        names.sort();
        names
    };
    let names = names(&played);
    assert!(names.len() >= 4, "{names:?}");
    let texts: Vec<String> =
        names.iter().map(|name| fs::read_to_string(played.join(name)).unwrap()).collect();
    let copies = TempDir::new().unwrap();
    both(try_all("run", &texts, 100, |index, text| {
        doors::run(&doors::changed_copy(&played, copies.path(), &names[index], text))
    }));
    // Records are read past their heads only where the seal is right.
    let records = texts[names.iter().position(|name| name == RECORDS).expect("records")].clone();
    // A line that cannot be read is damaged, and every other sealed line counts: no panic, and never a refusal.
    let (accepted, refused) = try_all("sealed", &[records], 100, |_, text| {
        doors::run(&doors::changed_copy(&played, copies.path(), RECORDS, &doors::sealed(text)))
    });
    assert!(accepted > 0 && refused == 0, "{accepted} accepted, {refused} refused");
}
