//! The order of pending events: a ladder queue (Tang, Goh and Thng 2005) that falls back on a heap.
//!
//! Far events lie unsorted in the top. When it is their turn the nearest of them are spread over the buckets of a rung,
//! wide enough for one event or none in most. A bucket of a few gives up its first event at each pop; one that holds
//! more is sorted into the bottom, or spread over a rung of its own. Events that come too late for their bucket go to a
//! small heap beside the bottom. No step depends on a guess about delays: the worst case is that of the heap.
//!
//! ```text
//! earlier                                                              later
//! bottom + late | innermost rung's buckets | .. | outermost rung's | top
//! ```
//!
//! A key is 16 bytes: time, then sequence number, then the slot of its event. Buckets are linked lists through the table
//! of events; the top is a row of slots, for a list of a thousand would be read one wait for memory after the other.
//! Nothing is allocated once tables have their largest size.

mod heap;
mod node;
mod rung;

use heap::Heap;
use node::{Key, NONE, Node, SLOT_BITS, SLOT_MASK, Top, slot, time};
use rung::{BUCKET_BITS, BUCKETS, Rung, edge, shift_for};

const LAST_SEQUENCE: u64 = (1 << (64 - SLOT_BITS)) - 1;
/// Largest bucket that is searched through rather than sorted.
const FEW: usize = 6;
/// Largest bucket that is sorted rather than spread.
const SORTED: usize = 48;
/// Late events that are spread over a rung rather than kept in a heap; doubled each time.
const SPILL: usize = 1024;

/// Keys in their total order.
#[derive(Clone, Debug)]
pub(super) struct Ladder<T> {
    nodes: Vec<Node<T>>,
    /// Slots without a key.
    free: Vec<u32>,
    sequence: u64,
    /// In falling order, so that the next event is the last.
    bottom: Vec<Key>,
    late: Heap,
    spill_at: usize,
    /// Outermost first.
    rungs: Vec<Rung>,
    spare: Vec<Rung>,
    top: Top,
    /// The top while it is lowered.
    lowered: Top,
    /// Times from here on go to the top.
    top_start: u64,
}

impl<T> Default for Ladder<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            bottom: Vec::new(),
            late: Heap::default(),
            spill_at: SPILL,
            rungs: Vec::new(),
            spare: Vec::new(),
            top: Top::default(),
            lowered: Top::default(),
            top_start: 0,
        }
    }
}

/// Names one event for as long as its slot holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

impl<T> Ladder<T> {
    /// Adds an event after all of the same time.
    ///
    /// # Panics
    /// If more than 2^24 events are pending.
    // Always inlined, so that the event is made where it stays: copying it there just after it was written piece by
    // piece stalls the processor.
    #[inline(always)]
    pub(super) fn push(&mut self, time: u64, event: T) -> Place {
        let slot = self.place(time);
        let node = &mut self.nodes[slot as usize];
        node.event = Some(event);
        Place { slot, generation: node.generation }
    }

    /// The first event, with its time. One that was taken out is skipped.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            let slot = self.pop_slot()?;
            let node = &mut self.nodes[slot as usize];
            node.generation = node.generation.wrapping_add(1);
            self.free.push(slot);
            if let Some(event) = node.event.take() {
                return Some((node.time, event));
            }
        }
    }

    /// Takes an event out of its order.
    pub(super) fn take(&mut self, place: Place) -> Option<T> {
        // The slot is free again when its key has been skipped.
        let node = self.nodes.get_mut(place.slot as usize)?;
        if node.generation == place.generation { node.event.take() } else { None }
    }

    /// When the first event is due.
    pub(super) fn next_time(&mut self) -> Option<u64> {
        loop {
            if self.bottom.is_empty() && self.late.is_empty() && !self.refill() {
                return None;
            }
            let first = [self.bottom.last(), self.late.first()].into_iter().flatten().min()?;
            let node = &mut self.nodes[slot(*first) as usize];
            if node.event.is_some() {
                return Some(node.time);
            }
            node.generation = node.generation.wrapping_add(1);
            let skipped = self.pop_slot();
            self.free.extend(skipped);
        }
    }

    /// The pending events, in no particular order.
    pub(super) fn events(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().filter_map(|node| node.event.as_ref())
    }

    /// The slot of the first key.
    #[inline(always)]
    fn pop_slot(&mut self) -> Option<u32> {
        if self.bottom.is_empty() && self.late.is_empty() {
            if let Some(slot) = self.pop_few() {
                return Some(slot);
            }
            if !self.refill() {
                return None;
            }
        }
        let first = if self.late.is_empty() { self.bottom.pop() } else { self.pop_either() }?;
        Some(slot(first))
    }

    /// The first event of the innermost rung, out of a bucket of one or a few, as most are; such a bucket needs no order.
    #[inline(always)]
    fn pop_few(&mut self) -> Option<u32> {
        let rung = self.rungs.last_mut()?;
        if rung.len < 2 {
            return None;
        }
        let index = rung.advance();
        let head = rung.heads[index];
        let node = &self.nodes[head as usize];
        if node.next == NONE {
            rung.clear(index);
            rung.len -= 1;
            return Some(head);
        }
        self.pop_from(index)
    }

    /// The first event of a bucket that holds a few; `None` if it holds more.
    fn pop_from(&mut self, index: usize) -> Option<u32> {
        let rung = self.rungs.last_mut()?;
        let (mut first, mut before_first) = (Key::MAX, NONE);
        let (mut before, mut at) = (NONE, rung.heads[index]);
        for _ in 0..FEW {
            let node = &self.nodes[at as usize];
            if node.key() < first {
                (first, before_first) = (node.key(), before);
            }
            (before, at) = (at, node.next);
            if at == NONE {
                let next = self.nodes[slot(first) as usize].next;
                if before_first == NONE {
                    rung.heads[index] = next;
                } else {
                    self.nodes[before_first as usize].next = next;
                }
                rung.len -= 1;
                return Some(slot(first));
            }
        }
        None
    }

    /// The earlier of what comes next from the bottom and from the late events, of which there are some.
    fn pop_either(&mut self) -> Option<Key> {
        match (self.bottom.last(), self.late.first()) {
            (Some(sorted), Some(late)) if sorted < late => self.bottom.pop(),
            _ => self.late.pop(),
        }
    }

    /// Puts a new key where its time belongs, and gives it a slot.
    #[inline(always)]
    fn place(&mut self, time: u64) -> u32 {
        if self.sequence > LAST_SEQUENCE {
            self.renumber();
        }
        let slot = if let Some(slot) = self.free.pop() { slot } else { self.new_slot() };
        let rank = (self.sequence << SLOT_BITS) | u64::from(slot);
        self.sequence += 1;
        let node = &mut self.nodes[slot as usize];
        node.time = time;
        node.rank = rank;
        if time >= self.top_start {
            self.top.push(slot, time);
            return slot;
        }
        for rung in &mut self.rungs {
            if let Some(index) = rung.bucket(time) {
                rung.insert(index, node, slot);
                return slot;
            }
        }
        self.place_late(slot);
        slot
    }

    /// A heap takes what comes after its bucket has been emptied.
    #[cold]
    fn place_late(&mut self, slot: u32) {
        self.late.push(self.nodes[slot as usize].key());
        if self.late.len() > self.spill_at {
            self.spill();
        }
    }

    #[cold]
    fn new_slot(&mut self) -> u32 {
        let slot = self.nodes.len() as u32;
        assert!(u64::from(slot) <= SLOT_MASK, "fewer than 2^24 events are pending");
        self.nodes.push(Node { time: 0, rank: 0, next: NONE, generation: 0, event: None });
        slot
    }

    /// Moves the next events to the bottom, which is empty; false if there are none.
    fn refill(&mut self) -> bool {
        while self.bottom.is_empty() {
            match self.rungs.last_mut() {
                Some(rung) if rung.len > 0 => {
                    let head = rung.take();
                    self.open(head);
                }
                Some(_) => self.spare.extend(self.rungs.pop()),
                None if !self.top.slots.is_empty() => self.lower_top(),
                None => return false,
            }
        }
        true
    }

    /// Sorts what the innermost rung's bucket taken last holds into the bottom, or spreads it over a rung of its own.
    fn open(&mut self, head: u32) {
        let Some(rung) = self.rungs.last_mut() else { return };
        let mut at = head;
        while at != NONE && (self.bottom.len() < SORTED || rung.shift == 0) {
            let node = &self.nodes[at as usize];
            self.bottom.push(node.key());
            at = node.next;
        }
        if at == NONE {
            rung.len -= self.bottom.len();
            sort_falling(&mut self.bottom);
            while self.rungs.last().is_some_and(|rung| rung.len == 0) {
                self.spare.extend(self.rungs.pop());
            }
            if self.rungs.is_empty() {
                // Nothing lies between bottom and top: what comes after the bottom goes to the top from now on.
                self.top_start = self.bottom.first().map_or(0, |last| time(*last)).saturating_add(1);
            }
            return;
        }
        self.bottom.clear();
        let (start, shift) = (rung.taken_start(), rung.shift.saturating_sub(BUCKET_BITS));
        let mut inner = Rung::new(start, shift, self.spare.pop());
        let mut at = head;
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let next = node.next;
            inner.insert(((node.time - start) >> shift) as usize, node, at);
            at = next;
        }
        if let Some(outer) = self.rungs.last_mut() {
            outer.len -= inner.len;
        }
        self.rungs.push(inner);
    }

    /// Sorts the top into the bottom if it is small, else spreads what is near over a rung; nothing lies below it. The
    /// rung reaches three times as far beyond the mean as the first event lies before it: a long tail of far events,
    /// which would make its buckets wide, stays in the top.
    fn lower_top(&mut self) {
        self.spill_at = SPILL;
        std::mem::swap(&mut self.top, &mut self.lowered);
        self.top.clear();
        let Top { ref slots, least, most, sum } = self.lowered;
        if slots.len() <= SORTED || least == most {
            self.top_start = most.saturating_add(1);
            // The newest first, so that those of the same time have their order already.
            self.bottom.extend(slots.iter().rev().map(|&slot| self.nodes[slot as usize].key()));
            sort_falling(&mut self.bottom);
            return;
        }
        let mean = (sum / slots.len() as u128) as u64;
        let span = (mean - least).saturating_mul(4).min(most - least);
        let mut rung = Rung::new(least, shift_for(span, slots.len()), self.spare.pop());
        self.top_start = edge(rung.start, BUCKETS, rung.shift);
        for &slot in slots {
            let node = &mut self.nodes[slot as usize];
            if let Some(index) = rung.bucket(node.time) {
                rung.insert(index, node, slot);
            } else {
                self.top.push(slot, node.time);
            }
        }
        self.rungs.push(rung);
    }

    /// Spreads bottom and late events over a new innermost rung, which reaches to where the others begin.
    #[cold]
    fn spill(&mut self) {
        self.spill_at = 2 * self.late.len();
        let least =
            [self.bottom.last(), self.late.first()].into_iter().flatten().min().map_or(0, |k| time(*k));
        let beyond =
            self.rungs.last().map_or(self.top_start, |rung| edge(rung.start, rung.current, rung.shift));
        if beyond <= least.saturating_add(1) {
            return;
        }
        let mut rung = Rung::new(least, shift_for(beyond - 1 - least, BUCKETS), self.spare.pop());
        for key in self.bottom.drain(..).chain(self.late.drain()) {
            let index = ((time(key) - least) >> rung.shift) as usize;
            rung.insert(index, &mut self.nodes[slot(key) as usize], slot(key));
        }
        self.rungs.push(rung);
    }

    /// Gives the pending events the sequence numbers 0, 1, ... in their order.
    #[cold]
    fn renumber(&mut self) {
        let mut order = Vec::new();
        while let Some(slot) = self.pop_slot() {
            order.push(slot);
        }
        self.sequence = 0;
        self.top_start = 0;
        for slot in order {
            let node = &mut self.nodes[slot as usize];
            node.rank = (self.sequence << SLOT_BITS) | u64::from(slot);
            self.sequence += 1;
            self.top.push(slot, node.time);
        }
    }
}

/// Sorts keys, the last first. They come newest first, so those of the same time have their order already.
fn sort_falling(keys: &mut [Key]) {
    match keys {
        [] | [_] => {}
        [a, b] => {
            let (low, high) = ((*a).min(*b), (*a).max(*b));
            (*a, *b) = (high, low);
        }
        _ => keys.sort_unstable_by(|a, b| b.cmp(a)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key as Seed;
    use std::collections::BTreeSet;

    /// Pushes and pops by a law of delays, against a sorted set; also how many keys were moved in the end.
    fn agrees(name: &str, first_sequence: u64, pending: usize, delay: impl Fn(u64) -> u64) {
        let mut ladder = Ladder { sequence: first_sequence, ..Ladder::default() };
        let mut set = BTreeSet::new();
        let mut stream = Seed::root(3).child(name).stream();
        let (mut now, mut sequence) = (0u64, 0u64);
        for step in 0..60_000u64 {
            // The number of pending events swells and shrinks.
            let wanted = if (step / 7000) % 2 == 0 { pending } else { pending / 50 };
            if set.len() < wanted || set.is_empty() {
                let time = now.saturating_add(delay(stream.word()));
                ladder.push(time, sequence);
                set.insert((time, sequence));
                sequence += 1;
            }
            if set.len() >= wanted || stream.below(3) == 0 {
                let (time, sequence) = set.pop_first().expect("not empty");
                assert_eq!(ladder.pop(), Some((time, sequence)), "{name}, step {step}");
                now = time;
            }
        }
        while let Some((time, sequence)) = set.pop_first() {
            assert_eq!(ladder.pop(), Some((time, sequence)), "{name}, at the end");
        }
        assert_eq!(ladder.pop(), None);
    }

    #[test]
    fn every_law_of_delays_keeps_the_order() {
        let unit = |word: u64| (word >> 11) as f64 / (1u64 << 53) as f64;
        let exponential = |word| (-1e9 * libm::log(1.0 - unit(word))) as u64;
        for pending in [1, 3, 40, 60, 3000, 20_000] {
            agrees("exponential", 0, pending, exponential);
            agrees("constant", 0, pending, |_| 1_000_000);
            agrees("zero", 0, pending, |_| 0);
            agrees("half zero", 0, pending, |word| if word % 2 == 0 { 0 } else { exponential(word) });
            agrees("bimodal", 0, pending, |word| if word % 10 == 0 { word >> 20 } else { word % 1000 });
            agrees("Pareto", 0, pending, |word| (1e8 * libm::exp(-libm::log(1.0 - unit(word)) / 1.1)) as u64);
            agrees("few times", 0, pending, |word| word % 3);
            agrees("all of time", 0, pending, |word| if word % 5 == 0 { u64::MAX } else { word });
        }
    }

    #[test]
    fn sequence_numbers_may_run_out() {
        agrees("renumbered", LAST_SEQUENCE - 9000, 3000, |word| word % 50);
    }
}
