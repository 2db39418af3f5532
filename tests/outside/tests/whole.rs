//! A program with members of its own has everything that the library's members have: each verb on scenarios that name them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every party and link of these scenarios is of the program's own kinds.
const NETWORK: &str = r#"network: Network(
        topology: Chain(),
        default: Link(latency: Weibull(scale: "40ms", shape: 0.7), loss: EveryNth(n: 7)),
        outages: [Maintenance(group: "lab", every: "20s", lasts: "1s")],
    )"#;

const OUTSOURCED: &str = r#"Scenario(
    name: "outsourced", seed: 3, replications: 4,
    parties: {
        "curator": Party(compute: FixedTime(each: "5ms")),
        "lab": Party(group: "lab", availability: Nightly(online: "30s", offline: "2s")),
    },
    NETWORK,
    objective: Forrester(points: 25, width: 5, noise: Triangular(bound: 0.1)),
    privacy: Privacy(delta: 1e-5, budget: Budget(epsilon: 50, delta: 1e-5, unit: Row, accountant: Pure)),
    protocol: Outsourced(
        curator: "curator", modeler: "MODELER", rounds: 10, initial_points: 1,
        series: [Series(
            name: "own", release: LaplaceRows(epsilon: Each("epsilon", [1.0, 4.0])),
            outcomes: OneBit(epsilon: 2, range: Range(low: -20, high: 10)),
            learner: Explorer(explore: 0.5),
        )],
    ),
)"#;

const FEDERATED: &str = r#"Scenario(
    name: "federated", seed: 5, replications: 2,
    parties: { "server": Party(), "lab": Party(count: 6, compute: FixedTime(each: "5ms")) },
    NETWORK,
    objective: GpSample(grid: [30], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-3),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "lab")], rounds: 4, initial_points: 2, features: 20,
        series: [Series(
            name: "own",
            sharing: Aggregate(regions: 2, clip: 5, noise_multiplier: 1, participation: Poisson(0.5), weights: Explorers(factor: 3)),
            policy: HalfOf(patience: "20s"),
        )],
    ),
)"#;

const LOCAL: &str = r#"Scenario(
    name: "local", seed: 7, replications: 2,
    parties: { "service": Party(), "users": Party() },
    NETWORK,
    objective: Forrester(points: 12, noise: Triangular(bound: 0.1)),
    protocol: Local(
        service: "service", users: "users", rounds: 40, arrivals: Poisson(every: "2s"),
        answer_after: Weibull(scale: "1s", shape: 0.8), never_answer: EveryNth(n: 9),
        series: [Series(name: "own", report: OneBitReport(epsilon: 1, bound: 10), learner: Explorer(explore: 0.3))],
    ),
)"#;

const RELEASE: &str = r#"Scenario(
    name: "release", seed: 9, replications: 2,
    parties: { "hospital": Party(), "journal": Party() },
    NETWORK,
    objective: MultiTaskSample(grid: [6, 6], max_norm: 0.7, length_scale: 0.2, correlation: 0.99, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-6),
    protocol: Release(
        owner: "hospital", readers: ["journal"], rounds: 6,
        series: [Series(name: "own", publication: ClippedBest(
            epsilon: 1, range: Range(low: -2, high: 2), learner: Explorer(explore: 0.5),
        ))],
    ),
)"#;

const REMOTE: &str = r#"Scenario(
    name: "remote", seed: 11, replications: 2,
    parties: { "service": Party(), "device": Party(availability: Nightly(online: "30s", offline: "2s")) },
    NETWORK,
    objective: Forrester(points: 12, noise: Triangular(bound: 0.1)),
    protocol: Remote(service: "service", device: "device", rounds: 8, learners: [Explorer(explore: 0.5), GpUcb()]),
)"#;

/// A folder with the scenarios in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in [
            ("outsourced", OUTSOURCED),
            ("federated", FEDERATED),
            ("local", LOCAL),
            ("release", RELEASE),
            ("remote", REMOTE),
        ] {
            // A network without the group of its outage would be refused.
            let network = if text.contains("\"lab\": Party(") {
                NETWORK.to_owned()
            } else {
                let (before, after) = NETWORK.split_once("        outages:").unwrap();
                format!("{before}{}", after.split_once('\n').unwrap().1)
            };
            let text = text.replace("NETWORK", &network).replace("MODELER", "lab");
            fs::write(place.path().join(format!("{name}.ron")), text).unwrap();
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn call(&self, arguments: &[&str]) -> Output {
        call(env!("CARGO_BIN_EXE_subrosa-outside"), self.path(), arguments)
    }

    /// What a call prints that must succeed.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert!(output.status.success(), "{arguments:?}\n{}", words(&output));
        words(&output)
    }

    /// Plays a scenario into a folder of its name.
    fn run(&self, name: &str) -> PathBuf {
        let folder = self.path().join("runs").join(name);
        let (file, out) = (format!("{name}.ron"), folder.to_str().unwrap().to_owned());
        self.says(&["run", &file, "--threads", "1", "--out", &out]);
        only(&folder)
    }
}

/// The one run folder inside a folder.
fn only(folder: &Path) -> PathBuf {
    let mut inside: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    inside.retain(|path| path.join("manifest.json").is_file());
    assert_eq!(inside.len(), 1, "{inside:?}");
    inside.remove(0)
}

fn call(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).current_dir(folder).output().unwrap()
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn names_are_listed_checked_and_suggested() {
    let place = Place::new();
    let all = place.says(&["list"]);
    for name in [
        "Chain",
        "Weibull",
        "EveryNth",
        "Nightly",
        "FixedTime",
        "Maintenance",
        "Forrester",
        "Triangular",
        "Explorer",
        "LaplaceRows",
        "OneBit",
        "ClippedBest",
        "Remote",
    ] {
        assert!(all.contains(name), "{name} is not listed:\n{all}");
    }
    let weibull = place.says(&["list", "Weibull"]);
    assert!(weibull.contains("63 % of messages") && weibull.contains("shape"), "{weibull}");
    let part = place.says(&["list", "RoundPolicy"]);
    assert!(part.contains("HalfOf") && part.contains("Longest wait"), "{part}");
    for (wrong, right, at) in [
        ("Weibul(scale: \"40ms\", shape: 0.7)", "Weibull", ":6:"),
        ("Weibull(scale: \"40ms\", shap: 0.7)", "shape", ":6:"),
        ("Weibull(scale: \"40ms\", shape: -1)", "above 0", ":6:"),
        ("Weibull(scale: \"40ms\")", "missing field `shape`", ":6:"),
    ] {
        let text = fs::read_to_string(place.path().join("remote.ron")).unwrap();
        let text = text.replace("Weibull(scale: \"40ms\", shape: 0.7)", wrong);
        fs::write(place.path().join("wrong.ron"), text).unwrap();
        let output = place.call(&["check", "wrong.ron"]);
        assert_eq!(output.status.code(), Some(3));
        let said = words(&output);
        assert!(said.contains(right) && said.contains(&format!("wrong.ron{at}")), "{wrong}:\n{said}");
    }
    let output = place.call(&["check", "remote.ron", "-o", "network.default.loss=EveryNth(n: 1)"]);
    assert_eq!(output.status.code(), Some(3), "{}", words(&output));
    assert!(words(&output).contains("let some messages arrive"), "{}", words(&output));
}

#[test]
fn every_system_is_played_replayed_priced_traced_and_reported() {
    let place = Place::new();
    for name in ["outsourced", "federated", "local", "release", "remote"] {
        place.says(&["check", &format!("{name}.ron")]);
        let run = place.run(name);
        let folder = run.to_str().unwrap();
        let replayed = place.says(&["replay", folder, "--threads", "1"]);
        assert!(replayed.contains("identical") || replayed.contains("same"), "{name}:\n{replayed}");
        place.says(&["report", folder]);
        place.says(&["compare", folder, folder]);
        assert!(Path::new(folder).join("report.html").is_file());
        let traced = place.says(&["trace", &format!("{name}.ron")]);
        assert!(traced.lines().count() > 10, "{name}:\n{traced}");
    }
    let file = |name: &str, file: &str| {
        fs::read_to_string(only(&place.path().join("runs").join(name)).join(file)).unwrap()
    };
    let summary = file("outsourced", "summary.json");
    assert!(summary.contains("\"pure\""), "the program's accountant has priced");
    let manifest: serde_json::Value = serde_json::from_str(&file("remote", "manifest.json")).unwrap();
    let named: Vec<&str> = manifest["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["name"].as_str().unwrap())
        .collect();
    for name in ["Chain", "Weibull", "EveryNth", "Nightly", "Forrester", "Triangular", "Remote", "Explorer"] {
        assert!(named.contains(&name), "{named:?}");
    }
    assert!(!named.contains(&"Maintenance"), "only what the scenario names: {named:?}");
}

#[test]
fn two_workers_give_what_one_run_gives() {
    let place = Place::new();
    let one = place.run("outsourced");
    place.says(&["sweep", "plan", "outsourced.ron", "--out", "shared", "--blocks", "4"]);
    let program = env!("CARGO_BIN_EXE_subrosa-outside");
    let folder = only(&place.path().join("shared"));
    let shared = folder.to_str().unwrap().to_owned();
    let worker = || {
        let mut command = Command::new(program);
        command.args(["sweep", "work", &shared, "--threads", "1"]).current_dir(place.path());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    for mut worker in [worker(), worker()] {
        assert!(worker.wait().unwrap().success());
    }
    place.says(&["sweep", "merge", &shared]);
    let digest = |folder: &Path| {
        let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest(&one), digest(&folder));
}

#[test]
fn mechanisms_are_audited_on_the_pairs_that_they_name() {
    let place = Place::new();
    for (name, mechanism) in [("outsourced", "Laplace"), ("local", "one bit"), ("release", "Laplace")] {
        let output = place.call(&["audit", &format!("{name}.ron"), "--trials", "4000", "--threads", "1"]);
        let said = words(&output);
        assert!(output.status.success(), "{name}:\n{said}");
        assert!(said.contains("consistent") || said.contains("CONSISTENT"), "{name} {mechanism}:\n{said}");
    }
    let remote = words(&place.call(&["audit", "remote.ron"]));
    assert!(remote.contains("measurements are told as they are"), "{remote}");
}

/// A folder of a program with members of its own says to one without them what it needs.
#[test]
fn a_program_that_lacks_a_member_says_which() {
    let place = Place::new();
    let folder = place.run("remote");
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    // As if a program had played it that has yet another member.
    fs::write(&manifest, text.replacen("\"Weibull\"", "\"Gompertz\"", 1)).unwrap();
    for verb in ["replay", "compare"] {
        let folder = folder.to_str().unwrap();
        let arguments = if verb == "compare" { vec![verb, folder, folder] } else { vec![verb, folder] };
        let output = place.call(&arguments);
        assert_eq!(output.status.code(), Some(3), "{}", words(&output));
        assert!(words(&output).contains("latency Gompertz"), "{}", words(&output));
    }
}
