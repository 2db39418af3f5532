//! The loads on two heaps without any simulator around them: the standard library's with whole events as entries, and
//! a 4-ary one of 16-byte keys with the events in a slab.

use crate::load::{BROADCAST_DELAY, Delays, Load, Pattern};
use crate::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

/// What a message says, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Letter {
    from: u32,
    to: u32,
    hop: u64,
}

/// Pending events, in order of time and then of insertion.
pub trait Queue: Default {
    fn push(&mut self, time: u64, letter: Letter);
    fn pop(&mut self) -> Option<(u64, Letter)>;
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    sequence: u64,
    letter: Letter,
}

/// What a simple simulator does.
#[derive(Debug, Default)]
pub struct Bare {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl Queue for Bare {
    fn push(&mut self, time: u64, letter: Letter) {
        self.heap.push(Reverse(Entry { time, sequence: self.sequence, letter }));
        self.sequence += 1;
    }

    fn pop(&mut self) -> Option<(u64, Letter)> {
        self.heap.pop().map(|Reverse(entry)| (entry.time, entry.letter))
    }
}

/// Keys of time, sequence and slot in a 4-ary heap.
#[derive(Debug, Default)]
pub struct Packed {
    keys: Vec<u128>,
    sequence: u64,
    letters: Vec<Letter>,
    free: Vec<u32>,
}

impl Queue for Packed {
    fn push(&mut self, time: u64, letter: Letter) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.letters.push(letter);
            (self.letters.len() - 1) as u32
        });
        self.letters[slot as usize] = letter;
        let key = (u128::from(time) << 64) | u128::from(self.sequence << 24) | u128::from(slot);
        self.sequence += 1;
        let mut child = self.keys.len();
        self.keys.push(key);
        while child > 0 {
            let parent = (child - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[child] = self.keys[parent];
            child = parent;
        }
        self.keys[child] = key;
    }

    fn pop(&mut self) -> Option<(u64, Letter)> {
        let last = self.keys.pop()?;
        let first = self.keys.first().copied().unwrap_or(last);
        if !self.keys.is_empty() {
            let mut parent = 0;
            loop {
                let children = 4 * parent + 1;
                let end = (children + 4).min(self.keys.len());
                let Some(least) = (children..end).min_by_key(|&child| self.keys[child]) else { break };
                if last <= self.keys[least] {
                    break;
                }
                self.keys[parent] = self.keys[least];
                parent = least;
            }
            self.keys[parent] = last;
        }
        let slot = first as u32 & 0xff_ffff;
        self.free.push(slot);
        Some(((first >> 64) as u64, self.letters[slot as usize]))
    }
}

/// Messages delivered per second.
pub fn run<Q: Queue>(load: Load, events: u64) -> f64 {
    let mut queue = Q::default();
    let mut streams = load.streams();
    let delays = Delays::new(load.law);
    let mut handled = 0;
    let watch = Watch::start();
    match load.pattern {
        Pattern::Phold | Pattern::Ring => {
            for (from, stream) in (0..).zip(&mut streams) {
                let (to, draw) = load.split(from, stream.word());
                queue.push(delays.of(draw), Letter { from, to, hop: 0 });
            }
            while handled < events {
                let (now, Letter { to: me, hop, .. }) = queue.pop().expect("messages go on for ever");
                handled += 1;
                let (to, draw) = load.split(me, streams[me as usize].word());
                queue.push(now + delays.of(draw), Letter { from: me, to, hop: hop + 1 });
            }
        }
        Pattern::Star => {
            let (mut now, mut missing) = (0, 0);
            loop {
                if missing == 0 {
                    if handled >= events {
                        break;
                    }
                    missing = load.parties - 1;
                    for to in 1..load.parties {
                        queue.push(now + BROADCAST_DELAY, Letter { from: 0, to, hop: 0 });
                    }
                }
                let (time, Letter { to: me, hop, .. }) = queue.pop().expect("somebody answers");
                (now, handled) = (time, handled + 1);
                if me == 0 {
                    missing -= 1;
                } else {
                    let (_, draw) = load.split(me, streams[me as usize].word());
                    queue.push(now + delays.of(draw), Letter { from: me, to: 0, hop });
                }
            }
        }
    }
    black_box(queue.pop());
    handled as f64 / watch.seconds()
}

/// Messages per second if they came in no order at all: draws and nothing else.
pub fn floor(load: Load, events: u64) -> f64 {
    // The next party is drawn, whatever the pattern.
    let load = Load { pattern: Pattern::Phold, ..load };
    let mut streams = load.streams();
    let delays = Delays::new(load.law);
    let watch = Watch::start();
    let (mut me, mut sum) = (0, 0u64);
    for _ in 0..events {
        let (to, draw) = load.split(me, streams[me as usize].word());
        sum = sum.wrapping_add(delays.of(draw));
        me = to;
    }
    black_box(sum);
    events as f64 / watch.seconds()
}
