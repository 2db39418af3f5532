//! All four systems under random hostile networks from one seed: what `check` passes, `run` plays; no message is lost from
//! the books; a replay agrees; and leaving a series out moves no other. `SUBROSA_SWARM_SEED` picks another seed,
//! `SUBROSA_SWARM_SYSTEMS` how many scenarios of each system; a failure prints the scenario.

use crate::support::{code_and_output, folder, run, subrosa, table};
use serde_json::Value;
use std::fs;
use subrosa::rng::{Key, Stream};
use tempfile::TempDir;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

fn pick(stream: &mut Stream, from: &[&str]) -> String {
    from[stream.below(from.len() as u64) as usize].to_owned()
}

/// A party with faults; `busy` ones may also take time to compute.
fn party(stream: &mut Stream, count: &str) -> String {
    let availability = pick(
        stream,
        &[
            "",
            "",
            "availability: OnOff(online: Exponential(mean: \"2s\"), offline: Exponential(mean: \"500ms\")),",
            "availability: OnOff(online: Exponential(mean: \"30s\"), offline: Exponential(mean: \"20s\")),",
            "availability: Scheduled(switches: [\"300ms\", \"900ms\", \"2s\", \"2100ms\"]),",
            "availability: PerMessage(0.7),",
        ],
    );
    let compute = pick(
        stream,
        &[
            "",
            "",
            "compute: Drawn(time: LogNormal(median: \"200ms\", sigma: 1.0)),",
            "compute: Drawn(time: Constant(\"1s\")),",
        ],
    );
    format!("Party({count}{availability}{compute})")
}

fn network(stream: &mut Stream, hub: &str) -> String {
    let latency = pick(
        stream,
        &[
            "Constant(\"0ms\")",
            "Constant(\"20ms\")",
            "LogNormal(median: \"40ms\", sigma: 1.0)",
            "Exponential(mean: \"100ms\")",
            "Pareto(shortest: \"5ms\", shape: 1.5)",
        ],
    );
    let loss = pick(
        stream,
        &[
            "NoLoss()",
            "Independent(0.05)",
            "Independent(0.4)",
            "GilbertElliott(worsens: 0.1, recovers: 0.3, loss_bad: 0.9)",
        ],
    );
    let order = pick(stream, &["", "order: Fifo,"]);
    let doubled = pick(stream, &["", "duplication: 0.2,"]);
    let width = pick(stream, &["", "bandwidth: Bandwidth(rate: \"1Mbit/s\"),"]);
    format!(
        "Network(topology: Star(hub: \"{hub}\"), default: Link(latency: {latency}, loss: {loss}, {order} {doubled} {width}))"
    )
}

const OUTSOURCED: [&str; 5] = [
    "Series(name: \"a\", release: JohnsonLindenstrauss(epsilon: 3, delta: 1e-3, r: 3), learner: GpUcb())",
    "Series(name: \"b\", release: NoisyRows(epsilon: 2, delta: 1e-3), outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -2, high: 2)), learner: GpUcb(exclude_played: true))",
    "Series(name: \"c\", release: Withheld(), learner: Random())",
    "Series(name: \"d\", release: Disclosure(), learner: GpUcb())",
    "Series(name: \"e\", release: NoisyProjection(epsilon: 2, delta: 1e-3, r: 2), learner: GpUcb())",
];
const LOCAL: [&str; 5] = [
    "Series(name: \"a\", report: Ctl(epsilon: 1), learner: AtaGpUcb(constants: OrderWise))",
    "Series(name: \"b\", report: Ctl(epsilon: 0.5), learner: TgpUcb(constants: OrderWise))",
    "Series(name: \"c\", report: Ctl(epsilon: 2), learner: MomaGpUcb(constants: OrderWise, repetitions: Some(2)))",
    "Series(name: \"d\", report: Disclosure(), learner: GpUcb(beta: Constant(beta: 2)))",
    "Series(name: \"e\", report: Disclosure(), learner: Random())",
];
const FEDERATED: [&str; 4] = [
    "Series(name: \"a\", sharing: Alone())",
    "Series(name: \"b\", sharing: Aggregate(clip: 4, noise_multiplier: 1, participation: Poisson(0.5), weights: Uniform()), policy: Deadline(after: \"800ms\"))",
    "Series(name: \"c\", sharing: Aggregate(clip: 4, noise_multiplier: 2, participation: Poisson(0.7), weights: Uniform(), late: KeepLast), policy: Deadline(after: \"300ms\"))",
    "Series(name: \"d\", sharing: Aggregate(clip: 4, noise_multiplier: 1, participation: FixedSize(3), weights: Uniform()), policy: Deadline(after: \"2s\"))",
];
const RELEASE: [&str; 3] = [
    "Series(name: \"b\", publication: GpNoisy(epsilon: 1.0, delta: 0.05, neighbour_correlation: 0.9))",
    "Series(name: \"c\", publication: NonPrivate(learner: GpUcb()))",
    "Series(name: \"d\", publication: Blind())",
];

/// A random scenario of a system in two texts, one with two series and one without the first of them; and the name of
/// the second.
fn scenario(system: &str, stream: &mut Stream) -> [String; 2] {
    let pool: &[&str] = match system {
        "Outsourced" => &OUTSOURCED,
        "Local" => &LOCAL,
        "Federated" => &FEDERATED,
        _ => &RELEASE,
    };
    let places = stream.distinct(pool.len(), 2);
    let rounds = 2 + stream.below(6);
    let seed = stream.below(1000);
    let sample = "GpSample(grid: [6, 5], max_norm: 5, length_scale: 2, variance: 1, noise_variance: 0.01)";
    let many = format!("count: {},", 3 + stream.below(5));
    let retry = pick(
        stream,
        &[
            "",
            "retry: Retry(timeout: \"200ms\", attempts: 5),",
            "retry: Retry(timeout: \"1s\", attempts: 30, backoff: Constant),",
            "retry: Retry(timeout: \"50ms\", backoff: Exponential(limit: 4, jitter: 1)),",
        ],
    );
    let (first, second) = (party(stream, ""), party(stream, if system == "Federated" { &many } else { "" }));
    let network = network(stream, "p");
    let (objective, protocol) = match system {
        "Outsourced" => {
            (sample.to_owned(), format!("Outsourced(curator: \"p\", modeler: \"q\", initial_points: 2, {retry} rounds: {rounds},"))
        }
        "Local" => {
            let arrivals = pick(stream, &["Poisson(every: \"2s\")", "Poisson(every: \"100ms\")"]);
            let never = pick(stream, &["", "never_answer: Independent(0.3),"]);
            (
                "RkhsSum(noise: Uniform(bound: 1.0))".to_owned(),
                format!(
                    "Local(service: \"p\", users: \"q\", arrivals: {arrivals}, answer_after: LogNormal(median: \"1s\", sigma: 0.8), {never} rounds: {},",
                    10 * rounds
                ),
            )
        }
        "Federated" => (
            sample.replace("[6, 5]", "[20]"),
            format!(
                "Federated(server: \"p\", groups: [AgentGroup(members: \"q\")], initial_points: 2, features: 10, perturbation: 0.05, rounds: {rounds},"
            ),
        ),
        _ => (
            "MultiTaskSample(grid: [12], max_norm: 1, length_scale: 0.3, correlation: 0.95, noise_variance: 0.01)".to_owned(),
            format!("Release(owner: \"p\", readers: [\"q\"], {retry} rounds: {rounds},"),
        ),
    };
    let text = |series: &str| {
        format!(
            "Scenario(name: \"swarm\", about: \"A random one.\", seed: {seed}, replications: 2,\n    parties: {{ \"p\": {first}, \
             \"q\": {second} }},\n    network: {network},\n    objective: {objective},\n    privacy: Privacy(delta: 0.01),\n    \
             protocol: {protocol}\n        series: [{series}]),\n)\n"
        )
    };
    let (a, b) = (pool[places[0]], pool[places[1]]);
    [text(&format!("{a},\n            {b}")), text(b)]
}

/// The books of the network: no more is delivered or lost than was sent.
fn balanced(run: &Value, text: &str) {
    let results = table(&folder(run), "results.csv");
    assert!(!results.is_empty(), "no results of\n{text}");
    for result in results {
        let [sent, delivered, lost] = ["messages", "messages_delivered", "messages_lost"]
            .map(|name| -> u64 { result[name].parse().unwrap() });
        let most = if text.contains("duplication") { 2 * sent } else { sent };
        assert!(sent > 0 && delivered + lost <= most, "{result:?} in\n{text}");
    }
}

/// Whether the scenario was accepted; all else is as it must be then.
fn played(texts: &[String; 2], case: &str) -> bool {
    let place = TempDir::new().unwrap();
    let paths = ["both.ron", "one.ron"].map(|name| place.path().join(name));
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).unwrap();
    }
    let [both, one] = paths.each_ref().map(|path| path.to_str().unwrap());
    let (code, _, stderr) = code_and_output(&subrosa(&["check", both]));
    if code != 0 {
        assert_eq!(code, 3, "{case}: {stderr}\n{}", texts[0]);
        assert!(stderr.contains("both.ron:"), "{case}: a place in the file: {stderr}");
        return false;
    }
    let arguments =
        ["run", both, "--out", place.path().to_str().unwrap(), "--format", "json", "--threads", "1"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{case}: check passes and run does not: {stderr}\n{}", texts[0]);
    let document: Value = serde_json::from_str(&stdout).unwrap();
    balanced(&document, &texts[0]);
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["replay", folder(&document).to_str().unwrap(), "--threads", "2"]));
    assert_eq!(code, 0, "{case}: the replay differs: {stdout}{stderr}\n{}", texts[0]);
    let alone = run(one, &place.path().join("alone"), &["--threads", "1"]);
    let (series, kept) = (&document["cells"][0]["series"][1], &alone["cells"][0]["series"][0]);
    assert_eq!(series["name"], kept["name"]);
    for part in ["metrics", "ended_early"] {
        assert_eq!(
            series[part], kept[part],
            "{case}: {part} moved when the first series was left out of\n{}",
            texts[0]
        );
    }
    true
}

#[test]
fn systems_survive_hostile_networks() {
    let (seed, each) = (number("SUBROSA_SWARM_SEED", 2026), number("SUBROSA_SWARM_SYSTEMS", 5));
    for system in ["Outsourced", "Local", "Federated", "Release"] {
        let mut accepted = 0;
        for case in 0..each {
            let mut stream = Key::root(seed).child(system).index(case).stream();
            let texts = scenario(system, &mut stream);
            accepted += u64::from(played(&texts, &format!("{system}, seed {seed}, case {case}")));
        }
        println!("{system}: {accepted} of {each} played, seed {seed}");
        assert!(
            2 * accepted > each,
            "{system}: {accepted} of {each} scenarios are accepted, so little is tested"
        );
    }
}
