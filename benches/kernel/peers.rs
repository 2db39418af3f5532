//! The loads on `simcore` and `nexosim`, each written as its documentation shows.

use crate::load::{BROADCAST_DELAY, Delays, Load, Pattern};
use crate::watch::Watch;
use nexosim::model::{BuildContext, Model, ProtoModel};
use nexosim::ports::EventSource;
use nexosim::simulation::{EventId, Mailbox, Scheduler, SimInit};
use nexosim::time::MonotonicTime;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use subrosa::rng::Stream;

// ---------------------------------------------------------------- simcore

#[derive(Clone, serde::Serialize)]
struct SimcoreHop(u64);

struct SimcorePasser {
    load: Load,
    me: u32,
    context: simcore::SimulationContext,
    stream: Stream,
    delays: Rc<Delays>,
}

impl SimcorePasser {
    fn pass(&mut self, hop: u64) {
        let (to, draw) = self.load.split(self.me, self.stream.word());
        self.context.emit(SimcoreHop(hop), to, self.delays.of(draw) as f64 / 1e9);
    }
}

impl simcore::EventHandler for SimcorePasser {
    fn on(&mut self, event: simcore::Event) {
        let hop = event.data.downcast_ref::<SimcoreHop>().expect("only hops are sent").0;
        self.pass(hop + 1);
    }
}

struct SimcoreHub {
    parties: u32,
    context: simcore::SimulationContext,
    missing: u32,
}

impl SimcoreHub {
    fn broadcast(&mut self) {
        self.missing = self.parties - 1;
        for to in 1..self.parties {
            self.context.emit(SimcoreHop(0), to, BROADCAST_DELAY as f64 / 1e9);
        }
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
    stream: Stream,
    delays: Rc<Delays>,
}

impl simcore::EventHandler for SimcoreLeaf {
    fn on(&mut self, event: simcore::Event) {
        let hop = event.data.downcast_ref::<SimcoreHop>().expect("only hops are sent").0;
        let draw = self.stream.word() as u32;
        self.context.emit(SimcoreHop(hop), event.src, self.delays.of(draw) as f64 / 1e9);
    }
}

/// Messages delivered per second by `simcore`.
pub fn simcore(load: Load, events: u64) -> f64 {
    let mut simulation = simcore::Simulation::new(1);
    let delays = Rc::new(Delays::new(load.law));
    match load.pattern {
        Pattern::Phold | Pattern::Ring => {
            let mut passers = Vec::new();
            for (me, stream) in (0..).zip(load.streams()) {
                let context = simulation.create_context(format!("p{me}"));
                let delays = Rc::clone(&delays);
                let passer = Rc::new(RefCell::new(SimcorePasser { load, me, context, stream, delays }));
                simulation.add_handler(format!("p{me}"), Rc::clone(&passer) as _);
                passers.push(passer);
            }
            passers.iter().for_each(|passer| passer.borrow_mut().pass(0));
        }
        Pattern::Star => {
            let context = simulation.create_context("hub");
            let hub = Rc::new(RefCell::new(SimcoreHub { parties: load.parties, context, missing: 0 }));
            simulation.add_handler("hub", Rc::clone(&hub) as _);
            for (index, stream) in load.streams().into_iter().enumerate().skip(1) {
                let context = simulation.create_context(format!("p{index}"));
                let delays = Rc::clone(&delays);
                let leaf = Rc::new(RefCell::new(SimcoreLeaf { context, stream, delays }));
                simulation.add_handler(format!("p{index}"), leaf as _);
            }
            hub.borrow_mut().broadcast();
        }
    }
    let watch = Watch::start();
    simulation.steps(events);
    events as f64 / watch.seconds()
}

// ---------------------------------------------------------------- nexosim

/// What all models of a bench share. Events are scheduled straight at the addressee, which is faster than a port with
/// a connection to each of a thousand models.
struct Shared {
    scheduler: OnceLock<Scheduler>,
    inputs: OnceLock<Vec<EventId<(u32, u64)>>>,
    load: Load,
    delays: Delays,
    handled: AtomicU64,
}

impl Shared {
    fn new(load: Load) -> Arc<Self> {
        Arc::new(Self {
            scheduler: OnceLock::new(),
            inputs: OnceLock::new(),
            load,
            delays: Delays::new(load.law),
            handled: AtomicU64::new(0),
        })
    }

    /// Its clock counts whole nanoseconds and knows no delay of zero.
    fn send(&self, from: u32, to: u32, delay: u64, hop: u64) {
        let input = self.inputs.get().expect("set before the start")[to as usize];
        let scheduler = self.scheduler.get().expect("set before the start");
        scheduler
            .schedule_event(Duration::from_nanos(delay.max(1)), &input, (from, hop))
            .expect("the time lies ahead");
    }
}

struct Environment {
    shared: Arc<Shared>,
    stream: Stream,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct NexosimPasser {
    me: u32,
}

#[Model(type Env = Environment)]
impl NexosimPasser {
    fn receive(&mut self, (_, hop): (u32, u64), _: &nexosim::model::Context<Self>, world: &mut Environment) {
        world.shared.handled.fetch_add(1, Ordering::Relaxed);
        let (to, draw) = world.shared.load.split(self.me, world.stream.word());
        world.shared.send(self.me, to, world.shared.delays.of(draw), hop + 1);
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct NexosimStar {
    me: u32,
    missing: u32,
}

#[Model(type Env = Environment)]
impl NexosimStar {
    fn receive(
        &mut self,
        (from, hop): (u32, u64),
        _: &nexosim::model::Context<Self>,
        world: &mut Environment,
    ) {
        let shared = &world.shared;
        shared.handled.fetch_add(1, Ordering::Relaxed);
        if self.me > 0 {
            let draw = world.stream.word() as u32;
            shared.send(self.me, from, shared.delays.of(draw), hop);
            return;
        }
        self.missing = self.missing.saturating_sub(1);
        if self.missing == 0 {
            self.missing = shared.load.parties - 1;
            (1..shared.load.parties).for_each(|to| shared.send(0, to, BROADCAST_DELAY, 0));
        }
    }
}

/// A model with its environment.
struct Made<M>(M, Environment);

impl<M: Model<Env = Environment>> ProtoModel for Made<M> {
    type Model = M;

    fn build(self, _: &mut BuildContext<Self>) -> (M, Environment) {
        (self.0, self.1)
    }
}

/// Messages delivered per second by `nexosim` on one thread.
pub fn nexosim(load: Load, events: u64) -> f64 {
    let shared = Shared::new(load);
    let mut bench = SimInit::with_num_threads(1);
    let mut inputs = Vec::new();
    for (me, stream) in (0..).zip(load.streams()) {
        let environment = Environment { shared: Arc::clone(&shared), stream };
        let name = format!("p{me}");
        match load.pattern {
            Pattern::Phold | Pattern::Ring => {
                let mailbox = Mailbox::new();
                inputs
                    .push(EventSource::new().connect(NexosimPasser::receive, &mailbox).register(&mut bench));
                bench = bench.add_model(Made(NexosimPasser { me }, environment), mailbox, &name);
            }
            Pattern::Star => {
                let mailbox = Mailbox::new();
                inputs.push(EventSource::new().connect(NexosimStar::receive, &mailbox).register(&mut bench));
                bench = bench.add_model(Made(NexosimStar { me, missing: 0 }, environment), mailbox, &name);
            }
        }
    }
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("the models start");
    shared.inputs.set(inputs).expect("set once");
    assert!(shared.scheduler.set(simulation.scheduler()).is_ok(), "set once");
    match load.pattern {
        Pattern::Phold | Pattern::Ring => (0..load.parties).for_each(|me| {
            let delay = shared.delays.of(me.wrapping_mul(2_654_435_761));
            shared.send(me, me, delay, 0);
        }),
        Pattern::Star => shared.send(0, 0, 1, 0),
    }
    let watch = Watch::start();
    while shared.handled.load(Ordering::Relaxed) < events {
        simulation.step().expect("messages go on for ever");
    }
    shared.handled.load(Ordering::Relaxed) as f64 / watch.seconds()
}
