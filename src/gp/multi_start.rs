//! The maximum of a smooth function of a few parameters within bounds, by L-BFGS from several starting points.
//!
//! L-BFGS searches over free (unbounded) parameters. The sigmoid of a free parameter, scaled to the bounds, is a parameter
//! of the function, so no step leaves the bounds; a parameter whose best value is at a bound only approaches the bound.

use crate::rng::Stream;
use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::RefCell;

/// Settings of a search for a maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiStart<'a> {
    /// Lowest and highest value of each parameter.
    pub(crate) bounds: &'a [(f64, f64)],
    /// Number of starting points; the first is given by the caller, the others are drawn between the bounds.
    pub(crate) starts: usize,
    /// The unit in which the function's values are measured. The first step is the gradient in this unit, so a
    /// larger unit keeps a search nearer to its starting point.
    pub(crate) unit: f64,
}

/// The best point of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Maximum {
    pub(crate) at: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
}

/// Number of past steps that L-BFGS stores, each with the change of the gradient along it.
const MEMORY: usize = 10;
/// Largest number of steps per starting point; a search typically takes roughly thirty steps.
const MAX_STEPS: u64 = 100;
/// A search ends when the norm of the gradient with respect to the free parameters, in the search's unit, is below this.
const LEVEL: f64 = 1e-7;
/// Smallest distance of a starting point from a bound, as a share of the distance between the bounds: at a bound the
/// sigmoid is flat.
const MARGIN: f64 = 1e-3;

impl MultiStart<'_> {
    /// The best point of all searches; `None` if no search found a value. `function` returns its value and gradient, or
    /// `None` at a point where it has no value; a search that reaches such a point ends. `first` is the first starting
    /// point.
    pub(crate) fn maximum(
        self,
        first: &[f64],
        stream: &mut Stream,
        function: impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    ) -> Option<Maximum> {
        let mut best: Option<Maximum> = None;
        for start in 0..self.starts {
            let from: Vec<f64> = if start == 0 {
                first.to_vec()
            } else {
                self.bounds.iter().map(|&(low, high)| stream.uniform_between(low, high)).collect()
            };
            let found = self.search_from(&from, &function);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.value > best.value)
            {
                best = Some(found);
            }
        }
        best
    }

    /// The best point of a search from one starting point; `None` if the search found no value.
    fn search_from(
        &self,
        from: &[f64],
        function: &impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
    ) -> Option<Maximum> {
        let free = from.iter().zip(self.bounds).map(|(&at, &(low, high))| {
            let share = ((at - low) / (high - low)).clamp(MARGIN, 1.0 - MARGIN);
            libm::log(share / (1.0 - share))
        });
        let free: Vec<f64> = free.collect();
        let seen = RefCell::default();
        let slope = Cost { search: self, function, seen: &seen };
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(LEVEL)
            .and_then(|solver| solver.with_tolerance_cost(0.0));
        if let Ok(solver) = solver {
            let search = Executor::new(slope, solver)
                .configure(|state| state.param(free).max_iters(MAX_STEPS))
                .timer(false);
            // A line search that finds no better point returns an error; the best point so far is the result.
            let _ = search.run();
        }
        seen.into_inner().best
    }
}

/// The best and the last of the points that a search has evaluated.
#[derive(Default)]
struct Evaluated {
    best: Option<Maximum>,
    /// The free parameters of the last point, and the gradient of the cost there.
    last: Option<(Vec<f64>, Vec<f64>)>,
}

/// The cost that L-BFGS minimises, as a function of the free parameters: the negated function divided by the unit.
struct Cost<'a, F> {
    search: &'a MultiStart<'a>,
    function: &'a F,
    seen: &'a RefCell<Evaluated>,
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> Cost<'_, F> {
    /// Evaluates the cost and stores its gradient, because a line search requests both at the same point.
    fn evaluate(&self, free: &[f64]) -> Result<f64, Error> {
        let bounds = self.search.bounds;
        let shares: Vec<f64> = free.iter().map(|&z| 1.0 / (1.0 + libm::exp(-z))).collect();
        let at: Vec<f64> = shares.iter().zip(bounds).map(|(s, (low, high))| low + s * (high - low)).collect();
        let (value, gradient) = (self.function)(&at).ok_or_else(|| Error::msg("no value here"))?;
        let chain = gradient.iter().zip(&shares).zip(bounds);
        let slopes = chain.map(|((g, s), (low, high))| -g * s * (1.0 - s) * (high - low) / self.search.unit);
        let mut seen = self.seen.borrow_mut();
        seen.last = Some((free.to_vec(), slopes.collect()));
        if seen.best.as_ref().is_none_or(|best| value > best.value) {
            seen.best = Some(Maximum { at, value, gradient });
        }
        Ok(-value / self.search.unit)
    }
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> CostFunction for Cost<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, free: &Vec<f64>) -> Result<f64, Error> {
        self.evaluate(free)
    }
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> Gradient for Cost<'_, F> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, free: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let known = |seen: &Evaluated| {
            let (at, slopes) = seen.last.as_ref()?;
            (at == free).then(|| slopes.clone())
        };
        if let Some(slopes) = known(&self.seen.borrow()) {
            return Ok(slopes);
        }
        self.evaluate(free)?;
        known(&self.seen.borrow()).ok_or_else(|| Error::msg("a parameter that is not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn the_higher_of_two_hills_is_found_from_several_starts() {
        // A hill of height 1 at 0 and one of height 2 at 4, both of width 1 / sqrt 2, so far apart
        // that they do not overlap.
        let hill = |x: f64, height: f64, top: f64| {
            let value = height * libm::exp(-(x - top) * (x - top));
            (value, -2.0 * (x - top) * value)
        };
        let function = |at: &[f64]| {
            let ((a, da), (b, db)) = (hill(at[0], 1.0, 0.0), hill(at[0], 2.0, 4.0));
            Some((a + b, vec![da + db]))
        };
        let bounds = [(-3.0, 7.0)];
        let one = MultiStart { bounds: &bounds, starts: 1, unit: 1.0 };
        let near = one.maximum(&[0.4], &mut Key::root(1).stream(), function).unwrap();
        assert!(near.at[0].abs() < 1e-4 && (near.value - 1.0).abs() < 1e-6, "{near:?}");
        let several = MultiStart { starts: 8, ..one };
        let far = several.maximum(&[0.4], &mut Key::root(1).stream(), function).unwrap();
        assert!((far.at[0] - 4.0).abs() < 1e-4 && (far.value - 2.0).abs() < 1e-6, "{far:?}");
        assert!(far.gradient[0].abs() < 1e-4, "{far:?}");
    }

    #[test]
    fn a_maximum_at_a_bound_is_approached_and_points_without_a_value_are_left_out() {
        let bounds = [(0.0, 1.0), (0.0, 1.0)];
        let search = MultiStart { bounds: &bounds, starts: 3, unit: 1.0 };
        let plane = |at: &[f64]| Some((at[0] - 2.0 * at[1], vec![1.0, -2.0]));
        let corner = search.maximum(&[0.5, 0.5], &mut Key::root(2).stream(), plane).unwrap();
        assert!(corner.at[0] > 0.999 && corner.at[1] < 1e-3, "{corner:?}");
        let nowhere = |_: &[f64]| None;
        assert_eq!(search.maximum(&[0.5, 0.5], &mut Key::root(2).stream(), nowhere), None);
        // The function has no value where the first parameter is 0.6 or more; a search that gets there ends with its best
        // point so far.
        let half = |at: &[f64]| (at[0] < 0.6).then(|| (at[0], vec![1.0, 0.0]));
        let found = search.maximum(&[0.5, 0.5], &mut Key::root(2).stream(), half).unwrap();
        assert!((0.5..0.6).contains(&found.at[0]), "{found:?}");
    }
}
