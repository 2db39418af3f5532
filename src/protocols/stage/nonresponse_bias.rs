//! Measures whether the answers that were heard are a representative sample of those that were due.

use super::record::{NamedOutcome, SeriesRecord};

/// The name of the share of answers that were due and not heard.
const MISSING: &str = "share of answers missing";
/// The name of the outcome that is the bias, by which reports find it.
const NAME: &str = "mean outcome of answers heard minus that of answers due";

/// Sums over the answers that were due, and over those that were heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonresponseBias {
    due: (u64, f64),
    answered: (u64, f64),
}

impl NonresponseBias {
    /// Adds an answer with this outcome.
    pub fn add(&mut self, outcome: f64, answered: bool) {
        self.due = (self.due.0 + 1, self.due.1 + outcome);
        if answered {
            self.answered = (self.answered.0 + 1, self.answered.1 + outcome);
        }
    }

    /// Writes the count of missing answers, their share and, if any answer was heard, the bias into the record; nothing if
    /// every answer was heard.
    pub fn into_record(self, record: &mut SeriesRecord) {
        let (due, answered) = (self.due.0, self.answered.0);
        if due == answered {
            return;
        }
        record.counts.insert("answers missing".to_owned(), due - answered);
        let share = (due - answered) as f64 / due as f64;
        record.outcomes.push(NamedOutcome::new(MISSING, share).otherwise(0.0));
        if answered == 0 {
            record.outcomes.push(NamedOutcome::undefined(NAME));
        } else {
            let value = self.answered.1 / answered as f64 - self.due.1 / due as f64;
            record.outcomes.push(NamedOutcome::new(NAME, value).otherwise(0.0));
        }
    }
}
