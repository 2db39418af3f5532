//! The kernel and the network through the dummy protocol `echo`.

use subrosa::kernel::{Ending, Event, Limits, Medium, Simulation};
use subrosa::network::availability::{Always, AvailabilityModel, OnOff, PerMessage};
use subrosa::network::latency::{Constant, Exponential, LatencyModel, LogNormal};
use subrosa::network::loss::{Independent, LossModel};
use subrosa::network::topology::Star;
use subrosa::network::{Link, LinkRule, Network, PartyTraits, TopologyModel};
use subrosa::protocols::Retry;
use subrosa::protocols::echo::{EchoProtocol, Fact, parties};
use subrosa::rng::Key;
use subrosa::vocab::{NonNegative, PartyId, Probability, Span, Time};

fn names(population: usize) -> Vec<String> {
    (0..population).map(|i| if i == 0 { "caller".to_owned() } else { format!("listener-{i}") }).collect()
}

fn lognormal() -> LatencyModel {
    LatencyModel::from(LogNormal { median: Span::from_millis(40), sigma: NonNegative::new(0.5).unwrap() })
}

fn lossy(probability: f64) -> LossModel {
    LossModel::from(Independent(Probability::new(probability).unwrap()))
}

fn star(default: Link, links: Vec<LinkRule>) -> Network {
    let topology = TopologyModel::from(Star { hub: "caller".to_owned() });
    Network { links, ..Network::new(topology, default) }
}

struct Played {
    ending: Ending,
    digest: String,
    answered: u64,
    gave_up: u64,
    delays: Vec<u64>,
    sent: u64,
    delivered: u64,
    lost: u64,
    end: Time,
}

fn traits(availability: &[AvailabilityModel]) -> Vec<PartyTraits> {
    let party = |availability: &AvailabilityModel| PartyTraits {
        availability: availability.clone(),
        ..PartyTraits::default()
    };
    availability.iter().map(party).collect()
}

fn play(network: &Network, availability: &[AvailabilityModel], rounds: u64, seed: u64) -> Played {
    let names = names(availability.len());
    let medium = network.medium(&names, &traits(availability), Key::root(seed).child("network"));
    let retry = Retry { timeout: Span::from_millis(500), ..Retry::default() };
    let parties = parties(names.len(), PartyId(0), rounds, (retry, Key::root(seed).child("retries")));
    let mut simulation = Simulation::<EchoProtocol>::new(parties, Box::new(medium));
    let (mut answered, mut gave_up, mut delays) = (0, 0, Vec::new());
    let ending = simulation
        .run(Limits::default(), &mut |at, event| match event {
            Event::Recorded { fact: Fact::Answered(_), .. } => answered += 1,
            Event::Recorded { fact: Fact::GaveUp(_), .. } => gave_up += 1,
            Event::Delivered { sent_at, .. } => delays.push((at - *sent_at).nanos()),
            Event::Sent { .. }
            | Event::Lost { .. }
            | Event::Doubled { .. }
            | Event::Handled { .. }
            | Event::TimerFired { .. }
            | Event::Switched { .. } => {}
        })
        .unwrap();
    let tally = simulation.journal().counts();
    Played {
        ending,
        digest: simulation.journal().hex(),
        answered,
        gave_up,
        delays,
        sent: tally.sent,
        delivered: tally.delivered,
        lost: tally.lost,
        end: simulation.now(),
    }
}

fn always(population: usize) -> Vec<AvailabilityModel> {
    vec![AvailabilityModel::from(Always {}); population]
}

#[test]
fn a_perfect_network_answers_every_call_once() {
    let link = Link { latency: LatencyModel::from(Constant(Span::from_millis(5))), ..Link::default() };
    let played = play(&star(link, vec![]), &always(4), 10, 1);
    assert_eq!((played.answered, played.gave_up, played.lost), (30, 0, 0));
    assert_eq!(played.ending, Ending::Stopped);
    // 30 calls, one after another, 5 ms each way.
    assert_eq!(played.end, Time::from_nanos(300_000_000));
}

#[test]
fn the_same_seed_gives_the_same_digest_and_another_seed_another() {
    let link = Link { latency: lognormal(), loss: lossy(0.2), ..Link::default() };
    let digest = |seed| play(&star(link.clone(), vec![]), &always(3), 20, seed).digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn losses_and_absences_lose_no_call_and_count_none_twice() {
    let period = |ms| LatencyModel::from(Exponential { mean: Span::from_millis(ms) });
    let availability = vec![
        AvailabilityModel::from(OnOff::new(period(3000), period(400))),
        AvailabilityModel::from(PerMessage { heard: Probability::new(0.7).unwrap() }),
        AvailabilityModel::from(OnOff::new(period(1000), period(1000))),
    ];
    for seed in 0..20 {
        let link = Link { latency: lognormal(), loss: lossy(0.2), ..Link::default() };
        let played = play(&star(link, vec![]), &availability, 25, seed);
        assert_eq!(played.answered + played.gave_up, 50, "seed {seed}");
        assert_eq!(played.gave_up, 0, "a hundred askings get through at these rates (seed {seed})");
        assert!(played.lost > 0);
        assert!(played.sent >= played.delivered + played.lost);
    }
}

#[test]
fn a_dead_link_is_given_up_and_nothing_hangs() {
    let dead = LinkRule::new("caller", "listener-1", Link { loss: lossy(1.0), ..Link::default() });
    let played = play(&star(Link::default(), vec![dead]), &always(3), 2, 5);
    assert_eq!((played.answered, played.gave_up), (2, 2));
    assert_eq!(played.ending, Ending::Stopped);
}

#[test]
fn a_party_that_answers_from_afar_is_reached_through_the_hub() {
    // The hub is a listener: the caller and listener-2 have no link of their own.
    let network = Network::new(
        TopologyModel::from(Star { hub: "listener-1".to_owned() }),
        Link { latency: LatencyModel::from(Constant(Span::from_millis(5))), ..Link::default() },
    );
    let played = play(&network, &always(3), 1, 1);
    assert_eq!(played.answered, 2);
    assert_eq!(played.delays, [5, 5, 10, 10].map(|ms| ms * 1_000_000));
}

#[test]
fn turning_loss_off_moves_no_delay() {
    // Message k of a link takes draw k: on a link without loss the delays begin as on the same link with loss.
    let with = |loss| Link { latency: lognormal(), loss, ..Link::default() };
    let names = names(2);
    let delays = |link: Link| {
        let mut medium = star(link, vec![]).medium(&names, &traits(&always(2)), Key::root(9));
        (0..50)
            .map(|_| {
                let parcel = subrosa::kernel::MessageHeader {
                    from: PartyId(0),
                    to: PartyId(1),
                    bytes: 1,
                    at: Time::ZERO,
                };
                medium.transmit(parcel)
            })
            .collect::<Vec<_>>()
    };
    let (clean, lossy) = (delays(with(LossModel::default())), delays(with(lossy(0.5))));
    let mut kept = 0;
    for (clean, lossy) in clean.iter().zip(&lossy) {
        if let subrosa::kernel::Delivery::Arrives(_) = lossy {
            assert_eq!(clean, lossy);
            kept += 1;
        }
    }
    assert!((10..40).contains(&kept), "{kept}");
}

#[test]
fn a_change_of_one_link_moves_no_other_links_draws() {
    let rule =
        |loss| LinkRule::new("caller", "listener-1", Link { latency: lognormal(), loss, ..Link::default() });
    let transcript = |loss| {
        let link = Link { latency: lognormal(), ..Link::default() };
        let mut medium = star(link, vec![rule(loss)]).medium(&names(3), &traits(&always(3)), Key::root(9));
        (0..50)
            .map(|_| {
                let mut send = |from, to| {
                    medium.transmit(subrosa::kernel::MessageHeader {
                        from: PartyId(from),
                        to: PartyId(to),
                        bytes: 1,
                        at: Time::ZERO,
                    })
                };
                send(0, 1);
                (send(1, 0), send(0, 2), send(2, 0))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(transcript(LossModel::default()), transcript(lossy(0.9)));
}

/// A party of its own for what crashes do: it works on words, sets a timer at the start, and says what happens.
mod crashes {
    use crate::words::{Word, World};
    use subrosa::kernel::{
        Context, Delivery, Ending, Event, Input, Limits, Medium, Memory, MessageHeader, Party, Simulation,
        Switch,
    };
    use subrosa::vocab::{PartyId, Span, Time};

    /// Party 0 sends words at 10, 20, 30 and 60 ms.
    #[derive(Debug, Clone)]
    struct Source;

    impl Party<World> for Source {
        fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
            match input {
                Input::Start => {
                    for at in [10, 20, 30, 60] {
                        ctx.after(Span::from_millis(at), Word(at));
                    }
                }
                Input::Timer(word) => ctx.send(PartyId(1), word),
                Input::Message { .. } | Input::WentOffline | Input::CameBack => {}
            }
        }
    }

    /// Party 1 records what reaches it; 1000 for its timer, 2000 for a start, 3000 and 4000 for going and coming.
    #[derive(Debug, Clone)]
    struct Victim;

    impl Party<World> for Victim {
        fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
            let word = match input {
                Input::Start => {
                    ctx.after(Span::from_millis(35), Word(0));
                    2000
                }
                Input::Message { message, .. } => message.0,
                Input::Timer(_) => 1000,
                Input::WentOffline => 3000,
                Input::CameBack => 4000,
            };
            ctx.record(Word(word));
        }

        fn restarted(&self) -> Option<Box<dyn Party<World>>> {
            Some(Box::new(Self))
        }
    }

    /// No delay; the victim takes 15 ms per word and is down from 25 to 50 ms.
    #[derive(Debug)]
    struct Weather {
        memory: Memory,
        switches: Vec<(u64, bool)>,
        free_at: Time,
    }

    impl Medium for Weather {
        fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
            Delivery::Arrives(parcel.at)
        }
        fn occupied(&mut self, _: PartyId, _: f64, now: Time) -> Span {
            self.free_at = self.free_at.max(now) + Span::from_millis(15);
            self.free_at - now
        }
        fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
            let (at, online) = if party == PartyId(1) { self.switches.pop()? } else { return None };
            let at = Time::ZERO + Span::from_millis(at);
            Some(Switch { at, online, crashed: (!online).then_some(self.memory) })
        }
    }

    fn play(memory: Memory) -> (Vec<(u64, u64)>, u64) {
        let weather = Weather { memory, switches: vec![(50, true), (25, false)], free_at: Time::ZERO };
        let parties: Vec<Box<dyn Party<World>>> = vec![Box::new(Source), Box::new(Victim)];
        let mut simulation = Simulation::new(parties, Box::new(weather));
        let mut records = Vec::new();
        let ending = simulation.run(Limits::default(), &mut |at, event| {
            if let Event::Recorded { fact, .. } = event {
                records.push((at.nanos() / 1_000_000, fact.0));
            }
        });
        assert_eq!(ending, Ok(Ending::Quiet));
        (records, simulation.journal().counts().lost)
    }

    #[test]
    fn memory_kept_holds_timers_and_work_until_the_party_is_back() {
        // Word 10 is done at 25 ms, in the same instant as the crash and scheduled after it: held. Word 20, due at
        // 40 ms, and the timer of 35 ms are held too, in their order. Word 30 finds nobody.
        let (records, lost) = play(Memory::Kept);
        let expected = [(0, 2000), (25, 3000), (50, 4000), (50, 10), (50, 1000), (50, 20), (75, 60)];
        assert_eq!(records, expected);
        assert_eq!(lost, 1);
    }

    #[test]
    fn memory_lost_drops_them_and_the_party_starts_again() {
        let (records, lost) = play(Memory::Lost);
        // The second start's timer runs out at 85 ms; nothing of the first life happens.
        assert_eq!(records, [(0, 2000), (50, 2000), (75, 60), (85, 1000)]);
        assert_eq!(lost, 1);
    }
}
