//! The model whose hyperparameters agents tune, its settings, and its performance at each setting.

use super::axis::Axis;
use super::data::AgentRecords;
use super::logistic::{LogisticRegression, accuracies};
use super::support_vectors::{RbfSvm, Score, scores};
use super::unfitted::FitError;
use crate::gp::Points;
use crate::objectives::instance::UnscaledInputs;
use crate::objectives::scaling::combinations;
use crate::rng::Key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model whose hyperparameters the agents tune.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum FederatedModel {
    /// Logistic regression of each class against the rest, trained by L-BFGS; the performance is the accuracy.
    LogisticRegression(LogisticRegression),
    /// Support vector machine with kernel exp(-gamma |x - y|^2) for two classes; the performance is the area under the ROC
    /// curve, with the last class in alphabetical order as the positive class.
    RbfSvm(RbfSvm),
}

impl FederatedModel {
    pub(super) fn axes(&self) -> Vec<(&'static str, &Axis)> {
        match self {
            Self::LogisticRegression(model) => vec![
                ("LogisticRegression.lambda", &model.lambda),
                ("LogisticRegression.steps", &model.steps),
                ("LogisticRegression.intercept", &model.intercept),
            ],
            Self::RbfSvm(model) => vec![("RbfSvm.c", &model.c), ("RbfSvm.gamma", &model.gamma)],
        }
    }

    /// For every setting, the last axis changing fastest, a list of performances: one performance, or, if a measurement is
    /// random, several equally likely ones.
    pub(super) fn performances(
        &self,
        records: &AgentRecords,
        classes: usize,
        key: &Key,
    ) -> Result<Vec<Vec<f64>>, FitError> {
        match self {
            Self::LogisticRegression(model) => {
                let accuracies = accuracies(model, records, classes)?;
                Ok(accuracies.into_iter().map(|accuracy| vec![accuracy]).collect())
            }
            Self::RbfSvm(model) => scores(model, records, key),
        }
    }

    /// Whether a measurement is random even if the scenario adds no noise.
    pub(super) fn is_random(&self) -> bool {
        matches!(self, Self::RbfSvm(model) if model.score != Score::Area)
    }

    /// The settings as points of the unit cube, row-major, the last axis changing fastest.
    pub(super) fn points(&self) -> Points {
        let places: Vec<Vec<f64>> = self.axes().iter().map(|(_, axis)| axis.places()).collect();
        let n = places.iter().map(Vec::len).product();
        Points::new(n, places.len(), combinations(&places))
    }

    /// The settings as values of the hyperparameters, in the order of `points`.
    pub(super) fn settings(&self) -> UnscaledInputs {
        let (names, values): (Vec<&str>, Vec<Vec<f64>>) = match self {
            Self::LogisticRegression(model) => {
                let steps = model.steps.values().into_iter().map(|steps| Axis::whole(steps) as f64).collect();
                (
                    vec!["lambda", "steps", "intercept"],
                    vec![model.lambda.values(), steps, model.intercept.values()],
                )
            }
            Self::RbfSvm(model) => (vec!["C", "gamma"], vec![model.c.values(), model.gamma.values()]),
        };
        let names = names.into_iter().map(str::to_owned).collect();
        UnscaledInputs { names, rows: combinations(&values) }
    }
}
