//! A pending event with its key, and the place that identifies it.

/// The value that stands for no slot.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const SLOT_BITS: u32 = 24;
pub(super) const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// Time in the high half; sequence and slot in the low half.
pub(super) type Key = u128;

/// Identifies one event as long as the event's slot is not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) struct Place {
    pub(in crate::kernel) slot: u32,
    pub(in crate::kernel) generation: u32,
}

/// A pending event with its key, aligned to cache lines, so that one memory access loads both.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Node<T> {
    pub(super) time: u64,
    /// Sequence number and slot.
    pub(super) rank: u64,
    /// The next slot in the list of the event's bucket, or in the list of free slots.
    pub(super) next: u32,
    pub(super) generation: u32,
    pub(super) event: Option<T>,
}

impl<T> Node<T> {
    pub(super) fn key(&self) -> Key {
        key(self.time, self.rank)
    }
}

pub(super) fn key(time: u64, rank: u64) -> Key {
    (Key::from(time) << 64) | Key::from(rank)
}

pub(super) fn time(key: Key) -> u64 {
    (key >> 64) as u64
}

pub(super) fn slot(key: Key) -> u32 {
    (key as u64 & SLOT_MASK) as u32
}
