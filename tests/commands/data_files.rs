//! What is refused in the data files that a scenario names: at the field, and at the line of the file, that cause it.

use crate::support::{code_and_output, subrosa};
use std::fs;
use tempfile::TempDir;

/// A scenario with an objective, in which every party has a link to the curator. Models are tuned by the curator, and
/// records of a table are queried by the modeler.
fn scenario(objective: &str, modeler: &str) -> String {
    let protocol = if objective.starts_with("Tuning") {
        r#"Release(
        owner: "curator",
        readers: ["modeler"],
        rounds: 2,
        series: [Series(name: "GP-UCB", publication: NonPrivate(learner: GpUcb()))],
    )"#
    } else {
        r#"Outsourced(
        curator: "curator",
        modeler: "modeler",
        rounds: 2,
        series: [Series(name: "GP-UCB", release: Disclosure(), learner: GpUcb())],
    )"#
    };
    format!(
        r#"Scenario(
    name: "data-files",
    seed: 1,
    parties: {{ "curator": Party(), "modeler": Party({modeler}) }},
    network: Network(topology: Star(hub: "curator")),
    objective: {objective},
    protocol: {protocol},
)"#
    )
}

/// What `check` says about a scenario beside these files: the exit code, and all errors on one line.
fn checked(files: &[(&str, &str)], objective: &str, modeler: &str) -> (i32, String) {
    let place = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    files.iter().for_each(|(name, text)| write(name, text));
    write("s.ron", &scenario(objective, modeler));
    let (code, _, stderr) =
        code_and_output(&subrosa(&["check", place.path().join("s.ron").to_str().unwrap()]));
    (code, stderr.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn accepted(files: &[(&str, &str)], objective: &str) {
    let (code, said) = checked(files, objective, "");
    assert_eq!(code, 0, "{said}");
}

/// Refused with one error, at a field, with these words.
#[track_caller]
fn refused(files: &[(&str, &str)], objective: &str, field: &str, words: &[&str]) {
    let (code, said) = checked(files, objective, "");
    assert_eq!(code, 3, "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    let name = objective.split('(').next().unwrap();
    assert!(said.contains(&format!("objective.{name}.{field}")), "no {field:?} in {said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in {said}");
    }
}

/// Ten rows `x,k,y`, in which k is 0.1 everywhere: ten times 0.1 is not 1 in floating point.
fn rows() -> String {
    let rows: String = (1..=10).map(|i| format!("{i},0.1,{}\n", i * i)).collect();
    format!("x,k,y\n{rows}")
}

const GIVEN: &str = "hyperparameters: Given(length_scales: [1], variance: 1, noise_variance: 0.1)";

#[test]
fn a_column_that_is_always_the_same() {
    let rows = rows();
    let files = [("t.csv", rows.as_str())];
    let table = |inputs: &str, output: &str, more: &str| {
        format!(r#"Table(file: "t.csv", inputs: ["{inputs}"], output: Column("{output}"), {GIVEN}{more})"#)
    };
    accepted(&files, &table("x", "y", ""));
    let same = "column \"k\" is the same in every row";
    refused(&files, &table("k", "y", ""), "inputs[0]", &[same, "leave the column out"]);
    let output = ["the output is the same in every row", "name another column, or state an output_scale"];
    refused(&files, &table("x", "k", ""), "output", &output);
    accepted(&files, &table("x", "k", ", output_scale: Stated(centre: 0, unit: 1)"));
    refused(&files, r#"Correlation(file: "t.csv")"#, "file", &[same, "name the column in `ignore`"]);
    accepted(&files, r#"Correlation(file: "t.csv", ignore: ["k"])"#);
    let training = [("t.csv", "x,k,y\n1,2,3\n3,4,4\n"), ("u.csv", rows.as_str())];
    refused(
        &training,
        r#"Correlation(file: "t.csv", training: Some("u.csv"))"#,
        "training",
        &["u.csv", same],
    );
}

#[test]
fn errors_are_at_the_line_that_an_editor_shows() {
    let table = format!(r#"Table(file: "t.csv", inputs: ["x"], output: Column("y"), {GIVEN})"#);
    let text = "# from 2020\n\nx,y\n1,2\n\n# the next is wrong\n3,four\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let words = ["t.csv:7: column \"y\": expected a number, found \"four\""];
        refused(&[("t.csv", &text)], &table, "output.Column", &words);
        let twice = text.replace("x,y\n", "x,y,x\n").replace("x,y\r\n", "x,y,x\r\n");
        let twice = twice.replace("1,2", "1,2,3").replace("3,four", "3,4,5");
        let words = ["t.csv:3: two columns are called \"x\"", "rename one of the two"];
        refused(&[("t.csv", &twice)], &table, "inputs[0]", &words);
        let short = text.replace("3,four", "3");
        let words = ["t.csv:7: expected 2 cells as in the header line, found 1", "correct the file"];
        refused(&[("t.csv", &short)], &table, "file", &words);
        // The network reads its files in the same way.
        let delays = r#"compute: Drawn(time: Empirical(file: "t.csv", column: "y"))"#;
        for (text, words) in [
            (text.as_str(), "a number, 0 or above, in column \"y\", found \"four\" at t.csv:7"),
            (&short, "t.csv:7: expected 2 cells"),
            (&twice.replace("x,y,x", "y,x,y"), "t.csv:3: two columns are called \"y\""),
        ] {
            let (code, said) = checked(&[("t.csv", text)], "GpSample(grid: [5], length_scale: 2)", delays);
            assert!(code == 3 && said.contains(words), "no {words:?} in {said}");
        }
    }
}

#[test]
fn errors_are_at_the_field_that_causes_them() {
    let text = "x,v,y\n1,5,2\n-2,6,4\n3,9,1\n";
    let files = [("t.csv", text)];
    let log = |inputs: &str, transform: &str, output: &str| {
        format!(
            "Table(file: \"t.csv\", inputs: {inputs}, log_inputs: {inputs}, transform: {transform}, \
             output: Column(\"{output}\"), {GIVEN})"
        )
    };
    let undefined = "ln(1 + x) of column \"x\" is undefined: the smallest x is -2";
    refused(&files, &log("[\"x\"]", "Identity", "y"), "log_inputs[0]", &[undefined]);
    let undefined = "ln(x) of the output is undefined: the smallest x is -2";
    refused(&files, &log("[\"v\"]", "Log", "x"), "transform", &[undefined]);
    refused(&files, &log("[\"v\"]", "Identity", "v"), "output", &["a number that the inputs do not contain"]);
    let empty = [("t.csv", "x,label\n")];
    let tuning = r#"Tuning(file: "t.csv", inputs: ["x"], label: Equals(column: "label", value: "good"),
        training: LogisticRegression, loss: Ramp, lambda_min: 0.01, lambda_max: 1)"#;
    refused(&empty, tuning, "file", &["no rows below the header line", "correct the file"]);
    refused(&[], tuning, "file", &["no such file", "paths begin at the folder"]);
    let values = [("t.csv", "x,label\n1,a\n2,b\n")];
    refused(&values, tuning, "label.Equals.value", &["no row has \"good\"", "write it as the file does"]);
    let stocks = r#"Correlation(file: "t.csv", training: Some("u.csv"))"#;
    refused(&[("t.csv", "a,b\n1,2\n3,4\n")], stocks, "training", &["u.csv: no such file"]);
    let missing = [("t.csv", "a,b\n1,2\n3,4\n"), ("u.csv", "a,c\n1,2\n3,4\n")];
    refused(&missing, stocks, "training", &["no column is called \"b\""]);
}

#[test]
fn a_split_that_does_not_fit_the_records() {
    let records: String = (0..8).map(|i| format!("{},{i},{}\n", ["ann", "bob"][i / 4], i % 2)).collect();
    let records = format!("who,x,kind\n{records}");
    let axes = "lambda: Axis(values: [1]), steps: Axis(values: [2]), intercept: Axis(values: [1])";
    let objective = format!(
        r#"FederatedTuning(file: "r.csv", agent: ["who"], inputs: ["x"], label: "kind",
        held_out: Column(file: "split.csv", agent: "who", row: "n", column: "part", value: "test"),
        model: LogisticRegression({axes}), prior_mean: 0.6, prior_sd: 0.2)"#
    );
    let split = |rows: &str| format!("who,n,part\nann,3,test\n{rows}bob,0,test\n");
    let check = |rows: &str, field: &str, words: &[&str]| {
        refused(&[("r.csv", &records), ("split.csv", &split(rows))], &objective, field, words);
    };
    accepted(&[("r.csv", &records), ("split.csv", &split(""))], &objective);
    let whole = "a whole number from 0 to 3, the agent's last record";
    for row in ["-1", "2.7", "4", "1e99"] {
        let words = [&*format!("split.csv:3: column \"n\": expected {whole}, found \"{row}\"")];
        check(&format!("ann,{row},test\n"), "held_out.Column.row", &words);
    }
    let words =
        ["split.csv:3: column \"who\": expected an agent of the file with the records, found \"eve\""];
    check("eve,0,test\n", "held_out.Column.agent", &words);
    check("ann,one,test\n", "held_out.Column.row", &["split.csv:3", "found \"one\""]);
}

/// What follows from a file that cannot be read is not reported beside it.
#[test]
fn a_file_that_is_not_there_is_one_error() {
    let measured = r#"Empirical(file: "none.csv", column: "s")"#;
    for modeler in [
        format!("availability: OnOff(online: {measured}, offline: Constant(\"1s\"))"),
        format!("availability: Crashing(up: {measured}, down: Constant(\"1s\"))"),
        format!("availability: OnOff(online: Constant(\"1s\"), offline: Scaled(law: {measured}, factor: 2))"),
        format!("compute: Drawn(time: Truncated(law: {measured}, from: \"1ms\"))"),
    ] {
        let (code, said) = checked(&[], "GpSample(grid: [5], length_scale: 2)", &modeler);
        assert_eq!(code, 3, "{said}");
        assert_eq!(said.matches("error: ").count(), 1, "{modeler}: {said}");
        assert!(said.contains("none.csv"), "{said}");
    }
}

/// Counts with which a run would not end.
#[test]
fn counts_without_end() {
    let records: String = (0..8).map(|i| format!("{},{i},{}\n", ["ann", "bob"][i / 4], i % 2)).collect();
    let records = format!("who,x,kind\n{records}");
    let rows = rows();
    let files = [("r.csv", records.as_str()), ("t.csv", rows.as_str())];
    let svm = |score: &str| {
        format!(
            r#"FederatedTuning(file: "r.csv", agent: ["who"], inputs: ["x"], label: "kind", prior_mean: 0.6, prior_sd: 0.2,
            model: RbfSvm(c: Axis(values: [1]), gamma: Axis(values: [1]), score: PlattArea({score})))"#
        )
    };
    let (folds, draws) = ("model.RbfSvm.score.PlattArea.folds", "model.RbfSvm.score.PlattArea.draws");
    refused(&files, &svm("folds: 1"), folds, &["at least 2 folds", "write 5, as in libsvm"]);
    refused(&files, &svm("folds: 101"), folds, &["at most 100 folds", "found 101"]);
    refused(&files, &svm("draws: 1000000000000"), draws, &["at most 1000 draws", "write fewer"]);
    let table = r#"Table(file: "t.csv", inputs: ["x"], output: Column("y"),
        hyperparameters: MaximumLikelihood(starts: 1001))"#;
    refused(&files, table, "hyperparameters.MaximumLikelihood.starts", &["at most 1000 starts"]);
    let sum = "RkhsSum(points: 100000, terms: 100000)";
    refused(&files, sum, "terms", &["at most 100000000 points x terms", "100000 points x 100000 terms"]);
}

/// Cells are checked on several threads, and read a file that they share once: neither changes what is said about them.
#[test]
fn many_cells_that_read_one_file() {
    let place = TempDir::new().unwrap();
    let said = |objective: &str, threads: &str| {
        let text = scenario(objective, "").replace("norms", &format!("{:?}", (1..=150).collect::<Vec<_>>()));
        fs::write(place.path().join("t.csv"), rows()).unwrap();
        fs::write(place.path().join("s.ron"), text).unwrap();
        let file = place.path().join("s.ron");
        code_and_output(&subrosa(&["check", file.to_str().unwrap(), "--threads", threads]))
    };
    let table = |inputs: &str| {
        format!(
            "Table(file: \"t.csv\", max_norm: Each(\"norm\", norms), inputs: Each(\"inputs\", {inputs}), output: Column(\"y\"), \
             noise_sd: Each(\"noise\", [0.1, 0.2]))"
        )
    };
    let valid =
        table("[[\"x\"]]").replace("noise_sd", "goal: Each(\"goal\", [Maximise, Minimise]), noise_sd");
    let (code, output, errors) = said(&valid, "2");
    assert_eq!(code, 0, "{errors}");
    assert!(output.contains("600 cells"), "{output}");
    // Column k is always the same, and there is no column z.
    let (code, _, errors) = said(&table("[[\"x\"], [\"k\"], [\"z\"]]"), "1");
    assert_eq!(code, 3);
    let count = |what: &str| errors.matches(what).count();
    // Equal problems of several cells are printed once.
    assert_eq!((count("error: "), count("[\"k\"]") > 0, count("[\"z\"]") > 0), (2, true, true), "{errors}");
    assert_eq!(said(&table("[[\"x\"], [\"k\"], [\"z\"]]"), "2").2, errors);
    // An error in the second half of the cells only.
    let late = table("[[\"x\"]]").replace("norms", "[1, 2, -3]");
    let late = late.replace("[0.1, 0.2]", &format!("{:?}", (1..=150).collect::<Vec<_>>()));
    let one = said(&late, "1").2;
    assert!(one.contains("above 0"), "{one}");
    assert_eq!(said(&late, "2").2, one);
}
