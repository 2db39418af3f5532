//! The function of one agent or cohort, round by round.

use crate::objectives::{Continuum, PointFunction};
use std::sync::Arc;

/// The function of one agent: for each round, from round 0, a list of the function's values at all points; a single list if
/// the function does not change. On a box, the list has the values at a sample of points, from which differences between
/// agents are measured.
#[derive(Debug)]
pub(in crate::protocols) struct OwnFunction {
    continuum: Option<Continuum>,
    by_round: Vec<Arc<Vec<f64>>>,
    /// For each list of `by_round`, the largest value among the points that the agent can measure; on a box, the largest
    /// value on the box.
    best: Vec<f64>,
}

impl OwnFunction {
    /// A function with these values in round 0, 1, ..; in all later rounds, the function is as in the last of these rounds.
    /// `points` says for each point whether the agent can measure it; `None` if the agent can
    /// measure all points.
    pub(in crate::protocols) fn new(by_round: Vec<Arc<Vec<f64>>>, points: Option<&[bool]>) -> Self {
        let can = |point: usize| points.is_none_or(|points| points[point]);
        let most = |values: &Arc<Vec<f64>>| {
            let own = values.iter().enumerate().filter(|(point, _)| can(*point));
            own.map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
        };
        let best = by_round.iter().map(most).collect();
        Self { by_round, best, continuum: None }
    }

    /// A function that does not change.
    pub(in crate::protocols) fn constant(values: Arc<Vec<f64>>) -> Self {
        Self::new(vec![values], None)
    }

    /// A function on a box, with its values at the points of a sample.
    pub(in crate::protocols) fn on_box(continuum: Continuum, sample: Arc<Vec<f64>>) -> Self {
        let best = vec![continuum.best];
        Self { by_round: vec![sample], best, continuum: Some(continuum) }
    }

    /// The value at a point of the box, whose coordinates are in the units of the inputs; NaN if the function is not defined
    /// on a box.
    pub(in crate::protocols) fn at_point(&self, point: &[f64]) -> f64 {
        self.continuum.as_ref().map_or(f64::NAN, |continuum| continuum.function.at(point))
    }

    fn place(&self, round: u64) -> usize {
        (round as usize).min(self.by_round.len() - 1)
    }

    /// The values in a round.
    pub(in crate::protocols) fn at(&self, round: u64) -> &Arc<Vec<f64>> {
        &self.by_round[self.place(round)]
    }

    /// The lists of values in round 0, 1, ..; a single list if the function does not change.
    pub(in crate::protocols) fn rounds(&self) -> &[Arc<Vec<f64>>] {
        &self.by_round
    }

    /// The largest value in a round among the points that the agent can measure; on a box, the largest value on the box.
    pub(in crate::protocols) fn best(&self, round: u64) -> f64 {
        self.best[self.place(round)]
    }

    /// Whether the function changes from round to round.
    pub(in crate::protocols) fn drifts(&self) -> bool {
        self.by_round.len() > 1
    }
}

/// The function of an agent on a box: mean + scale (f(x - shift) - mean).
#[derive(Debug)]
struct Moved {
    function: Arc<dyn PointFunction>,
    /// The shift along each input, in the units of the inputs; empty if there is no shift.
    shift: Vec<f64>,
    scale: f64,
    mean: f64,
}

impl PointFunction for Moved {
    fn at(&self, point: &[f64]) -> f64 {
        let value = if self.shift.is_empty() {
            self.function.at(point)
        } else {
            let moved: Vec<f64> = point.iter().zip(&self.shift).map(|(x, s)| x - s).collect();
            self.function.at(&moved)
        };
        self.mean + self.scale * (value - self.mean)
    }
}

/// The function mean + scale (f(x - shift) - mean) on the same box, where f is `continuum` and `shift` is in units of the
/// box's sides (empty: none). After the shift, a point at which f is largest must still be in the box. f must have no larger
/// value beyond the box, and `scale` must be above 0. Then the largest value of the result is
/// mean + scale (largest value of f - mean).
pub(super) fn moved(continuum: &Continuum, shift: &[f64], scale: f64, mean: f64) -> Continuum {
    if shift.is_empty() && scale == 1.0 {
        return continuum.clone();
    }
    let sides = continuum.domain.sides().iter();
    let shift = shift.iter().zip(sides).map(|(share, (low, high))| share * (high - low)).collect();
    let function = Arc::clone(&continuum.function);
    Continuum {
        domain: continuum.domain.clone(),
        function: Arc::new(Moved { function, shift, scale, mean }),
        best: mean + scale * (continuum.best - mean),
        best_is_known: continuum.best_is_known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::{Objective, Resources, TestFunction};
    use crate::rng::Key;

    /// The best points of Branin's function are moved by a tenth of each side (1.5), up in the first input and down in the
    /// second. The distance of the function's largest value from the mean of -50 is doubled.
    #[test]
    fn a_shifted_and_scaled_function_has_its_largest_value_where_it_is_said_to_be() {
        let objective: TestFunction = crate::scenario::part("TestFunction(function: Branin)").unwrap();
        let prepared = objective.prepare(&Resources::default(), None, Key::root(1)).unwrap();
        let instance = prepared.realise(Key::root(1)).unwrap();
        let continuum = instance.continuum().unwrap();
        let own = moved(continuum, &[0.1, -0.1], 2.0, -50.0);
        let best = std::f64::consts::PI + 1.5;
        assert!((own.function.at(&[best, 2.275 - 1.5]) - own.best).abs() < 1e-12);
        assert!((own.best - (-50.0 + 2.0 * (continuum.best + 50.0))).abs() < 1e-12);
        for unit in crate::rng::sobol::points(4096, 2, Key::root(2)) {
            assert!(own.function.at(&own.domain.from_unit(&unit)) < own.best);
        }
    }
}
