//! Bayesian linear regression on features: the posterior from which the agents of FTS (federated Thompson sampling) draw
//! the weights that they send.
//!
//! After t outcomes, the matrix Phi, `[t, m]`, has the m features of each outcome's input; the vector y, `[t]`, has the
//! outcomes; and lambda is the noise variance. Let Sigma = Phi^T Phi + lambda I, R its upper triangular factor
//! (Sigma = R^T R), and c = R^-T Phi^T y. R and c are stored.
//! For one more outcome, a row with the outcome's features and its value is appended to the matrix (R | c). This row is
//! eliminated by m Givens rotations, one with each row of R. This takes O(m^2) time, without a new factorisation. The mean
//! of the weights is nu = R^-1 c. A draw from N(nu, lambda Sigma^-1) is omega = R^-1 (c + sqrt(lambda) z), with z standard
//! normals.

use super::simd::multiversion;
use super::vectors::inner;
use super::{GpError, dot};
use crate::rng::Stream;

/// The posterior of the weights of m features, given noisy outcomes. Features are in units of the outcome; weights have no
/// unit.
#[derive(Clone, Debug)]
pub struct WeightPosterior {
    m: usize,
    lambda: f64,
    /// Rows of (R | c) from the diagonal on, one after the other: row k has m + 1 - k numbers.
    rows: Vec<f64>,
    /// The row of a new outcome while it is being eliminated.
    new: Vec<f64>,
    observations: usize,
}

impl WeightPosterior {
    /// The prior N(0, I) of `m` weights, for outcomes with noise variance `lambda`, above 0 and in squared units of the
    /// outcome. The stored rows have m (m + 3) / 2 numbers.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] unless `lambda` is finite and above 0.
    pub fn new(m: usize, lambda: f64) -> Result<Self, GpError> {
        if !(lambda.is_finite() && lambda > 0.0) {
            return Err(GpError::NotPositiveDefinite { order: m, jitter: 0.0 });
        }
        let mut rows = vec![0.0; m * (m + 3) / 2];
        rows_mut(&mut rows, m).for_each(|row| row[0] = lambda.sqrt());
        Ok(Self { m, lambda, rows, new: vec![0.0; m + 1], observations: 0 })
    }

    /// Adds an outcome at an input whose features are `features`, `[m]`. The model takes the prior mean of every outcome to
    /// be 0. O(m^2).
    ///
    /// # Errors
    /// [`GpError::OutcomeNotFinite`].
    ///
    /// # Panics
    /// If there are not m features.
    pub fn observe(&mut self, features: &[f64], outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.new[..self.m].copy_from_slice(features);
        self.new[self.m] = outcome;
        rotate_away(&mut self.rows, &mut self.new);
        self.observations += 1;
        Ok(())
    }

    /// Adds several outcomes in their order. An item of `outcomes` has the features of an input, `[m]`, and the outcome
    /// at this input, in the same unit. The model has the same bits as after a call of [`Self::observe`] for each outcome in
    /// turn. O(m^2) for each outcome. If the model does not fit into the processor's caches, one call for all outcomes is
    /// faster than a call of [`Self::observe`] for each, since every row of R is read only once.
    ///
    /// # Errors
    /// [`GpError::OutcomeNotFinite`]; then none of the outcomes was added.
    ///
    /// # Panics
    /// If there are not m features.
    pub fn observe_all<F: AsRef<[f64]>>(
        &mut self,
        outcomes: impl IntoIterator<Item = (F, f64)>,
    ) -> Result<(), GpError> {
        let mut new = Vec::new();
        for (features, outcome) in outcomes {
            if !outcome.is_finite() {
                return Err(GpError::OutcomeNotFinite { outcome });
            }
            assert_eq!(features.as_ref().len(), self.m, "m features");
            new.extend_from_slice(features.as_ref());
            new.push(outcome);
        }
        rotate_all_away(&mut self.rows, &mut new, self.m);
        self.observations += new.len() / (self.m + 1);
        Ok(())
    }

    /// The mean nu = Sigma^-1 Phi^T y: `[m]`. Rasmussen and Williams 2006, equation 2.8. O(m^2).
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        let mut nu = self.right_side();
        back(&self.rows, &mut nu);
        nu
    }

    /// omega = nu + sqrt(lambda) R^-1 z, `[m]`, for standard normals z, `[m]`: a draw from N(nu, lambda Sigma^-1).
    /// O(m^2). Source: Dai, Low and Jaillet 2020 (FTS).
    ///
    /// # Panics
    /// If `z` does not hold m numbers.
    #[must_use]
    pub fn sample_from(&self, z: &[f64]) -> Vec<f64> {
        assert_eq!(z.len(), self.m, "one normal per weight");
        let sd = self.lambda.sqrt();
        let mut omega = self.right_side();
        omega.iter_mut().zip(z).for_each(|(value, z)| *value += sd * z);
        back(&self.rows, &mut omega);
        omega
    }

    /// A draw from N(nu, lambda Sigma^-1), `[m]`, from m standard normals of `stream`.
    #[must_use]
    pub fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        let mut z = vec![0.0; self.m];
        stream.fill_normal(&mut z);
        self.sample_from(&z)
    }

    /// Variance of the function phi^T omega at an input whose features are phi, `[m]`: lambda phi^T Sigma^-1 phi, at
    /// least 0, in squared units of the outcome. O(m^2).
    ///
    /// # Panics
    /// If there are fewer than m features.
    #[must_use]
    pub fn variance(&self, features: &[f64]) -> f64 {
        let mut b = features[..self.m].to_vec();
        for (k, row) in rows(&self.rows, self.m).enumerate() {
            let value = b[k] / row[0];
            b[k] = value;
            b[k + 1..].iter_mut().zip(&row[1..]).for_each(|(rest, &factor)| *rest -= value * factor);
        }
        self.lambda * dot(&b, &b)
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.observations
    }

    fn right_side(&self) -> Vec<f64> {
        rows(&self.rows, self.m).filter_map(|row| row.last().copied()).collect()
    }
}

/// The m rows of (R | c) in their order, each from its diagonal entry on.
#[inline(always)]
fn rows(stored: &[f64], m: usize) -> impl Iterator<Item = &[f64]> {
    let mut left = stored;
    (0..m).map_while(move |k| left.split_off(..m + 1 - k))
}

/// The m rows of (R | c) as mutable slices, in the order of [`rows`].
#[inline(always)]
fn rows_mut(stored: &mut [f64], m: usize) -> impl Iterator<Item = &mut [f64]> {
    let mut left = stored;
    (0..m).map_while(move |k| left.split_off_mut(..m + 1 - k))
}

/// Rotates row k of the triangle and a new row, both given from entry k on, so that entry k of the new row becomes zero.
#[inline(always)]
fn rotate(row: &mut [f64], new: &mut [f64]) {
    if new[0] == 0.0 {
        return;
    }
    let length = (row[0] * row[0] + new[0] * new[0]).sqrt();
    let (c, s) = (row[0] / length, new[0] / length);
    for (x, y) in row.iter_mut().zip(new) {
        let (a, b) = (*x, *y);
        *x = c * a + s * b;
        *y = c * b - s * a;
    }
}

multiversion! {
    /// Eliminates `new` by rotations with the rows of the triangle `rows`: the rotation with row k makes entry k of `new`
    /// zero.
    fn rotate_away(rows: &mut [f64], new: &mut [f64]) {
        let m = new.len() - 1;
        for (k, row) in rows_mut(rows, m).enumerate() {
            rotate(row, &mut new[k..]);
        }
    }

    /// Eliminates several rows of m + 1 numbers, stored one after the other in `new`. Row k is rotated with the new rows in
    /// their order, after each of them was rotated with rows 0 to k - 1. So the result has the bits of eliminating one new
    /// row after the other.
    fn rotate_all_away(rows: &mut [f64], new: &mut [f64], m: usize) {
        for (k, row) in rows_mut(rows, m).enumerate() {
            for new in new.chunks_exact_mut(m + 1) {
                rotate(row, &mut new[k..]);
            }
        }
    }

    /// Replaces b by R^-1 b.
    fn back(rows: &[f64], b: &mut [f64]) {
        let m = b.len();
        let mut end = rows.len();
        for k in (0..m).rev() {
            let begin = end - (m + 1 - k);
            let row = &rows[begin..end];
            let sum = inner(&row[1..m - k], &b[k + 1..]);
            b[k] = (b[k] - sum) / row[0];
            end = begin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn several_outcomes_at_once_have_the_bits_of_one_after_the_other() {
        for m in [1, 5, 33] {
            let mut stream = Key::root(7).stream();
            let mut rows = vec![vec![0.0; m]; 20];
            rows.iter_mut().for_each(|row| stream.fill_normal(row));
            // A feature of 0 needs no rotation.
            rows[3][0] = 0.0;
            let prior = WeightPosterior::new(m, 0.01).unwrap();
            let outcomes: Vec<(&[f64], f64)> =
                rows.iter().enumerate().map(|(k, row)| (row.as_slice(), 0.3 * k as f64 - 1.0)).collect();
            let (mut one_by_one, mut at_once) = (prior.clone(), prior.clone());
            outcomes.iter().for_each(|(row, outcome)| one_by_one.observe(row, *outcome).unwrap());
            at_once.observe_all(outcomes[..7].iter().copied()).unwrap();
            at_once.observe_all(outcomes[7..].iter().copied()).unwrap();
            let bits = |model: &WeightPosterior| {
                let rows: Vec<u64> = model.rows.iter().map(|value| value.to_bits()).collect();
                (rows, model.observations)
            };
            assert_eq!(bits(&at_once), bits(&one_by_one), "{m} features");
            assert!(at_once.observe_all([(rows[0].as_slice(), f64::NAN)]).is_err());
            assert_eq!(bits(&at_once), bits(&one_by_one));
        }
    }
}
