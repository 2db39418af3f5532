//! The event queue: keys, which determine the order, and a table of events.
//!
//! The order is total: by time, then by insertion ([`super::ladder`]). Cancelling an event empties its slot in the
//! table. The event's key is skipped when its time comes; until then, the empty slot counts towards the limit of 2^24
//! pending events.
//! Slots have a generation number, so an outdated ticket has no effect. Nothing is allocated once the tables have reached
//! their largest size.

use super::ladder::{Ladder, Place};
use crate::vocab::Time;

/// Identifies one scheduled event, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(Place);

/// Pending events in their total order.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    ladder: Ladder<T>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { ladder: Ladder::default() }
    }
}

impl<T> EventQueue<T> {
    /// Schedules `payload` at `time`, after everything scheduled earlier for the same time. If 2^24 events are pending,
    /// `payload` is dropped, and [`Self::has_overflowed`] is true from then on.
    #[inline(always)]
    pub fn push(&mut self, time: Time, payload: T) -> Ticket {
        Ticket(self.ladder.push(time.nanos(), payload))
    }

    /// Removes a pending event; `None` if it has been handled or cancelled before.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        self.ladder.take(ticket.0)
    }

    /// Removes the first event in order, and returns it with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, T)> {
        self.ladder.pop().map(|(time, payload)| (Time::from_nanos(time), payload))
    }

    /// The time of the first event.
    pub fn next_time(&mut self) -> Option<Time> {
        self.ladder.next_time().map(Time::from_nanos)
    }

    /// Whether an event was dropped because 2^24 were pending.
    #[inline]
    #[must_use]
    pub fn has_overflowed(&self) -> bool {
        self.ladder.has_overflowed()
    }

    /// The pending events, in no particular order.
    pub fn pending(&self) -> impl Iterator<Item = &T> {
        self.ladder.events()
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

    /// Times near each other, far apart, and at both ends of the range.
    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![4 => 0u64..6, 4 => 0u64..100_000, 1 => any::<u64>(), 1 => Just(u64::MAX)]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => time().prop_map(Step::Push),
            2 => Just(Step::Pop),
            1 => (0usize..64).prop_map(Step::Cancel),
        ]
    }

    /// If as many events are pending as the queue can hold, a further event is dropped and reported; the events in the
    /// queue are kept.
    #[test]
    fn a_full_queue_says_so() {
        let mut queue = EventQueue::default();
        queue.ladder.most = 2;
        queue.push(Time::from_nanos(2), "second");
        queue.push(Time::from_nanos(1), "first");
        assert!(!queue.has_overflowed());
        queue.push(Time::ZERO, "third");
        assert!(queue.has_overflowed());
        assert_eq!(queue.pop(), Some((Time::from_nanos(1), "first")));
        assert!(queue.has_overflowed());
    }

    proptest! {
        /// For any mix of pushes, pops and cancels, the queue returns the same events as a list that is sorted by time, then
        /// by insertion.
        #[test]
        fn agrees_with_a_sorted_list(steps in proptest::collection::vec(step(), 0..800)) {
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
                prop_assert_eq!(queue.pending().count(), list.len());
                let first = list.iter().min().map(|&(time, _)| time);
                prop_assert_eq!(queue.next_time().map(Time::nanos), first);
            }
        }
    }
}
