//! What several tests use: the real binary, scenarios, folders.

#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The project's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The binary with arguments.
pub fn subrosa<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the binary starts")
}

/// The scenario files in these folders, and in folders inside of them.
pub fn ron_files(folders: &[&str]) -> Vec<PathBuf> {
    let (mut folders, mut found): (Vec<PathBuf>, Vec<PathBuf>) =
        (folders.iter().map(|folder| root().join(folder)).collect(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ron") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 40, "{} files", found.len());
    found
}

/// Exit code, standard output, standard error.
pub fn code_and_output(output: &Output) -> (i32, String, String) {
    (
        output.status.code().expect("not killed"),
        String::from_utf8(output.stdout.clone()).expect("UTF-8"),
        String::from_utf8(output.stderr.clone()).expect("UTF-8"),
    )
}

/// Asserts that `check` refuses the scenario at `path` with these overrides: exit code 3, and messages, their lines joined,
/// that contain all of `parts`.
pub fn refused(path: &str, changes: &[&str], parts: &[&str]) {
    let options = changes.iter().flat_map(|change| ["-o", *change]);
    let arguments: Vec<&str> = ["check", path].into_iter().chain(options).collect();
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    let change = changes.join(" ");
    assert_eq!(code, 3, "{change}: {stderr}");
    let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(said.contains(part), "{change}: {part}: {stderr}");
    }
}

/// Runs a scenario into a folder of its own and gives the JSON document.
pub fn run(scenario: &str, out: &Path, more: &[&str]) -> serde_json::Value {
    let out = out.to_str().expect("UTF-8");
    let mut arguments = vec!["run", scenario, "--out", out, "--format", "json"];
    arguments.extend(more);
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).expect("one JSON document")
}

/// The folder of a run.
pub fn folder(document: &serde_json::Value) -> PathBuf {
    PathBuf::from(document["run"].as_str().expect("a path"))
}

/// The lines of a table of a run folder, each by column.
pub fn table(folder: &Path, name: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    csv::Reader::from_reader(&contents(folder, name)[..]).deserialize().map(Result::unwrap).collect()
}

/// The contents of a file of a run folder, which is packed if it is large.
pub fn contents(folder: &Path, name: &str) -> Vec<u8> {
    let plain = folder.join(name);
    if plain.exists() {
        return std::fs::read(plain).unwrap();
    }
    let mut text = Vec::new();
    let packed = std::fs::File::open(folder.join(format!("{name}.gz"))).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed), &mut text).unwrap();
    text
}

pub fn cost_of(header: &csv::StringRecord, line: &csv::StringRecord) -> subrosa::vocab::Cost {
    let cell = |name: &str| &line[header.iter().position(|known| known == name).expect("a column")];
    let parts = [
        "noise_multiplier",
        "scale",
        "epsilon",
        "delta",
        "rho",
        "rate",
        "shape",
        "mean",
        "population",
        "size",
    ];
    let fields: serde_json::Map<String, serde_json::Value> = parts
        .iter()
        .map(|part| (*part, cell(&format!("cost.{part}"))))
        .filter(|(_, text)| !text.is_empty())
        .map(|(part, text)| (part.to_owned(), serde_json::from_str(text).expect("a number")))
        .collect();
    let name = cell("cost").to_owned();
    let cost = if fields.is_empty() { name.into() } else { serde_json::json!({ name: fields }) };
    serde_json::from_value(cost).expect("a cost")
}

/// A series of the first cell, or of the cell where `axis` has a value.
pub fn metric(document: &serde_json::Value, cell: usize, series: &str, metric: &str) -> (f64, f64) {
    let found = document["cells"][cell]["series"]
        .as_array()
        .expect("series")
        .iter()
        .find(|entry| entry["name"] == series)
        .unwrap_or_else(|| panic!("no series {series}"));
    let estimate = &found["metrics"][metric];
    (estimate["mean"].as_f64().expect("mean"), estimate["se"].as_f64().expect("se"))
}
