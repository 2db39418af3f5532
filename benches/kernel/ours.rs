//! The loads on this project's kernel, through its public interface.

use crate::load::{BROADCAST_DELAY, Delays, Load, Pattern};
use crate::watch::Watch;
use crate::words::{Word, World};
use std::cell::Cell;
use std::rc::Rc;
use subrosa::kernel::{Context, Delivery, Input, Limits, Medium, MessageHeader, Party, Simulation};
use subrosa::rng::Stream;
use subrosa::vocab::{PartyId, Span};

/// Delays each message by what its sender drew last.
#[derive(Clone, Debug)]
struct Line {
    delays: Delays,
    /// Messages of this party always take [`BROADCAST_DELAY`].
    quick: Option<PartyId>,
    draw: Rc<Cell<u32>>,
}

impl Medium for Line {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        let delay =
            if self.quick == Some(parcel.from) { BROADCAST_DELAY } else { self.delays.of(self.draw.get()) };
        Delivery::Arrives(parcel.at + Span::from_nanos(delay))
    }
}

#[derive(Clone, Debug)]
struct Passer {
    load: Load,
    me: u32,
    stream: Stream,
    draw: Rc<Cell<u32>>,
}

impl Party<World> for Passer {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        let hop = match input {
            Input::Start => Word(0),
            Input::Message { message, .. } => message,
            Input::Timer(_) | Input::WentOffline | Input::CameBack => return,
        };
        let (to, draw) = self.load.split(self.me, self.stream.word());
        self.draw.set(draw);
        ctx.send(PartyId(to), Word(hop.0 + 1));
    }
}

#[derive(Clone, Debug)]
struct Hub {
    parties: u32,
    missing: u32,
}

#[derive(Clone, Debug)]
struct Leaf {
    stream: Stream,
    draw: Rc<Cell<u32>>,
}

impl Party<World> for Hub {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        if let Input::Message { .. } = input {
            self.missing -= 1;
        }
        if self.missing == 0 {
            self.missing = self.parties - 1;
            ctx.broadcast((1..self.parties).map(PartyId), &Word(0));
        }
    }
}

impl Party<World> for Leaf {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        if let Input::Message { from, message } = input {
            let draw = self.stream.word() as u32;
            self.draw.set(draw);
            ctx.send(from, message);
        }
    }
}

/// Messages delivered per second.
pub fn run(load: Load, events: u64, digest: bool) -> f64 {
    let draw = Rc::new(Cell::new(0));
    let mut quick = None;
    let mut parties: Vec<Box<dyn Party<World>>> = Vec::new();
    match load.pattern {
        Pattern::Phold | Pattern::Ring => {
            for (me, stream) in (0..).zip(load.streams()) {
                parties.push(Box::new(Passer { load, me, stream, draw: Rc::clone(&draw) }));
            }
        }
        Pattern::Star => {
            quick = Some(PartyId(0));
            parties.push(Box::new(Hub { parties: load.parties, missing: 0 }));
            for stream in load.streams().into_iter().skip(1) {
                parties.push(Box::new(Leaf { stream, draw: Rc::clone(&draw) }));
            }
        }
    }
    let simulation = Simulation::new(parties, Line { delays: Delays::new(load.law), quick, draw });
    let mut simulation = if digest { simulation } else { simulation.without_digest() };
    let watch = Watch::start();
    while simulation.journal().counts().delivered < events {
        simulation.step(Limits::default(), &mut |_, _| {}).expect("no livelock");
    }
    simulation.journal().counts().delivered as f64 / watch.seconds()
}
