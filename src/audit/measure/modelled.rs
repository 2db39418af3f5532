//! What the counts prove if the output laws are known except for the size of the noise.

use super::evidence::{Counts, ERROR, ERROR_OF_CHOICE, Event, Scores, at_quantiles, choose};
use super::pair::KnownPair;
use rayon::prelude::*;
use serde::Serialize;

/// A lower bound on epsilon that assumes a model of the noise.
///
/// Its event is chosen on the first half of the trials, separately from the event of the bound that assumes no model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modelled {
    /// No epsilon below this is possible at the audit's delta if the premise holds, with the audit's confidence.
    pub epsilon_lower: f64,
    /// The assumption, as the words that follow "if".
    pub premise: String,
    /// The largest noise that is consistent with the counts, as a multiple of the stated noise.
    pub largest_noise_factor: f64,
    /// The counts of the event.
    pub counts: Counts,
}

impl Modelled {
    /// Chooses an event on the scores of the first half, and counts it on the scores of the second half. The events in
    /// `chosen` are tried too. `None` if the counts do not limit the noise, or if no finite epsilon follows.
    pub(super) fn of(
        pair: &KnownPair,
        chosen: &[Event],
        first: &Scores,
        second: &Scores,
        delta: f64,
    ) -> Option<Self> {
        let mut events = at_quantiles(first);
        events.extend(choose(first, |counts| counts.mu(ERROR_OF_CHOICE)).map(|(event, _)| event));
        events.extend(choose(first, |counts| counts.delta(0.0)).map(|(event, _)| event));
        events.extend(chosen);
        // Events are tried in parallel: each needs the privacy losses of several compositions, and the computation of
        // one such loss takes about a millisecond. The event that gives the smallest upper limit of the noise is
        // counted on the second half; if several events give this limit, the first of them is counted.
        let noises: Vec<f64> = events
            .par_iter()
            .map(|event| pair.largest_noise_factor(Counts::of(*event, first), ERROR_OF_CHOICE))
            .collect();
        let least = noises.iter().copied().fold(f64::INFINITY, f64::min);
        let place = noises.iter().position(|noise| *noise == least)?;
        let counts = Counts::of(events[place], second);
        let largest_noise_factor = pair.largest_noise_factor(counts, ERROR);
        if !largest_noise_factor.is_finite() {
            return None;
        }
        let epsilon_lower = pair.at_noise(largest_noise_factor, delta);
        if !epsilon_lower.is_finite() {
            return None;
        }
        Some(Self { epsilon_lower, premise: pair.premise.clone(), largest_noise_factor, counts })
    }
}
