//! Sums up the products of two laws' masses in the cells of a grid, and computes a worse and a better law from the masses
//! of the cells under P and under Q.
//!
//! A law is the distribution of the privacy loss ln(P/Q) of two distributions P and Q, given by its masses under P and
//! under Q. At every epsilon, the delta of a worse law is at least that of the exact law, and the delta of a better law
//! is at most that of the exact law.
//!
//! For the worse law, each cell's mass is moved to the two ends of the cell such that the masses under P and under Q are
//! kept (connect the dots, Doroshenko et al. 2022, Section 4). For the better law, each cell's mass is merged to one
//! point (post-processing), which need not lie on any grid. The errors of both laws are of second order in the cells'
//! widths.

/// Masses under Q below this may be inaccurate or 0 because of underflow.
const MIN_MASS: f64 = 1e-290;

/// Formulas that contain a loss use the difference of P's and Q's masses in place of one of the two masses if the
/// absolute value of the loss is below this number. Otherwise they use both masses. Each of the two forms is the more
/// accurate one in its range.
const SMALL: f64 = 0.7;

/// Masses at losses in increasing order.
#[derive(Clone, Debug, Default)]
pub(super) struct Masses {
    pub(super) loss: Vec<f64>,
    /// P's masses.
    pub(super) p: Vec<f64>,
    /// Q's masses.
    pub(super) q: Vec<f64>,
    /// P's masses minus Q's, computed without cancellation.
    pub(super) u: Vec<f64>,
}

impl Masses {
    /// Adds P's mass `p` at a loss, with Q's mass p e^-loss; nothing if `p` is 0.
    pub(super) fn put(&mut self, loss: f64, p: f64) {
        if p > 0.0 {
            self.push(loss, p, p * libm::exp(-loss), -p * libm::expm1(-loss));
        }
    }

    pub(super) fn push(&mut self, loss: f64, p: f64, q: f64, u: f64) {
        self.loss.push(loss);
        self.p.push(p);
        self.q.push(q);
        self.u.push(u);
    }

    /// Adds a cell, merged to one point. The loss of the point is the logarithm of the ratio of the cell's masses, with one
    /// exception. Q's mass may have underflowed if it is far below P's mass. The point then gets a smaller loss than this
    /// logarithm; if P's mass is at most 1e-30, the cell is left out. A cell in which P's mass is 0 is left out too.
    pub(super) fn merge(&mut self, cell: Cell) {
        let Cell { p, q, u } = cell;
        if q > 1e-290 * p && p > 0.0 {
            let part = u / p;
            let loss = if part.abs() < 0.5 { -libm::log1p(-part) } else { libm::log(p / q) };
            self.push(loss, p, q, u);
        } else if p > 1e-30 {
            // Q's mass is at most 1e-290 of P's mass, or has underflowed, so the loss is above 660.
            self.put(600.0, p);
        }
    }

    /// The loss at or below which about the share `part` of P's mass lies.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let target = part * self.p.iter().sum::<f64>();
        let mut below = 0.0;
        for (loss, p) in self.loss.iter().zip(&self.p) {
            below += p;
            if below >= target {
                return *loss;
            }
        }
        self.loss.last().copied().unwrap_or(0.0)
    }

    /// The smallest and the largest loss; both are 0 if there are no masses.
    pub(super) fn end(&self) -> (f64, f64) {
        (self.loss.first().copied().unwrap_or(0.0), self.loss.last().copied().unwrap_or(0.0))
    }

    /// Removes all masses except those with indices from `from` to `to` - 1.
    pub(super) fn retain_range(&mut self, from: usize, to: usize) {
        for list in [&mut self.loss, &mut self.p, &mut self.q, &mut self.u] {
            list.truncate(to);
            list.drain(..from);
        }
    }
}

/// The masses gathered in one cell; the fields have the meanings that they have in [`Masses`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) p: f64,
    pub(super) q: f64,
    pub(super) u: f64,
}

impl Cell {
    pub(super) fn and(self, other: Self) -> Self {
        Self { p: self.p + other.p, q: self.q + other.q, u: self.u + other.u }
    }

    /// Adds the products of the masses of two other cells to this cell: P's masses are multiplied with each other, and so
    /// are Q's masses; `u` gets the difference of the two products.
    pub(super) fn add(&mut self, one: Self, other: Self) {
        self.p += one.p * other.p;
        self.q += one.q * other.q;
        self.u += one.u * other.p + one.q * other.u;
    }
}

/// Number of neighbouring points that are processed together.
const BLOCK: usize = 8;

/// The products of the masses of two laws (of one law with itself if `same`), summed up by cell. Cell k lies between
/// the points k - 1 and k of the grid; the first cell lies below the grid, and the last cell above it. Some products at
/// large losses are left out. Their P-masses add up to at most `lost`; the sum of these P-masses is returned too.
pub(super) fn products(a: &Masses, b: &Masses, same: bool, grid: &[f64], lost: f64) -> (Vec<Cell>, f64) {
    let mut cells = vec![Cell::default(); grid.len() + 1];
    let n = b.loss.len();
    let others: Vec<Cell> = (0..n).map(|j| Cell { p: b.p[j], q: b.q[j], u: b.u[j] }).collect();
    let blocks: Vec<Cell> = others
        .chunks(BLOCK)
        .map(|block| block.iter().fold(Cell::default(), |sum, one| sum.and(*one)))
        .collect();
    let above = SuffixSums::of(b).p;
    let lost_of_one = lost / (2 * a.loss.len().max(1)) as f64;
    let mut dropped = 0.0;
    // The upper ends of the cells. The last cell has no upper end, so infinity takes its place.
    let ceilings: Vec<f64> = grid.iter().copied().chain([f64::INFINITY]).collect();
    for i in 0..a.loss.len() {
        let loss = a.loss[i];
        let mut one = Cell { p: a.p[i], q: a.q[i], u: a.u[i] };
        let mut j = if same { i } else { 0 };
        if j >= n {
            continue;
        }
        let mut k = grid.partition_point(|point| *point <= loss + b.loss[j]);
        if same {
            cells[k].add(one, others[i]);
            // Each pair of different points occurs twice in the product of a law with itself.
            one = Cell { p: 2.0 * one.p, q: 2.0 * one.q, u: 2.0 * one.u };
            j += 1;
        }
        let end = above.partition_point(|mass| one.p * mass > lost_of_one).clamp(j, n);
        dropped += one.p * above[end];
        // Masses of `b` that lead to the same cell are added up before they are multiplied by the mass of `a`.
        let mut run = Cell::default();
        while j < end {
            let sum = loss + b.loss[j];
            if ceilings[k] <= sum {
                cells[k].add(one, run);
                run = Cell::default();
                k += 1;
                while ceilings[k] <= sum {
                    k += 1;
                }
            }
            if j % BLOCK == 0 && j + BLOCK <= end && loss + b.loss[j + BLOCK - 1] < ceilings[k] {
                run = run.and(blocks[j / BLOCK]);
                j += BLOCK;
            } else {
                run = run.and(others[j]);
                j += 1;
            }
        }
        cells[k].add(one, run);
    }
    (cells, dropped)
}

/// One law's masses in the cells of a grid.
pub(super) fn gathered(a: &Masses, grid: &[f64]) -> Vec<Cell> {
    let mut one = Masses::default();
    one.push(0.0, 1.0, 1.0, 0.0);
    products(&one, a, false, grid, 0.0).0
}

/// A law on the grid that is certainly worse than the law of the cells, and P's mass above the grid. Mass below the
/// grid is moved to the first point of the grid.
pub(super) fn worse(cells: &[Cell], grid: &[f64]) -> (Masses, f64) {
    let mut masses = vec![0.0; grid.len()];
    masses[0] += cells[0].p;
    for (k, cell) in cells.iter().enumerate().take(grid.len()).skip(1) {
        let (low, width) = (grid[k - 1], grid[k] - grid[k - 1]);
        // The part of P's mass that moves to the upper end follows from keeping Q's mass.
        let surplus = if low.abs() < SMALL {
            libm::exp(low) * (cell.u + cell.p * libm::expm1(-low))
        } else {
            cell.p - cell.q * libm::exp(low)
        };
        let up = (surplus / -libm::expm1(-width)).clamp(0.0, cell.p);
        // If `up` is not a number, all mass moves up, which makes the law even worse.
        let up = if up.is_nan() { cell.p } else { up };
        masses[k - 1] += cell.p - up;
        masses[k] += up;
    }
    let mut law = Masses::default();
    grid.iter().zip(masses).for_each(|(loss, p)| law.put(*loss, p));
    (law, cells[grid.len()].p)
}

/// A law that is certainly better: each cell is merged to one point, and the mass below the grid is left out.
pub(super) fn better(cells: &[Cell]) -> Masses {
    let mut law = Masses::default();
    for cell in &cells[1..] {
        law.merge(*cell);
    }
    law
}

/// Sums of a law's masses from each point upwards.
struct SuffixSums {
    p: Vec<f64>,
    q: Vec<f64>,
    u: Vec<f64>,
    /// Q's sum from point k upwards, multiplied by e^(loss of point k). This product neither overflows nor underflows.
    scaled: Vec<f64>,
}

impl SuffixSums {
    fn of(law: &Masses) -> Self {
        let sums = |list: &[f64]| {
            let mut sums = vec![0.0; list.len() + 1];
            for k in (0..list.len()).rev() {
                sums[k] = sums[k + 1] + list[k];
            }
            sums
        };
        let mut scaled = vec![0.0; law.loss.len() + 1];
        for k in (0..law.loss.len()).rev() {
            let next = law.loss.get(k + 1).map_or(0.0, |next| libm::exp(law.loss[k] - next));
            // Q's mass times e^loss. It is computed from Q's mass, which need not be exactly p e^-loss, unless that
            // mass has underflowed.
            let own = if law.q[k] > MIN_MASS { law.q[k] * libm::exp(law.loss[k]) } else { law.p[k] };
            scaled[k] = own + next * scaled[k + 1];
        }
        Self { p: sums(&law.p), q: sums(&law.q), u: sums(&law.u), scaled }
    }
}

/// Two epsilons, at least 0, between which delta(epsilon) of the sum of two losses decreases to `target`: delta is larger
/// than `target` at the first, and at most `target` at the second. Their relative distance is usually at most 1e-13.
///
/// Both are infinite if `target` is not above 0. Otherwise both are 0 if delta at epsilon 0 is at most `target`. If
/// delta is not a number, the first is 0 and the second is infinite.
pub(super) fn solve(a: &Masses, b: &Masses, target: f64) -> (f64, f64) {
    if target.is_nan() || target <= 0.0 {
        return (f64::INFINITY, f64::INFINITY);
    }
    let above = SuffixSums::of(b);
    let delta = |epsilon: f64| {
        let mut k = b.loss.len();
        let mut sum = 0.0;
        for (loss, p) in a.loss.iter().zip(&a.p) {
            let rest = epsilon - loss;
            while k > 0 && b.loss[k - 1] > rest {
                k -= 1;
            }
            // `b` has no loss above `rest`.
            if k == b.loss.len() {
                continue;
            }
            // P - e^rest Q = (P - Q) - (e^rest - 1) Q.
            sum += p * if rest.abs() < SMALL {
                above.u[k] - libm::expm1(rest) * above.q[k]
            } else {
                // b.loss[k] is the first loss above `rest`, so the exponential is at most 1.
                above.p[k] - libm::exp(rest - b.loss[k]) * above.scaled[k]
            };
        }
        sum
    };
    let at_zero = delta(0.0);
    if at_zero.is_nan() {
        return (0.0, f64::INFINITY);
    }
    if at_zero <= target {
        return (0.0, 0.0);
    }
    let (mut low, mut high) = (0.0, (a.end().1 + b.end().1).max(0.0));
    let (mut over, mut under) = (at_zero - target, -target);
    // False position. If the same end moves twice in a row, the stored excess of the other end is halved (Illinois
    // algorithm). Every eighth step is a bisection.
    let mut side = 0;
    for round in 0..200 {
        if high - low <= 1e-13 * high {
            break;
        }
        let cut = low + (high - low) * (over / (over - under));
        let margin = 1e-14 * high;
        let middle = if round % 8 == 7 { 0.5 * (low + high) } else { cut.clamp(low + margin, high - margin) };
        let excess = delta(middle) - target;
        if excess.is_nan() {
            return (0.0, f64::INFINITY);
        }
        if excess > 0.0 {
            (low, over) = (middle, excess);
            if side > 0 {
                under *= 0.5;
            }
            side = 1;
        } else {
            (high, under) = (middle, excess.min(-1e-300));
            if side < 0 {
                over *= 0.5;
            }
            side = -1;
        }
    }
    (low, high)
}
