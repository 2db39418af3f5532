//! Programs on a box: an objective that is asked point by point, and a learner that answers with points.
#![cfg(unix)]

use crate::support::{code_and_output, folder, metric, refused, run, subrosa};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// As objective, 1 - (rate - 0.3)^2 - 0.1 (depth - 2)^2 - 0.5 unless the solver is b; as learner, points made of the seed.
/// It notes every line that it is sent in asked.log.
const PROGRAM: &str = r#"
field() {
    rest=${line#*\""$1"\":}
    rest=${rest%%,*}
    printf '%s' "${rest%%\}*}"
}
while IFS= read -r line; do
    printf '%s\n' "$line" >> asked.log
    id=$(field id)
    case $line in
    *'"ask":"hello"'*) answer='"protocol":1,"version":"test 1"' ;;
    *'"ask":"begin"'*) answer='"ready":true' ;;
    *'"ask":"value"'*)
        rate=$(field rate)
        depth=$(field depth)
        solver=$(field solver)
        answer="\"value\":$(awk "BEGIN { print 1 - ($rate-0.3)*($rate-0.3) - 0.1*($depth-2)*($depth-2) - ($solver == \"b\" ? 0 : 0.5) }")"
        ;;
    *'"ask":"suggest"'*)
        seed=$(field seed)
        solver=a
        [ $((seed % 2)) -eq 0 ] && solver=b
        [ "$1" = wrong ] && solver=c
        answer="\"point\":{\"rate\":0.$((seed % 10))5,\"depth\":$((seed % 5)),\"solver\":\"$solver\"}"
        ;;
    esac
    printf '{"id":%s,%s}\n' "$id" "$answer"
done
"#;

const DIMENSIONS: &str = "[Real(name: \"rate\", low: 0, high: 1), Integer(name: \"depth\", low: 0, high: 4), \
    Categorical(name: \"solver\", values: [\"a\", \"b\"])]";

/// A scenario in a folder with the program; `more` are further fields of the objective.
fn scenario(place: &Path, more: &str, protocol: &str) -> String {
    fs::write(place.join("program.sh"), PROGRAM).unwrap();
    let text = format!(
        "Scenario(name: \"programs\", seed: 5, replications: 2, parties: {{ \"service\": Party(), \"users\": Party(), \"machine\": \
         Party(count: 3) }}, network: Network(topology: Mesh(), default: Link(latency: Constant(\"10ms\"))), objective: \
         External(command: [\"sh\", \"program.sh\"], dimensions: {DIMENSIONS}, noise_variance: 1e-6{more}), protocol: {protocol})"
    );
    let path = place.join("programs.ron");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn local(series: &str) -> String {
    format!("Local(service: \"service\", users: \"users\", rounds: 20, series: [{series}])")
}

const THREE: &str = "Series(name: \"random\", report: Disclosure(), learner: Random()), \
    Series(name: \"log-EI\", report: Disclosure(), learner: Acquisition()), \
    Series(name: \"program\", report: Disclosure(), learner: External(command: [\"sh\", \"program.sh\", \"learner\"]))";

/// The rows of `iterations.csv`: series, round, rate, depth, solver, value, simple and cumulative regret.
fn rows(run: &Path) -> Vec<(String, [f64; 7])> {
    let table = fs::read_to_string(run.join("iterations.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let solver = "x.solver (0 = a; 1 = b)";
    let columns =
        ["t", "x.rate", "x.depth", solver, "value", "simple_regret", "cumulative_regret"].map(column);
    let series = column("series");
    let lines = reader.records().map(Result::unwrap);
    lines.map(|line| (line[series].to_owned(), columns.map(|place| line[place].parse().unwrap()))).collect()
}

fn value(rate: f64, depth: f64, solver: f64) -> f64 {
    1.0 - (rate - 0.3) * (rate - 0.3)
        - 0.1 * (depth - 2.0) * (depth - 2.0)
        - if solver == 1.0 { 0.0 } else { 0.5 }
}

/// Values are the program's (to its six digits), regrets are against the stated best value, log-EI beats random choices; the
/// learner's points arrive as it sent them. Two threads change nothing, and a replay needs no program.
#[test]
fn a_program_is_asked_for_the_points_that_are_queried() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), ", best: Some(1)", &local(THREE));
    let runs: Vec<PathBuf> = ["1", "2"]
        .iter()
        .map(|threads| folder(&run(&path, &place.path().join(threads), &["--threads", threads])))
        .collect();
    let all = rows(&runs[0]);
    assert_eq!(all, rows(&runs[1]));
    assert_eq!(all.len(), 2 * 3 * 20);
    for (series, [_, rate, depth, solver, found, simple, _]) in &all {
        assert!((found - value(*rate, *depth, *solver)).abs() < 1e-5, "{series}: {found}");
        assert!(*simple >= 0.0 && *simple <= 1.0 - found + 1e-12);
        if series == "program" {
            assert!(((rate * 100.0).round() as u64) % 10 == 5, "a rate of the program: {rate}");
        }
    }
    let last = |name: &str| all.iter().rev().find(|row| row.0 == name).unwrap().1[6];
    assert!(last("log-EI") < last("random"), "{} {}", last("log-EI"), last("random"));
    let asked = fs::read_to_string(place.path().join("asked.log")).unwrap();
    assert!(
        asked.contains(r#""box":[{"name":"rate","low":0.0,"high":1.0,"whole":false,"logarithmic":false},"#)
    );
    assert!(asked.contains(r#"{"name":"solver","values":["a","b"]}"#), "{asked}");
    assert!(asked.contains(r#""point":{"rate":"#) && asked.contains(r#""outcome":"#));
    fs::remove_file(place.path().join("program.sh")).unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", runs[0].to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
}

/// Without a stated best value, regret is against the best value that any series has found, and the report says so: the
/// smallest simple regret at the end is 0, none is below 0, and cumulative regrets are the sums of the rounds' regrets.
#[test]
fn without_a_best_value_regret_is_against_the_best_value_found() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), "", &local(THREE));
    let document = run(&path, &place.path().join("out"), &["--replications", "1"]);
    let all = rows(&folder(&document));
    let best = all.iter().map(|row| row.1[4]).fold(f64::NEG_INFINITY, f64::max);
    let mut least = f64::INFINITY;
    for name in ["random", "log-EI", "program"] {
        let mut sum = 0.0;
        for (_, [_, _, _, _, value, simple, cumulative]) in all.iter().filter(|row| row.0 == name) {
            sum += best - value;
            least = least.min(*simple);
            assert!(*simple >= 0.0 && (cumulative - sum).abs() < 1e-9, "{name}: {cumulative} {sum}");
        }
    }
    assert_eq!(least, 0.0);
    let (_, text, _) = code_and_output(&subrosa(&[
        "report",
        folder(&document).to_str().unwrap(),
        "--format",
        "text",
        "--full",
    ]));
    let text = if text.is_empty() { document.to_string() } else { text };
    assert!(text.to_lowercase().contains("best value found by any series"), "{text}");
}

/// A value above the stated best one, and a point that is not in the box, end their replications with what was expected.
#[test]
fn impossible_values_and_points_end_a_replication() {
    let place = TempDir::new().unwrap();
    let failed = |path: &str, parts: &[&str]| {
        let out = place.path().join("out");
        let (code, stdout, stderr) =
            code_and_output(&subrosa(&["run", path, "--out", out.to_str().unwrap(), "--format", "json"]));
        assert_ne!(code, 0, "{stdout}");
        let said = format!("{stdout}{stderr}");
        let said = said.replace("\\\"", "\"");
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
    };
    let path = scenario(place.path(), ", best: Some(0.2)", &local(THREE));
    failed(&path, &["a finite number, at most 0.2, the stated `best`"]);
    let wrong = THREE.replace("\"learner\"]", "\"wrong\"]");
    let path = scenario(place.path(), "", &local(&wrong));
    failed(&path, &["an object with valid values of"]);
}

/// A branch of a fork that changes nothing goes on with the same points and values; one with another learner asks for
/// others.
#[test]
fn a_fork_continues_the_dialogues() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), ", best: Some(1)", &local(THREE));
    let text = fs::read_to_string(&path).unwrap();
    let fork = "seed: 5, fork: Fork(at: Round(10), branches: { \"same\": [], \"UCB\": [\"protocol.series[0].learner=Acquisition(\
                function: UpperConfidenceBound(beta: 4), refit: Never)\"] }),";
    fs::write(&path, text.replacen("seed: 5,", fork, 1)).unwrap();
    let forked = folder(&run(&path, &place.path().join("fork"), &[]));
    let (_, report, _) = code_and_output(&subrosa(&["report", forked.to_str().unwrap(), "--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&report).unwrap();
    let of = |cell, series| metric(&document, cell, series, "cumulative_regret").0;
    assert_eq!(of(0, "program"), of(2, "program"));
    assert_eq!(of(0, "random"), of(2, "random"));
    assert_ne!(of(0, "random"), of(1, "random"));
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", forked.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
}

#[test]
fn what_a_program_on_a_box_cannot_have_is_refused() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), "", &local(THREE));
    let refused = |change: &str, parts: &[&str]| refused(&path, &[change], parts);
    refused("objective.External.axes=[(low: 0, high: 1, values: 4)]", &["only `dimensions`"]);
    refused("objective.External.agents=Some(3)", &["only `dimensions`"]);
    let finite = "objective=External(command: [\"sh\", \"program.sh\"], axes: [(low: 0, high: 1, values: 4)], best: Some(1))";
    refused(finite, &["no `best` with `axes`"]);
    let words = "objective.External.dimensions=[Categorical(name: \"solver\", values: [\"a\", \"a\"])]";
    refused(words, &["dimensions[0].Categorical.values[1]", "a word that no earlier value has"]);
    refused("objective.External.dimensions=[]", &["1 to 16 inputs"]);
    let outsourced = "protocol=Outsourced(curator: \"service\", modeler: \"users\", rounds: 3, series: [Series(name: \"open\", \
                      release: Disclosure(), outcomes: Disclosure(), learner: Random())])";
    refused(
        outsourced,
        &["objective.External.dimensions", "the inputs of finitely many records", "write axes:"],
    );
    let federated = "protocol=Federated(server: \"service\", groups: [AgentGroup(members: \"machine\")], rounds: 3, series: \
                     [Series(name: \"TS\", sharing: Alone())])";
    refused(federated, &["a program that is asked for each point of a box"]);
    let silent = "protocol.never_answer=Informative(by: Regret, slope: 1, base_rate: 0.1)";
    refused(silent, &["the largest value", "is not known"]);
}
