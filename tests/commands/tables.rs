//! Tables for other programs: a column for every value of a study, no JSON in a cell, losses by round, inputs by arm.

use crate::support::{code_and_output, folder, root, run, subrosa};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

/// The rows of a table, by the names of their columns.
fn rows(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(folder.join(format!("{name}.csv"))).unwrap();
    let header = table.headers().unwrap().clone();
    let row = |line: csv::StringRecord| {
        header.iter().map(str::to_owned).zip(line.iter().map(str::to_owned)).collect()
    };
    table.records().map(|line| row(line.unwrap())).collect()
}

const TABLES: [&str; 6] = ["results", "iterations", "ledger", "network", "summary", "privacy"];

/// The hospital with two epsilons and two losses: short runs.
fn hospital(place: &TempDir) -> serde_json::Value {
    let more = [
        "--replications",
        "2",
        "-o",
        "protocol.rounds=5",
        "-o",
        "protocol.series[1].release.epsilon=Each(\"epsilon\", [1, 4])",
        "-o",
        "network.default.latency=Constant(Each(\"delay\", [\"10ms\", \"1s\"]))",
    ];
    run("scenarios/hospital.ron", place.path(), &more)
}

#[test]
fn every_table_has_the_point_of_its_cell_and_no_json() {
    let place = TempDir::new().unwrap();
    let document = hospital(&place);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for name in TABLES {
        let rows = rows(&folder(&document), name);
        assert!(!rows.is_empty(), "{name}");
        for row in rows {
            let cell: usize = row["cell"].parse().unwrap();
            let point = &cells[cell]["point"];
            assert_eq!(row["point.epsilon"].parse::<f64>().unwrap(), point["epsilon"].as_f64().unwrap());
            assert_eq!(row["point.delay"], point["delay"].as_str().unwrap(), "{name}");
            for (column, text) in &row {
                assert!(!text.starts_with(['{', '[', '"']), "{name}, {column}: {text}");
            }
        }
    }
}

/// The other way: the file that the scenario names.
#[test]
fn the_inputs_of_an_arm_are_those_of_its_file() {
    let place = TempDir::new().unwrap();
    let document = hospital(&place);
    let mut file = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_path(root().join("scenarios/data/diabetes.csv"))
        .unwrap();
    let header = file.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = file.records().map(Result::unwrap).collect();
    let of = |arm: usize, name: &str| -> f64 {
        records[arm][header.iter().position(|known| known == name).unwrap()].parse().unwrap()
    };
    let rows = rows(&folder(&document), "iterations");
    for row in &rows {
        let arm: usize = row["arm"].parse().unwrap();
        for name in ["age", "bmi", "bp", "s5"] {
            let told: f64 = row[&format!("x.{name}")].parse().unwrap();
            assert!((told - of(arm, name)).abs() < 1e-12, "arm {arm}, {name}");
        }
    }
    // 3 initial points and 5 rounds of the learner, as the ledger counts them.
    let one = |row: &&BTreeMap<String, String>| {
        (&*row["cell"], &*row["replication"], &*row["series"]) == ("0", "0", "random search")
    };
    let counted: Vec<(&str, &str)> =
        rows.iter().filter(one).map(|row| (&*row["t"], &*row["round"])).collect();
    let expected =
        ["0", "0", "0", "1", "2", "3", "4", "5"].into_iter().zip(["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(counted, expected.collect::<Vec<_>>());
}

fn number(text: &str) -> f64 {
    if text == "inf" { f64::INFINITY } else { text.parse().unwrap() }
}

/// In every series epsilon never falls from round to round, and ends at that of the whole run.
#[test]
fn epsilon_rises_by_round_to_that_of_the_run() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "2"];
    let document = run("tests/golden/federated.ron", place.path(), &more);
    let folder = folder(&document);
    let losses = rows(&folder, "privacy");
    let iterations = rows(&folder, "iterations");
    let mut rising = 0;
    for whole in losses.iter().filter(|row| row["accountant"] == "tight" && row["whole_run"] == "true") {
        let same = |row: &&BTreeMap<String, String>| {
            ["cell", "series", "unit", "observer", "accountant"].iter().all(|key| row[*key] == whole[*key])
        };
        let steps: Vec<(u64, f64)> = losses
            .iter()
            .filter(same)
            .map(|row| (row["round"].parse().unwrap(), number(&row["epsilon"])))
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{steps:?}");
        rising += u64::from(steps.len() > 2 && steps[0].1 < steps[steps.len() - 1].1);
        let column = format!("epsilon.{}.{}", whole["unit"], whole["observer"]);
        let here = |row: &&BTreeMap<String, String>| {
            row["series"] == whole["series"] && row["cell"] == whole["cell"]
        };
        for row in iterations.iter().filter(here) {
            let round: u64 = row["round"].parse().unwrap();
            let bound = steps.iter().find(|(at, _)| *at >= round).unwrap_or(&steps[steps.len() - 1]).1;
            let told = number(&row[&column]);
            assert!(told == bound || round < steps[0].0 && told == 0.0, "round {round}: {told} for {bound}");
        }
    }
    assert!(rising > 0, "some loss grows over the rounds: {losses:?}");
}

#[test]
fn regret_per_question_is_the_quotient() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "2", "-o", "network.default.loss=Independent(Each(\"loss\", [0, 0.3]))"];
    let document = run("tests/golden/federated.ron", place.path(), &more);
    let folder = folder(&document);
    let mut asked = BTreeMap::<String, f64>::new();
    for row in rows(&folder, "results") {
        let value = |name: &str| row[name].parse::<f64>().unwrap();
        let quotient = value("cumulative_regret") / value("questions");
        assert!((value("regret_per_question") - quotient).abs() < 1e-12);
        *asked.entry(row["point.loss"].clone()).or_default() += value("questions");
    }
    assert!(asked["0.3"] < asked["0"], "who hears nothing asks nothing: {asked:?}");
    let (code, text, stderr) = code_and_output(&subrosa(&["report", folder.to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("regret per question") && text.contains("a sum over fewer questions is smaller"),
        "{text}"
    );
    assert!(
        !text.contains("simple regret cumulative regret"),
        "sums that cannot be compared are not shown: {text}"
    );
}

#[test]
fn runs_of_different_things_are_not_compared() {
    let place = TempDir::new().unwrap();
    let of = |scenario: &str, more: &[&str]| folder(&run(scenario, place.path(), more));
    let short = ["--replications", "2", "-o", "protocol.rounds=3"];
    let hospital = of("scenarios/hospital.ron", &short);
    let prices = of("scenarios/property.ron", &short);
    let users = of("scenarios/users.ron", &["--replications", "2", "-o", "protocol.rounds=20"]);
    let compare = |a: &Path, b: &Path| {
        code_and_output(&subrosa(&["compare", a.to_str().unwrap(), b.to_str().unwrap()]))
    };
    let (code, stdout, stderr) = compare(&hospital, &prices);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    for words in ["one objective", "diabetes.csv", "sacramento.csv", "give both runs the same"] {
        assert!(stderr.contains(words), "no {words:?}: {stderr}");
    }
    let (code, _, stderr) = compare(&hospital, &users);
    assert!(
        code == 2 && stderr.contains("one protocol, found Outsourced") && stderr.contains("Local"),
        "{stderr}"
    );
    // Another test function.
    let search = |function: &str| {
        let function = format!("objective.function={function}");
        of(
            "scenarios/search/branin.ron",
            &["--replications", "2", "-o", "protocol.rounds=8", "-o", &function],
        )
    };
    let (code, stdout, stderr) = compare(&search("Branin"), &search("SixHumpCamel"));
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    for words in ["one objective", "objective.function", "Branin", "SixHumpCamel"] {
        assert!(stderr.contains(words), "no {words:?}: {stderr}");
    }
    // What differs without changing what is optimised is named, and so is an axis that one side has.
    let noisy = [&short[..], &["-o", "objective.noise_sd=Each(\"noise\", [0.1, 0.2])"]].concat();
    let (code, stdout, stderr) = compare(&of("scenarios/hospital.ron", &noisy), &hospital);
    assert_eq!(code, 0, "{stderr}");
    let stdout = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stdout.contains("only the first run has the axis \"noise\""), "{stdout}");
    assert!(
        stdout.contains("the objectives differ in noise_sd: 0.2 in the first run, 0.1 in the second"),
        "{stdout}"
    );
}

/// All of them, readable, with the same number of rows: only in programs with the feature.
#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_same_rows() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use std::fs;
    let place = TempDir::new().unwrap();
    let folder = folder(&hospital(&place));
    for name in TABLES {
        let file = fs::File::open(folder.join(format!("{name}.parquet"))).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let found = reader.metadata().file_metadata();
        assert_eq!(found.num_rows() as usize, rows(&folder, name).len(), "{name}");
        let columns: Vec<&str> = found.schema().get_fields().iter().map(|field| field.name()).collect();
        let header = fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        assert_eq!(columns.len(), header.lines().next().unwrap().split(',').count(), "{name}");
    }
}

/// A sweep beside itself with one series changed: a line for each cell of that series, and one sentence on the others.
#[test]
fn a_comparison_of_sweeps_is_short() {
    let place = TempDir::new().unwrap();
    let a = folder(&hospital(&place));
    let more = [
        "--replications",
        "2",
        "-o",
        "protocol.rounds=5",
        "-o",
        "protocol.series[1].release.epsilon=Each(\"epsilon\", [1, 4])",
        "-o",
        "protocol.series[1].outcomes.epsilon=2",
        "-o",
        "network.default.latency=Constant(Each(\"delay\", [\"10ms\", \"1s\"]))",
    ];
    let b = folder(&run("scenarios/hospital.ron", place.path(), &more));
    let compare = |b: &Path, more: &[&str]| {
        let arguments = [&["compare", a.to_str().unwrap(), b.to_str().unwrap()], more].concat();
        let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    let short = compare(&b, &[]);
    let changed = short.lines().filter(|line| line.trim_start().starts_with("noisy rows, 3 + 3 ")).count();
    assert!((1..=4).contains(&changed), "{changed}: {short}");
    let flat = short.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(
            "a and b are equal in every metric, in all 4 cells: GP-UCB, non-private; PO-GP-UCB; noisy rows, 1 + 1; random search"
        ),
        "{short}"
    );
    assert!(short.lines().count() < 20, "{short}");
    let full = compare(&b, &["--full"]);
    assert!(full.contains("PO-GP-UCB, delay = 1s, epsilon = 4: equal in every metric"), "{full}");
    let itself = compare(&a, &[]);
    assert!(
        itself.contains("are equal in every metric, in all 4 cells") && !itself.contains("95 %"),
        "{itself}"
    );
    let (_, account, _) = code_and_output(&subrosa(&["account", a.to_str().unwrap()]));
    assert!(account.contains("(epsilon = 4)") && !account.contains("(cell "), "{account}");
}

/// A private release is judged by what is published, and outcomes have words for names.
#[test]
fn a_release_begins_with_the_published_setting() {
    let place = TempDir::new().unwrap();
    let arguments = ["--replications", "2", "-o", "protocol.rounds=4", "-o", "objective.settings=6"];
    let run = folder(&run("scenarios/release.ron", place.path(), &arguments));
    for more in [&[][..], &["--full"]] {
        let (_, text, _) = code_and_output(&subrosa(&[&["report", run.to_str().unwrap()], more].concat()));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let [outcome, regret] = ["setting", "regret at the end"].map(|words| flat.find(words).expect(words));
        assert!(outcome < regret, "{text}");
        let before = &flat[..flat.find("privacy").unwrap_or(flat.len())];
        assert!(!more.is_empty() || !before.contains("lambda~"), "{text}");
    }
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.find("id=\"outcomes\"").unwrap() < page.find("id=\"regret\"").unwrap());
}
