//! The event loop with the network that scenarios use: nanoseconds of processor time for one message, with ordinary models
//! of latency and loss, from 10 to 1,000,000 parties, with the digest and without.
//!
//!   cargo bench -p subrosa-benches --bench medium               the whole table
//!   cargo bench -p subrosa-benches --bench medium -- star       only the loads whose name has "star"
//!   cargo bench -p subrosa-benches --bench medium -- 'mesh, 10'   only the load with this name
//!
//! In a star every leaf has one message on its way to the hub or back. In a mesh every party passes each message on to a
//! random other party; in a ring, the messages of tandem queues, to the next one, whose work takes time.

#[path = "kernel/watch.rs"]
mod watch;
#[path = "../tests/support/words.rs"]
mod words;

use subrosa::kernel::{Context, Input, Limits, Party, Simulation};
use subrosa::network::compute::{ComputeModel, Drawn};
use subrosa::network::latency::{Constant, Exponential, LatencyModel, LogNormal};
use subrosa::network::loss::{Independent, LossModel, NoLoss};
use subrosa::network::topology::{Mesh, Star};
use subrosa::network::{Link, Network, PartyTraits};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{NonNegative, PartyId, Probability, Span};
use watch::Watch;
use words::{Word, World};

const TURNS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Star,
    Mesh,
    Ring,
}

/// One party: the hub of a star, or one that passes messages on.
#[derive(Clone, Debug)]
struct Node {
    shape: Shape,
    me: u32,
    parties: u32,
    stream: Stream,
}

impl Party<World> for Node {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        let from = match input {
            Input::Start if self.shape == Shape::Star && self.me == 0 => return,
            Input::Start => PartyId(0),
            Input::Message { from, .. } => from,
            Input::Timer(_) | Input::WentOffline | Input::CameBack => return,
        };
        let to = match self.shape {
            Shape::Star => from,
            Shape::Mesh => {
                PartyId((self.me + 1 + self.stream.below(u64::from(self.parties - 1)) as u32) % self.parties)
            }
            Shape::Ring => PartyId((self.me + 1) % self.parties),
        };
        ctx.send(to, Word(1));
    }
}

/// Nanoseconds of processor time for each message, links and streams made on the way.
fn measure(shape: Shape, parties: u32, link: &Link, events: u64, digest: bool) -> f64 {
    let key = Key::root(1);
    let names: Vec<String> = (0..parties).map(|party| format!("party-{party}")).collect();
    let compute = match shape {
        Shape::Ring => Drawn { time: Exponential { mean: Span::from_millis(10) }.into() }.into(),
        Shape::Star | Shape::Mesh => ComputeModel::default(),
    };
    let traits = vec![PartyTraits { compute, ..PartyTraits::default() }; parties as usize];
    let topology = match shape {
        Shape::Star => Star { hub: names[0].clone() }.into(),
        Shape::Mesh | Shape::Ring => Mesh {}.into(),
    };
    let medium = Network::new(topology, link.clone()).medium(&names, &traits, key.child("network"));
    let party = |me: u32| -> Box<dyn Party<World>> {
        Box::new(Node { shape, me, parties, stream: key.child("party").index(u64::from(me)).stream() })
    };
    let simulation = Simulation::new((0..parties).map(party).collect(), medium);
    let mut simulation = if digest { simulation } else { simulation.without_digest() };
    let watch = Watch::start();
    while simulation.journal().counts().delivered < events {
        simulation.step(Limits::default(), &mut |_, _| {}).expect("no livelock");
    }
    1e9 * watch.seconds() / simulation.journal().counts().delivered as f64
}

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let rare = || LossModel::from(Independent(Probability::new(1e-7).expect("a probability")));
    let ms = Span::from_millis;
    let link = |latency: LatencyModel, loss: LossModel| Link { latency, loss, ..Link::default() };
    let sigma = NonNegative::new(0.5).expect("a number above 0");
    let log_normal = link(LogNormal { median: ms(50), sigma }.into(), rare());
    let exponential = link(Exponential { mean: ms(50) }.into(), rare());
    let constant = link(Constant(ms(50)).into(), LossModel::from(NoLoss {}));
    println!("nanoseconds of processor time for one message, best of {TURNS}: without the digest, with it");
    let loads = [
        ("star, 10", Shape::Star, 10),
        ("star, 1,000", Shape::Star, 1_000),
        ("star, 100,000", Shape::Star, 100_000),
        ("star, 1,000,000", Shape::Star, 1_000_000),
        ("mesh, 10", Shape::Mesh, 10),
        ("mesh, 100", Shape::Mesh, 100),
        ("mesh, 1,000", Shape::Mesh, 1_000),
        ("ring of queues, 10", Shape::Ring, 10),
    ];
    let exact = loads.iter().any(|(name, ..)| only.as_deref() == Some(*name));
    let chosen = |name: &str| {
        only.as_ref().is_none_or(|only| if exact { name == only } else { name.contains(only.as_str()) })
    };
    for (name, shape, parties) in loads.into_iter().filter(|(name, ..)| chosen(name)) {
        for (law, link) in
            [("log-normal", &log_normal), ("exponential", &exponential), ("constant", &constant)]
        {
            let events = 1_000_000.max(3 * u64::from(parties));
            let best = |digest| {
                (0..TURNS).map(|_| measure(shape, parties, link, events, digest)).fold(f64::MAX, f64::min)
            };
            println!("{name:<20} {law:<12} {:>7.1} {:>7.1}", best(false), best(true));
        }
    }
}
