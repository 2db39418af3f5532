//! The order of pending events: a ladder queue (Tang, Goh and Thng 2005) with a heap for late events.
//!
//! Events in the far future are kept unsorted in an array, the "top". When no other events are left, the earliest events of
//! the top are distributed over the buckets of a "rung". The buckets are so narrow that most hold one event or none. The
//! events of the next few buckets are sorted and moved to an array, the "bottom"; a bucket with many events is distributed
//! over a new, finer rung. Events that are scheduled after their bucket was emptied ("late" events) go to a small heap. No
//! step assumes a distribution of delays: in the worst case, an event costs as much as in a heap.
//!
//! ```text
//! earlier                                                             later
//! bottom + late | innermost rung's buckets | .. | outermost rung's | top
//! ```
//!
//! A key is 16 bytes: time, then sequence number, then the slot of its event. Buckets are linked lists through the
//! table of events; the top is an array of keys, because reading a linked list of a thousand events would take one
//! memory stall per event. Nothing is allocated once the tables have reached their largest size.
//! If the top has few events when it is moved to the bottom, new events are then inserted into the bottom, in order.
//!
//! Two things reduce stalls. Several buckets are read at the same time. Where the processor cannot predict a condition
//! (whether a bucket holds one event or two, and which of two is first), the code selects values instead of branching.

mod heap;
mod node;
mod rung;

use heap::Heap;
pub(super) use node::Place;
use node::{Key, NONE, Node, SLOT_BITS, SLOT_MASK, key, slot, time};
use rung::{BUCKET_BITS, BUCKETS, Rung, shift_for};
use std::hint::select_unpredictable;

const LAST_SEQUENCE: u64 = (1 << (64 - SLOT_BITS)) - 1;
/// A bucket, or the top, is sorted if it has at most this number of events or all their times are equal. Otherwise its
/// events are distributed over a rung.
const SORTED: usize = 48;
/// If the top has at most this number of events when it is moved to the bottom, new events are inserted into the bottom
/// too, until the bottom is empty, or until its array is full and at least twice this number of events are pending.
const FEW: usize = 16;
/// The buckets of a rung that is made from the top cover together at least this many times the difference between the mean
/// time and the first time of the top's events, or the span of the whole top if that is shorter.
const REACH: u64 = 4;
/// If there are more late events than this, and more late events than events in the bottom, a new rung takes the late events
/// and those of the bottom.
const SPILL: usize = 64;

/// The events in the order of their keys.
#[derive(Clone, Debug)]
pub(super) struct Ladder<T> {
    nodes: Vec<Node<T>>,
    /// The first free slot; the node of each free slot contains the next free slot.
    free: u32,
    sequence: u64,
    /// Sorted keys. Those at the indices from `taken` to `filled - 1` are pending.
    bottom: Vec<Key>,
    taken: usize,
    filled: usize,
    /// Whether new events are inserted into the bottom. All pending events are then in the bottom, except events of the time
    /// `u64::MAX` that were added after `few` became true. These events are in the top.
    few: bool,
    late: Heap,
    spill_at: usize,
    /// The innermost rung; its span is 0 if there is none.
    rung: Rung,
    /// The rungs around the innermost one, outermost first.
    outer: Vec<Rung>,
    spare: Vec<Rung>,
    /// The keys of the top, in the order in which they were added.
    top: Vec<Key>,
    /// Events at this time or later go to the top.
    top_start: u64,
    /// Largest number of slots: 2^24, except in tests.
    pub(super) most: u32,
    overfull: bool,
}

impl<T> Default for Ladder<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            free: NONE,
            sequence: 0,
            bottom: Vec::new(),
            taken: 0,
            filled: 0,
            few: false,
            late: Heap::default(),
            spill_at: SPILL,
            rung: Rung::default(),
            outer: Vec::new(),
            spare: Vec::new(),
            top: Vec::new(),
            top_start: 0,
            most: SLOT_MASK as u32 + 1,
            overfull: false,
        }
    }
}

impl<T> Ladder<T> {
    /// Adds an event after all events of the same time. If all 2^24 slots are taken, the new event is dropped, and
    /// [`Self::has_overflowed`] is true from then on. A cancelled event keeps its slot until its time comes.
    // Always inlined, so that the event is written directly to its slot: copying it right after writing stalls the CPU.
    #[inline(always)]
    pub(super) fn push(&mut self, time: u64, event: T) -> Place {
        if self.sequence > LAST_SEQUENCE {
            self.renumber();
        }
        if self.free == NONE && !self.new_slot() {
            return Place { slot: NONE, generation: 0 };
        }
        let slot = self.free;
        let rank = (self.sequence << SLOT_BITS) | u64::from(slot);
        self.sequence += 1;
        let node = &mut self.nodes[slot as usize];
        self.free = node.next;
        (node.time, node.rank, node.event) = (time, rank, Some(event));
        let place = Place { slot, generation: node.generation };
        if let Some(index) = self.rung.bucket(time) {
            self.rung.insert(index, node, slot);
        } else if time >= self.top_start {
            self.top.push(key(time, rank));
        } else if self.few {
            self.insert(key(time, rank));
        } else {
            self.place_between(slot);
        }
        place
    }

    /// Removes the first event and returns it with its time. Cancelled events are skipped.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            let key = self.draw()?;
            if let Some(event) = self.release(slot(key)) {
                return Some((time(key), event));
            }
        }
    }

    /// Cancels a pending event and returns it; `None` if it has been handled or cancelled before.
    pub(super) fn take(&mut self, place: Place) -> Option<T> {
        // The slot becomes free when its key is reached and skipped.
        let node = self.nodes.get_mut(place.slot as usize)?;
        if node.generation == place.generation { node.event.take() } else { None }
    }

    /// The time of the first event.
    pub(super) fn next_time(&mut self) -> Option<u64> {
        loop {
            if !self.fill() {
                return None;
            }
            let first = self.first()?;
            if self.nodes[slot(first) as usize].event.is_some() {
                return Some(time(first));
            }
            self.draw();
            self.release(slot(first));
        }
    }

    /// The pending events, in no particular order.
    pub(super) fn events(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().filter_map(|node| node.event.as_ref())
    }

    /// Frees a slot whose key was removed; returns its event, unless the event was cancelled before.
    #[inline(always)]
    fn release(&mut self, slot: u32) -> Option<T> {
        let node = &mut self.nodes[slot as usize];
        node.generation = node.generation.wrapping_add(1);
        node.next = std::mem::replace(&mut self.free, slot);
        node.event.take()
    }

    /// Removes the first key.
    #[inline(always)]
    fn draw(&mut self) -> Option<Key> {
        if self.taken < self.filled && self.late.is_empty() {
            self.taken += 1;
            return self.bottom.get(self.taken - 1).copied();
        }
        self.draw_otherwise()
    }

    /// Removes the first key; called if there are late keys, or if the bottom is empty.
    fn draw_otherwise(&mut self) -> Option<Key> {
        if !self.fill() {
            return None;
        }
        let bottom = self.bottom[self.taken..self.filled].first().copied();
        match (bottom, self.late.first()) {
            (Some(bottom), late) if late.is_none_or(|late| bottom < *late) => {
                self.taken += 1;
                Some(bottom)
            }
            _ => self.late.pop(),
        }
    }

    /// The first of all keys in the bottom and in the heap of late events.
    fn first(&self) -> Option<Key> {
        self.bottom[self.taken..self.filled].first().into_iter().chain(self.late.first()).min().copied()
    }

    /// Makes sure that the first key is in the bottom or in the heap of late events; false if there is no key.
    #[inline]
    fn fill(&mut self) -> bool {
        self.taken < self.filled || !self.late.is_empty() || self.refill()
    }

    /// Inserts a key into the bottom, at its place, while few events are pending.
    #[inline]
    fn insert(&mut self, key: Key) {
        if self.filled == self.bottom.len() && !self.make_place() {
            return self.top.push(key);
        }
        let mut at = self.filled;
        while at > self.taken && key < self.bottom[at - 1] {
            self.bottom[at] = self.bottom[at - 1];
            at -= 1;
        }
        self.bottom[at] = key;
        self.filled += 1;
    }

    /// Makes room for a key at the end of the bottom, if few events are pending there; otherwise moves all events of the
    /// bottom to the top. Returns whether few are pending.
    #[cold]
    fn make_place(&mut self) -> bool {
        let pending = self.taken..self.filled;
        self.few = pending.len() < 2 * FEW;
        if self.few {
            (self.taken, self.filled) = (0, pending.len());
            self.bottom.copy_within(pending, 0);
            self.bottom.resize(4 * FEW, 0);
        } else {
            self.top.extend_from_slice(&self.bottom[pending]);
            (self.taken, self.filled, self.top_start) = (0, 0, 0);
        }
        self.few
    }

    /// Inserts an event that belongs neither to the innermost rung nor to the top: into an outer rung or, if the event's
    /// bucket has been emptied, into the heap.
    #[cold]
    fn place_between(&mut self, slot: u32) {
        let node = &mut self.nodes[slot as usize];
        for rung in &mut self.outer {
            if let Some(index) = rung.bucket(node.time) {
                rung.insert(index, node, slot);
                return;
            }
        }
        self.late.push(node.key());
        if self.late.len() > self.spill_at.max(self.filled - self.taken) {
            self.spill();
        }
    }

    /// Whether an event was dropped because too many were pending.
    #[inline]
    pub(super) fn has_overflowed(&self) -> bool {
        self.overfull
    }

    /// Makes a free slot; false if there are already as many slots as allowed.
    #[cold]
    fn new_slot(&mut self) -> bool {
        let slot = self.nodes.len() as u32;
        self.overfull |= slot >= self.most;
        if !self.overfull {
            self.nodes.push(Node { time: 0, rank: 0, next: NONE, generation: 0, event: None });
            self.free = slot;
        }
        !self.overfull
    }

    /// Moves the next events to the bottom; false if there are none. Bottom and heap of late events must be empty.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        (self.taken, self.filled, self.few) = (0, 0, false);
        while self.filled == 0 {
            if self.rung.len > 0 {
                self.refill_bottom();
            } else if let Some(outer) = self.outer.pop() {
                self.spare.push(std::mem::replace(&mut self.rung, outer));
            } else if !self.top.is_empty() {
                self.lower_top();
            } else {
                self.rung.close();
                self.top_start = 0;
                return false;
            }
        }
        true
    }

    /// Moves the events of the innermost rung's next few buckets to the bottom, in order, up to the first bucket that has
    /// more than [`SORTED`] events of more than one time. If this is the very first one, a new, finer rung takes its events.
    fn refill_bottom(&mut self) {
        let (nodes, rung, bottom) = (&self.nodes[..], &mut self.rung, &mut self.bottom);
        let (start, mut bits) = rung.near();
        let mut len = 0;
        make_room(bottom, len, bits);
        while bits != 0 {
            let index = start + bits.trailing_zeros() as usize;
            let head = rung.head(index);
            let newest = &nodes[head as usize];
            let alone = newest.next == NONE;
            let oldest = &nodes[select_unpredictable(alone, head, newest.next) as usize];
            if oldest.next == NONE {
                let (a, b) = (newest.key(), oldest.key());
                let rising = a < b;
                bottom[len] = select_unpredictable(rising, a, b);
                bottom[len + 1] = select_unpredictable(rising, b, a);
                len += 2 - usize::from(alone);
            } else {
                bottom.truncate(len);
                let (mut least, mut most) = (u64::MAX, 0);
                let mut at = head;
                while at != NONE {
                    let node = &nodes[at as usize];
                    (least, most) = (least.min(node.time), most.max(node.time));
                    bottom.push(node.key());
                    at = node.next;
                }
                if bottom.len() - len > SORTED && least < most {
                    break;
                }
                bottom[len..].sort_unstable();
                len = bottom.len();
                make_room(bottom, len, bits);
            }
            rung.clear(index);
            bits &= bits - 1;
        }
        self.filled = len;
        rung.set_current_bucket(start, bits);
        rung.len -= len;
        if len == 0 {
            self.spread();
        }
    }

    /// Distributes the current bucket of the innermost rung over a new, finer rung, which becomes the innermost one.
    #[cold]
    fn spread(&mut self) {
        let rung = &mut self.rung;
        let (start, end) = rung.current();
        let shift = rung.shift.saturating_sub(BUCKET_BITS);
        let mut inner = Rung::new(start, end, shift, self.spare.pop());
        let mut at = rung.take();
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let next = node.next;
            inner.insert(((node.time - start) >> shift) as usize, node, at);
            at = next;
        }
        rung.len -= inner.len;
        self.outer.push(std::mem::replace(rung, inner));
    }

    /// Sorts the top and moves it to the bottom, if it is small or all its times are equal; otherwise distributes its
    /// earliest events over a rung. Bottom and rungs must be empty. The buckets' width is computed for a span of [`REACH`]
    /// times the difference between the mean time and the first time of the top. So events in the far future, which stay in
    /// the top, do not make the buckets wide.
    fn lower_top(&mut self) {
        self.spill_at = SPILL;
        let (mut least, mut most, mut sum) = (u64::MAX, 0, 0);
        for &key in &self.top {
            (least, most, sum) = (least.min(time(key)), most.max(time(key)), sum + u128::from(time(key)));
        }
        if self.top.len() <= SORTED || least == most {
            self.rung.close();
            self.few = self.top.len() <= FEW;
            self.top_start = if self.few { u64::MAX } else { most.saturating_add(1) };
            std::mem::swap(&mut self.bottom, &mut self.top);
            self.top.clear();
            self.bottom.sort_unstable();
            self.filled = self.bottom.len();
            return;
        }
        let mean = (sum / self.top.len() as u128) as u64;
        let span = (mean - least).saturating_mul(REACH).min(most - least);
        let shift = shift_for(span, self.top.len());
        let end = u128::from(least) + ((BUCKETS as u128) << shift);
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        let rung = &mut self.rung;
        rung.reset(least, end, shift);
        self.top.retain(|&key| {
            let index = rung.bucket(time(key));
            if let Some(index) = index {
                rung.insert(index, &mut self.nodes[slot(key) as usize], slot(key));
            }
            index.is_none()
        });
        self.top_start = end;
    }

    /// Distributes the bottom and the late events over a new innermost rung, for the times up to the first bucket that is
    /// not emptied yet (up to the top's start if there is none). If these times are one point, raises `spill_at` instead.
    #[cold]
    fn spill(&mut self) {
        let least = self.first().map_or(0, time);
        let end = self.rung.rest().or_else(|| self.outer.last()?.rest()).unwrap_or(self.top_start);
        if end <= least.saturating_add(1) {
            self.spill_at = 2 * self.late.len();
            return;
        }
        self.spill_at = SPILL;
        let shift = shift_for(end - 1 - least, BUCKETS);
        let mut inner = Rung::new(least, end, shift, self.spare.pop());
        for key in self.bottom[self.taken..self.filled].iter().copied().chain(self.late.drain()) {
            let index = ((time(key) - least) >> shift) as usize;
            inner.insert(index, &mut self.nodes[slot(key) as usize], slot(key));
        }
        (self.taken, self.filled) = (0, 0);
        self.outer.push(std::mem::replace(&mut self.rung, inner));
    }

    /// Gives the pending events the sequence numbers 0, 1, ... in their order.
    #[cold]
    fn renumber(&mut self) {
        let mut order = Vec::new();
        while let Some(key) = self.draw() {
            order.push(slot(key));
        }
        self.sequence = 0;
        for slot in order {
            let node = &mut self.nodes[slot as usize];
            node.rank = (self.sequence << SLOT_BITS) | u64::from(slot);
            self.sequence += 1;
            self.top.push(node.key());
        }
    }
}

/// Lengthens the array, if necessary, so that from index `from` on it has room for two keys for each set bit of `bits`.
#[inline]
fn make_room(keys: &mut Vec<Key>, from: usize, bits: u64) {
    let wanted = from + 2 * bits.count_ones() as usize;
    if keys.len() < wanted {
        keys.resize(wanted, 0);
    }
}

#[cfg(test)]
mod tests;
