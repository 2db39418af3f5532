//! The kernels that objectives name.

use crate::gp::covariance::Shape;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shape of a kernel with k(x, x) = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Kernel {
    /// exp(-r^2 / 2), where r is the distance divided by the length-scale.
    #[default]
    SquaredExponential,
    /// Matern with nu = 1/2.
    Matern12,
    /// Matern with nu = 3/2.
    Matern32,
    /// Matern with nu = 5/2.
    Matern52,
}

impl Kernel {
    /// Whether this is the default, the squared exponential. It is the only one of these kernels that is a product over
    /// dimensions.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn shape(self) -> Shape {
        match self {
            Self::SquaredExponential => Shape::SquaredExponential,
            Self::Matern12 => Shape::Matern12,
            Self::Matern32 => Shape::Matern32,
            Self::Matern52 => Shape::Matern52,
        }
    }
}
