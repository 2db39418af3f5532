//! A pending event with its key, and lists of them through one table.

/// No slot.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const SLOT_BITS: u32 = 24;
pub(super) const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// Time in the high half; sequence and slot in the low half.
pub(super) type Key = u128;

/// A pending event beside its key, so that both come with one look into memory.
#[derive(Clone, Debug)]
pub(super) struct Node<T> {
    pub(super) time: u64,
    /// Sequence number and slot.
    pub(super) rank: u64,
    pub(super) next: u32,
    pub(super) generation: u32,
    pub(super) event: Option<T>,
}

impl<T> Node<T> {
    pub(super) fn key(&self) -> Key {
        (Key::from(self.time) << 64) | Key::from(self.rank)
    }
}

/// Events without an order, newest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: u32,
    pub(super) len: usize,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) sum: u128,
}

impl List {
    pub(super) const EMPTY: Self = Self { head: NONE, len: 0, least: u64::MAX, most: 0, sum: 0 };

    pub(super) fn insert<T>(&mut self, node: &mut Node<T>, slot: u32) {
        node.next = self.head;
        self.head = slot;
        self.len += 1;
        self.least = self.least.min(node.time);
        self.most = self.most.max(node.time);
        self.sum += u128::from(node.time);
    }
}

pub(super) fn time(key: Key) -> u64 {
    (key >> 64) as u64
}

pub(super) fn slot(key: Key) -> u32 {
    (key as u64 & SLOT_MASK) as u32
}
