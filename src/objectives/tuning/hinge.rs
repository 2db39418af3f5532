//! The support vector machine with the exact hinge loss: dual coordinate descent, ended by its duality gap.
//!
//! The primal is mean max(0, 1 - w.x_i) + lambda/2 |w|^2, with x_i the features of record i times its label. Its dual has
//! one number a_i in [0, 1] per record, with w = sum a_i x_i / (lambda m) for m records. The dual is maximised in closed
//! form over one a_i at a time. The gap between primal and dual value bounds the distance of w from the best weights w*:
//! |w - w*|^2 <= 2 gap / lambda. The norm of w is at most 1 / lambda for records of norm at most 1.
//!
//! Source: Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, "A dual coordinate descent method for large-scale linear
//! SVM", Algorithm 1 with L1 loss, in a fixed order.

use super::records::Records;
use super::untrained::TrainingError;
use crate::gp::dot;

/// Training ends when the Euclidean distance to the best weights is known to be at most this number.
const TOLERANCE: f64 = 1e-6;
/// Largest bound on the distance to the best weights that is accepted after the last pass.
const ACCEPTED: f64 = 1e-3;
/// Largest number of passes over the records; dozens to thousands are usual.
const MAX_PASSES: usize = 100_000;
/// Number of passes between two computations of the duality gap, each of which takes as long as a pass.
const LOOK: usize = 10;

/// The weights that minimise mean hinge loss + lambda/2 |w|^2.
///
/// # Errors
/// [`TrainingError::TooFar`] if the distance between the weights and the best weights may exceed 1e-3.
pub(super) fn train(records: &Records, lambda: f64) -> Result<Vec<f64>, TrainingError> {
    let m = records.len() as f64;
    let rows = || records.signed.chunks_exact(records.d);
    let squares: Vec<f64> = rows().map(|row| dot(row, row)).collect();
    let step = 1.0 / (lambda * m);
    let mut dual = vec![0.0; records.len()];
    let mut weights = vec![0.0; records.d];
    let mut distance = f64::INFINITY;
    for pass in 1..=MAX_PASSES {
        for ((row, square), a) in rows().zip(&squares).zip(&mut dual) {
            // A record of zeros has margin 0 for all weights: its dual number a affects only the dual value, which is
            // largest at a = 1.
            let slope = 1.0 - dot(row, &weights);
            let best = if *square > 0.0 { (*a + slope / (square * step)).clamp(0.0, 1.0) } else { 1.0 };
            let change = (best - *a) * step;
            *a = best;
            if change != 0.0 {
                weights.iter_mut().zip(row).for_each(|(w, x)| *w += change * x);
            }
        }
        if pass % LOOK == 0 {
            // The weights are computed anew, because many updates have accumulated rounding errors.
            weights.fill(0.0);
            for (row, a) in rows().zip(&dual).filter(|(_, a)| **a > 0.0) {
                weights.iter_mut().zip(row).for_each(|(w, x)| *w += a * step * x);
            }
            distance = (2.0 * gap(records, &dual, &weights, lambda) / lambda).sqrt();
            if distance <= TOLERANCE {
                return Ok(weights);
            }
        }
    }
    if distance <= ACCEPTED {
        return Ok(weights);
    }
    Err(TrainingError::TooFar { lambda, distance, accepted: ACCEPTED })
}

/// The duality gap, at least 0 up to rounding. It is computed as the mean of one contribution per record, because in this
/// form little cancels.
///
/// Let hinge_i be max(0, 1 - w.x_i). With w computed from the dual numbers, primal - dual = mean(hinge_i - a_i) +
/// lambda |w|^2, and lambda |w|^2 is the mean of a_i w.x_i. So every record contributes hinge_i - a_i (1 - w.x_i). This
/// contribution is never negative, because 0 <= a_i <= 1 and hinge_i is at least 1 - w.x_i and at least 0.
fn gap(records: &Records, dual: &[f64], weights: &[f64], lambda: f64) -> f64 {
    debug_assert!(lambda > 0.0);
    let each = records.margins(weights).zip(dual).map(|(z, a)| (1.0 - z).max(0.0) - a * (1.0 - z));
    each.sum::<f64>() / records.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn objective(records: &Records, lambda: f64, weights: &[f64]) -> f64 {
        let total: f64 = records.margins(weights).map(|z| (1.0 - z).max(0.0)).sum();
        total / records.len() as f64 + 0.5 * lambda * dot(weights, weights)
    }

    /// One record x = y = 1 (the counterexample to the printed constant of Theorem 7 of Kusner et al. 2015): w is
    /// 1 / lambda, but at most 1.
    #[test]
    fn one_record_has_its_closed_form() {
        let records = Records { d: 1, signed: vec![1.0] };
        for (lambda, expected) in [(2.0, 0.5), (1.0, 1.0), (0.25, 1.0)] {
            let weights = train(&records, lambda).unwrap();
            assert!((weights[0] - expected).abs() < 1e-6, "{lambda}: {weights:?}");
        }
    }

    /// Two records of opposite classes at 1 and 1/2: the mean subgradient vanishes at w = (1 - 1/2) / (2 lambda) as
    /// long as neither margin reaches 1.
    #[test]
    fn two_records_of_opposite_classes_have_the_stated_weight() {
        let records = Records { d: 1, signed: vec![1.0, -0.5] };
        let weights = train(&records, 1.0).unwrap();
        assert!((weights[0] - 0.25).abs() < 1e-6, "{weights:?}");
    }

    #[test]
    fn weights_minimise_the_objective_and_are_bounded() {
        let mut stream = Key::root(4).stream();
        let mut signed = Vec::new();
        for _ in 0..300 {
            let (a, b) = (stream.uniform_between(-0.6, 0.6), stream.uniform_between(-0.6, 0.6));
            let label = if stream.bernoulli(1.0 / (1.0 + libm::exp(-4.0 * a))) { 1.0 } else { -1.0 };
            signed.extend([label * a, label * b, label * 0.5]);
        }
        let records = Records { d: 3, signed };
        for lambda in [1e-3, 0.03, 1.0, 30.0] {
            let weights = train(&records, lambda).unwrap();
            assert!(dot(&weights, &weights).sqrt() <= 1.0 / lambda);
            let best = objective(&records, lambda, &weights);
            for _ in 0..200 {
                let mut other = weights.clone();
                other.iter_mut().for_each(|w| *w += 0.02 * stream.normal());
                assert!(objective(&records, lambda, &other) > best, "lambda = {lambda}");
            }
            // By strong convexity, lambda/2 |w - w*|^2 <= objective(w) - objective(w*) for every w; here w = 0.
            let zero = objective(&records, lambda, &[0.0; 3]) - best;
            assert!(zero >= 0.5 * lambda * dot(&weights, &weights) - 1e-9);
        }
    }

    /// Ten copies of every record have the same minimiser.
    #[test]
    fn repeated_records_change_nothing() {
        let once = Records { d: 2, signed: vec![0.6, 0.5, -0.2, 0.9, 0.1, -0.3] };
        let often = Records { d: 2, signed: once.signed.repeat(10) };
        let (a, b) = (train(&once, 0.05).unwrap(), train(&often, 0.05).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 3e-6), "{a:?} {b:?}");
    }
}
