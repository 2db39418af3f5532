//! A close upper bound on the loss of a few releases together. The range of losses is divided into cells. The
//! computation is fast enough to be repeated for hundreds of sizes of the noise.

use crate::accounting::single;
use crate::vocab::Cost;

/// Number of cells that cover the losses of the release with the widest range, at the usual width of cells.
const CELLS: f64 = 500.0;
/// The upper end of a release's cells is the smallest epsilon at which the release's delta is at most this number. The lower
/// end is minus the smallest epsilon at which the delta of the other direction is at most this number.
const TAIL: f64 = 1e-11;
/// Largest finite loss of one release; larger losses count as infinite.
const FARTHEST: f64 = 80.0;

/// delta(epsilon) of independent releases: an upper bound whose error falls with the square of the cells' width.
///
/// For each release, delta as a function of e^epsilon is computed at the ends of the cells. Between these points, the
/// function is replaced by straight lines (chords). Since delta is convex in e^epsilon, the chords are never below the
/// function. The chords are the delta of a distribution of the loss that has all its mass on the ends of cells, so the
/// distributions of several releases can be convolved.
/// Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, "Connect the dots".
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// One distribution of the loss for each direction: for the data with the unit against the data without the unit,
    /// and for the reverse.
    directions: Vec<Loss>,
}

impl Curve {
    /// The curve of releases, each with its count, with cells `finer` times as narrow as usual; `None` if
    /// `divergence` has no formula for one of the costs.
    pub(crate) fn of(costs: &[(Cost, u64)], finer: f64) -> Option<Self> {
        let directions = [true, false].map(|with| Loss::of(costs, with, finer));
        let [forth, back] = directions;
        Some(Self { directions: vec![forth?, back?] })
    }

    /// The smallest epsilon at `delta` that holds in both directions, at least 0.
    pub(crate) fn epsilon(&self, delta: f64) -> f64 {
        self.directions.iter().map(|loss| loss.epsilon(delta)).fold(0.0, f64::max)
    }
}

/// A distribution of the loss whose mass lies on multiples of a width.
#[derive(Clone, Debug)]
struct Loss {
    width: f64,
    /// The lowest multiple.
    first: i64,
    /// For each multiple of the width from the lowest on, two sums over all finite losses that are at least this multiple:
    /// the sum of their probabilities, and the sum of their probabilities times e^-loss. At the end, two zeros.
    above: Vec<(f64, f64)>,
    /// Probability of an infinite loss.
    infinite: f64,
}

impl Loss {
    fn of(costs: &[(Cost, u64)], with: bool, finer: f64) -> Option<Self> {
        let ranges: Option<Vec<(f64, f64)>> = costs.iter().map(|(cost, _)| range(cost, with)).collect();
        let widest = ranges.as_ref()?.iter().map(|(low, high)| high - low).fold(0.0, f64::max);
        let width = widest / CELLS / finer;
        let (mut first, mut masses, mut finite) = (0i64, vec![1.0], 1.0);
        for ((cost, count), (low, high)) in costs.iter().zip(ranges?) {
            let (start, one) = cells(cost, with, (low, high), width)?;
            let (mut square_first, mut square, mut left) = (start, one, *count);
            finite *= libm::pow(square.iter().sum::<f64>(), *count as f64);
            // By repeated squaring.
            while left > 0 {
                if left & 1 == 1 {
                    (first, masses) = (first + square_first, convolved(&masses, &square));
                }
                left >>= 1;
                if left > 0 {
                    (square_first, square) = (2 * square_first, convolved(&square, &square));
                }
            }
        }
        let mut above = vec![(0.0, 0.0); masses.len() + 1];
        for (k, mass) in masses.iter().enumerate().rev() {
            let loss = (first + k as i64) as f64 * width;
            let (sum, weighted) = above[k + 1];
            above[k] = (sum + mass, weighted + mass * libm::exp(-loss));
        }
        Some(Self { width, first, above, infinite: (1.0 - finite).max(0.0) })
    }

    fn epsilon(&self, delta: f64) -> f64 {
        if delta <= self.infinite {
            return f64::INFINITY;
        }
        // Delta at the multiple with index k, computed from the losses at or above this multiple.
        let at = |k: usize| {
            let epsilon = (self.first + k as i64) as f64 * self.width;
            self.infinite + self.above[k].0 - libm::exp(epsilon) * self.above[k].1
        };
        let (mut low, mut high) = (0, self.above.len() - 1);
        if at(low) <= delta {
            return 0.0;
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if at(middle) > delta { low = middle } else { high = middle }
        }
        let (sum, weighted) = self.above[high];
        if weighted <= 0.0 {
            return ((self.first + high as i64) as f64 * self.width).max(0.0);
        }
        libm::log((self.infinite + sum - delta) / weighted).max(0.0)
    }
}

/// The hockey-stick divergence of one release at e^epsilon, for any epsilon. If `with` is true, it is the divergence of
/// the output distribution with the unit from the distribution without the unit, otherwise the reverse. `None` for a
/// cost without a formula here.
fn divergence(cost: &Cost, with: bool, epsilon: f64) -> Option<f64> {
    match *cost {
        Cost::Gaussian { noise_multiplier } => Some(single::gaussian_delta(1.0 / noise_multiplier, epsilon)),
        Cost::Laplace { scale } => {
            let far = 1.0 / scale;
            Some(if epsilon < -far {
                -libm::expm1(epsilon)
            } else {
                (-libm::expm1(0.5 * (epsilon - far))).max(0.0)
            })
        }
        Cost::PoissonGaussian { rate, noise_multiplier } if with => {
            // Balle, Barthe and Gaboardi 2018, Theorem 8, at any e^epsilon above 1 - rate.
            let rest = libm::expm1(epsilon) / rate + 1.0;
            Some(if rest <= 0.0 {
                -libm::expm1(epsilon)
            } else {
                rate * single::gaussian_delta(1.0 / noise_multiplier, libm::log(rest))
            })
        }
        Cost::PoissonGaussian { .. } => {
            let other = divergence(cost, true, -epsilon)?;
            Some((libm::exp(epsilon) * other - libm::expm1(epsilon)).max(0.0))
        }
        _ => None,
    }
}

/// The range of the losses of one release, without its tails. The upper end is the epsilon at which delta falls to [`TAIL`],
/// and the lower end is minus the epsilon at which delta of the other direction does. Neither end is farther from 0 than
/// [`FARTHEST`].
fn range(cost: &Cost, with: bool) -> Option<(f64, f64)> {
    let curve = |epsilon: f64| divergence(cost, with, epsilon);
    curve(0.0)?;
    let end = |sign: f64| {
        let done = |distance: f64| {
            let other = if sign > 0.0 { with } else { !with };
            divergence(cost, other, distance).is_none_or(|delta| delta <= TAIL)
        };
        let (mut low, mut high) = (0.0, FARTHEST);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if done(middle) { high = middle } else { low = middle }
        }
        sign * high
    };
    Some((end(-1.0), end(1.0)))
}

/// The distribution of the loss whose delta is given by the chords (see [`Curve`]): its lowest multiple of `width`, and
/// the probabilities of this multiple and of those above it. If `with` is true, these are probabilities under the output
/// distribution with the unit, otherwise under the output distribution without the unit.
fn cells(cost: &Cost, with: bool, (low, high): (f64, f64), width: f64) -> Option<(i64, Vec<f64>)> {
    let (from, to) = ((low / width).floor() as i64, (high / width).ceil() as i64);
    let ends: Option<Vec<(f64, f64)>> = (from..=to)
        .map(|k| divergence(cost, with, k as f64 * width).map(|delta| (libm::exp(k as f64 * width), delta)))
        .collect();
    let ends = ends?;
    let mut before = (ends[0].1 - 1.0) / ends[0].0;
    let mut masses = Vec::with_capacity(ends.len());
    for (k, (ratio, delta)) in ends.iter().enumerate() {
        let slope = ends.get(k + 1).map_or(0.0, |(next, then)| (then - delta) / (next - ratio));
        masses.push((ratio * (slope - before)).max(0.0));
        before = slope;
    }
    Some((from, masses))
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        sums[i..i + b.len()].iter_mut().zip(b).for_each(|(sum, y)| *sum += x * y);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Accountant, Composition, Tight};
    use crate::vocab::Delta;

    /// The curve is compared with the tight accountant, which computes losses in another way. With narrow cells, the
    /// curve's epsilon is never more than 1e-4 below the accountant's epsilon, and never above the curve's epsilon with
    /// wide cells. With wide cells, the curve's epsilon is less than 5e-3 above the accountant's epsilon.
    #[test]
    fn the_curve_agrees_with_the_accountant() {
        let sampled = |rate, noise_multiplier| Cost::PoissonGaussian { rate, noise_multiplier };
        for costs in [
            vec![(sampled(0.25, 1.0), 4)],
            vec![(sampled(0.5, 0.8), 2), (sampled(0.25, 1.5), 3)],
            vec![(Cost::Gaussian { noise_multiplier: 2.0 }, 3)],
            vec![(Cost::Laplace { scale: 1.0 }, 3)],
        ] {
            let composition: Composition = costs.iter().map(|(cost, count)| (cost, *count)).collect();
            for delta in [1e-6, 1e-3, 0.1] {
                let exact = Tight.price(&composition, Delta::new(delta).unwrap()).epsilon;
                let rough = Curve::of(&costs, 1.0).unwrap().epsilon(delta);
                let fine = Curve::of(&costs, 2.0).unwrap().epsilon(delta);
                assert!(
                    fine >= exact - 1e-4 && fine <= rough + 1e-9,
                    "{costs:?}, {delta}: {fine} for {exact}"
                );
                assert!(rough - exact < 5e-3, "{costs:?}, {delta}: {rough} for {exact}");
            }
        }
    }
}
