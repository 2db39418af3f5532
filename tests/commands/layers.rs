//! The architecture as a test: a module imports only from floors below its own, in the order of `lib.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floors of `docs/architecture.md`. Modules of one floor do not import each other, but for the pairs below.
const FLOORS: &[(u32, &[&str])] = &[
    (1, &["vocab", "special", "rng"]),
    (2, &["kernel", "gp", "accounting"]),
    (3, &["privacy", "network", "objectives", "learners"]),
    (4, &["protocols"]),
    (5, &["scenario"]),
    (6, &["study"]),
    (7, &["audit"]),
    (8, &["report"]),
    (9, &["cli", "prelude"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn floor_of() -> BTreeMap<&'static str, u32> {
    FLOORS.iter().flat_map(|(floor, modules)| modules.iter().map(move |module| (*module, *floor))).collect()
}

/// Top-level modules that a source mentions as `crate::module`.
fn mentions(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for piece in line.split("crate::").skip(1) {
            let names = piece.strip_prefix('{').map_or(vec![piece], |list| list.split(',').collect());
            for name in names {
                let name: String =
                    name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.push((number + 1, name));
            }
        }
    }
    found
}

#[test]
fn modules_import_only_from_floors_below() {
    let floors = floor_of();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut offences = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let Some(&floor) = floors.get(module) else { continue };
        for (line, name) in mentions(&fs::read_to_string(&file).unwrap()) {
            let Some(&other) = floors.get(name.as_str()) else { continue };
            // `rng` may use `vocab` and `special`, the plainer ones of the first floor.
            let allowed = name == module
                || other < floor
                || (module == "rng" && (name == "vocab" || name == "special"));
            if !allowed {
                offences.push(format!("{}:{line}: {module} imports {name}", inside.display()));
            }
        }
    }
    assert!(offences.is_empty(), "imports against the floors:\n{}", offences.join("\n"));
}

#[test]
fn every_module_has_a_floor_and_lib_lists_them_in_order() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let floors = floor_of();
    let listed: Vec<u32> = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(|module| *floors.get(module).unwrap_or_else(|| panic!("{module} has no floor in this test")))
        .collect();
    assert!(listed.is_sorted(), "lib.rs lists modules out of order: {listed:?}");
}

#[test]
fn files_stay_readable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with what it is for", file.display());
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines: look for the second idea in it", file.display());
    }
}

/// Largest file of the repository: data that a test or a scenario reads stays below it too.
const LARGEST_FILE: u64 = 256 * 1024;

#[test]
fn no_file_of_the_repository_is_large() {
    fn large(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // What .gitignore names, git's own folder, and what editors keep.
            if ["target", "runs", "node_modules"].contains(&name) || name.starts_with('.') {
                continue;
            }
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                large(&path, found);
            } else if about.len() > LARGEST_FILE {
                found.push(format!("{}: {} bytes", path.display(), about.len()));
            }
        }
    }
    let mut found = Vec::new();
    large(Path::new(env!("CARGO_MANIFEST_DIR")), &mut found);
    assert!(found.is_empty(), "files above {LARGEST_FILE} bytes:\n{}", found.join("\n"));
}
