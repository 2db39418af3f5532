//! A law of the loss divided into the cells of a lattice. P and Q are the two output distributions; a law is the
//! distribution of the loss ln(dP/dQ) under P. From the cells, two laws on the lattice can be computed without
//! cancellation: one whose hockey-stick divergences are certainly at least as large as the true ones ("worse"), and one
//! whose divergences are certainly at most as large ("better").
//!
//! A cell lies between two neighbouring points of the lattice and is divided into pieces of equal width w. Piece k
//! covers losses from offset + k w to offset + (k + 1) w, where offset is the position of point 0. The mass of each
//! piece is moved to the two ends of the piece such that P and Q both keep their mass ("connect the dots", Doroshenko
//! et al. 2022). Two numbers are kept for each piece: P's mass in the piece, and how much of this mass goes to the upper
//! end. Of P's mass at a loss l, the share (1 - e^{-(l - low)}) / (1 - e^{-w}) goes to the upper end, where low is the
//! lower end of the piece. The reason is that Q's mass is P's mass times e^-loss, so a share u that goes to the upper
//! end must satisfy (1 - u) e^-low + u e^{-(low + w)} = e^-l.

use super::gauss_legendre::{FOUR, TWO, visit};

/// The interval where a density is not 0, in the coordinate of the density.
#[derive(Clone, Copy, Debug)]
pub(super) struct Support {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Quadrature panels of at most this length resolve the density.
    pub(super) resolution: f64,
}

/// Largest index of a cell, in absolute value. Up to this index, the indices of cells and pieces are exact in double
/// precision.
const FARTHEST: f64 = (1u64 << 50) as f64;
/// On intervals shorter than this fraction of the resolution, the two-point quadrature rule is accurate enough: its
/// error is of fourth order.
const SHORT: f64 = 0.05;
/// Largest number of pieces of one law.
const MAX_PIECES: f64 = (1u32 << 20) as f64;

/// The lattice into whose cells a law is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct Grid {
    /// Distance between neighbouring points.
    pub(in crate::accounting) spacing: f64,
    /// Number of pieces into which the law is divided between two neighbouring points.
    pub(in crate::accounting) pieces: usize,
    /// Position of point 0.
    pub(in crate::accounting) offset: f64,
}

/// A law of the loss in pieces.
#[derive(Clone, Debug)]
pub(in crate::accounting) struct Cells {
    /// The lattice that the pieces belong to.
    pub(in crate::accounting) grid: Grid,
    /// Index of the lattice point at which the first piece starts.
    pub(in crate::accounting) first: i64,
    /// P's mass in each piece; the number of all pieces is a multiple of the number of pieces in a cell.
    pub(in crate::accounting) mass: Vec<f64>,
    /// For each piece, the part of P's mass in the piece that goes to the upper end of the piece.
    pub(in crate::accounting) up: Vec<f64>,
    /// P's mass at losses below the range that is divided; the range begins in the first cell.
    pub(in crate::accounting) swept: f64,
    /// P's mass at losses above the range that is divided; the range ends in the last cell.
    pub(in crate::accounting) beyond: f64,
}

impl Cells {
    /// Empty pieces that cover losses from `low` to `high`. If there would be more than [`MAX_PIECES`], or an index above
    /// [`FARTHEST`], the spacing is multiplied by a power of two, so the caller must check the spacing before composing.
    pub(super) fn new(grid: Grid, low: f64, high: f64) -> Self {
        let Grid { mut spacing, pieces, offset } = grid;
        let (low, high) = (low - offset, high - offset);
        let size = low.abs().max(high.abs());
        while (high - low) / spacing * pieces as f64 > MAX_PIECES || size / spacing > FARTHEST {
            spacing *= 2.0;
        }
        let first = (low / spacing).floor() as i64;
        let cells = ((high / spacing).floor() as i64 - first + 1).max(1);
        let count = cells as usize * pieces;
        let grid = Grid { spacing, pieces, offset };
        Self { grid, first, mass: vec![0.0; count], up: vec![0.0; count], swept: 0.0, beyond: 0.0 }
    }

    /// Width of a piece.
    pub(in crate::accounting) fn width(&self) -> f64 {
        self.grid.spacing / self.grid.pieces as f64
    }

    /// The lower end of a piece; `cell` is the index of the piece, from 0.
    fn low_of(&self, cell: usize) -> f64 {
        self.grid.offset + (self.first * self.grid.pieces as i64 + cell as i64) as f64 * self.width()
    }

    /// The index of the piece that contains a loss; the first or the last piece for a loss outside all pieces.
    fn cell_of(&self, loss: f64) -> usize {
        let cell =
            ((loss - self.grid.offset) / self.width()).floor() as i64 - self.first * self.grid.pieces as i64;
        usize::try_from(cell).unwrap_or(0).min(self.mass.len() - 1)
    }

    /// For mass at a loss within the piece with the index `cell`: the share that goes to the upper end of the piece.
    fn share(&self, cell: usize, loss: f64) -> f64 {
        (libm::expm1(-(loss - self.low_of(cell))) / libm::expm1(-self.width())).clamp(0.0, 1.0)
    }

    pub(super) fn add_atom(&mut self, loss: f64, mass: f64) {
        let cell = self.cell_of(loss);
        self.mass[cell] += mass;
        self.up[cell] += mass * self.share(cell, loss);
    }

    /// Adds a density of P that is given in a coordinate x. At x the loss is `loss(x)`, which increases strictly with x.
    /// `inverse` maps a loss back to its x. For a loss below or above all losses of the support, `inverse` may return any x
    /// below or above the support, respectively.
    pub(super) fn add_mapped(
        &mut self,
        support: Support,
        density: impl Fn(f64) -> f64,
        loss: impl Fn(f64) -> f64,
        inverse: impl Fn(f64) -> f64,
    ) {
        let (first, last) = (self.cell_of(loss(support.low)), self.cell_of(loss(support.high)));
        let mut x = support.low;
        for cell in first..=last {
            let end = if cell == last { support.high } else { inverse(self.low_of(cell + 1)) };
            let end = end.min(support.high).max(x);
            if end <= x {
                continue;
            }
            let panels = ((end - x) / support.resolution).ceil().max(1.0);
            let step = (end - x) / panels;
            let (mut mass, mut up) = (0.0, 0.0);
            let mut add = |x: f64, weight: f64| {
                let part = weight * density(x);
                mass += part;
                up += part * self.share(cell, loss(x));
            };
            if end - x < SHORT * support.resolution {
                visit(&TWO, x, end, &mut add);
            } else {
                for panel in 0..panels as usize {
                    let from = x + panel as f64 * step;
                    visit(&FOUR, from, from + step, &mut add);
                }
            }
            self.mass[cell] += mass;
            self.up[cell] += up;
            x = end;
        }
    }

    /// Adds a density of P over losses.
    pub(super) fn add_density(&mut self, support: Support, density: impl Fn(f64) -> f64) {
        self.add_mapped(support, density, |l| l, |l| l);
    }

    /// Adds the density of P that is `scale` e^{l/2} at every loss l between `low` and `high`. The masses of the pieces that
    /// lie wholly in this range form a geometric sequence.
    pub(super) fn add_half_exponential(&mut self, low: f64, high: f64, scale: f64) {
        let density = |l: f64| scale * libm::exp(0.5 * l);
        let (first, last) = (self.cell_of(low), self.cell_of(high));
        if last < first + 3 {
            return self.add_density(Support { low, high, resolution: self.grid.spacing }, density);
        }
        let (inner, outer) = (self.low_of(first + 1), self.low_of(last));
        self.add_density(Support { low, high: inner, resolution: self.grid.spacing }, density);
        self.add_density(Support { low: outer, high, resolution: self.grid.spacing }, density);
        let half = self.width();
        // For a piece that starts at loss 0: its mass, and the part of the mass that goes to the upper end.
        let (mut mass, mut up) = (0.0, 0.0);
        visit(&FOUR, 0.0, half, |l, weight| {
            mass += weight * density(l);
            up += weight * density(l) * libm::expm1(-l) / libm::expm1(-half);
        });
        for cell in first + 1..last {
            let growth = libm::exp(0.5 * self.low_of(cell));
            self.mass[cell] += mass * growth;
            self.up[cell] += up * growth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_keeps_the_mass_of_p_and_of_q() {
        // The law of Laplace noise with scale 1, whose total mass is 1 under P and under Q.
        let mut cells = Cells::new(Grid { spacing: 0.03, pieces: 2, offset: 0.0 }, -1.0, 1.0);
        cells.add_atom(1.0, 0.5);
        cells.add_atom(-1.0, 0.5 * libm::exp(-1.0));
        cells.add_half_exponential(-1.0, 1.0, 0.25 * libm::exp(-0.5));
        let p: f64 = cells.mass.iter().sum();
        let q: f64 = (0..cells.mass.len())
            .map(|k| {
                let (low, up) = (cells.low_of(k), cells.up[k]);
                (cells.mass[k] - up) * libm::exp(-low) + up * libm::exp(-low - cells.width())
            })
            .sum();
        assert!((p - 1.0).abs() < 1e-13, "{p}");
        assert!((q - 1.0).abs() < 1e-13, "{q}");
    }
}
