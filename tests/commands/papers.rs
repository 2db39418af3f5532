//! docs/papers.md names every figure and table of the four papers, and every file that it names exists and passes `check`.

use crate::support::{code_and_output, root, subrosa};
use std::collections::BTreeSet;
use std::fs;

/// The figures (by panel where a panel is a result of its own) and tables of each paper, by its heading on the page.
const ITEMS: [(&str, &[&str], u32); 4] = [
    ("PO-GP-UCB", &["1", "2a", "2b", "2c", "3"], 9),
    ("DP Bayesian optimisation", &[], 0),
    ("LDP-BO", &["1", "2a", "2b", "2c", "2d", "2e", "2f"], 0),
    (
        "DP-FTS-DE",
        &[
            "1", "2a", "2b", "2c", "2d", "3a", "3b", "3c", "3d", "3e", "3f", "4", "5", "6", "7", "8", "9",
            "10", "11",
        ],
        0,
    ),
];

fn page() -> String {
    fs::read_to_string(root().join("docs/papers.md")).unwrap()
}

/// The part of the page below a heading of the second level.
fn part<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let rest = &text[start + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// Whether a text names an item, not as the beginning of another one ("Figure 1" in "Figure 11").
fn names(text: &str, item: &str) -> bool {
    text.match_indices(item)
        .any(|(place, _)| !text[place + item.len()..].starts_with(|next: char| next.is_alphanumeric()))
}

#[test]
fn every_figure_and_table_is_named() {
    let text = page();
    let mut missing = Vec::new();
    for (paper, figures, tables) in ITEMS {
        let figures = figures.iter().map(|panel| format!("Figure {panel}"));
        let tables = (1..=tables).map(|table| format!("Table {table}"));
        let own = part(&text, paper);
        missing.extend(
            figures.chain(tables).filter(|item| !names(own, item)).map(|item| format!("{paper}: {item}")),
        );
    }
    assert!(missing.is_empty(), "docs/papers.md does not name {}", missing.join(", "));
    // The test itself: an item that no paper has is not found.
    assert!(
        !names(part(&text, "PO-GP-UCB"), "Table 10")
            && names("Figure 11", "Figure 11")
            && !names("Figure 11", "Figure 1")
    );
}

#[test]
fn every_file_that_is_named_exists_and_passes_check() {
    let text = page();
    let files: BTreeSet<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| span.contains('/') && (span.ends_with(".ron") || span.ends_with(".rs")))
        .collect();
    assert!(files.iter().filter(|file| file.ends_with(".ron")).count() >= 25, "{files:?}");
    for file in files {
        let place = root().join(file);
        assert!(place.is_file(), "docs/papers.md names {file}, which does not exist");
        if file.ends_with(".ron") {
            let (code, _, stderr) = code_and_output(&subrosa(&["check", file]));
            let withheld = fs::read_to_string(&place).unwrap().contains("The data may not be passed on")
                && stderr.contains("--data");
            assert!(code == 0 || (code == 3 && withheld), "{file}: {stderr}");
        }
    }
    // And the other way: every scenario of a paper has a place on the page.
    for folder in fs::read_dir(root().join("scenarios/papers")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            assert!(!name.ends_with(".ron") || text.contains(&name), "docs/papers.md does not name {name}");
        }
    }
}
