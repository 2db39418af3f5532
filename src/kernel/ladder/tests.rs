//! Tests that the ladder queue returns events in the order of a sorted set, and tests of the queue's limits.

use super::*;
use crate::rng::Key as Seed;
use std::collections::BTreeSet;

/// Pushes and pops events whose delays `delay` computes from random words, and checks their order against a sorted set.
fn agrees(name: &str, first_sequence: u64, pending: usize, delay: impl Fn(u64) -> u64) {
    let mut ladder = Ladder { sequence: first_sequence, ..Ladder::default() };
    let mut set = BTreeSet::new();
    let mut stream = Seed::root(3).child(name).stream();
    let (mut now, mut sequence) = (0u64, 0u64);
    for step in 0..60_000u64 {
        // The number of pending events grows and shrinks.
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
    for pending in [1, 3, 10, 20, 40, 60, 3000, 20_000] {
        agrees("exponential", 0, pending, exponential);
        agrees("constant", 0, pending, |_| 1_000_000);
        agrees("zero", 0, pending, |_| 0);
        agrees("half zero", 0, pending, |word| if word % 2 == 0 { 0 } else { exponential(word) });
        agrees("bimodal", 0, pending, |word| if word % 10 == 0 { word >> 20 } else { word % 1000 });
        agrees("Pareto", 0, pending, |word| (1e8 * libm::exp(-libm::log(1.0 - unit(word)) / 1.1)) as u64);
        agrees("few times", 0, pending, |word| word % 3);
        // Many answers to a hub at the same time, and timers in the far future that make buckets wide.
        agrees("bursts", 0, pending, |word| match word % 100 {
            0 => 1_000_000_000_000,
            1..60 => 1_000_000,
            _ => exponential(word) / 1000,
        });
        agrees("all of time", 0, pending, |word| if word % 5 == 0 { u64::MAX } else { word });
    }
}

#[test]
fn sequence_numbers_may_run_out() {
    agrees("renumbered", LAST_SEQUENCE - 9000, 3000, |word| word % 50);
}

#[test]
fn one_event_too_many_is_dropped_and_reported() {
    let mut ladder = Ladder { most: 3, ..Ladder::default() };
    for event in 0..3 {
        ladder.push(7, event);
    }
    assert!(!ladder.has_overflowed());
    let dropped = ladder.push(5, 3);
    assert!(ladder.has_overflowed());
    assert_eq!(ladder.take(dropped), None);
    assert_eq!([ladder.pop(), ladder.pop(), ladder.pop()], [0, 1, 2].map(|event| Some((7, event))));
    assert_eq!(ladder.pop(), None);
}

/// Returns an empty ladder, from which 60 events at 60 different times have been removed, and the last of these times. The
/// ladder made a rung for the events.
fn emptied() -> (Ladder<u64>, u64) {
    let mut ladder = Ladder::default();
    let times = (0..60).map(|event| 1_000_000 + 1000 * event);
    times.clone().for_each(|time| {
        ladder.push(time, time);
    });
    for time in times {
        assert_eq!(ladder.pop(), Some((time, time)));
    }
    assert_eq!(ladder.pop(), None);
    (ladder, 1_059_000)
}

/// When the queue becomes empty, its rung is closed. Two new events are then in order, even if the times of both would lie
/// in buckets of the closed rung.
#[test]
fn an_empty_queue_forgets_its_rung() {
    for near in [0, 1, 2, 10, 100, 1000, 10_000] {
        for far in [1, 50, 500, 5000, 50_000, 500_000] {
            let (mut ladder, now) = emptied();
            let first = now + near;
            ladder.push(first, 1);
            ladder.push(first + far, 2);
            assert_eq!(
                [ladder.pop(), ladder.pop()],
                [Some((first, 1)), Some((first + far, 2))],
                "{near}, {far}"
            );
        }
    }
}

/// Many events near the largest time: the sum of their times needs more than 64 bits.
#[test]
fn events_near_the_end_of_time_are_in_order() {
    for events in [60u64, 100, 1000] {
        for apart in [1u64, 1 << 20, (1 << 62) / events] {
            let mut ladder = Ladder::default();
            for event in (0..events).rev() {
                ladder.push(u64::MAX - 1 - apart * event, event);
            }
            for event in (0..events).rev() {
                assert_eq!(ladder.pop(), Some((u64::MAX - 1 - apart * event, event)), "{events}, {apart}");
            }
        }
    }
}

/// Events are added at random times. Hundreds of them come late (after their buckets were emptied), so that new rungs for
/// the late events are made inside other rungs. Events could be out of order if a new rung covered a time that belongs to
/// another rung.
#[test]
fn hundreds_of_late_events_are_in_order() {
    for (seed, spread) in [(1, 100), (2, 3000), (3, 100_000), (4, 10_000_000), (5, 1 << 40)] {
        let mut stream = Seed::root(seed).stream();
        let (mut ladder, mut set) = (Ladder::default(), BTreeSet::new());
        let (mut now, mut sequence) = (0, 0u64);
        let mut push = |set: &mut BTreeSet<(u64, u64)>, ladder: &mut Ladder<u64>, time: u64| {
            ladder.push(time, sequence);
            set.insert((time, sequence));
            sequence += 1;
        };
        for burst in 0..200u64 {
            // A hundred events over the whole spread, then up to 240 events in spans of random length that begin at the
            // first pending event.
            for _ in 0..100 {
                push(&mut set, &mut ladder, now + stream.below(spread));
            }
            let first = ladder.next_time().expect("not empty");
            for _ in 0..burst % 7 * 40 {
                let width = 1 + spread / (1 + stream.below(200));
                push(&mut set, &mut ladder, first + stream.below(width));
            }
            for _ in 0..stream.below(250) {
                let expected = set.pop_first();
                assert_eq!(ladder.pop(), expected, "{seed}, burst {burst}");
                now = expected.map_or(now, |event| event.0);
            }
        }
        while let Some(event) = set.pop_first() {
            assert_eq!(ladder.pop(), Some(event), "{seed}, at the end");
        }
    }
}

/// The end of a rung that was made for late events may lie inside the rung's last bucket. When this last bucket is
/// distributed over a finer rung, the finer rung ends where the rung for late events ends, not where the bucket ends. If
/// the finer rung ended with the bucket, a new event between these two times would go to the finer rung. It would be
/// handled before an older event with an earlier time, which is in an outer rung.
#[test]
fn the_rung_of_a_last_bucket_ends_with_it() {
    let mut ladder = Ladder::default();
    let end = 8u64 << 20;
    let mut set = BTreeSet::new();
    let push = |ladder: &mut Ladder<u64>, set: &mut BTreeSet<u64>, time: u64| {
        ladder.push(time, time);
        set.insert(time);
    };
    // The buckets are 2^17 wide, and all buckets before `end` are emptied together.
    (0..100).map(|event| event << 20).chain([end + 10]).for_each(|time| push(&mut ladder, &mut set, time));
    assert_eq!(ladder.pop(), set.pop_first().map(|time| (time, time)));
    // 65 late events, 60 of them shortly before the end.
    for time in (0..5).map(|event| 500 + event * 1000).chain((0..60).map(|event| end - 300 + event)) {
        push(&mut ladder, &mut set, time);
    }
    for _ in 0..13 {
        assert_eq!(ladder.pop(), set.pop_first().map(|time| (time, time)));
    }
    push(&mut ladder, &mut set, end + 20);
    while let Some(time) = set.pop_first() {
        assert_eq!(ladder.pop(), Some((time, time)));
    }
}
