//! The accuracy, on held-out records, of one-against-rest logistic regression with three hyperparameters.

use super::axis::Axis;
use super::data::AgentRecords;
use super::unfitted::FitError;
use crate::gp::dot;
use crate::objectives::tuning::{Records, Training, train_at_most};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Logistic regression, with three hyperparameters. Features are standardised with the training records' means and standard
/// deviations, then divided by the largest norm in training.
///
/// Example: `LogisticRegression(lambda: Axis(low: 0.01, high: 1, values: 3), steps: Axis(low: 1, high: 4, values:
/// 2), intercept: Axis(low: 0.1, high: 1, values: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogisticRegression {
    /// L2 regularisation: mean loss + lambda/2 times the squared norm of the weights.
    pub lambda: Axis,
    /// Number of L-BFGS steps after which training ends; values are rounded.
    pub steps: Axis,
    /// Value of the constant feature that acts as the intercept; the larger it is, the less the intercept is
    /// regularised.
    pub intercept: Axis,
}

/// Features standardised with the training records' means and standard deviations, then divided by the largest norm in
/// training, so that lambda means the same for every agent.
fn scaled(records: &AgentRecords) -> Vec<Vec<f64>> {
    let training = records.places(true);
    let count = training.len().max(1) as f64;
    let mut rows: Vec<Vec<f64>> =
        (0..records.classes.len()).map(|index| records.row(index).to_vec()).collect();
    for column in 0..records.d {
        let cells = || training.iter().map(|&index| records.row(index)[column]);
        let mean = cells().sum::<f64>() / count;
        let sd = (cells().map(|cell| (cell - mean) * (cell - mean)).sum::<f64>() / count).sqrt();
        // A feature that is constant in training carries no information.
        let factor = if sd > 0.0 { 1.0 / sd } else { 0.0 };
        rows.iter_mut().for_each(|row| row[column] = (row[column] - mean) * factor);
    }
    let longest = training.iter().map(|&index| dot(&rows[index], &rows[index]).sqrt()).fold(0.0, f64::max);
    let factor = if longest > 0.0 { 1.0 / longest } else { 0.0 };
    rows.iter_mut().flatten().for_each(|cell| *cell *= factor);
    rows
}

/// The accuracy at every setting; of the axes, lambda changes slowest and the intercept fastest.
pub(super) fn accuracies(
    model: &LogisticRegression,
    records: &AgentRecords,
    classes: usize,
) -> Result<Vec<f64>, FitError> {
    let rows = scaled(records);
    let (training, held_out) = (records.places(true), records.places(false));
    let (lambdas, steps, intercepts) =
        (model.lambda.values(), model.steps.values(), model.intercept.values());
    let mut found = vec![0.0; lambdas.len() * steps.len() * intercepts.len()];
    for (i, &intercept) in intercepts.iter().enumerate() {
        let with_constant = |index: usize, sign: f64| {
            rows[index].iter().copied().chain([intercept]).map(move |cell| sign * cell)
        };
        for (l, &lambda) in lambdas.iter().enumerate() {
            // Weights by number of steps, then by class.
            let mut weights: Vec<Vec<Vec<f64>>> = vec![Vec::new(); steps.len()];
            for class in 0..classes {
                let sign = |index: usize| if records.classes[index] == class { 1.0 } else { -1.0 };
                let signed = training.iter().flat_map(|&index| with_constant(index, sign(index))).collect();
                let signed = Records { d: records.d + 1, signed };
                let limits = steps.iter().map(|&steps| Axis::whole(steps));
                let path = train_at_most(&signed, Training::LogisticRegression, lambda, limits)?;
                path.into_iter().zip(&mut weights).for_each(|(trained, all)| all.push(trained));
            }
            for (s, weights) in weights.iter().enumerate() {
                let right = held_out.iter().filter(|&&index| {
                    let row: Vec<f64> = with_constant(index, 1.0).collect();
                    let scores: Vec<f64> = weights.iter().map(|class| dot(class, &row)).collect();
                    crate::gp::largest(&scores) == records.classes[index]
                });
                let share = right.count() as f64 / held_out.len().max(1) as f64;
                found[(l * steps.len() + s) * intercepts.len() + i] = share;
            }
        }
    }
    Ok(found)
}
