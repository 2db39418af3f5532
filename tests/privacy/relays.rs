//! Parties that pass messages on: what they learn where messages are encrypted end to end, and where they are not.

use crate::support::{folder, run};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const END_TO_END: &str = "EndToEnd";
const READABLE: &str = "None";

/// The record of the first replication of every series.
fn records(document: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(folder(document).join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    record["series"].as_array().unwrap().clone()
}

/// Plays a scenario with one series in a network in which a courier stands between all other parties.
fn play(scenario: &str, out: &Path, encryption: &str, parties: &str, more: &[&str]) -> Value {
    let parties = format!("parties={{ \"courier\": Party(), {parties} }}");
    let network = format!(
        "network=Network(topology: Star(hub: \"courier\"), default: Link(latency: Constant(\"10ms\")), encryption: \
         {encryption})"
    );
    let mut all = vec!["--replications", "1", "-o", &parties, "-o", &network];
    more.iter().for_each(|change| all.extend(["-o", change]));
    let document = run(scenario, out, &all);
    let mut found = records(&document);
    assert_eq!(found.len(), 1, "one series");
    found.remove(0)
}

/// What was released in the sight of an observer about a unit, and its costs.
fn seen(record: &Value, observer: &str, unit: &str) -> Vec<(String, Value)> {
    let releases = record["releases"].as_array().map_or(&[][..], Vec::as_slice);
    let events = releases.iter().map(|booked| &booked["event"]);
    let of = events.filter(|event| event["observer"] == observer && event["unit"] == unit);
    of.map(|event| (event["released"].as_str().unwrap().to_owned(), event["cost"].clone())).collect()
}

fn facts(record: &Value, known_to: &str) -> Vec<String> {
    let facts = record["public"].as_array().map_or(&[][..], Vec::as_slice);
    let known = facts.iter().filter(|fact| fact["known_to"] == known_to);
    known.map(|fact| fact["what"].as_str().unwrap().to_owned()).collect()
}

/// The fact that is stated of a courier, and nothing of a party that passes nothing on.
fn courier_is_stated(record: &Value, encryption: &str) {
    let found = facts(record, "courier");
    let expected = if encryption == END_TO_END { "they are encrypted end to end" } else { "not encrypted" };
    assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
}

const RELEASE: &str = "scenarios/release.ron";
const HOSPITAL: &str = "\"hospital\": Party(), \"machine\": Party(), \"journal\": Party()";

fn release(out: &Path, encryption: &str, publication: &str, more: &[&str]) -> Value {
    let series = format!("protocol.series=[Series(name: \"x\", publication: {publication})]");
    let more = [&["protocol.workers=[\"machine\"]", &series][..], more].concat();
    play(RELEASE, out, encryption, HOSPITAL, &more)
}

/// A courier between a hospital, its machine and a journal reads which setting is trained next, which depends on how the
/// settings before it did on the validation records: that is not protected. Of a fixed grid it reads what the journal
/// reads, and of a search that tells its settings each of them once.
#[test]
fn a_courier_reads_what_an_owner_says_to_its_machines() {
    let out = TempDir::new().unwrap();
    let third = "Lipschitz(epsilon: 1, learner: GpUcb())";
    let every = "EverySetting(epsilon: 1, delta: 1e-6, publish: Setting)";
    let grid = "FixedGrid(epsilon: 1, publish: Setting)";
    for publication in [third, every, grid] {
        let record = release(out.path(), END_TO_END, publication, &[]);
        courier_is_stated(&record, END_TO_END);
        for unit in ["ValidationRecord", "TrainingRecord"] {
            assert!(seen(&record, "courier", unit).is_empty());
        }
        let open = release(out.path(), READABLE, publication, &[]);
        courier_is_stated(&open, READABLE);
        let public = seen(&open, "anyone who reads the publication", "ValidationRecord");
        assert_eq!(public, seen(&record, "anyone who reads the publication", "ValidationRecord"));
        let found = seen(&open, "courier", "ValidationRecord");
        if publication == third {
            // All but the first of 20 trials, and what is published. Alike entries are one.
            let settings = found.iter().find(|(what, _)| what == "settings tried").unwrap();
            assert_eq!(settings.1, "Unprotected");
            let counts = open["releases"].as_array().unwrap().iter();
            let alike = counts.filter(|booked| {
                booked["event"]["released"] == "settings tried"
                    && booked["event"]["unit"] == "ValidationRecord"
            });
            assert_eq!(alike.map(|booked| booked["count"].as_u64().unwrap()).sum::<u64>(), 19);
            assert!(public.iter().all(|one| found.contains(one)), "{found:?}");
        } else {
            assert_eq!(found, public, "{publication}");
        }
        // Models were trained, so training records are seen wherever validation records are.
        let trained = seen(&open, "courier", "TrainingRecord");
        assert_eq!(trained.is_empty(), found.is_empty());
        assert!(trained.iter().all(|(_, cost)| cost == "Unprotected"), "{trained:?}");
    }
}

/// Encrypted or not, nothing of the run itself changes but what is booked.
#[test]
fn encryption_moves_no_message() {
    let out = TempDir::new().unwrap();
    let publication = "FixedGrid(epsilon: 1)";
    let of = |encryption| {
        let record = release(out.path(), encryption, publication, &[]);
        ["iterations", "outcomes", "messages", "bytes", "virtual_seconds"].map(|field| record[field].clone())
    };
    assert_eq!(of(END_TO_END), of(READABLE));
}

/// The budget is asked for the courier as well, before anything leaves: a search whose settings the courier reads ends
/// before the second trial, though the journal would have got no more than the budget allows.
#[test]
fn the_budget_is_asked_for_a_courier() {
    let out = TempDir::new().unwrap();
    let budget =
        "privacy=Privacy(delta: 1e-6, budget: Budget(epsilon: 2, delta: 1e-6, unit: ValidationRecord))";
    let third = "Lipschitz(epsilon: 1, learner: GpUcb())";
    let kept = release(out.path(), END_TO_END, third, &[budget]);
    assert_eq!((&kept["budget"], kept["iterations"].as_array().unwrap().len()), (&Value::Null, 20));
    let open = release(out.path(), READABLE, third, &[budget]);
    assert_eq!(open["iterations"].as_array().unwrap().len(), 1);
    assert!(open["budget"]["reason"].as_str().unwrap().contains("gets nothing"), "{}", open["budget"]);
    assert!(open["releases"].as_array().unwrap().is_empty());
}

fn local(out: &Path, encryption: &str, more: &[&str]) -> Value {
    let series = "protocol.series=[Series(name: \"x\", report: Ctl(epsilon: 1), learner: GpUcb())]";
    let more = [&[series, "protocol.rounds=50"][..], more].concat();
    play("scenarios/users.ron", out, encryption, "\"service\": Party(), \"users\": Party()", &more)
}

/// A courier between users and service reads private reports, at the same price as the service; and where silence tells
/// about the reward, it sees who answers even if it can read nothing.
#[test]
fn a_courier_sees_users_answer() {
    let out = TempDir::new().unwrap();
    let report = [("rewards y".to_owned(), serde_json::json!({"Laplace": {"scale": 1.0}}))];
    for (encryption, expected) in [(END_TO_END, &[][..]), (READABLE, &report[..])] {
        let record = local(out.path(), encryption, &[]);
        courier_is_stated(&record, encryption);
        assert_eq!(seen(&record, "courier", "Reward"), expected);
        let silence = "protocol.never_answer=WhenBelow(reward: 0, share: 0.5)";
        let record = local(out.path(), encryption, &[silence]);
        let found = seen(&record, "courier", "Reward");
        let answers = ("whether a user answers".to_owned(), Value::from("Unprotected"));
        assert!(found.contains(&answers), "{encryption}: {found:?}");
        assert_eq!(found.len(), 1 + expected.len(), "{encryption}");
        let facts = facts(&record, "service").join("; ");
        assert!(!facts.contains("and whether"), "{facts}");
    }
}

/// What a lab is told, a courier is told at the same price; and it reads the vectors that agents entrust to a server.
#[test]
fn a_courier_reads_inputs_outcomes_and_weights() {
    let out = TempDir::new().unwrap();
    for encryption in [END_TO_END, READABLE] {
        let more = [
            "protocol.rounds=5",
            "protocol.series=[Series(name: \"x\", release: Disclosure(), learner: Random())]",
            "objective.hyperparameters=Given(length_scales: [1, 1, 1, 1], variance: 1, noise_variance: 0.1)",
        ];
        let parties = "\"hospital\": Party(), \"lab\": Party()";
        let record = play("scenarios/hospital.ron", out.path(), encryption, parties, &more);
        courier_is_stated(&record, encryption);
        for unit in ["Record", "Outcome"] {
            let (courier, lab) = (seen(&record, "courier", unit), seen(&record, "lab", unit));
            assert!(!lab.is_empty());
            assert_eq!(courier, if encryption == READABLE { lab } else { Vec::new() }, "{unit}");
        }
        let more = [
            "protocol.rounds=3",
            "protocol.groups=[AgentGroup(members: \"phone\")]",
            "protocol.series=[Series(name: \"x\", sharing: Aggregate(clip: 11, noise_multiplier: 1, participation: \
             Poisson(0.5), weights: Uniform()))]",
        ];
        let parties = "\"server\": Party(), \"phone\": Party(count: 5)";
        let record = play("scenarios/federated.ron", out.path(), encryption, parties, &more);
        courier_is_stated(&record, encryption);
        let found = seen(&record, "courier", "Agent");
        let readable = encryption == READABLE;
        let what = |name: &str| found.iter().any(|(what, _)| what == name);
        assert_eq!(what("sums of weights"), readable, "{found:?}");
        let vectors = ("sampled weights omega".to_owned(), Value::from("Unprotected"));
        assert_eq!(found.contains(&vectors), readable, "{found:?}");
    }
}

/// How often sums of weights, or vectors, were released in the sight of an observer.
fn times(record: &Value, observer: &str, what: &str) -> u64 {
    let releases = record["releases"].as_array().unwrap().iter();
    let of = releases
        .filter(|booked| booked["event"]["observer"] == observer && booked["event"]["released"] == what);
    of.map(|booked| booked["count"].as_u64().unwrap()).sum()
}

fn federated(out: &Path, phones: u64, sharing: &str, more: &[&str]) -> Value {
    let series = format!(
        "protocol.series=[Series(name: \"x\", sharing: Aggregate(clip: 11, noise_multiplier: 1, participation: \
         Poisson(0.5), weights: Uniform(){sharing}), policy: Deadline(after: \"2s\"))]"
    );
    let parties = format!("\"server\": Party(), \"phone\": Party(count: {phones})");
    let objective =
        "objective=GpSample(grid: [20], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01)";
    let groups = "protocol.groups=[AgentGroup(members: \"phone\")]";
    let more = [&[series.as_str(), objective, groups, "protocol.features=5"][..], more].concat();
    play("scenarios/federated.ron", out, READABLE, &parties, &more)
}

/// A courier reads shares and sums of one round: that is one sum, in the stronger view of the agents. Its budget is asked
/// before shares are, so that no round is opened that the ledger lacks.
#[test]
fn the_budget_is_asked_for_a_courier_before_a_sum_can_be_opened() {
    let out = TempDir::new().unwrap();
    let budget = "privacy=Privacy(delta: 0.065, budget: Budget(epsilon: 5, delta: 0.065))";
    let masked = ", server: Masked(planned_dropout: 0.25)";
    let record = federated(out.path(), 12, masked, &[budget, "protocol.rounds=30"]);
    let opened = record["counts"]["rounds unmasked"].as_u64().unwrap();
    assert!((2..30).contains(&opened), "the budget ends it: {opened}");
    assert!(record["budget"]["reason"].as_str().unwrap().contains(&format!("before round {}", opened + 1)));
    for observer in ["server", "every agent", "courier"] {
        assert_eq!(times(&record, observer, "sums of weights"), opened, "{observer}");
    }
    let [courier, agents, server] =
        ["courier", "every agent", "server"].map(|observer| seen(&record, observer, "Agent"));
    assert_eq!(courier, agents);
    assert_ne!(courier, server, "an agent knows its own share of the noise");
}

/// Shares that were asked for and never reached the server have been read on their way all the same.
#[test]
fn a_courier_is_booked_for_rounds_that_are_given_up() {
    let out = TempDir::new().unwrap();
    let masked = ", server: Masked(planned_dropout: 0.25)";
    let lossy = "network.links=[LinkRule(from: \"courier\", to: \"server\", latency: Constant(\"10ms\"), loss: \
                 Independent(0.4))]";
    let record = federated(out.path(), 12, masked, &["protocol.rounds=30", lossy]);
    let (opened, up) = (&record["counts"]["rounds unmasked"], &record["counts"]["rounds given up"]);
    let (opened, up) = (opened.as_u64().unwrap_or(0), up.as_u64().unwrap_or(0));
    let courier = times(&record, "courier", "sums of weights");
    assert!(
        up > 0 && courier > opened && courier <= opened + up,
        "{courier}: {opened} opened, {up} given up"
    );
    assert!(times(&record, "every agent", "sums of weights") <= opened);
}

/// The server is trusted with vectors, the courier is not: no budget allows it to read them.
#[test]
fn no_budget_lets_a_courier_read_vectors() {
    let out = TempDir::new().unwrap();
    let play = |when_spent: &str, more: &[&str]| {
        let budget =
            format!("privacy=Privacy(budget: Budget(epsilon: 6, delta: 1e-5, when_spent: {when_spent}))");
        federated(out.path(), 6, "", &[&[budget.as_str(), "protocol.rounds=2"][..], more].concat())
    };
    let vectors = |record: &Value, observer| times(record, observer, "sampled weights omega");
    let open = play("Stop", &[]);
    assert_eq!((vectors(&open, "courier"), vectors(&open, "server")), (0, 0));
    assert!(open["budget"]["reason"].as_str().unwrap().contains("agent"), "{}", open["budget"]);
    // Marked where the scenario goes on.
    let on = play("GoOn", &[]);
    assert_eq!((vectors(&on, "courier"), vectors(&on, "server")), (12, 12));
    assert!(on["budget"]["reason"].as_str().unwrap().contains("the run continues"), "{}", on["budget"]);
    // Encrypted, nothing is in the way of it.
    let closed = play("Stop", &["network.encryption=EndToEnd"]);
    assert_eq!((vectors(&closed, "courier"), vectors(&closed, "server")), (0, 12));
    assert!(closed["budget"].is_null());
}
