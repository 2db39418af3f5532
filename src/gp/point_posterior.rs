//! The exact posterior at any point of the space of inputs, with gradients: the model of a continuous search.
//!
//! K is the prior covariance matrix of the t points with outcomes, noise the noise variance, and L the Cholesky factor of
//! K + noise I; an outcome appends a row to L. Let k(x), `[t]`, be the prior covariances of a point x with these t points,
//! v = L^-1 k(x), and alpha = (K + noise I)^-1 (outcomes - prior mean). At x, the mean is the prior mean plus k(x)^T alpha,
//! and the variance is k(x, x) - v^T v. The gradient of the mean is the sum of the gradients of the entries of k(x), each
//! times the entry of alpha with the same index. The gradient of the variance is the gradient of k(x, x) plus another sum of
//! the gradients of the entries of k(x), each times the entry of -2 L^-T v with the same index.
//! Adding an outcome takes O(t^2) operations, and so does the evaluation at a point.

use super::covariance::{Covariance, Shape};
use super::pivot::pivot;
use super::simd::multiversion;
use super::vectors::{inner, subtract_multiple};
use super::{GpError, dot};
use std::f64::consts::TAU;

/// The mean and the variance of the function at a point, with their gradients with respect to the point's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct PointModel {
    /// Mean, in units of the outcome.
    pub mean: f64,
    /// Variance, at least 0, in squared units of the outcome.
    pub variance: f64,
    /// Gradient of the mean: `[d]`, in units of the outcome per unit of the input.
    pub mean_gradient: Vec<f64>,
    /// Gradient of the variance: `[d]`, in squared units of the outcome per unit of the input.
    pub variance_gradient: Vec<f64>,
}

/// A Gaussian process given noisy outcomes at some points.
#[derive(Clone, Debug)]
pub struct PointPosterior {
    covariance: Covariance,
    noise_variance: f64,
    prior_mean: f64,
    d: usize,
    /// The points with an outcome, `[t, d]`.
    points: Vec<f64>,
    /// The coordinates of the points with an outcome, one vector for each dimension, `[d, t]`.
    columns: Vec<Vec<f64>>,
    outcomes: Vec<f64>,
    /// The rows of L, one after the other. Row s, counted from 0, has s + 1 numbers.
    factor: Vec<f64>,
    /// (K + noise I)^-1 (outcomes - prior mean).
    alpha: Vec<f64>,
    jitter: f64,
    information: f64,
}

/// Index of the first entry of row `index` of a lower triangle that is stored row by row.
const fn row_start(index: usize) -> usize {
    index * (index + 1) / 2
}

impl PointPosterior {
    /// The prior on points with `d` inputs. The noise variance is at least 0 and in squared units of the outcome, the
    /// prior mean in units of the outcome.
    #[must_use]
    pub fn new(covariance: Covariance, d: usize, noise_variance: f64, prior_mean: f64) -> Self {
        Self {
            covariance,
            noise_variance,
            prior_mean,
            d,
            points: Vec::new(),
            columns: vec![Vec::new(); d],
            outcomes: Vec::new(),
            factor: Vec::new(),
            alpha: Vec::new(),
            jitter: 0.0,
            information: 0.0,
        }
    }

    /// Adds the outcome, in units of the outcome, at a point, `[d]`, in units of the inputs. O(t^2).
    ///
    /// # Errors
    /// [`GpError::OutcomeNotFinite`]; [`GpError::NotPositiveDefinite`] if the variance at the point and the noise are both
    /// numerically zero and the largest jitter does not help.
    ///
    /// # Panics
    /// If the point has another number of coordinates.
    pub fn observe(&mut self, point: &[f64], outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.append(point)?;
        self.outcomes.push(outcome);
        self.alpha = self.solve(self.centred());
        Ok(())
    }

    /// Adds the m points `points`, `[m, d]`, and replaces the outcomes of all points, old and new, by `outcomes`,
    /// `[t + m]`. The rows of L for the old points, which do not depend on outcomes, stay as they are. O((t + m)^2) for
    /// each added point, and O((t + m)^2) for the outcomes. After an error the posterior is unchanged.
    ///
    /// # Errors
    /// Those of [`Self::observe`].
    ///
    /// # Panics
    /// If `points` ends within a point, or if there is not one outcome per point.
    pub(crate) fn extend(&mut self, points: &[f64], outcomes: Vec<f64>) -> Result<(), GpError> {
        if let Some(&outcome) = outcomes.iter().find(|outcome| !outcome.is_finite()) {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        let before = (self.points.len(), self.factor.len(), self.jitter, self.information);
        if let Err(error) = points.chunks(self.d.max(1)).try_for_each(|point| self.append(point)) {
            self.points.truncate(before.0);
            self.columns.iter_mut().for_each(|column| column.truncate(before.0 / self.d.max(1)));
            self.factor.truncate(before.1);
            (self.jitter, self.information) = (before.2, before.3);
            return Err(error);
        }
        assert_eq!(outcomes.len() * self.d, self.points.len(), "one outcome per point");
        self.outcomes = outcomes;
        self.alpha = self.solve(self.centred());
        Ok(())
    }

    /// Adds a point, and its row of the factor.
    fn append(&mut self, point: &[f64]) -> Result<(), GpError> {
        assert_eq!(point.len(), self.d, "one coordinate per dimension");
        let earlier = self.points.len() / self.d.max(1);
        let mut row = self.covariances(point);
        self.forward(&mut row);
        let own = self.covariance.between(point, point);
        let variance = (own - dot(&row, &row)).max(0.0);
        let scale = if self.covariance.shape == Shape::Linear { own } else { self.covariance.variance };
        let pivot = pivot(variance, self.noise_variance, scale, earlier + 1)?;
        self.jitter = self.jitter.max(pivot.jitter);
        if self.noise_variance > 0.0 {
            self.information += 0.5 * libm::log1p(variance / self.noise_variance);
        }
        row.push(pivot.value.sqrt());
        self.factor.extend(row);
        self.points.extend_from_slice(point);
        self.columns.iter_mut().zip(point).for_each(|(column, x)| column.push(*x));
        Ok(())
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.outcomes.len()
    }

    /// Number of inputs, d.
    #[must_use]
    pub fn d(&self) -> usize {
        self.d
    }

    /// The point, `[d]`, of the outcome with the index `index`, counted from 0; in units of the inputs.
    ///
    /// # Panics
    /// If there is no such outcome.
    #[must_use]
    pub fn point(&self, index: usize) -> &[f64] {
        &self.points[index * self.d..][..self.d]
    }

    /// The prior covariance, in squared units of the outcome.
    #[must_use]
    pub fn covariance(&self) -> &Covariance {
        &self.covariance
    }

    /// Outcomes minus the prior mean: `[t]`, in units of the outcome.
    #[must_use]
    pub fn centred(&self) -> Vec<f64> {
        self.outcomes.iter().map(|outcome| outcome - self.prior_mean).collect()
    }

    /// The noise variance, in squared units of the outcome.
    #[must_use]
    pub fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// The prior mean, in units of the outcome.
    #[must_use]
    pub fn prior_mean(&self) -> f64 {
        self.prior_mean
    }

    /// The largest jitter that was added to the variance of an outcome, in squared units of the outcome; 0 if none was
    /// needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Information gain of the points, 1/2 log det(I + K / noise) in nats, with K their prior covariance matrix and noise
    /// the noise variance; 0 if there is no noise.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        self.information
    }

    /// Log density of the outcomes under the model, in nats. Rasmussen and Williams 2006, equation 2.30.
    #[must_use]
    pub fn log_marginal_likelihood(&self) -> f64 {
        let t = self.outcomes.len();
        let logarithms: f64 = (0..t).map(|s| libm::log(self.factor[row_start(s) + s])).sum();
        -0.5 * (dot(&self.centred(), &self.alpha) + t as f64 * libm::log(TAU)) - logarithms
    }

    /// Mean, in units of the outcome, and variance, in squared units of the outcome, of the function at a point, `[d]`.
    ///
    /// # Panics
    /// If the point has another number of coordinates.
    #[must_use]
    pub fn at(&self, point: &[f64]) -> (f64, f64) {
        let mut k = self.covariances(point);
        let mean = self.prior_mean + dot(&k, &self.alpha);
        self.forward(&mut k);
        (mean, (self.covariance.between(point, point) - dot(&k, &k)).max(0.0))
    }

    /// Mean and variance at a point, `[d]`, with their gradients, in the units of [`PointModel`].
    ///
    /// # Panics
    /// If the point has another number of coordinates.
    #[must_use]
    pub fn with_gradient(&self, point: &[f64]) -> PointModel {
        let k = self.covariances(point);
        let mean = self.prior_mean + dot(&k, &self.alpha);
        let slopes = self.slopes(point, &k);
        let mut w = k;
        self.forward(&mut w);
        let own = self.covariance.between(point, point);
        let variance = (own - dot(&w, &w)).max(0.0);
        self.backward(&mut w);
        let (mut by_mean, mut by_variance) = (vec![0.0; self.d], vec![0.0; self.d]);
        self.add_prior_variance_gradient(point, 1.0, &mut by_variance);
        let mut derivatives = vec![0.0; w.len()];
        for (dimension, column) in self.columns.iter().enumerate() {
            let x = point[dimension];
            self.covariance.fill_derivatives(dimension, x, column, &slopes, &mut derivatives);
            for (derivative, (alpha, w)) in derivatives.iter().zip(self.alpha.iter().zip(&w)) {
                by_mean[dimension] += alpha * derivative;
                by_variance[dimension] -= 2.0 * w * derivative;
            }
        }
        PointModel { mean, variance, mean_gradient: by_mean, variance_gradient: by_variance }
    }

    /// The prior covariances k(x), `[t]`, of the function's value at a point x, `[d]`, with its values at the points with
    /// outcomes.
    pub(crate) fn prior_covariances(&self, point: &[f64]) -> Vec<f64> {
        self.covariances(point)
    }

    /// alpha = (K + noise I)^-1 (outcomes - prior mean), `[t]`: the mean at x is the prior mean plus the inner product of
    /// k(x) and alpha.
    pub(crate) fn mean_weights(&self) -> &[f64] {
        &self.alpha
    }

    /// Adds to `out`, `[d]`, the gradient with respect to x of the inner product of k(x) and `weights`, `[t]`.
    pub(crate) fn add_weighted_gradient(&self, x: &[f64], weights: &[f64], out: &mut [f64]) {
        let mut slopes = self.slopes(x, &self.covariances(x));
        slopes.iter_mut().zip(weights).for_each(|(slope, weight)| *slope *= weight);
        let mut derivatives = vec![0.0; slopes.len()];
        for (dimension, column) in self.columns.iter().enumerate() {
            self.covariance.fill_derivatives(dimension, x[dimension], column, &slopes, &mut derivatives);
            derivatives.iter().for_each(|derivative| out[dimension] += derivative);
        }
    }

    /// Adds to `out`, `[d]`, `weight` times the gradient with respect to x of the prior variance k(x, x). This gradient is
    /// 0 for a stationary covariance.
    pub(crate) fn add_prior_variance_gradient(&self, x: &[f64], weight: f64, out: &mut [f64]) {
        if self.covariance.shape == Shape::Linear {
            self.covariance.add_gradient(x, x, 2.0 * weight, out);
        }
    }

    /// (K + noise I)^-1 b, `[t]`, for a vector `b`, `[t]`.
    pub(crate) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        self.forward(&mut b);
        self.backward(&mut b);
        b
    }

    fn covariances(&self, point: &[f64]) -> Vec<f64> {
        assert_eq!(point.len(), self.d, "one coordinate per dimension");
        let mut k = vec![0.0; self.columns.first().map_or(0, Vec::len)];
        self.covariance.fill(point, |dimension| &self.columns[dimension], &mut k);
        k
    }

    /// The derivatives, `[t]`, of the covariances `k`, `[t]`, of x with the points with outcomes. The derivative for a point
    /// is with respect to the squared scaled distance of x and the point (their scaled inner product, if the covariance is
    /// linear).
    fn slopes(&self, x: &[f64], k: &[f64]) -> Vec<f64> {
        let (mut s, mut terms) = (vec![0.0; k.len()], vec![0.0; k.len()]);
        for (dimension, column) in self.columns.iter().enumerate() {
            self.covariance.fill_terms(dimension, x[dimension], column, &mut terms);
            s.iter_mut().zip(&terms).for_each(|(s, term)| *s += term);
        }
        self.covariance.slopes(&mut s, k);
        s
    }

    /// Replaces b, `[t]`, by L^-1 b.
    fn forward(&self, b: &mut [f64]) {
        forward(&self.factor, b);
    }

    /// Replaces b, `[t]`, by L^-T b.
    fn backward(&self, b: &mut [f64]) {
        backward(&self.factor, b);
    }
}

multiversion! {
    fn forward(factor: &[f64], b: &mut [f64]) {
        for s in 0..b.len() {
            let row = &factor[row_start(s)..][..=s];
            b[s] = (b[s] - inner(&row[..s], &b[..s])) / row[s];
        }
    }

    fn backward(factor: &[f64], b: &mut [f64]) {
        for s in (0..b.len()).rev() {
            let row = &factor[row_start(s)..][..=s];
            b[s] /= row[s];
            let value = b[s];
            subtract_multiple(&mut b[..s], value, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::{ArmCovariance, Points, Posterior, log_marginal_likelihood};
    use crate::rng::Key;
    use std::sync::Arc;

    fn data() -> (Vec<f64>, Vec<f64>) {
        let mut stream = Key::root(4).stream();
        ((0..36).map(|_| stream.uniform()).collect(), (0..12).map(|_| stream.normal()).collect())
    }

    #[test]
    fn the_posterior_equals_that_over_the_same_points_as_arms() {
        let (rows, outcomes) = data();
        let covariance = Covariance::per_dimension(Shape::Matern52, vec![0.4, 0.9, 0.6], 1.3);
        let points = Points::new(12, 3, rows.clone());
        let prior = ArmCovariance::of_inputs(Arc::new(points.clone()), covariance.clone());
        let (mut arms, mut any) =
            (Posterior::new(prior, 0.05, 0.3), PointPosterior::new(covariance, 3, 0.05, 0.3));
        for arm in [0, 5, 2, 5, 7, 11] {
            arms.observe(arm, outcomes[arm]).unwrap();
            any.observe(points.row(arm), outcomes[arm]).unwrap();
        }
        for arm in 0..12 {
            let (mean, variance) = any.at(points.row(arm));
            assert!((mean - arms.mean()[arm]).abs() < 1e-12);
            assert!((variance - arms.variance()[arm]).abs() < 1e-12);
        }
        assert!((any.log_marginal_likelihood() - arms.log_marginal_likelihood()).abs() < 1e-11);
        assert!((any.information_gain() - arms.information_gain()).abs() < 1e-12);
        assert!(any.observe(points.row(0), f64::NAN).is_err());
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let (rows, outcomes) = data();
        for shape in
            [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::Linear]
        {
            let covariance = Covariance::per_dimension(shape, vec![0.4, 0.9, 0.6], 1.3);
            let mut posterior = PointPosterior::new(covariance, 3, 0.01, 0.3);
            for (point, outcome) in rows.chunks(3).zip(&outcomes) {
                posterior.observe(point, *outcome).unwrap();
            }
            let x = [0.31, 0.72, 0.45];
            let found = posterior.with_gradient(&x);
            assert_eq!((found.mean, found.variance), posterior.at(&x));
            for i in 0..3 {
                let at = |step: f64| {
                    let mut moved = x;
                    moved[i] += step;
                    posterior.at(&moved)
                };
                let ((m1, v1), (m0, v0)) = (at(1e-6), at(-1e-6));
                assert!(((m1 - m0) / 2e-6 - found.mean_gradient[i]).abs() < 1e-6, "{shape:?}");
                assert!(((v1 - v0) / 2e-6 - found.variance_gradient[i]).abs() < 1e-6, "{shape:?}");
            }
        }
    }

    #[test]
    fn replaced_outcomes_have_the_posterior_of_a_model_that_never_had_others() {
        let (rows, outcomes) = data();
        let covariance = Covariance::per_dimension(Shape::Matern52, vec![0.4, 0.9, 0.6], 1.3);
        let new = || PointPosterior::new(covariance.clone(), 3, 0.05, 0.3);
        let (mut replaced, mut plain) = (new(), new());
        replaced
            .extend(&rows[..21], outcomes[..7].iter().map(|outcome| 3.0 * outcome - 1.0).collect())
            .unwrap();
        replaced.extend(&rows[21..], outcomes.clone()).unwrap();
        rows.chunks(3).zip(&outcomes).for_each(|(point, outcome)| plain.observe(point, *outcome).unwrap());
        let x = [0.31, 0.72, 0.45];
        assert_eq!(replaced.with_gradient(&x), plain.with_gradient(&x));
        assert_eq!(replaced.log_marginal_likelihood(), plain.log_marginal_likelihood());
        assert_eq!(replaced.information_gain(), plain.information_gain());
        assert!(new().extend(&rows, vec![f64::NAN; 12]).is_err());
        // Without noise, a second outcome at the same point needs jitter. With a prior variance of 1e-320 the first jitter
        // that is tried, 1e-12 of the prior variance, rounds to 0. So the point cannot be added a second time, and `extend`
        // leaves the posterior as it was.
        let mut exact = PointPosterior::new(Covariance::squared_exponential(0.5, 1e-320), 3, 0.0, 0.0);
        let before = exact.clone();
        assert!(exact.extend(&rows[..3].repeat(2), vec![0.0; 2]).is_err());
        assert_eq!(format!("{exact:?}"), format!("{before:?}"));
    }

    #[test]
    fn the_likelihood_is_that_of_all_outcomes_together() {
        let (rows, outcomes) = data();
        let covariance = Covariance::squared_exponential(0.5, 1.3);
        let mut posterior = PointPosterior::new(covariance.clone(), 3, 0.1, 0.0);
        for (point, outcome) in rows.chunks(3).zip(&outcomes) {
            posterior.observe(point, *outcome).unwrap();
        }
        let together =
            log_marginal_likelihood(&Points::new(12, 3, rows), &outcomes, &covariance, 0.1).unwrap();
        assert!((together.value - posterior.log_marginal_likelihood()).abs() < 1e-10);
    }
}
