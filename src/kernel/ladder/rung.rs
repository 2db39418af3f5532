//! One rung of the ladder: a span of time in buckets of equal width.

use super::node::{NONE, Node};

pub(super) const BUCKET_BITS: u32 = 13;
pub(super) const BUCKETS: usize = 1 << BUCKET_BITS;
const WORDS: usize = BUCKETS / 64;

/// A span of time, divided into buckets of equal width.
#[derive(Clone, Debug)]
pub(super) struct Rung {
    start: u64,
    /// Length of the rung in nanoseconds. Every time within the rung has a bucket.
    span: u64,
    /// A bucket is 2^shift nanoseconds wide.
    pub(super) shift: u32,
    /// The index of the current bucket; the buckets before it have been emptied.
    current: usize,
    /// Number of events in the rung.
    pub(super) len: usize,
    table: Box<Table>,
}

#[derive(Clone, Debug)]
struct Table {
    /// The slot of the newest event of each bucket.
    heads: [u32; BUCKETS],
    /// One bit per bucket, which is set if the bucket has events.
    occupied: [u64; WORDS],
}

impl Default for Rung {
    /// A rung of length 0.
    fn default() -> Self {
        let table = Box::new(Table { heads: [NONE; BUCKETS], occupied: [0; WORDS] });
        Self { start: 0, span: 0, shift: 0, current: 0, len: 0, table }
    }
}

impl Rung {
    /// An empty rung for the times from `start` on and before `end`. These times must fit into the rung's buckets. Reuses
    /// `spare`, a rung that is not needed any more, if there is one.
    pub(super) fn new(start: u64, end: u64, shift: u32, spare: Option<Self>) -> Self {
        let mut rung = spare.unwrap_or_default();
        rung.reset(start, end, shift);
        rung
    }

    /// Changes this rung, which must be empty, to a rung for the times from `start` on and before `end`. These times must
    /// fit into the rung's buckets.
    pub(super) fn reset(&mut self, start: u64, end: u64, shift: u32) {
        (self.start, self.span, self.shift, self.current) = (start, end - start, shift, 0);
    }

    /// Sets the rung's length to 0. The rung must be empty.
    pub(super) fn close(&mut self) {
        self.span = 0;
    }

    /// The bucket of a time; `None` if the time is outside the rung, or if its bucket has been emptied.
    #[inline(always)]
    pub(super) fn bucket(&self, time: u64) -> Option<usize> {
        let after = time.wrapping_sub(self.start);
        let index = (after >> self.shift) as usize;
        (after < self.span && self.current <= index).then_some(index)
    }

    #[inline(always)]
    pub(super) fn insert<T>(&mut self, index: usize, node: &mut Node<T>, slot: u32) {
        let head = &mut self.table.heads[index % BUCKETS];
        node.next = *head;
        *head = slot;
        self.table.occupied[index / 64 % WORDS] |= 1 << (index % 64);
        self.len += 1;
    }

    /// The next range of 64 buckets that has events: the index of its first bucket, and 64 bits, of which those of buckets
    /// with events are set. The rung must have events.
    #[inline]
    pub(super) fn near(&self) -> (usize, u64) {
        // Bits before the current bucket are zero: those buckets are empty.
        let mut word = self.current / 64 % WORDS;
        while self.table.occupied[word] == 0 {
            word = (word + 1) % WORDS;
        }
        (word * 64, self.table.occupied[word])
    }

    /// The slot of the newest event of a bucket.
    #[inline]
    pub(super) fn head(&self, index: usize) -> u32 {
        self.table.heads[index % BUCKETS]
    }

    /// Empties a bucket; [`Self::set_current_bucket`] must follow.
    #[inline]
    pub(super) fn clear(&mut self, index: usize) {
        self.table.heads[index % BUCKETS] = NONE;
    }

    /// Sets which buckets of the range that [`Self::near`] returned still have events: those whose bits are set in `bits`.
    /// The first of these becomes the current bucket. The buckets before the current one count as emptied: the ladder puts
    /// events that are scheduled for them from now on into its heap of late events. If no bucket of the range still has
    /// events, the bucket after the range becomes the current one. The caller updates `len`.
    #[inline]
    pub(super) fn set_current_bucket(&mut self, start: usize, bits: u64) {
        self.table.occupied[start / 64 % WORDS] = bits;
        self.current = start + bits.trailing_zeros() as usize;
    }

    /// The range of times of the current bucket.
    pub(super) fn current(&self) -> (u64, u64) {
        let after = ((self.current as u64) << self.shift).min(self.span);
        let width = (1 << self.shift).min(self.span - after);
        (self.start + after, self.start + after + width)
    }

    /// Empties the current bucket, counts it as emptied, and returns the slot of its newest event. The caller updates
    /// `len`.
    pub(super) fn take(&mut self) -> u32 {
        let head = self.head(self.current);
        self.clear(self.current);
        self.table.occupied[self.current / 64 % WORDS] &= !(1 << (self.current % 64));
        self.current += 1;
        head
    }

    /// The time at which the buckets that have not been emptied begin; `None` if the rung's length is 0.
    pub(super) fn rest(&self) -> Option<u64> {
        let after = u64::try_from((self.current as u128) << self.shift).unwrap_or(u64::MAX).min(self.span);
        (self.span > 0).then(|| self.start + after)
    }
}

/// The smallest exponent s for which few enough buckets of the width 2^s cover the times from 0 to `span`: at most eight per
/// event, rounded up to a power of two, and at most [`BUCKETS`] in all.
pub(super) fn shift_for(span: u64, events: usize) -> u32 {
    let buckets = (8 * events).next_power_of_two().min(BUCKETS) as u64;
    let mut shift = 0;
    while span >> shift >= buckets {
        shift += 1;
    }
    shift
}
