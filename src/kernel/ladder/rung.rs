//! One rung of the ladder: a span of time in buckets of equal width.

use super::node::{NONE, Node};

pub(super) const BUCKET_BITS: u32 = 13;
pub(super) const BUCKETS: usize = 1 << BUCKET_BITS;

/// Buckets of equal width, of which the first have been emptied.
#[derive(Clone, Debug)]
pub(super) struct Rung {
    pub(super) start: u64,
    /// A bucket is 2^shift nanoseconds wide.
    pub(super) shift: u32,
    /// Buckets before this one have been emptied.
    pub(super) current: usize,
    pub(super) len: usize,
    /// The newest event of each bucket.
    pub(super) heads: Vec<u32>,
    /// A bit for each bucket that has events.
    occupied: [u64; BUCKETS / 64],
}

impl Rung {
    /// Without events, from a start on; in the place of one that is not needed any more, if there is one.
    pub(super) fn new(start: u64, shift: u32, spare: Option<Self>) -> Self {
        let empty = spare.unwrap_or_else(|| Self {
            start,
            shift,
            current: 0,
            len: 0,
            heads: vec![NONE; BUCKETS],
            occupied: [0; BUCKETS / 64],
        });
        Self { start, shift, current: 0, len: 0, ..empty }
    }

    /// The bucket of a time, if it has not been emptied.
    #[inline]
    pub(super) fn bucket(&self, time: u64) -> Option<usize> {
        let index = usize::try_from(time.checked_sub(self.start)? >> self.shift).ok()?;
        (self.current..BUCKETS).contains(&index).then_some(index)
    }

    #[inline]
    pub(super) fn insert<T>(&mut self, index: usize, node: &mut Node<T>, slot: u32) {
        node.next = self.heads[index];
        self.heads[index] = slot;
        self.occupied[index / 64] |= 1 << (index % 64);
        self.len += 1;
    }

    /// Moves on to the next bucket that has events. The rung must have some.
    #[inline]
    pub(super) fn advance(&mut self) -> usize {
        let mut word = self.current / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (self.current % 64));
        while bits == 0 {
            word += 1;
            bits = self.occupied[word];
        }
        self.current = word * 64 + bits.trailing_zeros() as usize;
        self.current
    }

    /// Empties a bucket; its newest event.
    #[inline]
    pub(super) fn clear(&mut self, index: usize) -> u32 {
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::replace(&mut self.heads[index], NONE)
    }

    /// Takes all of the next bucket that has events, and counts it as emptied: later events for it come late. Its
    /// newest event.
    pub(super) fn take(&mut self) -> u32 {
        let index = self.advance();
        self.current = index + 1;
        self.clear(index)
    }

    /// Where the last bucket taken begins.
    pub(super) fn taken_start(&self) -> u64 {
        self.start.saturating_add(((self.current - 1) as u64) << self.shift)
    }
}

/// Width of buckets, as a power of two, so that a span takes eight times as many of them as there are events, or all.
pub(super) fn shift_for(span: u64, events: usize) -> u32 {
    let buckets = (8 * events).next_power_of_two().min(BUCKETS) as u64;
    let mut shift = 0;
    while span >> shift >= buckets {
        shift += 1;
    }
    shift
}

/// Where so many buckets from a start end.
pub(super) fn edge(start: u64, buckets: usize, shift: u32) -> u64 {
    u64::try_from(u128::from(start) + ((buckets as u128) << shift)).unwrap_or(u64::MAX)
}
