//! The report in a terminal: within 80 columns, nothing in it that JSON lacks, sparklines for people only.

use crate::support::{code_and_output, folder, root, run, subrosa};
use serde_json::Value;
use std::fs;
use std::process::Command;
use subrosa::report::{self, Terminal};
use subrosa::study::RunFolder;
use tempfile::TempDir;

/// Short runs of every system.
const RUNS: [(&str, &[&str]); 4] = [
    ("scenarios/hospital.ron", &["-o", "protocol.rounds=5", "--replications", "2"]),
    ("scenarios/users.ron", &["-o", "protocol.rounds=60", "--replications", "2"]),
    ("scenarios/release.ron", &["--replications", "2"]),
    ("tests/golden/federated.ron", &[]),
];

/// All numbers of a document, and its texts together.
fn contents(value: &Value, numbers: &mut Vec<f64>, texts: &mut String) {
    match value {
        Value::Number(number) => numbers.extend(number.as_f64()),
        Value::String(text) => {
            texts.push_str(text);
            texts.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| contents(item, numbers, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            texts.push_str(name);
            texts.push('\n');
            contents(field, numbers, texts);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Factors between a number and what a table makes of it: thousands and millions, percent, milliseconds to days.
const UNITS: [f64; 10] = [1.0, 1e-3, 1e-6, 1e-9, 100.0, 1e3, 1e6, 1.0 / 60.0, 1.0 / 3600.0, 1.0 / 86_400.0];

/// Whether a number as shown is one of those known, in some unit and cut to the digits shown.
fn is_known(shown: &str, numbers: &[f64], texts: &str) -> bool {
    let Ok(value) = shown.parse::<f64>() else { return true };
    let (digits, exponent) = shown.split_once('e').unwrap_or((shown, "0"));
    let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len()) as i32;
    // Up to one unit of the last digit shown: some tables round, some never round up or down.
    let step = 10f64.powi(exponent.parse::<i32>().unwrap_or(0) - places) * 1.000_001;
    texts.contains(shown)
        || numbers.iter().any(|known| UNITS.iter().any(|unit| (known * unit - value).abs() <= step))
}

#[test]
fn every_number_of_the_text_is_in_the_document() {
    let place = TempDir::new().unwrap();
    for (scenario, more) in RUNS {
        let path = root().join(scenario);
        let document = run(path.to_str().unwrap(), place.path(), more);
        let (mut numbers, mut texts) = (Vec::new(), String::new());
        contents(&document, &mut numbers, &mut texts);
        assert!(!is_known("123456.789", &numbers, &texts), "the check can fail");
        let place = folder(&document);
        let of = |more: &[&str]| {
            let arguments = [&["report", place.to_str().unwrap()], more].concat();
            let (code, text, stderr) = code_and_output(&subrosa(&arguments));
            assert_eq!(code, 0, "{stderr}");
            text
        };
        let text = [of(&[]), of(&["--accountants"]), of(&["--full"])].concat();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains(['\u{1b}', '▁', '█']), "no colour and no blocks in a pipe");
        for word in text.split(|c: char| c.is_whitespace() || "(),;:[]=".contains(c)) {
            let shown = word.trim_end_matches(['%', '.']);
            if shown.starts_with(|c: char| c.is_ascii_digit()) && shown.contains('.') {
                assert!(is_known(shown, &numbers, &texts), "{scenario}: {shown} is in the text only");
            }
        }
        for group in
            document["cells"][0]["series"].as_array().unwrap().iter().filter(|s| s["groups"].is_array())
        {
            assert!(
                group["fairness"]["jain_index"].is_number() || group["groups"].as_array().unwrap().len() < 2
            );
        }
    }
}

/// The name of the series, then its two sparklines: they fall and rise as the curves do.
#[test]
fn sparklines_follow_the_curves() {
    let place = TempDir::new().unwrap();
    let path = root().join("scenarios/hospital.ron");
    let more = ["-o", "protocol.rounds=12", "--replications", "2"];
    let document = run(path.to_str().unwrap(), place.path(), &more);
    let summary = RunFolder::at(&folder(&document)).summary().unwrap().unwrap();
    let plain = Terminal::default();
    let (with, without) =
        (report::text(&summary, Terminal { sparklines: true, ..plain }), report::text(&summary, plain));
    assert!(with.lines().all(|line| line.chars().count() <= 80), "{with}");
    assert!(with.contains("Regret over the rounds") && !without.contains("Regret over the rounds"));
    let sparks: Vec<&str> =
        with.split_whitespace().filter(|word| word.chars().all(|c| ('▁'..='█').contains(&c))).collect();
    assert_eq!(sparks.len() % 2, 0);
    for pair in sparks.chunks(2) {
        let ends = |spark: &str| (spark.chars().next().unwrap(), spark.chars().last().unwrap());
        assert!(ends(pair[0]).0 >= ends(pair[0]).1, "simple regret never grows: {}", pair[0]);
        assert!(ends(pair[1]).0 <= ends(pair[1]).1, "cumulative regret never falls: {}", pair[1]);
    }
    // Whoever reads a pipe gets none, whatever the locale.
    let output = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(["report", folder(&document).to_str().unwrap()])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains('▁'));
}

/// What is claimed, what is proven and the verdict of each series in one line, with its conditions and what is public.
#[test]
fn the_short_report_fits_a_screen_and_overstates_nothing() {
    let place = TempDir::new().unwrap();
    let path = root().join("scenarios/hospital.ron");
    let more = ["-o", "protocol.rounds=5", "--replications", "2"];
    let document = run(path.to_str().unwrap(), place.path(), &more);
    let folder = folder(&document);
    let of = |more: &[&str], columns: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_subrosa"))
            .args([&["report", folder.to_str().unwrap()], more].concat())
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = of(&[], "80");
    assert!(text.lines().count() <= 60, "{text}");
    let wide = of(&[], "150");
    let line = |series: &str| {
        let rest = &wide[wide.find("Privacy: epsilon").unwrap()..];
        rest.lines().find(|line| line.trim_start().starts_with(series)).unwrap_or_else(|| panic!("{wide}"))
    };
    for words in ["16.4", "none", "refuted"] {
        assert!(line("PO-GP-UCB").contains(words), "no {words}: {text}");
    }
    assert!(line("noisy rows, 3 + 3").contains("proven") && line("random search").contains("unprotected"));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["Taken as public", "number of records", "exact arithmetic", "neighbours, a record", "--accountants"]
    {
        assert!(flat.contains(words), "no {words}: {text}");
    }
    assert!(!text.contains("moments") && of(&["--accountants"], "80").contains("moments"));
    // A wide terminal is used, a narrow one is kept to, and words of headers are whole in both.
    for columns in ["72", "80", "150"] {
        let text = of(&["--full"], columns);
        let widest = text.lines().filter(|line| !line.contains('/')).map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= columns.parse().unwrap(), "{columns}: {text}");
        for word in ["cumulative", "messages", "replications"] {
            assert!(text.contains(word), "{word} is broken at {columns}: {text}");
        }
    }
    assert!(of(&["--full"], "150").lines().count() < of(&["--full"], "80").lines().count());
}

/// `report.html` stays the page that `replay` makes again; that of another cell or replication is a file of its own.
#[test]
fn another_replication_has_a_page_of_its_own() {
    let place = TempDir::new().unwrap();
    let swept = "network.default.loss=Each(\"loss\", [Independent(0.1), Independent(0.2)])";
    let folder =
        folder(&run("tests/golden/federated.ron", place.path(), &["-o", swept, "--replications", "3"]));
    let path = folder.to_str().unwrap();
    let page = |name: &str| fs::read_to_string(folder.join(name));
    let before = page("report.html").unwrap();
    for (more, name) in [
        (&["--cell", "1"][..], "report-cell1.html"),
        (&["--replication", "2"], "report-cell0-replication2.html"),
        (&["--cell", "1", "--replication", "2"], "report-cell1-replication2.html"),
    ] {
        let (code, _, stderr) = code_and_output(&subrosa(&[&["report", path], more].concat()));
        assert!(code == 0 && stderr.contains(&format!("wrote {path}/{name}")), "{stderr}");
        assert_ne!(page(name).unwrap(), before, "{name} shows another replication");
    }
    assert_eq!(page("report.html").unwrap(), before);
    let (code, _, stderr) = code_and_output(&subrosa(&["replay", path, "--files"]));
    assert_eq!(code, 0, "{stderr}");
    // The run's own page is written again where it was.
    fs::write(folder.join("report.html"), "").unwrap();
    let (code, _, stderr) = code_and_output(&subrosa(&["report", path]));
    assert!(code == 0 && !stderr.contains("wrote"), "{stderr}");
    assert_eq!(page("report.html").unwrap(), before);
}

#[test]
fn every_file_of_a_figure_is_named() {
    let place = TempDir::new().unwrap();
    let folder = folder(&run("tests/golden/branin.ron", place.path(), &["--replications", "2"]));
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (pdf, words) = (file("f.pdf"), file("f.txt"));
    let arguments = ["report", folder.to_str().unwrap(), "--pdf", &pdf, "--caption", &words];
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains(&format!("wrote {pdf}")) && stderr.contains(&format!("wrote {words}")),
        "{stderr}"
    );
    assert!(stdout.is_empty(), "nothing else is printed: {stdout}");
}
