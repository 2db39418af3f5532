//! Products of two laws gathered in the cells of a grid, and the worse and the better law that a cell's masses under P
//! and under Q make.
//!
//! The worse law goes to the two ends of the cell such that both masses are kept (connect the dots, Doroshenko et al.
//! 2022, Section 4); the better one is merged to one point (post-processing), which need not lie on any grid. Both err
//! in second order of the cells' widths.

/// Below this modulus of a loss, P's mass less Q's is exact; above it Q's.
const SMALL: f64 = 0.7;

/// Masses at losses in rising order.
#[derive(Clone, Debug, Default)]
pub(super) struct Masses {
    pub(super) loss: Vec<f64>,
    /// P's.
    pub(super) p: Vec<f64>,
    /// Q's.
    pub(super) q: Vec<f64>,
    /// P's less Q's, without cancellation.
    pub(super) u: Vec<f64>,
}

impl Masses {
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

    /// Merges a cell to one point: the loss of its masses, or a smaller one where Q's is too small for a double.
    pub(super) fn merge(&mut self, cell: Cell) {
        let Cell { p, q, u } = cell;
        if q > 1e-290 * p && p > 0.0 {
            let part = u / p;
            let loss = if part.abs() < 0.5 { -libm::log1p(-part) } else { libm::log(p / q) };
            self.push(loss, p, q, u);
        } else if p > 1e-30 {
            // Q's mass was below 1e-320, had it not vanished: the loss is above 660.
            self.put(600.0, p);
        }
    }

    /// The loss below which P has about this part of its mass.
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

    pub(super) fn end(&self) -> (f64, f64) {
        (self.loss.first().copied().unwrap_or(0.0), self.loss.last().copied().unwrap_or(0.0))
    }

    pub(super) fn keep(&mut self, from: usize, to: usize) {
        for list in [&mut self.loss, &mut self.p, &mut self.q, &mut self.u] {
            list.truncate(to);
            list.drain(..from);
        }
    }
}

/// What is gathered in one cell.
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

    /// Adds a product.
    pub(super) fn add(&mut self, one: Self, other: Self) {
        self.p += one.p * other.p;
        self.q += one.q * other.q;
        self.u += one.u * other.p + one.q * other.u;
    }
}

/// Neighbouring points that are looked at together.
const BLOCK: usize = 8;

/// All products of two laws; cell k lies between the points k - 1 and k of the grid, the first below it, the last above.
pub(super) fn products(a: &Masses, b: &Masses, same: bool, grid: &[f64]) -> Vec<Cell> {
    let mut cells = vec![Cell::default(); grid.len() + 1];
    let n = b.loss.len();
    let others: Vec<Cell> = (0..n).map(|j| Cell { p: b.p[j], q: b.q[j], u: b.u[j] }).collect();
    let blocks: Vec<Cell> = others
        .chunks(BLOCK)
        .map(|block| block.iter().fold(Cell::default(), |sum, one| sum.and(*one)))
        .collect();
    // The last point of a grid, and whatever lies above it, is the end of its last cell.
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
            // Each pair of different points occurs twice in a square; Q's mass of the first counts in `u` as well.
            one = Cell { p: 2.0 * one.p, q: 2.0 * one.q, u: 2.0 * one.u };
            j += 1;
        }
        while j < n {
            let sum = loss + b.loss[j];
            while k < grid.len() && ceilings[k] <= sum {
                k += 1;
            }
            if j % BLOCK == 0 && j + BLOCK <= n && loss + b.loss[j + BLOCK - 1] < ceilings[k] {
                cells[k].add(one, blocks[j / BLOCK]);
                j += BLOCK;
            } else {
                cells[k].add(one, others[j]);
                j += 1;
            }
        }
    }
    cells
}

/// One law's masses in the cells of a grid.
pub(super) fn gathered(a: &Masses, grid: &[f64]) -> Vec<Cell> {
    let mut one = Masses::default();
    one.push(0.0, 1.0, 1.0, 0.0);
    products(&one, a, false, grid)
}

/// The law that is certainly worse, on the grid; and P's mass above it.
pub(super) fn worse(cells: &[Cell], grid: &[f64]) -> (Masses, f64) {
    let mut masses = vec![0.0; grid.len()];
    masses[0] += cells[0].p;
    for (k, cell) in cells.iter().enumerate().take(grid.len()).skip(1) {
        let (low, width) = (grid[k - 1], grid[k] - grid[k - 1]);
        // What of P's mass moves up is what keeps Q's.
        let surplus = if low.abs() < SMALL {
            libm::exp(low) * (cell.u + cell.p * libm::expm1(-low))
        } else {
            cell.p - cell.q * libm::exp(low)
        };
        let up = (surplus / -libm::expm1(-width)).clamp(0.0, cell.p);
        masses[k - 1] += cell.p - up;
        masses[k] += up;
    }
    let mut law = Masses::default();
    grid.iter().zip(masses).for_each(|(loss, p)| law.put(*loss, p));
    (law, cells[grid.len()].p)
}

/// The law that is certainly better: each cell merged, what lies below the grid left out.
pub(super) fn better(cells: &[Cell]) -> Masses {
    let mut law = Masses::default();
    for cell in &cells[1..] {
        law.merge(*cell);
    }
    law
}

/// The smallest epsilon, at least 0, at which delta(epsilon) is at most `target`.
pub(super) fn solve(law: &Masses, target: f64) -> f64 {
    if target.is_nan() || target <= 0.0 {
        return f64::INFINITY;
    }
    // Above a loss: delta(e) = P - e^e Q = (P - Q) - (e^e - 1) Q.
    let (mut p, mut q, mut u) = (0.0, 0.0, 0.0);
    let mut last = f64::INFINITY;
    for k in (0..law.p.len()).rev() {
        let loss = law.loss[k];
        let delta = if loss.abs() < SMALL { u - libm::expm1(loss) * q } else { p - libm::exp(loss) * q };
        if delta >= target || loss <= 0.0 {
            break;
        }
        p += law.p[k];
        q += law.q[k];
        u += law.u[k];
        last = loss;
    }
    if q <= 0.0 {
        // Where Q's mass vanished nothing is known.
        return if p > target { f64::INFINITY } else { 0.0 };
    }
    let excess = (u - target) / q;
    let epsilon = if excess.abs() < 1.0 { libm::log1p(excess) } else { libm::log((p - target) / q) };
    epsilon.clamp(0.0, last)
}
