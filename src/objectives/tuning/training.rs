//! Training a linear model: L-BFGS on a smooth convex objective, by the `argmin` library.

use super::hinge;
use super::loss::Training;
use super::records::Records;
use super::untrained::TrainingError;
use crate::gp::dot;
use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::sync::atomic::{AtomicU64, Ordering};

struct Objective<'a> {
    records: &'a Records,
    loss: Training,
    lambda: f64,
    /// Number of evaluations of the cost that are left.
    left: AtomicU64,
}

impl<'a> Objective<'a> {
    fn new(records: &'a Records, loss: Training, lambda: f64, evaluations: u64) -> Self {
        Self { records, loss, lambda, left: AtomicU64::new(evaluations) }
    }
}

/// Largest average number of evaluations of the cost per step. Without this limit, a line search of the library might
/// never end: with few records, a line search that begins near the optimum may find no step.
const EVALUATIONS_PER_STEP: u64 = 1000;

impl CostFunction for Objective<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, weights: &Vec<f64>) -> Result<f64, Error> {
        let spend = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            return Err(Error::msg("the line search does not end"));
        }
        let total: f64 = self.records.margins(weights).map(|z| self.loss.at(z).0).sum();
        Ok(total / self.records.len() as f64 + 0.5 * self.lambda * dot(weights, weights))
    }
}

impl Gradient for Objective<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, weights: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut gradient: Vec<f64> = weights.iter().map(|w| self.lambda * w).collect();
        let share = 1.0 / self.records.len() as f64;
        for row in self.records.signed.chunks(self.records.d) {
            let slope = share * self.loss.at(dot(row, weights)).1;
            gradient.iter_mut().zip(row).for_each(|(sum, x)| *sum += slope * x);
        }
        Ok(gradient)
    }
}

/// Number of past steps that L-BFGS stores, each with the change of the gradient along it.
const MEMORY: usize = 10;
/// Largest number of steps; a few dozen are usual.
const MAX_STEPS: u64 = 1000;
/// Training ends when the norm of the gradient, divided by lambda, is at most this number. The distance to the best weights
/// is then at most this number too, because the objective is strongly convex with constant lambda.
const TOLERANCE: f64 = 1e-6;

/// The weights that minimise mean loss + lambda/2 |w|^2.
///
/// # Errors
/// [`TrainingError`] if the library fails or returns no weights, or if the weights may be further from the best ones than
/// [`TOLERANCE`] times 1,000.
pub(super) fn train(records: &Records, loss: Training, lambda: f64) -> Result<Vec<f64>, TrainingError> {
    if loss == Training::HingeSvm {
        // L-BFGS needs a differentiable loss; the hinge loss has a kink at margin 1, which many records have at the optimum.
        return hinge::train(records, lambda);
    }
    let failed = |error: Error| TrainingError::Failed { lambda, reason: error.to_string() };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(TOLERANCE * lambda)
        .and_then(|solver| solver.with_tolerance_cost(0.0))
        .map_err(failed)?;
    let evaluations = EVALUATIONS_PER_STEP * MAX_STEPS;
    let objective = Objective::new(records, loss, lambda, evaluations);
    let result = Executor::new(objective, solver)
        .configure(|state| state.param(vec![0.0; records.d]).max_iters(MAX_STEPS))
        .timer(false)
        .run();
    let objective = Objective::new(records, loss, lambda, evaluations);
    // An error of the solver or of its line search is returned. Otherwise the bound on the distance to the best weights
    // decides whether the weights are returned.
    let weights = match &result {
        Ok(result) => result.state().get_best_param().cloned(),
        Err(_) => None,
    };
    let weights = match (weights, result) {
        (Some(weights), _) => weights,
        (None, Err(error)) => return Err(failed(error)),
        (None, Ok(_)) => return Err(TrainingError::NoWeights { lambda }),
    };
    let gradient = objective.gradient(&weights).map_err(failed)?;
    let distance = dot(&gradient, &gradient).sqrt() / lambda;
    if distance <= 1000.0 * TOLERANCE {
        return Ok(weights);
    }
    Err(TrainingError::TooFar { lambda, distance, accepted: 1000.0 * TOLERANCE })
}

/// The weights after a limited number of L-BFGS steps from zero, for the problem of [`train`]: one vector for each of
/// `limits`, which must ascend.
///
/// # Errors
/// [`TrainingError`] if the optimiser cannot be set up, or ends without weights.
pub(in crate::objectives) fn train_at_most(
    records: &Records,
    loss: Training,
    lambda: f64,
    limits: impl Iterator<Item = u64>,
) -> Result<Vec<Vec<f64>>, TrainingError> {
    let failed = |error: Error| TrainingError::Failed { lambda, reason: error.to_string() };
    let mut path: Vec<Vec<f64>> = Vec::new();
    for limit in limits {
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(TOLERANCE * lambda)
            .and_then(|solver| solver.with_tolerance_cost(0.0))
            .map_err(failed)?;
        let result =
            Executor::new(Objective::new(records, loss, lambda, EVALUATIONS_PER_STEP * limit), solver)
                .configure(|state| state.param(vec![0.0; records.d]).max_iters(limit))
                .timer(false)
                .run();
        // A line search that finds no better weights ends with an error. After this or any other error of the solver, the
        // weights for the previous limit are used.
        match (result, path.last()) {
            (Ok(result), _) => {
                let weights = result.state().get_best_param().cloned();
                path.push(weights.ok_or(TrainingError::NoWeights { lambda })?);
            }
            (Err(_), Some(last)) => path.push(last.clone()),
            // There is no previous limit: the weights before the first step are used.
            (Err(_), None) => path.push(vec![0.0; records.d]),
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn records() -> Records {
        let mut stream = Key::root(4).stream();
        let mut signed = Vec::new();
        for _ in 0..200 {
            let (a, b) = (stream.uniform_between(-0.6, 0.6), stream.uniform_between(-0.6, 0.6));
            let label = if stream.bernoulli(1.0 / (1.0 + libm::exp(-4.0 * a))) { 1.0 } else { -1.0 };
            signed.extend([label * a, label * b, label * 0.5]);
        }
        Records { d: 3, signed }
    }

    #[test]
    fn trained_weights_are_stationary_and_bounded() {
        let records = records();
        for loss in [Training::LogisticRegression, Training::SmoothedHingeSvm] {
            for lambda in [1e-3, 0.03, 1.0, 30.0] {
                let weights = train(&records, loss, lambda).unwrap();
                let gradient = Objective::new(&records, loss, lambda, u64::MAX).gradient(&weights).unwrap();
                assert!(dot(&gradient, &gradient).sqrt() <= 1e-3 * lambda);
                assert!(dot(&weights, &weights).sqrt() <= 1.0 / lambda);
                // A step along any axis does not lower the objective.
                let objective = Objective::new(&records, loss, lambda, u64::MAX);
                let best = objective.cost(&weights).unwrap();
                for axis in 0..3 {
                    for step in [-0.01, 0.01] {
                        let mut other = weights.clone();
                        other[axis] += step;
                        assert!(objective.cost(&other).unwrap() > best);
                    }
                }
            }
        }
    }

    #[test]
    fn more_steps_come_closer_and_end_where_training_does() {
        let records = records();
        let loss = Training::LogisticRegression;
        let best = train(&records, loss, 0.01).unwrap();
        let path = train_at_most(&records, loss, 0.01, [1, 2, 4, 500].into_iter()).unwrap();
        let objective = Objective::new(&records, loss, 0.01, u64::MAX);
        let costs: Vec<f64> = path.iter().map(|weights| objective.cost(weights).unwrap()).collect();
        assert!(costs[0] > costs[1] && costs[1] > costs[2], "{costs:?}");
        assert!(path[3].iter().zip(&best).all(|(a, b)| (a - b).abs() < 1e-3), "{path:?} {best:?}");
    }

    /// One record with x = y = 1: the minimiser of (1 - w)^2 / 2 + lambda w^2 / 2 is 1 / (1 + lambda).
    #[test]
    fn one_record_has_its_closed_form() {
        let records = Records { d: 1, signed: vec![1.0] };
        let weights = train(&records, Training::SmoothedHingeSvm, 2.0).unwrap();
        assert!((weights[0] - 1.0 / 3.0).abs() < 1e-6, "{weights:?}");
    }
}
