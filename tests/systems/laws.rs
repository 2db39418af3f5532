//! Laws of latency, compute, arrivals and popularity through the public door: each is played, and a wrong one is told with
//! its place.

use crate::support::{code_and_output, run, subrosa};
use std::collections::BTreeSet;
use tempfile::TempDir;

const ECHO: &str = "tests/golden/echo.ron";
const USERS: &str = "scenarios/users.ron";

/// What a scenario may write for a time, besides the laws of the first version.
const TIMES: [&str; 11] = [
    "Weibull(scale: \"40ms\", shape: 0.8)",
    "Triangular(low: \"10ms\", mode: \"20ms\", high: \"70ms\")",
    "Gumbel(location: \"20ms\", scale: \"15ms\")",
    "LogLogistic(median: \"40ms\", shape: 4)",
    "Gamma(shape: 2.5, scale: \"16ms\")",
    "Erlang(stages: 3, mean: \"40ms\")",
    "Beta(a: 2, b: 5, low: \"10ms\", high: \"90ms\")",
    "Mixture(parts: [(weight: 9, law: Constant(\"20ms\")), (weight: 1, law: Exponential(mean: \"600ms\"))])",
    "Shifted(law: Exponential(mean: \"40ms\"), earlier: \"15ms\")",
    "Scaled(law: Exponential(mean: \"40ms\"), factor: 1.7)",
    "Truncated(law: Pareto(shortest: \"10ms\", shape: 1.1), to: \"1s\")",
];

fn digest(scenario: &str, settings: &[&str]) -> String {
    let out = TempDir::new().unwrap();
    let mut more = vec!["--replications", "1", "--threads", "1"];
    more.extend(settings.iter().flat_map(|setting| ["-o", setting]));
    run(scenario, out.path(), &more)["digest"].as_str().unwrap().to_owned()
}

#[test]
fn every_law_carries_messages_and_lasts_jobs() {
    let mut found = BTreeSet::new();
    for time in TIMES {
        found.insert(digest(ECHO, &[&format!("network.default.latency={time}")]));
    }
    assert_eq!(found.len(), TIMES.len(), "two laws give the same run");
    let job = format!("parties[\"near\"].compute=Drawn(time: {})", TIMES[4]);
    found.insert(digest(ECHO, &[&job]));
    assert_eq!(found.len(), TIMES.len() + 1, "jobs take no time");
}

/// 400 visits, 85 % of whom report, of 200 people: at exponent 1.5 the first comes with probability 1 / 2.47, in 138 of 340
/// reports; six standard errors are 54. Alike, nobody comes more than some ten times.
#[test]
fn a_few_people_come_very_often() {
    let most = |more: &[&str]| {
        let out = TempDir::new().unwrap();
        let few = ["--replications", "1", "-o", "protocol.rounds=400", "-o", "protocol.population=200"];
        let document = run(USERS, out.path(), &[&few[..], more].concat());
        let rows = document["cells"][0]["privacy"].as_array().unwrap();
        let row = rows.iter().find(|row| row["series"] == "LDP-TGP-UCB" && row["unit"] == "User").unwrap();
        row["releases_per_unit"].as_u64().unwrap()
    };
    let (even, uneven) = (most(&[]), most(&["-o", "protocol.popularity=Zipf(exponent: 1.5)"]));
    assert!(even < 15, "{even}");
    assert!((84..192).contains(&uneven), "{uneven}");
}

/// Users who come every second on the dot: 300 of them take 300 seconds and the last answer.
#[test]
fn users_come_at_intervals_of_any_law() {
    let few = ["--replications", "1", "-o", "protocol.rounds=300"];
    let seconds = |arrivals: &str| {
        let out = TempDir::new().unwrap();
        let setting = format!("protocol.arrivals=Renewal(interval: {arrivals})");
        let document = run(USERS, out.path(), &[&few[..], &["-o", &setting]].concat());
        let series = document["cells"][0]["series"].as_array().unwrap();
        let entry = series.iter().find(|entry| entry["name"] == "random play").unwrap();
        entry["metrics"]["virtual_seconds"].as_f64().unwrap()
    };
    let regular = seconds("Constant(\"1s\")");
    assert!((300.0..420.0).contains(&regular), "{regular}");
    let slow = seconds("Scaled(law: Gamma(shape: 3, scale: \"1s\"), factor: 2)");
    assert!(slow > 3.0 * regular, "{slow}");
}

#[test]
fn wrong_laws_are_told_with_their_place() {
    let refused = |scenario: &str, setting: &str, words: &[&str]| {
        let (code, _, stderr) = code_and_output(&subrosa(&["check", scenario, "-o", setting]));
        let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, 3, "{setting}: {stderr}");
        for word in words {
            assert!(said.contains(word), "{setting}: no {word:?} in\n{stderr}");
        }
    };
    let link = |law: &str| format!("network.default.latency={law}");
    let inside =
        "Mixture(parts: [(weight: 1, law: Scaled(law: Gamma(shape: 1e-9, scale: \"1s\"), factor: 2))])";
    refused(ECHO, &link(inside), &["shape", "from 0.01 to 1000000"]);
    refused(ECHO, &link("Mixture(parts: [])"), &["parts", "at least one part"]);
    let early = "Truncated(law: Exponential(mean: \"1ms\"), from: \"1s\")";
    refused(ECHO, &link(early), &["from", "between which at least 0.000001"]);
    refused(ECHO, &link("Triangular(low: \"1s\", mode: \"9s\", high: \"2s\")"), &["mode", "from `low`"]);
    refused(ECHO, &link("Weibul(scale: \"1s\", shape: 1)"), &["Weibull"]);
    refused(USERS, "protocol.popularity=Zipf(exponent: 1)", &["popularity", "a `population`"]);
    refused(USERS, "protocol.arrivals=Renewal(interval: Constant(\"0s\"))", &["interval", "above 0"]);
    let measured = "Empirical(file: \"nosuch.csv\", column: \"ms\")";
    refused(USERS, &format!("protocol.answer_after={measured}"), &["answer_after", "without a file"]);
    refused(
        USERS,
        &format!("protocol.arrivals=Renewal(interval: {measured})"),
        &["interval", "without a file"],
    );
}
