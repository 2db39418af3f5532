//! The event queue: a 4-ary heap of packed keys over a slab of payloads.
//!
//! Order is total: time, then sequence number, the order of insertion. Keys carry the slot of their payload, so a
//! sift moves 24 bytes and never a payload. Cancelling empties the slot and leaves the key to be skipped; a
//! generation per slot makes an outdated ticket harmless. Nothing is allocated once heap and slab have grown to
//! the run's largest number of pending events.

use crate::vocab::Time;

const ARITY: usize = 4;

/// Names one scheduled event, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    slot: u32,
    generation: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    sequence: u64,
    slot: u32,
    generation: u32,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    payload: Option<T>,
}

/// Pending events in their total order.
#[derive(Debug)]
pub struct EventQueue<T> {
    heap: Vec<Key>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    sequence: u64,
    live: usize,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { heap: Vec::new(), slots: Vec::new(), free: Vec::new(), sequence: 0, live: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Schedules `payload` at `time`, after everything scheduled earlier for the same time.
    pub fn push(&mut self, time: Time, payload: T) -> Ticket {
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize].payload = Some(payload);
            slot
        } else {
            let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 events are pending");
            self.slots.push(Slot { generation: 0, payload: Some(payload) });
            slot
        };
        let generation = self.slots[slot as usize].generation;
        self.heap.push(Key { time, sequence: self.sequence, slot, generation });
        self.sequence += 1;
        self.live += 1;
        self.sift_up(self.heap.len() - 1);
        Ticket { slot, generation }
    }

    /// Takes a pending event out; `None` if it has been handled or cancelled before.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        let slot = self.slots.get_mut(ticket.slot as usize)?;
        if slot.generation != ticket.generation {
            return None;
        }
        self.vacate(ticket.slot)
    }

    /// The first event in order, with its time.
    pub fn pop(&mut self) -> Option<(Time, T)> {
        while let Some(key) = self.pop_key() {
            if self.slots[key.slot as usize].generation == key.generation
                && let Some(payload) = self.vacate(key.slot)
            {
                return Some((key.time, payload));
            }
        }
        None
    }

    /// The pending events, in no particular order.
    pub fn pending(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.payload.as_ref())
    }

    /// Number of events that are pending and not cancelled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn vacate(&mut self, index: u32) -> Option<T> {
        let slot = &mut self.slots[index as usize];
        let payload = slot.payload.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        self.live -= 1;
        Some(payload)
    }

    fn pop_key(&mut self) -> Option<Key> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        self.heap[0] = last;
        self.sift_down();
        Some(first)
    }

    fn sift_up(&mut self, mut child: usize) {
        let key = self.heap[child];
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[child] = self.heap[parent];
            child = parent;
        }
        self.heap[child] = key;
    }

    fn sift_down(&mut self) {
        let key = self.heap[0];
        let mut parent = 0;
        loop {
            let first = parent * ARITY + 1;
            let end = (first + ARITY).min(self.heap.len());
            let Some(smallest) = (first..end).min_by_key(|&i| self.heap[i]) else { break };
            if key <= self.heap[smallest] {
                break;
            }
            self.heap[parent] = self.heap[smallest];
            parent = smallest;
        }
        self.heap[parent] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64),
        Pop,
        Cancel(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u64..6).prop_map(Step::Push),
            2 => Just(Step::Pop),
            1 => (0usize..64).prop_map(Step::Cancel),
        ]
    }

    proptest! {
        /// Against a list kept sorted by (time, insertion): any mix of pushes, pops and cancels agrees.
        #[test]
        fn agrees_with_a_sorted_list(steps in proptest::collection::vec(step(), 0..400)) {
            let mut queue = EventQueue::default();
            let mut list: Vec<(u64, usize)> = Vec::new();
            let mut tickets = Vec::new();
            for step in steps {
                match step {
                    Step::Push(time) => {
                        let id = tickets.len();
                        tickets.push(queue.push(Time::from_nanos(time), id));
                        list.push((time, id));
                    }
                    Step::Pop => {
                        list.sort_unstable();
                        let expected = (!list.is_empty()).then(|| list.remove(0));
                        let found = queue.pop().map(|(time, id)| (time.nanos(), id));
                        prop_assert_eq!(found, expected);
                    }
                    Step::Cancel(id) => {
                        let expected = list.iter().position(|&(_, other)| other == id);
                        let found = tickets.get(id).and_then(|&ticket| queue.cancel(ticket));
                        prop_assert_eq!(found, expected.map(|_| id));
                        if let Some(place) = expected {
                            list.remove(place);
                        }
                    }
                }
                prop_assert_eq!(queue.len(), list.len());
            }
        }
    }
}
