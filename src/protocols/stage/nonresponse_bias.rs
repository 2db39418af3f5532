//! Measures whether the answers that arrived are a representative sample of all answers that were
//! due.

use super::record::{SeriesOutcome, SeriesRecord};

/// The name, in the record, of the number "missing answers divided by answers that were due".
const MISSING: &str = "share of answers missing";
/// The name, in the record, of the bias; reports find the bias by this name. "Answers heard" are the answers that arrived,
/// and "answers due" are all answers, including those that did not arrive.
const NAME: &str = "mean outcome of answers heard minus that of answers due";

/// The number of answers and the sum of their outcomes, for two sets of answers: all answers that were due (`due`), and the
/// answers that arrived (`answered`).
#[derive(Clone, Copy, Debug, Default)]
pub struct NonresponseBias {
    due: (u64, f64),
    answered: (u64, f64),
}

impl NonresponseBias {
    /// Adds an answer that was due, with the outcome that it has or would have had; `answered` says
    /// whether it arrived.
    pub fn add(&mut self, outcome: f64, answered: bool) {
        self.due = (self.due.0 + 1, self.due.1 + outcome);
        if answered {
            self.answered = (self.answered.0 + 1, self.answered.1 + outcome);
        }
    }

    /// Writes the count of missing answers, their share, and the bias (undefined if no answer arrived)
    /// into the record. Writes nothing if every answer arrived.
    pub fn into_record(self, record: &mut SeriesRecord) {
        let (due, answered) = (self.due.0, self.answered.0);
        if due == answered {
            return;
        }
        record.counts.insert("answers missing".to_owned(), due - answered);
        let share = (due - answered) as f64 / due as f64;
        record.outcomes.push(SeriesOutcome::new(MISSING, share).otherwise(0.0));
        if answered == 0 {
            record.outcomes.push(SeriesOutcome::undefined(NAME));
        } else {
            let value = self.answered.1 / answered as f64 - self.due.1 / due as f64;
            record.outcomes.push(SeriesOutcome::new(NAME, value).otherwise(0.0));
        }
    }
}
