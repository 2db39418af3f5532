//! Sums of many independent losses that are nearly always tiny and now and then large: a fine lattice for the many
//! tiny ones and a coarse one for the few large ones, all terms positive.
//!
//! Rounding n losses to a spacing h adds a variance of about n h^2 / 6, so what is added up T / t times more, a sum of t,
//! may have a spacing sqrt(t) times that of a single loss: the fine lattice coarsens as the sum grows, until it is the
//! coarse one. Each move to a coarser lattice is one of `rounded`: certainly worse and certainly better once more.

use super::convolution::{Laws, Rules};
use super::rounded::{better_masses, worse_masses};
use crate::privacy::accountants::laws::{Cells, Grid, Law};

/// Most points of the fine lattice.
const FINE: i64 = 512;

/// A law as the sum of two measures.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// On a lattice `ratio` times as fine, around the centre.
    fine: Laws,
    /// The rest.
    coarse: Laws,
    ratio: usize,
}

impl Scales {
    /// A law between two losses, on a lattice of spacing `spacing` and one `ratio` times as fine.
    pub(super) fn of(
        law: &dyn Law,
        span: (f64, f64),
        spacing: f64,
        ratio: usize,
        pieces: usize,
    ) -> Option<Self> {
        let offset = law.anchor();
        let half = (FINE / 2) as f64 + 0.5;
        let small = spacing / ratio as f64;
        let (low, high) = (offset - half * small, offset + half * small);
        let cut = |spacing: f64, low: f64, high: f64| {
            let cells = law.cells(Grid { spacing, pieces, offset }, low, high);
            (cells.grid.spacing <= spacing).then_some(cells)
        };
        let mut fine = cut(small, low.max(span.0), high.min(span.1))?;
        let mut coarse = Laws::none(offset);
        // What the fine part leaves to the coarse one is not its own.
        if span.0 < low {
            let mut below = cut(spacing, span.0, low)?;
            below.beyond = 0.0;
            fine.swept = 0.0;
            coarse = coarse.joined(Laws::of(&below));
        }
        if span.1 > high {
            let mut above = cut(spacing, high, span.1)?;
            above.swept = 0.0;
            fine.beyond = 0.0;
            coarse = coarse.joined(Laws::of(&above));
        }
        let mut fine = Laws::of(&fine);
        coarse.infinite += std::mem::take(&mut fine.infinite);
        Some(Self { fine, coarse, ratio })
    }

    /// The sum of `count` independent losses, on the coarse lattice.
    pub(super) fn times(mut self, count: u64, rules: &Rules) -> Laws {
        let mut sum = self.clone();
        let digits = u64::BITS - count.leading_zeros();
        let finest = self.ratio;
        for (level, digit) in (0..digits - 1).rev().enumerate() {
            sum = sum.plus(&sum, rules);
            if count >> digit & 1 == 1 {
                sum = sum.plus(&self, rules);
            }
            while sum.ratio > 1 && sum.ratio > finest >> (level + 1).div_ceil(2).min(40) {
                sum.coarsen(rules);
                self.coarsen(rules);
            }
        }
        let Self { fine, coarse, ratio } = sum;
        coarse.joined(moved(&fine, rules.spacing / ratio as f64, ratio))
    }

    fn plus(&self, other: &Self, rules: &Rules) -> Self {
        let ratio = self.ratio;
        let small = rules.spacing / ratio as f64;
        let open = Rules { spacing: small, window: (f64::NEG_INFINITY, f64::INFINITY) };
        let mut fine = self.fine.plus(&other.fine, &open);
        let (mine, others) = (moved(&self.fine, small, ratio), moved(&other.fine, small, ratio));
        let whole = mine.joined(self.coarse.clone());
        let mut finite = self.coarse.clone();
        finite.infinite = 0.0;
        let mut coarse = whole.plus(&other.coarse, rules).joined(finite.plus(&others, rules));
        for part in fine.trimmed(FINE) {
            let mut part = moved(&part, small, ratio);
            part.cut(rules);
            coarse = coarse.joined(part);
        }
        Self { fine, coarse, ratio }
    }

    fn coarsen(&mut self, rules: &Rules) {
        let small = rules.spacing / self.ratio as f64;
        self.fine = moved(&self.fine, small, 2);
        self.ratio /= 2;
    }
}

/// A law on a lattice of spacing `spacing` moved to one `ratio` times as coarse.
fn moved(law: &Laws, spacing: f64, ratio: usize) -> Laws {
    if ratio == 1 {
        return law.clone();
    }
    let pieces = ratio as i64;
    let first = law.first.div_euclid(pieces);
    let before = (law.first - first * pieces) as usize;
    let count = (before + law.worse.len()).div_ceil(ratio) * ratio;
    let grid = Grid { spacing: spacing * ratio as f64, pieces: ratio, offset: law.offset };
    // The points of a lattice are the lower ends of its pieces.
    let cells = |masses: &[f64]| {
        let mut mass = vec![0.0; count];
        mass[before..before + masses.len()].copy_from_slice(masses);
        Cells { grid, first, mass, up: vec![0.0; count], swept: 0.0, beyond: 0.0 }
    };
    let mut worse = vec![0.0];
    worse.extend(worse_masses(&cells(&law.worse)));
    let better = better_masses(&cells(&law.better));
    Laws {
        offset: law.offset,
        first: first - 1,
        worse,
        better,
        infinite: law.infinite,
        relative: law.relative + 1e-14,
    }
}
