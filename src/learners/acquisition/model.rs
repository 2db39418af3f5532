//! The model of a search: the outcomes so far, the hyperparameters (stated, or fitted again as
//! outcomes arrive) and the posterior.

use super::settings::Refit;
use crate::gp::covariance::{Covariance, Shape};
use crate::gp::{GpError, PointPosterior, Points, StandardisedHyperparameters, refit};

/// Largest number of attempts to compute a posterior. After each failed attempt (a matrix was not positive definite), the
/// noise variance is multiplied by ten.
const TRIES: usize = 6;

/// Outcomes count as exact if the stated noise variance is at most this share of the stated prior variance. (For a test
/// function without noise, the stated noise variance is 1e-6 of the prior variance, to keep matrices well conditioned.)
const EXACT: f64 = 1e-5;

/// In each group of this many consecutive fits, the first fit starts a local search from the modes of the hyperparameters'
/// priors too. The other fits start only from the result of the last successful fit, unless no fit has succeeded yet.
const FITS_BETWEEN_STARTS: usize = 4;

/// The model of one learner. Its points lie in the unit cube if hyperparameters are fitted;
/// otherwise they have the units of the stated covariance.
#[derive(Clone, Debug)]
pub(super) struct Model {
    refit: Refit,
    d: usize,
    /// The stated covariance, noise variance and mean.
    stated: (Covariance, f64, f64),
    points: Vec<f64>,
    outcomes: Vec<f64>,
    fitted: Option<StandardisedHyperparameters>,
    /// Number of outcomes at the last fit, whether or not it succeeded; 0 before the first fit.
    fitted_at: usize,
    /// Number of fits so far, including those that failed.
    fits: usize,
    /// The mean that is subtracted from outcomes, and the standard deviation by which the differences are then divided;
    /// (0, 1) before the first attempt of a fit.
    scale: (f64, f64),
    posterior: PointPosterior,
}

impl Model {
    pub(super) fn new(refit: Refit, d: usize, (covariance, noise, mean): (Covariance, f64, f64)) -> Self {
        Self {
            refit,
            d,
            posterior: PointPosterior::new(covariance.clone(), d, noise, mean),
            stated: (covariance, noise, mean),
            points: Vec::new(),
            outcomes: Vec::new(),
            fitted: None,
            fitted_at: 0,
            fits: 0,
            scale: (0.0, 1.0),
        }
    }

    /// Adds an outcome.
    ///
    /// # Errors
    /// [`GpError`] if the outcome is not finite, or if the stated model cannot be updated with the outcome.
    pub(super) fn observe(&mut self, point: &[f64], outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        if self.refit == Refit::Never {
            self.posterior.observe(point, outcome)?;
        }
        self.points.extend_from_slice(point);
        self.outcomes.push(outcome);
        Ok(())
    }

    /// Number of outcomes.
    pub(super) fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// The point of outcome `index`, counted from 0: `[d]`.
    pub(super) fn point(&self, index: usize) -> &[f64] {
        &self.points[index * self.d..][..self.d]
    }

    /// The index of the largest outcome, counted from 0; if several outcomes are the largest, that of the first one. `None`
    /// without outcomes.
    pub(super) fn best(&self) -> Option<usize> {
        (0..self.len()).reduce(
            |best, index| {
                if self.outcomes[index] > self.outcomes[best] { index } else { best }
            },
        )
    }

    /// The best value so far, in units of the scaled outcomes: the largest outcome if outcomes have no noise, otherwise the
    /// largest of `known`, the posterior means at the points with outcomes. Before the first outcome, it is the prior mean.
    pub(super) fn best_value(&self, known: &[f64]) -> f64 {
        let value = match self.best() {
            Some(best) if self.is_exact() => (self.outcomes[best] - self.scale.0) / self.scale.1,
            _ => known.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        if value.is_finite() { value } else { self.posterior.prior_mean() }
    }

    /// Whether the stated model says that outcomes have no noise.
    fn is_exact(&self) -> bool {
        let (covariance, noise, _) = &self.stated;
        *noise <= EXACT * covariance.variance
    }

    /// Removes all outcomes and fitted hyperparameters.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.refit, self.d, self.stated.clone());
    }

    /// Fits the hyperparameters if a fit is due, and computes the posterior given all outcomes. Does nothing before the
    /// second outcome, nor if the posterior has all outcomes already. Does nothing either if hyperparameters are never
    /// fitted, since [`Self::observe`] then updates the posterior. If all attempts to compute the posterior fail, the
    /// previous posterior stays.
    pub(super) fn update(&mut self) {
        let Refit::Every(rounds) = self.refit else { return };
        let t = self.len();
        if t < 2 || self.posterior.observations() == t && self.fitted_at > 0 {
            return;
        }
        let mean = self.outcomes.iter().sum::<f64>() / t as f64;
        let squares: f64 = self.outcomes.iter().map(|y| (y - mean) * (y - mean)).sum();
        let sd = (squares / (t - 1) as f64).sqrt();
        self.scale = (mean, if sd > 0.0 && sd.is_finite() { sd } else { 1.0 });
        let scaled: Vec<f64> = self.outcomes.iter().map(|y| (y - mean) / self.scale.1).collect();
        if self.fitted.is_none() || t - self.fitted_at >= rounds.get() {
            let points = Points::new(t, self.d, self.points.clone());
            // If the fit fails, the hyperparameters of the last successful fit, if any, are kept.
            let (last, from_modes) = (self.fitted.as_ref(), self.fits.is_multiple_of(FITS_BETWEEN_STARTS));
            if let Ok(found) = refit(self.shape(), &points, &scaled, self.is_exact(), last, from_modes) {
                self.fitted = Some(found);
            }
            self.fitted_at = t;
            self.fits += 1;
        } else {
            // The hyperparameters have not changed since the last update, so the Cholesky factor of the covariance matrix is
            // extended, not computed anew. All outcomes are replaced, since their scale has changed.
            let known = self.posterior.observations();
            if self.posterior.extend(&self.points[known * self.d..], scaled.clone()).is_ok() {
                return;
            }
        }
        let mut noise = self.fitted.as_ref().map_or(1e-2, |fit| fit.noise_variance);
        for _ in 0..TRIES {
            let mean = self.fitted.as_ref().map_or(0.0, |fit| fit.mean);
            let mut posterior = PointPosterior::new(self.covariance(), self.d, noise, mean);
            if posterior.extend(&self.points, scaled.clone()).is_ok() {
                self.posterior = posterior;
                return;
            }
            noise *= 10.0;
        }
    }

    fn shape(&self) -> Shape {
        self.stated.0.shape
    }

    /// The prior covariance of scaled outcomes, with the fitted hyperparameters or, before the
    /// first successful fit, with fixed hyperparameters.
    fn covariance(&self) -> Covariance {
        match &self.fitted {
            Some(fit) => Covariance::per_dimension(self.shape(), fit.length_scales.clone(), fit.variance),
            None => Covariance::new(self.shape(), 0.2 * (self.d as f64).sqrt(), 1.0),
        }
    }

    /// The posterior, in units of the scaled outcomes.
    pub(super) fn posterior(&self) -> &PointPosterior {
        &self.posterior
    }

    /// The posterior as if outcomes equal to the posterior means had been observed at these points:
    /// the means stay as they are, the variances become smaller.
    pub(super) fn believing<'a>(&self, points: impl Iterator<Item = &'a [f64]>) -> PointPosterior {
        let mut posterior = self.posterior.clone();
        for point in points {
            let (mean, _) = posterior.at(point);
            // If the model cannot be updated at a point, the point is left out.
            let _ = posterior.observe(point, mean);
        }
        posterior
    }

    /// The expected outcome at a point, in units of the outcome.
    pub(super) fn predicted(&self, point: &[f64]) -> f64 {
        if self.refit != Refit::Never && self.fitted_at == 0 {
            return self.stated.2;
        }
        self.scale.0 + self.scale.1 * self.posterior.at(point).0
    }

    /// The fitted length-scales divided by their geometric mean, or all 1 before the first successful fit: `[d]`.
    pub(super) fn relative_length_scales(&self) -> Vec<f64> {
        let Some(fit) = &self.fitted else { return vec![1.0; self.d] };
        let logs = fit.length_scales.iter().map(|&l| libm::log(l)).sum::<f64>() / self.d as f64;
        let mean = libm::exp(logs);
        fit.length_scales.iter().map(|l| l / mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Shape;
    use std::num::NonZeroUsize;

    fn model(noise: f64) -> Model {
        let refit = Refit::Every(NonZeroUsize::new(100).unwrap());
        Model::new(refit, 2, (Covariance::new(Shape::Matern52, 0.3, 4.0), noise, 0.0))
    }

    fn outcome(round: usize) -> ([f64; 2], f64) {
        let x = [(0.37 * round as f64).fract(), (0.61 * round as f64).fract()];
        (x, libm::sin(5.0 * x[0]) + 3.0 * x[1] * x[1])
    }

    /// Between two fits, an update extends the Cholesky factor and scales the outcomes anew. One model is updated after
    /// each outcome, another model only after outcomes 2 and 20. In the end, the posteriors of the two models are equal,
    /// bit for bit.
    #[test]
    fn updates_between_fits_do_not_change_the_posterior() {
        let (mut often, mut once) = (model(0.1), model(0.1));
        for round in 1..=20 {
            let (x, y) = outcome(round);
            often.observe(&x, y).unwrap();
            once.observe(&x, y).unwrap();
            often.update();
            if round == 2 {
                once.update();
            }
        }
        once.update();
        assert_eq!(often.posterior().observations(), 20);
        let x = [0.4, 0.7];
        assert_eq!(often.posterior().with_gradient(&x), once.posterior().with_gradient(&x));
        assert_eq!(often.predicted(&x), once.predicted(&x));
        // The scale is that of all twenty outcomes.
        let mean = (1..=20).map(|round| outcome(round).1).sum::<f64>() / 20.0;
        assert!((often.scale.0 - mean).abs() < 1e-12, "{:?}", often.scale);
    }

    #[test]
    fn the_best_value_is_an_outcome_only_if_outcomes_have_no_noise() {
        // The largest outcome is 2; the outcomes have mean 1 and standard deviation 1, so the largest scaled outcome is 1.
        // The largest of the posterior means that the test passes is 1.5.
        for (noise, expected) in [(4e-6, 1.0), (0.1, 1.5)] {
            let mut model = model(noise);
            assert_eq!(model.best_value(&[]), 0.0, "the prior mean");
            for (x, y) in [([0.1, 0.2], 0.0), ([0.5, 0.6], 2.0), ([0.8, 0.3], 1.0)] {
                model.observe(&x, y).unwrap();
            }
            model.update();
            assert!((model.best_value(&[-0.5, 1.5, 0.3]) - expected).abs() < 1e-12, "{noise}");
        }
    }
}
