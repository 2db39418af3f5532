//! Runs an experiment on two neighbouring inputs, in parallel, and computes the bounds that its counts prove.

use super::evidence::{Counts, ERROR, ERROR_OF_CHOICE, Event, NeighbourSide, Scores, ceiling, choose};
use super::experiment::{Experiment, Transcript};
use super::histogram::Histogram;
use super::membership::Membership;
use super::modelled::Modelled;
use super::one_run::OneRun;
use super::pair::ExactLoss;
use super::trained::Trained;
use crate::audit::error::AuditError;
use crate::rng::Key;
use rayon::prelude::*;
use serde::Serialize;

/// The size of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials per side; half of them choose the event, the other half are counted.
    pub trials: u64,
    /// Key of all random numbers.
    pub key: Key,
    /// Delta at which epsilon is bounded.
    pub delta: f64,
    /// Whether bounds that assume a model are computed too.
    pub models: bool,
}

/// The measurements of an audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Trials per side.
    pub trials: u64,
    /// Trials per side that were counted; the other trials served to choose the test and the threshold.
    pub counted: u64,
    /// The test that was chosen.
    pub test: String,
    /// The side that the counted event indicates.
    pub indicates: NeighbourSide,
    /// The threshold of the event on the test's score.
    #[serde(serialize_with = "finite_or_text")]
    pub threshold: f64,
    /// The counts.
    pub counts: Counts,
    /// No epsilon below this is possible at `delta`, with `confidence`.
    pub epsilon_lower: f64,
    /// Delta of the bound.
    pub delta: f64,
    /// The probability that the bound is right is at least this, whatever the true epsilon.
    pub confidence: f64,
    /// The largest bound that the number of counted trials permits.
    pub ceiling: f64,
    /// The exact loss of the audited pair of neighbours at `delta`: the limit of the bounds for very many trials. `None` if
    /// the experiment states neither the pair's output distributions nor the pair's largest loss, if it states only the
    /// largest loss and `delta` is above 0, or if the loss is infinite.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub pair: Option<ExactLoss>,
    /// The bound from the trials under the assumption that the output distributions are as stated, except for the size of
    /// the noise. `None` in three cases: [`Effort::models`] is false; no such distributions are stated; or no finite bound
    /// follows from the trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Modelled>,
    /// The result of one run with many canaries; `None` if the experiment has no canaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_run: Option<OneRun>,
    /// Success of membership inference with the chosen test.
    pub membership: Membership,
    /// The chosen test's scores, counted trials only.
    pub histogram: Histogram,
}

fn finite_or_text<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
}

/// Smallest number of trials per side: a statistic is then trained on at least two trials, and scored on at least two.
pub const FEWEST: u64 = 8;

/// Runs the trials of an experiment and computes its bounds. `done` is called after each batch of trials, with the number of
/// trials in that batch, from several threads.
///
/// The test and its threshold are chosen on the first half of the trials of each side. They define an event, which is
/// counted on the second half. So only one event is counted, and the confidence of the bound is the confidence of one
/// pair of Clopper-Pearson limits.
///
/// # Errors
/// If the experiment fails or has no test, if there are too few trials, or if a score or a feature is NaN.
pub fn measure(
    experiment: &dyn Experiment,
    effort: Effort,
    done: &(dyn Fn(u64) + Sync),
) -> Result<Evidence, AuditError> {
    if effort.trials < FEWEST {
        return Err(AuditError::TooFewTrials { fewest: FEWEST, found: effort.trials });
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
        // While no bound on epsilon is above 0, the larger bound on delta at epsilon 0 decides.
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
        return Err(AuditError::NoTest);
    };
    let second = both(experiment, effort.key.child("count"), counted, done)?;
    let score = |transcript: &Transcript| match (&trained, transcript.scores.get(test)) {
        (Some(trained), None) => trained.score(&transcript.features),
        (_, score) => score.copied().unwrap_or(0.0),
    };
    let scores: Scores = [0, 1].map(|side| second[side].iter().map(score).collect());
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
        indicates: event.indicates,
        threshold: event.threshold,
        counts,
        epsilon_lower: counts.epsilon(effort.delta),
        delta: effort.delta,
        confidence: 1.0 - ERROR,
        ceiling: ceiling(counted, effort.delta),
        // If only the largest loss of the pair is known, it is the exact epsilon at a delta of 0, but not at a larger delta.
        pair: experiment
            .pair()
            .filter(|pair| pair.is_model() || effort.delta == 0.0)
            .map(|pair| pair.loss(effort.delta))
            .filter(|loss| loss.epsilon.is_finite()),
        model,
        one_run,
        membership: Membership::of(&scores),
        histogram: Histogram::of(&scores),
    })
}

/// The scores of the first half of the trials, by test. A statistic is trained on the first quarter of all trials and
/// scored on the second quarter.
fn tests_of(first: &[Vec<Transcript>; 2], known: usize) -> (Option<Trained>, Vec<Scores>) {
    let mut tests: Vec<Scores> = (0..known)
        .map(|test| [0, 1].map(|side| first[side].iter().map(|t| t.scores[test]).collect()))
        .collect();
    let features = |side: usize| first[side].iter().map(|t| t.features.clone()).collect::<Vec<Vec<f64>>>();
    let rows = [features(0), features(1)];
    let half = rows[0].len() / 2;
    let trained = Trained::fit([&rows[0][..half], &rows[1][..half]]);
    if let Some(trained) = &trained {
        tests.push([0, 1].map(|side| rows[side][half..].iter().map(|row| trained.score(row)).collect()));
    }
    (trained, tests)
}

/// Number of trials in one job: so many that the start of a job on a thread takes only a small part of the job's time.
const BATCH: u64 = 64;

fn both(
    experiment: &dyn Experiment,
    key: Key,
    trials: u64,
    done: &(dyn Fn(u64) + Sync),
) -> Result<[Vec<Transcript>; 2], AuditError> {
    let one = |side: NeighbourSide| -> Result<Vec<Transcript>, AuditError> {
        let node = key.child(side.symbol());
        let batches: Result<Vec<Vec<Transcript>>, AuditError> = (0..trials.div_ceil(BATCH))
            .into_par_iter()
            .map(|batch| {
                let range = batch * BATCH..((batch + 1) * BATCH).min(trials);
                let count = range.end - range.start;
                let found: Result<Vec<Transcript>, AuditError> =
                    range.map(|trial| checked(experiment, side, node.index(trial))).collect();
                done(count);
                found
            })
            .collect();
        Ok(batches?.into_iter().flatten().collect())
    };
    Ok([one(NeighbourSide::Given)?, one(NeighbourSide::Neighbour)?])
}

fn checked(experiment: &dyn Experiment, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
    let transcript = experiment.trial(side, key)?;
    if transcript.scores.iter().chain(&transcript.features).any(|number| number.is_nan()) {
        return Err(AuditError::NotANumber);
    }
    Ok(transcript)
}
