//! A pending event with its key, and those that nobody has put in order yet.

/// No slot.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const SLOT_BITS: u32 = 24;
pub(super) const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// Time in the high half; sequence and slot in the low half.
pub(super) type Key = u128;

/// A pending event beside its key, so that both come with one look into memory: on cache lines of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
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

/// Events without an order, as they came: slots and not a list, so that they can be looked at side by side.
#[derive(Clone, Debug)]
pub(super) struct Top {
    pub(super) slots: Vec<u32>,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) sum: u128,
}

impl Default for Top {
    fn default() -> Self {
        Self { slots: Vec::new(), least: u64::MAX, most: 0, sum: 0 }
    }
}

impl Top {
    #[inline]
    pub(super) fn push(&mut self, slot: u32, time: u64) {
        self.slots.push(slot);
        self.least = self.least.min(time);
        self.most = self.most.max(time);
        self.sum += u128::from(time);
    }

    /// Without events; its memory stays.
    pub(super) fn clear(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        *self = Self { slots, ..Self::default() };
    }
}

pub(super) fn time(key: Key) -> u64 {
    (key >> 64) as u64
}

pub(super) fn slot(key: Key) -> u32 {
    (key as u64 & SLOT_MASK) as u32
}
