//! The function of one agent or cohort, round by round.

use std::sync::Arc;

/// The function of one agent: its values at every point in round 0, 1, ..; a single entry if it does not change.
#[derive(Debug)]
pub(in crate::protocols) struct OwnFunction {
    by_round: Vec<Arc<Vec<f64>>>,
    /// The largest value in each of these rounds among the points that the agent can measure.
    best: Vec<f64>,
}

impl OwnFunction {
    /// A function with these values in round 0, 1, ..; in later rounds it is as in the last one. `points` says for each point
    /// whether the agent can measure it, if it cannot measure all.
    pub(in crate::protocols) fn new(by_round: Vec<Arc<Vec<f64>>>, points: Option<&[bool]>) -> Self {
        let can = |point: usize| points.is_none_or(|points| points[point]);
        let most = |values: &Arc<Vec<f64>>| {
            let own = values.iter().enumerate().filter(|(point, _)| can(*point));
            own.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
        };
        let best = by_round.iter().map(most).collect();
        Self { by_round, best }
    }

    /// A function that does not change.
    pub(in crate::protocols) fn constant(values: Arc<Vec<f64>>) -> Self {
        Self::new(vec![values], None)
    }

    fn place(&self, round: u64) -> usize {
        (round as usize).min(self.by_round.len() - 1)
    }

    /// The values in a round.
    pub(in crate::protocols) fn at(&self, round: u64) -> &Arc<Vec<f64>> {
        &self.by_round[self.place(round)]
    }

    /// The values in round 0, 1, ..; a single entry if it does not change.
    pub(in crate::protocols) fn rounds(&self) -> &[Arc<Vec<f64>>] {
        &self.by_round
    }

    /// The largest value in a round among the points that the agent can measure.
    pub(in crate::protocols) fn best(&self, round: u64) -> f64 {
        self.best[self.place(round)]
    }

    /// Whether it changes from round to round.
    pub(in crate::protocols) fn drifts(&self) -> bool {
        self.by_round.len() > 1
    }
}
