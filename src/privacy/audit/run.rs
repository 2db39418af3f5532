//! Runs an experiment on two neighbouring inputs, in parallel, and keeps what the counts prove.

use super::evidence::{Counts, ERROR, ERROR_OF_CHOICE, Event, Scores, World, ceiling, choose};
use super::histogram::Histogram;
use super::membership::Membership;
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
        scores.iter_mut().for_each(|score| *score = (*score * RESOLUTION).round() / RESOLUTION);
        Self::scored(scores)
    }
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
    /// Epsilon of the weakest Gaussian mechanism that explains the counts, at a delta above 0. A lower bound only if the
    /// system is at least as leaky as one Gaussian mechanism everywhere, which nobody checks.
    pub gaussian_model: Option<f64>,
    /// Success of membership inference with the chosen test.
    pub membership: Membership,
    /// The chosen test's scores, counted trials only.
    pub histogram: Histogram,
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
    // The model-based figure has an event of its own, chosen on the first half too.
    let model = choose(&tests[test], |counts| counts.mu(ERROR_OF_CHOICE))
        .filter(|_| effort.delta > 0.0)
        .map(|(event, _)| Counts::of(event, &scores).gaussian_epsilon(effort.delta));
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
        gaussian_model: model,
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
