//! Parties written as co-routines: the same events as state machines, copies, crashes, and what they can wait for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use subrosa::kernel::{
    CannotCopy, Context, Delivery, Ending, Event, Input, Limits, Medium, Memory, MessageHeader, Party,
    PerfectMedium, Process, ProcessContext, ProcessTimer, Protocol, Simulation, Switch, TimerTicket,
};
use subrosa::network::latency::LogNormal;
use subrosa::network::loss::Independent;
use subrosa::network::topology::Mesh;
use subrosa::network::{Link, Network, NetworkMedium, PartyTraits};
use subrosa::protocols::{Fork, ForkPoint, ForkStates, ReplicationError, ReplicationSetup, Rounds};
use subrosa::rng::Key;
use subrosa::vocab::{NonNegative, PartyId, Probability, Span, Time};

/// Numbers are said and stated.
#[derive(Clone, Debug)]
struct Talk;

impl Protocol for Talk {
    type Message = f64;
    type Timer = ProcessTimer;
    type Fact = f64;
}

impl Rounds for Talk {}

type Ctx = ProcessContext<Talk>;
type World<M> = Simulation<Talk, M>;

const ROUNDS: u32 = 40;

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// Asks again every 150 ms until it is answered, which is what the state machine [`Asking`] does.
async fn asking(ctx: Ctx) {
    for round in 1..=ROUNDS {
        let question = f64::from(round);
        loop {
            ctx.send(PartyId(1), question);
            let answer = ctx.receive_if(move |_, answer| *answer == question);
            if ctx.timeout(ms(150), answer).await.is_some() {
                break;
            }
        }
        ctx.record(question);
    }
    ctx.stop();
}

/// Thinks for 20 ms about one question after another, as [`Answering`].
async fn answering(ctx: Ctx) {
    loop {
        let (from, question) = ctx.receive().await;
        ctx.sleep(ms(20)).await;
        ctx.send(from, question);
    }
}

#[derive(Clone, Debug, Default)]
struct Asking {
    round: u32,
    alarms: u64,
    timer: Option<TimerTicket>,
}

impl Asking {
    fn ask(&mut self, ctx: &mut Context<'_, Talk>) {
        ctx.send(PartyId(1), f64::from(self.round));
        self.timer = Some(ctx.after(ms(150), ProcessTimer(self.alarms)));
        self.alarms += 1;
    }
}

impl Party<Talk> for Asking {
    fn handle(&mut self, input: Input<Talk>, ctx: &mut Context<'_, Talk>) {
        match input {
            Input::Start => {
                self.round = 1;
                self.ask(ctx);
            }
            Input::Message { message, .. } if message == f64::from(self.round) => {
                if let Some(timer) = self.timer.take() {
                    ctx.cancel(timer);
                }
                ctx.record(message);
                self.round += 1;
                if self.round > ROUNDS { ctx.stop() } else { self.ask(ctx) }
            }
            Input::Timer(_) => self.ask(ctx),
            Input::Message { .. } | Input::WentOffline | Input::CameBack => {}
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Answering {
    questions: VecDeque<(PartyId, f64)>,
    alarms: u64,
}

impl Answering {
    fn think(&mut self, ctx: &mut Context<'_, Talk>) {
        ctx.after(ms(20), ProcessTimer(self.alarms));
        self.alarms += 1;
    }
}

impl Party<Talk> for Answering {
    fn handle(&mut self, input: Input<Talk>, ctx: &mut Context<'_, Talk>) {
        match input {
            Input::Message { from, message } => {
                self.questions.push_back((from, message));
                if self.questions.len() == 1 {
                    self.think(ctx);
                }
            }
            Input::Timer(_) => {
                let (from, question) = self.questions.pop_front().expect("it thought about one");
                ctx.send(from, question);
                if !self.questions.is_empty() {
                    self.think(ctx);
                }
            }
            Input::Start | Input::WentOffline | Input::CameBack => {}
        }
    }
}

/// 80 ms each way in the median, a third of all messages lost.
fn lossy(seed: u64) -> NetworkMedium {
    let latency = LogNormal { median: ms(80), sigma: NonNegative::new(0.7).unwrap() }.into();
    let loss = Independent(Probability::new(0.3).unwrap()).into();
    let network = Network::new(Mesh {}.into(), Link { latency, loss, ..Link::default() });
    let names = ["asks".to_owned(), "answers".to_owned()];
    network.medium(
        &names,
        &[PartyTraits::default(), PartyTraits::default()],
        Key::root(seed).child("network"),
    )
}

fn process(body: impl AsyncFn(Ctx) + 'static) -> Process<Talk> {
    Process::new(Key::root(1), body)
}

fn end<M: Medium>(world: &mut World<M>) -> (Option<Ending>, String, Vec<(u64, f64)>) {
    let mut facts = Vec::new();
    let ending = world.run(Limits::default(), &mut |at, event| {
        if let Event::Recorded { fact, .. } = event {
            facts.push((at.nanos() / 1_000_000, **fact));
        }
    });
    (ending.ok(), world.journal().hex(), facts)
}

#[test]
fn a_process_and_a_state_machine_that_do_the_same_have_one_digest() {
    type Make = fn() -> Box<dyn Party<Talk>>;
    for seed in 0..8 {
        let asks: [Make; 2] = [|| Box::new(process(asking)), || Box::new(Asking::default())];
        let answers: [Make; 2] = [|| Box::new(process(answering)), || Box::new(Answering::default())];
        let played = asks.iter().flat_map(|asks| {
            answers.iter().map(move |answers| {
                let mut world = World::new(vec![asks(), answers()], lossy(seed));
                let (ending, digest, facts) = end(&mut world);
                (ending, digest, facts, world.journal().counts())
            })
        });
        let played: Vec<_> = played.collect();
        assert_eq!(played[0].0, Some(Ending::Stopped));
        assert_eq!(played[0].2.len(), ROUNDS as usize);
        assert!(played[0].3.lost > 10, "questions were asked again");
        assert!(played.iter().all(|other| *other == played[0]), "seed {seed}");
    }
}

/// Goes on up to a moment.
fn resume<M: Medium>(world: &mut World<M>, until: Span) {
    let limits = Limits { until: Time::ZERO + until, ..Limits::default() };
    assert_eq!(world.run(limits, &mut |_, _| {}), Ok(Ending::TimeUp));
}

/// Asks without waiting for an answer for longer than 300 ms, and draws.
async fn impatient(ctx: Ctx) {
    for round in 0..ROUNDS {
        ctx.send(PartyId(0), f64::from(round));
        ctx.record(ctx.stream("pauses").uniform());
        let _ = ctx.receive_within(ms(300)).await;
    }
    ctx.stop();
}

#[test]
fn a_running_process_is_not_copied_unless_it_keeps_its_inputs() {
    let world = |asks: Process<Talk>| {
        let parties: Vec<Box<dyn Party<Talk>>> = vec![Box::new(Answering::default()), Box::new(asks)];
        World::new(parties, lossy(3))
    };
    let mut plain = world(process(impatient));
    assert!(plain.fork().is_ok(), "nothing has run yet");
    resume(&mut plain, ms(1000));
    let refused = plain.fork().expect_err("its process runs");
    assert_eq!((refused.party, refused.reason), (PartyId(1), CannotCopy::RunningProcess));
    assert!(refused.to_string().contains("forkable"), "{refused}");
    let whole = end(&mut world(process(impatient)));
    // Some of these moments lie between a question and an answer in time, whose alarm the copy has to cancel.
    for moment in (1000..3000).step_by(110) {
        let mut kept = world(process(impatient).forkable());
        resume(&mut kept, ms(moment));
        let mut copy = kept.fork().expect("it keeps its inputs");
        let mut again = copy.fork().expect("and so does a copy");
        let facts = |played: (Option<Ending>, String, Vec<(u64, f64)>)| (played.0, played.1, played.2.len());
        let rest = facts(end(&mut copy));
        assert_eq!((&rest.0, &rest.1), (&whole.0, &whole.1), "at {moment} ms");
        assert_eq!(facts(end(&mut kept)), rest);
        assert_eq!(facts(end(&mut again)), rest);
        assert!(rest.2 > 5, "the copies have something to do");
    }
}

#[test]
fn a_fork_of_a_running_process_is_refused_with_its_name() {
    let stage = |fork| {
        let mut stage =
            ReplicationSetup::new(["asks", "answers"], Network::new(Mesh {}.into(), Link::default()));
        stage.options.fork = fork;
        stage
    };
    let played = |fork, asks: Process<Talk>| {
        let parties: Vec<Box<dyn Party<Talk>>> = vec![Box::new(asks), Box::new(Answering::default())];
        stage(fork).run("talk", parties, Key::root(1), &mut |_, _| {})
    };
    let trunk = || Some(Fork::Trunk(ForkPoint::At(ms(50)), ForkStates::default()));
    let error = played(trunk(), process(asking)).expect_err("it cannot be copied");
    assert!(
        matches!(&error, ReplicationError::CannotFork { series, party, .. } if series == "talk" && party == "asks")
    );
    assert!(error.to_string().contains("series \"talk\" cannot be forked: party \"asks\""), "{error}");
    let plain = played(None, process(asking)).unwrap().digest;
    assert_eq!(played(trunk(), process(asking).forkable()).unwrap().digest, plain);
}

/// No delays; one party is away as told.
#[derive(Clone, Debug)]
struct Away(Vec<Switch>);

impl Medium for Away {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        Delivery::Arrives(parcel.at)
    }

    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        (party == PartyId(0) && !self.0.is_empty()).then(|| self.0.remove(0))
    }
}

fn at(second: u64) -> Time {
    Time::from_nanos(second * 1_000_000_000)
}

#[test]
fn a_crash_stops_a_process_or_begins_it_anew_by_what_it_leaves() {
    let facts = |crashed| {
        let away = [
            Switch { at: at(3), online: false, crashed: Some(crashed) },
            Switch { at: at(10), online: true, crashed: None },
        ];
        let counts = process(|ctx: Ctx| async move {
            let draw = ctx.stream("draw").word();
            for second in 1..=5u32 {
                ctx.sleep(ms(1000)).await;
                ctx.record(f64::from(second));
            }
            ctx.record(draw as f64);
        });
        let facts = end(&mut World::new(vec![Box::new(counts)], Away(away.to_vec()))).2;
        (facts.iter().map(|fact| fact.0).collect::<Vec<_>>(), facts.last().map(|fact| fact.1))
    };
    // The alarm of second 3 comes after the crash of that instant: it is held, or never rings.
    let (kept, draw) = facts(Memory::Kept);
    assert_eq!(kept, [1000, 2000, 10_000, 11_000, 12_000, 12_000]);
    let (lost, other) = facts(Memory::Lost);
    assert_eq!(lost, [1000, 2000, 11_000, 12_000, 13_000, 14_000, 15_000, 15_000]);
    assert_ne!(draw, other, "it draws anew");
}

#[test]
fn a_change_of_the_connection_can_be_waited_for() {
    let away = vec![Switch::connection(at(2), false), Switch::connection(at(5), true)];
    let watches = process(|ctx: Ctx| async move {
        for _ in 0..2 {
            let online = ctx.connection_change().await;
            ctx.record(f64::from(u8::from(online)));
        }
    });
    let keeps_on = process(|ctx: Ctx| async move { ctx.sleep(ms(9000)).await });
    let mut world = World::new(vec![Box::new(watches), Box::new(keeps_on)], Away(away));
    assert_eq!(end(&mut world).2, [(2000, 0.0), (5000, 1.0)]);
}

/// Facts of one process alone, over a medium without delay.
fn alone(body: impl AsyncFn(Ctx) + 'static) -> Vec<(u64, f64)> {
    end(&mut World::new(vec![Box::new(process(body))], PerfectMedium)).2
}

#[test]
fn tasks_go_on_in_the_order_of_what_they_wait_for() {
    let facts = alone(|ctx: Ctx| async move {
        for (task, pause) in [(1.0, 30), (2.0, 10), (3.0, 30), (4.0, 10)] {
            let own = ctx.clone();
            ctx.spawn(async move {
                own.record(task);
                own.sleep(ms(pause)).await;
                own.record(10.0 + task);
                own.sleep(ms(0)).await;
                own.record(20.0 + task);
            });
        }
        ctx.record(0.0);
    });
    let expected = [
        (0, [0.0, 1.0, 2.0, 3.0, 4.0].as_slice()),
        (10, &[12.0, 14.0, 22.0, 24.0]),
        (30, &[11.0, 13.0, 21.0, 23.0]),
    ];
    let expected = expected.iter().flat_map(|(at, facts)| facts.iter().map(move |fact| (*at, *fact)));
    assert_eq!(facts, expected.collect::<Vec<_>>());
}

#[test]
fn messages_wait_for_who_wants_them_and_a_timeout_takes_nothing_away() {
    let facts = alone(|ctx: Ctx| async move {
        let me = ctx.me();
        // Nothing comes in time, and what comes later is still there.
        ctx.record(ctx.receive_within(ms(5)).await.map_or(-1.0, |(_, message)| message));
        for message in [1.0, 2.0, 3.0, 4.0] {
            ctx.send(me, message);
        }
        ctx.sleep(ms(5)).await;
        ctx.record(ctx.receive_if(|_, message| *message > 2.5).await.1);
        ctx.discard(|_, message| *message == 1.0);
        ctx.record(ctx.receive().await.1);
        // What is ready at the very end of a timeout is in time; a sleep counts from its call.
        let long = ctx.sleep(ms(20));
        ctx.sleep(ms(10)).await;
        ctx.record(if ctx.timeout(ms(10), long).await.is_some() { 1.0 } else { 0.0 });
        ctx.record(ctx.receive().await.1);
        ctx.record(if ctx.timeout(ms(1), ctx.receive()).await.is_some() { 1.0 } else { 0.0 });
    });
    assert_eq!(facts, [(5, -1.0), (10, 3.0), (10, 2.0), (30, 1.0), (30, 4.0), (31, 0.0)]);
}

#[test]
fn two_receivers_take_turns_and_nothing_is_left_behind() {
    let taken = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&taken);
    let body = move |ctx: Ctx| {
        let into = Rc::clone(&into);
        async move {
            for receiver in 0..2 {
                let (own, into) = (ctx.clone(), Rc::clone(&into));
                ctx.spawn(async move {
                    loop {
                        let (_, message) = own.receive().await;
                        into.borrow_mut().push((receiver, message));
                    }
                });
            }
            for message in 0..4 {
                ctx.sleep(ms(1)).await;
                ctx.send(ctx.me(), f64::from(message));
            }
        }
    };
    let mut world = World::new(vec![Box::new(process(body))], PerfectMedium);
    assert_eq!(end(&mut world).0, Some(Ending::Quiet));
    assert_eq!(*taken.borrow(), [(0, 0.0), (1, 1.0), (0, 2.0), (1, 3.0)]);
    drop(world);
    assert_eq!(Rc::strong_count(&taken), 1, "a process that is dropped drops its tasks");
}
