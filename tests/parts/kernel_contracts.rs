//! What the kernel promises to parties and watchers: limits, checkpoints, digests of each kind of event, and defaults.

use std::cell::RefCell;
use std::rc::Rc;
use subrosa::kernel::{
    Context, Digest, Digestible, Discipline, Ending, Event, Input, KernelError, Limits, Medium, Party,
    PerfectMedium, Process, ProcessContext, ProcessTimer, Protocol, Recorder, Resource, Simulation,
};
use subrosa::rng::Key;
use subrosa::vocab::{PartyId, Span, Time};

#[derive(Clone, Debug)]
struct Talk;

impl Protocol for Talk {
    type Message = f64;
    type Timer = ProcessTimer;
    type Fact = f64;
}

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// A party that does the same at its start and at each of its timers, and records each message.
#[derive(Clone, Debug)]
struct Does(Action);

/// What a party does at its start (`None`) and at each of its timers.
type Action = fn(&mut Context<'_, Talk>, Option<u64>);

impl Party<Talk> for Does {
    fn handle(&mut self, input: Input<Talk>, ctx: &mut Context<'_, Talk>) {
        match input {
            Input::Start => (self.0)(ctx, None),
            Input::Timer(ProcessTimer(number)) => (self.0)(ctx, Some(number)),
            Input::Message { message, .. } => ctx.record(message),
            Input::WentOffline | Input::CameBack => {}
        }
    }
}

fn nothing(_: &mut Context<'_, Talk>, _: Option<u64>) {}

type World<M> = Simulation<Talk, M>;

fn world(parties: &[Action]) -> World<PerfectMedium> {
    let parties = parties.iter().map(|&does| Box::new(Does(does)) as Box<dyn Party<Talk>>).collect();
    Simulation::new(parties, PerfectMedium)
}

fn run<M: Medium>(world: &mut World<M>, limits: Limits) -> Result<Ending, KernelError> {
    world.run(limits, &mut |_, _| {})
}

/// An event at the very limit is handled, the next one is not.
#[test]
fn a_run_includes_the_events_at_its_limit() {
    let does = |ctx: &mut Context<'_, Talk>, number: Option<u64>| match number {
        None => (1..=3).for_each(|number| {
            ctx.after(ms(number), ProcessTimer(number));
        }),
        Some(number) => ctx.record(number as f64),
    };
    let mut world = world(&[does]);
    assert!(!world.has_begun());
    let until = Limits { until: Time::ZERO + ms(2), ..Limits::default() };
    assert_eq!(run(&mut world, until).unwrap(), Ending::TimeUp);
    assert!(world.has_begun());
    // Two timers, and a fact of each.
    assert_eq!((world.journal().counts().events, world.now()), (4, Time::ZERO + ms(2)));
    assert_eq!(run(&mut world, Limits::default()).unwrap(), Ending::Quiet);
    assert_eq!(world.journal().counts().events, 6);
}

/// As many events of one instant as the limit are handled; one more is an error that states the number.
#[test]
fn one_instant_has_at_most_as_many_events_as_the_limit() {
    let does = |ctx: &mut Context<'_, Talk>, number: Option<u64>| {
        // The first timer needs a moment; the others follow without any time between them.
        let number = number.map_or(0, |number| number + 1);
        if number < 8 {
            ctx.after(if number == 0 { ms(1) } else { Span::ZERO }, ProcessTimer(number));
        }
    };
    // Eight timers: the first begins the instant, seven follow.
    let limits = |events_per_instant| Limits { events_per_instant, ..Limits::default() };
    assert_eq!(run(&mut world(&[does]), limits(7)).unwrap(), Ending::Quiet);
    match run(&mut world(&[does]), limits(6)).unwrap_err() {
        KernelError::Livelock { at, events } => assert_eq!((at, events), (Time::ZERO + ms(1), 7)),
        other => panic!("{other}"),
    }
}

/// A recorder has the time of its context, and ends the simulation, whatever the context is.
#[test]
fn recorders_have_the_time_and_end_the_simulation() {
    fn end(recorder: &mut dyn Recorder<Talk>) {
        recorder.record(recorder.now().nanos() as f64);
        recorder.stop();
    }
    let handler = |ctx: &mut Context<'_, Talk>, number: Option<u64>| match number {
        None => {
            ctx.after(ms(2), ProcessTimer(0));
            ctx.after(ms(3), ProcessTimer(1));
        }
        Some(_) => end(ctx),
    };
    let body = async |mut ctx: ProcessContext<Talk>| {
        ctx.sleep(ms(2)).await;
        end(&mut ctx);
        ctx.sleep(ms(1)).await;
        end(&mut ctx);
    };
    let parties: [Box<dyn Party<Talk>>; 2] =
        [Box::new(Does(handler)), Box::new(Process::<Talk>::new(Key::root(1), body))];
    for party in parties {
        let mut world = Simulation::new(vec![party], PerfectMedium);
        let mut facts = Vec::new();
        let ending = world.run(Limits::default(), &mut |_, event| {
            if let Event::Recorded { fact, .. } = event {
                facts.push(**fact);
            }
        });
        assert_eq!((ending.unwrap(), facts), (Ending::Stopped, vec![2e6]));
    }
}

/// A broadcast of a process reaches every party, in order.
#[test]
fn a_broadcast_reaches_every_party() {
    let body = async |ctx: ProcessContext<Talk>| {
        ctx.broadcast([PartyId(2), PartyId(1)], &4.0);
    };
    let parties: Vec<Box<dyn Party<Talk>>> = vec![
        Box::new(Process::<Talk>::new(Key::root(1), body)),
        Box::new(Does(nothing)),
        Box::new(Does(nothing)),
    ];
    let mut world = Simulation::new(parties, PerfectMedium);
    let mut found = Vec::new();
    world
        .run(Limits::default(), &mut |_, event| {
            if let Event::Recorded { party, fact } = event {
                found.push((party.0, **fact));
            }
        })
        .unwrap();
    assert_eq!(found, [(2, 4.0), (1, 4.0)]);
}

/// A waiter that is dropped before its message arrives takes none away, and wakes nobody.
#[test]
fn a_dropped_waiter_leaves_the_message_for_the_next() {
    let taken = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&taken);
    let body = move |ctx: ProcessContext<Talk>| {
        let into = Rc::clone(&into);
        async move {
            let dropped = ctx.receive();
            drop(dropped);
            let (from, message) = ctx.receive().await;
            into.borrow_mut().push((from.0, message));
        }
    };
    let sends = |ctx: &mut Context<'_, Talk>, _: Option<u64>| ctx.send(PartyId(0), 5.0);
    let parties: Vec<Box<dyn Party<Talk>>> =
        vec![Box::new(Process::<Talk>::new(Key::root(1), body)), Box::new(Does(sends))];
    let mut world = Simulation::new(parties, PerfectMedium);
    run(&mut world, Limits::default()).unwrap();
    assert_eq!(*taken.borrow(), [(1, 5.0)]);
}

/// Every number of events has 16 to 32 checkpoints at equal distances, and each is the digest of a run that ends there.
#[test]
fn checkpoints_are_evenly_spaced() {
    fn ticks(ctx: &mut Context<'_, Talk>, number: Option<u64>) {
        let next = number.map_or(0, |number| number + 1);
        ctx.after(ms(1), ProcessTimer(next));
    }
    let after = |events: u64| {
        let mut world = world(&[ticks]);
        let until = Limits { until: Time::ZERO + ms(events), ..Limits::default() };
        run(&mut world, until).unwrap();
        world
    };
    for events in [5, 31, 32, 33, 63, 64, 65, 100, 1000] {
        let world = after(events);
        let found = world.journal().checkpoints();
        let every = found[0].events;
        assert!(every.is_power_of_two(), "{events}: {every}");
        assert_eq!(found.len() as u64, events / every, "{events}");
        assert!(found.len() <= 32 && (found.len() >= 16 || every == 1), "{events}: {}", found.len());
        for (place, checkpoint) in found.iter().enumerate() {
            assert_eq!(checkpoint.events, every * (place as u64 + 1), "{events}");
            assert_eq!(checkpoint.at, Time::ZERO + ms(checkpoint.events), "{events}");
        }
    }
    let whole = after(100);
    let middle = whole.journal().checkpoints()[10];
    let ended = after(middle.events);
    assert_eq!(ended.journal().hex()[..16], format!("{:016x}", middle.digest));
}

/// Runs that differ in one detail of one event have different digests.
#[test]
fn every_detail_of_an_event_is_in_the_digest() {
    let digest = |parties: &[Action]| {
        let mut world = world(parties);
        run(&mut world, Limits::default()).unwrap();
        world.journal().hex()
    };
    let runs = [
        digest(&[nothing, nothing, nothing]),
        // Sender, addressee and contents of a message.
        digest(&[|ctx, _| ctx.send(PartyId(1), 1.0), nothing, nothing]),
        digest(&[|ctx, _| ctx.send(PartyId(2), 1.0), nothing, nothing]),
        digest(&[|ctx, _| ctx.send(PartyId(1), 2.0), nothing, nothing]),
        digest(&[nothing, nothing, |ctx, _| ctx.send(PartyId(1), 1.0)]),
        // Party and contents of a fact.
        digest(&[|ctx, _| ctx.record(1.0), nothing, nothing]),
        digest(&[|ctx, _| ctx.record(2.0), nothing, nothing]),
        digest(&[nothing, |ctx, _| ctx.record(1.0), nothing]),
        // Party, number and time of a timer.
        digest(&[|ctx, number| timer(ctx, number, 1, 3), nothing, nothing]),
        digest(&[|ctx, number| timer(ctx, number, 1, 4), nothing, nothing]),
        digest(&[|ctx, number| timer(ctx, number, 2, 3), nothing, nothing]),
        digest(&[nothing, |ctx, number| timer(ctx, number, 1, 3), nothing]),
    ];
    for (place, run) in runs.iter().enumerate() {
        assert!(!runs[..place].contains(run), "run {place} has the digest of an earlier one");
    }
}

fn timer(ctx: &mut Context<'_, Talk>, number: Option<u64>, after: u64, which: u64) {
    if number.is_none() {
        ctx.after(ms(after), ProcessTimer(which));
    }
}

/// A claim's digest has its priority and its order.
#[test]
fn claims_of_different_jobs_have_different_digests() {
    let hex = |value: &dyn Digestible| {
        let mut digest = Digest::default();
        value.digest(&mut digest);
        digest.hex()
    };
    let mut desk = Resource::new(std::num::NonZeroU32::MIN, Discipline::Priority);
    let mut claims = Vec::new();
    for priority in [1, 1, 2] {
        claims.push(hex(&desk.request(Time::ZERO, priority, ()).claim));
    }
    claims.push(hex(&Resource::new(std::num::NonZeroU32::MIN, Discipline::Priority)
        .request(Time::ZERO, 2, ())
        .claim));
    for (place, claim) in claims.iter().enumerate() {
        assert!(!claims[..place].contains(claim), "claim {place}");
    }
}

/// Shares of time and means of a resource, by hand: one of two servers is busy for 2 of 4 seconds, then both.
#[test]
fn statistics_of_a_resource_agree_with_a_computation_by_hand() {
    let second = |second: u64| Time::from_nanos(second * 1_000_000_000);
    let mut desk = Resource::new(std::num::NonZeroU32::new(2).unwrap(), Discipline::Fifo);
    let at_start = desk.statistics(second(0));
    assert_eq!((at_start.utilisation(), at_start.mean_waiting()), (0.0, 0.0));
    let first = desk.request(second(2), 0, "a").claim;
    let second_claim = desk.request(second(4), 0, "b").claim;
    for (at, job) in [(5, "c"), (6, "d")] {
        assert!(!desk.request(second(at), 0, job).served);
    }
    let _ = desk.leave(second(8), first);
    let _ = desk.leave(second(9), second_claim);
    let found = desk.statistics(second(10));
    // Busy: 6 s of a and 5 s of b, then 2 s of c and 1 s of d, of 20 s in all.
    assert!((found.utilisation() - 14.0 / 20.0).abs() < 1e-12, "{found:?}");
    // c waits for 3 s, d for 3 s, in 10 s.
    assert!((found.mean_waiting() - 0.6).abs() < 1e-12, "{found:?}");
    assert_eq!((found.begun, found.delayed), (4, 2));
    assert!((found.share_delayed() - 0.5).abs() < 1e-12);
    assert!((found.mean_wait_seconds() - 1.5).abs() < 1e-12);
}

/// A medium without methods of its own: no message needs compute time, and every party is connected.
#[derive(Debug)]
struct Plain;

impl Medium for Plain {
    fn transmit(&mut self, parcel: subrosa::kernel::MessageHeader) -> subrosa::kernel::Delivery {
        subrosa::kernel::Delivery::Arrives(parcel.at + ms(1))
    }
}

#[test]
fn a_medium_without_methods_of_its_own_takes_no_time_at_the_addressee() {
    let sends = |ctx: &mut Context<'_, Talk>, _: Option<u64>| ctx.send(PartyId(1), 5.0);
    let parties: Vec<Box<dyn Party<Talk>>> = vec![Box::new(Does(sends)), Box::new(Does(nothing))];
    let mut world = Simulation::new(parties, Plain);
    run(&mut world, Limits::default()).unwrap();
    assert_eq!(world.now(), Time::ZERO + ms(1));
}
