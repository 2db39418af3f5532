//! Builds the tests of a copy of the repository in which every mutant stands behind a switch.

use crate::list::{self, Build, Mutant};
use crate::switch::{self, Switched};
use crate::{Place, read, write};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PATTERNS: [&str; 2] = ["src/privacy/**", "src/kernel/**"];
const RUNTIME: &str = include_str!("mutant.rs");

/// A program of tests.
#[derive(Clone, Serialize, Deserialize)]
pub struct Binary {
    pub name: String,
    pub path: PathBuf,
    pub package: PathBuf,
    pub tests: Vec<String>,
}

/// Writes the copy, takes out what does not compile, and builds the tests: those of `targets`, arguments of `cargo test`, or
/// all.
pub fn build(place: &Place, targets: &[&str]) -> Result<(), String> {
    copy(&place.root, &place.tree())?;
    let mut mutants = list::list(&place.root, &PATTERNS)?;
    // What an earlier build found out, by name.
    let known: BTreeMap<String, Build> = read::<Vec<Mutant>>(&place.file("mutants.json"))
        .map(|mutants| mutants.into_iter().map(|mutant| (mutant.name, mutant.build)).collect())
        .unwrap_or_default();
    for mutant in &mut mutants {
        mutant.build = known.get(&mutant.name).copied().unwrap_or(Build::Switched);
    }
    let mut repeated: BTreeSet<(String, usize)> = read(&place.file("repeated.json")).unwrap_or_default();
    for round in 1.. {
        let files = switch_all(place, &mut mutants, &repeated)?;
        let errors = errors(&place.tree())?;
        let left = mutants.iter().filter(|mutant| mutant.build == Build::Switched).count();
        println!("round {round}: {left} of {} mutants, {} errors", mutants.len(), errors.len());
        if errors.is_empty() {
            break;
        }
        let before = (left, repeated.len());
        let written = repeated.clone();
        let unknown: Vec<&Value> = errors
            .iter()
            .filter(|error| !blame(error, &files, &mut mutants, &written, &mut repeated))
            .collect();
        write(&place.file("mutants.json"), &mutants)?;
        write(&place.file("repeated.json"), &repeated)?;
        let left = mutants.iter().filter(|mutant| mutant.build == Build::Switched).count();
        if before == (left, repeated.len()) {
            let rendered = unknown.first().map_or("", |error| error["rendered"].as_str().unwrap_or_default());
            return Err(format!("errors that belong to no mutant: {rendered}"));
        }
    }
    write(&place.file("mutants.json"), &mutants)?;
    write(&place.file("binaries.json"), &tests(&place.tree(), targets)?)
}

/// The tracked files as they are on disk now. Unchanged files keep their time, so that cargo builds little again.
fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root).output();
    let listed = String::from_utf8(listed.map_err(|error| error.to_string())?.stdout)
        .map_err(|error| error.to_string())?;
    for name in listed.lines().filter(|name| !mutated(name) && *name != "src/lib.rs") {
        if root.join(name).is_file() {
            put(
                &tree.join(name),
                &std::fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"))?,
            )?;
        }
    }
    let library = std::fs::read_to_string(root.join("src/lib.rs")).map_err(|error| error.to_string())?;
    let library = format!(
        "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n{library}\npub mod mutant;\n"
    );
    put(&tree.join("src/lib.rs"), library.as_bytes())?;
    put(&tree.join("src/mutant.rs"), RUNTIME.as_bytes())
}

fn mutated(name: &str) -> bool {
    PATTERNS.iter().any(|pattern| name.starts_with(pattern.trim_end_matches("**"))) && name.ends_with(".rs")
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = path.parent().ok_or("no folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes all files of the patterns.
fn switch_all(
    place: &Place,
    mutants: &mut [Mutant],
    repeated: &BTreeSet<(String, usize)>,
) -> Result<BTreeMap<String, Switched>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "src"])
        .current_dir(&place.root)
        .output();
    let listed = String::from_utf8_lossy(&listed.map_err(|error| error.to_string())?.stdout).into_owned();
    let mut files = BTreeMap::new();
    for name in listed.lines().filter(|name| mutated(name)) {
        let source = std::fs::read_to_string(place.root.join(name)).map_err(|error| error.to_string())?;
        let inside: Vec<&Mutant> =
            mutants.iter().filter(|mutant| mutant.file == name && mutant.build == Build::Switched).collect();
        let repeated = repeated.iter().filter(|(file, _)| file == name).map(|(_, start)| *start).collect();
        let switched =
            switch::switched(&source, &inside, &repeated).map_err(|error| format!("{name}: {error}"))?;
        for (list, build) in [(&switched.constant, Build::Constant), (&switched.never, Build::Invalid)] {
            for number in list {
                mutants[*number as usize - 1].build = build;
            }
        }
        put(&place.tree().join(name), switched.text.as_bytes())?;
        files.insert(name.to_owned(), switched);
    }
    Ok(files)
}

/// What cargo says, and whether it succeeded.
fn messages(tree: &Path, arguments: &[&str]) -> Result<(Vec<Value>, bool), String> {
    let mut command = Command::new("cargo");
    command.args(arguments).arg("--message-format=json").current_dir(tree).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), output.status.success()))
}

/// The compiler's errors.
fn errors(tree: &Path) -> Result<Vec<Value>, String> {
    let (messages, success) = messages(tree, &["test", "-q", "--no-run", "-p", "subrosa", "--lib"])?;
    let is_error = |message: &Value| message["level"] == "error" && message["spans"][0].is_object();
    let errors: Vec<Value> =
        messages.into_iter().map(|mut line| line["message"].take()).filter(is_error).collect();
    if errors.is_empty() && !success { Err("cargo failed".to_owned()) } else { Ok(errors) }
}

/// Takes out the mutants that an error is about, or writes their place in the other form; false if there are none.
fn blame(
    error: &Value,
    files: &BTreeMap<String, Switched>,
    mutants: &mut [Mutant],
    before: &BTreeSet<(String, usize)>,
    repeated: &mut BTreeSet<(String, usize)>,
) -> bool {
    // What a macro wrote belongs to the place of its call.
    let call = |mut span: Value| {
        while !files.contains_key(span["file_name"].as_str().unwrap_or_default())
            && span["expansion"].is_object()
        {
            let is_primary = span["is_primary"].take();
            span = span["expansion"]["span"].take();
            span["is_primary"] = is_primary;
        }
        span
    };
    let spans = error["spans"].as_array().cloned().unwrap_or_default().into_iter().map(call);
    let (first, second): (Vec<Value>, Vec<Value>) = spans.partition(|span| span["is_primary"] == true);
    let bytes = |span: &Value| {
        (span["byte_start"].as_u64().unwrap_or(0) as usize, span["byte_end"].as_u64().unwrap_or(0) as usize)
    };
    for spans in [&first, &second] {
        let mut blamed = false;
        for span in spans {
            let Some(file) = files.get(span["file_name"].as_str().unwrap_or_default()) else { continue };
            let (start, end) = bytes(span);
            let around = file.mutants.iter().filter(|(_, range)| range.start <= start && end <= range.end);
            if let Some((number, _)) = around.min_by_key(|(_, range)| range.len()) {
                mutants[*number as usize - 1].build = Build::Invalid;
                blamed = true;
            }
        }
        if blamed {
            return true;
        }
    }
    for span in first.iter().chain(&second) {
        let name = span["file_name"].as_str().unwrap_or_default();
        let Some(file) = files.get(name) else { continue };
        let (start, end) = bytes(span);
        // The place around the error, or the smallest that has a part of it.
        let touched =
            file.places.iter().filter(|(.., range)| range.start < end.max(start + 1) && start < range.end);
        if let Some((key, numbers, _)) =
            touched.min_by_key(|(.., range)| (!(range.start <= start && end <= range.end), range.len()))
        {
            let key = (name.to_owned(), *key);
            if !before.contains(&key) {
                repeated.insert(key);
            } else {
                for number in numbers {
                    mutants[*number as usize - 1].build = Build::Invalid;
                }
            }
            return true;
        }
    }
    false
}

/// Builds programs of tests, and asks each for its tests.
fn tests(tree: &Path, targets: &[&str]) -> Result<Vec<Binary>, String> {
    let targets = if targets.is_empty() { &["-p", "subrosa-outside"][..] } else { targets };
    let arguments = [&["test", "-q", "--no-run", "-p", "subrosa"], targets].concat();
    let mut binaries = vec![];
    let (messages, success) = messages(tree, &arguments)?;
    for message in messages {
        if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
            return Err(message["message"]["rendered"].as_str().unwrap_or_default().to_owned());
        }
        let Some(path) = message["executable"].as_str().filter(|_| message["profile"]["test"] == true) else {
            continue;
        };
        let package =
            Path::new(message["manifest_path"].as_str().unwrap_or_default()).parent().unwrap_or(tree);
        let listed = Command::new(path).args(["--list", "--format=terse"]).current_dir(package).output();
        let listed = String::from_utf8_lossy(&listed.map_err(|error| error.to_string())?.stdout).into_owned();
        let tests =
            listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
        let name = format!(
            "{}-{}",
            message["target"]["kind"][0].as_str().unwrap_or_default(),
            message["target"]["name"].as_str().unwrap_or_default()
        );
        binaries.push(Binary { name, path: path.into(), package: package.into(), tests });
    }
    if success { Ok(binaries) } else { Err("cargo failed".to_owned()) }
}
