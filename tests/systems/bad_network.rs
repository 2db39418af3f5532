//! What no network can be is refused by `check` before anything runs, each at its line and column.

use crate::support::{code_and_output, subrosa};
use std::fs;
use tempfile::TempDir;

const SCENARIO: &str = r#"Scenario(
    name: "bad",
    seed: 1,
    parties: {
        "caller": Party(group: "west"),
        "a": Party(group: "west"),
        "b": Party(group: "east", availability: Trace(file: "trace.csv")),
    },
    network: Network(
        topology: Edges([("caller", "a"), ("a", "b")]),
        default: Link(latency: Constant("5ms"), loss: Independent(0.1)),
        links: [LinkRule(from: "a", to: "east", loss: Independent(0.2))],
        outages: [Blackout(group: "east", from: "1s", until: "2s")],
    ),
    protocol: Echo(caller: "caller", rounds: 3, retry: Retry(attempts: 1000000)),
)
"#;

/// `check` refuses the scenario with `from` replaced by `to`, points at `to`, and says all of `words`.
#[track_caller]
fn refused(from: &str, to: &str, marked: &str, words: &[&str]) {
    let place = TempDir::new().unwrap();
    assert!(SCENARIO.contains(from), "{from}");
    let text = SCENARIO.replacen(from, to, 1);
    fs::write(place.path().join("trace.csv"), "1, [1, 2]\n").unwrap();
    let path = place.path().join("bad.ron");
    fs::write(&path, &text).unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
    assert_eq!((code, stdout.as_str()), (3, ""), "{to}: {stderr}");
    let at = text.find(to).unwrap() + to.find(marked).unwrap();
    let line = text[..at].matches('\n').count() + 1;
    let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
    let wanted = format!("bad.ron:{line}:{column}");
    assert!(stderr.contains(&wanted), "{to}: no {wanted} in\n{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{to}: no {word:?} in\n{stderr}");
    }
}

#[test]
fn a_latency_below_zero() {
    refused("Constant(\"5ms\")", "Constant(\"-5ms\")", "\"-5ms\"", &["-5ms"]);
    refused("Constant(\"5ms\")", "Exponential(mean: \"-1s\")", "\"-1s\"", &["-1s"]);
    refused("Constant(\"5ms\")", "Uniform(low: \"9ms\", high: \"4ms\")", "\"4ms\"", &["at least `low`"]);
}

#[test]
fn a_route_to_nowhere() {
    refused("(\"a\", \"b\")", "(\"a\", \"z\")", "\"z\"", &["no party is called \"z\""]);
    let island = "Edges([(\"caller\", \"a\")])";
    refused(
        "Edges([(\"caller\", \"a\"), (\"a\", \"b\")])",
        island,
        "Edges",
        &["a route between every two parties"],
    );
}

#[test]
fn a_group_that_does_not_exist() {
    refused("Blackout(group: \"east\"", "Blackout(group: \"eats\"", "\"eats\"", &["did you mean \"east\"?"]);
    refused(
        "to: \"east\"",
        "to: \"eest\"",
        "\"eest\"",
        &["no party or group is called \"eest\"", "\"east\""],
    );
}

#[test]
fn a_loss_of_one_with_endless_retries() {
    refused("Independent(0.1)", "Independent(1.0)", "Independent", &["a loss of 1", "retries never end"]);
    refused("Independent(0.2)", "Independent(1)", "Independent", &["a loss of 1"]);
    refused("Independent(0.2)", "Independent(1.5)", "1.5", &["1.5"]);
    let deaf = "Party(group: \"east\", availability: PerMessage(0))";
    refused(
        "Party(group: \"east\", availability: Trace(file: \"trace.csv\"))",
        deaf,
        "PerMessage",
        &["never online"],
    );
}

#[test]
fn a_trace_that_goes_back_in_time() {
    let place = TempDir::new().unwrap();
    for (row, words) in [
        ("1, [5, 2]", ["a time after 5s", "\"2\" at trace.csv:2, which is not later than the time before"]),
        ("1, [-1, 2]", ["a time in seconds, 0 or above", "\"-1\" at trace.csv:2"]),
        ("on, [1, 2]", ["the state at the start", "\"on\" at trace.csv:2"]),
        ("0", ["a party that is never online", "availability"]),
    ] {
        fs::write(place.path().join("trace.csv"), format!("# a recording\n{row}\n")).unwrap();
        let path = place.path().join("bad.ron");
        fs::write(&path, SCENARIO).unwrap();
        let (code, _, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
        assert_eq!(code, 3, "{row}: {stderr}");
        assert!(stderr.contains("bad.ron:7:"), "{row}: {stderr}");
        assert_eq!(stderr.matches("error: ").count(), 1, "what follows from it is not told: {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{row}: no {word:?} in {stderr}");
        }
    }
}
