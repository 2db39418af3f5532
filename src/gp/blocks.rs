//! A growing matrix with one column per arm, stored in blocks of arms, in memory that the next such matrix reuses.
//!
//! A study builds thousands of posteriors of the same size, one after the other. Allocating their memory would take
//! longer than the arithmetic on it, because the system provides memory page by page.

use super::simd::multiversion;
use std::cell::RefCell;

/// Arms per block: 8 KB of a row.
pub(super) const BLOCK: usize = 1024;

/// Largest amount of memory that a thread keeps for reuse, in numbers of 8 bytes: 512 MiB.
const KEPT: usize = 64 << 20;

#[derive(Debug, Default)]
struct Reservoir {
    buffers: Vec<Vec<f64>>,
    kept: usize,
}

thread_local! {
    static RESERVOIR: RefCell<Reservoir> = RefCell::default();
}

/// A growing number of rows of `n` numbers.
///
/// A block of arms holds its part of every row, divided into groups of sixteen rows; a group is divided into tiles of
/// 32 arms, and a tile is stored row by row. So a loop over all rows reads a block sequentially, and keeps its results
/// for 32 arms in registers over sixteen rows.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    n: usize,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    rows: usize,
    /// At least as many numbers as the rows need; the rest is unused.
    values: Vec<f64>,
}

/// Number of arms whose entries in one row are adjacent.
const TILE: usize = 32;
/// Number of rows in a group.
const GROUP: usize = 16;

impl Blocks {
    /// A matrix for `n` arms, without rows.
    pub(super) fn new(n: usize) -> Self {
        let blocks = RESERVOIR.with_borrow_mut(|reservoir| {
            let take = |_| {
                let values = reservoir.buffers.pop().unwrap_or_default();
                reservoir.kept -= values.capacity();
                Block { rows: 0, values }
            };
            (0..n.div_ceil(BLOCK)).map(take).collect()
        });
        Self { n, blocks }
    }

    /// Number of arms of a block.
    fn width(&self, block: usize) -> usize {
        BLOCK.min(self.n - block * BLOCK)
    }

    /// The number of row `s` for one arm.
    #[inline]
    pub(super) fn at(&self, s: usize, arm: usize) -> f64 {
        let (block, place) = (arm / BLOCK, arm % BLOCK);
        let tiles = self.width(block).div_ceil(TILE);
        let tile = s / GROUP * tiles + place / TILE;
        self.blocks[block].values[(tile * GROUP + s % GROUP) * TILE + place % TILE]
    }

    /// Adds a block's part of a row: the first numbers of `new`, one for each arm of the block.
    pub(super) fn push(&mut self, block: usize, new: &[f64; BLOCK]) {
        let width = self.width(block);
        let Block { rows, values } = &mut self.blocks[block];
        let size = width.div_ceil(TILE) * TILE * GROUP;
        let (group, row) = (*rows / GROUP, *rows % GROUP);
        if values.len() < (group + 1) * size {
            values.resize((group + 1) * size, 0.0);
        }
        let tiles = values[group * size..].chunks_mut(TILE * GROUP);
        for (new, tile) in new[..width].chunks(TILE).zip(tiles) {
            tile[row * TILE..][..new.len()].copy_from_slice(new);
        }
        *rows += 1;
    }

    /// Subtracts from `new` a block's part of the first rows, each multiplied by its factor, in the order of the rows.
    /// There are as many rows as `factors`. The contents of `new` beyond the block's arms are undefined afterwards.
    pub(super) fn subtract(&self, block: usize, factors: &[f64], new: &mut [f64; BLOCK]) {
        let tiles = self.width(block).div_ceil(TILE);
        subtract_rows(&mut new[..tiles * TILE], &self.blocks[block].values, factors);
    }

    /// Subtracts from `values`, one for each arm, the first rows, each multiplied by its factor, in the order of the
    /// rows. There are as many rows as `factors`.
    pub(super) fn subtract_all(&self, factors: &[f64], values: &mut [f64]) {
        let mut buffer = [0.0; BLOCK];
        for (block, values) in values.chunks_mut(BLOCK).enumerate() {
            buffer[..values.len()].copy_from_slice(values);
            self.subtract(block, factors, &mut buffer);
            values.copy_from_slice(&buffer[..values.len()]);
        }
    }
}

multiversion! {
    up to Avx2:
    /// As [`Blocks::subtract`]; `new` has the width of all tiles of the block.
    fn subtract_rows(new: &mut [f64], rows: &[f64], factors: &[f64]) {
        let (new, _) = new.as_chunks_mut::<TILE>();
        let (tiles, _) = rows.as_chunks::<{ TILE * GROUP }>();
        for (group, factors) in tiles.chunks_exact(new.len().max(1)).zip(factors.chunks(GROUP)) {
            // For a full group the compiler knows the number of rows.
            if let Ok(factors) = <&[f64; GROUP]>::try_from(factors) {
                subtract_group(new, group, factors);
            } else {
                subtract_group(new, group, factors);
            }
        }
    }
}

#[inline(always)]
fn subtract_group(new: &mut [[f64; TILE]], group: &[[f64; TILE * GROUP]], factors: &[f64]) {
    for (new, tile) in new.iter_mut().zip(group) {
        let mut sums = *new;
        for (row, &factor) in tile.as_chunks::<TILE>().0.iter().zip(factors) {
            for (sum, &earlier) in sums.iter_mut().zip(row) {
                *sum -= factor * earlier;
            }
        }
        *new = sums;
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // A thread that is ending has no reservoir any more; then the memory is returned to the system.
        let _ = RESERVOIR.try_with(|reservoir| {
            let mut reservoir = reservoir.borrow_mut();
            for Block { values, .. } in self.blocks.drain(..) {
                if reservoir.kept + values.capacity() <= KEPT {
                    reservoir.kept += values.capacity();
                    reservoir.buffers.push(values);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_used_again_holds_nothing_of_before() {
        let fill = |value: f64| {
            let mut blocks = Blocks::new(BLOCK + 3);
            for row in 0..40 {
                let new = [value + f64::from(row); BLOCK];
                (0..2).for_each(|block| blocks.push(block, &new));
            }
            (blocks.at(0, 0), blocks.at(17, 40), blocks.at(39, BLOCK + 2))
        };
        assert_eq!(fill(1.0), (1.0, 18.0, 40.0));
        assert_eq!(fill(7.0), (7.0, 24.0, 46.0));
    }

    #[test]
    fn rows_are_subtracted_in_their_order_for_any_number_of_rows_and_arms() {
        for (n, rows) in [(1, 1), (31, 15), (32, 16), (BLOCK + 33, 17), (3 * BLOCK, 50)] {
            let value = |s: usize, arm: usize| ((7 * s + arm) % 13) as f64 / 3.0 + 1e-9 * s as f64;
            let mut blocks = Blocks::new(n);
            for s in 0..rows {
                for block in 0..n.div_ceil(BLOCK) {
                    let mut new = [f64::NAN; BLOCK];
                    let arms = (block * BLOCK..n).take(BLOCK);
                    new.iter_mut().zip(arms).for_each(|(new, arm)| *new = value(s, arm));
                    blocks.push(block, &new);
                }
            }
            let factors: Vec<f64> = (0..rows).map(|s| 0.1 + s as f64 / 7.0).collect();
            let mut found = vec![1.0; n];
            blocks.subtract_all(&factors, &mut found);
            for (arm, found) in found.into_iter().enumerate() {
                let expected = (0..rows).fold(1.0, |sum, s| sum - factors[s] * value(s, arm));
                assert_eq!(found, expected, "arm {arm} of {n}, {rows} rows");
                assert_eq!(blocks.at(rows - 1, arm), value(rows - 1, arm));
            }
        }
    }
}
