//! A star of idle parties on the scenario's network: one broadcast and one reply each.

use crate::counting;
use crate::words::{Word, World};
use subrosa::kernel::{Context, Ending, Input, Limits, Party, Simulation};
use subrosa::network::latency::{Exponential, LatencyModel};
use subrosa::network::topology::Star;
use subrosa::network::{Link, Network, PartyTraits, TopologyModel};
use subrosa::rng::Key;
use subrosa::vocab::{PartyId, Span};

#[derive(Clone, Debug)]
struct Hub {
    parties: u32,
    heard: u32,
}

/// Answers what it hears.
#[derive(Clone, Debug)]
pub struct Leaf;

impl Party<World> for Hub {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        match input {
            Input::Start => ctx.broadcast((1..self.parties).map(PartyId), &Word(7)),
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
pub fn star(parties: u32) -> (usize, usize) {
    let before = counting::now();
    counting::forget_most();
    let names: Vec<String> = (0..parties).map(|k| format!("agent-{k}")).collect();
    let traits = vec![PartyTraits { group: Some("agent".to_owned()), ..PartyTraits::default() }; names.len()];
    let latency = LatencyModel::from(Exponential { mean: Span::from_millis(50) });
    let topology = TopologyModel::from(Star { hub: "agent-0".to_owned() });
    let network = Network::new(topology, Link { latency, ..Link::default() });
    let medium = network.medium(&names, &traits, Key::root(1).child("network"));
    let leaves = (1..parties).map(|_| -> Box<dyn Party<World>> { Box::new(Leaf) });
    let hub: Box<dyn Party<World>> = Box::new(Hub { parties, heard: 0 });
    let mut simulation = Simulation::new(std::iter::once(hub).chain(leaves).collect(), medium);
    let idle = counting::now() - before;
    let ending = simulation.run(Limits::default(), &mut |_, _| {}).expect("no livelock");
    assert_eq!(ending, Ending::Stopped);
    assert_eq!(simulation.journal().counts().delivered, 2 * u64::from(parties - 1));
    (idle / parties as usize, counting::most() - before)
}
