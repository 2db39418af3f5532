//! A growing matrix with one column per arm, stored in blocks of arms. When a matrix is dropped, a later matrix of the same
//! thread may reuse its memory.
//!
//! A study builds thousands of posteriors of the same size, one after the other. Allocating new memory for each posterior
//! would take longer than the posterior's arithmetic, because the system provides memory page by page.

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::simd::multiversion;
use std::cell::RefCell;

/// Number of arms in a block; their entries in one row take 8 KB.
pub(super) const BLOCK: usize = 1024;

/// Largest amount of memory that a thread keeps for reuse, in numbers of 8 bytes: 512 MiB.
const KEPT: usize = 64 << 20;

#[derive(Debug, Default)]
struct BufferPool {
    buffers: Vec<Vec<f64>>,
    kept: usize,
}

thread_local! {
    static BUFFER_POOL: RefCell<BufferPool> = RefCell::default();
}

/// A growing number of rows of `n` numbers.
///
/// A block of arms holds its part of every row. The rows of a block are divided into groups of sixteen, and each group
/// into tiles of 32 arms; a tile is stored row by row. So a loop over all rows reads a block sequentially, and the loop's
/// results for 32 arms stay in registers over sixteen rows. The last group may have fewer than sixteen rows. It has room for
/// the number of its rows rounded up to a power of two, because in a federation of many agents most models have few rows.
#[derive(Debug)]
pub(super) struct Blocks {
    n: usize,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    rows: usize,
    /// At least as many numbers as the rows need; the rest is unused.
    values: Vec<f64>,
}

/// Number of arms whose entries in one row are adjacent.
const TILE: usize = 32;
/// Number of rows in a group.
const GROUP: usize = 16;

/// Number of rows for which a group has room, if the group and the groups after it hold `rows` rows in all (at least 1).
#[inline(always)]
fn height(rows: usize) -> usize {
    rows.min(GROUP).next_power_of_two()
}

impl BufferPool {
    /// A buffer for one block of a new matrix. The buffer may hold numbers of an earlier matrix.
    fn take(&mut self) -> Vec<f64> {
        let buffer = self.buffers.pop().unwrap_or_default();
        self.kept -= buffer.capacity();
        buffer
    }
}

impl Blocks {
    /// A matrix for `n` arms, without rows.
    pub(super) fn new(n: usize) -> Self {
        let blocks = BUFFER_POOL.with_borrow_mut(|pool| {
            (0..n.div_ceil(BLOCK)).map(|_| Block { rows: 0, values: pool.take() }).collect()
        });
        Self { n, blocks }
    }

    /// Number of arms of a block.
    fn width(&self, block: usize) -> usize {
        BLOCK.min(self.n - block * BLOCK)
    }

    /// The entry of row `s` for one arm.
    #[inline]
    pub(super) fn at(&self, s: usize, arm: usize) -> f64 {
        let (block, place) = (arm / BLOCK, arm % BLOCK);
        let tiles = self.width(block).div_ceil(TILE);
        let Block { rows, values } = &self.blocks[block];
        let first = s - s % GROUP;
        let tile = first * tiles + place / TILE * height(rows - first);
        values[(tile + s % GROUP) * TILE + place % TILE]
    }

    /// Adds a block's part of a row: the first numbers of `new`, one for each arm of the block.
    pub(super) fn push(&mut self, block: usize, new: &[f64; BLOCK]) {
        let width = self.width(block);
        let Block { rows, values } = &mut self.blocks[block];
        let tiles = width.div_ceil(TILE);
        let (before, row) = (*rows - *rows % GROUP, *rows % GROUP);
        let room = height(row + 1);
        let size = (before + room) * tiles * TILE;
        if values.len() < size {
            // Grows by an eighth at least; doubling would leave much of the memory unused.
            values.reserve_exact((size - values.len()).max(values.len() / 8));
            values.resize(size, 0.0);
        }
        let group = &mut values[before * tiles * TILE..];
        if row > 0 && height(row) < room {
            // Every tile gets room for more rows. The last tile is moved first, so that no tile is overwritten before it
            // is moved.
            let (old, new) = (height(row) * TILE, room * TILE);
            (1..tiles).rev().for_each(|tile| group.copy_within(tile * old..(tile + 1) * old, tile * new));
        }
        for (new, tile) in new[..width].chunks(TILE).zip(group.chunks_mut(room * TILE)) {
            tile[row * TILE..][..new.len()].copy_from_slice(new);
        }
        *rows += 1;
    }

    /// Subtracts from `new` a block's part of the first rows, each multiplied by its factor, in the order of the rows.
    /// It subtracts as many rows as there are `factors`. The contents of `new` beyond the block's arms are undefined
    /// afterwards.
    pub(super) fn subtract(&self, block: usize, factors: &[f64], new: &mut [f64; BLOCK]) {
        let tiles = self.width(block).div_ceil(TILE);
        let Block { rows, values } = &self.blocks[block];
        subtract_rows(&mut new[..tiles * TILE], values, *rows, factors);
    }

    /// Subtracts from `values`, which holds one number for each arm, the first rows, each multiplied by its factor, in the
    /// order of the rows. It subtracts as many rows as there are `factors`.
    pub(super) fn subtract_all(&self, factors: &[f64], values: &mut [f64]) {
        let mut buffer = [0.0; BLOCK];
        for (block, values) in values.chunks_mut(BLOCK).enumerate() {
            buffer[..values.len()].copy_from_slice(values);
            self.subtract(block, factors, &mut buffer);
            values.copy_from_slice(&buffer[..values.len()]);
        }
    }

    /// Subtracts from `values` the first rows, as many as there are `arms`, as [`Self::subtract_all`] does, but the factors
    /// are not known in advance. Row s belongs to the arm `arms[s]`. The factor of row s is `factor(s, v)`, where v is the
    /// value of this arm after the rows before s have been subtracted.
    pub(super) fn eliminate(
        &self,
        arms: &[usize],
        values: &mut Vec<f64>,
        mut factor: impl FnMut(usize, f64) -> f64,
    ) {
        let n = values.len();
        values.resize(n.next_multiple_of(TILE), 0.0);
        for (group, arms) in arms.chunks(GROUP).enumerate() {
            let first = group * GROUP;
            let mut factors = [0.0; GROUP];
            let mut known = [0.0; GROUP];
            // `places[row]` begins at the entry of the group's first row for the arm of row `row`;
            // the entries of the next rows for that arm follow at distances of `TILE`.
            let mut places: [&[f64]; GROUP] = [&[]; GROUP];
            for (row, &arm) in arms.iter().enumerate() {
                known[row] = values[arm];
                let (block, place) = (arm / BLOCK, arm % BLOCK);
                let Block { rows, values } = &self.blocks[block];
                let tiles = self.width(block).div_ceil(TILE);
                let tile = first * tiles + place / TILE * height(rows - first);
                places[row] = &values[tile * TILE + place % TILE..];
            }
            for row in 0..arms.len() {
                let one = factor(first + row, known[row]);
                factors[row] = one;
                for later in row + 1..arms.len() {
                    known[later] -= one * places[later][row * TILE];
                }
            }
            for (block, values) in values.chunks_mut(BLOCK).enumerate() {
                let Block { rows, values: stored } = &self.blocks[block];
                let stored = &stored[first * values.len()..];
                subtract_rows(values, stored, rows - first, &factors[..arms.len()]);
            }
        }
        values.truncate(n);
    }
}

multiversion! {
    up to Avx2:
    /// Subtracts rows of one block, each multiplied by its factor, from `new`, which has one number for each column of the
    /// block's tiles. `stored` holds `rows` rows of the block, from the first row of a group on. The first of these rows are
    /// subtracted, as many as there are `factors`.
    fn subtract_rows(new: &mut [f64], stored: &[f64], rows: usize, factors: &[f64]) {
        let (new, _) = new.as_chunks_mut::<TILE>();
        for (group, factors) in factors.chunks(GROUP).enumerate() {
            let first = group * GROUP;
            let stored = &stored[first * new.len() * TILE..];
            let room = height(rows - first);
            if let (GROUP, Ok(factors)) = (room, <&[f64; GROUP]>::try_from(factors)) {
                // Here the compiler knows the number of rows.
                let (tiles, _) = stored.as_chunks::<{ TILE * GROUP }>();
                for index in 0..new.len() {
                    subtract_tile(&mut new[index], &tiles[index], factors);
                }
            } else {
                for (index, new) in new.iter_mut().enumerate() {
                    subtract_tile(new, &stored[index * room * TILE..], factors);
                }
            }
        }
    }
}

/// Subtracts the first rows of a tile, each times its factor.
#[inline(always)]
fn subtract_tile(new: &mut [f64; TILE], tile: &[f64], factors: &[f64]) {
    let (rows, _) = tile.as_chunks::<TILE>();
    let mut sums = *new;
    for row in 0..factors.len() {
        for lane in 0..TILE {
            sums[lane] -= factors[row] * rows[row][lane];
        }
    }
    *new = sums;
}

/// A copy takes its buffers from the pool too: otherwise every copy that is dropped would add a buffer to the pool.
impl Clone for Blocks {
    fn clone(&self) -> Self {
        let copy = |pool: &mut BufferPool, block: &Block| {
            let mut values = pool.take();
            values.clear();
            values.reserve_exact(block.values.len());
            values.extend_from_slice(&block.values);
            Block { rows: block.rows, values }
        };
        let blocks =
            BUFFER_POOL.with_borrow_mut(|pool| self.blocks.iter().map(|block| copy(pool, block)).collect());
        Self { n: self.n, blocks }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // A thread that is ending has no buffer pool any more; then the memory is returned to the system.
        let _ = BUFFER_POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            for Block { values, .. } in self.blocks.drain(..) {
                if pool.kept + values.capacity() <= KEPT {
                    pool.kept += values.capacity();
                    pool.buffers.push(values);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Parallel` copies its learner for every choice of an arm while outcomes are pending. These copies must not each add a
    /// buffer to the pool when they are dropped.
    #[test]
    fn dropped_copies_do_not_fill_the_pool() {
        let mut blocks = Blocks::new(5);
        blocks.push(0, &[1.0; BLOCK]);
        for _ in 0..100 {
            let mut copy = blocks.clone();
            copy.push(0, &[2.0; BLOCK]);
            assert_eq!((copy.at(0, 4), copy.at(1, 4)), (1.0, 2.0));
        }
        assert_eq!(BUFFER_POOL.with_borrow(|pool| pool.buffers.len()), 1);
    }

    #[test]
    fn reused_memory_has_no_old_values() {
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

    fn value(s: usize, arm: usize) -> f64 {
        ((7 * s + arm) % 13) as f64 / 3.0 + 1e-9 * s as f64
    }

    fn filled(n: usize, rows: usize) -> Blocks {
        let mut blocks = Blocks::new(n);
        for s in 0..rows {
            for block in 0..n.div_ceil(BLOCK) {
                let mut new = [f64::NAN; BLOCK];
                let arms = (block * BLOCK..n).take(BLOCK);
                new.iter_mut().zip(arms).for_each(|(new, arm)| *new = value(s, arm));
                blocks.push(block, &new);
            }
        }
        blocks
    }

    #[test]
    fn rows_are_subtracted_in_their_order_for_any_number_of_rows_and_arms() {
        let sizes = (1..40).map(|rows| (100, rows));
        for (n, rows) in
            [(1, 1), (31, 15), (32, 16), (BLOCK + 33, 17), (3 * BLOCK, 50)].into_iter().chain(sizes)
        {
            let blocks = filled(n, rows);
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

    /// The expected values are computed row by row: first the row's factor, then the subtraction of the row for every arm.
    #[test]
    fn each_factor_is_computed_after_the_earlier_subtractions() {
        for (n, rows) in [(1, 3), (5, 16), (100, 37), (BLOCK + 33, 20)] {
            let blocks = filled(n, rows);
            let arms: Vec<usize> = (0..rows).map(|s| (31 * s + 5) % n).collect();
            let factor = |s: usize, left: f64| (left + s as f64) / 50.0;
            let mut found: Vec<f64> = (0..n).map(|arm| 1.0 + arm as f64 / 9.0).collect();
            let mut expected = found.clone();
            for (s, &arm) in arms.iter().enumerate() {
                let one = factor(s, expected[arm]);
                expected.iter_mut().enumerate().for_each(|(arm, left)| *left -= one * value(s, arm));
            }
            blocks.eliminate(&arms, &mut found, factor);
            assert_eq!(found, expected, "{n} arms, {rows} rows");
        }
    }

    #[test]
    fn few_rows_take_little_memory() {
        // A new thread has none of the buffers that other tests of this thread left behind.
        let held = std::thread::spawn(|| filled(100, 3).blocks[0].values.capacity()).join().unwrap();
        assert_eq!(held, 4 * 128, "four rows of four tiles");
    }
}
