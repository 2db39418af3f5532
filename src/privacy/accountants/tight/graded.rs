//! Sums of independent losses on grids that are fine where losses nearly always lie and coarse far away, so that a bulk
//! of tiny losses and a few large ones are resolved alike, however far apart they are.
//!
//! The sum of two laws on grids of n points is n^2 products, gathered in the cells of the next grid ([`gathered`]), a
//! worse and a better law side by side. The spacing may change from sum to sum and from place to place: nothing asks
//! for equal steps.

use super::contour::{Ends, Laws};
use super::convolution;
use super::gathered::{self, Cell, Masses, gathered, products, solve, worse};
use crate::privacy::accountants::laws::{Grid, Law};

const ROUNDOFF: f64 = 1.2e-16;
/// Losses beyond this would make Q's masses vanish: larger sums count as infinite.
const FARTHEST: f64 = 500.0;
/// Cells of an octave of a single loss.
const OCTAVE: f64 = 16.0;
/// Cells of a single loss that has no octaves.
const EVEN: f64 = 2048.0;

/// What grids look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// About how many points.
    pub(super) points: f64,
    /// Epsilon is about this.
    pub(super) sought: f64,
    /// P-mass that each of `releases` may lose at either end, all in all.
    pub(super) lost: f64,
    /// How many releases there are in all.
    pub(super) releases: f64,
}

/// A worse and a better law side by side.
#[derive(Clone, Debug)]
struct Graded {
    worse: Masses,
    better: Masses,
    /// The worse law's mass at an infinite loss.
    infinite: f64,
    /// Bound on the relative error of the masses.
    relative: f64,
    /// How many losses this is the sum of.
    releases: f64,
}

impl Graded {
    /// One loss between two ends; nothing if it cannot be cut up.
    fn of(law: &dyn Law, span: (f64, f64), shape: &Shape) -> Option<Self> {
        let mut one = Self {
            worse: Masses::default(),
            better: Masses::default(),
            infinite: 0.0,
            relative: convolution::cutting(law),
            releases: 1.0,
        };
        let (low, high) = (span.0.max(-FARTHEST), span.1);
        if low >= high || high > FARTHEST {
            return None;
        }
        let mut windows = Vec::new();
        let cells_of = |offset: f64, spacing: f64| Grid { spacing, pieces: 1, offset };
        if let Some((centre, scale)) = law.bulk() {
            let scale = scale.max(1e-12 * (high - low) + 1e-9 * centre.abs());
            let mut sides = Vec::new();
            for sign in [-1.0, 1.0] {
                let (mut near, mut far) = (0.0, scale);
                loop {
                    let ends = (centre + sign * near, centre + sign * far);
                    let ends = (ends.0.min(ends.1).max(low), ends.0.max(ends.1).min(high));
                    if ends.0 < ends.1 {
                        let finest = 2.0 * shape.sought / shape.points;
                        let counts =
                            if sign > 0.0 && near < 2.0 * shape.sought { (far - near) / finest } else { 0.0 };
                        let counts = counts.clamp(OCTAVE, shape.points.max(OCTAVE));
                        sides.push((ends, cells_of(centre, (far - near) / counts)));
                    }
                    if ends.0 <= low && sign < 0.0 || ends.1 >= high && sign > 0.0 || sides.len() > 200 {
                        break;
                    }
                    (near, far) = (far, 2.0 * far);
                }
            }
            sides.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
            windows.extend(sides);
        } else {
            let spacing = law.pitch().unwrap_or((high - low) / EVEN);
            windows.push(((low, high), cells_of(law.anchor(), spacing)));
        }
        let last = windows.len().checked_sub(1)?;
        let mut better = Masses::default();
        let mut grid_masses: Vec<(f64, f64)> = Vec::new();
        for (k, (ends, grid)) in windows.iter().enumerate() {
            let cells = law.cells(*grid, ends.0, ends.1);
            if cells.grid.spacing > grid.spacing {
                return None;
            }
            let width = cells.width();
            if k == 0 && cells.swept > 0.0 {
                grid_masses.push((ends.0.max(cells.grid.offset + cells.first as f64 * width), cells.swept));
            }
            for (j, (mass, up)) in cells.mass.iter().zip(&cells.up).enumerate() {
                if *mass <= 0.0 {
                    continue;
                }
                let from = cells.grid.offset + (cells.first + j as i64) as f64 * width;
                let rest = (mass - up).max(0.0);
                grid_masses.push((from, rest));
                grid_masses.push((from + width, up.min(*mass)));
                let q = rest * libm::exp(-from) + up * libm::exp(-from - width);
                let u = -rest * libm::expm1(-from) - up * libm::expm1(-from - width);
                better.merge(Cell { p: *mass, q, u });
            }
            if k == last {
                one.infinite += cells.beyond;
            }
        }
        grid_masses.sort_by(|a, b| a.0.total_cmp(&b.0));
        grid_masses.into_iter().for_each(|(loss, p)| one.worse.put(loss, p));
        if one.worse.p.is_empty() {
            return None;
        }
        one.better = better;
        let grid = one.grid(one.worse.end(), 0.0, None, shape);
        let (law, above) = worse(&gathered(&one.worse, &grid), &grid);
        one.infinite += above;
        one.worse = law;
        one.better = gathered::better(&gathered(&one.better, &grid));
        one.trim(shape);
        Some(one)
    }

    /// Points from one end to the other, dense near the centre of the sum's bulk and up to the epsilon that is sought.
    fn grid(&self, ends: (f64, f64), shift: f64, other: Option<&Masses>, shape: &Shape) -> Vec<f64> {
        let (mut centre, mut square) = (shift, 0.0);
        for law in [Some(&self.worse), other].into_iter().flatten() {
            let (a, b) = (law.quantile(0.16), law.quantile(0.84));
            centre += law.quantile(0.5);
            square += 0.25 * (b - a) * (b - a);
        }
        let low = ends.0.clamp(-FARTHEST, FARTHEST);
        let high = ends.1.min(FARTHEST);
        let wide = high - low;
        if wide <= 0.0 {
            return vec![low];
        }
        let deviation = square.sqrt().max(1e-12 * wide);
        let scale = 0.5 * deviation;
        let log =
            libm::log1p((high - centre).max(0.0) / scale) + libm::log1p((centre - low).max(0.0) / scale);
        let near = (centre.min(0.0) - 0.1 * shape.sought, 1.2 * shape.sought);
        let length = near.1 - near.0 + scale;
        let bulk = 3.0 * deviation;
        let density = |x: f64| {
            let away = (x - centre).abs() + scale;
            let mut all = 0.3 / (log * away);
            if near.0 < x && x < near.1 {
                // Between an even and a geometric spacing.
                all += 0.6 * 0.6 / length * libm::pow(length / away, 0.4);
            }
            if (x - centre).abs() < bulk {
                all += 0.1 / (2.0 * bulk);
            }
            shape.points * all
        };
        let mut grid = vec![low];
        let mut x = low;
        while x < high {
            let step = 1.0 / density(x);
            let step = 1.0 / density(x + 0.5 * step).max(density(x));
            x += step.max(1e-15 * x.abs());
            // The last point lies above the last loss, so that nothing is lost there.
            grid.push(if x < high { x } else { high + 1e-12 * (wide + high.abs()) });
        }
        grid
    }

    /// The sum of two independent losses, the other by default one like the first.
    fn plus(&self, other: Option<&Self>, shape: &Shape) -> Self {
        let with = other.unwrap_or(self);
        let same = other.is_none();
        let (a, b) = (self.worse.end(), with.worse.end());
        let grid = self.grid((a.0 + b.0, a.1 + b.1), 0.0, Some(&with.worse), shape);
        let (worse, above) = worse(&products(&self.worse, &with.worse, same, &grid), &grid);
        let better = gathered::better(&products(&self.better, &with.better, same, &grid));
        let points = worse.p.len().max(better.p.len()) as f64;
        let mut sum = Self {
            worse,
            better,
            infinite: self.infinite + with.infinite + above,
            relative: self.relative + with.relative + ROUNDOFF * (points + 8.0),
            releases: self.releases + with.releases,
        };
        sum.trim(shape);
        sum
    }

    /// Leaves out what hardly counts: of the worse law, the highest losses become infinite and the lowest ones are
    /// raised; the better one loses them.
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
        let (from, to, below, above) = ends(&self.worse);
        self.worse.keep(from, to);
        if below > 0.0 {
            let (loss, p) = (self.worse.loss[0], self.worse.p[0] + below);
            (self.worse.p[0], self.worse.q[0]) = (p, p * libm::exp(-loss));
            self.worse.u[0] = -p * libm::expm1(-loss);
        }
        self.infinite += above;
        if !self.better.p.is_empty() {
            let (from, to, ..) = ends(&self.better);
            self.better.keep(from, to);
        }
    }

    /// The sum of `count` independent losses.
    fn times(&self, count: u64, shape: &Shape) -> Self {
        let mut sum = self.clone();
        let digits = u64::BITS - count.leading_zeros();
        for digit in (0..digits - 1).rev() {
            sum = sum.plus(None, shape);
            if count >> digit & 1 == 1 {
                sum = sum.plus(Some(self), shape);
            }
        }
        sum
    }

    /// Both ends of epsilon, at least 0.
    fn ends(&self, delta: f64) -> Ends {
        let relative = 1.0 + self.relative;
        let finite = |law: &Masses| law.p.iter().chain(&law.q).chain(&law.u).all(|mass| mass.is_finite());
        let upper = if finite(&self.worse) && relative < 1.01 {
            solve(&self.worse, delta / relative - relative * self.infinite) * relative
        } else {
            f64::INFINITY
        };
        let lower = if finite(&self.better) && relative < 1.01 {
            solve(&self.better, delta * relative) / relative
        } else {
            0.0
        };
        Ends { lower: if lower.is_finite() { lower } else { 0.0 }, upper }
    }
}

/// Both ends of epsilon for a whole composition, by grids of one shape; nothing where they do not apply.
pub(super) fn ends(laws: &Laws, spans: &[(f64, f64)], shape: &Shape, delta: f64) -> Option<Ends> {
    let mut total: Option<Graded> = None;
    for ((law, count), span) in laws.iter().zip(spans) {
        let many = Graded::of(law.as_ref(), *span, shape)?.times(*count, shape);
        total = Some(match total {
            Some(sum) => sum.plus(Some(&many), shape),
            None => many,
        });
    }
    total.map(|total| total.ends(delta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::accountants::laws::{Direction, PoissonGaussian, TwoAtoms};

    fn shape(sought: f64, releases: f64) -> Shape {
        Shape { points: 200.0, sought, lost: 1e-14, releases }
    }

    /// P has mass 1 however a law is cut up, and Q at most: what is missing would be missing as often as it is released.
    #[test]
    fn a_law_keeps_the_masses_of_both_neighbours() {
        for (rate, sigma) in [(1e-6, 0.3), (1e-4, 1.0), (0.01, 0.5), (0.3, 3.0), (1e-3, 50.0), (0.9, 0.4)] {
            for direction in Direction::BOTH {
                let law = PoissonGaussian::new(rate, sigma, direction);
                let one = Graded::of(&law, law.span(1e-18), &shape(1.0, 1e5)).unwrap();
                for (law, infinite) in [(&one.worse, one.infinite), (&one.better, 0.0)] {
                    let (p, q): (f64, f64) = (law.p.iter().sum(), law.q.iter().sum());
                    assert!((p + infinite - 1.0).abs() < 2e-12, "{rate} {sigma} {direction:?}: P {p}");
                    // Of Q's mass, what P's tails hold may be far more than P's, but not more than a little.
                    assert!((-1e-9..2e-12).contains(&(q - 1.0)), "{rate} {sigma} {direction:?}: Q {q}");
                }
            }
        }
    }

    /// Against the binomial sum of equal randomised responses, for epsilons of all sizes.
    #[test]
    fn the_ends_enclose_a_binomial_sum() {
        for (epsilon, count, delta) in [(0.5, 7, 1e-4), (0.01, 1000, 1e-6), (1e-7, 12, 1e-8), (6.0, 5, 1e-9)]
        {
            let law = TwoAtoms::randomized_response(epsilon);
            let exact = super::super::binomial::epsilon(&law, count, delta);
            let laws: [(Box<dyn Law>, u64); 1] = [(Box::new(law), count)];
            let shape = shape(exact, count as f64);
            let ends = ends(&laws, &[law.span(1e-20)], &shape, delta).unwrap();
            assert!(
                ends.lower <= exact * (1.0 + 1e-9) && exact <= ends.upper * (1.0 + 1e-9),
                "{ends:?}, {exact}"
            );
            assert!(ends.upper - ends.lower < 0.02 * exact, "{epsilon} {count}: {ends:?}, {exact}");
        }
    }
}
