//! A robust centre of several estimates: the medoid, or the geometric median.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How k estimates are combined. Distances are in the norm of the learner's matrix V, which MomaGpUcb defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Middle {
    /// The estimate with the smallest median distance to the other estimates, as in MoMA; of several such estimates, the
    /// first.
    #[default]
    Medoid,
    /// The point with the smallest sum of distances to all estimates. Minsker 2015, "Geometric median and robust
    /// estimation in Banach spaces". The papers on locally private Bayesian optimisation (LDP-BO) do not use this point.
    GeometricMedian,
}

/// Largest number of steps of Weiszfeld's iteration.
const STEPS: usize = 1000;
/// Let F be the length of the sum of the unit vectors from the centre to the points that are not at the centre. The
/// iteration ends when F minus the number of points at the centre is at most this constant times the number of all points.
const STILL: f64 = 1e-12;

/// The robust centre of points that are stored one after the other, with `dimension` coordinates each.
pub(super) fn middle(kind: Middle, points: &[f64], dimension: usize) -> Vec<f64> {
    let points: Vec<&[f64]> = points.chunks(dimension.max(1)).collect();
    match kind {
        Middle::Medoid => medoid(&points).map_or(Vec::new(), |index| points[index].to_vec()),
        Middle::GeometricMedian => geometric_median(&points, dimension),
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The index of the point, among k points `[d]`, with the smallest median Euclidean distance to the other points; of several
/// such points, the first. All coordinates have the same unit. The median of an even number of distances is the average of
/// the two middle distances. `None` without points. O(k^2 d).
///
/// Source: Zhou and Tan 2021, Algorithm 3.
#[must_use]
pub fn medoid(points: &[&[f64]]) -> Option<usize> {
    let k = points.len();
    let mut distances = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..i {
            let d = distance(points[i], points[j]);
            (distances[i * k + j], distances[j * k + i]) = (d, d);
        }
    }
    let mut best: Option<(f64, usize)> = None;
    for (index, row) in distances.chunks_mut(k.max(1)).enumerate() {
        row.swap(index, k - 1);
        let median = median(&mut row[..k - 1]);
        if best.is_none_or(|(smallest, _)| median < smallest) {
            best = Some((median, index));
        }
    }
    best.map(|(_, index)| index)
}

fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if even { 0.5 * (below.iter().fold(0.0, |a: f64, &b| a.max(b)) + upper) } else { upper }
}

/// The geometric median, by Weiszfeld's iteration as corrected by Vardi and Zhang 2000. The iteration starts at the average
/// of the points.
fn geometric_median(points: &[&[f64]], dimension: usize) -> Vec<f64> {
    let mut centre = vec![0.0; dimension];
    for point in points {
        centre.iter_mut().zip(*point).for_each(|(sum, x)| *sum += x / points.len() as f64);
    }
    for _ in 0..STEPS {
        let (mut weights, mut here) = (0.0, 0.0);
        let mut pull = vec![0.0; dimension]; // sum of unit vectors towards the points not at the centre
        for point in points {
            let away = distance(point, &centre);
            if away == 0.0 {
                here += 1.0;
                continue;
            }
            weights += 1.0 / away;
            pull.iter_mut().zip(*point).zip(&centre).for_each(|((sum, x), c)| *sum += (x - c) / away);
        }
        let force = distance(&pull, &vec![0.0; dimension]);
        if weights == 0.0 || force <= here {
            break; // the centre is already the geometric median
        }
        let step = (1.0 - here / force) / weights;
        centre.iter_mut().zip(&pull).for_each(|(c, pull)| *c += step * pull);
        if step * force * weights <= STILL * points.len() as f64 {
            break;
        }
    }
    centre
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_geometric_median_minimises_the_sum_of_distances() {
        let points = [0.0, 0.0, 4.0, 0.0, 1.0, 3.0, 50.0, 50.0, 1.5, 1.0];
        let rows: Vec<&[f64]> = points.chunks(2).collect();
        let cost = |c: &[f64]| rows.iter().map(|row| distance(row, c)).sum::<f64>();
        let found = middle(Middle::GeometricMedian, &points, 2);
        let best = cost(&found);
        for (dx, dy) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(cost(&[found[0] + dx, found[1] + dy]) > best - 1e-12);
        }
        // Three of four points are equal: the geometric median is their common place, and the average lies elsewhere.
        let found = middle(Middle::GeometricMedian, &[1.0, 1.0, 1.0, 9.0], 1);
        assert!((found[0] - 1.0).abs() < 1e-6, "{found:?}");
    }
}
