//! The accuracy, on held-out records, of one-against-rest logistic regression with three hyperparameters.

use super::axis::Axis;
use super::data::AgentRecords;
use super::unfitted::FitError;
use crate::gp::dot;
use crate::objectives::scaling::scales;
use crate::objectives::tuning::{Records, Training, train_at_most};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Logistic regression, with three hyperparameters. Features are standardised with the training records' means and standard
/// deviations, then divided by the largest norm of a standardised training record.
///
/// Example: `LogisticRegression(lambda: Axis(low: 0.01, high: 1, values: 3), steps: Axis(low: 1, high: 4, values:
/// 2), intercept: Axis(low: 0.1, high: 1, values: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogisticRegression {
    /// L2 regularisation: training minimises the mean loss plus lambda/2 times the squared norm of the weights.
    pub lambda: Axis,
    /// Number of L-BFGS steps after which training ends, if it has not converged before; values are rounded.
    pub steps: Axis,
    /// Value of the constant feature that acts as the intercept; the larger it is, the less the intercept is
    /// regularised.
    pub intercept: Axis,
}

/// Features standardised with the training records' means and standard deviations, then divided by the largest norm of a
/// standardised training record, so that lambda means the same for every agent.
fn scaled(records: &AgentRecords) -> Vec<Vec<f64>> {
    let training = records.places(true);
    let mut rows: Vec<Vec<f64>> =
        (0..records.classes.len()).map(|index| records.row(index).to_vec()).collect();
    let scales = scales(records.d, &training, |index| records.row(index));
    for row in &mut rows {
        row.iter_mut().zip(&scales).for_each(|(cell, (centre, factor))| *cell = (*cell - centre) * factor);
    }
    let longest = training.iter().map(|&index| dot(&rows[index], &rows[index]).sqrt()).fold(0.0, f64::max);
    let factor = if longest > 0.0 { 1.0 / longest } else { 0.0 };
    rows.iter_mut().flatten().for_each(|cell| *cell *= factor);
    rows
}

/// The accuracies at all settings, in the order in which lambda changes slowest and the intercept fastest.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_is_constant_in_training_is_left_out() {
        let features = (0..11).flat_map(|i| [f64::from(i), if i < 10 { 0.1 } else { 0.2 }]).collect();
        let training = (0..11).map(|i| i < 10).collect();
        let (name, classes) = ("a".to_owned(), (0..11).map(|i| i % 2).collect());
        let rows = scaled(&AgentRecords { name, d: 2, features, classes, training });
        assert!(rows.iter().all(|row| row[1] == 0.0), "{rows:?}");
    }
}
