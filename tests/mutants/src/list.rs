//! The mutants, as `cargo mutants` lists them.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// What became of a mutant when the program was built.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Build {
    /// It stands behind its switch.
    Switched,
    /// It does not compile.
    Invalid,
    /// It is in a constant or a `const` function, or the value of a function that returns `impl Trait`.
    Constant,
}

/// A change of the source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mutant {
    pub number: u32,
    /// File, line, column and change: the same in every run.
    pub name: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub genre: String,
    pub replacement: String,
    pub build: Build,
}

/// The mutants of the files that the patterns name.
pub fn list(root: &Path, patterns: &[&str]) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json", "--package", "subrosa"]).current_dir(root);
    for pattern in patterns {
        command.args(["-f", pattern]);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("cargo mutants: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let rows: Vec<serde_json::Value> =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or_default() as usize;
    let mutant = |(index, row): (usize, &serde_json::Value)| Mutant {
        number: index as u32 + 1,
        name: text(&row["name"]),
        file: text(&row["file"]),
        line: number(&row["span"]["start"]["line"]),
        column: number(&row["span"]["start"]["column"]),
        genre: text(&row["genre"]),
        replacement: text(&row["replacement"]),
        build: Build::Switched,
    };
    Ok(rows.iter().enumerate().map(mutant).collect())
}
