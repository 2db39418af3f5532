//! Memory of many parties: a star of the scenario's network, one broadcast and one reply each, by a counting allocator.

#[path = "support/words.rs"]
mod words;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use subrosa::kernel::{Context, Ending, Input, Limits, Party, Simulation};
use subrosa::network::latency::{Exponential, LatencyModel};
use subrosa::network::topology::Star;
use subrosa::network::{Link, Network, PartyTraits, TopologyModel};
use subrosa::rng::Key;
use subrosa::vocab::{PartyId, Span};
use words::{Word, World};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may stand side by side.
        grow(size);
        // SAFETY: the caller's promise is passed on.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        moved
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[derive(Clone, Debug)]
struct Hub {
    parties: u32,
    heard: u32,
}

#[derive(Clone, Debug)]
struct Leaf;

impl Party<World> for Hub {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        match input {
            Input::Start => ctx.broadcast((1..self.parties).map(PartyId), &Word),
            Input::Message { .. } => {
                self.heard += 1;
                if self.heard == self.parties - 1 {
                    ctx.stop();
                }
            }
            Input::Timer(_) | Input::WentOffline | Input::CameBack => {}
        }
    }
}

impl Party<World> for Leaf {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        if let Input::Message { from, message } = input {
            ctx.send(from, message);
        }
    }
}

/// Plays a star; bytes of an idle party before the start, and most bytes at any time, names and traits included.
fn star(parties: u32) -> (usize, usize) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let names: Vec<String> = (0..parties).map(|k| format!("agent-{k}")).collect();
    let traits = vec![PartyTraits { group: Some("agent".to_owned()), ..PartyTraits::default() }; names.len()];
    let latency = LatencyModel::Exponential(Exponential { mean: Span::from_millis(50) });
    let topology = TopologyModel::Star(Star { hub: "agent-0".to_owned() });
    let network = Network::new(topology, Link { latency, ..Link::default() });
    let medium = network.medium(&names, &traits, Key::root(1).child("network"));
    let leaves = (1..parties).map(|_| -> Box<dyn Party<World>> { Box::new(Leaf) });
    let hub: Box<dyn Party<World>> = Box::new(Hub { parties, heard: 0 });
    let mut simulation = Simulation::new(std::iter::once(hub).chain(leaves).collect(), medium);
    let idle = NOW.load(Ordering::Relaxed) - before;
    let ending = simulation.run(Limits::default(), &mut |_, _| {}).expect("no livelock");
    assert_eq!(ending, Ending::Stopped);
    assert_eq!(simulation.journal().tally().delivered, 2 * u64::from(parties - 1));
    (idle / parties as usize, MOST.load(Ordering::Relaxed) - before)
}

/// A million take a minute; what they need in memory is told by a hundred thousand. `--ignored` plays the million.
#[test]
fn a_hundred_thousand_parties_need_a_tenth_of_two_gibibytes() {
    let (idle, most) = star(100_000);
    println!("100,000 parties: {idle} bytes per idle party, {} MiB at most", most >> 20);
    assert!(idle < 1100, "{idle} bytes per idle party");
    assert!(most < (2 << 30) / 10, "{most} bytes");
}

#[test]
#[ignore = "a minute in the dev profile: cargo test --release --test scale -- --ignored --nocapture"]
fn a_million_parties_fit_into_two_gibibytes() {
    let (idle, most) = star(1_000_000);
    println!("1,000,000 parties: {idle} bytes per idle party, {} MiB at most", most >> 20);
    assert!(most < 2 << 30, "{most} bytes");
}
