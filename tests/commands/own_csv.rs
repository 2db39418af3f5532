//! A CSV file of one's own becomes a valid scenario for each system, in one command.

use crate::support::{code_and_output, subrosa};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Houses: a column that counts the rows, texts, a gap, a constant, and five columns of numbers.
fn houses(place: &Path) -> PathBuf {
    let mut text = String::from(
        "Order,MS Zoning,Lot Area,Year Built,Lot Frontage,Pool,\"Baths, full\",Garage,Sale_Price\n",
    );
    for row in 1..=40_u32 {
        let (area, year, baths) = (5000 + row * row * 7 % 4000, 1900 + row * 13 % 110, 1 + row % 3);
        let frontage = if row == 5 { "NA".to_owned() } else { (40 + row).to_string() };
        let price = 50_000 + area * 9 + year * 20 + baths * 8000;
        writeln!(text, "{row},RL,{area},{year},{frontage},0,{baths},{}.5,{price}", row * 37 % 11).unwrap();
    }
    let file = place.join("ames.csv");
    fs::write(&file, text).unwrap();
    file
}

fn new(system: &str, csv: &Path, output: &str, file: &Path) -> (i32, String, String) {
    let (csv, file) = (csv.to_str().unwrap(), file.to_str().unwrap());
    code_and_output(&subrosa(&["new", system, file, "--csv", csv, "--output", output]))
}

#[test]
fn a_file_of_ones_own_is_a_valid_scenario_at_once() {
    let place = TempDir::new().unwrap();
    let csv = houses(place.path());
    for system in ["outsourced", "local", "federated", "release"] {
        let file = place.path().join(format!("{system}.ron"));
        let (code, stdout, stderr) = new(system, &csv, "Sale_Price", &file);
        assert_eq!(code, 0, "{stderr}");
        let text = fs::read_to_string(&file).unwrap();
        let inputs = r#"inputs: ["Lot Area", "Year Built", "Lot Frontage", "Baths, full", "Garage"]"#;
        assert!(text.contains(inputs) && text.contains("missing: Mean"), "{text}");
        for reason in ["Order: counts the rows", "Pool: 0 in every row", "MS Zoning: texts, \"RL\" in line 2"]
        {
            assert!(text.contains(reason) && stdout.contains(reason), "{reason}: {stdout}{text}");
        }
        let file = file.to_str().unwrap();
        let (code, stdout, stderr) = code_and_output(&subrosa(&["check", file]));
        assert_eq!(code, 0, "{system}: {stdout}{stderr}");
        // It plays, too.
        let (code, _, stderr) = code_and_output(&subrosa(&["trace", file, "-o", "protocol.rounds=2"]));
        assert_eq!(code, 0, "{system}: {stderr}");
    }
    // A classifier of words.
    let words = place.path().join("words.csv");
    fs::write(&words, fs::read_to_string(&csv).unwrap().replacen(",RL,", ",RM,", 9)).unwrap();
    let file = place.path().join("words.ron");
    let (code, _, stderr) = new("release", &words, "MS Zoning", &file);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        fs::read_to_string(&file).unwrap().contains(r#"label: Equals(column: "MS Zoning", value: "RL")"#)
    );
    let (code, _, stderr) = code_and_output(&subrosa(&["check", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn what_no_scenario_can_be_made_of_is_said_with_a_cure() {
    let place = TempDir::new().unwrap();
    let csv = houses(place.path());
    let file = place.path().join("x.ron");
    let semicolons = place.path().join("semicolons.csv");
    fs::write(&semicolons, "a;b;y\n1,5;2;3\n2,5;3;4\n").unwrap();
    for (csv, output, words) in [
        (&csv, "SalePrice", "did you mean --output \"Sale_Price\"?"),
        (&csv, "MS Zoning", "holds texts, \"RL\" in line 2: name a column of numbers"),
        (&csv, "Pool", "the same in every row"),
        // Cells are separated by semicolons, and numbers have decimal commas.
        (
            &semicolons,
            "y",
            "no other column than \"y\" can be an input: a: texts, \"1,5\" in line 2; b: counts the rows",
        ),
        (&place.path().join("none.csv"), "y", "no such file"),
    ] {
        let (code, _, stderr) = new("outsourced", csv, output, &file);
        assert!(code == 3 && stderr.contains(words), "{code}: {stderr}");
        assert!(!file.exists());
    }
    let (code, _, stderr) = code_and_output(&subrosa(&["new", "local", "--csv", "x.csv"]));
    assert!(code == 2 && stderr.contains("--output"), "{stderr}");
}

/// A column of two texts is a class. A column of numbers with a gap is none, nor are an empty cell and names of the records.
#[test]
fn a_class_is_a_column_of_few_texts() {
    let place = TempDir::new().unwrap();
    let csv = place.path().join("homes.csv");
    let write = |garden: &str| {
        let mut text = String::from("town,age,area,garden,owner\n");
        for row in 1..=20_u32 {
            let age = if row == 7 { String::new() } else { (row * 7 % 23).to_string() };
            let own = if row == 9 {
                garden
            } else if row % 3 == 0 {
                "yes"
            } else {
                "no"
            };
            writeln!(text, "{},{age},{},{own},person {row}", row % 2, 40 + row * row % 31).unwrap();
        }
        fs::write(&csv, text).unwrap();
    };
    write("yes");
    let file = place.path().join("x.ron");
    let (code, stdout, stderr) = new("release", &csv, "garden", &file);
    assert!(code == 0 && stdout.contains("owner: texts, \"person 1\" in line 2"), "{stdout}{stderr}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(r#"inputs: ["town", "age", "area"]"#) && text.contains("missing: Mean"), "{text}");
    assert!(text.contains("Equals(column: \"garden\", value: \"no\")"), "{text}");
    let (code, _, stderr) = code_and_output(&subrosa(&["check", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
    fs::remove_file(&file).unwrap();
    let (code, _, stderr) = new("release", &csv, "owner", &file);
    let words = "column \"owner\" has 20 different texts in 20 rows";
    assert!(code == 3 && stderr.contains(words) && !file.exists(), "{code}: {stderr}");
    // Columns of few texts are inputs by category; a class that is missing leaves out its record.
    write("");
    for (system, column, line) in [
        ("release", "garden", "missing: Mean"),
        ("release", "age", "one_hot: [\"garden\"]"),
        ("local", "age", "missing: Mean"),
        ("outsourced", "area", "length_scales: [1, 1, 1, 1]"),
    ] {
        let (code, _, stderr) = new(system, &csv, column, &file);
        assert_eq!(code, 0, "{stderr}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(line), "{system} {column}: {text}");
        let (code, _, stderr) =
            code_and_output(&subrosa(&["trace", file.to_str().unwrap(), "-o", "protocol.rounds=2"]));
        assert_eq!(code, 0, "{system} {column}: {stderr}\n{text}");
        fs::remove_file(&file).unwrap();
    }
}

/// A value is marked to its end, also with an `Each` or a comment inside; of an unknown name only the name is marked.
#[test]
fn a_mark_in_the_source_is_as_long_as_what_is_wrong() {
    let place = TempDir::new().unwrap();
    let csv = houses(place.path());
    let file = place.path().join("x.ron");
    assert_eq!(new("release", &csv, "Sale_Price", &file).0, 0);
    let text = fs::read_to_string(&file).unwrap();
    let label = text.lines().find_map(|line| line.trim().strip_prefix("label: ")).unwrap();
    for (value, marked, words) in [
        (r#"Above(column: "Garage", threshold: Each("t", [3, 1e9]))"#, 55, "records of both classes"),
        (r#"Equals(column: "MS Zoning", value: Each("v", ["RL"]))"#, 53, "records of both classes"),
        (r#"Equal(column: "MS Zoning", value: Each("v", ["RL"]))"#, 5, "unknown name `Equal`"),
        (r#"Equals(column: "MS Zoning", value: "XX")"#, 4, "no row has \"XX\""),
        (r#"Equals(column: "Garage", value: 3)"#, 1, "put it in quotation marks"),
    ] {
        fs::write(&file, text.replace(label, &format!("{value},"))).unwrap();
        let (code, _, stderr) = code_and_output(&subrosa(&["check", file.to_str().unwrap()]));
        assert!(code == 3 && stderr.contains(words), "{value}: {stderr}");
        assert_eq!(stderr.matches('^').count(), marked, "{value}: {stderr}");
    }
}

/// The help in a message is about what was written.
#[test]
fn help_names_what_the_field_takes() {
    let place = TempDir::new().unwrap();
    let csv = houses(place.path());
    let file = place.path().join("x.ron");
    assert_eq!(new("outsourced", &csv, "Sale_Price", &file).0, 0);
    let file = file.to_str().unwrap();
    let said = |arguments: &[&str]| {
        let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
        (code, format!("{stdout}{stderr}").split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let with = |change: &str| said(&["check", file, "-o", change]);
    let (code, text) = with("objective.output=\"Sale_Price\"");
    assert!(
        code == 3 && text.contains("write output: Column(\"price\")") && !text.contains("Constant(..)"),
        "{text}"
    );
    let (code, text) = with("network.default.latency=Constant");
    assert!(code == 3 && text.contains("write it as in Constant(\"40ms\")"), "{text}");
    let (code, text) = with("network.default.order=Fifo(fast: true)");
    assert!(code == 3 && text.contains("`Fifo` takes nothing in brackets"), "{text}");
    let (code, text) = with("network.default.latency=Uniform");
    assert!(code == 3 && text.contains("missing field `low`"), "{text}");
    let (code, text) = said(&["check", file, "--data", "/nope"]);
    assert!(code == 2 && text.contains("--data /nope: there is no such folder"), "{text}");
}

#[test]
fn a_scenario_may_come_from_standard_input() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = fs::read(crate::support::root().join("tests/golden/echo.ron")).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let (code, stdout, _) = code_and_output(&child.wait_with_output().unwrap());
    assert!(code == 0 && stdout.contains("valid"), "{stdout}");
}

/// A list explains one member of a family with its example, and the file of `account` as well.
#[test]
fn the_list_shows_examples() {
    let (code, stdout, _) = code_and_output(&subrosa(&["list", "latency", "gamma"]));
    assert!(code == 0 && stdout.contains("Example: Gamma(shape: 2, scale: \"20ms\")"), "{stdout}");
    assert!(!stdout.contains("Weibull("), "{stdout}");
    let (code, stdout, _) = code_and_output(&subrosa(&["list", "account"]));
    assert!(code == 0 && stdout.contains("events:") && stdout.contains("Example: Account("), "{stdout}");
    let (code, _, stderr) = code_and_output(&subrosa(&["list", "latency", "Gama"]));
    assert!(code == 2 && stderr.contains("did you mean Gamma?"), "{stderr}");
}

/// Names of columns stay as they are, also those that contain a word of the program's own template.
#[test]
fn names_of_columns_are_not_rewritten() {
    let place = TempDir::new().unwrap();
    let csv = place.path().join("PROFILES.csv");
    let mut text = String::from("PROFILE,LABELS,INPUTS_NETWORK,CLASS\n");
    for row in 0..40_u32 {
        writeln!(text, "{},{},{},{}", row * 7 % 13, row * 5 % 11, row * 3 % 17, row % 2).unwrap();
    }
    fs::write(&csv, text).unwrap();
    let file = place.path().join("release.ron");
    let (code, _, stderr) = new("release", &csv, "CLASS", &file);
    assert_eq!(code, 0, "{stderr}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(r#"inputs: ["PROFILE", "LABELS", "INPUTS_NETWORK"]"#), "{text}");
    assert!(text.contains("PROFILES.csv\""), "{text}");
    let (code, stdout, stderr) = code_and_output(&subrosa(&["check", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{stdout}{stderr}");
}

/// No scenario is written that fails in every replication.
#[test]
fn a_federation_searches_at_most_5000_rows() {
    let place = TempDir::new().unwrap();
    let csv = place.path().join("long.csv");
    let write = |rows: u32| {
        let mut text = String::from("x,y\n");
        for row in 0..rows {
            writeln!(text, "{},{}", row * 7919 % 5003, row * 104_729 % 997).unwrap();
        }
        fs::write(&csv, text).unwrap();
    };
    write(5001);
    let file = place.path().join("long.ron");
    let (code, _, stderr) = new("federated", &csv, "y", &file);
    assert_ne!(code, 0);
    assert!(stderr.contains("has 5001 rows, and the agents of a federation search at most 5000"), "{stderr}");
    assert!(!file.exists());
    let (code, _, stderr) = new("local", &csv, "y", &file);
    assert_eq!(code, 0, "another system takes them all: {stderr}");
    write(5000);
    let file = place.path().join("fits.ron");
    let (code, _, stderr) = new("federated", &csv, "y", &file);
    assert_eq!(code, 0, "{stderr}");
}
