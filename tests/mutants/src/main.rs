//! Mutation testing of `src/privacy` and `src/kernel` in one build.
//!
//! `cargo mutants` builds the tests again for each of its 3,800 mutants. This program takes its list, writes a copy of the
//! repository in which every mutant stands behind a switch, and builds that once. It needs Linux and `cargo-mutants`.
//! All commands can be interrupted and continue where they were:
//!
//! ```sh
//! cd tests/mutants
//! cargo run -- build                  # into target/mutants of the repository; again after every change of the sources
//! cargo run -- build --lib            # only these tests, by the arguments of `cargo test`
//! cargo run -- reach                  # runs each test once and notes which mutants it reaches
//! cargo run -- reach NAME             # only the tests with such a name, and again after a change of them
//! cargo run -- reach NAME JOBS        # so many at the same time ("" for those that were not run yet)
//! cargo run -- try SECONDS            # tries each mutant with the tests of at most so many seconds of processor time
//! cargo run -- try SECONDS NAME JOBS  # only mutants with such a name ("" for all), so many at the same time
//! cargo run -- table                  # counts, and the list of mutants that are left
//! ```
//!
//! Not tried are mutants in constants and `const` functions, doc tests, and ignored tests. A mutant of a comparison or of a
//! guard is tried only with tests in which its value differs at least once: all others pass.

mod build;
mod list;
mod run;
mod switch;
mod table;
mod trial;

use serde::{Serialize, de::DeserializeOwned};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The repository, and the folder of everything that is written.
pub struct Place {
    root: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn main() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .map_err(|error| error.to_string())?;
    let place = Place { folder: root.join("target/mutants"), root };
    std::fs::create_dir_all(&place.folder).map_err(|error| error.to_string())?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["build", ref targets @ ..] => build::build(&place, targets),
        ["reach"] => trial::reach(&place, None, 1),
        ["reach", name] => trial::reach(&place, Some(name), 1),
        ["reach", name, jobs] => {
            trial::reach(&place, Some(name).filter(|name| !name.is_empty()), number(jobs)? as usize)
        }
        ["try", seconds] => trial::trial(&place, number(seconds)?, "", 1),
        ["try", seconds, name, jobs] => trial::trial(&place, number(seconds)?, name, number(jobs)? as usize),
        ["table"] => table::print(&place),
        _ => Err("expected build, reach, try or table; see the head of src/main.rs".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("expected a number instead of {text}"))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Appends one line, at once, so that an interruption loses nothing.
fn append(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let mut line = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    line.push(b'\n');
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(&line)).map_err(|error| format!("{}: {error}", path.display()))
}

/// The lines of a file that are whole; none if there is no file.
fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
