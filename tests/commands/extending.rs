//! The diffs of docs/extending.md are true: each applies to the sources as they are, touches no more files than an
//! addition of its kind may, and all of them together compile.

use crate::support::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A section of the page, the folder where its addition belongs, and the most files that it may touch.
const ADDITIONS: [(&str, &str, usize); 4] = [
    ("A mechanism", "src/privacy/mechanisms/outcomes/", 2),
    ("An accountant", "src/accounting/", 2),
    ("A publication", "src/protocols/release/", 3),
    ("A fact that parties of any protocol may state", "src/protocols/stage/", 2),
];

/// The change of one file.
#[derive(Debug)]
struct Change {
    path: String,
    /// Whether the file is not there before.
    creates: bool,
    /// Lines before and after, for each place that changes.
    hunks: Vec<(Vec<String>, Vec<String>)>,
}

/// The lines that a hunk's header announces, before and after: `@@ -3,2 +3,4 @@`.
fn announced(header: &str) -> Option<(usize, usize)> {
    let (before, after) = header.strip_prefix("@@ -")?.strip_suffix(" @@")?.split_once(" +")?;
    let lines = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((lines(before)?, lines(after)?))
}

/// Reads a unified diff. Nothing but names of files and hunks may stand in it, each hunk as long as its header says.
fn changes(diff: &str) -> Result<Vec<Change>, String> {
    let mut changes: Vec<Change> = Vec::new();
    let mut lines = diff.lines();
    while let Some(line) = lines.next() {
        if let Some(from) = line.strip_prefix("--- ") {
            let to = lines.next().and_then(|line| line.strip_prefix("+++ b/"));
            let path = to.ok_or_else(|| format!("`{line}` is not followed by `+++ b/..`"))?.to_owned();
            let creates = from == "/dev/null";
            if !creates && from != format!("a/{path}") {
                return Err(format!("{from} becomes {path}"));
            }
            changes.push(Change { path, creates, hunks: Vec::new() });
            continue;
        }
        let (before, after) = announced(line).ok_or_else(|| format!("neither file nor hunk: `{line}`"))?;
        let (mut old, mut new) = (Vec::new(), Vec::new());
        while old.len() < before || new.len() < after {
            let line = lines.next().ok_or("a hunk ends too early")?;
            let (sign, text) = (line.get(..1).unwrap_or(" "), line.get(1..).unwrap_or_default().to_owned());
            match sign {
                " " => {
                    old.push(text.clone());
                    new.push(text);
                }
                "-" => old.push(text),
                "+" => new.push(text),
                _ => return Err(format!("no line of a hunk: `{line}`")),
            }
        }
        if (old.len(), new.len()) != (before, after) {
            return Err(format!("a hunk has {} and {} lines, not as `{line}` says", old.len(), new.len()));
        }
        changes.last_mut().ok_or("a hunk before any file")?.hunks.push((old, new));
    }
    Ok(changes)
}

/// Applies changes below a folder. The lines before a change must be there exactly, and at one place only below the change
/// before it; at which line does not matter, since other places of the file change too.
fn apply(changes: &[Change], folder: &Path) -> Result<(), String> {
    for Change { path, creates, hunks } in changes {
        let file = folder.join(path);
        if *creates == file.exists() {
            return Err(format!("{path}: {}", if *creates { "is there already" } else { "is not there" }));
        }
        let text = if *creates { String::new() } else { fs::read_to_string(&file).unwrap() };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut from = 0;
        for (old, new) in hunks {
            let at = if *creates {
                0
            } else {
                let fits = |at: &usize| lines[*at..].starts_with(old);
                let places: Vec<usize> = (from..lines.len()).filter(fits).collect();
                let [at] = places[..] else {
                    return Err(format!("{path}: {} places have\n{}", places.len(), old.join("\n")));
                };
                at
            };
            lines.splice(at..at + old.len(), new.iter().cloned());
            from = at + new.len();
        }
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
    }
    Ok(())
}

/// The diffs of the page with the headings above them.
fn diffs() -> Vec<(String, Vec<Change>)> {
    let page = fs::read_to_string(root().join("docs/extending.md")).unwrap();
    let mut found = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        for block in section.split("\n```diff\n").skip(1) {
            let (diff, _) = block.split_once("\n```").expect("the block is closed");
            found.push((heading.to_owned(), changes(diff).unwrap_or_else(|why| panic!("{heading}: {why}"))));
        }
    }
    found
}

/// Copies a file, or a folder with everything in it.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// Whether Rust can read what changes have left behind, every new file among the modules of its folder.
fn assert_is_rust(changes: &[Change], folder: &Path) {
    let parse = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    for Change { path, creates, .. } in changes {
        let file = folder.join(path);
        parse(file.clone());
        if *creates {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let declares = |item: &syn::Item| matches!(item, syn::Item::Mod(module) if module.ident == name);
            assert!(
                parse(file.with_file_name("mod.rs")).items.iter().any(declares),
                "{path} is no module of its folder"
            );
        }
    }
}

#[test]
fn each_addition_applies_alone_and_touches_few_files() {
    let diffs = diffs();
    let sections: Vec<&str> = diffs.iter().map(|(heading, _)| heading.as_str()).collect();
    assert_eq!(sections, ADDITIONS.map(|(heading, ..)| heading), "one diff in each of these sections");
    for ((heading, changes), (_, folder, most)) in diffs.iter().zip(ADDITIONS) {
        let touched: BTreeSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(touched.len(), changes.len(), "{heading}: a file is changed twice");
        assert!(touched.len() <= most, "{heading}: {touched:?} are more than {most} files");
        assert!(touched.iter().all(|path| path.starts_with(folder)), "{heading}: {touched:?}");
        let place = tempfile::tempdir().unwrap();
        copy(&root().join("src"), &place.path().join("src"));
        apply(changes, place.path()).unwrap_or_else(|why| panic!("{heading}: {why}"));
        assert_is_rust(changes, place.path());
    }
}

#[test]
fn all_additions_apply_together() {
    let place = tempfile::tempdir().unwrap();
    copy(&root().join("src"), &place.path().join("src"));
    let diffs = diffs();
    for (heading, changes) in &diffs {
        apply(changes, place.path()).unwrap_or_else(|why| panic!("{heading}: {why}"));
    }
    diffs.iter().for_each(|(_, changes)| assert_is_rust(changes, place.path()));
}

/// What is checked above can fail: on lines that are not there or there twice, and on hunks that are not what they say.
#[test]
fn a_diff_that_does_not_fit_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("x.rs");
    let attempt = |text: &str, diff: &str| {
        fs::write(&file, text).unwrap();
        apply(&changes(diff)?, place.path()).map(|()| fs::read_to_string(&file).unwrap())
    };
    let insert = "--- a/x.rs\n+++ b/x.rs\n@@ -7 +7,2 @@\n b\n+c\n";
    assert_eq!(attempt("a\nb\nd\n", insert).unwrap(), "a\nb\nc\nd\n");
    assert!(attempt("a\nd\n", insert).unwrap_err().contains("0 places"));
    assert!(attempt("b\nb\n", insert).unwrap_err().contains("2 places"));
    assert!(attempt("a\nb \n", insert).unwrap_err().contains("0 places"), "a space too many");
    let create = "--- /dev/null\n+++ b/x.rs\n@@ -0,0 +1 @@\n+c\n";
    assert!(attempt("a\n", create).unwrap_err().contains("is there already"));
    let missing = insert.replace("x.rs", "y.rs");
    assert!(attempt("b\n", &missing).unwrap_err().contains("is not there"));
    let short = insert.replace("+7,2", "+7,3");
    assert!(attempt("b\n", &short).unwrap_err().contains("too early"));
    let odd = insert.replace("+c", "?c");
    assert!(attempt("b\n", &odd).unwrap_err().contains("no line of a hunk"));
}

/// In a folder of its own, always the same, so that what cargo keeps of it does not grow. Dependencies are those of the
/// project's own target folder.
#[test]
#[ignore = "compiles the crate again: a minute"]
fn extending_with_all_additions_compiles_without_a_warning() {
    let of_tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (place, target) = (of_tests.join("extending"), of_tests.parent().unwrap());
    if place.exists() {
        fs::remove_dir_all(&place).unwrap();
    }
    fs::create_dir_all(&place).unwrap();
    // The manifests of the workspace's members too, without which cargo reads none.
    for name in [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "src",
        "benches",
        "tests/outside",
        "python/Cargo.toml",
        "python/src",
        "playground/Cargo.toml",
        "playground/build.rs",
        "playground/src",
    ] {
        copy(&root().join(name), &place.join(name));
    }
    for (heading, changes) in diffs() {
        apply(&changes, &place).unwrap_or_else(|why| panic!("{heading}: {why}"));
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--lib", "--offline"]).current_dir(&place).env("CARGO_TARGET_DIR", target);
    let said = cargo.output().unwrap();
    let said = (said.status.success(), String::from_utf8_lossy(&said.stderr));
    assert!(said.0 && !said.1.contains("warning:"), "{}", said.1);
    fs::remove_dir_all(&place).unwrap();
}
