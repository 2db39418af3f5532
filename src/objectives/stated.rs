//! The facts that an objective's recipe states about its function and its noise, before a file is read or a function is
//! drawn.

use super::noise::{Gaussian, NoiseModel};
use crate::vocab::Delta;

/// Noise of a measurement, as far as a recipe states it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum StatedNoise {
    /// The recipe does not say.
    #[default]
    Unknown,
    /// A law, the same for every arm.
    Law(NoiseModel),
    /// For each arm, the deviations of the arm's recorded outcomes from their mean. The deviations are bounded and not
    /// normal.
    Recorded,
}

/// The facts that a recipe states. The check of a scenario refuses a protocol whose requirements contradict these facts.
/// Requirements about facts that a recipe does not state are checked at the start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// The noise of a measurement.
    pub noise: StatedNoise,
    /// Whether a value is minus the mean of a loss over records. The range of the loss and its other constants are then in
    /// [`ProblemFacts::tuning`](super::ProblemFacts), unless the records belong to agents. `None` if the recipe does not
    /// say.
    pub loss: Option<bool>,
    /// Whether the model's covariance is linear, and therefore not a function of the distance between two points.
    /// `None` if the recipe does not say.
    pub linear: Option<bool>,
}

impl Stated {
    /// Values that are not losses, with this noise.
    #[must_use]
    pub fn noise(noise: NoiseModel) -> Self {
        Self { noise: StatedNoise::Law(noise), loss: Some(false), linear: None }
    }

    /// Values that are not losses, with normal noise of standard deviation `sd`.
    ///
    /// # Panics
    /// If `sd` is negative or not finite.
    #[must_use]
    pub fn gaussian(sd: f64) -> Self {
        Self::noise(NoiseModel::from(Gaussian::of(sd)))
    }

    /// Values that are not losses, with the deviations of recorded outcomes as noise.
    #[must_use]
    pub fn recorded() -> Self {
        Self { noise: StatedNoise::Recorded, loss: Some(false), linear: None }
    }
}

impl StatedNoise {
    /// Whether a largest absolute value of the noise is known; `None` if the recipe does not say.
    #[must_use]
    pub fn is_bounded(&self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Law(law) => Some(law.as_dyn().bound().is_some()),
            Self::Recorded => Some(true),
        }
    }

    /// Whether a bound is known that the absolute value of the noise exceeds with probability at most `delta`; `None` if the
    /// recipe does not say.
    #[must_use]
    pub fn has_tail(&self, delta: Delta) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Law(law) => Some(law.as_dyn().tail(delta).is_some()),
            Self::Recorded => Some(true),
        }
    }

    /// Whether the noise is normal; `None` if the recipe does not say.
    #[must_use]
    pub fn is_normal(&self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Law(law) => Some(law.get::<Gaussian>().is_some()),
            Self::Recorded => Some(false),
        }
    }

    /// The variance of the noise, possibly infinite; `None` if it is not known before data are read.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        match self {
            Self::Law(law) => Some(law.as_dyn().variance()),
            Self::Unknown | Self::Recorded => None,
        }
    }

    /// A description of the noise, in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Unknown => "noise of an unknown law".to_owned(),
            Self::Law(law) => format!("{} noise", law.name()),
            Self::Recorded => "noise as recorded".to_owned(),
        }
    }
}
