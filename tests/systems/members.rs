//! Every member that a scenario may name has an example that passes all checks; and what passes all checks can be played,
//! whatever members are put together.

use super::hosts::{self, ACCOUNT, FEDERATED, LOCAL, OUTSOURCED, RELEASE, check, slots, with_files};
use crate::support::{code_and_output, subrosa};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use subrosa::scenario::{Document, families, parts};

/// The examples of a family or part, each with its member's name.
fn examples() -> Vec<(String, String, Option<String>)> {
    let all = families().into_iter().chain(parts());
    all.flat_map(|family| {
        let kind = family.name.clone();
        family.members.into_iter().map(move |member| (kind.clone(), member.name, member.example))
    })
    .collect()
}

/// What is wrong with an example wherever it may stand; nothing if it is right in one of those places.
fn wrong(place: &Path, kind: &str, example: &str) -> Option<String> {
    let slots = slots(kind);
    if slots.is_empty() {
        return Some("no place to try it in: tests/systems/hosts.rs".to_owned());
    }
    let mut said = String::new();
    for (host, path, wrapped) in slots {
        let text = wrapped.replace("{}", example);
        let found = match (host, path.as_str()) {
            (ACCOUNT, _) => {
                Document::from_text(Path::new("account.ron"), text).account().map(drop).map_err(Box::new)
            }
            (_, "") => check(place, &text, &[]),
            (_, path) => check(place, host, &[format!("{path}={text}")]),
        };
        match found {
            Ok(()) => return None,
            Err(problems) => write!(said, "{problems}").unwrap(),
        }
    }
    Some(said)
}

#[test]
fn every_member_has_an_example_that_passes_the_checks() {
    let place = with_files();
    let mut problems = Vec::new();
    let all = examples();
    assert!(all.len() > 250, "{}", all.len());
    for (kind, name, example) in &all {
        let Some(example) = example else {
            problems.push(format!(
                "{kind}: {name}: no example: end its doc comment with \"Example: `{name}(..)`.\""
            ));
            continue;
        };
        if !example.starts_with(name.as_str()) {
            problems.push(format!("{kind}: {name}: the example is of something else: {example}"));
        }
        problems.extend(wrong(place.path(), kind, example).map(|said| format!("{kind}: {example}\n{said}")));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// `Name` and `Name()` are the same, wherever nothing must stand in the brackets.
#[test]
fn empty_brackets_may_be_written_or_left_out() {
    let place = with_files();
    let mut problems = Vec::new();
    for (kind, _, example) in examples() {
        let Some(example) = example else { continue };
        let other = match example.strip_suffix("()") {
            Some(bare) => bare.to_owned(),
            None if example.chars().all(char::is_alphanumeric) => format!("{example}()"),
            None => continue,
        };
        // `None` is also the absence of a value.
        if other != "None()" {
            problems
                .extend(wrong(place.path(), &kind, &other).map(|said| format!("{kind}: {other}\n{said}")));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Numbers for draws; the test's own, so that a failure is repeated by its seed alone.
struct Draws(u64);

impl Draws {
    /// Below `n`, by the generator splitmix64.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(n).unwrap()).unwrap()
    }
}

/// Scenarios drawn for each system: SUBROSA_DRAWS, else few. The first seed: SUBROSA_DRAWS_SEED.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a whole number"))
}

/// What `check` lets through, every replication could otherwise fail on.
#[test]
fn a_scenario_that_passes_the_checks_can_be_played() {
    let (draws, first) = (setting("SUBROSA_DRAWS", 4), setting("SUBROSA_DRAWS_SEED", 1));
    let place = with_files();
    let all = examples();
    let mut failures = Vec::new();
    let mut played = 0;
    for (system, host) in
        [("outsourced", OUTSOURCED), ("local", LOCAL), ("federated", FEDERATED), ("release", RELEASE)]
    {
        // Members whose values name parties of another scenario, or whole protocols, are left out.
        let fits =
            |kind: &str| !["protocol", "Fork", "ForkPoint", "network", "Metric", "Published"].contains(&kind);
        let choices: Vec<(String, String)> = all
            .iter()
            .filter(|(kind, ..)| fits(kind))
            .filter_map(|(kind, _, example)| Some((kind, example.as_ref()?)))
            .flat_map(|(kind, example)| {
                let here = slots(kind).into_iter().filter(|(of, path, _)| *of == host && !path.is_empty());
                here.map(|(_, path, wrapped)| (path, wrapped.replace("{}", example))).collect::<Vec<_>>()
            })
            // What an external program needs may not be installed here, and its answers are its own.
            .filter(|(_, value)| !value.contains("External("))
            .collect();
        let file = place.path().join(format!("{system}.ron"));
        fs::write(&file, host).unwrap();
        for n in 0..draws {
            let seed = first + n;
            let mut numbers = Draws(seed);
            // Of several values for one place, the last one drawn stands.
            let count = 2 + numbers.below(4);
            let mut chosen: Vec<(String, String)> = Vec::new();
            for _ in 0..count {
                let (path, value) = choices[numbers.below(choices.len())].clone();
                chosen.retain(|(other, _)| !other.starts_with(&path) && !path.starts_with(other.as_str()));
                chosen.push((path, value));
            }
            let overrides: Vec<String> =
                chosen.iter().map(|(path, value)| format!("{path}={value}")).collect();
            if hosts::check(place.path(), host, &overrides).is_err() {
                continue;
            }
            played += 1;
            let mut arguments = vec!["trace".to_owned(), file.to_str().unwrap().to_owned()];
            arguments.extend(overrides.iter().flat_map(|text| ["-o".to_owned(), text.clone()]));
            let (code, _, stderr) = code_and_output(&subrosa(&arguments));
            // A budget that is spent ends a run as the scenario says.
            if code != 0 && code != 6 {
                failures.push(format!(
                    "{system}, SUBROSA_DRAWS_SEED={seed}: {}\n{stderr}",
                    overrides.join("\n    ")
                ));
            }
        }
    }
    println!("played {played} scenarios, seeds {first} to {}", first + draws - 1);
    assert!(played > 0, "no scenario passes the checks");
    assert!(failures.is_empty(), "{} of {played}:\n{}", failures.len(), failures.join("\n"));
}

/// Contradictions between an objective and a protocol, each with its place and a cure.
#[test]
fn mismatches_are_refused_before_anything_is_played() {
    let place = with_files();
    let cases: &[(&str, &[&str], &str, &str)] = &[
        (
            FEDERATED,
            &[r#"objective=Correlation(file: "stocks.csv", ignore: ["Date"])"#],
            "protocol.Federated.features",
            "search this one by Outsourced or Local",
        ),
        (OUTSOURCED, &["protocol.series[0].learner=AtaGpUcb"], "learner.AtaGpUcb", "write `bound: ..`"),
        (
            OUTSOURCED,
            &["protocol.series[0].learner=TgpUcb(bound: 2)"],
            "learner.TgpUcb",
            "write `payoffs: Private(noise_bound: ..)`",
        ),
        (
            RELEASE,
            &["protocol.series[0].publication=NonPrivate(learner: MomaGpUcb)"],
            "publication.NonPrivate.learner.MomaGpUcb",
            "write `bound: ..`",
        ),
    ];
    for (host, overrides, path, cure) in cases {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let said = check(place.path(), host, &overrides).expect_err("refused").list;
        let found = said.iter().any(|problem| {
            problem.path.as_deref().is_some_and(|found| found.contains(path))
                && problem.cure.as_deref().is_some_and(|found| found.contains(cure))
        });
        assert!(found, "{overrides:?}: {said:?}");
    }
}
