//! The order of the ladder queue against a sorted set, and its limits.

use super::*;
use crate::rng::Key as Seed;
use std::collections::BTreeSet;

/// Pushes and pops events with delays from a distribution, and checks their order against a sorted set.
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
