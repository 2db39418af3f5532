//! What a federation does about dropout and unlike agents, through the public door: whom the server asks, what follows from
//! late vectors, and that none of it changes other series.

use crate::support::{code_and_output, folder, run, subrosa};
use crate::traced::traced;
use std::collections::{BTreeMap, BTreeSet};
use subrosa::protocols::{TraceEvent, TraceKind};
use subrosa::study::RunFolder;
use tempfile::TempDir;

/// Parties 0 to 5 are fast, 6 is the server, 7 to 10 are slow.
fn scenario(sharing: &str, policy: &str) -> String {
    format!(
        r#"Scenario(
    name: "remedies", seed: 5, replications: 1,
    parties: {{
        "server": Party(),
        "fast": Party(count: 6, compute: Drawn(time: Constant("100ms"))),
        "slow": Party(count: 4, compute: Drawn(time: Constant("900ms"))),
    }},
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("20ms"))),
    objective: GpSample(grid: [20], max_norm: 1, length_scale: 0.2, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 0.01),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "fast"), AgentGroup(members: "slow")],
        rounds: 8, initial_points: 2, features: 6,
        series: [Series(name: "sums", sharing: Aggregate(weights: Uniform(), {sharing}), policy: {policy})],
    ),
)
"#
    )
}

/// By round, the agents that sent messages with this label.
fn senders(events: &[TraceEvent], label: &str) -> BTreeMap<u64, BTreeSet<usize>> {
    let mut found: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for event in events {
        if let (TraceKind::Sent(message), Some(round)) = (&event.kind, event.round)
            && message.label == label
        {
            found.entry(round).or_default().insert(message.from.index());
        }
    }
    found
}

/// The six fast agents are asked in every round, the slow ones measure and send no vector, and a round that waits for all
/// who are asked ends after 140 ms: 20 ms each way and 100 ms of work.
#[test]
fn the_fastest_are_asked_and_waited_for() {
    let events = traced(scenario("selection: Fastest(k: 6)", "All()"));
    let fast: BTreeSet<usize> = (0..6).collect();
    let vectors = senders(&events, "Weights");
    assert_eq!(vectors.keys().copied().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert!(vectors.values().all(|agents| *agents == fast), "{vectors:?}");
    let silent = senders(&events, "Done");
    assert!(silent.values().all(|agents| agents.iter().all(|agent| *agent > 5)), "{silent:?}");
    assert!(!silent.is_empty());
    let closed: Vec<f64> = events
        .iter()
        .filter(|event| matches!(&event.kind, TraceKind::Recorded(_, fact) if fact.starts_with("Closed")))
        .map(|event| event.at.seconds())
        .collect();
    assert!((closed[0] - 0.14).abs() < 1e-6 && (closed[7] - 8.0 * 0.14).abs() < 1e-6, "{closed:?}");
}

/// Power of choice asks k agents in every round and hears losses from all from round 1 on; Oort hears them from those
/// that it asks. Every agent measures in every round.
#[test]
fn losses_come_from_those_who_are_to_report() {
    let events = traced(scenario("selection: PowerOfChoice(candidates: 7, k: 3)", "All()"));
    let reports = senders(&events, "Report");
    assert!((1..8).all(|round| reports[&round].len() == 10), "{reports:?}");
    assert!(!reports.contains_key(&0));
    assert_eq!(senders(&events, "Weights")[&0].len(), 3);
    let asked: Vec<BTreeSet<usize>> = asked(&events).into_values().collect();
    assert!(asked.iter().all(|agents| agents.len() == 3), "{asked:?}");
    assert!(asked.iter().any(|agents| *agents != asked[0]), "the same in every round: {asked:?}");

    let events = traced(scenario("selection: Oort(k: 3, pacer_step: \"500ms\")", "All()"));
    let reports = senders(&events, "Report");
    assert!((1..8).all(|round| reports[&round].len() == 3), "{reports:?}");
}

/// Without exploration Oort asks the same agents as long as they have the largest utility; with `retires_after: 2` none more
/// than three times.
#[test]
fn agents_retire_after_many_rounds() {
    let most = |retires: &str| {
        let sharing = format!("selection: Oort(k: 3, exploration: 0, pacer_step: \"500ms\"{retires})");
        let mut times: BTreeMap<usize, u64> = BTreeMap::new();
        let asked = asked(&traced(scenario(&sharing, "All()")));
        asked.into_values().flatten().for_each(|agent| *times.entry(agent).or_default() += 1);
        times.into_values().max().unwrap()
    };
    let (ever, retiring) = (most(""), most(", retires_after: 2"));
    assert!(ever > 3 && retiring == 3, "{ever} {retiring}");
}

/// By round, the agents to which the server sent `Share`: those it asks (in round 0, `Begin`).
fn asked(events: &[TraceEvent]) -> BTreeMap<u64, BTreeSet<usize>> {
    let mut found: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for event in events {
        if let (TraceKind::Sent(message), Some(round)) = (&event.kind, event.round)
            && (message.label == "Share" && round < 8 || message.label == "Begin")
        {
            found.entry(round).or_default().insert(message.to.index());
        }
    }
    found
}

/// With an adaptive norm, in the second half of 40 rounds, the share of vectors that are clipped is 1 - gamma, although
/// the first norm is 30 times too large.
///
/// 10 agents, all sampled: b has noise of standard deviation 0.06 / sqrt(1 - ...) per round. The mean of the shares over 20
/// rounds differs from 1 - gamma by what the norm still moves, ln(S_40 / S_20) / (20 eta), and by the noise: 4 * sd(b) /
/// sqrt(20), with sd(b) at most sqrt(0.25 / 10 + 0.06^2) = 0.169: 0.151. The norm may move by a factor of e within the
/// 20 rounds: 0.1 more.
#[test]
fn the_norm_leaves_the_stated_share() {
    let sharing = "clip: 100, noise_multiplier: 0.5, adaptive_clip: AdaptiveClip(quantile: 0.8, learning_rate: 0.5, \
                   count_noise: 0.6)";
    let text = scenario(sharing, "All()").replace("rounds: 8", "rounds: 40");
    let place = TempDir::new().unwrap();
    let path = place.path().join("norm.ron");
    std::fs::write(&path, text).unwrap();
    let document = run(path.to_str().unwrap(), place.path(), &[]);
    let records = RunFolder::at(&folder(&document)).replications(0).unwrap();
    let record = records.into_values().next().unwrap().series.remove(0);
    let track = |name: &str| -> Vec<f64> {
        let found = record.by_round.iter().find(|track| track.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).points.iter().map(|(_, value)| *value).collect()
    };
    let norms = track("clipping norm");
    assert!((norms[0] - 100.0).abs() < 1e-9 && norms[39] < 30.0, "{norms:?}");
    assert_eq!(norms.len(), 40, "the norm after the last sum clips nothing");
    let clipped = track("share of vectors in time that are clipped");
    assert_eq!(clipped.len(), 40);
    assert_eq!(clipped[0], 0.0, "nothing is longer than the first norm");
    let mean = clipped[20..].iter().sum::<f64>() / 20.0;
    assert!((mean - 0.2).abs() < 0.251 && mean > 0.0, "{mean}: {clipped:?}");
}

/// Settings that cannot be combined, each with the place and what to do.
#[test]
fn what_cannot_be_combined_is_refused() {
    let refused = |sharing: &str, policy: &str, words: &[&str]| {
        let place = TempDir::new().unwrap();
        let path = place.path().join("refused.ron");
        std::fs::write(&path, scenario(sharing, policy)).unwrap();
        let (code, stdout, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
        let said = format!("{stdout}{stderr}");
        assert_ne!(code, 0, "{sharing}: {said}");
        for word in words {
            assert!(said.contains(word), "{sharing}: no \"{word}\" in\n{said}");
        }
    };
    refused("selection: Fastest(k: 11)", "All()", &["at most the number of agents, 10"]);
    refused("selection: PowerOfChoice(candidates: 3, k: 4)", "All()", &["number of candidates, 3"]);
    refused("selection: Fastest(k: 3), late: KeepLast", "All()", &["own round only", "KeepLast"]);
    refused("selection: Fastest(k: 3)", "Buffered(k: 3)", &["own round only", "Buffered"]);
    refused("selection: Fastest(k: 3), participation: FixedSize(2)", "All()", &["write Poisson(1)"]);
    refused("staleness: Polynomial()", "All()", &["late answers that are used", "KeepLast"]);
    refused("adaptive_clip: AdaptiveClip()", "All()", &["the clipping norm of the first sum"]);
    refused(
        "clip: 3, noise_multiplier: 2, adaptive_clip: AdaptiveClip(count_noise: 1)",
        "All()",
        &["a standard deviation above 1", "count_noise: 4"],
    );
    refused("importance: Importance(answers: Stated({\"slwo\": 0.5}))", "All()", &["slwo", "slow"]);
    refused(
        "loss_reports: LossReports(bound: 1, noise_multiplier: 1)",
        "All()",
        &["does not depend on losses"],
    );
    refused(
        "importance: Importance(answers: Counted), divisor: ArrivedOrGone",
        "All()",
        &["stated probabilities"],
    );
    let masked = "clip: 3, server: Masked(planned_dropout: 0)";
    for remedy in [
        "selection: Fastest(k: 3)",
        "adaptive_clip: AdaptiveClip()",
        "importance: Importance(answers: Counted)",
    ] {
        refused(&format!("{masked}, {remedy}"), "All()", &["not implemented under masks"]);
    }
}

/// The scenario of all remedies runs, and a run is repeated bit by bit with two threads.
#[test]
fn all_remedies_are_replayed() {
    let out = TempDir::new().unwrap();
    let digest = |threads: &str| {
        let place = out.path().join(threads);
        let more = ["--threads", threads, "--replications", "2", "-o", "protocol.rounds=5"];
        run("scenarios/studies/remedies.ron", &place, &more)["digest"].clone()
    };
    assert_eq!(digest("1"), digest("2"));
}

/// A scenario of `agents` agents under masks, and the number of answers that the network loses.
fn masked(agents: usize, server: &str, loss: f64) -> String {
    scenario(&format!("clip: 3, server: Masked(planned_dropout: 0{server})"), "Deadline(after: \"3s\")")
        .replace("count: 4", &format!("count: {}", agents - 6))
        .replace("default: Link(", &format!("default: Link(loss: Independent({loss}), "))
}

/// The first series of the only replication.
fn record(text: &str) -> subrosa::protocols::SeriesRecord {
    let place = TempDir::new().unwrap();
    let path = place.path().join("masked.ron");
    std::fs::write(&path, text).unwrap();
    let document = run(path.to_str().unwrap(), place.path(), &[]);
    let records = RunFolder::at(&folder(&document)).replications(0).unwrap();
    records.into_values().next().unwrap().series.remove(0)
}

/// Without losses, masks between few neighbours give the same sums as masks between all agents, and so the same run.
#[test]
fn few_neighbours_give_the_same_sums() {
    let (all, few) = (record(&masked(10, "", 0.0)), record(&masked(10, ", neighbours: 4", 0.0)));
    assert_eq!(few.counts["rounds unmasked"], 8);
    assert_eq!(all.iterations.len(), 9);
    for (one, other) in all.iterations.iter().zip(&few.iterations) {
        assert_eq!((one.arm, one.outcome), (other.arm, other.outcome));
    }
}

/// With six neighbours an agent has as many bytes among 48 agents as among 12 (up to the bitmaps of members), with full
/// masks about four times as many in keys and shares.
#[test]
fn bytes_of_an_agent_do_not_grow_with_the_number_of_agents() {
    let bytes =
        |agents: usize, server: &str| record(&masked(agents, server, 0.0)).bytes as f64 / agents as f64;
    let few = bytes(48, ", neighbours: 6") / bytes(12, ", neighbours: 6");
    let all = bytes(48, "") / bytes(12, "");
    assert!((few - 1.0).abs() < 0.01, "{few}");
    assert!(all > 2.0, "{all}");
}

/// Where a neighbourhood has too few answers, the round is given up, and nobody gets a sum; with full masks the same
/// losses leave a majority of all agents in most rounds.
#[test]
fn a_neighbourhood_below_its_threshold_gives_the_round_up() {
    let (all, few) = (record(&masked(20, "", 0.1)), record(&masked(20, ", neighbours: 6", 0.1)));
    let count =
        |record: &subrosa::protocols::SeriesRecord, what: &str| record.counts.get(what).copied().unwrap_or(0);
    assert!(
        count(&few, "rounds given up") > count(&all, "rounds given up"),
        "{:?} {:?}",
        few.counts,
        all.counts
    );
    assert_eq!(count(&few, "rounds given up") + count(&few, "rounds unmasked"), 8);
}

/// A graph that does not protect is refused, and the condition on one that may is in the report.
#[test]
fn the_graph_is_a_condition() {
    let check = |server: &str| {
        let place = TempDir::new().unwrap();
        let path = place.path().join("graph.ron");
        std::fs::write(&path, masked(10, server, 0.0)).unwrap();
        let (code, stdout, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
        (code, format!("{stdout}{stderr}"))
    };
    for (server, words) in [
        (", neighbours: 5", "an even number of at least 4, below the number of agents, 10"),
        (", neighbours: 10", "an even number of at least 4"),
        (", neighbours: 4, colluding: 4", "3 colluding neighbours"),
    ] {
        let (code, said) = check(server);
        assert!(code != 0 && said.contains(words), "{server}: no \"{words}\" in\n{said}");
    }
    assert_eq!(check(", neighbours: 8, colluding: 1").0, 0, "{}", check(", neighbours: 8, colluding: 1").1);
    let text = masked(10, ", neighbours: 8, colluding: 1", 0.0)
        .replace("clip: 3,", "clip: 3, noise_multiplier: 1, participation: Poisson(0.5),");
    let bases: Vec<String> =
        record(&text).releases.iter().map(|entry| format!("{:?}", entry.event.basis)).collect();
    let of_graph =
        "a random graph of masks with 8 neighbours each in which no agent has 5 colluding neighbours";
    assert!(bases.iter().all(|basis| basis.contains(of_graph)), "{bases:?}");
}

/// Relays see from the size of an answer who is selected. Where losses decide that, ledger entries from before a fork name
/// the parties on the routes, so a fork may not change these; where speed decides, it may.
#[test]
fn a_fork_keeps_the_routes_where_losses_select() {
    let out = TempDir::new().unwrap();
    let noisy = "clip: 4, noise_multiplier: 1, participation: Poisson(0.5)";
    let by_loss = "selection: PowerOfChoice(candidates: 6, k: 4), loss_reports: LossReports(bound: 4, noise_multiplier: 5)";
    for (selection, code) in [("selection: Fastest(k: 4)", 0), (by_loss, 3)] {
        let file = out.path().join("fork.ron");
        std::fs::write(&file, scenario(&format!("{selection}, {noisy}"), "All()")).unwrap();
        let place = out.path().to_str().unwrap();
        let fork = [
            "run",
            file.to_str().unwrap(),
            "--fork-at",
            "2",
            "-o",
            "network.topology=Mesh()",
            "--out",
            place,
        ];
        let (found, _, stderr) = code_and_output(&subrosa(&fork));
        assert_eq!(found, code, "{selection}: {stderr}");
        let told =
            stderr.contains("expected messages on the same routes") && stderr.contains("a selection by loss");
        assert_eq!(told, code == 3, "{selection}: {stderr}");
    }
}
