//! No allocation per event in the steady state: a counting allocator watches the second half of a run.

use crate::words::{Word, World};
use subrosa::kernel::{
    Context, Delivery, Input, Limits, Medium, MessageHeader, Party, Simulation, TimerTicket,
};
use subrosa::network::latency::{Exponential, LatencyModel};
use subrosa::network::topology::Star;
use subrosa::network::{Link, Network, PartyTraits, TopologyModel};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{PartyId, Span, Time};

/// Passes words on at random, sets a timer for each and cancels the one before.
#[derive(Clone, Debug)]
struct Passer {
    stream: Stream,
    parties: u64,
    hub: Option<PartyId>,
    timer: Option<TimerTicket>,
}

impl Party<World> for Passer {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        if let Input::Start | Input::Message { .. } = input {
            let to = PartyId(self.stream.below(self.parties) as u32);
            ctx.send(self.hub.filter(|hub| *hub != ctx.me()).unwrap_or(to), Word(7));
            ctx.record(Word(7));
            if let Some(timer) = self.timer.replace(ctx.after(Span::from_millis(10), Word(7))) {
                ctx.cancel(timer);
            }
        }
    }
}

#[derive(Debug)]
struct Delays(Stream);

impl Medium for Delays {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        // Half of the messages take no time.
        let millis = (10.0 * self.0.exponential()) as u64 * self.0.below(2);
        Delivery::Arrives(parcel.at + Span::from_millis(millis))
    }
}

fn passers(count: u32, hub: Option<PartyId>) -> Vec<Box<dyn Party<World>>> {
    (0..count)
        .map(|index| -> Box<dyn Party<World>> {
            let stream = Key::root(1).child("passer").index(u64::from(index)).stream();
            Box::new(Passer { stream, parties: u64::from(count), hub, timer: None })
        })
        .collect()
}

/// Allocations in the second half of a run, and events in it.
fn second_half(parties: Vec<Box<dyn Party<World>>>, medium: Box<dyn Medium>, until: Span) -> (u64, u64) {
    let mut simulation = Simulation::new(parties, medium);
    let half = Time::from_nanos(until.nanos() / 2);
    let limits = Limits { until: Time::ZERO + until, ..Limits::default() };
    let (mut at_half, mut events) = (None, 0);
    simulation
        .run(limits, &mut |at, _| {
            if at >= half {
                at_half.get_or_insert_with(crate::counting::allocations);
                events += 1;
            }
        })
        .expect("no livelock");
    (crate::counting::allocations() - at_half.expect("the run has a second half"), events)
}

#[test]
fn nothing_is_allocated_per_event() {
    let medium = Delays(Key::root(2).stream());
    let (allocations, events) = second_half(passers(200, None), Box::new(medium), Span::from_millis(20_000));
    assert!(events > 1_000_000, "{events}");
    // The table of timers may still double once or twice; nothing else grows.
    assert!(allocations <= 2, "{allocations} allocations in {events} events of the kernel");

    let names: Vec<String> = (0..50).map(|index| format!("p{index}")).collect();
    let link =
        Link { latency: LatencyModel::from(Exponential { mean: Span::from_millis(10) }), ..Link::default() };
    let network = Network::new(TopologyModel::from(Star { hub: "p0".to_owned() }), link);
    let medium = network.medium(&names, &vec![PartyTraits::default(); 50], Key::root(3));
    let hub = Some(PartyId(0));
    let (allocations, events) = second_half(passers(50, hub), Box::new(medium), Span::from_millis(100_000));
    assert!(events > 500_000, "{events}");
    // A histogram of latencies grows when a longer one than ever before is met.
    assert!(allocations <= 8, "{allocations} allocations in {events} events of the network");
}
