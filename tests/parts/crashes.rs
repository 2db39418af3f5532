//! Crashes, copies of messages and media behind a pointer, on a kernel with a medium of the test's own.

use subrosa::kernel::{
    Context, Delivery, Ending, Event, Input, Journal, Limits, LossCause, Medium, Memory, MessageHeader,
    Party, Payload, PerfectMedium, Protocol, Simulation, Switch,
};
use subrosa::vocab::{PartyId, Span, Time};

#[derive(Clone, Debug)]
struct Numbers;

impl Protocol for Numbers {
    type Message = f64;
    type Timer = u64;
    type Fact = u64;
}

/// Sends one number to the second party when it starts for the first time, and counts its starts.
#[derive(Clone, Debug, Default)]
struct Sender {
    starts: u64,
}

impl Party<Numbers> for Sender {
    fn handle(&mut self, input: Input<Numbers>, ctx: &mut Context<'_, Numbers>) {
        if let Input::Start = input {
            self.starts += 1;
            ctx.record(self.starts);
            if self.starts == 1 {
                ctx.send(PartyId(1), 0.5);
            }
        }
    }
}

/// Receives.
#[derive(Clone, Debug)]
struct Receiver;

impl Party<Numbers> for Receiver {
    fn handle(&mut self, _: Input<Numbers>, _: &mut Context<'_, Numbers>) {}
}

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_seconds(seconds as f64)
}

/// Every answer of this medium differs from the default of the trait.
#[derive(Clone, Copy, Debug, Default)]
struct Restless {
    /// Crashes of the first party, which begin at odd seconds and last one second each.
    switched: u64,
    /// How often the kernel has said that the first party's jobs are dropped.
    dropped: u64,
}

impl Medium for Restless {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        Delivery::Doubled { at: [parcel.at, parcel.at + Span::from_seconds(0.25)], via: parcel.to, leg: None }
    }
    fn proceed(&mut self, _: MessageHeader, _: PartyId, _: u8, _: Time) -> Delivery {
        Delivery::Lost(LossCause::RelayOffline)
    }
    fn occupied(&mut self, _: PartyId, work: f64, _: Time) -> Span {
        Span::from_seconds(work)
    }
    fn replanned(&mut self, party: PartyId) -> bool {
        party == PartyId(2)
    }
    fn drops_jobs(&mut self, party: PartyId) {
        assert_eq!(party, PartyId(0));
        self.dropped += 1;
    }
    fn receives(&mut self, party: PartyId, _: Time) -> bool {
        party == PartyId(1)
    }
    fn starts_online(&mut self, party: PartyId) -> bool {
        party != PartyId(2)
    }
    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        (party == PartyId(0)).then(|| {
            self.switched += 1;
            let online = self.switched.is_multiple_of(2);
            Switch { at: seconds(self.switched), online, crashed: (!online).then_some(Memory::Lost) }
        })
    }
}

fn world<M: Medium>(medium: M) -> Simulation<Numbers, M> {
    Simulation::new(vec![Box::new(Sender::default()), Box::new(Receiver)], medium)
}

/// The crash of a party without memory is work, because the party starts again; when it has started and nothing is pending,
/// the simulation ends, although the connection would change for ever.
#[test]
fn a_simulation_ends_after_a_restart_and_not_before() {
    let mut world = world(Restless::default());
    let mut facts = Vec::new();
    // The number and its copy are processed until 1.25 s, during the first crash.
    let ending = world.run(Limits { until: seconds(100), ..Limits::default() }, &mut |at, event| {
        if let Event::Recorded { fact, .. } = event {
            facts.push((at, **fact));
        }
    });
    assert_eq!(ending.unwrap(), Ending::Quiet);
    assert_eq!(facts, [(Time::ZERO, 1), (seconds(2), 2)]);
    assert_eq!(world.medium().dropped, 1);
}

/// Both copies of each number are counted, once as a pair and once each as delivered.
#[test]
fn copies_of_messages_are_counted() {
    let mut world = world(Restless::default());
    let mut doubled = 0;
    world
        .run(Limits { until: seconds(100), ..Limits::default() }, &mut |_, event| {
            doubled += u64::from(matches!(event, Event::Doubled { .. }));
        })
        .unwrap();
    let counts = world.journal().counts();
    assert_eq!((doubled, counts.sent), (1, 1));
    assert_eq!(
        (counts.doubled, counts.delivered, counts.bytes),
        (doubled, 2 * counts.sent, 36 * counts.sent)
    );
}

/// Sets two timers at its first start, and records those that run out.
#[derive(Clone, Debug)]
struct Alarms {
    started: bool,
}

impl Party<Numbers> for Alarms {
    fn handle(&mut self, input: Input<Numbers>, ctx: &mut Context<'_, Numbers>) {
        match input {
            Input::Start if !std::mem::replace(&mut self.started, true) => {
                ctx.after(Span::from_seconds(1.5), 15);
                ctx.after(Span::from_seconds(2.5), 25);
            }
            Input::Timer(timer) => ctx.record(timer),
            _ => {}
        }
    }
}

/// A timer of before a crash without memory never runs out: neither during the crash, from 1 s to 2 s, nor after it.
#[test]
fn no_timer_outlives_the_memory_of_its_party() {
    let mut world = Simulation::new(
        vec![Box::new(Alarms { started: false }) as Box<dyn Party<Numbers>>, Box::new(Receiver)],
        Restless::default(),
    );
    let mut facts = 0;
    let limits = Limits { until: seconds(100), ..Limits::default() };
    let ending = world.run(limits, &mut |_, event| {
        facts += u64::from(matches!(event, Event::Recorded { .. } | Event::TimerFired { .. }));
    });
    assert_eq!((ending.unwrap(), facts), (Ending::Quiet, 0));
}

/// Each message takes a second to a relay or to the addressee, and a second more from there. Party 2 changes its
/// connection for ever, once a second, or not at all.
#[derive(Clone, Copy, Debug)]
struct Relayed {
    via: PartyId,
    absent: Option<PartyId>,
    switched: u64,
}

impl Medium for Relayed {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        Delivery::Passes { at: parcel.at + Span::from_seconds(1.0), via: self.via, leg: 0 }
    }
    fn proceed(&mut self, _: MessageHeader, _: PartyId, _: u8, now: Time) -> Delivery {
        Delivery::Arrives(now + Span::from_seconds(1.0))
    }
    fn starts_online(&mut self, party: PartyId) -> bool {
        self.absent != Some(party)
    }
    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        (party == PartyId(3)).then(|| {
            self.switched += 1;
            Switch::connection(seconds(self.switched), self.switched.is_multiple_of(2))
        })
    }
}

/// How a run ends in which party 0 sends one number to party 1, the time at its end, and its losses and deliveries.
fn relayed(via: u32, absent: Option<u32>) -> (Ending, Time, Vec<LossCause>, u64) {
    let medium = Relayed { via: PartyId(via), absent: absent.map(PartyId), switched: 0 };
    let parties: Vec<Box<dyn Party<Numbers>>> =
        vec![Box::new(Sender::default()), Box::new(Receiver), Box::new(Receiver), Box::new(Receiver)];
    let mut world = Simulation::new(parties, medium);
    let mut losses = Vec::new();
    assert_eq!(world.in_flight(), 0);
    world.step(Limits::default(), &mut |_, _| ()).unwrap();
    assert_eq!(world.in_flight(), 1);
    let ending = world.run(Limits { until: seconds(100), ..Limits::default() }, &mut |_, event| {
        if let Event::Lost { cause, .. } = event {
            losses.push(*cause);
        }
    });
    assert_eq!(world.in_flight(), 0);
    (ending.unwrap(), world.now(), losses, world.journal().counts().delivered)
}

/// A message passes a relay that is connected, and is lost at one that is not; the line of the addressee is no relay. When
/// the message has arrived or is lost, the run ends, although a connection changes for ever.
#[test]
fn a_message_passes_a_connected_relay_only() {
    assert_eq!(relayed(2, None), (Ending::Quiet, seconds(2), vec![], 1));
    assert_eq!(relayed(2, Some(2)), (Ending::Quiet, seconds(1), vec![LossCause::RelayOffline], 0));
    assert_eq!(relayed(1, None), (Ending::Quiet, seconds(2), vec![], 1));
    assert_eq!(relayed(1, Some(1)), (Ending::Quiet, seconds(2), vec![LossCause::ReceiverOffline], 0));
}

/// Two messages that are in flight are two.
#[test]
fn messages_in_flight_are_counted() {
    let mut world = world(Restless::default());
    world.step(Limits::default(), &mut |_, _| ()).unwrap();
    assert_eq!(world.in_flight(), 2);
}

#[test]
fn a_simulation_without_a_digest_counts_the_same_and_digests_nothing() {
    let limits = Limits { until: seconds(100), ..Limits::default() };
    let mut with = world(Restless::default());
    let mut without = world(Restless::default()).without_digest();
    with.run(limits, &mut |_, _| ()).unwrap();
    without.run(limits, &mut |_, _| ()).unwrap();
    assert_eq!(with.journal().counts(), without.journal().counts());
    assert_eq!(without.journal().hex(), Journal::default().hex());
    assert_ne!(with.journal().hex(), without.journal().hex());
}

/// A crashed party is not connected, whatever else its change of connection says.
#[test]
fn a_party_that_is_reconnected_as_crashed_is_not_connected() {
    let mut world = world(PerfectMedium);
    world.step(Limits::default(), &mut |_, _| ()).unwrap();
    let mut seen = Vec::new();
    let switch = Switch { at: seconds(1), online: true, crashed: Some(Memory::Kept) };
    world.reconnect(PartyId(1), switch, &mut |at, event| {
        if let Event::Switched { party, online, crashed } = event {
            seen.push((at, *party, *online, *crashed));
        }
    });
    assert_eq!(seen, [(seconds(1), PartyId(1), false, Some(Memory::Kept))]);
}

#[test]
fn a_medium_behind_a_pointer_answers_as_the_medium_itself() {
    let (mut plain, mut boxed) = (Restless::default(), Box::new(Restless::default()));
    fn answers(medium: &mut dyn Medium) -> String {
        let (party, at) = (PartyId(2), seconds(3));
        let parcel = MessageHeader { from: PartyId(0), to: PartyId(1), bytes: 36, at };
        medium.drops_jobs(PartyId(0));
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            medium.transmit(parcel),
            medium.proceed(parcel, party, 1, at),
            medium.occupied(party, 2.0, at),
            medium.replanned(party),
            medium.receives(party, at),
            medium.starts_online(party),
            medium.next_switch(PartyId(0)),
        )
    }
    assert_eq!(answers(&mut boxed), answers(&mut plain));
    assert_eq!((boxed.dropped, plain.dropped), (1, 1));
    assert_ne!(answers(&mut plain), answers(&mut PerfectMedium));
}

/// 20 bytes of the header of IPv4, 8 of UDP's and 8 of the number.
#[test]
fn a_bare_number_is_a_message() {
    assert_eq!((0.5f64.wire_bytes(), 0.5f64.label(), 0.5f64.work()), (20 + 8 + 8, "number", 1.0));
}
