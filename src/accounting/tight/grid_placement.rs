//! Places the points of a graded grid (a grid with cells of different widths) where they reduce the error most. The
//! results of a coarser pass show where that is.
//!
//! P and Q are the two output distributions of a release, and its loss is ln(P/Q). A pass computes two laws
//! (distributions) of the sum of all losses: a worse law, whose hockey-stick divergences are at least as large as the
//! exact ones, and a better law, whose divergences are at most as large.
//!
//! Let f be the density, under P, of the losses in a cell of width h. Let g be the density of the sum of all other
//! losses, at epsilon minus the cell's loss. The cell raises the hockey-stick curve at epsilon by about f h^3 g / 12 in
//! the worse law, and lowers it by half as much in the better law. The total error over all cells is smallest if their
//! widths are proportional to (f g)^{-1/3} (Panter and Dite 1951). The density of the sum of all losses serves as an
//! approximation of g. Losses are added up in a sequence of sums, and each grid is for one of these sums. The
//! approximation is good for all sums except the last few, because each of the last few contains a large part of all
//! losses.

use super::contour::EpsilonBounds;
use super::masses::Masses;

/// Approximate largest number of points of a profile.
const POINTS: usize = 200;
/// The part of a grid's points that is placed by the results of the previous pass.
const GUIDED: f64 = 0.8;
/// The part that takes the place of [`GUIDED`] if all laws are sparse, that is, if all of them have a bulk and rare
/// large losses. It is larger than [`GUIDED`], because the results of the previous pass describe sparse laws better.
const GUIDED_OF_SPARSE: f64 = 0.9;

/// Smallest number of points that are placed without the results of the previous pass.
const MIN_PLAIN: f64 = 24.0;

/// The approximate distribution of a sum of losses: a list of losses, with P's mass above each of them.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    loss: Vec<f64>,
    /// P's mass above each loss, added up from the largest loss, so that small tails are accurate.
    above: Vec<f64>,
}

impl Profile {
    pub(super) fn of(law: &Masses) -> Self {
        let stride = law.loss.len().div_ceil(POINTS).max(1);
        let mut profile = Self { loss: Vec::new(), above: Vec::new() };
        let mut above = 0.0;
        for (k, (&loss, &p)) in law.loss.iter().zip(&law.p).enumerate().rev() {
            // Half of the mass at a grid point counts as above the point.
            if k % stride == 0 || k + 1 == law.loss.len() {
                profile.loss.push(loss);
                profile.above.push(above + 0.5 * p);
            }
            above += p;
        }
        profile.loss.reverse();
        profile.above.reverse();
        profile
    }

    /// P's mass above a loss, interpolated.
    fn from(&self, loss: f64) -> f64 {
        let next = self.loss.partition_point(|known| *known <= loss);
        let Some(last) = next.checked_sub(1) else { return self.above.first().copied().unwrap_or(0.0) };
        let Some(&higher) = self.loss.get(next) else { return 0.0 };
        let part = (loss - self.loss[last]) / (higher - self.loss[last]);
        self.above[last] + part * (self.above[next] - self.above[last])
    }

    fn between(&self, low: f64, high: f64) -> f64 {
        (self.from(low) - self.from(high)).max(0.0)
    }
}

/// The results of a pass that the next pass uses.
#[derive(Clone, Debug)]
pub(super) struct PassResults {
    /// The distribution of every sum, in the order in which the sums are formed.
    pub(super) sums: Vec<Profile>,
    /// The distribution of the total loss.
    pub(super) total: Profile,
    /// The bounds between which epsilon lies.
    pub(super) ends: EpsilonBounds,
    /// Whether all laws have a bulk and rare large losses.
    pub(super) is_sparse: bool,
}

impl PassResults {
    /// A grid of about `points` points for the sum with the number `sum`; sums are numbered from 0 in the order in
    /// which they are formed. The grid has the points of `plain`, a grid made without the results of a previous pass,
    /// and further points where they reduce the error most. If the previous pass has no usable results for this sum,
    /// the grid is `plain` itself.
    pub(super) fn grid(&self, sum: usize, plain: Vec<f64>, points: f64) -> Vec<f64> {
        let (Some(own), Some(&low), Some(&high)) = (self.sums.get(sum), plain.first(), plain.last()) else {
            return plain;
        };
        let EpsilonBounds { lower, upper } = self.ends;
        let inside = |x: &f64| low < *x && *x < high;
        let mirrored = |epsilon: f64| self.total.loss.iter().map(move |loss| epsilon - loss);
        let mut marks: Vec<f64> = plain.clone();
        marks.extend(own.loss.iter().copied().filter(inside));
        marks.extend(mirrored(lower).filter(inside));
        marks.extend(mirrored(upper).filter(inside));
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let weights: Vec<f64> = marks
            .windows(2)
            .map(|ends| {
                let width = ends[1] - ends[0];
                let here = own.between(ends[0], ends[1]) / width;
                let rest = self.total.between(lower - ends[1], upper - ends[0]) / (width + upper - lower);
                width * libm::cbrt(here * rest)
            })
            .collect();
        let all: f64 = weights.iter().sum();
        if !(all > 0.0 && all.is_finite()) {
            return plain;
        }
        let mut grid = plain;
        let share = all / (self.guided() * points).max(1.0);
        let mut next = 0.5 * share;
        let mut passed = 0.0;
        for (weight, ends) in weights.iter().zip(marks.windows(2)) {
            while next < passed + weight {
                grid.push(ends[0] + (ends[1] - ends[0]) * ((next - passed) / weight));
                next += share;
            }
            passed += weight;
        }
        grid.sort_by(f64::total_cmp);
        // Points closer than the rounding error are merged.
        let least = 1e-14 * (high - low);
        grid.dedup_by(|next, last| *next - *last <= least.max(4e-15 * last.abs()));
        if let Some(last) = grid.last_mut() {
            *last = last.max(high);
        }
        grid
    }

    fn guided(&self) -> f64 {
        if self.is_sparse { GUIDED_OF_SPARSE } else { GUIDED }
    }

    /// The number of points of the grid `plain` from which [`Self::grid`] makes a grid of `points`
    /// points.
    pub(super) fn plain_points(&self, points: f64) -> f64 {
        ((1.0 - self.guided()) * points).max(MIN_PLAIN)
    }
}
