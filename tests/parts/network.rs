//! The scenarios in scenarios/network: each shows what it says, and bad input is refused at its place.

use crate::support::{code_and_output, root, subrosa};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use subrosa::kernel::{LossCause, Memory};
use subrosa::objectives::Resources;
use subrosa::protocols::{SeriesRecord, TraceEvent, TraceKind, Watcher};
use subrosa::scenario::Document;
use subrosa::study::{self, Plan};
use subrosa::vocab::{PartyId, Time};

struct Played {
    names: Vec<String>,
    events: Vec<TraceEvent>,
    record: SeriesRecord,
}

fn folder() -> PathBuf {
    root().join("scenarios/network")
}

fn plan(name: &str, overrides: &[&str]) -> Plan {
    let document = Document::load(&folder().join(format!("{name}.ron"))).expect("the file is there");
    let resources = Resources { base: folder(), ..Resources::default() };
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let cells = document.cells(&overrides, &resources).unwrap_or_else(|found| panic!("{}", found.render()));
    Plan::new(document.text().to_owned(), overrides, &resources, cells)
}

fn play(name: &str, overrides: &[&str]) -> Played {
    let plan = plan(name, overrides);
    let events = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&events);
    let watcher = Watcher::new(move |_, event| seen.borrow_mut().push(event));
    let mut played = study::trace(&plan, 0, 0, watcher).expect("it can be played");
    let events = events.borrow().clone();
    let names = plan.cells[0].scenario.draft().parties.keys().cloned().collect();
    Played { names, events, record: played.series.remove(0) }
}

impl Played {
    fn id(&self, name: &str) -> PartyId {
        let index = self.names.iter().position(|known| known == name).expect("a party");
        PartyId(u32::try_from(index).unwrap())
    }

    /// (sent, arrived) of the messages between two parties, in order of arrival.
    fn arrivals(&self, from: &str, to: &str) -> Vec<(Time, Time)> {
        let (from, to) = (self.id(from), self.id(to));
        let deliveries = self.events.iter().filter_map(|event| match &event.kind {
            TraceKind::Delivered(parcel, sent) if (parcel.from, parcel.to) == (from, to) => {
                Some((*sent, event.at))
            }
            _ => None,
        });
        deliveries.collect()
    }

    fn delays_in_millis(&self, from: &str, to: &str) -> Vec<f64> {
        let millis = |(sent, arrived): &(Time, Time)| (*arrived - *sent).seconds() * 1e3;
        self.arrivals(from, to).iter().map(millis).collect()
    }

    fn lost(&self, why: LossCause) -> Vec<Time> {
        let lost = self
            .events
            .iter()
            .filter(|event| matches!(event.kind, TraceKind::Lost(_, found) if found == why));
        lost.map(|event| event.at).collect()
    }

    fn switches(&self, name: &str) -> Vec<(f64, bool)> {
        let party = self.id(name);
        let changes = self.events.iter().filter_map(|event| match event.kind {
            TraceKind::Switched(found, online, _) if found == party => Some((event.at.seconds(), online)),
            _ => None,
        });
        changes.collect()
    }
}

#[test]
fn every_scenario_plays_to_its_end_and_again_the_same() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ron") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("// "), "{name} does not say what it shows");
        let (one, two) = (play(name, &[]), play(name, &[]));
        // Some of its parties leave for good, so calls to them are never answered.
        let all_stay = name != "recorded";
        assert_eq!(one.record.ended_early.is_none(), all_stay, "{name}: {:?}", one.record.ended_early);
        assert_eq!(one.record.digest, two.record.digest, "{name}");
        count += 1;
    }
    assert_eq!(count, 16);
}

#[test]
fn bursts_lose_the_same_share_in_longer_runs() {
    let runs = |overrides: &[&str]| {
        let played = play("bursts", overrides);
        // Fates of the messages from the caller to a, in order of sending: all are immediate but the arrival.
        let (caller, a) = (played.id("caller"), played.id("a"));
        let (mut lost, mut bursts, mut sent, mut last) = (0u32, 0u32, 0u32, false);
        let mut open = false;
        for event in &played.events {
            match &event.kind {
                TraceKind::Sent(parcel) if (parcel.from, parcel.to) == (caller, a) => {
                    last = if sent > 0 { open } else { false };
                    (sent, open) = (sent + 1, false);
                }
                TraceKind::Lost(parcel, LossCause::Link) if (parcel.from, parcel.to) == (caller, a) => {
                    open = true;
                    lost += 1;
                    bursts += u32::from(!last);
                }
                _ => {}
            }
        }
        (f64::from(lost) / f64::from(sent), f64::from(lost) / f64::from(bursts))
    };
    let rounds = "protocol.rounds=2000";
    let (share, length) = runs(&[rounds]);
    let (plain_share, plain_length) = runs(&[rounds, "network.default.loss=Independent(0.1666667)"]);
    // About 3,300 messages: se of the share 0.0155 with bursts (see the unit test of the law) and 0.0065 without;
    // of the lengths, from about 140 and 460 bursts, 0.29 and 0.023. Six of each.
    assert!(
        (share - 1.0 / 6.0).abs() < 0.093 && (plain_share - 1.0 / 6.0).abs() < 0.039,
        "{share} {plain_share}"
    );
    assert!((length - 4.0).abs() < 1.74 && (plain_length - 1.2).abs() < 0.14, "{length} {plain_length}");
}

#[test]
fn delays_follow_their_laws() {
    let played = play("delays", &["protocol.rounds=2000"]);
    let sorted = |from: &str| {
        let mut delays = played.delays_in_millis(from, "caller");
        delays.sort_by(f64::total_cmp);
        delays
    };
    // 2,000 draws. The standard error of a sample median is 1 / (2 f(m) sqrt(n)), f the density at the median m:
    // 0.42 for the normal (sd 15), 0.49 for the lognormal, 0.63 for the Pareto, 0.22 for the exponential that is added
    // to 30 ms. Six of them.
    let medians =
        [("normal", 40.1, 2.6), ("lognormal", 35.0, 3.0), ("pareto", 28.28, 3.8), ("jittered", 36.93, 1.4)];
    for (from, median, bound) in medians {
        let delays = sorted(from);
        assert_eq!(delays.len(), 2000);
        assert!((delays[1000] - median).abs() < bound, "{from}: {}", delays[1000]);
    }
    assert!(sorted("normal")[0] >= 0.0 && sorted("pareto")[0] >= 20.0);
    assert!((30.0..30.1).contains(&sorted("jittered")[0]), "the least of 2,000 is 0.005 ms above on average");
    let measured = sorted("measured");
    assert!(
        measured
            .iter()
            .all(|delay| [28, 29, 30, 31, 32, 33, 35, 121].iter().any(|d| f64::from(*d) == *delay))
    );
    assert_eq!((measured[0], measured[1999]), (28.0, 121.0));
}

#[test]
fn a_narrow_link_queues_and_a_full_buffer_loses() {
    let played = play("bandwidth", &[]);
    let arrivals = played.arrivals("caller", "behind-a-narrow-link");
    for pair in arrivals.windows(2) {
        assert!((pair[1].1 - pair[0].1).seconds() >= 0.05, "{pair:?}");
    }
    assert!(arrivals.iter().any(|(sent, arrived)| (*arrived - *sent).seconds() > 0.061), "some wait");
    assert!(!played.lost(LossCause::QueueFull).is_empty());
    // 10 ms on the way and 12.5 ms down, more when messages wait; 25 ms up.
    let down = played.delays_in_millis("caller", "home").into_iter().fold(f64::INFINITY, f64::min);
    let up = played.delays_in_millis("home", "caller").into_iter().fold(f64::INFINITY, f64::min);
    assert_eq!((down, up), (22.5, 35.0));
}

#[test]
fn fifo_keeps_the_order_and_reordering_does_not() {
    let in_order = |overrides: &[&str]| {
        let arrivals = play("order", overrides).arrivals("caller", "a");
        arrivals.windows(2).all(|pair| pair[0].0 <= pair[1].0)
    };
    assert!(in_order(&[]));
    assert!(!in_order(&["network.default.order=Reordering"]));
}

#[test]
fn copies_are_counted_and_answers_are_not_counted_twice() {
    let played = play("duplication", &[]);
    let count = |wanted: fn(&TraceKind) -> bool| played.events.iter().filter(|e| wanted(&e.kind)).count();
    assert!(count(|kind| matches!(kind, TraceKind::Doubled(_))) > 10);
    assert_eq!(count(|kind| matches!(kind, TraceKind::Recorded(..))), 100);
    let quiet = play("duplication", &["network.default.duplication=0"]);
    let first = |played: &Played| played.arrivals("caller", "a")[0];
    assert_eq!(first(&played).0, first(&quiet).0);
}

#[test]
fn messages_take_the_quickest_route() {
    let delay = |scenario: &str, from: &str, to: &str| play(scenario, &[]).delays_in_millis(from, to)[0];
    assert_eq!(delay("ring", "a", "d"), 15.0);
    assert_eq!(delay("ring", "a", "f"), 5.0);
    assert_eq!(delay("mesh", "a", "d"), 10.0);
    assert_eq!(delay("mesh", "d", "a"), 5.0);
    assert_eq!(delay("clusters", "paris", "quito"), 8.0 + 90.0 + 8.0);
    assert_eq!(delay("clusters", "quito", "paris"), 8.0 + 95.0 + 8.0);
    assert_eq!(delay("edges", "office", "cloud"), 10.0);
    assert_eq!(delay("edges", "office", "phone"), 15.0);
}

#[test]
fn a_partition_cuts_its_groups_apart_and_only_meanwhile() {
    let played = play("partition", &[]);
    let during = |at: f64| (1.0..3.0).contains(&at);
    let cut = played.lost(LossCause::Partition);
    assert!(!cut.is_empty() && cut.iter().all(|at| during(at.seconds())));
    // Messages to the south pass the cut link 25 ms after they were sent.
    assert!(played.arrivals("caller", "south").iter().all(|(sent, _)| !during(sent.seconds() + 0.025)));
    assert!(played.arrivals("caller", "south").iter().any(|(sent, _)| sent.seconds() > 3.0));
    assert_eq!(played.record.messages_lost as usize, cut.len());
}

#[test]
fn a_region_goes_down_and_comes_back_together() {
    let played = play("outages", &[]);
    assert!(played.switches("a1").len() > 2);
    assert_eq!(played.switches("a1"), played.switches("a2"));
    assert_eq!(played.switches("b1"), [(0.5, false), (1.5, true)]);
    assert_eq!(played.switches("caller"), []);
}

#[test]
fn crashes_keep_or_lose_what_a_party_was_doing() {
    let played = play("crashes", &[]);
    let kept = |name: &str, memory: Memory| {
        let party = played.id(name);
        let crashes = played.events.iter().filter(|event| {
            matches!(event.kind, TraceKind::Switched(found, false, Some(m)) if found == party && m == memory)
        });
        crashes.count()
    };
    assert!(kept("keeps", Memory::Kept) > 3 && kept("forgets", Memory::Lost) > 3);
    let sent = |name: &str| {
        let party = played.id(name);
        played.events.iter().filter(|e| matches!(&e.kind, TraceKind::Sent(p) if p.from == party)).count()
    };
    // Calls that were heard are answered, but for those that were being worked on when memory was lost.
    assert_eq!(sent("keeps"), played.arrivals("caller", "keeps").len());
    assert!(sent("forgets") < played.arrivals("caller", "forgets").len());
}

#[test]
fn availability_follows_calendar_and_recording() {
    let played = play("availability", &[]);
    assert_eq!(played.switches("by-the-calendar"), [(0.2, false), (0.9, true)]);
    let recorded = played.switches("as-recorded");
    let expected = [(0.3, true), (1.6, false), (1.9, true), (3.0, false), (3.3, true)];
    let shared = recorded.len().min(expected.len());
    assert!(shared >= 2, "{recorded:?}");
    assert_eq!(recorded[..shared], expected[..shared]);
}

#[test]
fn work_takes_the_time_of_the_device() {
    let played = play("speeds", &[]);
    let work = |name: &str| {
        let (caller, party) = (played.id("caller"), played.id(name));
        let (mut heard, mut times) = (Time::ZERO, Vec::new());
        for event in &played.events {
            match &event.kind {
                TraceKind::Delivered(p, _) if (p.from, p.to) == (caller, party) => heard = event.at,
                TraceKind::Sent(p) if p.from == party => {
                    times.push(((event.at - heard).nanos() / 1000) as u32)
                }
                _ => {}
            }
        }
        times
    };
    assert!(work("fixed").iter().all(|micros| *micros == 20_000));
    let straggling = work("straggling");
    assert!(straggling.iter().all(|micros| [20_000, 160_000].contains(micros)));
    assert!(straggling.contains(&160_000));
    // One device for the whole run.
    let device = work("a-device");
    assert!([50_000, 20_000, 10_526, 5_000].contains(&device[0]), "{device:?}");
    assert!(device.iter().all(|micros| *micros == device[0]));
}

#[test]
fn bad_input_is_refused_at_its_place() {
    let refused = |scenario: &str, change: &str, wanted: &[&str]| {
        let file = format!("scenarios/network/{scenario}.ron");
        let (code, _, stderr) = code_and_output(&subrosa(&["check", &file, "-o", change]));
        assert_eq!(code, 3, "{change}: {stderr}");
        for text in wanted {
            assert!(stderr.contains(text), "{change}: no \"{text}\" in {stderr}");
        }
    };
    refused("ring", "network.default.latency=Constant(\"-4ms\")", &["-4ms", "\"40ms\""]);
    refused("ring", "network.topology.order=[\"a\", \"z\"]", &["no party is called \"z\""]);
    refused("delays", "network.default.latency=Pareto(shortest: \"1ms\", shape: 0.9)", &["a shape above 1"]);
    let jitter =
        "network.default.latency=Jittered(base: \"1ms\", jitter: Pareto(shortest: \"1ms\", shape: 0.9))";
    refused("delays", jitter, &["network.default.latency.jitter.shape", "a shape above 1"]);
    refused(
        "delays",
        "network.default.latency=Empirical(file: \"data/none.csv\", column: \"ms\")",
        &["none.csv"],
    );
    refused("bursts", "network.default.loss=GilbertElliott(worsens: 0.1, recovers: 0)", &["a loss of 1"]);
    refused(
        "edges",
        "network.topology=Edges([(\"office\", \"cloud\")])",
        &["a route between every two parties"],
    );
    refused(
        "clusters",
        "network.topology.gateways={\"europe\": \"berlin\"}",
        &["a gateway of the group \"america\""],
    );
    refused(
        "partition",
        "network.outages[0].groups=[\"north\", \"soth\"]",
        &["no group is called \"soth\"", "did you mean \"south\"?"],
    );
    refused("outages", "network.outages[1].until=\"10ms\"", &["a time after `from`"]);
    refused(
        "availability",
        "parties.by-the-calendar.availability.switches=[\"2s\", \"1s\"]",
        &["which is not later than the time before"],
    );
    refused("bandwidth", "network.links[0].bandwidth.rate=\"0bit/s\"", &["10Mbit/s"]);
    refused("speeds", "parties.a-device.compute.Devices.column=\"sped\"", &["no column is called \"sped\""]);
}

#[test]
fn a_trace_is_text_lines_or_a_picture() {
    let scenario = "scenarios/network/crashes.ron";
    let (code, text, _) = code_and_output(&subrosa(&["trace", scenario, "--until", "500ms"]));
    assert_eq!(code, 0);
    assert!(text.lines().count() > 10 && text.contains("caller -> "), "{text}");
    let (code, lines, _) =
        code_and_output(&subrosa(&["trace", scenario, "--format", "jsonl", "--from", "1s", "--until", "2s"]));
    assert_eq!(code, 0);
    assert!(lines.lines().count() > 10);
    for line in lines.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let nanos = event["nanos"].as_u64().unwrap();
        assert!((1_000_000_000..=2_000_000_000).contains(&nanos), "{line}");
    }
    let (code, picture, _) =
        code_and_output(&subrosa(&["trace", scenario, "--format", "svg", "--until", "1s"]));
    assert_eq!(code, 0);
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("class=\"sent\"") && picture.contains("crashed, memory"));
    let (code, _, stderr) =
        code_and_output(&subrosa(&["trace", scenario, "--format", "svg", "--from", "9h"]));
    assert_eq!(code, 2);
    assert!(stderr.contains("nothing happens in this window"), "{stderr}");
    assert!(Path::new(scenario).is_relative());
}
