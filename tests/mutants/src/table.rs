//! The counts, and the mutants that are left.

use crate::list::{Build, Mutant};
use crate::trial::{Outcome, outcomes, reached};
use crate::{Place, read};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the table.
const ROWS: [&str; 8] = [
    "caught",
    "ended by the limit",
    "survived",
    "survived, and its value never differed",
    "survived the tests that were tried",
    "not tried",
    "not reached",
    "equivalent",
];

/// The mutants that `tests/mutants/equivalent.txt` judges to change nothing: their names, without a place unless another
/// mutant has the same text.
fn equivalent(place: &Place) -> Result<BTreeSet<String>, String> {
    let path = place.root.join("tests/mutants/equivalent.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    Ok(lines.map(|(name, _)| name.to_owned()).collect())
}

/// A mutant's name without line and column.
fn without_place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    format!("{file}:{}", parts.nth(2).unwrap_or_default())
}

/// Prints the counts by folder, then every mutant that is left.
pub fn print(place: &Place) -> Result<(), String> {
    let mutants: Vec<Mutant> = read(&place.file("mutants.json"))?;
    let outcomes = outcomes(place)?;
    let equivalent = equivalent(place)?;
    let (mut differs, mut same): (BTreeMap<u32, BTreeSet<String>>, BTreeSet<u32>) = Default::default();
    let reached = reached(place)?;
    for reach in reached.values().filter(|reach| reach.passed) {
        for number in &reach.differs {
            differs.entry(*number).or_default().insert(reach.test.clone());
        }
        same.extend(&reach.same);
    }
    let (mut counts, mut left) = (BTreeMap::<(usize, String), usize>::new(), vec![]);
    let mut folders = BTreeSet::from(["all".to_owned()]);
    for mutant in mutants.iter().filter(|mutant| mutant.build == Build::Switched) {
        let row = match (outcomes.get(&mutant.name), differs.get(&mutant.number)) {
            (Some(Outcome::Caught(_)), _) => 0,
            (Some(Outcome::Limit(_)), _) => 1,
            (Some(Outcome::Survived(tried)), Some(tests)) => {
                let tried: BTreeSet<String> = tried.iter().cloned().collect();
                if tests.is_subset(&tried) { 2 } else { 4 }
            }
            (Some(_), None) => 2,
            (None, Some(_)) => 5,
            (None, None) if same.contains(&mutant.number) => 3,
            (None, None) => 6,
        };
        let judged = |name: &str| equivalent.contains(name);
        let row = if row > 1 && (judged(&mutant.name) || judged(&without_place(&mutant.name))) { 7 } else { row };
        let folder = mutant.file.split('/').take(2).collect::<Vec<_>>().join("/");
        for folder in ["all".to_owned(), folder] {
            *counts.entry((row, folder.clone())).or_default() += 1;
            folders.insert(folder);
        }
        if (2..7).contains(&row) {
            left.push(format!("{}: {}", ROWS[row], mutant.name));
        }
    }
    for build in [Build::Switched, Build::Invalid, Build::Constant] {
        println!("{build:?}: {}", mutants.iter().filter(|mutant| mutant.build == build).count());
    }
    let seconds: f64 = reached.values().map(|reach| reach.seconds).sum();
    let passed = reached.values().filter(|reach| reach.passed).count();
    println!("{} tests, {passed} of them passed without a mutant, {seconds:.0} s", reached.len());
    println!(
        "\n| outcome | {} |\n|{}",
        folders.iter().cloned().collect::<Vec<_>>().join(" | "),
        "---|".repeat(folders.len() + 1)
    );
    for (row, name) in ROWS.iter().enumerate() {
        let cells =
            folders.iter().map(|folder| counts.get(&(row, folder.clone())).copied().unwrap_or(0).to_string());
        println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    left.sort();
    println!("\n{}", left.join("\n"));
    Ok(())
}
