//! Regret, updated after each evaluation.

use super::one_arm::QueriedArms;
use super::{Iteration, QueriedInputs, SeriesOutcome, SeriesRecord};
use crate::objectives::Instance;
use crate::vocab::Time;
use std::collections::BTreeMap;

/// Regret of one learner so far.
#[derive(Clone, Copy, Debug)]
pub struct Regret {
    /// Largest value of the objective.
    best: f64,
    /// `best` minus the largest value evaluated so far, initial points included; infinite before the first evaluation.
    pub simple: f64,
    /// Sum, over the rounds of the learner so far, of the difference between `best` and the value in the round.
    pub cumulative: f64,
}

impl Regret {
    /// The regret before any evaluation of an objective whose largest value is `best`.
    #[must_use]
    pub fn new(best: f64) -> Self {
        Self { best, simple: f64::INFINITY, cumulative: 0.0 }
    }

    /// Adds an evaluation in round `t` (0 for an initial point). `value` is the objective's value at the evaluated arm or
    /// point, without noise.
    pub fn evaluated(&mut self, t: u64, value: f64) {
        let regret = self.best - value;
        self.simple = self.simple.min(regret);
        if t > 0 {
            self.cumulative += regret;
        }
    }
}

/// Evaluations of one learner, with its regret after each evaluation.
#[derive(Debug)]
pub struct Evaluations<'a> {
    instance: &'a Instance,
    regret: Regret,
    /// A round is stored if its number is a multiple of this number. The first and the last round are stored too.
    stride: u64,
    /// The last round.
    last: u64,
    kept: Vec<Iteration>,
    /// Rounds of the learner so far.
    questions: u64,
    queried: QueriedArms,
    /// The points of a box that were stored, by number.
    points: BTreeMap<u64, Vec<f64>>,
}

impl<'a> Evaluations<'a> {
    /// No evaluations yet; all will be stored.
    #[must_use]
    pub fn new(instance: &'a Instance) -> Self {
        Self {
            instance,
            regret: Regret::new(instance.best()),
            stride: 1,
            last: 0,
            kept: Vec::new(),
            questions: 0,
            queried: QueriedArms::default(),
            points: BTreeMap::new(),
        }
    }

    /// Of `rounds` rounds, stores at most `most` that are evenly spaced, and in addition the first and the last round.
    /// All initial points are stored.
    #[must_use]
    pub fn with_round_limit(self, rounds: u64, most: u64) -> Self {
        Self { stride: rounds.div_ceil(most).max(1), last: rounds, ..self }
    }

    /// Whether a round will be stored.
    #[must_use]
    pub const fn keeps(&self, t: u64) -> bool {
        t.is_multiple_of(self.stride) || t == 1 || t == self.last
    }

    /// Adds the outcome of an arm in round `t` (at least 1). This method takes the place of `add` where the evaluated
    /// function is not the instance's. `value` is the arm's value without noise. `regret` holds the simple and the
    /// cumulative regret after this outcome.
    pub fn add_known(&mut self, t: u64, (arm, value): (u64, f64), outcome: f64, regret: [f64; 2], at: Time) {
        self.questions += 1;
        self.queried.add(t, arm as usize);
        if self.keeps(t) {
            let [simple_regret, cumulative_regret] = regret;
            let seconds = at.seconds();
            self.kept.push(Iteration { t, arm, outcome, value, simple_regret, cumulative_regret, seconds });
        }
    }

    /// Adds the outcome of an arm in round `t` (0 for an initial point); returns the objective's noise-free value at the
    /// arm.
    pub fn add(&mut self, t: u64, arm: u64, outcome: f64, at: Time) -> f64 {
        let value = self.instance.values[arm as usize];
        self.regret.evaluated(t, value);
        self.questions += u64::from(t > 0);
        self.queried.add(t, arm as usize);
        if self.keeps(t) {
            self.kept.push(Iteration {
                t,
                arm,
                outcome,
                value,
                simple_regret: self.regret.simple,
                cumulative_regret: self.regret.cumulative,
                seconds: at.seconds(),
            });
        }
        value
    }

    /// Adds the outcome at a point of a box in round `t` (0 for an initial point). `arm` is the number of the point, and
    /// `value` is the objective's noise-free value at this point.
    pub fn add_point(&mut self, t: u64, (arm, point): (u64, &[f64]), (value, outcome): (f64, f64), at: Time) {
        self.regret.evaluated(t, value);
        self.questions += u64::from(t > 0);
        if self.keeps(t) {
            self.points.insert(arm, point.to_vec());
            let (simple_regret, cumulative_regret) = (self.regret.simple, self.regret.cumulative);
            let seconds = at.seconds();
            self.kept.push(Iteration { t, arm, outcome, value, simple_regret, cumulative_regret, seconds });
        }
    }

    /// Writes into the record the stored evaluations in order, the number of queries (initial points not counted), and the
    /// inputs of the stored queries. Also writes a finding if the learner never left one arm although the model knew next to
    /// nothing about the other arms.
    pub fn into_record(self, record: &mut SeriesRecord) {
        record.questions = Some(self.questions as f64);
        record.one_arm = self.queried.one_arm(self.instance);
        record.inputs = match self.instance.continuum() {
            Some(continuum) => QueriedInputs::of_points(&continuum.domain.columns(), self.points),
            None => QueriedInputs::of(self.instance, &self.kept),
        };
        record.iterations = self.kept;
    }
}

/// The name of the [`SeriesOutcome`] with the value that regret is measured against, if the objective's largest value
/// is not known.
const BEST_FOUND: &str = "best value found by any series, which regret is measured against";

/// Corrects the regrets of all series of a replication. Before this correction, the regrets are computed as if the
/// objective's largest value were 0; after it, they are regrets against the largest value that any series has found.
/// Evaluations must be numbered from 1, without initial points.
pub fn against_best_found(records: &mut [SeriesRecord]) {
    // The simple regrets were computed against 0, so the negative of a simple regret is the best value so far. This value
    // may have been found in a round that is not stored.
    let found = records.iter().flat_map(|record| &record.iterations).map(|one| -one.simple_regret);
    let Some(best) = found.reduce(f64::max) else { return };
    for record in records {
        for one in &mut record.iterations {
            one.simple_regret += best;
            one.cumulative_regret += best * one.t as f64;
        }
        record.outcomes.push(SeriesOutcome::new(BEST_FOUND, best));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round 2, which is not stored, has the best value of all series, 5.
    #[test]
    fn the_best_value_found_may_be_in_a_round_that_is_not_stored() {
        let mut regret = Regret::new(0.0);
        let mut iteration = |t: u64, value: f64| {
            regret.evaluated(t, value);
            let (simple_regret, cumulative_regret) = (regret.simple, regret.cumulative);
            Iteration { t, arm: t, outcome: value, value, simple_regret, cumulative_regret, seconds: 0.0 }
        };
        let [first, _, third] = [iteration(1, 1.0), iteration(2, 5.0), iteration(3, 2.0)];
        let mut records = [
            SeriesRecord { iterations: vec![first, third], ..SeriesRecord::empty("a") },
            SeriesRecord::empty("b"),
        ];
        against_best_found(&mut records);
        let regrets = |one: &Iteration| [one.simple_regret, one.cumulative_regret];
        let found: Vec<[f64; 2]> = records[0].iterations.iter().map(regrets).collect();
        assert_eq!(found, [[4.0, 4.0], [0.0, 7.0]]);
    }
}
