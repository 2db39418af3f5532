//! Tables as people have them: categories, and columns that are computed from others.

use crate::support::{code_and_output, folder, run, subrosa};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Twelve flats: a category, two numbers, a price; and the same with what a scenario can compute.
fn flats(place: &Path) {
    let kinds = ["flat", "house", "a hut"];
    let (mut plain, mut computed) = (
        String::from("kind,area,rooms,price\n"),
        String::from("hut,flat,house,ln,difference,ratio,is_house,price\n"),
    );
    for row in 0..12_u32 {
        let (kind, area) = (kinds[(row * 5 % 7 % 3) as usize], f64::from(20 + row * row % 17));
        let (rooms, price) = (f64::from(1 + row % 4), f64::from(100 + row * 13 % 29));
        plain += &format!("{kind},{area},{rooms},{price}\n");
        let is = |value: &str| u8::from(kind == value);
        let (ln, difference, ratio) = (libm::log(area), area - rooms, area / rooms);
        computed += &format!(
            "{},{},{},{ln:?},{difference:?},{ratio:?},{},{price}\n",
            is("a hut"),
            is("flat"),
            is("house"),
            is("house")
        );
    }
    fs::write(place.join("plain.csv"), plain).unwrap();
    fs::write(place.join("computed.csv"), computed).unwrap();
}

fn table(place: &Path, name: &str, fields: &str, inputs: usize) -> String {
    let text = format!(
        r#"Scenario(
        name: "flats",
        seed: 1,
        parties: {{ "curator": Party(), "modeler": Party() }},
        network: Network(topology: Star(hub: "curator")),
        objective: Table({fields}, output: Column("price"),
            hyperparameters: Given(length_scales: [{}], variance: 1, noise_variance: 0.1)),
        protocol: Outsourced(curator: "curator", modeler: "modeler", rounds: 12, series: [
            Series(name: "private inputs", release: NoisyRows(epsilon: 20, delta: 1e-5),
                outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -3, high: 3)), learner: GpUcb(exclude_played: true)),
        ]),
    )"#,
        vec!["1"; inputs].join(", ")
    );
    let file = place.join(name);
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

const DERIVED: &str = r#"derived: { "ln": Log("area"), "difference": Difference("area", "rooms"), "ratio": Ratio("area", "rooms"),
        "is_house": Equals(column: "kind", value: "house") }"#;

fn digest(document: &serde_json::Value) -> String {
    let records = fs::read_to_string(folder(document).join("records.jsonl")).unwrap();
    let record: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    record["series"][0]["digest"].to_string()
}

/// A search plays alike whether the columns were computed here or by another program.
#[test]
fn categories_and_computed_columns_are_those_of_another_program() {
    let place = TempDir::new().unwrap();
    flats(place.path());
    let here = format!(
        r#"file: "plain.csv", inputs: ["kind", "ln", "difference", "ratio", "is_house"], one_hot: ["kind"], {DERIVED}"#
    );
    let elsewhere =
        r#"file: "computed.csv", inputs: ["hut", "flat", "house", "ln", "difference", "ratio", "is_house"]"#;
    let here = run(&table(place.path(), "here.ron", &here, 7), &place.path().join("here"), &[]);
    let elsewhere =
        run(&table(place.path(), "elsewhere.ron", elsewhere, 7), &place.path().join("elsewhere"), &[]);
    assert_eq!(digest(&here), digest(&elsewhere));
    let public = |document: &serde_json::Value| document["cells"][0]["series"][0]["public"].to_string();
    assert!(
        public(&here).contains("which values occur in the columns of categories (kind)"),
        "{}",
        public(&here)
    );
    assert!(
        public(&here).contains("that the computed columns (difference, is_house, ln, ratio) can be computed")
    );
    assert!(!public(&elsewhere).contains("categories"));
    // Another order of columns is another search.
    let other =
        r#"file: "computed.csv", inputs: ["flat", "hut", "house", "ln", "difference", "ratio", "area"]"#;
    let (code, _, stderr) =
        code_and_output(&subrosa(&["check", &table(place.path(), "other.ron", other, 7)]));
    assert!(code == 3 && stderr.contains("inputs[6]"), "{stderr}");
}

/// The loss about a record counts the outcome too where an input reads a column from which the outcome is computed. An
/// outcome that the inputs contain is refused.
#[test]
fn an_input_computed_from_the_outcome_reads_the_outcome() {
    let place = TempDir::new().unwrap();
    flats(place.path());
    let fields = |input: &str| {
        format!(
            r#"file: "plain.csv", inputs: ["{input}"], derived: {{ "by_room": Ratio("price", "rooms"), "by_area": Ratio("area", "rooms") }}"#
        )
    };
    let released = |input: &str, output: &str| {
        let file = table(place.path(), &format!("{input}.ron"), &fields(input), 1);
        let document =
            run(&file, &place.path().join(input), &["-o", &format!("objective.output=Column(\"{output}\")")]);
        let rows = document["cells"][0]["privacy"].as_array().unwrap().clone();
        rows.iter().find(|row| row["unit"] == "Record").unwrap()["released"].to_string()
    };
    assert_eq!(released("by_area", "price"), r#"["noisy inputs"]"#);
    assert_eq!(released("rooms", "by_room"), r#"["noisy inputs","outcomes y"]"#);
    for (input, output) in [("by_room", "price"), ("price", "price"), ("by_room", "by_room")] {
        let file = table(place.path(), "x.ron", &fields(input), 1);
        let output = format!("objective.output=Column(\"{output}\")");
        let (code, _, stderr) = code_and_output(&subrosa(&["check", &file, "-o", &output]));
        assert!(code == 3 && stderr.contains("a number that the inputs do not contain"), "{input}: {stderr}");
    }
}

#[test]
fn what_cannot_be_computed_is_refused_at_its_place() {
    let place = TempDir::new().unwrap();
    flats(place.path());
    let with = |row: &str| {
        let text = fs::read_to_string(place.path().join("plain.csv")).unwrap();
        fs::write(place.path().join("bad.csv"), text + row + "\n").unwrap();
    };
    let said = |fields: &str, inputs: usize| {
        let file = table(place.path(), "x.ron", fields, inputs);
        let (code, _, stderr) = code_and_output(&subrosa(&["check", &file]));
        (code, stderr.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let bad = |more: &str| format!(r#"file: "bad.csv", {more}"#);
    for (row, fields, inputs, words) in [
        (
            "flat,0,1,90",
            r#"inputs: ["x"], derived: { "x": Log("area") }"#,
            1,
            "bad.csv:14: column \"area\": expected a number above 0",
        ),
        (
            "flat,0,1,90",
            r#"inputs: ["x"], derived: { "x": Log("area") }"#,
            1,
            "objective.Table.derived[\"x\"]",
        ),
        (
            "flat,9,0,90",
            r#"inputs: ["x"], derived: { "x": Ratio("area", "rooms") }"#,
            1,
            "a number other than 0, by which \"area\" is divided",
        ),
        (
            "flat,,1,90",
            r#"inputs: ["x"], derived: { "x": Difference("area", "rooms") }"#,
            1,
            "bad.csv:14: column \"area\": expected a number, found \"\"",
        ),
        (
            "flat,9,1,90",
            r#"inputs: ["x"], derived: { "x": Equals(column: "kind", value: "flta") }"#,
            1,
            "no row has \"flta\" in column \"kind\"",
        ),
        ("flat,9,1,90", r#"inputs: ["x"], derived: { "x": Log("aera") }"#, 1, "did you mean \"area\"?"),
        (
            "flat,9,1,90",
            r#"inputs: ["area"], derived: { "area": Log("area") }"#,
            1,
            "two columns are called \"area\"",
        ),
        (
            "?,9,1,90",
            r#"inputs: ["kind"], one_hot: ["kind"]"#,
            3,
            "bad.csv:14: column \"kind\": expected a category",
        ),
        ("flat,9,1,90", r#"inputs: ["kind"]"#, 1, "expected a number, found \"flat\""),
        (
            "flat,9,1,90",
            r#"inputs: ["kind"], one_hot: ["kind"]"#,
            2,
            "one length-scale for each of the 3 inputs",
        ),
        ("flat,9,1,90", r#"inputs: ["area"], one_hot: ["kind"]"#, 1, "one_hot[0]"),
        (
            "flat,9,1,90",
            r#"inputs: ["kind"], one_hot: ["kind"], log_inputs: ["kind"]"#,
            3,
            "leave it out here or in one_hot",
        ),
    ] {
        with(row);
        let (code, said) = said(&bad(fields), inputs);
        assert!(code == 3 && said.contains(words), "{fields}: no {words:?} in {said}");
    }
    let many: String = (0..101).map(|row| format!("c{row},{row},{}\n", row % 9)).collect();
    fs::write(place.path().join("bad.csv"), format!("kind,area,price\n{many}")).unwrap();
    let (code, said) = said(&bad(r#"inputs: ["kind"], one_hot: ["kind"]"#), 3);
    assert!(code == 3 && said.contains("has 101 different values, more than the 100"), "{said}");
}

/// Missing categories and missing numbers are filled, or their rows dropped, after columns were computed.
#[test]
fn gaps_of_computed_columns_follow_missing() {
    let place = TempDir::new().unwrap();
    flats(place.path());
    let text = fs::read_to_string(place.path().join("plain.csv")).unwrap();
    fs::write(place.path().join("gaps.csv"), text + "NA,30,2,90\nflat,NA,2,91\n").unwrap();
    let rows = |missing: &str| {
        let fields = format!(
            r#"file: "gaps.csv", inputs: ["kind", "ln"], one_hot: ["kind"], missing: {missing}, derived: {{ "ln": Log("area") }}"#
        );
        let file = table(place.path(), &format!("{missing}.ron"), &fields, 4);
        let document = run(&file, &place.path().join(missing), &["-o", "protocol.rounds=14"]);
        let records = fs::read_to_string(folder(&document).join("records.jsonl")).unwrap();
        let record: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
        let inputs = &record["series"][0]["inputs"];
        let names: Vec<String> =
            inputs["names"].as_array().unwrap().iter().map(|name| name.to_string()).collect();
        assert_eq!(names, ["\"kind=a hut\"", "\"kind=flat\"", "\"kind=house\"", "\"ln\""]);
        let arms: Vec<Vec<f64>> = inputs["arms"]
            .as_object()
            .unwrap()
            .values()
            .map(|row| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect())
            .collect();
        arms
    };
    assert!(rows("Drop").len() <= 12);
    let filled = rows("Mean");
    let shares = filled.iter().find(|row| row[0] > 0.0 && row[0] < 1.0).expect("the row without a category");
    // The shares of the thirteen rows that have one.
    assert!((shares[..3].iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
    assert!((shares[3] - libm::log(30.0)).abs() < 1e-12, "{shares:?}");
}
