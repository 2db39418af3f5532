//! Measures of the differences between agents' functions and between their domains.

use crate::gp::largest;

/// The mean, over all pairs of agents, of the correlation of their functions over the points. Functions that are constant
/// are left out; `None` if fewer than two remain.
pub(super) fn mean_correlation(functions: &[&[f64]]) -> Option<f64> {
    let unit = |values: &&[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let apart: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let length = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
        (length > 0.0).then(|| apart.into_iter().map(|x| x / length).collect::<Vec<f64>>())
    };
    let units: Vec<Vec<f64>> = functions.iter().filter_map(unit).collect();
    let n = units.len() as f64;
    let points = units.first()?.len();
    // Each function, centred and divided by its length, is a unit vector, and the inner product of two of these is the
    // correlation of their functions. The squared length of the sum of n unit vectors is n plus twice the sum of the inner
    // products of all n (n - 1) / 2 pairs.
    let sum = |point: usize| units.iter().map(|unit| unit[point]).sum::<f64>();
    let square = (0..points).map(|point| sum(point) * sum(point)).sum::<f64>();
    (units.len() > 1).then(|| (square - n) / (n * (n - 1.0)))
}

/// The mean, over agents, of the regret of the agent's own function at the point where the mean of all functions is
/// largest: how much agents lose on average if all use this one point.
pub(super) fn common_optimum_gap(functions: &[&[f64]]) -> f64 {
    let Some(points) = functions.first().map(|values| values.len()) else { return 0.0 };
    let mean: Vec<f64> =
        (0..points).map(|point| functions.iter().map(|values| values[point]).sum::<f64>()).collect();
    let common = largest(&mean);
    let best = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    functions.iter().map(|values| best(values) - values[common]).sum::<f64>() / functions.len() as f64
}

/// How much the domains of two agents overlap. For agents A and B, the overlap is the share of A's points that also
/// belong to the domain of B. The result is the mean over all ordered pairs (A, B), each weighted by A's number of
/// points. `None` if there are fewer than two agents.
pub(super) fn common_share(parts: &[&[bool]]) -> Option<f64> {
    let points = parts.first()?.len();
    let holders = |point: usize| parts.iter().filter(|part| part[point]).count() as f64;
    let (mut all, mut pairs) = (0.0, 0.0);
    for count in (0..points).map(holders) {
        (all, pairs) = (all + count, pairs + count * (count - 1.0));
    }
    (parts.len() > 1).then(|| pairs / (all * (parts.len() - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_of_differences_by_hand() {
        let (a, b, flat) = ([0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [5.0; 3]);
        assert!((mean_correlation(&[&a, &b]).unwrap() + 1.0).abs() < 1e-12);
        // The constant function is left out. The three other functions form three pairs, with correlations 1, -1 and -1.
        assert!((mean_correlation(&[&a, &a, &b, &flat]).unwrap() + 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(mean_correlation(&[&a, &flat]), None);
        // Each of the two agents has two points, and one point belongs to both: a share of 2 / 4.
        let (first, second) = ([true, true, false], [false, true, true]);
        assert_eq!(common_share(&[&first, &second]), Some(0.5));
        assert_eq!(common_share(&[&first]), None);
        // The mean of a, a and b is (2, 3, 4) / 3, largest at the last point, where b is 2 below its own maximum.
        assert!((common_optimum_gap(&[&a, &a, &b]) - 2.0 / 3.0).abs() < 1e-12);
    }
}
