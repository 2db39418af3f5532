//! Servers and queues against queueing theory: M/M/k, Little's law, preemption; and the compute model `Servers`.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;
use subrosa::kernel::{
    Claim, Context, Discipline, Event, Input, Limits, Party, PerfectMedium, Process, ProcessContext,
    ProcessTimer, Protocol, RequestResult, Resource, ResourceStatistics, SharedResource, Simulation,
};
use subrosa::network::compute::{ComputeModel, Drawn, Servers};
use subrosa::network::latency::{Constant, Exponential};
use subrosa::network::topology::Mesh;
use subrosa::network::{Link, Network, PartyTraits};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{PartyId, Span, Time};

#[derive(Clone, Debug)]
struct Talk;

impl Protocol for Talk {
    type Message = f64;
    type Timer = ProcessTimer;
    type Fact = f64;
}

type Ctx = ProcessContext<Talk>;

fn servers(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

/// Customers per second, and what one of three servers deals with: 80 % of what they can.
const ARRIVALS: f64 = 2.4;
const SERVICES: f64 = 1.0;
const SERVERS: u32 = 3;
const CUSTOMERS: usize = 150_000;

fn exponential(stream: &mut Stream, rate: f64) -> Span {
    Span::from_seconds(stream.exponential() / rate)
}

/// One customer: whether the system was empty, and what is measured of it.
type Customer = (bool, [f64; 2]);

/// Ratio estimates over regenerative cycles (a cycle begins when a customer finds nobody), with their standard errors:
/// cycles are independent, so the central limit theorem holds for them whatever happens within one.
fn estimates(customers: &[Customer]) -> [(f64, f64); 2] {
    let mut cycles: Vec<(f64, [f64; 2])> = Vec::new();
    for (empty, measured) in customers {
        if *empty {
            cycles.push((0.0, [0.0; 2]));
        }
        let (count, sums) = cycles.last_mut().expect("the first customer finds nobody");
        *count += 1.0;
        sums.iter_mut().zip(measured).for_each(|(sum, value)| *sum += value);
    }
    let customers: f64 = cycles.iter().map(|cycle| cycle.0).sum();
    [0, 1].map(|which| {
        let ratio = cycles.iter().map(|cycle| cycle.1[which]).sum::<f64>() / customers;
        let squares: f64 = cycles.iter().map(|cycle| (cycle.1[which] - ratio * cycle.0).powi(2)).sum();
        (ratio, squares.sqrt() / customers)
    })
}

/// Erlang's C: the probability that a customer of M/M/k waits; and the mean wait.
fn erlang_c() -> (f64, f64) {
    let load = ARRIVALS / SERVICES;
    let mut term = 1.0;
    let mut sum = 0.0;
    for busy in 0..SERVERS {
        sum += term;
        term *= load / f64::from(busy + 1);
    }
    let last = term / (1.0 - load / f64::from(SERVERS));
    let waits = last / (sum + last);
    (waits, waits / (f64::from(SERVERS) * SERVICES - ARRIVALS))
}

/// A normal variable is further than this many standard errors off once in 150,000 times.
const FAR: f64 = 4.5;

fn agrees(what: &str, (estimate, error): (f64, f64), exact: f64) {
    println!("{what}: {estimate:.4} +- {error:.4}, exactly {exact:.4}");
    assert!((estimate - exact).abs() < FAR * error, "{what}: {estimate} +- {error} for {exact}");
    assert!(error < 0.05 * exact, "{what}: {error} tells something about {exact}");
}

/// What the customers of one process found, and what its resource says.
type Queueing = (Vec<Customer>, ResourceStatistics);

/// M/M/k written as a process.
fn by_process() -> Queueing {
    let found = Rc::new(RefCell::new((vec![(false, [0.0; 2]); CUSTOMERS], None)));
    let into = Rc::clone(&found);
    let body = move |ctx: Ctx| {
        let into = Rc::clone(&into);
        async move {
            let (mut arrivals, mut services) = (ctx.stream("arrivals"), ctx.stream("services"));
            let desk = SharedResource::new(servers(SERVERS), Discipline::Fifo);
            for customer in 0..CUSTOMERS {
                ctx.sleep(exponential(&mut arrivals, ARRIVALS)).await;
                let (own, into, desk) = (ctx.clone(), Rc::clone(&into), desk.clone());
                let service = exponential(&mut services, SERVICES);
                ctx.spawn(async move {
                    let (before, came) = (desk.statistics(own.now()), own.now());
                    let claim = own.acquire(&desk, 0).await;
                    let waited = own.now().since(came).seconds();
                    let delayed = if waited > 0.0 { 1.0 } else { 0.0 };
                    into.borrow_mut().0[customer] = (before.waiting + before.serving == 0, [delayed, waited]);
                    own.sleep(service).await;
                    drop(claim);
                    into.borrow_mut().1 = Some(desk.statistics(own.now()));
                });
            }
        }
    };
    let party = Process::<Talk>::new(Key::root(5), body);
    let mut world = Simulation::new(vec![Box::new(party)], PerfectMedium).without_digest();
    world.run(Limits::default(), &mut |_, _| {}).unwrap();
    let (customers, statistics) = found.borrow().clone();
    (customers, statistics.expect("somebody was served"))
}

/// The timers of a state machine: the next customer, and the end of a service.
#[derive(Clone, Debug)]
enum Timer {
    Next,
    Done(Claim),
}

impl subrosa::kernel::Digestible for Timer {
    fn digest(&self, digest: &mut subrosa::kernel::Digest) {
        match self {
            Self::Next => digest.word(0),
            Self::Done(claim) => claim.digest(digest),
        }
    }
}

#[derive(Clone, Debug)]
struct ClaimTable;

impl Protocol for ClaimTable {
    type Message = f64;
    type Timer = Timer;
    type Fact = f64;
}

/// M/M/k written as a state machine. A job is a customer, when it came, and how long its service takes.
#[derive(Clone, Debug)]
struct Clerk {
    arrivals: Stream,
    services: Stream,
    desk: Resource<(usize, Time, Span)>,
    customers: usize,
}

impl Party<ClaimTable> for Clerk {
    fn handle(&mut self, input: Input<ClaimTable>, ctx: &mut Context<'_, ClaimTable>) {
        let begun = match input {
            Input::Start => None,
            Input::Timer(Timer::Next) => {
                let service = exponential(&mut self.services, SERVICES);
                let RequestResult { claim, served, .. } =
                    self.desk.request(ctx.now(), 0, (self.customers, ctx.now(), service));
                self.customers += 1;
                served.then_some(claim)
            }
            Input::Timer(Timer::Done(claim)) => {
                self.desk.leave(ctx.now(), claim).and_then(|freed| freed.next)
            }
            Input::Message { .. } | Input::WentOffline | Input::CameBack => return,
        };
        if let Some(claim) = begun
            && let Some((_, came, service)) = self.desk.job_mut(claim)
        {
            ctx.record(ctx.now().since(*came).seconds());
            ctx.after(*service, Timer::Done(claim));
        }
        if matches!(input, Input::Start | Input::Timer(Timer::Next)) && self.customers < CUSTOMERS {
            ctx.after(exponential(&mut self.arrivals, ARRIVALS), Timer::Next);
        }
    }
}

#[test]
fn m_m_k_waits_as_erlang_says_and_littles_law_is_exact() {
    let (customers, statistics) = by_process();
    let [delayed, waited] = estimates(&customers);
    let (probability, mean) = erlang_c();
    agrees("probability of waiting", delayed, probability);
    agrees("mean wait in seconds", waited, mean);
    let waits: Vec<f64> = customers.iter().map(|customer| customer.1[1]).collect();
    // Little's law: the queue's length over time is what its customers waited, to the nanosecond.
    let nanos: u128 = waits.iter().map(|wait| u128::from(Span::from_seconds(*wait).nanos())).sum();
    assert_eq!((statistics.queue_area, statistics.in_queue, statistics.until_begun), (nanos, nanos, nanos));
    let delayed = waits.iter().filter(|wait| **wait > 0.0).count() as u64;
    assert_eq!((statistics.requests, statistics.done, statistics.delayed), (150_000, 150_000, delayed));
    assert_eq!((statistics.waiting, statistics.serving, statistics.withdrawn), (0, 0, 0));
    // Services are as long as they were drawn.
    let mut services = Key::root(5).child("services").stream();
    let busy: u128 = (0..CUSTOMERS).map(|_| u128::from(exponential(&mut services, SERVICES).nanos())).sum();
    assert_eq!(statistics.busy, busy);
    assert!((statistics.utilisation() - 0.8).abs() < 0.02);
    assert!((statistics.mean_wait_seconds() - waited.0).abs() < 1e-9);
    assert_eq!(statistics.share_delayed(), delayed as f64 / 150_000.0);
    assert_eq!(statistics.mean_waiting(), nanos as f64 / statistics.at.nanos() as f64);
}

#[test]
fn a_resource_that_was_never_used_has_means_of_zero() {
    let statistics = Resource::<u8>::new(servers(2), Discipline::Fifo).statistics(Time::ZERO);
    assert_eq!((statistics.utilisation(), statistics.mean_waiting()), (0.0, 0.0));
}

#[test]
fn a_state_machine_has_the_same_queue_as_a_process() {
    let key = Key::root(5);
    let (arrivals, services) = (key.child("arrivals").stream(), key.child("services").stream());
    let desk = Resource::new(servers(SERVERS), Discipline::Fifo);
    let clerk = Clerk { arrivals, services, desk, customers: 0 };
    let mut world = Simulation::new(vec![Box::new(clerk)], PerfectMedium).without_digest();
    let mut waits = Vec::new();
    let mut watch = |_: Time, event: &Event<'_, ClaimTable>| {
        if let Event::Recorded { fact, .. } = event {
            waits.push(**fact);
        }
    };
    world.run(Limits::default(), &mut watch).unwrap();
    // In order of arrival, which is the order of service.
    assert_eq!(waits, by_process().0.iter().map(|customer| customer.1[1]).collect::<Vec<_>>());
}

/// What happens at one desk: `(customer, second)` for each end of a service.
fn ends(discipline: Discipline, count: u32, jobs: &[(u64, i64, u64)]) -> Vec<(f64, f64)> {
    let jobs = jobs.to_vec();
    let body = move |ctx: Ctx| {
        let jobs = jobs.clone();
        async move {
            let desk = SharedResource::new(servers(count), discipline);
            for (customer, (at, priority, seconds)) in (0..).zip(jobs) {
                let (own, desk) = (ctx.clone(), desk.clone());
                ctx.spawn(async move {
                    own.sleep(Span::from_millis(1000 * at)).await;
                    own.serve(&desk, priority, Span::from_millis(1000 * seconds)).await;
                    own.record(f64::from(customer));
                });
            }
        }
    };
    let mut world = Simulation::new(vec![Box::new(Process::<Talk>::new(Key::root(1), body))], PerfectMedium);
    let mut ends = Vec::new();
    let mut watch = |at: Time, event: &Event<'_, Talk>| {
        if let Event::Recorded { fact, .. } = event {
            ends.push((**fact, at.seconds()));
        }
    };
    world.run(Limits::default(), &mut watch).unwrap();
    ends
}

#[test]
fn disciplines_serve_in_their_order() {
    // One job of 10 s, then three that ask while it is served.
    let jobs = [(0, 5, 10), (1, 5, 1), (2, 9, 1), (3, 1, 1)];
    let order = |discipline| ends(discipline, 1, &jobs);
    assert_eq!(order(Discipline::Fifo), [(0.0, 10.0), (1.0, 11.0), (2.0, 12.0), (3.0, 13.0)]);
    assert_eq!(order(Discipline::Lifo), [(0.0, 10.0), (3.0, 11.0), (2.0, 12.0), (1.0, 13.0)]);
    assert_eq!(order(Discipline::Priority), [(0.0, 10.0), (3.0, 11.0), (1.0, 12.0), (2.0, 13.0)]);
    // The first is interrupted from 3 s to 4 s, and comes before the second, which asked later.
    assert_eq!(order(Discipline::Preemptive), [(3.0, 4.0), (0.0, 11.0), (1.0, 12.0), (2.0, 13.0)]);
}

#[test]
fn of_two_servers_the_later_job_of_the_lowest_class_is_interrupted() {
    let jobs = [(0, 7, 10), (1, 7, 10), (2, 3, 4), (3, 3, 4), (4, 3, 4)];
    // At 2 s job 1 loses its server, at 3 s job 0; job 4 is of the class that has both and waits.
    let expected = [(2.0, 6.0), (3.0, 7.0), (4.0, 10.0), (0.0, 14.0), (1.0, 19.0)];
    assert_eq!(ends(Discipline::Preemptive, 2, &jobs), expected);
}

/// Jobs of two classes at random.
fn random_jobs(low: bool) -> Vec<(u64, i64, u64)> {
    let mut stream = Key::root(11).stream();
    let jobs = (0..400).map(|_| (stream.below(2000), stream.below(2) as i64, 1 + stream.below(4)));
    jobs.collect::<Vec<_>>().into_iter().filter(|job| low || job.1 == 0).collect()
}

#[test]
fn the_first_class_never_notices_the_second_if_it_preempts() {
    let high: Vec<u64> = random_jobs(true).iter().map(|job| u64::from(job.1 == 0)).collect();
    let all = ends(Discipline::Preemptive, 2, &random_jobs(true));
    assert_eq!(all.len(), 400);
    let seconds = |ends: Vec<(f64, f64)>| ends.into_iter().map(|end| end.1).collect::<Vec<_>>();
    let first = all.into_iter().filter(|end| high[end.0 as usize] == 1).collect();
    assert_eq!(seconds(first), seconds(ends(Discipline::Preemptive, 2, &random_jobs(false))));
}

/// Customers who leave the queue after 3 s, some of whom are interrupted; the resource at the end of each second.
#[test]
fn littles_law_is_exact_under_every_discipline_with_impatient_customers() {
    for discipline in [Discipline::Fifo, Discipline::Lifo, Discipline::Priority, Discipline::Preemptive] {
        let moments = Rc::new(RefCell::new(Vec::new()));
        let into = Rc::clone(&moments);
        let body = move |ctx: Ctx| {
            let into = Rc::clone(&into);
            async move {
                let desk = SharedResource::new(servers(2), discipline);
                for (at, priority, seconds) in random_jobs(true) {
                    let (own, desk) = (ctx.clone(), desk.clone());
                    ctx.spawn(async move {
                        own.sleep(Span::from_millis(250 * at)).await;
                        let patience = Span::from_millis(3000);
                        let Some(claim) = own.timeout(patience, own.acquire(&desk, priority)).await else {
                            return;
                        };
                        // Whoever is interrupted goes home, at once or a second later.
                        if own.hold(&claim, Span::from_millis(1000 * seconds)).await.is_err() && seconds > 2 {
                            own.sleep(Span::from_millis(1000)).await;
                        }
                    });
                }
                for _ in 0..600 {
                    ctx.sleep(Span::from_millis(999)).await;
                    into.borrow_mut().push(desk.statistics(ctx.now()));
                }
            }
        };
        let party = Process::<Talk>::new(Key::root(1), body);
        let mut world = Simulation::new(vec![Box::new(party)], PerfectMedium);
        world.run(Limits::default(), &mut |_, _| {}).unwrap();
        let moments = moments.borrow();
        assert!(moments.iter().all(|moment| moment.queue_area == moment.in_queue), "{discipline:?}");
        assert!(moments.iter().any(|moment| moment.waiting > 0), "{discipline:?}");
        let last = moments.last().unwrap();
        assert!(last.withdrawn > 0 && last.until_begun <= last.in_queue, "{discipline:?}");
        assert_eq!(last.preemptions > 0, discipline == Discipline::Preemptive);
        assert_eq!((last.requests, last.requests), (400, last.done + last.withdrawn), "{discipline:?}");
        assert_eq!(last.begun, last.done, "{discipline:?}");
    }
}

#[test]
fn a_place_in_the_queue_is_given_up_with_the_future() {
    let desk = SharedResource::new(servers(1), Discipline::Fifo);
    let seen = desk.clone();
    let body = move |ctx: Ctx| {
        let desk = desk.clone();
        async move {
            let claim = ctx.acquire(&desk, 0).await;
            assert!(claim.is_served());
            let late = ctx.timeout(Span::from_millis(10), ctx.acquire(&desk, 0)).await;
            assert!(late.is_none());
            drop(claim);
            assert!(ctx.timeout(Span::from_millis(10), ctx.acquire(&desk, 0)).await.is_some());
        }
    };
    let mut world = Simulation::new(vec![Box::new(Process::<Talk>::new(Key::root(1), body))], PerfectMedium);
    world.run(Limits::default(), &mut |_, _| {}).unwrap();
    let statistics = seen.statistics(world.now());
    assert_eq!((statistics.requests, statistics.begun, statistics.withdrawn), (3, 2, 1));
    assert_eq!((statistics.waiting, statistics.serving, statistics.most_waiting), (0, 0, 1));
    assert_eq!((statistics.busy, statistics.in_queue), (10_000_000, 10_000_000));
}

/// What a task with a server of 2 s sees when a job of a better class takes the server at `at` (in ms): the result of
/// its use, and whether it has the server before, at and after its return.
fn interrupted_at(at: u64) -> (Result<(), Span>, [bool; 3]) {
    let seen = Rc::new(RefCell::new(None));
    let into = Rc::clone(&seen);
    let body = move |ctx: Ctx| {
        let into = Rc::clone(&into);
        async move {
            let desk = SharedResource::new(servers(1), Discipline::Preemptive);
            let (own, other) = (ctx.clone(), desk.clone());
            // The job of the better class is scheduled first, and therefore handled first at equal times.
            ctx.spawn(async move {
                own.sleep(Span::from_millis(at)).await;
                own.serve(&other, 0, Span::from_millis(500)).await;
            });
            ctx.sleep(Span::ZERO).await;
            let claim = ctx.acquire(&desk, 9).await;
            let before = claim.is_served();
            let used = ctx.hold(&claim, Span::from_millis(2000)).await.map_err(|preempted| preempted.left);
            let then = claim.is_served();
            claim.regained().await;
            *into.borrow_mut() = Some((used, [before, then, claim.is_served()]));
        }
    };
    let mut world = Simulation::new(vec![Box::new(Process::<Talk>::new(Key::root(1), body))], PerfectMedium);
    world.run(Limits::default(), &mut |_, _| {}).unwrap();
    seen.take().expect("the task has ended")
}

/// A job that has been served in full when it loses its server has ended; before that, it knows what is left.
#[test]
fn a_job_loses_its_server_before_its_end_at_its_end_and_never() {
    assert_eq!(interrupted_at(1500), (Err(Span::from_millis(500)), [true, false, true]));
    assert_eq!(interrupted_at(2000), (Ok(()), [true, false, true]));
    assert_eq!(interrupted_at(2001), (Ok(()), [true, true, true]));
}

/// Sends a message at every moment of a Poisson process.
fn source() -> Process<Talk> {
    Process::new(Key::root(9), async |ctx: Ctx| {
        let mut arrivals = ctx.stream("arrivals");
        for customer in 0..CUSTOMERS {
            ctx.sleep(exponential(&mut arrivals, ARRIVALS)).await;
            ctx.send(PartyId(1), customer as f64);
        }
    })
}

/// When each message came and when the work on it was done, by the other party's compute model.
fn worked(compute: ComputeModel) -> (Vec<(Time, Time)>, String) {
    let names = ["source".to_owned(), "worker".to_owned()];
    let network =
        Network::new(Mesh {}.into(), Link { latency: Constant(Span::ZERO).into(), ..Link::default() });
    let traits = [PartyTraits::default(), PartyTraits { compute, ..PartyTraits::default() }];
    let medium = network.medium(&names, &traits, Key::root(9).child("network"));
    let idle = Process::new(Key::root(9), async |_: Ctx| ());
    let mut world = Simulation::new(vec![Box::new(source()), Box::new(idle)], medium);
    let mut times = vec![(Time::ZERO, Time::ZERO); CUSTOMERS];
    let mut watch = |at: Time, event: &Event<'_, Talk>| {
        if let Event::Handled { message, sent_at, .. } = event {
            times[**message as usize] = (*sent_at, at);
        }
    };
    world.run(Limits::default(), &mut watch).unwrap();
    (times, world.journal().hex())
}

fn drawn() -> ComputeModel {
    Drawn { time: Exponential { mean: Span::from_seconds(1.0 / SERVICES) }.into() }.into()
}

#[test]
fn a_party_with_several_servers_is_the_queue_m_m_k() {
    let (times, _) = worked(Servers { count: servers(SERVERS), each: Box::new(drawn()) }.into());
    let mut latest = Time::ZERO;
    let customers = times.iter().map(|(came, done)| {
        let empty = latest <= *came;
        latest = latest.max(*done);
        (empty, [done.since(*came).seconds(), 1.0])
    });
    let [stayed, _] = estimates(&customers.collect::<Vec<_>>());
    agrees("mean time from arrival to the end", stayed, erlang_c().1 + 1.0 / SERVICES);
    assert!(times.windows(2).any(|pair| pair[0].1 > pair[1].1), "jobs overtake each other");
}

#[test]
fn one_server_is_what_it_was_and_a_thousand_never_wait() {
    let one = Servers { count: servers(1), each: Box::new(drawn()) };
    assert_eq!(worked(one.into()), worked(drawn()));
    // The same draws with as many servers as there are ever jobs: no job waits.
    let (times, _) = worked(Servers { count: servers(1000), each: Box::new(drawn()) }.into());
    let stayed: f64 = times.iter().map(|(came, done)| done.since(*came).seconds()).sum();
    let error = 1.0 / SERVICES / (CUSTOMERS as f64).sqrt();
    assert!((stayed / CUSTOMERS as f64 - 1.0 / SERVICES).abs() < FAR * error);
}
