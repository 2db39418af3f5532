//! The loads on `desque`, written as its documentation shows: events are boxed, and change the state of the simulation.

use crate::load::{BROADCAST_DELAY, Delays, Load, Pattern};
use crate::watch::Watch;
use desque::SimState;
use desque::serial::{OkEvent, Simulation};
use subrosa::rng::Stream;

#[derive(Debug)]
struct World {
    load: Load,
    streams: Vec<Stream>,
    delays: Delays,
    handled: u64,
    events: u64,
    /// Answers that the hub of a star still waits for.
    missing: u32,
}

impl SimState<u64> for World {
    fn is_complete(&self, _: &u64) -> bool {
        self.handled >= self.events
    }
}

/// A message to `to`, which passes it on.
#[derive(Debug)]
struct Hop {
    from: u32,
    to: u32,
    hop: u64,
}

/// Schedules a message; its delay is never negative.
fn send(simulation: &mut Simulation<World, u64>, hop: Hop, delay: u64) {
    simulation.schedule_with_delay(hop, delay).expect("the time lies ahead");
}

fn broadcast(simulation: &mut Simulation<World, u64>) {
    let parties = simulation.state().load.parties;
    simulation.state_mut().missing = parties - 1;
    for to in 1..parties {
        send(simulation, Hop { from: 0, to, hop: 0 }, BROADCAST_DELAY);
    }
}

impl OkEvent<World, u64> for Hop {
    fn execute(&mut self, simulation: &mut Simulation<World, u64>) {
        let me = self.to;
        let world = simulation.state_mut();
        world.handled += 1;
        if world.load.pattern == Pattern::Star && me == 0 {
            world.missing -= 1;
            if world.missing == 0 {
                broadcast(simulation);
            }
            return;
        }
        let (to, draw) = world.load.split(me, world.streams[me as usize].word());
        let delay = world.delays.of(draw);
        let hop = if world.load.pattern == Pattern::Star {
            Hop { from: me, to: self.from, hop: self.hop }
        } else {
            Hop { from: me, to, hop: self.hop + 1 }
        };
        send(simulation, hop, delay);
    }
}

/// Messages delivered per second by `desque`.
pub fn run(load: Load, events: u64) -> f64 {
    let (streams, delays) = (load.streams(), Delays::new(load.law));
    let mut simulation = Simulation::new(World { load, streams, delays, handled: 0, events, missing: 0 }, 0);
    match load.pattern {
        Pattern::Phold | Pattern::Ring => {
            for from in 0..load.parties {
                let world = simulation.state_mut();
                let (to, draw) = load.split(from, world.streams[from as usize].word());
                let delay = world.delays.of(draw);
                send(&mut simulation, Hop { from, to, hop: 0 }, delay);
            }
        }
        Pattern::Star => broadcast(&mut simulation),
    }
    let watch = Watch::start();
    simulation.run().expect("no event fails");
    simulation.state().handled as f64 / watch.seconds()
}
