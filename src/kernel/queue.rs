//! The event queue: keys in order, events in a slab.
//!
//! Order is total: time, then the order of insertion. Keys carry the slot of their event, so putting them in order
//! never moves an event ([`super::ladder`]). Cancelling empties the slot and leaves the key to be skipped; a
//! generation per slot makes an outdated ticket harmless. Nothing is allocated once the slab has grown to the run's
//! largest number of pending events.

use super::ladder::Ladder;
use crate::vocab::Time;

/// Names one scheduled event, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    slot: u32,
    generation: u32,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    payload: Option<T>,
}

/// Pending events in their total order.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    ladder: Ladder,
    slots: Vec<Slot<T>>,
    /// Slots without a key.
    free: Vec<u32>,
    live: usize,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { ladder: Ladder::default(), slots: Vec::new(), free: Vec::new(), live: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Schedules `payload` at `time`, after everything scheduled earlier for the same time.
    ///
    /// # Panics
    /// If more than 2^24 events are pending.
    #[inline]
    pub fn push(&mut self, time: Time, payload: T) -> Ticket {
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize].payload = Some(payload);
            slot
        } else {
            let slot = u32::try_from(self.slots.len()).expect("the ladder takes fewer than 2^32 events");
            self.slots.push(Slot { generation: 0, payload: Some(payload) });
            slot
        };
        self.ladder.push(time.nanos(), slot);
        self.live += 1;
        Ticket { slot, generation: self.slots[slot as usize].generation }
    }

    /// Takes a pending event out; `None` if it has been handled or cancelled before.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        let slot = self.slots.get_mut(ticket.slot as usize)?;
        if slot.generation != ticket.generation {
            return None;
        }
        // The slot is free again when its key has been skipped.
        let payload = slot.payload.take()?;
        self.live -= 1;
        Some(payload)
    }

    /// The first event in order, with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, T)> {
        while let Some((time, index)) = self.ladder.pop() {
            let slot = &mut self.slots[index as usize];
            slot.generation = slot.generation.wrapping_add(1);
            let payload = slot.payload.take();
            self.free.push(index);
            if let Some(payload) = payload {
                self.live -= 1;
                return Some((Time::from_nanos(time), payload));
            }
        }
        None
    }

    /// When the first event is due.
    pub fn next_time(&mut self) -> Option<Time> {
        loop {
            let (time, index) = self.ladder.peek()?;
            let slot = &mut self.slots[index as usize];
            if slot.payload.is_some() {
                return Some(Time::from_nanos(time));
            }
            slot.generation = slot.generation.wrapping_add(1);
            self.ladder.pop();
            self.free.push(index);
        }
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
                let first = list.iter().min().map(|&(time, _)| time);
                prop_assert_eq!(queue.next_time().map(Time::nanos), first);
            }
        }
    }
}
