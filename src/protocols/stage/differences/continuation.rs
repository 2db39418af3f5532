//! A function that is known at its points only, continued between and beyond them by the objective's surrogate.
//!
//! f(x) = m(x) + c(x, x') (f(x') - m(x')). Here m is the posterior mean of the surrogate given the values at the points, x'
//! is the known point that is nearest to x in units of the length-scales, and c is the correlation of the surrogate at x and
//! x'. At its points f has the values that are known. The surrogate takes the residual f(x') - m(x') for noise. The residual
//! is shifted with the function, and its effect on f(x) vanishes far from x'. Values are clipped to the range from the
//! smallest to the largest known value.

use crate::gp::covariance::{Covariance, LengthScale};
use crate::gp::{Cholesky, GpError, Points, dot};
use crate::objectives::Instance;
use crate::vocab::Effort;
use crate::vocab::effort::{COVARIANCE, MULTIPLY, NUMBER};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Smallest noise variance that the posterior mean assumes, as a share of the prior variance. Without noise, the
/// posterior mean would overshoot the values by far wherever the values are rougher than functions of the surrogate.
const RIDGE: f64 = 1e-4;

/// Memory and time for continuing the functions of `agents` agents from `points` points: the Cholesky factor of a
/// covariance matrix, and for each agent the posterior mean at all points, before and after the shift, with the nearest
/// point.
pub(in crate::protocols) fn effort_of_continuation(points: u64, agents: f64) -> Effort {
    let n = points as f64;
    let each = 3.0 * COVARIANCE * agents;
    Effort::new(2.0 * NUMBER * n * n, n * n * (MULTIPLY * n / 6.0 + COVARIANCE + each))
}

/// The points at which functions are known, with the matrix that their posterior means need.
pub(super) struct Continuation {
    /// All arms, [n, d].
    arms: Arc<Points>,
    covariance: Covariance,
    mean: f64,
    /// Cholesky factor of the covariance of the known arms plus the noise.
    factor: Cholesky,
    /// The numbers of the arms with known values.
    known: Vec<usize>,
    /// The known arms in groups, in the order of each group's first arm. The arms of a group have the same inputs.
    places: Vec<Vec<usize>>,
    /// For each arm, its number, from 0, among the known arms with the same inputs; 0 if the arm's value is not known.
    ranks: Vec<usize>,
}

impl Continuation {
    /// For functions whose values are known at the arms whose entry in `known` is true, or at all arms if `known` is `None`.
    ///
    /// # Errors
    /// If the covariance matrix has no Cholesky factor.
    pub(super) fn new(instance: &Instance, known: Option<&[bool]>) -> Result<Self, GpError> {
        let arms = Arc::clone(&instance.inputs);
        let covariance = instance.surrogate.covariance.clone();
        let is_known = |arm: &usize| known.is_none_or(|known| known[*arm]);
        let known: Vec<usize> = (0..arms.n()).filter(is_known).collect();
        let noise = instance.surrogate.noise_variance.max(RIDGE * covariance.variance);
        let mut matrix = Vec::with_capacity(known.len() * known.len());
        for &row in &known {
            let at = |&column: &usize| {
                let own = if row == column { noise } else { 0.0 };
                covariance.between(arms.row(row), arms.row(column)) + own
            };
            matrix.extend(known.iter().map(at));
        }
        let factor = Cholesky::with_jitter(known.len(), &matrix)?;
        let mut same: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        let mut ranks = vec![0; arms.n()];
        for &arm in &known {
            // Adding 0 turns -0 into +0, so that both have the same bits.
            let bits = arms.row(arm).iter().map(|x| (x + 0.0).to_bits()).collect();
            let twins = same.entry(bits).or_default();
            ranks[arm] = twins.len();
            twins.push(arm);
        }
        let mut places: Vec<Vec<usize>> = same.into_values().collect();
        places.sort_unstable();
        Ok(Self { arms, covariance, mean: instance.surrogate.mean, factor, known, places, ranks })
    }

    /// The function with these values at the known arms. `values` has an entry for every arm, `[n]`; the continued function
    /// does not depend on the entries of arms that are not known. [`Continued::shifted`] returns these entries only if the
    /// shift is 0 or no arm is known.
    pub(super) fn continued<'a>(&'a self, values: &'a [f64]) -> Continued<'a> {
        let own = || self.known.iter().map(|&arm| values[arm]);
        let mut weights: Vec<f64> = own().map(|value| value - self.mean).collect();
        self.factor.solve(&mut weights);
        let ends = own().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        let mut found = Continued { of: self, values, weights, ends, left: vec![0.0; values.len()] };
        let left = self.known.iter().map(|&arm| values[arm] - found.posterior_mean(self.arms.row(arm)));
        let left: Vec<f64> = left.collect();
        self.known.iter().zip(left).for_each(|(&arm, left)| found.left[arm] = left);
        found
    }

    /// The squared distance of two points, for finding the nearest point. With a length-scale for each dimension, the
    /// distance is in units of the length-scales. With one length-scale for all dimensions, the distance is in the units of
    /// the inputs, because a common factor does not change which point is nearest.
    fn distance(&self, x: &[f64], z: &[f64]) -> f64 {
        let pairs = || x.iter().zip(z).map(|(x, z)| x - z).enumerate();
        match &self.covariance.length_scale {
            LengthScale::Same(_) => pairs().map(|(_, apart)| apart * apart).sum(),
            LengthScale::PerDimension(l) => pairs().map(|(k, apart)| apart / l[k]).map(|r| r * r).sum(),
        }
    }
}

/// A function that is known at some arms and continued, so that it is defined everywhere.
pub(super) struct Continued<'a> {
    of: &'a Continuation,
    values: &'a [f64],
    /// (K + noise I)^-1 (values - prior mean), over the known arms.
    weights: Vec<f64>,
    /// The smallest and the largest known value.
    ends: (f64, f64),
    /// For each known arm, its value minus the posterior mean there.
    left: Vec<f64>,
}

impl Continued<'_> {
    fn posterior_mean(&self, x: &[f64]) -> f64 {
        let Continuation { arms, covariance, known, mean, .. } = self.of;
        let row: Vec<f64> = known.iter().map(|&arm| covariance.between(x, arms.row(arm))).collect();
        mean + dot(&row, &self.weights)
    }

    /// f(x - s) at every arm x, for a shift s along each input in units of the domain's side; the values themselves if the
    /// shift is 0 or no value is known.
    pub(super) fn shifted(&self, shift: &[f64]) -> Vec<f64> {
        if shift.iter().all(|s| *s == 0.0) || self.of.known.is_empty() {
            return self.values.to_vec();
        }
        let arms = &self.of.arms;
        let by: Vec<f64> = shift
            .iter()
            .enumerate()
            .map(|(input, share)| {
                let (low, high) = arms.range(input);
                share * (high - low)
            })
            .collect();
        let moved = |arm: usize| arms.row(arm).iter().zip(&by).map(|(x, s)| x - s).collect::<Vec<f64>>();
        (0..arms.n()).map(|arm| self.at(&moved(arm), self.of.ranks[arm])).collect()
    }

    /// The value at any point x. If the inputs nearest to x are those of several known arms, the arm at position `rank` of
    /// these, modulo their number, is used.
    fn at(&self, x: &[f64], rank: usize) -> f64 {
        let Continuation { arms, covariance, places, .. } = self.of;
        let (mut nearest, mut least) = (None, f64::INFINITY);
        for twins in places {
            let distance = self.of.distance(x, arms.row(twins[0]));
            if distance < least {
                (nearest, least) = (Some(twins), distance);
            }
        }
        let Some(twins) = nearest else { return self.posterior_mean(x).clamp(self.ends.0, self.ends.1) };
        let arm = twins[rank % twins.len()];
        if least == 0.0 {
            return self.values[arm];
        }
        let correlation = covariance.between(x, arms.row(arm)) / covariance.variance;
        (self.posterior_mean(x) + correlation * self.left[arm]).clamp(self.ends.0, self.ends.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Shape;
    use crate::objectives::Surrogate;
    use crate::rng::{Key, sobol};

    fn instance(d: usize, rows: Vec<f64>, length_scale: f64, mean: f64) -> Instance {
        let inputs = Arc::new(Points::new(rows.len() / d, d, rows));
        let values = Arc::new(vec![0.0; inputs.n()]);
        let covariance = Covariance::new(Shape::SquaredExponential, length_scale, 1.0);
        let surrogate = Surrogate { covariance, noise_variance: 1e-4, mean };
        Instance { inputs, values, surrogate, ..Instance::placeholder() }
    }

    /// The values on the grid are rough, so the surrogate takes them for noise. A shift by whole steps of the grid moves
    /// the values unchanged; without a shift the values stay the same, bit for bit. Far beyond the grid the function is the
    /// smallest known value, because the prior mean is lower than all known values.
    #[test]
    fn whole_steps_move_every_value() {
        let rows: Vec<f64> =
            (0..6).flat_map(|a| (0..5).flat_map(move |b| [f64::from(a) / 5.0, f64::from(b) / 4.0])).collect();
        let instance = instance(2, rows, 0.3, -7.0);
        let mut values = vec![0.0; 30];
        Key::root(4).stream().fill_normal(&mut values);
        let continuation = Continuation::new(&instance, None).unwrap();
        let function = continuation.continued(&values);
        assert_eq!(function.shifted(&[0.0, -0.0]), values);
        // Two steps along the first input, one back along the second.
        let found = function.shifted(&[0.4, -0.25]);
        for a in 2..6 {
            for b in 0..4 {
                let (new, old) = (found[5 * a + b], values[5 * (a - 2) + b + 1]);
                assert!((new - old).abs() < 1e-6, "{a} {b}: {new} for {old}");
            }
        }
        let (low, high) = values.iter().fold((0.0f64, 0.0f64), |(a, b), y| (a.min(*y), b.max(*y)));
        assert!(found.iter().all(|value| (low..=high).contains(value)));
        // The shifted points are roughly 6.7 length-scales or more from the nearest known point, so the posterior mean is
        // the prior mean, which is below all known values. The result is raised to the smallest known value.
        assert_eq!(function.shifted(&[3.0, 0.0]), vec![low; 30]);
    }

    /// A smooth function is continued from its values at 60 scattered points, and the continued function is shifted. The
    /// result is close to the smooth function moved by the shift, and both are largest at the same one of the points.
    #[test]
    fn scattered_points_have_the_function_that_was_moved() {
        let rows = sobol::points(60, 2, Key::root(5)).concat();
        let instance = instance(2, rows, 0.4, 0.0);
        let bump =
            |x: &[f64], at: [f64; 2]| libm::exp(-6.0 * ((x[0] - at[0]).powi(2) + (x[1] - at[1]).powi(2)));
        let arms = &instance.inputs;
        let of = |at: [f64; 2]| (0..60).map(|arm| bump(arms.row(arm), at)).collect::<Vec<f64>>();
        let values = of([0.4, 0.6]);
        let continuation = Continuation::new(&instance, None).unwrap();
        let found = continuation.continued(&values).shifted(&[0.2, -0.15]);
        // The sides of the box around 60 points are a little shorter than 1.
        let side = |input: usize| arms.range(input).1 - arms.range(input).0;
        let moved = of([0.4 + 0.2 * side(0), 0.6 - 0.15 * side(1)]);
        for arm in 0..60 {
            let (x, found, expected) = (arms.row(arm), found[arm], moved[arm].min(1.0));
            // Only points x for which x - shift lies within the box are compared. `found` is clipped at the largest known
            // value, which is slightly below the bump's maximum, 1.
            if x[0] > 0.25 && x[1] < 0.8 {
                assert!((found - expected).abs() < 0.03, "{x:?}: {found} for {expected}");
            }
        }
        assert_eq!(crate::gp::largest(&found), crate::gp::largest(&moved));
    }

    /// Three rows with the same input and different outputs: after a tiny shift each row still has its own output.
    #[test]
    fn rows_with_the_same_inputs_keep_their_values() {
        let instance = instance(1, vec![0.0, 1.0, 0.0, 2.0, 0.0], 1.0, 0.0);
        let values = [1.0, 0.5, -1.0, 0.3, 0.2];
        let continuation = Continuation::new(&instance, None).unwrap();
        let found = continuation.continued(&values).shifted(&[1e-9]);
        assert!(found.iter().zip(values).all(|(new, old)| (new - old).abs() < 1e-6), "{found:?}");
        // Only the values of the second and the fourth row are known; the values of the other rows are not used.
        let some = Continuation::new(&instance, Some(&[false, true, false, true, false])).unwrap();
        let other = [9.0, 0.5, 9.0, 0.3, 9.0];
        assert_eq!(some.continued(&values).shifted(&[0.5]), some.continued(&other).shifted(&[0.5]));
        // The domain's side is 2, so a shift of 0.5 sides is 1: the fourth row gets the value of the second.
        assert!((some.continued(&values).shifted(&[0.5])[3] - 0.5).abs() < 1e-12);
        let none = Continuation::new(&instance, Some(&[false; 5])).unwrap();
        assert_eq!(none.continued(&values).shifted(&[0.5]), values);
    }
}
