//! The event loop against a bare `BinaryHeap` and against `simcore`, in one run: PHOLD, a star, and laws of delay
//! that break calendar queues. Every engine does the same work per event: the same draws from one stream per party.
//!
//!   cargo bench --bench kernel            the whole table
//!   cargo bench --bench kernel -- quick   a tenth of the events
//!   cargo bench --bench kernel -- star    only the loads whose name has "star"

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;
use subrosa::kernel::{
    Context, Digest, Digestible, Fate, Input, Limits, Medium, Parcel, Party, Payload, Protocol, Simulation,
    Switch,
};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{PartyId, Span};

const PARTIES: u32 = 1000;

/// Measures time on the processor where the system tells it (Linux), so that other programs do not count; else time.
#[derive(Debug)]
struct Watch {
    cpu: Option<u64>,
    clock: Instant,
}

impl Watch {
    fn start() -> Self {
        Self { cpu: Self::cpu(), clock: Instant::now() }
    }

    /// Nanoseconds that this thread has run.
    fn cpu() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    fn seconds(&self) -> f64 {
        match (self.cpu, Self::cpu()) {
            (Some(begin), Some(end)) if end > begin => (end - begin) as f64 / 1e9,
            _ => self.clock.elapsed().as_secs_f64(),
        }
    }
}

/// A law of delays, in nanoseconds, from one word of a stream.
#[derive(Clone, Copy, Debug)]
enum Delay {
    Exponential,
    Constant,
    HalfZero,
    Bimodal,
    Pareto,
}

impl Delay {
    fn draw(self, stream: &mut Stream) -> u64 {
        const MEAN: f64 = 1e9;
        let u = stream.open_uniform();
        match self {
            Self::Exponential => (-MEAN * libm::log(u)) as u64,
            Self::Constant => MEAN as u64,
            Self::HalfZero => {
                if u < 0.5 {
                    0
                } else {
                    (-MEAN * libm::log(2.0 * u - 1.0)) as u64
                }
            }
            Self::Bimodal => (if u < 0.9 { 0.5 + u } else { 1000.0 * u } * MEAN) as u64,
            Self::Pareto => (0.1 * MEAN * libm::exp(-libm::log(u) / 1.1)) as u64,
        }
    }
}

/// One pattern of traffic: PHOLD over a law of delays, or a star.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// Every message is passed on to a random party; `pending` messages at any time.
    Phold { delay: Delay, pending: u32 },
    /// Party 0 sends to all others and waits for all answers, which take a random time.
    Star,
}

fn streams(use_: &str) -> Vec<Stream> {
    let key = Key::root(1).child(use_);
    (0..PARTIES).map(|party| key.index(u64::from(party)).stream()).collect()
}

// ---------------------------------------------------------------- subrosa

#[derive(Clone, Debug)]
struct World;

#[derive(Clone, Copy, Debug)]
struct Hop(u64);

impl Digestible for Hop {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.0);
    }
}

impl Payload for Hop {
    fn wire_bytes(&self) -> u64 {
        36
    }
    fn label(&self) -> &'static str {
        "Hop"
    }
}

impl Protocol for World {
    type Message = Hop;
    type Timer = Hop;
    type Fact = Hop;
}

/// Draws each message's delay from its sender's stream.
#[derive(Debug)]
struct Delays {
    delay: Delay,
    /// Messages of this party take no time.
    quick: Option<PartyId>,
    streams: Vec<Stream>,
}

impl Medium for Delays {
    fn transmit(&mut self, parcel: Parcel) -> Fate {
        if self.quick == Some(parcel.from) {
            return Fate::Arrives(parcel.at + Span::from_millis(1));
        }
        let delay = self.delay.draw(&mut self.streams[parcel.from.index()]);
        Fate::Arrives(parcel.at + Span::from_nanos(delay))
    }
    fn hears(&mut self, _: PartyId) -> bool {
        true
    }
    fn starts_online(&mut self, _: PartyId) -> bool {
        true
    }
    fn next_switch(&mut self, _: PartyId) -> Option<Switch> {
        None
    }
}

#[derive(Clone, Debug)]
struct Passer {
    stream: Stream,
    first: bool,
    left: Rc<Cell<u64>>,
}

impl Party<World> for Passer {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        let hop = match input {
            Input::Start if self.first => Hop(0),
            Input::Message { message, .. } => message,
            Input::Start | Input::Timer(_) | Input::WentOffline | Input::CameBack => return,
        };
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            ctx.stop();
        }
        let to = PartyId(self.stream.below(u64::from(PARTIES)) as u32);
        ctx.send(to, Hop(hop.0 + 1));
    }
}

#[derive(Clone, Debug)]
struct Hub {
    missing: u32,
    left: Rc<Cell<u64>>,
}

#[derive(Clone, Debug)]
struct Leaf;

impl Party<World> for Hub {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        self.left.set(self.left.get().saturating_sub(1));
        if let Input::Message { .. } = input {
            self.missing -= 1;
        }
        if self.missing == 0 {
            if self.left.get() == 0 {
                ctx.stop();
                return;
            }
            self.missing = PARTIES - 1;
            ctx.broadcast((1..PARTIES).map(PartyId), &Hop(0));
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

/// Messages delivered per second.
fn ours(load: Load, events: u64, digest: bool) -> f64 {
    let left = Rc::new(Cell::new(events));
    let streams_of_parties = streams("party");
    let (parties, medium): (Vec<Box<dyn Party<World>>>, Delays) = match load {
        Load::Phold { delay, pending } => (
            streams_of_parties
                .into_iter()
                .enumerate()
                .map(|(index, stream)| -> Box<dyn Party<World>> {
                    Box::new(Passer { stream, first: (index as u32) < pending, left: Rc::clone(&left) })
                })
                .collect(),
            Delays { delay, quick: None, streams: streams("delay") },
        ),
        Load::Star => {
            left.set(events / 2);
            let hub: Box<dyn Party<World>> = Box::new(Hub { missing: 0, left: Rc::clone(&left) });
            let leaves = (1..PARTIES).map(|_| -> Box<dyn Party<World>> { Box::new(Leaf) });
            (
                std::iter::once(hub).chain(leaves).collect(),
                Delays { delay: Delay::Exponential, quick: Some(PartyId(0)), streams: streams("delay") },
            )
        }
    };
    let simulation = Simulation::new(parties, Box::new(medium));
    let mut simulation = if digest { simulation } else { simulation.without_digest() };
    let watch = Watch::start();
    simulation.run(Limits::default(), &mut |_, _| {}).expect("no livelock");
    simulation.journal().tally().delivered as f64 / watch.seconds()
}

// ---------------------------------------------------------------- a bare heap

/// What a simple simulator keeps per event: time, insertion, addresses, contents.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    sequence: u64,
    from: u32,
    to: u32,
    hop: u64,
}

fn bare(load: Load, events: u64) -> f64 {
    let mut heap = BinaryHeap::new();
    let (mut targets, mut delays) = (streams("party"), streams("delay"));
    let mut sequence = 0;
    let mut handled = 0;
    let mut push = |heap: &mut BinaryHeap<Reverse<Entry>>, time, from, to, hop| {
        heap.push(Reverse(Entry { time, sequence, from, to, hop }));
        sequence += 1;
    };
    let watch = Watch::start();
    match load {
        Load::Phold { delay, pending } => {
            for party in 0..pending {
                let to = targets[party as usize].below(u64::from(PARTIES)) as u32;
                push(&mut heap, delay.draw(&mut delays[party as usize]), party, to, 0);
            }
            while handled < events {
                let Reverse(entry) = heap.pop().expect("messages go on for ever");
                handled += 1;
                let me = entry.to as usize;
                let to = targets[me].below(u64::from(PARTIES)) as u32;
                let time = entry.time + delay.draw(&mut delays[me]);
                push(&mut heap, time, entry.to, to, entry.hop + 1);
            }
        }
        Load::Star => {
            let (mut now, mut missing) = (0, 0);
            loop {
                if missing == 0 {
                    if handled >= events {
                        break;
                    }
                    missing = PARTIES - 1;
                    (1..PARTIES).for_each(|to| push(&mut heap, now + 1_000_000, 0, to, 0));
                }
                let Reverse(entry) = heap.pop().expect("somebody answers");
                (now, handled) = (entry.time, handled + 1);
                if entry.to == 0 {
                    missing -= 1;
                } else {
                    let delay = Delay::Exponential.draw(&mut delays[entry.to as usize]);
                    push(&mut heap, now + delay, entry.to, 0, entry.hop);
                }
            }
        }
    }
    black_box(heap.len());
    handled as f64 / watch.seconds()
}

// ---------------------------------------------------------------- simcore

#[derive(Clone, serde::Serialize)]
struct SimcoreHop(u64);

struct SimcorePasser {
    context: simcore::SimulationContext,
    target: Stream,
    delays: Stream,
    delay: Delay,
}

impl SimcorePasser {
    fn pass(&mut self, hop: u64) {
        let to = self.target.below(u64::from(PARTIES)) as u32;
        let delay = self.delay.draw(&mut self.delays) as f64 / 1e9;
        self.context.emit(SimcoreHop(hop), to, delay);
    }
}

impl simcore::EventHandler for SimcorePasser {
    fn on(&mut self, event: simcore::Event) {
        let hop = event.data.downcast_ref::<SimcoreHop>().expect("only hops are sent").0;
        self.pass(hop + 1);
    }
}

struct SimcoreHub {
    context: simcore::SimulationContext,
    missing: u32,
}

impl SimcoreHub {
    fn broadcast(&mut self) {
        self.missing = PARTIES - 1;
        (1..PARTIES).for_each(|to| {
            self.context.emit(SimcoreHop(0), to, 0.001);
        });
    }
}

impl simcore::EventHandler for SimcoreHub {
    fn on(&mut self, _: simcore::Event) {
        self.missing -= 1;
        if self.missing == 0 {
            self.broadcast();
        }
    }
}

struct SimcoreLeaf {
    context: simcore::SimulationContext,
    delays: Stream,
}

impl simcore::EventHandler for SimcoreLeaf {
    fn on(&mut self, event: simcore::Event) {
        let hop = event.data.downcast_ref::<SimcoreHop>().expect("only hops are sent").0;
        let delay = Delay::Exponential.draw(&mut self.delays) as f64 / 1e9;
        self.context.emit(SimcoreHop(hop), event.src, delay);
    }
}

fn peer(load: Load, events: u64) -> f64 {
    let mut simulation = simcore::Simulation::new(1);
    let (targets, delays) = (streams("party"), streams("delay"));
    match load {
        Load::Phold { delay, pending } => {
            let mut passers = Vec::new();
            for (index, (target, delays)) in targets.into_iter().zip(delays).enumerate() {
                let context = simulation.create_context(format!("p{index}"));
                let passer = Rc::new(RefCell::new(SimcorePasser { context, target, delays, delay }));
                simulation.add_handler(format!("p{index}"), Rc::clone(&passer) as _);
                passers.push(passer);
            }
            passers.iter().take(pending as usize).for_each(|passer| passer.borrow_mut().pass(0));
        }
        Load::Star => {
            let context = simulation.create_context("hub");
            let hub = Rc::new(RefCell::new(SimcoreHub { context, missing: 0 }));
            simulation.add_handler("hub", Rc::clone(&hub) as _);
            for (index, delays) in delays.into_iter().enumerate().skip(1) {
                let context = simulation.create_context(format!("p{index}"));
                let leaf = Rc::new(RefCell::new(SimcoreLeaf { context, delays }));
                simulation.add_handler(format!("p{index}"), leaf as _);
            }
            hub.borrow_mut().broadcast();
        }
    }
    let watch = Watch::start();
    simulation.steps(events);
    events as f64 / watch.seconds()
}

// ---------------------------------------------------------------- the table

/// Best of five of each, in turns, in millions per second: what an engine can do when the machine leaves it alone.
fn best<const N: usize>(engines: [&dyn Fn() -> f64; N]) -> [f64; N] {
    let mut best = [0.0f64; N];
    for _ in 0..5 {
        for (best, engine) in best.iter_mut().zip(engines) {
            *best = best.max(engine() / 1e6);
        }
    }
    best
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let quick = arguments.iter().any(|argument| argument == "quick");
    let only = arguments.iter().find(|argument| *argument != "quick");
    let events = if quick { 200_000 } else { 2_000_000 };
    let rounds = if quick { 50 } else { 500 };
    let phold = |delay| (Load::Phold { delay, pending: PARTIES }, events);
    let loads = [
        ("PHOLD, exponential", phold(Delay::Exponential)),
        ("star, 500 rounds", (Load::Star, 2 * u64::from(PARTIES - 1) * rounds)),
        ("constant", phold(Delay::Constant)),
        ("half zero", phold(Delay::HalfZero)),
        ("bimodal", phold(Delay::Bimodal)),
        ("Pareto 1.1", phold(Delay::Pareto)),
    ];
    println!("million messages per CPU second, best of five; x: how many times as fast, digest off");
    println!(
        "{:<20} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "", "ours", "digest", "heap", "simcore", "x heap", "x simcore", "digest ns"
    );
    for (name, (load, events)) in loads {
        if only.is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let [plain, digest, heap, simcore] = best([
            &|| ours(load, events, false),
            &|| ours(load, events, true),
            &|| bare(load, events),
            &|| peer(load, events),
        ]);
        // Two journal events per message: sent and delivered.
        let price = (1e3 / digest - 1e3 / plain) / 2.0;
        println!(
            "{name:<20} {plain:>8.2} {digest:>8.2} {heap:>8.2} {simcore:>8.2} {:>8.2} {:>8.2} {price:>10.1}",
            plain / heap,
            plain / simcore
        );
    }
}
