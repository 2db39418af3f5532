//! Hundreds of random networks from one seed: with faults, and with the faults lifted. `SUBROSA_SWARM_SEED` picks
//! another seed; a failure prints the seed and the network.

use subrosa::kernel::{Ending, Event, Limits, Memory, Simulation};
use subrosa::network::availability::{Always, AvailabilityModel, Crashing, OnOff, PerMessage, Scheduled};
use subrosa::network::compute::{ComputeModel, Drawn, Heterogeneous, Straggling};
use subrosa::network::latency::{
    Constant, Exponential, Jittered, LatencyModel, LogNormal, Normal, Pareto, Uniform,
};
use subrosa::network::loss::{GilbertElliott, Independent, LossModel, NoLoss};
use subrosa::network::outage::{Blackout, OutageModel, Partition, Regional};
use subrosa::network::throughput::LineRate;
use subrosa::network::topology::{Clusters, Edges, Mesh, Ring, Star};
use subrosa::network::{Access, Bandwidth, Link, LinkRule, Network, Order, PartyTraits, TopologyModel};
use subrosa::protocols::echo::{EchoProtocol, Fact, parties};
use subrosa::protocols::{Backoff, Retry};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{NonNegative, PartyId, Positive, Probability, Rate, Span, Time};

const SCENARIOS: u64 = 400;
const TIMEOUT: Span = Span::from_millis(200);
const ATTEMPTS: u32 = 40;

#[derive(Clone, Debug)]
struct Scenario {
    names: Vec<String>,
    traits: Vec<PartyTraits>,
    network: Network,
    rounds: u64,
}

fn probability(stream: &mut Stream, most: f64) -> Probability {
    Probability::new(stream.uniform() * most).unwrap()
}

fn millis(stream: &mut Stream, least: u64, most: u64) -> Span {
    Span::from_millis(least + stream.below(most - least + 1))
}

fn latency(stream: &mut Stream) -> LatencyModel {
    match stream.below(8) {
        0 => LatencyModel::from(Constant(Span::ZERO)),
        1 => LatencyModel::from(Constant(millis(stream, 1, 40))),
        2 => LatencyModel::from(Uniform { low: millis(stream, 0, 5), high: millis(stream, 5, 60) }),
        3 => LatencyModel::from(Exponential { mean: millis(stream, 1, 30) }),
        4 => LatencyModel::from(LogNormal {
            median: millis(stream, 1, 30),
            sigma: NonNegative::new(stream.uniform()).unwrap(),
        }),
        5 => LatencyModel::from(Normal { mean: millis(stream, 0, 30), sd: millis(stream, 1, 20) }),
        6 => LatencyModel::from(Jittered {
            base: millis(stream, 1, 20),
            jitter: Box::new(Exponential { mean: millis(stream, 1, 10) }.into()),
        }),
        _ => LatencyModel::from(Pareto {
            shortest: millis(stream, 1, 10),
            shape: Positive::new(1.2 + 2.0 * stream.uniform()).unwrap(),
        }),
    }
}

fn link(stream: &mut Stream) -> Link {
    let loss = match stream.below(3) {
        0 => LossModel::from(NoLoss {}),
        1 => LossModel::from(Independent(probability(stream, 0.5))),
        _ => LossModel::from(GilbertElliott {
            worsens: Probability::new(0.01 + 0.2 * stream.uniform()).unwrap(),
            recovers: Probability::new(0.2 + 0.5 * stream.uniform()).unwrap(),
            loss_good: probability(stream, 0.1),
            loss_bad: probability(stream, 1.0),
        }),
    };
    let rate = Rate::from_bits_per_second(64_000.0 * (1.0 + 99.0 * stream.uniform()));
    let buffer = stream.bernoulli(0.5).then(|| 80 + stream.below(2000));
    Link {
        latency: latency(stream),
        loss,
        bandwidth: rate.filter(|_| stream.bernoulli(0.3)).map(|rate| Bandwidth { rate: rate.into(), buffer }),
        order: if stream.bernoulli(0.5) { Order::Fifo } else { Order::Reordering },
        duplication: if stream.bernoulli(0.3) {
            probability(stream, 0.5)
        } else {
            Probability::new(0.0).unwrap()
        },
    }
}

fn party(stream: &mut Stream, caller: bool) -> PartyTraits {
    let period = |stream: &mut Stream, least, most| {
        LatencyModel::from(Exponential { mean: millis(stream, least, most) })
    };
    let availability = match stream.below(6) {
        0 => AvailabilityModel::from(PerMessage {
            heard: Probability::new(0.5 + 0.5 * stream.uniform()).unwrap(),
        }),
        1 => AvailabilityModel::from(OnOff::new(period(stream, 50, 3000), period(stream, 1, 1000))),
        2 => AvailabilityModel::from(Scheduled {
            // A caller that is gone for good makes no calls: its last switch brings it back.
            online: stream.bernoulli(0.5) && !caller,
            switches: vec![millis(stream, 0, 500), millis(stream, 501, 2000), millis(stream, 2001, 9000)],
        }),
        3 => {
            let lost = stream.bernoulli(0.5);
            let memory = if lost { Memory::Lost } else { Memory::Kept };
            // A caller that forgets its open call asks again from the first: it must live long enough to give up.
            let life = LatencyModel::from(Constant(millis(stream, 9000, 20_000)));
            let up = if caller { life } else { period(stream, 20, 3000) };
            AvailabilityModel::from(Crashing { up, down: period(stream, 1, 1000), memory })
        }
        _ => AvailabilityModel::from(Always {}),
    };
    let time = LatencyModel::from(Exponential { mean: millis(stream, 1, 20) });
    let compute = match stream.below(5) {
        0 => ComputeModel::from(Drawn { time }),
        1 => ComputeModel::from(Heterogeneous { time, sigma: NonNegative::new(0.5).unwrap() }),
        2 => ComputeModel::from(Straggling {
            time,
            probability: probability(stream, 0.2),
            factor: Positive::new(5.0).unwrap(),
        }),
        _ => ComputeModel::default(),
    };
    let rate = |stream: &mut Stream| {
        let rate = Rate::from_bits_per_second(64_000.0 * (1.0 + 99.0 * stream.uniform()));
        rate.filter(|_| stream.bernoulli(0.2)).map(LineRate::from)
    };
    let group = if stream.bernoulli(0.5) { "north" } else { "south" };
    let access = Access { up: rate(stream), down: rate(stream) };
    PartyTraits { group: Some(group.to_owned()), number: 0, availability, compute, access, together: None }
}

fn scenario(stream: &mut Stream) -> Scenario {
    let population = 2 + stream.below(9) as usize;
    let names: Vec<String> = (0..population).map(|index| format!("p{index}")).collect();
    let mut traits: Vec<PartyTraits> = (0..population).map(|index| party(stream, index == 0)).collect();
    // Both groups exist.
    traits[0].group = Some("north".to_owned());
    traits[1].group = Some("south".to_owned());
    let any = |stream: &mut Stream| names[stream.below(population as u64) as usize].clone();
    let topology = match stream.below(5) {
        0 => TopologyModel::from(Ring { order: vec![] }),
        1 => TopologyModel::from(Mesh {}),
        2 => TopologyModel::from(Clusters {
            gateways: [("north", "p0"), ("south", "p1")].map(|(g, p)| (g.to_owned(), p.to_owned())).into(),
        }),
        // A random tree.
        3 => TopologyModel::from(Edges(
            (1..population)
                .map(|child| (names[child].clone(), names[stream.below(child as u64) as usize].clone()))
                .collect(),
        )),
        _ => TopologyModel::from(Star { hub: any(stream) }),
    };
    let mut network = Network::new(topology, link(stream));
    for _ in 0..stream.below(4) {
        let from = if stream.bernoulli(0.3) { "north".to_owned() } else { any(stream) };
        network.links.push(LinkRule::new(&from, &any(stream), link(stream)));
    }
    for _ in 0..stream.below(3) {
        let from = millis(stream, 0, 2000);
        let until = from + millis(stream, 1, 3000);
        let group = if stream.bernoulli(0.5) { "north" } else { "south" }.to_owned();
        network.outages.push(match stream.below(3) {
            0 => OutageModel::from(Partition {
                groups: vec!["north".to_owned(), "south".to_owned()],
                from,
                until,
            }),
            1 => OutageModel::from(Blackout { group, from, until }),
            _ => OutageModel::from(Regional { group, up: latency(stream), down: latency(stream) }),
        });
    }
    // Regions whose periods have no length are refused by `check`.
    network.outages.retain(|outage| outage.as_dyn().problems().is_empty());
    let scenario = Scenario { names, traits, network, rounds: 1 + stream.below(4) };
    assert_eq!(scenario.network.problems(&scenario.names, &scenario.traits), [], "{scenario:?}");
    scenario
}

/// The same link without losses, copies (whose answers may keep a slow party busy for good) and delays that last
/// longer than all attempts together.
fn calm(link: Link) -> Link {
    let latency = match link.latency.get() {
        Some(&Pareto { shortest, .. }) => Pareto { shortest, shape: Positive::new(4.0).unwrap() }.into(),
        None => link.latency,
    };
    Link {
        latency,
        loss: LossModel::from(NoLoss {}),
        bandwidth: link.bandwidth.map(|bandwidth| Bandwidth { buffer: None, ..bandwidth }),
        duplication: Probability::new(0.0).unwrap(),
        ..link
    }
}

/// The same world without losses, absences, crashes and outages.
fn lifted(scenario: &Scenario) -> Scenario {
    let mut lifted = scenario.clone();
    for party in &mut lifted.traits {
        party.availability = AvailabilityModel::from(Always {});
    }
    lifted.network.outages.clear();
    lifted.network.default = calm(lifted.network.default);
    for rule in &mut lifted.network.links {
        let LinkRule { from, to, latency, loss, bandwidth, order, duplication } = rule.clone();
        *rule = LinkRule::new(&from, &to, calm(Link { latency, loss, bandwidth, order, duplication }));
    }
    lifted
}

#[derive(Debug, PartialEq)]
struct Outcome {
    ending: Ending,
    answered: u64,
    gave_up: u64,
    lost: u64,
    doubled: u64,
    crashes: u64,
    digest: String,
}

fn play(scenario: &Scenario, key: Key) -> Outcome {
    let medium = scenario.network.medium(&scenario.names, &scenario.traits, key);
    // A caller that forgets its open call asks again from the first: it gives up before it forgets.
    let forgets =
        matches!(scenario.traits[0].availability.get(), Some(Crashing { memory: Memory::Lost, .. }));
    let backoff = if forgets { Backoff::Constant } else { Backoff::default() };
    let retry = Retry { timeout: TIMEOUT, attempts: ATTEMPTS.try_into().unwrap(), backoff };
    let parties = parties(scenario.names.len(), PartyId(0), scenario.rounds, (retry, key.child("retries")));
    let mut simulation = Simulation::<EchoProtocol>::new(parties, Box::new(medium));
    let (mut answered, mut gave_up, mut crashes) = (0, 0, 0);
    let limits = Limits { until: Time::ZERO + Span::from_seconds(1e6), events_per_instant: 100_000 };
    let ending = simulation
        .run(limits, &mut |_, event| match event {
            Event::Recorded { fact: Fact::Answered(_), .. } => answered += 1,
            Event::Recorded { fact: Fact::GaveUp(_), .. } => gave_up += 1,
            Event::Switched { crashed: Some(_), .. } => crashes += 1,
            _ => {}
        })
        .unwrap_or_else(|error| panic!("{error} in {scenario:?}"));
    let tally = simulation.journal().counts();
    assert_eq!(
        tally.sent + tally.doubled,
        tally.delivered + tally.lost + simulation.in_flight(),
        "{tally:?} in {scenario:?}"
    );
    let digest = simulation.journal().hex();
    Outcome { ending, answered, gave_up, lost: tally.lost, doubled: tally.doubled, crashes, digest }
}

#[test]
fn every_round_closes_with_faults_and_without() {
    let seed = std::env::var("SUBROSA_SWARM_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(2026);
    println!("SUBROSA_SWARM_SEED={seed}");
    let (mut lost, mut gave_up, mut doubled, mut crashes) = (0, 0, 0, 0);
    for index in 0..SCENARIOS {
        let key = Key::root(seed).child("swarm").index(index);
        let scenario = scenario(&mut key.child("scenario").stream());
        let place = format!("seed {seed}, scenario {index}: {scenario:?}");
        let calls = scenario.rounds * (scenario.names.len() as u64 - 1);

        let faulty = play(&scenario, key.child("network"));
        assert_eq!(faulty.ending, Ending::Stopped, "{place}");
        assert_eq!(faulty.answered + faulty.gave_up, calls, "{place}");
        assert_eq!(faulty, play(&scenario, key.child("network")), "{place}");

        let calm = play(&lifted(&scenario), key.child("network"));
        assert_eq!(calm.ending, Ending::Stopped, "{place}");
        assert_eq!((calm.answered, calm.gave_up, calm.lost), (calls, 0, 0), "{place}");
        lost += faulty.lost;
        gave_up += faulty.gave_up;
        doubled += faulty.doubled;
        crashes += faulty.crashes;
    }
    // The swarm is worth its name only if all of this happens in it.
    println!("lost {lost}, gave up {gave_up}, doubled {doubled}, crashes {crashes}");
    assert!(lost > 1000 && gave_up > 0 && doubled > 100 && crashes > 100);
}
