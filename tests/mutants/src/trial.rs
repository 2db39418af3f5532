//! Finds out which tests reach which mutants, and tries each mutant with them.

use crate::build::Binary;
use crate::list::{Build, Mutant};
use crate::run::{End, run};
use crate::{Place, append, lines, read};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// What one test did in the program without a mutant.
#[derive(Clone, Serialize, Deserialize)]
pub struct Reach {
    /// The program and the test.
    pub test: String,
    pub seconds: f64,
    pub passed: bool,
    /// Mutants whose code it ran, without those of `differs`.
    pub same: Vec<u32>,
    /// Mutants whose value was another one at least once, or was not compared.
    pub differs: Vec<u32>,
}

/// A line of the results.
#[derive(Serialize, Deserialize)]
pub struct Line {
    pub mutant: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Caught(String),
    Limit(String),
    /// These tests passed.
    Survived(Vec<String>),
}

/// Runs once every test that was not run yet; or those whose name contains `part`, again if they were. `jobs` processes run
/// at the same time.
pub fn reach(place: &Place, part: Option<&str>, jobs: usize) -> Result<(), String> {
    let mutants: Vec<Mutant> = read(&place.file("mutants.json"))?;
    let binaries: Vec<Binary> = read(&place.file("binaries.json"))?;
    let known: BTreeSet<String> = reached(place)?.into_keys().collect();
    let mut queue = vec![];
    for binary in &binaries {
        for test in &binary.tests {
            let name = format!("{} {test}", binary.name);
            if part.map_or(!known.contains(&name), |part| name.contains(part)) {
                queue.push((binary, test, name));
            }
        }
    }
    println!("{} tests to run", queue.len());
    queue.reverse();
    let queue = Mutex::new(queue);
    parallel(jobs, |job| {
        let notes = place.file(&format!("notes-{job}"));
        loop {
            let next = queue.lock().map_err(|_| "a worker panicked")?.pop();
            let Some((binary, test, name)) = next else { return Ok(()) };
            std::fs::write(&notes, vec![0; mutants.len() + 1]).map_err(|error| error.to_string())?;
            let variable = ("SUBROSA_MUTANT_REACH", notes.to_str().unwrap_or_default());
            let (end, seconds) = run(binary, &[test], variable, 300.0)?;
            let bytes = std::fs::read(&notes).map_err(|error| error.to_string())?;
            let with = |bits| (0..bytes.len() as u32).filter(|&n| bytes[n as usize] == bits).collect();
            let (same, differs) = (with(1), with(3));
            append(
                &place.file("reach.jsonl"),
                &Reach { test: name, seconds, passed: end == End::Passed, same, differs },
            )?;
        }
    })
}

/// Runs `jobs` threads, each with its number, and returns the first error.
fn parallel(jobs: usize, work: impl Fn(usize) -> Result<(), String> + Sync) -> Result<(), String> {
    let work = &work;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|job| scope.spawn(move || work(job))).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?)
    })
}

/// The last line of each test.
pub fn reached(place: &Place) -> Result<BTreeMap<String, Reach>, String> {
    Ok(lines::<Reach>(&place.file("reach.jsonl"))?
        .into_iter()
        .map(|reach| (reach.test.clone(), reach))
        .collect())
}

/// What is known of each mutant, by name; the tests that it survived as one list.
pub fn outcomes(place: &Place) -> Result<BTreeMap<String, Outcome>, String> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for Line { mutant, outcome } in lines::<Line>(&place.file("results.jsonl"))? {
        match (outcomes.get_mut(&mutant), outcome) {
            (Some(Outcome::Survived(tests)), Outcome::Survived(more)) => tests.extend(more),
            (Some(Outcome::Caught(_) | Outcome::Limit(_)), Outcome::Survived(_)) => {}
            (_, outcome) => drop(outcomes.insert(mutant, outcome)),
        }
    }
    Ok(outcomes)
}

/// Tries every mutant that is not yet caught, and whose name contains `part`, with the tests of at most `longest` seconds
/// that reach it and were not yet tried. `jobs` processes run at the same time.
pub fn trial(place: &Place, longest: f64, part: &str, jobs: usize) -> Result<(), String> {
    let mutants: Vec<Mutant> = read(&place.file("mutants.json"))?;
    let binaries: Vec<Binary> = read(&place.file("binaries.json"))?;
    let reaches = reached(place)?;
    let mut tests: BTreeMap<u32, Vec<&Reach>> = BTreeMap::new();
    for reach in reaches.values().filter(|reach| reach.passed && reach.seconds <= longest) {
        for number in &reach.differs {
            tests.entry(*number).or_default().push(reach);
        }
    }
    let known = outcomes(place)?;
    // How many mutants of a file each test has caught: such tests are tried first.
    let mut caught: BTreeMap<(String, String), f64> = BTreeMap::new();
    for mutant in &mutants {
        if let Some(Outcome::Caught(test)) = known.get(&mutant.name) {
            *caught.entry((mutant.file.clone(), test.clone())).or_default() += 1.0;
        }
    }
    let mut queue = vec![];
    for mutant in
        mutants.iter().rev().filter(|mutant| mutant.build == Build::Switched && mutant.name.contains(part))
    {
        let mut left = tests.get(&mutant.number).cloned().unwrap_or_default();
        match known.get(&mutant.name) {
            Some(Outcome::Survived(tried)) => {
                let tried: BTreeSet<&String> = tried.iter().collect();
                left.retain(|reach| !tried.contains(&reach.test));
            }
            Some(_) => continue,
            None => {}
        }
        if !left.is_empty() {
            queue.push((mutant, left));
        }
    }
    println!("{} mutants to try", queue.len());
    let (queue, caught) = (Mutex::new(queue), Mutex::new(caught));
    parallel(jobs, |_| {
        loop {
            let next = queue.lock().map_err(|_| "a worker panicked")?.pop();
            let Some((mutant, left)) = next else { return Ok(()) };
            let outcome = try_one(place, mutant, left, &binaries, &caught)?;
            if let Some(test) = outcome {
                *caught
                    .lock()
                    .map_err(|_| "a worker panicked")?
                    .entry((mutant.file.clone(), test))
                    .or_default() += 1.0;
            }
        }
    })
}

/// Tries one mutant with the tests, and returns the test that caught it.
fn try_one(
    place: &Place,
    mutant: &Mutant,
    mut left: Vec<&Reach>,
    binaries: &[Binary],
    caught: &Mutex<BTreeMap<(String, String), f64>>,
) -> Result<Option<String>, String> {
    {
        let caught = caught.lock().map_err(|_| "a worker panicked")?;
        let before = |test: &str| caught.get(&(mutant.file.clone(), test.to_owned())).copied().unwrap_or(0.0);
        let score = |reach: &Reach| (reach.seconds + 0.02) / (1.0 + 3.0 * before(&reach.test));
        left.sort_by(|a, b| score(a).total_cmp(&score(b)));
    }
    let number = mutant.number.to_string();
    let mut most = 0.2;
    while let Some(first) = left.first() {
        let program = first.test.split(' ').next().unwrap_or_default().to_owned();
        let binary = binaries
            .iter()
            .find(|binary| binary.name == program)
            .ok_or("a program is missing; build again")?;
        let (mut batch, mut seconds) = (vec![], 0.0);
        left.retain(|reach| {
            let fits = batch.is_empty() || seconds + reach.seconds <= most;
            let same = reach.test.split(' ').next() == Some(&program);
            if same && fits {
                batch.push(reach.test.clone());
                seconds += reach.seconds;
            }
            !(same && fits)
        });
        most *= 2.0;
        let names: Vec<&str> =
            batch.iter().filter_map(|name| name.split_once(' ')).map(|(_, test)| test).collect();
        let (end, _) = run(binary, &names, ("SUBROSA_MUTANT", &number), 10.0 * seconds + 5.0)?;
        let full = |test: String| format!("{program} {test}");
        let (outcome, test) = match end {
            End::Passed => (Outcome::Survived(batch), None),
            End::Failed(test) => (Outcome::Caught(full(test.clone())), Some(full(test))),
            End::Limit(test) => (Outcome::Limit(full(test.clone())), Some(full(test))),
        };
        append(&place.file("results.jsonl"), &Line { mutant: mutant.name.clone(), outcome })?;
        if test.is_some() {
            return Ok(test);
        }
    }
    Ok(None)
}
