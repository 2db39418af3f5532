//! Rows over all arms, cut into blocks of arms, in memory that the next of their kind uses again.
//!
//! A study makes thousands of posteriors of the same size, one after the other; fresh memory costs more than the
//! arithmetic on it, for the system hands it out page by page.

use std::cell::RefCell;

/// Arms per block: 8 KB of a row.
pub(super) const BLOCK: usize = 1024;

/// Most memory that a thread keeps for later, in numbers of 8 bytes: 64 MiB.
const KEPT: usize = 8 << 20;

#[derive(Debug, Default)]
struct Reservoir {
    buffers: Vec<Vec<f64>>,
    kept: usize,
}

thread_local! {
    static RESERVOIR: RefCell<Reservoir> = RefCell::default();
}

/// A growing number of rows of `n` numbers; a block holds its part of every row, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    n: usize,
    blocks: Vec<Vec<f64>>,
}

impl Blocks {
    /// No rows yet.
    pub(super) fn new(n: usize) -> Self {
        let blocks = RESERVOIR.with_borrow_mut(|reservoir| {
            let take = |_| {
                let mut buffer = reservoir.buffers.pop().unwrap_or_default();
                reservoir.kept -= buffer.capacity();
                buffer.clear();
                buffer
            };
            (0..n.div_ceil(BLOCK)).map(take).collect()
        });
        Self { n, blocks }
    }

    /// Row `s` at one arm.
    #[inline]
    pub(super) fn at(&self, s: usize, arm: usize) -> f64 {
        let (block, place) = (arm / BLOCK, arm % BLOCK);
        let width = BLOCK.min(self.n - block * BLOCK);
        self.blocks[block][s * width + place]
    }

    /// The blocks, in order of arms.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.blocks.iter()
    }

    /// The blocks, to be extended by their part of a new row each.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        self.blocks.iter_mut()
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // A thread that is ending has no reservoir any more; then the memory goes back to the system.
        let _ = RESERVOIR.try_with(|reservoir| {
            let mut reservoir = reservoir.borrow_mut();
            for buffer in self.blocks.drain(..) {
                if reservoir.kept + buffer.capacity() <= KEPT {
                    reservoir.kept += buffer.capacity();
                    reservoir.buffers.push(buffer);
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
            for row in 0..5 {
                for (index, block) in blocks.iter_mut().enumerate() {
                    let width = if index == 0 { BLOCK } else { 3 };
                    block.extend(std::iter::repeat_n(value + f64::from(row), width));
                }
            }
            (blocks.at(0, 0), blocks.at(4, BLOCK + 2), blocks.iter().map(Vec::len).sum::<usize>())
        };
        assert_eq!(fill(1.0), (1.0, 5.0, 5 * (BLOCK + 3)));
        assert_eq!(fill(7.0), (7.0, 11.0, 5 * (BLOCK + 3)));
    }
}
