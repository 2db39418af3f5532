//! The outcomes of a series, that is, numbers that its protocol reports at the end. They are added up over the replications
//! in two passes: the first gives the means, the second the standard errors.

use super::estimator::{Estimator, Pass};
use super::series::{BoundRow, OutcomeRow};
use crate::protocols::{OutcomeBound, SeriesOutcome, SeriesRecord};

/// The sums of all outcomes of a series, in the order in which their names first occur.
#[derive(Debug, Default)]
pub(in crate::study) struct OutcomeSums(Vec<Outcome>);

/// The sums of one outcome.
#[derive(Debug, Default)]
struct Outcome {
    name: String,
    value: Estimator,
    /// Number of replications in which the outcome is undefined.
    undefined: u64,
    /// The value that counts for a replication whose record does not have this outcome.
    otherwise: Option<f64>,
    /// The number of replications whose record does not have this outcome.
    filled: u64,
    bound: Option<OutcomeBound>,
    bounded: u64,
    held: u64,
    at_most: f64,
}

impl OutcomeSums {
    /// Adds a replication.
    pub(in crate::study) fn add(&mut self, pass: Pass, run: &SeriesRecord) {
        for outcome in &run.outcomes {
            let place = self.0.iter().position(|known| known.name == outcome.name).unwrap_or_else(|| {
                self.0.push(Outcome { name: outcome.name.clone(), ..Outcome::default() });
                self.0.len() - 1
            });
            self.0[place].add(pass, outcome);
        }
    }

    /// Ends a pass over this many replications.
    pub(in crate::study) fn end(&mut self, pass: Pass, replications: u64) {
        for outcome in &mut self.0 {
            let Some(value) = outcome.otherwise else { continue };
            // After the first pass, `n` includes the `filled` values, which are subtracted in the second pass. So `missing`
            // is the same number in both passes.
            let found = outcome.value.n() - if pass == Pass::Means { 0 } else { outcome.filled };
            let missing = replications.saturating_sub(outcome.undefined + found);
            (0..missing).for_each(|_| outcome.value.add(pass, value));
            outcome.filled = missing;
        }
    }

    /// The means, once both passes have ended.
    pub(in crate::study) fn finish(self) -> Vec<OutcomeRow> {
        self.0.into_iter().filter_map(Outcome::finish).collect()
    }
}

impl Outcome {
    fn add(&mut self, pass: Pass, outcome: &SeriesOutcome) {
        if !outcome.undefined {
            self.value.add(pass, outcome.value);
        }
        match (pass, &outcome.bound) {
            (Pass::Means, bound) => {
                self.undefined += u64::from(outcome.undefined);
                self.otherwise = self.otherwise.or(outcome.otherwise);
                if let Some(bound) = bound {
                    self.bounded += 1;
                    self.held += u64::from(outcome.value <= bound.at_most);
                    self.bound.get_or_insert_with(|| bound.clone());
                }
            }
            // Each bound is divided by the number of bounds, so that the sum is the mean of the bounds.
            (Pass::Errors, Some(bound)) => self.at_most += bound.at_most * self.share(),
            (Pass::Errors, None) => {}
        }
    }

    /// The weight of one replication in a mean over the replications with a bound.
    fn share(&self) -> f64 {
        1.0 / self.bounded as f64
    }

    fn finish(self) -> Option<OutcomeRow> {
        let share = self.share();
        let bound = self.bound.map(|first| BoundRow {
            at_most: self.at_most,
            probability: first.probability,
            held: self.held as f64 * share,
            source: first.source,
        });
        Some(OutcomeRow { name: self.name, value: self.value.estimate()?, bound })
    }
}
