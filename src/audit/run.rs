//! Runs an experiment on two neighbouring inputs, in parallel, and keeps what the counts prove.

use super::evidence::{Counts, ERROR, ERROR_OF_CHOICE, Event, Scores, World, at_quantiles, ceiling, choose};
use super::histogram::Histogram;
use super::membership::Membership;
use super::one_run::{Coins, OneRun};
use super::pair::KnownPair;
use super::trained::Trained;
use crate::rng::Key;
use rayon::prelude::*;
use serde::Serialize;

/// What one run of the audited system shows its observer, reduced to numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// One score per test of the experiment; larger ones speak for D. Never NaN.
    pub scores: Vec<f64>,
    /// The transcript itself, for a statistic to be trained on; empty where the scores say all.
    pub features: Vec<f64>,
}

impl Transcript {
    /// A transcript of which only scores are kept.
    #[must_use]
    pub fn scored(scores: Vec<f64>) -> Self {
        Self { scores, features: Vec::new() }
    }

    /// The same, scores rounded to multiples of 2^-20. The low bits of a likelihood ratio tell secrets apart where noise
    /// is floating point, whatever its density: that leak has audits of its own and must not blur all others.
    #[must_use]
    pub fn rounded(mut scores: Vec<f64>) -> Self {
        scores.iter_mut().for_each(|score| *score = rounded(*score));
        Self::scored(scores)
    }
}

/// A score as a multiple of 2^-20.
pub(super) fn rounded(score: f64) -> f64 {
    (score * RESOLUTION).round() / RESOLUTION
}

const RESOLUTION: f64 = (1u64 << 20) as f64;

/// A randomised system on two neighbouring inputs, as its observer sees it.
pub trait Experiment: Sync {
    /// Names of the tests, the support test first where there is one ("support", "likelihood ratio").
    fn tests(&self) -> Vec<String>;

    /// One run in one of the two worlds. Draws only below `key`.
    ///
    /// # Errors
    /// In words, if the system cannot run.
    fn trial(&self, world: World, key: Key) -> Result<Transcript, String>;

    /// The output laws of the two neighbours, where they are known.
    fn pair(&self) -> Option<&KnownPair> {
        None
    }

    /// One run with many canaries, each in or out by a fair coin, where that is possible; about as much work as `trials`
    /// trials at the most. Draws only below `key`.
    fn one_run(&self, _trials: u64, _key: Key) -> Option<Result<Coins, String>> {
        None
    }
}

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials per world; half of them choose the event, the other half are counted.
    pub trials: u64,
    /// Node of all draws.
    pub key: Key,
    /// Delta at which epsilon is bounded.
    pub delta: f64,
    /// Whether bounds that rest on a model are worked out too.
    pub models: bool,
}

/// What an audit measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Trials per world.
    pub trials: u64,
    /// Those of them that were counted; the others chose the test and the threshold.
    pub counted: u64,
    /// The test that was chosen.
    pub test: String,
    /// Whose data the counted event speaks for.
    pub speaks_for: World,
    /// The threshold of the event on the test's score.
    #[serde(serialize_with = "finite_or_text")]
    pub threshold: f64,
    /// The counts.
    pub counts: Counts,
    /// No epsilon below this is possible at `delta`, with `confidence`.
    pub epsilon_lower: f64,
    /// Delta of the bound.
    pub delta: f64,
    /// Probability that the bound is right, whatever the truth.
    pub confidence: f64,
    /// The largest bound that so many trials permit.
    pub ceiling: f64,
    /// The exact loss of this pair of neighbours at `delta`, where their output laws are known: what endless trials would
    /// measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_epsilon: Option<f64>,
    /// What the trials say if the output laws are known but for the size of the noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Modelled>,
    /// What a single run with many canaries shows, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_run: Option<OneRun>,
    /// Success of membership inference with the chosen test.
    pub membership: Membership,
    /// The chosen test's scores, counted trials only.
    pub histogram: Histogram,
}

/// A lower bound that rests on a model. It has an event of its own, chosen on the first half of the trials too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modelled {
    /// No epsilon below this is possible at `delta` if the premise holds, with `confidence`.
    pub epsilon_lower: f64,
    /// The premise, in words after "if".
    pub premise: String,
    /// The largest noise that the counts leave possible, in units of the noise as stated.
    pub most_noise: f64,
    /// The counts of the event.
    pub counts: Counts,
}

impl Modelled {
    /// Chooses an event on the scores of the first half, and counts it on those of the second.
    fn of(pair: &KnownPair, chosen: &[Event], first: &Scores, second: &Scores, delta: f64) -> Option<Self> {
        let mut events = at_quantiles(first);
        events.extend(choose(first, |counts| counts.mu(ERROR_OF_CHOICE)).map(|(event, _)| event));
        events.extend(choose(first, |counts| counts.delta(0.0)).map(|(event, _)| event));
        events.extend(chosen);
        // In parallel, for compositions take a millisecond a time; ties go to the first.
        let noises: Vec<f64> = events
            .par_iter()
            .map(|event| pair.most_noise(Counts::of(*event, first), ERROR_OF_CHOICE))
            .collect();
        let least = noises.iter().copied().fold(f64::INFINITY, f64::min);
        let place = noises.iter().position(|noise| *noise == least)?;
        let counts = Counts::of(events[place], second);
        let most_noise = pair.most_noise(counts, ERROR);
        if !most_noise.is_finite() {
            return None;
        }
        let epsilon_lower = pair.at_noise(most_noise, delta);
        if !epsilon_lower.is_finite() {
            return None;
        }
        Some(Self { epsilon_lower, premise: pair.premise.clone(), most_noise, counts })
    }
}

fn finite_or_text<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
}

/// Fewest trials per world that can be halved and quartered.
pub const FEWEST: u64 = 8;

/// Measures. `done` is told how many trials were finished since it was last told.
///
/// The test and its threshold are chosen on the first half of the trials of each world and counted on the second, so
/// that one event is counted and the confidence is that of a single pair of Clopper-Pearson limits.
///
/// # Errors
/// In words, if the experiment fails or there are too few trials.
pub fn measure(
    experiment: &dyn Experiment,
    effort: Effort,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Evidence, String> {
    if effort.trials < FEWEST {
        return Err(format!("expected at least {FEWEST} trials, found {}", effort.trials));
    }
    let choosing = effort.trials / 2;
    let counted = effort.trials - choosing;
    let mut names = experiment.tests();
    let first = both(experiment, effort.key.child("choose"), choosing, done)?;
    let (trained, tests) = tests_of(&first, names.len());
    if trained.is_some() {
        names.push("trained statistic".to_owned());
    }
    let mut best: Option<(usize, Event, f64)> = None;
    for (index, scores) in tests.iter().enumerate() {
        // Where no bound is above 0 yet, the larger advantage decides.
        let figure = |counts: Counts| {
            let epsilon = counts.epsilon_at(effort.delta, ERROR_OF_CHOICE);
            if epsilon > 0.0 { epsilon } else { counts.delta(0.0) - 1.0 }
        };
        if let Some((event, value)) = choose(scores, figure)
            && best.is_none_or(|(_, _, most)| value > most)
        {
            best = Some((index, event, value));
        }
    }
    let Some((test, event, _)) = best else {
        return Err("the experiment names no test and shows nothing to train one on".to_owned());
    };
    let second = both(experiment, effort.key.child("count"), counted, done)?;
    let score = |transcript: &Transcript| match (&trained, transcript.scores.get(test)) {
        (Some(trained), None) => trained.score(&transcript.features),
        (_, score) => score.copied().unwrap_or(0.0),
    };
    let scores: Scores = [0, 1].map(|world| second[world].iter().map(score).collect());
    let counts = Counts::of(event, &scores);
    let model = experiment
        .pair()
        .filter(|pair| pair.is_model() && effort.models)
        .and_then(|pair| Modelled::of(pair, &[event], &tests[test], &scores, effort.delta));
    let run = |purpose: &str| experiment.one_run(effort.trials, effort.key.child("one run").child(purpose));
    let one_run = match (run("choose"), run("count")) {
        (Some(choosing), Some(counted)) => Some(OneRun::of(choosing?, counted?, effort.delta)),
        _ => None,
    };
    Ok(Evidence {
        trials: effort.trials,
        counted,
        test: names[test].clone(),
        speaks_for: event.speaks_for,
        threshold: event.threshold,
        counts,
        epsilon_lower: counts.epsilon(effort.delta),
        delta: effort.delta,
        confidence: 1.0 - ERROR,
        ceiling: ceiling(counted, effort.delta),
        pair_epsilon: experiment.pair().map(|pair| pair.epsilon(effort.delta)).filter(|e| e.is_finite()),
        model,
        one_run,
        membership: Membership::of(&scores),
        histogram: Histogram::of(&scores),
    })
}

/// The scores of the choosing half by test; a statistic is trained on its first half and scored on its second.
fn tests_of(first: &[Vec<Transcript>; 2], known: usize) -> (Option<Trained>, Vec<Scores>) {
    let mut tests: Vec<Scores> = (0..known)
        .map(|test| [0, 1].map(|world| first[world].iter().map(|t| t.scores[test]).collect()))
        .collect();
    let features = |world: usize| first[world].iter().map(|t| t.features.clone()).collect::<Vec<Vec<f64>>>();
    let rows = [features(0), features(1)];
    let half = rows[0].len() / 2;
    let trained = Trained::fit([&rows[0][..half], &rows[1][..half]]);
    if let Some(trained) = &trained {
        tests.push([0, 1].map(|world| rows[world][half..].iter().map(|row| trained.score(row)).collect()));
    }
    (trained, tests)
}

/// Trials of one job: enough to be worth handing to a thread.
const BATCH: u64 = 64;

fn both(
    experiment: &dyn Experiment,
    key: Key,
    trials: u64,
    done: &(dyn Fn(u64) + Sync),
) -> Result<[Vec<Transcript>; 2], String> {
    let one = |world: World| -> Result<Vec<Transcript>, String> {
        let node = key.child(world.symbol());
        let batches: Result<Vec<Vec<Transcript>>, String> = (0..trials.div_ceil(BATCH))
            .into_par_iter()
            .map(|batch| {
                let range = batch * BATCH..((batch + 1) * BATCH).min(trials);
                let count = range.end - range.start;
                let found: Result<Vec<Transcript>, String> =
                    range.map(|trial| checked(experiment, world, node.index(trial))).collect();
                done(count);
                found
            })
            .collect();
        Ok(batches?.into_iter().flatten().collect())
    };
    Ok([one(World::Given)?, one(World::Neighbour)?])
}

fn checked(experiment: &dyn Experiment, world: World, key: Key) -> Result<Transcript, String> {
    let transcript = experiment.trial(world, key)?;
    if transcript.scores.iter().chain(&transcript.features).any(|number| number.is_nan()) {
        return Err("a transcript holds a score that is not a number".to_owned());
    }
    Ok(transcript)
}
