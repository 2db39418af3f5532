//! The order of pending events: a ladder queue (Tang, Goh and Thng 2005) that falls back on a heap.
//!
//! Far events lie unsorted in the top. When it is their turn they are spread over the buckets of a rung; a bucket
//! that holds many is spread over a rung of its own; one that holds few is sorted into the bottom. Events that come
//! too late for their bucket go to a small heap beside the bottom. No step depends on a guess about delays: the worst
//! case is that of the heap.
//!
//! ```text
//! earlier                                                              later
//! bottom + late | innermost rung's buckets | .. | outermost rung's | top
//! ```
//!
//! A key is 16 bytes: time, then sequence number, then the slot of its event. Buckets are linked lists through one
//! table with an entry per slot, so nothing is allocated once the table has its largest size.

const NONE: u32 = u32::MAX;
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const LAST_SEQUENCE: u64 = (1 << (64 - SLOT_BITS)) - 1;
const BUCKET_BITS: u32 = 10;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Largest bucket that is sorted rather than spread.
const SORTED: usize = 48;
/// Late events that are spread over a rung rather than kept in a heap; doubled each time.
const SPILL: usize = 1024;
const ARITY: usize = 4;

/// Time in the high half; sequence and slot in the low half.
type Key = u128;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    rank: u64,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    len: u32,
}

const EMPTY: List = List { head: NONE, len: 0 };

#[derive(Clone, Debug)]
struct Rung {
    start: u64,
    /// A bucket is 2^shift nanoseconds wide.
    shift: u32,
    /// Buckets before this one have been emptied.
    current: usize,
    len: usize,
    buckets: Vec<List>,
}

/// Keys in their total order.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    nodes: Vec<Node>,
    sequence: u64,
    /// In falling order, so that the next event is the last.
    bottom: Vec<Key>,
    /// A heap.
    late: Vec<Key>,
    spill_at: usize,
    /// Outermost first.
    rungs: Vec<Rung>,
    spare: Vec<Rung>,
    top: List,
    top_least: u64,
    top_most: u64,
    /// Times from here on go to the top.
    top_start: u64,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            sequence: 0,
            bottom: Vec::new(),
            late: Vec::new(),
            spill_at: SPILL,
            rungs: Vec::new(),
            spare: Vec::new(),
            top: EMPTY,
            top_least: u64::MAX,
            top_most: 0,
            top_start: 0,
        }
    }
}

fn key(node: &Node) -> Key {
    (Key::from(node.time) << 64) | Key::from(node.rank)
}

fn time(key: Key) -> u64 {
    (key >> 64) as u64
}

fn slot(key: Key) -> u32 {
    (key as u64 & SLOT_MASK) as u32
}

impl Rung {
    /// The bucket of a time, if it has not been emptied.
    fn bucket(&self, time: u64) -> Option<usize> {
        let index = usize::try_from(time.checked_sub(self.start)? >> self.shift).ok()?;
        (self.current..BUCKETS).contains(&index).then_some(index)
    }

    fn insert(&mut self, index: usize, node: &mut Node, slot: u32) {
        let bucket = &mut self.buckets[index];
        node.next = bucket.head;
        *bucket = List { head: slot, len: bucket.len + 1 };
        self.len += 1;
    }
}

impl Ladder {
    /// Adds the event of a slot, after all of the same time. A slot has one event at most.
    ///
    /// # Panics
    /// If more than 2^24 events are pending.
    #[inline]
    pub(super) fn push(&mut self, time: u64, slot: u32) {
        if self.sequence > LAST_SEQUENCE {
            self.renumber();
        }
        let rank = (self.sequence << SLOT_BITS) | u64::from(slot);
        self.sequence += 1;
        let index = slot as usize;
        if index >= self.nodes.len() {
            assert!(u64::from(slot) <= SLOT_MASK, "fewer than 2^24 events are pending");
            self.nodes.resize(index + 1, Node { time: 0, rank: 0, next: NONE });
        }
        self.nodes[index] = Node { time, rank, next: NONE };
        self.place(slot);
    }

    /// The first event: its time and its slot.
    pub(super) fn pop(&mut self) -> Option<(u64, u32)> {
        if self.bottom.is_empty() && self.late.is_empty() && !self.refill() {
            return None;
        }
        let first = match (self.bottom.last(), self.late.first()) {
            (Some(&sorted), Some(&late)) if late < sorted => self.pop_late(),
            (None, Some(_)) => self.pop_late(),
            (Some(_), _) => self.bottom.pop(),
            (None, None) => None,
        }?;
        Some((time(first), slot(first)))
    }

    /// The first event, left where it is.
    pub(super) fn peek(&mut self) -> Option<(u64, u32)> {
        if self.bottom.is_empty() && self.late.is_empty() && !self.refill() {
            return None;
        }
        let first = [self.bottom.last(), self.late.first()].into_iter().flatten().min()?;
        Some((time(*first), slot(*first)))
    }

    /// Puts the node of a slot where its time belongs.
    fn place(&mut self, slot: u32) {
        let node = &mut self.nodes[slot as usize];
        if node.time >= self.top_start {
            node.next = self.top.head;
            self.top = List { head: slot, len: self.top.len + 1 };
            self.top_least = self.top_least.min(node.time);
            self.top_most = self.top_most.max(node.time);
            return;
        }
        for rung in &mut self.rungs {
            if let Some(index) = rung.bucket(node.time) {
                rung.insert(index, node, slot);
                return;
            }
        }
        let key = key(node);
        self.push_late(key);
        if self.late.len() > self.spill_at {
            self.spill();
        }
    }

    /// Moves the next events to the bottom; false if there are none.
    fn refill(&mut self) -> bool {
        loop {
            let Some(rung) = self.rungs.last_mut() else {
                if self.top.len == 0 {
                    return false;
                }
                self.spill_at = SPILL;
                let list = std::mem::replace(&mut self.top, EMPTY);
                let (least, most) = (self.top_least, self.top_most);
                (self.top_least, self.top_most) = (u64::MAX, 0);
                if list.len as usize <= SORTED || least == most {
                    self.top_start = most.saturating_add(1);
                    self.sort(list);
                    return true;
                }
                let shift = shift_for(most - least, list.len as usize);
                self.top_start = edge(least, BUCKETS, shift);
                self.spread(list, least, shift);
                continue;
            };
            if rung.len == 0 {
                self.spare.extend(self.rungs.pop());
                continue;
            }
            while rung.buckets[rung.current].len == 0 {
                rung.current += 1;
            }
            let list = std::mem::replace(&mut rung.buckets[rung.current], EMPTY);
            let start = rung.start.saturating_add((rung.current as u64) << rung.shift);
            let shift = rung.shift;
            rung.len -= list.len as usize;
            rung.current += 1;
            if list.len as usize <= SORTED || shift == 0 {
                self.sort(list);
                while self.rungs.last().is_some_and(|rung| rung.len == 0) {
                    self.spare.extend(self.rungs.pop());
                }
                if self.rungs.is_empty() {
                    // Nothing lies between bottom and top: what comes after the bottom goes to the top from now on.
                    self.top_start = self.bottom.first().map_or(0, |last| time(*last)).saturating_add(1);
                }
                return true;
            }
            self.spread(list, start, shift.saturating_sub(BUCKET_BITS));
        }
    }

    /// Sorts a list into the empty bottom.
    fn sort(&mut self, list: List) {
        let mut at = list.head;
        while at != NONE {
            let node = &self.nodes[at as usize];
            self.bottom.push(key(node));
            at = node.next;
        }
        self.bottom.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Spreads a list over a new innermost rung.
    fn spread(&mut self, list: List, start: u64, shift: u32) {
        let mut rung = self.new_rung(start, shift);
        let mut at = list.head;
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let next = node.next;
            let index = ((node.time - start) >> shift) as usize;
            rung.insert(index, node, at);
            at = next;
        }
        self.rungs.push(rung);
    }

    /// Spreads bottom and late events over a new innermost rung, which reaches to where the others begin.
    fn spill(&mut self) {
        self.spill_at = 2 * self.late.len();
        let least =
            [self.bottom.last(), self.late.first()].into_iter().flatten().min().map_or(0, |k| time(*k));
        let beyond =
            self.rungs.last().map_or(self.top_start, |rung| edge(rung.start, rung.current, rung.shift));
        if beyond <= least.saturating_add(1) {
            return;
        }
        let shift = shift_for(beyond - 1 - least, BUCKETS);
        let mut rung = self.new_rung(least, shift);
        for key in self.bottom.drain(..).chain(self.late.drain(..)) {
            let index = ((time(key) - least) >> shift) as usize;
            rung.insert(index, &mut self.nodes[slot(key) as usize], slot(key));
        }
        self.rungs.push(rung);
    }

    fn new_rung(&mut self, start: u64, shift: u32) -> Rung {
        let buckets = self.spare.pop().map_or_else(|| vec![EMPTY; BUCKETS], |rung| rung.buckets);
        Rung { start, shift, current: 0, len: 0, buckets }
    }

    /// Gives the pending events the sequence numbers 0, 1, ... in their order, and starts afresh.
    fn renumber(&mut self) {
        let mut order = Vec::new();
        while let Some(found) = self.pop() {
            order.push(found);
        }
        self.sequence = 0;
        self.top_start = 0;
        for (time, slot) in order {
            self.push(time, slot);
        }
    }

    fn push_late(&mut self, key: Key) {
        let mut child = self.late.len();
        self.late.push(key);
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if self.late[parent] <= key {
                break;
            }
            self.late[child] = self.late[parent];
            child = parent;
        }
        self.late[child] = key;
    }

    fn pop_late(&mut self) -> Option<Key> {
        let last = self.late.pop()?;
        let Some(&first) = self.late.first() else { return Some(last) };
        let mut parent = 0;
        loop {
            let children = parent * ARITY + 1;
            let end = (children + ARITY).min(self.late.len());
            let Some(smallest) = (children..end).min_by_key(|&child| self.late[child]) else { break };
            if last <= self.late[smallest] {
                break;
            }
            self.late[parent] = self.late[smallest];
            parent = smallest;
        }
        self.late[parent] = last;
        Some(first)
    }
}

/// Width of buckets, as a power of two, so that a span takes as many of them as there are events, or all.
fn shift_for(span: u64, events: usize) -> u32 {
    let buckets = events.next_power_of_two().min(BUCKETS) as u64;
    let mut shift = 0;
    while span >> shift >= buckets {
        shift += 1;
    }
    shift
}

/// Where so many buckets from a start end.
fn edge(start: u64, buckets: usize, shift: u32) -> u64 {
    u64::try_from(u128::from(start) + ((buckets as u128) << shift)).unwrap_or(u64::MAX)
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
        let mut free: Vec<u32> = (0..pending as u32 + 1).rev().collect();
        let mut stream = Seed::root(3).child(name).stream();
        let (mut now, mut sequence) = (0u64, 0u64);
        for step in 0..60_000u64 {
            // The number of pending events swells and shrinks.
            let wanted = if (step / 7000) % 2 == 0 { pending } else { pending / 50 };
            if set.len() < wanted || set.is_empty() {
                let slot = free.pop().expect("more slots than pending events");
                let time = now.saturating_add(delay(stream.word()));
                ladder.push(time, slot);
                set.insert((time, sequence, slot));
                sequence += 1;
            }
            if set.len() >= wanted || stream.below(3) == 0 {
                let (time, _, slot) = set.pop_first().expect("not empty");
                assert_eq!(ladder.pop(), Some((time, slot)), "{name}, step {step}");
                free.push(slot);
                now = time;
            }
        }
        while let Some((time, _, slot)) = set.pop_first() {
            assert_eq!(ladder.pop(), Some((time, slot)), "{name}, at the end");
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
