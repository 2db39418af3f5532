//! Sums of independent losses, on grids that are fine where most of the mass is and coarse far away, so that a bulk of tiny
//! losses and a few large losses are both resolved.
//!
//! P and Q are the two output distributions of a release, and its loss is ln(P/Q).
//!
//! The law of a sum of two losses follows from the laws of the two losses. If these laws are on grids of n points, there
//! are n^2 products of masses, which are summed up in the cells of the next grid ([`products`]). Every sum is formed twice:
//! from laws whose hockey-stick divergences are at least the exact ones (worse), and from laws whose divergences are at
//! most the exact ones (better). The worse laws give an upper bound on epsilon, and the better laws give a lower bound. The
//! spacing may vary within a grid and from sum to sum. A first pass places points by a rule of thumb, later passes place
//! them where they reduce the error most ([`PassResults`]). The last sum is not formed: epsilon is computed directly from
//! the last two laws. A sum of losses that all have the same law with two values is binomial, and needs no grid unless it
//! has too many values.

use super::binomial;
use super::contour::{EpsilonBounds, Laws};
use super::convolution;
use super::grid_placement::{PassResults, Profile};
use super::masses::{self, Masses, gathered, products, worse};
use super::windows::{self, Window};
use crate::accounting::laws::{Law, TwoAtoms};

const ROUNDOFF: f64 = 1.2e-16;
/// Largest loss on a grid; larger losses count as infinite, because Q's masses could underflow.
const FARTHEST: f64 = 500.0;

/// The shape of grids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Approximate number of points.
    pub(super) points: f64,
    /// An estimate of epsilon.
    pub(super) sought: f64,
    /// P-mass that may be cut off at either end, for all releases together.
    pub(super) lost: f64,
    /// Total number of releases.
    pub(super) releases: f64,
}

/// One pass over all sums: its inputs from the previous pass, and its results for the next pass.
struct Pass<'a> {
    shape: &'a Shape,
    guide: Option<&'a PassResults>,
    sums: Vec<Profile>,
}

impl Pass<'_> {
    /// A grid from `low` to `high` for the sum of losses with `laws`; it has about `share` times a full grid's points.
    fn grid(&self, (low, high): (f64, f64), laws: [Option<&Masses>; 2], share: f64) -> Vec<f64> {
        let low = low.max(-FARTHEST);
        let ends = (low, high.min(FARTHEST).max(low));
        let points = self.shape.points * share;
        match self.guide {
            Some(guide) => {
                let plain = plain_grid(ends, laws, guide.plain_points(points), self.shape.sought);
                guide.grid(self.sums.len(), plain, points)
            }
            None => plain_grid(ends, laws, points, self.shape.sought),
        }
    }

    /// Trims a sum and adds its distribution to the results of the pass.
    fn formed(&mut self, mut sum: BracketingLaws) -> BracketingLaws {
        sum.trim(self.shape);
        self.sums.push(Profile::of(&sum.worse));
        sum
    }
}

/// A grid for the sum of losses with `laws`, dense near the centre of the sum's bulk and from 0 to `sought`, the estimate of
/// epsilon.
fn plain_grid(ends: (f64, f64), laws: [Option<&Masses>; 2], points: f64, sought: f64) -> Vec<f64> {
    let (mut centre, mut square) = (0.0, 0.0);
    for law in laws.into_iter().flatten() {
        let (a, b) = (law.quantile(0.16), law.quantile(0.84));
        centre += law.quantile(0.5);
        square += 0.25 * (b - a) * (b - a);
    }
    let (low, high) = ends;
    let wide = high - low;
    if wide <= 0.0 {
        return vec![low];
    }
    let deviation = square.sqrt().max(1e-12 * wide);
    let scale = 0.5 * deviation;
    let log = libm::log1p((high - centre).max(0.0) / scale) + libm::log1p((centre - low).max(0.0) / scale);
    let near = (centre.min(0.0) - 0.1 * sought, 1.2 * sought);
    let length = near.1 - near.0 + scale;
    let bulk = 3.0 * deviation;
    let density = |x: f64| {
        let away = (x - centre).abs() + scale;
        let mut all = 0.3 / (log * away);
        if near.0 < x && x < near.1 {
            // A spacing between an even and a geometric one.
            all += 0.6 * 0.6 / length * libm::pow(length / away, 0.4);
        }
        if (x - centre).abs() < bulk {
            all += 0.1 / (2.0 * bulk);
        }
        points * all
    };
    let mut grid = vec![low];
    let mut x = low;
    while x < high {
        let step = 1.0 / density(x);
        let step = 1.0 / density(x + 0.5 * step).max(density(x));
        x += step.max(1e-15 * x.abs());
        // The last point lies above `high`, so that a loss of exactly `high` is not above the grid.
        grid.push(if x < high { x } else { high + 1e-12 * (wide + high.abs()) });
    }
    grid
}

/// A worse and a better law of the same loss.
#[derive(Clone, Debug)]
struct BracketingLaws {
    worse: Masses,
    better: Masses,
    /// The worse law's mass at an infinite loss.
    infinite: f64,
    /// Bound on the relative error of the masses.
    relative: f64,
    /// Number of losses in this sum.
    releases: f64,
}

impl BracketingLaws {
    /// The two laws of one loss within `span`; `None` if `span` is empty or reaches above [`FARTHEST`], or if there
    /// would be too many cells, or no cell with mass.
    fn of(law: &dyn Law, span: (f64, f64), pass: &mut Pass) -> Option<Self> {
        let (low, high) = (span.0.max(-FARTHEST), span.1);
        if low >= high || high > FARTHEST {
            return None;
        }
        let is_cut_twice = pass.guide.is_some() && law.bulk().is_some();
        let points = if is_cut_twice { ROUGH } else { pass.shape.points };
        let plain = windows::plain(law, (low, high), points, pass.shape.sought);
        let mut cut = windows::cut(law, &plain)?;
        if cut.worse.p.is_empty() {
            return None;
        }
        let grid = pass.grid(cut.worse.end(), [Some(&cut.worse), None], 1.0);
        if is_cut_twice {
            // Dividing the law at the grid's own points avoids a second discretisation error.
            let own: Vec<Window> = windows::between(&grid, (low, high));
            cut = windows::cut(law, &own)?;
        }
        let (worse, above) = worse(&gathered(&cut.worse, &grid), &grid);
        Some(pass.formed(Self {
            worse,
            better: masses::better(&gathered(&cut.better, &grid)),
            infinite: cut.infinite + above,
            relative: convolution::cell_error_bound(law),
            releases: 1.0,
        }))
    }

    /// The sum of `count` independent losses with the same law of two values. It is exact except for the trimmed ends,
    /// unless it has too many atoms.
    fn of_atoms(law: &TwoAtoms, count: u64, pass: &mut Pass) -> Self {
        let most = count as f64 * law.high;
        let (empty, masses) = binomial::masses(law.p_high, law.p_low, count);
        let mut sum = Masses::default();
        let mut atoms: Vec<(usize, f64)> = (empty..).zip(masses).filter(|(_, mass)| *mass > 0.0).collect();
        atoms.reverse();
        for (low_ones, mass) in atoms {
            sum.put(most - low_ones as f64 * (law.high - law.low), mass);
        }
        let relative = 4.0 * ROUNDOFF * (sum.p.len() as f64 + 8.0);
        let mut one =
            Self { worse: sum.clone(), better: sum, infinite: 0.0, relative, releases: count as f64 };
        one.trim(pass.shape);
        if one.worse.p.len() as f64 > MAX_ATOMS * pass.shape.points {
            let grid = pass.grid(one.worse.end(), [Some(&one.worse), None], 1.0);
            let (worse, above) = worse(&gathered(&one.worse, &grid), &grid);
            one.worse = worse;
            one.infinite += above;
            one.better = masses::better(&gathered(&one.better, &grid));
        }
        pass.formed(one)
    }

    /// The sum of two independent losses, on a grid with approximately `share` times the points of a full grid. Without
    /// `other`, the second loss has the same law as the first.
    fn plus(&self, other: Option<&Self>, share: f64, pass: &mut Pass) -> Self {
        let with = other.unwrap_or(self);
        let same = other.is_none();
        let (a, b) = (self.worse.end(), with.worse.end());
        let grid = pass.grid((a.0 + b.0, a.1 + b.1), [Some(&self.worse), Some(&with.worse)], share);
        let releases = self.releases + with.releases;
        let lost = pass.shape.lost * releases / pass.shape.releases;
        let (cells, dropped) = products(&self.worse, &with.worse, same, &grid, lost);
        let (worse, above) = worse(&cells, &grid);
        let better = masses::better(&products(&self.better, &with.better, same, &grid, lost).0);
        let points = worse.p.len().max(better.p.len()) as f64;
        pass.formed(Self {
            worse,
            better,
            infinite: self.infinite + with.infinite + above + dropped,
            relative: self.relative + with.relative + ROUNDOFF * (points + 8.0),
            releases,
        })
    }

    /// Removes negligible masses at both ends. In the worse law, the largest losses (and those above 1.01 [`FARTHEST`])
    /// become infinite, and the smallest ones are raised to the smallest that is kept. The better law drops both ends.
    fn trim(&mut self, shape: &Shape) {
        let lost = shape.lost * self.releases / shape.releases;
        let ends = |law: &Masses| {
            let (mut below, mut above) = (0.0, 0.0);
            let (mut from, mut to) = (0, law.p.len());
            while from + 1 < to && below + law.p[from] <= lost {
                below += law.p[from];
                from += 1;
            }
            while from + 1 < to && above + law.p[to - 1] <= lost {
                above += law.p[to - 1];
                to -= 1;
            }
            (from, to, below, above)
        };
        let (from, mut to, below, mut above) = ends(&self.worse);
        while from + 1 < to && self.worse.loss[to - 1] > 1.01 * FARTHEST {
            above += self.worse.p[to - 1];
            to -= 1;
        }
        self.worse.retain_range(from, to);
        if below > 0.0 {
            let (loss, p) = (self.worse.loss[0], self.worse.p[0] + below);
            (self.worse.p[0], self.worse.q[0]) = (p, p * libm::exp(-loss));
            self.worse.u[0] = -p * libm::expm1(-loss);
        }
        self.infinite += above;
        if !self.better.p.is_empty() {
            let (from, to, ..) = ends(&self.better);
            self.better.retain_range(from, to);
        }
    }

    /// Two sums that together are the sum of `count` independent losses, for a `count` of at least 2. The first has as many
    /// losses as the largest power of two below `count`, and is formed by repeated doubling. The second has the rest.
    fn times(self, count: u64, pass: &mut Pass) -> (Self, Self) {
        let highest = u64::BITS - 1 - count.leading_zeros();
        let mut power = self;
        let mut rest: Option<Self> = None;
        for digit in 0..highest {
            if count >> digit & 1 == 1 {
                rest = Some(match rest {
                    // A sum of few losses has a small error, so fewer points are enough for it.
                    Some(rest) => {
                        let share = ((rest.releases + power.releases) / count as f64).sqrt().sqrt();
                        rest.plus(Some(&power), share.max(MIN_SHARE), pass)
                    }
                    None => power.clone(),
                });
            }
            if digit + 1 == highest && rest.is_none() {
                return (power.clone(), power);
            }
            power = power.plus(None, 1.0, pass);
        }
        match rest {
            Some(rest) => (power, rest),
            None => (power, Self::nothing()),
        }
    }

    fn nothing() -> Self {
        let mut none = Masses::default();
        none.put(0.0, 1.0);
        Self { worse: none.clone(), better: none, infinite: 0.0, relative: 0.0, releases: 0.0 }
    }
}

/// Number of points of the rough grid that finds where most of a law's mass is.
const ROUGH: f64 = 16.0;
/// The smallest `share` of a grid's points, for a sum of few losses.
const MIN_SHARE: f64 = 0.3;
/// Largest number of atoms of a sum that is not moved to a grid, as a multiple of the number of points of a full grid.
const MAX_ATOMS: f64 = 4.0;

/// Lower and upper bound on epsilon for the sum of two losses, at least 0.
fn bounds_of_sum(a: &BracketingLaws, b: &BracketingLaws, delta: f64) -> EpsilonBounds {
    let relative = 1.0 + a.relative + b.relative + ROUNDOFF * (a.worse.p.len() + b.worse.p.len() + 16) as f64;
    // Whether a worse law lacks mass: its finite masses and its infinite mass must add up to 1.
    let lacks =
        |sum: &BracketingLaws| 1.0 - sum.infinite - sum.worse.p.iter().sum::<f64>() > 2.0 * (relative - 1.0);
    let finite = |law: &Masses| law.p.iter().chain(&law.q).chain(&law.u).all(|mass| mass.is_finite());
    let are_finite = |a: &Masses, b: &Masses| finite(a) && finite(b) && relative < 1.01;
    let upper = if are_finite(&a.worse, &b.worse) && !lacks(a) && !lacks(b) {
        let infinite = a.infinite + b.infinite;
        masses::solve(&a.worse, &b.worse, delta / relative - relative * infinite).1 * relative
    } else {
        f64::INFINITY
    };
    let lower = if are_finite(&a.better, &b.better) {
        masses::solve(&a.better, &b.better, delta * relative).0 / relative
    } else {
        0.0
    };
    EpsilonBounds { lower: if lower.is_finite() { lower } else { 0.0 }, upper }
}

/// Lower and upper bound on epsilon for a whole composition, by grids of one shape, and the results that the next pass uses;
/// `None` if a law cannot be divided into cells.
pub(super) fn ends(
    laws: &Laws,
    spans: &[(f64, f64)],
    shape: &Shape,
    guide: Option<&PassResults>,
    delta: f64,
) -> Option<(EpsilonBounds, PassResults)> {
    let mut pass = Pass { shape, guide, sums: Vec::new() };
    // The scales of laws with a bulk and rare large losses differ from those of other laws, so the two groups are combined
    // only in the last sum.
    let (mut sparse, mut others) = (Vec::new(), Vec::new());
    for ((law, count), span) in laws.iter().zip(spans) {
        let group = if law.bulk().is_some() { &mut sparse } else { &mut others };
        match law.two_atoms() {
            Some(atoms) => group.push(BracketingLaws::of_atoms(&atoms, *count, &mut pass)),
            None => {
                let one = BracketingLaws::of(law.as_ref(), *span, &mut pass)?;
                if *count == 1 {
                    group.push(one);
                } else {
                    let (power, rest) = one.times(*count, &mut pass);
                    group.extend([power, rest]);
                }
            }
        }
    }
    let is_sparse = others.is_empty();
    let (a, b) = if sparse.is_empty() || others.is_empty() {
        let mut all = if sparse.is_empty() { others } else { sparse };
        let last = all.pop()?;
        (sum_of(all, &mut pass), last)
    } else {
        (sum_of(sparse, &mut pass), sum_of(others, &mut pass))
    };
    let found = bounds_of_sum(&a, &b, delta);
    let coarse = |law: &Masses| {
        let grid = plain_grid(law.end(), [Some(law), None], COARSE, shape.sought);
        worse(&gathered(law, &grid), &grid).0
    };
    let (a, b) = (coarse(&a.worse), coarse(&b.worse));
    let (low, high) = (a.end().0 + b.end().0, a.end().1 + b.end().1);
    let grid = plain_grid((low, high.max(low)), [Some(&a), Some(&b)], COARSE, shape.sought);
    let total = worse(&products(&a, &b, false, &grid, 0.0).0, &grid).0;
    Some((found, PassResults { sums: pass.sums, total: Profile::of(&total), ends: found, is_sparse }))
}

/// Number of points of the grid for the distribution of the total loss; the next pass uses this distribution.
const COARSE: f64 = 400.0;
/// Factor on the number of points of a sum that is not used in further sums.
const FINE: f64 = 3.0;

/// The sum of several losses; those with the fewest points are added first.
fn sum_of(mut parts: Vec<BracketingLaws>, pass: &mut Pass) -> BracketingLaws {
    parts.sort_by_key(|part| part.worse.p.len());
    let last = parts.len().saturating_sub(1);
    let sum = parts.into_iter().enumerate().fold(None, |sum: Option<BracketingLaws>, (k, part)| {
        Some(match sum {
            Some(sum) => sum.plus(Some(&part), if k == last { FINE } else { 1.0 }, pass),
            None => part,
        })
    });
    sum.unwrap_or_else(BracketingLaws::nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::laws::{Direction, PoissonGaussian};

    fn shape(points: f64, sought: f64, releases: f64) -> Shape {
        Shape { points, sought, lost: 1e-14, releases }
    }

    fn masses(law: &Masses) -> (f64, f64) {
        (law.p.iter().sum(), law.q.iter().sum())
    }

    /// P has mass 1 and Q at most 1, however a law is divided: mass that is missing from the law of one release would be
    /// missing once for each release.
    #[test]
    fn a_law_keeps_the_masses_of_both_neighbours() {
        for (rate, sigma) in [(1e-6, 0.3), (1e-4, 1.0), (0.01, 0.5), (0.3, 3.0), (1e-3, 50.0), (0.9, 0.4)] {
            for direction in Direction::BOTH {
                let law = PoissonGaussian::new(rate, sigma, direction);
                let shape = shape(200.0, 1.0, 1e5);
                let mut pass = Pass { shape: &shape, guide: None, sums: Vec::new() };
                let one = BracketingLaws::of(&law, law.span(1e-18), &mut pass).unwrap();
                for (law, infinite) in [(&one.worse, one.infinite), (&one.better, 0.0)] {
                    let (p, q) = masses(law);
                    assert!((p + infinite - 1.0).abs() < 2e-12, "{rate} {sigma} {direction:?}: P {p}");
                    // The tails that are cut off may have more mass under Q than under P, but little under both.
                    assert!((-1e-9..2e-12).contains(&(q - 1.0)), "{rate} {sigma} {direction:?}: Q {q}");
                }
            }
        }
    }

    /// At large losses Q's masses are far smaller than P's; all of P's mass must be kept.
    #[test]
    fn sums_keep_all_of_p() {
        let law = PoissonGaussian::new(1e-6, 0.3, Direction::Remove);
        let shape = shape(64.0, 2.0, 1e4);
        let mut pass = Pass { shape: &shape, guide: None, sums: Vec::new() };
        let one = BracketingLaws::of(&law, law.span(1e-14), &mut pass).unwrap();
        for half in <[BracketingLaws; 2]>::from(one.times(10_000, &mut pass)) {
            let (p, _) = masses(&half.worse);
            assert!((p + half.infinite - 1.0).abs() < 1e-8, "{p} and {}", half.infinite);
        }
    }

    /// The two bounds enclose the epsilon of several equal randomised responses, which have small or large epsilons. This
    /// is tested first on grids without the results of a previous pass, then on grids that use such results.
    #[test]
    fn the_ends_enclose_a_binomial_sum() {
        for (epsilon, count, delta) in [(0.5, 7, 1e-4), (0.01, 1000, 1e-6), (1e-7, 12, 1e-8), (6.0, 5, 1e-9)]
        {
            let law = TwoAtoms::randomized_response(epsilon);
            let exact = super::super::binomial::epsilon(&law, count, delta);
            let shape = shape(200.0, exact, count as f64);
            let mut known = None;
            for wanted in [0.02, 0.004] {
                let mut pass = Pass { shape: &shape, guide: known.as_ref(), sums: Vec::new() };
                let one = BracketingLaws::of(&law, law.span(1e-20), &mut pass).unwrap();
                let (power, rest) = one.times(count, &mut pass);
                let ends = bounds_of_sum(&power, &rest, delta);
                assert!(
                    ends.lower <= exact * (1.0 + 1e-9) && exact <= ends.upper * (1.0 + 1e-9),
                    "{ends:?}, {exact}"
                );
                assert!(ends.upper - ends.lower < wanted * exact, "{epsilon} {count}: {ends:?}, {exact}");
                let sum = power.plus(Some(&rest), 1.0, &mut pass);
                pass.sums.pop();
                known = Some(PassResults {
                    sums: pass.sums,
                    total: Profile::of(&sum.worse),
                    ends,
                    is_sparse: false,
                });
            }
            let laws: [(Box<dyn Law>, u64); 1] = [(Box::new(law), count)];
            let (ends, _) = ends(&laws, &[law.span(1e-20)], &shape, None, delta).unwrap();
            assert!((ends.lower - exact).abs() < 1e-7 * exact && (ends.upper - exact).abs() < 1e-7 * exact);
        }
    }
}
