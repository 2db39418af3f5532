//! A party of one's own. Eight nodes estimate a mean: every second each sends its estimate to a random other
//! node, which replaces its own by the average of the two. `cargo run --example own_party`

use std::error::Error;
use subrosa::prelude::*;

/// The protocol: the types of its messages, of its timers and of the facts that are recorded.
#[derive(Clone, Debug)]
struct Gossip;

impl Protocol for Gossip {
    type Message = f64;
    type Timer = ();
    type Fact = f64;
}

impl Rounds for Gossip {}

#[derive(Clone, Debug)]
struct Node(f64, Stream);

impl Party<Gossip> for Node {
    fn handle(&mut self, input: Input<Gossip>, ctx: &mut Context<'_, Gossip>) {
        match input {
            Input::Timer(()) if ctx.now().seconds() >= 60.0 => ctx.stop(),
            Input::Start | Input::Timer(()) => {
                let step = 1 + self.1.below(7) as u32;
                ctx.send(PartyId((ctx.me().0 + step) % 8), self.0);
                ctx.after(Span::from_millis(1000), ());
            }
            Input::Message { message: heard, .. } => {
                self.0 = f64::midpoint(self.0, heard);
                ctx.record(self.0);
            }
            Input::WentOffline | Input::CameBack => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let latency = LogNormal { median: Span::from_millis(80), sigma: NonNegative::new(0.5)? }.into();
    let link = Link { latency, loss: Independent(Probability::new(0.1)?).into(), ..Link::default() };
    let stage =
        ReplicationSetup::new((0..8).map(|node| format!("node-{node}")), Network::new(Mesh {}.into(), link));
    let key = Key::root(1);
    let node = |i: u8| -> Box<dyn Party<Gossip>> {
        Box::new(Node(f64::from(i), key.child("party").index(u64::from(i)).stream()))
    };
    let mut beliefs = [0.0; 8];
    let record = stage.run("gossip", (0..8).map(node).collect(), key, &mut |_, event| {
        if let Event::Recorded { party, fact } = event {
            beliefs[party.index()] = **fact;
        }
    })?;
    println!("after a minute: {beliefs:.3?}");
    println!("{} messages, {} lost, digest {}", record.messages, record.messages_lost, &record.digest[..16]);
    Ok(())
}
