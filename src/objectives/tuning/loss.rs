//! Losses as functions of the margin z = y w.x: three for training, two for validation.

use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The loss with which a model is trained, a function of the margin z = y w.x of a record with features x and label y, 1 or
/// -1, for weights w. Training minimises the mean loss plus lambda/2 times the squared norm of w. All losses are convex and
/// 1-Lipschitz, so the minimising w has norm at most 1 / lambda for records of norm at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Training {
    /// Logistic regression: ln(1 + exp(-z)).
    LogisticRegression,
    /// Linear support vector machine with the smoothed hinge loss: 0 for z of at least 1, (1 - z)^2 / 2 for z between 0 and
    /// 1, and 1/2 - z for z below 0. Rennie and Srebro 2005.
    SmoothedHingeSvm,
    /// Linear support vector machine with the exact hinge loss: max(0, 1 - z). Cortes and Vapnik 1995; trained in the
    /// dual.
    HingeSvm,
}

impl Training {
    /// The loss at a margin, and its derivative; a subgradient if the loss is not differentiable there.
    #[must_use]
    pub fn at(self, z: f64) -> (f64, f64) {
        match self {
            Self::LogisticRegression => {
                // The argument of exp is never positive, so that exp cannot overflow.
                let e = libm::exp(-z.abs());
                let loss = libm::log1p(e) + (-z).max(0.0);
                (loss, if z >= 0.0 { -e / (1.0 + e) } else { -1.0 / (1.0 + e) })
            }
            Self::SmoothedHingeSvm | Self::HingeSvm if z >= 1.0 => (0.0, 0.0),
            Self::HingeSvm => (1.0 - z, -1.0),
            Self::SmoothedHingeSvm if z <= 0.0 => (0.5 - z, -1.0),
            Self::SmoothedHingeSvm => (0.5 * (1.0 - z) * (1.0 - z), z - 1.0),
        }
    }
}

/// The loss of a model on a validation record, a function of the record's margin z = y w.x; the model's loss is the mean
/// over the validation set. Each loss lies between 0 and 1, and has a Lipschitz constant L in z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ValidationLoss {
    /// Ramp loss: 1 - z, cut to [0, 1]. L = 1. Collobert, Sinz, Weston and Bottou 2006.
    Ramp,
    /// Normalised sigmoid: (1 - tanh(slope z)) / 2. L = slope / 2. Mason, Baxter, Bartlett and Frean 2000.
    ///
    /// Example: `Sigmoid(slope: 4)`.
    Sigmoid {
        /// Slope parameter, above 0; the larger it is, the closer the loss is to the share of wrong predictions.
        slope: Positive,
    },
}

impl ValidationLoss {
    /// Largest minus smallest loss of a record.
    pub const RANGE: f64 = 1.0;

    /// Loss at a margin.
    #[must_use]
    pub fn at(self, z: f64) -> f64 {
        match self {
            Self::Ramp => (1.0 - z).clamp(0.0, 1.0),
            Self::Sigmoid { slope } => 0.5 * (1.0 - libm::tanh(slope.get() * z)),
        }
    }

    /// L: the losses of two margins differ by at most L times the distance of the margins. For records of norm at most
    /// 1, L is a Lipschitz constant in the weights too.
    #[must_use]
    pub fn lipschitz(self) -> f64 {
        match self {
            Self::Ramp => 1.0,
            Self::Sigmoid { slope } => 0.5 * slope.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins() -> impl Iterator<Item = f64> {
        (-4000..=4000).map(|i| f64::from(i) / 500.0)
    }

    #[test]
    fn validation_losses_are_as_steep_as_stated_and_no_steeper() {
        let slopes = [0.3, 1.0, 7.0].map(|slope| Positive::new(slope).unwrap());
        let losses = slopes.map(|slope| ValidationLoss::Sigmoid { slope });
        for loss in losses.into_iter().chain([ValidationLoss::Ramp]) {
            let step = 1e-3;
            let steepest =
                margins().map(|z| (loss.at(z + step) - loss.at(z)).abs() / step).fold(0.0, f64::max);
            assert!(steepest <= loss.lipschitz() * (1.0 + 1e-9), "{loss:?}: {steepest}");
            assert!(steepest >= loss.lipschitz() * 0.999, "{loss:?}: {steepest} is far below L");
            assert!(margins().all(|z| (0.0..=ValidationLoss::RANGE).contains(&loss.at(z))));
        }
    }

    #[test]
    fn training_losses_are_convex_and_one_lipschitz_with_the_stated_derivative() {
        for loss in [Training::LogisticRegression, Training::SmoothedHingeSvm, Training::HingeSvm] {
            let mut last = f64::NEG_INFINITY;
            for z in margins() {
                let (_, slope) = loss.at(z);
                assert!(slope.abs() <= 1.0 && slope >= last, "{loss:?} at {z}");
                last = slope;
                if loss == Training::HingeSvm && z == 1.0 {
                    continue;
                }
                let numeric = (loss.at(z + 1e-6).0 - loss.at(z - 1e-6).0) / 2e-6;
                assert!((numeric - slope).abs() < 1e-5, "{loss:?} at {z}: {numeric} {slope}");
            }
        }
    }
}
