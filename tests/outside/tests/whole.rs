//! A program with members of its own has everything that the library's members have: each verb on scenarios that name them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every party and link of these scenarios is of the program's own kinds.
const NETWORK: &str = r#"network: Network(
        topology: Chain(),
        default: Link(latency: Frechet(scale: "40ms", shape: 3), loss: EveryNth(n: 7), bandwidth: Bandwidth(rate: Blinking(rate: "10Mbit/s", every: "100ms"))),
        outages: [Maintenance(group: "lab", every: "20s", lasts: "1s")],
    )"#;

const OUTSOURCED: &str = r#"Scenario(
    name: "outsourced", seed: 3, replications: 4,
    parties: {
        "curator": Party(compute: FixedTime(each: "5ms")),
        "lab": Party(group: "lab", availability: Nightly(online: "30s", offline: "2s")),
    },
    NETWORK,
    objective: Forrester(points: 25, width: 5, noise: TwoDice(bound: 0.1)),
    privacy: Privacy(delta: 1e-5, budget: Budget(epsilon: 50, delta: 1e-5, accountant: Pure)),
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
            sharing: Aggregate(regions: 2, clip: 5, noise_multiplier: 1, participation: Poisson(0.5), weights: Explorers(factor: 3), selection: Alternating()),
            policy: HalfOf(patience: "20s"),
        ), Series(
            name: "late", sharing: Aggregate(weights: Explorers(factor: 3), late: KeepLast, staleness: HalfEachRound()),
            policy: HalfOf(patience: "20s"),
        )],
    ),
)"#;

const LOCAL: &str = r#"Scenario(
    name: "local", seed: 7, replications: 2,
    parties: { "service": Party(), "users": Party() },
    NETWORK,
    objective: Forrester(points: 12, noise: TwoDice(bound: 0.1)),
    protocol: Local(
        service: "service", users: "users", rounds: 40, arrivals: Bursts(burst: 5, every: "2s", pause: "10s"),
        population: 1000, popularity: Regular(share: 0.05),
        answer_after: Frechet(scale: "1s", shape: 4), never_answer: Independent(0.1),
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
    objective: Forrester(points: 12, noise: TwoDice(bound: 0.1)),
    protocol: Remote(service: "service", device: "device", rounds: 8, learners: [Explorer(explore: 0.5), GpUcb()]),
)"#;

const GUARDED: &str = r#"Scenario(
    name: "guarded", seed: 13, replications: 2,
    parties: { "service": Party(), "device": Party() },
    NETWORK,
    objective: Forrester(points: 12, noise: TwoDice(bound: 0.1)),
    protocol: Guarded(
        service: "service", device: "device", rounds: 8, outcomes: OneBit(epsilon: 2, range: Range(low: -20, high: 10)),
        series: [Series(learner: Explorer(explore: 0.5))],
    ),
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
            ("guarded", GUARDED),
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
        "Frechet",
        "EveryNth",
        "Blinking",
        "Nightly",
        "FixedTime",
        "Maintenance",
        "Forrester",
        "TwoDice",
        "Explorer",
        "Scripted",
        "Bursts",
        "Regular",
        "LaplaceRows",
        "OneBit",
        "ClippedBest",
        "Remote",
    ] {
        assert!(all.contains(name), "{name} is not listed:\n{all}");
    }
    let frechet = place.says(&["list", "Frechet"]);
    assert!(frechet.contains("37 % of messages") && frechet.contains("shape"), "{frechet}");
    let part = place.says(&["list", "RoundPolicy"]);
    assert!(part.contains("HalfOf") && part.contains("Longest wait"), "{part}");
    for (wrong, right, at) in [
        ("Freche(scale: \"40ms\", shape: 3)", "Frechet", ":6:"),
        ("Frechet(scale: \"40ms\", shap: 0.7)", "shape", ":6:"),
        ("Frechet(scale: \"40ms\", shape: -1)", "above 0", ":6:"),
        ("Frechet(scale: \"40ms\")", "missing field `shape`", ":6:"),
    ] {
        let text = fs::read_to_string(place.path().join("remote.ron")).unwrap();
        let text = text.replace("Frechet(scale: \"40ms\", shape: 3)", wrong);
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
fn own_members_are_written_in_json_and_described_by_the_schema() {
    let place = Place::new();
    let schema: serde_json::Value = serde_json::from_str(&place.says(&["schema"])).unwrap();
    let latencies = schema["$defs"]["LatencyModel"]["oneOf"].as_array().unwrap();
    assert!(latencies.iter().any(|one| one["required"] == serde_json::json!(["Frechet"])), "{latencies:?}");
    assert!(schema["$defs"]["Frechet"]["properties"]["shape"].is_object());
    for name in ["outsourced", "federated", "local", "release", "remote"] {
        let text = place.says(&["convert", &format!("{name}.ron")]);
        let text = text.split("note: ").next().unwrap();
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        assert!(document["network"]["default"]["latency"]["Frechet"]["shape"].is_number(), "{text}");
        fs::write(place.path().join(format!("{name}.json")), text).unwrap();
        let valid = |kind: &str| place.says(&["check", &format!("{name}.{kind}"), "--format", "json"]);
        assert_eq!(valid("json"), valid("ron"));
    }
}

#[test]
fn every_system_is_played_replayed_priced_traced_and_reported() {
    let place = Place::new();
    for name in ["outsourced", "federated", "local", "release", "remote", "guarded"] {
        place.says(&["check", &format!("{name}.ron")]);
        let run = place.run(name);
        let folder = run.to_str().unwrap();
        let replayed = place.says(&["replay", folder, "--threads", "1"]);
        assert!(replayed.contains("replay agrees"), "{name}:\n{replayed}");
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
    for name in ["Chain", "Frechet", "EveryNth", "Nightly", "Forrester", "TwoDice", "Remote", "Explorer"] {
        assert!(named.contains(&name), "{named:?}");
    }
    assert!(!named.contains(&"Maintenance"), "only what the scenario names: {named:?}");
}

/// A learner of the program's own asks another program: what `External` has, it has too.
#[cfg(unix)]
#[test]
fn an_own_member_that_asks_a_program_is_announced_kept_and_replayed() {
    const SCRIPT: &str = r#"
turn=0
while IFS= read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
    case $line in
    *'"hello"'*) printf '{"id":%s,"protocol":1,"version":"by turns"}\n' "$id" ;;
    *'"begin"'*) printf '{"id":%s}\n' "$id" ;;
    *) turn=$((turn + 1)); printf '{"id":%s,"arm":%s}\n' "$id" "$((turn * 5 % 25))" ;;
    esac
done
"#;
    let place = Place::new();
    let script = place.path().join("turns.sh");
    fs::write(&script, SCRIPT).unwrap();
    let learner = "protocol.series[0].learner=Scripted(script: \"turns.sh\")";
    let out = place.path().join("runs").join("scripted");
    let arguments =
        ["run", "outsourced.ron", "-o", learner, "--threads", "1", "--out", out.to_str().unwrap()];
    let said = place.says(&arguments);
    assert!(said.contains("starts 1 program") && said.contains("`sh turns.sh`"), "{said}");
    let run = only(&out);
    let text = fs::read_to_string(run.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["programs"][0]["command"], serde_json::json!(["sh", "turns.sh"]));
    assert_eq!(manifest["programs"][0]["version"], "by turns");
    assert!(manifest["programs"][0]["files"]["turns.sh"].is_string(), "{text}");
    // Another script is another study; a script that is gone is told, and not needed to repeat the run.
    fs::write(&script, SCRIPT.replace("turn * 5", "turn * 7")).unwrap();
    place.says(&arguments);
    let inside = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(inside.filter(|path| path.join("manifest.json").is_file()).count(), 2);
    fs::remove_file(&script).unwrap();
    let replayed = place.says(&["replay", run.to_str().unwrap(), "--threads", "1"]);
    assert!(replayed.contains("replay agrees"), "{replayed}");
    let output = place.call(&["check", "outsourced.ron", "-o", learner]);
    assert_eq!(output.status.code(), Some(3));
    assert!(words(&output).contains("a file for sh to read"), "{}", words(&output));
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

/// Two series of one name would be one in tables, and `compare` would drop one.
#[test]
fn series_of_one_name_are_refused_with_their_place() {
    let place = Place::new();
    let twice = "protocol.learners=[Explorer(explore: 0.5), GpUcb(), Explorer(explore: 0.1)]";
    let output = place.call(&["check", "remote.ron", "-o", twice]);
    assert_eq!(output.status.code(), Some(3), "{}", words(&output));
    let said = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("protocol.Remote.learners[2]") && said.contains("\"Explorer\""), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
}

/// A protocol that states its rounds is timed in a dry run, and forked after a round.
#[test]
fn an_own_protocol_that_states_its_rounds_is_forked_after_one() {
    let place = Place::new();
    let dry = place.says(&["run", "remote.ron", "--dry"]);
    assert!(dry.contains("8.0") || dry.contains(" 8 "), "eight rounds: {dry}");
    let branch = "slow: network.default.loss=EveryNth(n: 3)";
    place.says(&["run", "remote.ron", "--fork-at", "3", "--branch", branch, "--out", "forks"]);
    let folder = only(&place.path().join("forks"));
    let said = place.says(&["replay", folder.to_str().unwrap(), "--threads", "1"]);
    assert!(said.contains("replay agrees: 4 replications"), "{said}");
}

#[test]
fn mechanisms_are_audited_on_the_pairs_that_they_name() {
    let place = Place::new();
    // 2,000 counted trials in each world: the bound is at least so much of what is proven. One of the users reports thrice.
    for (name, proven, share) in [("outsourced", 1.0, 0.7), ("local", 3.0, 0.7), ("release", 1.0, 0.0)] {
        let said = place.says(&[
            "audit",
            &format!("{name}.ron"),
            "--trials",
            "4000",
            "--threads",
            "1",
            "--expect",
            "consistent",
            "--format",
            "json",
        ]);
        let audit: serde_json::Value = serde_json::from_str(&said).unwrap();
        let mut bounds = Vec::new();
        numbers(&audit, "epsilon_lower", &mut bounds);
        assert!(!bounds.is_empty(), "{said}");
        assert!((share * proven..=proven).contains(&bounds[0]), "{name}: {bounds:?}");
    }
    // The answers of an own protocol, by the worst pair of their mechanism; epsilon 2 of one answer.
    let audit = |more: &[&str]| {
        let audit = ["audit", "guarded.ron", "--trials", "4000", "--threads", "1"];
        let output = place.call(&[&audit[..], more].concat());
        (output.status.code().unwrap(), words(&output))
    };
    let (code, said) = audit(&["--expect", "consistent", "--format", "json"]);
    assert_eq!(code, 0, "{said}");
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    let mut bounds = Vec::new();
    numbers(&found, "epsilon_lower", &mut bounds);
    assert!((1.7..=2.0).contains(&bounds[0]), "{bounds:?}");
    // A claim that is too small, and a price that is, are both refuted.
    for wrong in [
        &["--claim", "1,0"][..],
        &["-o", "protocol.outcomes=Understated(of: OneBit(epsilon: 2, range: Range(low: -20, high: 10)))"],
    ] {
        let (code, said) = audit(&[wrong, &["--expect", "refuted"]].concat());
        assert_eq!(code, 0, "{wrong:?}: {said}");
    }
    let (code, said) = audit(&["--neighbour", "1,2"]);
    assert!(code != 0 && said.contains("no neighbour"), "{said}");
    let (_, said) = audit(&["-o", "protocol.outcomes=Disclosure()"]);
    assert!(said.contains("outcomes are answered as they are"), "{said}");
    let remote = words(&place.call(&["audit", "remote.ron"]));
    assert!(remote.contains("measurements are told as they are"), "{remote}");
}

/// Every number of this name, wherever it stands.
fn numbers(value: &serde_json::Value, name: &str, found: &mut Vec<f64>) {
    match value {
        serde_json::Value::Object(map) => {
            found.extend(map.get(name).and_then(serde_json::Value::as_f64));
            map.values().for_each(|inner| numbers(inner, name, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|inner| numbers(inner, name, found)),
        _ => {}
    }
}

/// A folder of a program with members of its own says to one without them what it needs.
#[test]
fn a_program_that_lacks_a_member_says_which() {
    let place = Place::new();
    let folder = place.run("remote");
    let manifest = folder.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    // As if a program had played it that has yet another member.
    fs::write(&manifest, text.replacen("\"Frechet\"", "\"Gompertz\"", 1)).unwrap();
    for verb in ["replay", "compare"] {
        let folder = folder.to_str().unwrap();
        let arguments = if verb == "compare" { vec![verb, folder, folder] } else { vec![verb, folder] };
        let output = place.call(&arguments);
        assert_eq!(output.status.code(), Some(3), "{}", words(&output));
        assert!(words(&output).contains("latency Gompertz"), "{}", words(&output));
    }
}

/// A delay that is always the same.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Fixed {
    delay: subrosa::vocab::Span,
}

impl subrosa::network::latency::Latency for Fixed {
    fn quantile(&self, _: f64) -> subrosa::vocab::Span {
        self.delay
    }

    fn mean_seconds(&self) -> f64 {
        self.delay.seconds()
    }
}

/// One name is one type, one type has one name, and a process has one catalogue.
#[test]
fn catalogues_that_say_two_things_are_refused() {
    use subrosa::Catalogue;
    use subrosa::network::latency::LatencyModel;
    use subrosa::vocab::Span;
    use subrosa::vocab::family::MemberError;
    let taken = Catalogue::standard().latency::<Fixed>("Constant").install().unwrap_err();
    assert!(matches!(taken, MemberError::NameTaken { family: "latency", name: "Constant", .. }), "{taken}");
    let twice =
        Catalogue::standard().latency::<Fixed>("Fixed").latency::<Fixed>("Same").install().unwrap_err();
    assert!(matches!(twice, MemberError::TypeTaken { name: "Fixed", .. }), "{twice}");
    let odd = Catalogue::standard().latency::<Fixed>("no name").install().unwrap_err();
    assert_eq!(odd, MemberError::BadName { name: "no name" });
    // In Rust a type needs no name.
    let nameless = LatencyModel::from(Fixed { delay: Span::from_millis(3) });
    assert_eq!((nameless.name(), nameless.as_dyn().mean_seconds()), ("Fixed", 0.003));
    assert_eq!(nameless.get::<Fixed>().map(|fixed| fixed.delay), Some(Span::from_millis(3)));
    assert_eq!(nameless, nameless.clone());
    let late = Catalogue::standard().latency::<Fixed>("Fixed").install().unwrap_err();
    assert_eq!(late, MemberError::Settled { family: "latency" }, "names were asked for already");
    assert_eq!(Catalogue::standard().install(), Ok(()), "the same members once more");
}

/// What the conformance functions find in members that break their promises, and that they find nothing in ones that do not.
#[test]
fn conformance_tells_a_law_from_another() {
    use subrosa::conformance;
    use subrosa::network::latency::Latency;
    use subrosa::objectives::{NoiseLaw, Uniform};
    use subrosa::privacy::mechanisms::{Mechanism, MechanismError, Pair, Price, RandomizedResponse};
    use subrosa::rng::Stream;
    use subrosa::vocab::{Delta, Epsilon, Neighbours, NonNegative, Span};

    struct Falls;
    impl Latency for Falls {
        fn quantile(&self, u: f64) -> Span {
            Span::from_seconds(1.0 - u)
        }
        fn mean_seconds(&self) -> f64 {
            0.7
        }
    }
    let rules: Vec<&str> = conformance::latency(&Falls).iter().map(|breach| breach.rule).collect();
    let inverse = "a distribution function that is the inverse of the quantiles";
    let mean = "a mean that is the integral of the quantiles";
    assert_eq!(rules, ["quantiles that do not fall", inverse, mean]);
    assert_eq!(conformance::latency(&Fixed { delay: Span::from_millis(3) }), []);

    let uniform = Uniform { bound: NonNegative::new(2.0).unwrap() };
    assert_eq!(conformance::noise(&uniform), []);
    struct Understated(Uniform);
    impl NoiseLaw for Understated {
        fn draw(&self, stream: &mut Stream) -> f64 {
            self.0.draw(stream)
        }
        fn variance(&self) -> f64 {
            0.9 * self.0.variance()
        }
    }
    assert_eq!(conformance::noise(&Understated(uniform)).len(), 1);
    struct Narrow(Uniform);
    impl NoiseLaw for Narrow {
        fn draw(&self, stream: &mut Stream) -> f64 {
            self.0.draw(stream)
        }
        fn variance(&self) -> f64 {
            self.0.variance()
        }
        fn tail(&self, delta: Delta) -> Option<f64> {
            Some(0.9 * (1.0 - delta.get()) * self.0.bound.get())
        }
    }
    let found = conformance::noise(&Narrow(uniform));
    let rules: Vec<&str> = found.iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["a tail bound that is exceeded no more often than stated"]);

    /// Says `stated` and does `done`.
    #[derive(Clone, Debug)]
    struct Says {
        stated: RandomizedResponse,
        done: RandomizedResponse,
    }
    impl Mechanism for Says {
        type Input = bool;
        type Output = bool;
        fn price(&self, input: &bool, neighbours: &Neighbours) -> Result<Price, MechanismError> {
            self.stated.price(input, neighbours)
        }
        fn privatise(&self, input: &bool, stream: &mut Stream) -> Result<bool, MechanismError> {
            self.done.privatise(input, stream)
        }
        fn worst_pair(&self, like: &bool) -> Option<Pair<bool>> {
            self.done.worst_pair(like)
        }
        fn distinguisher(
            &self,
            inputs: [&bool; 2],
        ) -> Result<subrosa::privacy::mechanisms::Distinguisher<bool>, MechanismError> {
            self.done.distinguisher(inputs)
        }
    }
    let response = |epsilon| RandomizedResponse::new(Epsilon::new(epsilon).unwrap());
    let breaches = |stated, done| {
        let says = Says { stated: response(stated), done: response(done) };
        conformance::mechanism(says, &true, &Neighbours::AnyValue, 0.0, 4000).unwrap().len()
    };
    assert_eq!(breaches(1.0, 1.0), 0);
    // 2,000 counted answers tell epsilon 2 from 1 (0.88 and 0.73 of them are true), and so do the laws.
    assert_eq!(breaches(1.0, 2.0), 2);
}
