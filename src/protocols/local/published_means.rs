//! How far the published means of rewards are from the means of the rewards themselves.

use super::messages::OwnFact;
use crate::protocols::stage::{SeriesOutcome, SeriesRecord};
use std::collections::BTreeMap;

/// The error of a published mean is its difference from the mean of the same rewards before they are clipped and before the
/// registry adds noise. This outcome is the root mean square of the errors of all published means.
const ERROR: &str = "error of the published means (root mean square)";
/// The absolute value of the error of the last published mean.
const LAST: &str = "error of the last published mean";

/// The errors of the means that one series publishes.
#[derive(Debug, Default)]
pub(super) struct PublishedMeans {
    /// The reward of each user who has tried an arm, by the user's number. A reward is removed when it reaches the registry,
    /// which publishes the means, or when its user turns out to be silent.
    pending: BTreeMap<u64, f64>,
    /// Sum of the rewards that count, before clipping.
    sum: f64,
    left_out: u64,
    published: u64,
    squares: f64,
    last: f64,
}

impl PublishedMeans {
    pub(super) fn see(&mut self, fact: &OwnFact) {
        match fact {
            OwnFact::Played { user, reward, .. } | OwnFact::Tried { user, reward, .. } => {
                self.pending.insert(*user, *reward);
            }
            OwnFact::Silent { user } => {
                self.pending.remove(user);
            }
            OwnFact::Counted { user, counts } => {
                let reward = self.pending.remove(user).unwrap_or(0.0);
                if *counts {
                    self.sum += reward;
                } else {
                    self.left_out += 1;
                }
            }
            OwnFact::MeanPublished { count, mean } => {
                let error = mean - self.sum / *count as f64;
                self.published += 1;
                self.squares += error * error;
                self.last = error.abs();
            }
            OwnFact::Learned { .. } => {}
        }
    }

    pub(super) fn fill_record(&self, record: &mut SeriesRecord) {
        record.counts.insert("means published".to_owned(), self.published);
        record.counts.insert("rewards left out of the mean".to_owned(), self.left_out);
        if self.published > 0 {
            let error = (self.squares / self.published as f64).sqrt();
            record.outcomes.push(SeriesOutcome::new(ERROR, error));
            record.outcomes.push(SeriesOutcome::new(LAST, self.last));
        }
    }
}
