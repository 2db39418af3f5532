//! What docs/language.md says of labels and of paths by name: both work, and say what is wrong.

use crate::support::{code_and_output, run, subrosa};
use tempfile::TempDir;

const HOSPITAL: &str = "scenarios/hospital.ron";

#[test]
fn labels_stand_in_for_values() {
    let place = TempDir::new().unwrap();
    let network = "network.default.latency=Each(\"network\", { \"office\": Constant(\"2ms\"), \"phone\": \
                   LogNormal(median: \"60ms\", sigma: 0.5) })";
    let document = run("tests/golden/echo.ron", place.path(), &["-o", network]);
    let cells = document["cells"].as_array().unwrap();
    let labels: Vec<&str> = cells.iter().map(|cell| cell["point"]["network"].as_str().unwrap()).collect();
    assert_eq!(labels, ["office", "phone"], "in the order in which they are written");
    let (code, text, stderr) =
        code_and_output(&subrosa(&["report", document["run"].as_str().unwrap(), "--full"]));
    assert_eq!(code, 0, "{stderr}");
    assert!(text.contains("office") && text.contains("phone") && !text.contains("LogNormal"), "{text}");
    let seconds = |cell: usize| cells[cell]["series"][0]["metrics"]["virtual_seconds"].as_f64().unwrap();
    assert!(seconds(0) < seconds(1), "the values belong to the labels");
}

#[test]
fn members_of_lists_and_maps_are_addressed_by_name() {
    let check = |change: &str| code_and_output(&subrosa(&["check", HOSPITAL, "-o", change]));
    let place = TempDir::new().unwrap();
    let few = ["-o", "protocol.rounds=3", "--replications", "1"];
    let change = "protocol.series[\"GP-UCB, non-private\"].learner=Random()";
    let by_name = run(HOSPITAL, place.path(), &[&few[..], &["-o", change]].concat());
    let by_place =
        run(HOSPITAL, place.path(), &[&few[..], &["-o", "protocol.series[3].learner=Random()"]].concat());
    assert_eq!(by_name["cells"], by_place["cells"]);
    // Which series play at random is known, however they are called.
    let at_random = |document: &serde_json::Value| -> Vec<bool> {
        let all = document["cells"][0]["series"].as_array().unwrap().iter();
        all.map(|series| series["at_random"] == true).collect()
    };
    assert_eq!(at_random(&by_name), [false, false, false, true, true]);
    let (code, _, stderr) = check("parties.lab=Party(count: 0)");
    assert!(code == 3 && stderr.contains("count"), "{stderr}");
    let (code, _, stderr) = check("protocol.series[\"GP-UCB, private\"].learner=Random()");
    assert!(code == 3 && stderr.contains("GP-UCB, private"), "{stderr}");
}

/// A comment in an override ends with the override.
#[test]
fn a_comment_in_an_override_hides_nothing() {
    let plain = code_and_output(&subrosa(&["check", "tests/golden/echo.ron", "-o", "seed=7"]));
    assert_eq!(plain.0, 0, "{}", plain.2);
    for change in ["seed=7 // mine", "seed= /* mine */ 7 // still mine"] {
        let found = code_and_output(&subrosa(&["check", "tests/golden/echo.ron", "-o", change]));
        assert_eq!(found, plain, "{change}");
    }
    let place = TempDir::new().unwrap();
    let document = run("tests/golden/echo.ron", place.path(), &["-o", "seed=7 // mine"]);
    assert_eq!(document["seed"], 7);
}

#[test]
fn the_name_of_an_each_is_any_text() {
    let place = TempDir::new().unwrap();
    for (name, axis) in
        [("r\"delay\"", "delay"), ("r#\"a \"b\"\"#", "a \"b\""), ("\"a \\\"b\\\"\"", "a \"b\"")]
    {
        let change = format!("network.default.latency=Each({name}, [Constant(\"2ms\"), Constant(\"4ms\")])");
        let document = run("tests/golden/echo.ron", place.path(), &["-o", &change]);
        assert!(document["cells"][0]["point"][axis].is_string(), "{name}: {}", document["cells"][0]["point"]);
    }
    let change = "network.default.latency=Each(\"a\\u{1b}\", [Constant(\"2ms\")])";
    let (code, _, stderr) = code_and_output(&subrosa(&["check", "tests/golden/echo.ron", "-o", change]));
    assert_eq!(code, 3);
    assert!(stderr.contains("a character that is not visible"), "{stderr}");
}
