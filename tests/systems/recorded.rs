//! Availability, devices, lines and delays from files in the formats of FLASH, FedScale, MobiPerf, round-trip matrices and
//! GraphML, through a scenario.

use crate::support::{code_and_output, root, subrosa};
use std::fs;
use std::path::Path;
use subrosa::kernel::Medium;
use subrosa::objectives::Resources;
use subrosa::rng::Key;
use subrosa::scenario::Document;
use subrosa::vocab::{PartyId, Span, Time};
use tempfile::TempDir;

/// Copies the small files into a folder and writes a scenario there.
fn place(text: &str) -> (TempDir, String) {
    let place = TempDir::new().unwrap();
    for entry in fs::read_dir(root().join("scenarios/network/data")).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, place.path().join(file.file_name().unwrap())).unwrap();
    }
    let path = place.path().join("recorded.ron");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (place, path)
}

fn scenario(party: &str, link: &str, rest: &str) -> String {
    format!(
        "Scenario(name: \"recorded\", seed: 3, parties: {{ \"server\": Party(), \"client\": {party}, \"relay\": Party() }},\n\
         network: Network({link}),\n protocol: Echo(caller: \"server\", {rest}))\n"
    )
}

/// `check` refuses the scenario and says all of `words`.
fn refused(text: &str, words: &[&str]) {
    let (_place, path) = place(text);
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &path]));
    assert_eq!(code, 3, "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "no {word:?} in {stderr}");
    }
}

/// The share of the first `seconds` for which the party called "client" is connected, by the network of a scenario.
fn share_connected(path: &str, seconds: u64) -> f64 {
    let resources = Resources { base: Path::new(path).parent().unwrap().to_owned(), ..Resources::default() };
    let cells = Document::load(Path::new(path)).unwrap().cells(&[], &resources).unwrap();
    let stage = cells[0].1.stage(None);
    let client = stage.names.iter().position(|name| name == "client").unwrap();
    let client = PartyId(u32::try_from(client).unwrap());
    let mut medium = stage.network.medium(&stage.names, &stage.traits, Key::root(5));
    let end = seconds * 1_000_000_000;
    let (mut online, mut last, mut connected) = (medium.starts_online(client), 0, 0);
    while last < end {
        let switch = medium.next_switch(client);
        let at = switch.map_or(end, |switch| switch.at.nanos().min(end));
        connected += if online { at - last } else { 0 };
        (online, last) = (switch.is_some_and(|switch| switch.online), at);
    }
    connected as f64 / end as f64
}

/// Device 0 of flash.json is charged, by WLAN and locked from 23:00 to 05:00 and from 05:10 to 06:30:10, and by WLAN from
/// 22:00 to 05:00 and from 05:10 to 08:00, in a recording of 24 hours; device 1 from 21:30 to 09:00 and from 09:20 to 17:00.
/// Over whole repetitions the simulated share of time is that of the file, from every offset; one that ends is the
/// recording once.
#[test]
fn a_party_is_connected_for_the_share_of_time_of_its_recording() {
    let day = 86_400;
    for (availability, seconds, connected) in [
        ("FlashTrace(file: \"flash.json\", device: Number(0))", 7 * day, 7 * 26_410),
        ("FlashTrace(file: \"flash.json\", device: Number(0), needs: [Wifi])", 7 * day, 7 * 35_400),
        ("FlashTrace(file: \"flash.json\", device: Number(0), battery: 100)", day, 7200 + 4810),
        ("FlashTrace(file: \"flash.json\", device: Number(1), offset: Drawn)", 7 * day, 7 * 69_000),
        ("FlashTrace(file: \"flash.json\", device: Number(1), end: Offline)", 7 * day, 69_000),
        (
            "FlashTrace(file: \"flash.json\", device: Number(0), offset: At(\"4h\"), end: Offline)",
            day,
            26_410 - 3600,
        ),
        ("FedScaleTrace(file: \"fedscale-availability.json\", device: Number(1))", 5 * 518_400, 5 * 172_800),
        (
            "FedScaleTrace(file: \"fedscale-availability.json\", device: Number(0), offset: Drawn)",
            400_000,
            200_000,
        ),
        (
            "FedScaleTrace(file: \"fedscale-availability.json\", device: Number(0), end: Offline)",
            800_000,
            200_000,
        ),
        ("DayAndNight(from: 22, until: 7, zones: [Zone(utc: 5.5)])", 9 * day, 9 * 9 * 3600),
    ] {
        let party = format!("Party(availability: {availability})");
        let (_place, path) = place(&scenario(&party, "topology: Mesh()", "rounds: 2"));
        let found = share_connected(&path, seconds) * seconds as f64;
        assert!((found - f64::from(connected)).abs() < 1e-3, "{availability}: {found} for {connected} s");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let with = |availability: &str| {
        scenario(&format!("Party(availability: {availability})"), "topology: Mesh()", "rounds: 2")
    };
    refused(
        &with("FlashTrace(file: \"flash.json\", device: Number(7))"),
        &["a device number below 3", "Number(7)"],
    );
    refused(&with("FlashTrace(file: \"flash.json\", device: Number(2))"), &["never online"]);
    refused(
        &with("FedScaleTrace(file: \"flash.json\")"),
        &["a list `active` of times", "client \"0\" of flash.json"],
    );
    refused(&with("FlashTrace(file: \"throughput.csv\")"), &["throughput.csv:1", "JSON object"]);
    let link = |latency: &str| {
        scenario("Party()", &format!("topology: Mesh(), default: Link(latency: {latency})"), "rounds: 2")
    };
    refused(
        &link("RoundTrips(file: \"round-trips.csv\")"),
        &["a site of round-trips.csv for every party", "\"client\""],
    );
    refused(
        &link("RoundTrips(file: \"round-trips.csv\", sites: { \"server\": [\"Tokio\"] })"),
        &["did you mean \"Tokyo\""],
    );
    let delays = "PathDelays(file: \"sites.graphml\", delay: Attribute(name: \"weight\", unit: \"1ms\"))";
    refused(&link(delays), &["an attribute of edges (delay)", "\"weight\""]);
    refused(
        &scenario("Party()", "topology: GraphMl(file: \"sites.graphml\")", "rounds: 2"),
        &["Milan & Turin", "a party for every node"],
    );
    let (place, path) = place(&with("FedScaleTrace(file: \"behave\")"));
    fs::write(place.path().join("behave"), [0x80, 0x04, 0x95, 0x10]).unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["check", &path]));
    assert!(
        code == 3 && stderr.contains("a Python pickle") && stderr.contains("pickle.load(open('behave'"),
        "{stderr}"
    );
}

/// Files of parties and networks are found in the folder of --data.
#[test]
fn files_are_found_in_the_folder_of_data() {
    let party = "Party(availability: FlashTrace(file: \"flash.json\", device: Number(0)))";
    let (place, path) = place(&scenario(party, "topology: Mesh()", "rounds: 2"));
    let elsewhere = TempDir::new().unwrap();
    fs::rename(place.path().join("flash.json"), elsewhere.path().join("flash.json")).unwrap();
    assert_eq!(code_and_output(&subrosa(&["check", &path])).0, 3);
    let data = elsewhere.path().to_str().unwrap();
    assert_eq!(code_and_output(&subrosa(&["check", &path, "--data", data])).0, 0);
}

/// A scenario with every recorded part is the same when it is replayed, with one and with two threads.
#[test]
fn recorded_parties_replay_with_any_number_of_threads() {
    let out = TempDir::new().unwrap();
    let file = root().join("scenarios/network/recorded.ron");
    let folder = out.path().join("run");
    let (file, folder) = (file.to_str().unwrap(), folder.to_str().unwrap());
    let ran =
        code_and_output(&subrosa(&["run", file, "--replications", "3", "--threads", "2", "--out", folder]));
    assert_eq!(ran.0, 0, "{}", ran.2);
    let inside = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let inside = inside.into_iter().find(|path| path.join("manifest.json").exists()).unwrap();
    let replayed = code_and_output(&subrosa(&["replay", inside.to_str().unwrap(), "--threads", "1"]));
    assert_eq!(replayed.0, 0, "{}{}", replayed.1, replayed.2);
}

/// Every profile has a line in README.md with its source, is named by a scenario that `check` accepts, and says the numbers
/// that it claims: speeds in order, 1 for the median.
#[test]
fn profiles_have_a_source_and_a_scenario() {
    let profiles = root().join("scenarios/profiles");
    let sources = fs::read_to_string(profiles.join("README.md")).unwrap();
    let scenario = fs::read_to_string(root().join("scenarios/network/profiles.ron")).unwrap();
    for entry in fs::read_dir(&profiles).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name != "README.md" {
            assert!(sources.contains(&format!("| `{name}` |")), "{name} has no source");
            assert!(scenario.contains(&name), "{name} is used by no scenario");
        }
    }
    let path = root().join("scenarios/network/profiles.ron");
    let (code, _, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
    let text = fs::read_to_string(profiles.join("phone-speeds.csv")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let speeds: Vec<f64> = rows.map(|row| row.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(speeds.is_sorted() && speeds.len() == 10 && speeds[4] < 1.0 && speeds[5] > 1.0, "{speeds:?}");
}

/// Delay and loss come from one file, by the network of a scenario: in each ten minutes of three hours, half of the round
/// trip and the share of losses are those of the file, whose hour is repeated.
#[test]
fn a_link_has_the_delays_and_losses_of_its_file() {
    let common = "time: \"seconds\", spacing: \"10min\"";
    let link = format!(
        "topology: Mesh(), default: Link(latency: DelayTrace(file: \"ping.csv\", delay: \"rtt_ms\", round_trips: true, {common}), \
         loss: LossTrace(file: \"ping.csv\", share: \"lost_percent\", of: 100, {common}))"
    );
    let (_place, path) =
        place(&scenario("Party()", &link, "rounds: 200, retry: Retry(timeout: \"9s\", attempts: 9)"));
    let (code, _, stderr) = code_and_output(&subrosa(&["run", &path]));
    assert_eq!(code, 0, "{stderr}");
    let resources = Resources { base: Path::new(&path).parent().unwrap().to_owned(), ..Resources::default() };
    let cells = Document::load(Path::new(&path)).unwrap().cells(&[], &resources).unwrap();
    let network = &cells[0].1.stage(None).network;
    let mut loss = network.default.loss.as_dyn().start();
    let file = [(24, 0.0), (26, 0.0), (95, 0.04), (240, 0.2), (110, 0.06), (31, 0.005)];
    for turn in 0..3 {
        for (index, (round_trip, share)) in file.into_iter().enumerate() {
            let at = Time::ZERO + Span::from_millis(1000 * (3600 * turn + 600 * index as u64 + 599));
            let delay = network.default.latency.as_dyn().quantile_at(at, 0.3);
            assert_eq!(delay, Span::from_nanos(500_000 * round_trip));
            let lost = (0..1000).filter(|k| loss.drops_at(at, (f64::from(*k) + 0.5) / 1000.0)).count();
            assert_eq!(lost, (1000.0 * share) as usize);
        }
    }
    assert!((network.default.loss.as_dyn().mean() - 0.305 / 6.0).abs() < 1e-12);
}

#[test]
fn a_bad_loss_is_refused_at_its_row() {
    let link = |loss: &str| {
        scenario("Party()", &format!("topology: Mesh(), default: Link(loss: {loss})"), "rounds: 2")
    };
    refused(
        &link("LossTrace(file: \"ping.csv\", share: \"lost_percent\", time: \"seconds\")"),
        &[
            "network.default.loss.file",
            "a share from 0 to 1 in column \"lost_percent\"",
            "4 in row 3",
            "of: 100",
        ],
    );
    refused(
        &link("Schedule(steps: [LossStep(at: \"0s\", is: LossTrace(file: \"none.csv\", share: \"x\"))])"),
        &["steps[0].is.file", "none.csv"],
    );
    refused(
        &link("LossTrace(file: \"ping.csv\", share: \"lost\")"),
        &["network.default.loss.share", "lost_percent"],
    );
}

/// Lost pings: with `missing: Drop` the delay before them holds on, and the first one from the beginning; otherwise all such
/// cells are named at once.
#[test]
fn lost_pings_are_no_measurement_or_all_named() {
    let link = |more: &str| {
        let latency =
            format!("DelayTrace(file: \"lost.csv\", delay: \"rtt_ms\", time: \"s\", spacing: \"10s\"{more})");
        scenario("Party()", &format!("topology: Mesh(), default: Link(latency: {latency})"), "rounds: 2")
    };
    let (place, path) = place(&link(", missing: Drop"));
    let file = place.path().join("lost.csv");
    fs::write(&file, "s,rtt_ms\n5,\n10,20\n20,NA\n30,40\n40,?\n").unwrap();
    let resources = Resources { base: place.path().to_owned(), ..Resources::default() };
    let cells = Document::load(Path::new(&path)).unwrap().cells(&[], &resources).unwrap();
    let latency = &cells[0].1.stage(None).network.default.latency;
    let at = |second: u64| {
        let delay = latency.as_dyn().quantile_at(Time::ZERO + Span::from_millis(1000 * second), 0.5);
        delay.nanos() / 1_000_000
    };
    // The recording begins at 5 s and lasts 45 s: 20 ms for 25 s, then 40 ms for 20 s.
    assert_eq!([0, 4, 24, 25, 44, 45].map(at), [20, 20, 20, 40, 40, 20]);
    let mean = (25.0 * 20.0 + 20.0 * 40.0) / 45.0;
    assert!((latency.as_dyn().mean_seconds() * 1000.0 - mean).abs() < 1e-9);

    let told = |text: &str, rows: &str| {
        fs::write(&path, text).unwrap();
        fs::write(&file, rows).unwrap();
        let (code, _, stderr) = code_and_output(&subrosa(&["check", &path]));
        assert_eq!(code, 3, "{stderr}");
        stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let words = told(&link(""), "s,rtt_ms\n5,\n10,20\n20,NA\n30,40\n40,?\n");
    let named = "found \"\" at lost.csv:2, \"NA\" at lost.csv:4, \"?\" at lost.csv:6";
    assert!(words.contains(named) && words.contains("missing: Drop"), "{words}");
    // A cell that is neither a number nor missing is an error always, and of many bad cells the first are named.
    let rows: String = (0..9).map(|row| format!("{row},-{row}.5\n")).collect();
    let words = told(&link(", missing: Drop"), &format!("s,rtt_ms\n{rows}"));
    assert!(words.contains("\"-4.5\" at lost.csv:6, and 4 more (9 cells in all)"), "{words}");
    assert!(!words.contains("-5.5"), "{words}");
    let words = told(&link(", missing: Drop"), "s,rtt_ms\n5,\n10,nan\n");
    assert!(words.contains("only missing cells in lost.csv"), "{words}");
}

/// The battery of a watch, full at 6 o'clock: half is left after 10 h idle, and it is charged from 23 o'clock on.
const WATCH: &str = "availability: Battery(charges: ChargingHours(from: 23, until: 6), least: 0.5, idle: \"20h\", busy: \"4h\", \
                     full: \"2h\", begins: 1, starts: 6)";

/// The virtual hours of a run, and its lost messages.
fn hours_and_lost(text: &str) -> (f64, u64) {
    let (_place, path) = place(text);
    let (code, stdout, stderr) = code_and_output(&subrosa(&["run", &path, "--format", "json"]));
    assert_eq!(code, 0, "{stderr}");
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let metrics = &found["cells"][0]["series"][0]["metrics"];
    (metrics["virtual_seconds"].as_f64().unwrap() / 3600.0, metrics["messages_lost"].as_f64().unwrap() as u64)
}

/// A party without charge is disconnected as by every other availability: what it would begin itself waits until it is
/// charged.
#[test]
fn an_empty_battery_disconnects_a_party() {
    let network = "topology: Mesh(), default: Link(latency: Constant(\"30min\"))";
    let (_place, path) = place(&scenario(&format!("Party({WATCH})"), network, "rounds: 2"));
    let share = share_connected(&path, 24 * 3600);
    assert!((share - 17.0 / 24.0).abs() < 1e-6, "{share}");
    // A round takes an hour. The caller is disconnected from 10 h to 17 h: it asks nothing, so nothing is lost but what was
    // on its way.
    let asked = scenario(
        &format!("Party({WATCH})"),
        network,
        "rounds: 14, retry: Retry(timeout: \"2h\", attempts: 50, backoff: Constant)",
    );
    let own = asked.replace("caller: \"server\"", "caller: \"client\"").replace("\"relay\": Party()", "");
    let (hours, lost) = hours_and_lost(&own);
    assert!((20.5..23.0).contains(&hours) && lost <= 2, "{hours} h, {lost} lost");
}

/// Work uses the battery, so it brings forward the time at which the party is disconnected; the answer to a job that ends
/// then is lost.
#[test]
fn work_brings_forward_that_a_battery_disconnects() {
    // 0.3 of the battery for a job of an hour: 0.7 after the first, half in the middle of the second, at 1 h 40 min.
    let network = "topology: Star(hub: \"server\")";
    let text = scenario(
        &format!("Party({WATCH}, compute: Drawn(time: Constant(\"1h\")))"),
        network,
        "rounds: 2, retry: Retry(timeout: \"90min\", attempts: 50, backoff: Constant)",
    );
    let text = text.replace("\"relay\": Party()", "");
    let (hours, lost) = hours_and_lost(&text);
    assert!((17.0..21.0).contains(&hours) && lost >= 2, "{hours} h, {lost} lost");
}
