//! A forked run is a study of its branches: `report`, `compare`, `account` and the tables know all of them.

use crate::support::{code_and_output, root, subrosa};
use std::fs;
use std::path::PathBuf;
use subrosa::report::Page;
use subrosa::study::RunFolder;
use tempfile::TempDir;

const SLOW: &str = "all slow: parties.slow.compute=Drawn(time: Constant(\"3s\"))";
const LOSSY: &str = "lossy: network.default.loss=Independent(0.6)";

fn forked(place: &TempDir, more: &[&str]) -> (PathBuf, String) {
    let out = place.path().to_str().unwrap();
    let scenario =
        ["run", "tests/golden/federated.ron", "--fork-at", "2", "--branch", SLOW, "--branch", LOSSY];
    let arguments = [&scenario[..], &["--out", out, "--format", "json"], more].concat();
    let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 0, "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    (PathBuf::from(document["run"].as_str().unwrap()), stdout)
}

fn says(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    stdout
}

#[test]
fn a_report_has_a_row_and_a_curve_for_each_branch() {
    let place = TempDir::new().unwrap();
    let (folder, stdout) = forked(&place, &["--replications", "2"]);
    let path = folder.to_str().unwrap();
    let text = says(&["report", path, "--full"]);
    let names = ["unchanged", "all slow", "lossy"];
    for name in names.iter().chain(&["branch"]) {
        assert!(text.contains(name), "{name}: {text}");
    }
    // The numbers are those that the fork itself compares.
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let page = Page::read(&RunFolder::at(&folder)).unwrap().unwrap();
    let series = page.summary.cells[0].series.len();
    assert_eq!(rows.len(), 3 * series);
    for cell in &page.summary.cells {
        let branch = cell.point["branch"].as_str().unwrap();
        for one in &cell.series {
            let row = rows.iter().find(|row| row["branch"] == branch && row["series"] == one.name).unwrap();
            assert_eq!(row["messages"].as_f64().unwrap(), one.metrics.messages, "{branch}");
            let regret = one.metrics.cumulative_regret.map(|estimate| estimate.mean);
            assert_eq!(row["cumulative_regret"]["mean"].as_f64(), regret, "{branch}");
            assert!(!one.curve.is_empty());
        }
    }
    assert_eq!(page.summary.cells.len(), 3);
    let html = fs::read_to_string(folder.join("report.html")).unwrap();
    for name in names {
        assert!(html.matches(name).count() > 2, "{name} has curves and rows");
    }
    let chart = place.path().join("regret.svg");
    says(&["report", path, "--svg", chart.to_str().unwrap()]);
    let chart = fs::read_to_string(chart).unwrap();
    assert!(names.iter().all(|name| chart.contains(name)), "{chart}");
    let table = fs::read_to_string(folder.join("results.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains("point.branch") && table.contains("all slow"), "{table}");
}

#[test]
fn compare_sets_each_branch_beside_the_unchanged_one() {
    let place = TempDir::new().unwrap();
    let (folder, stdout) = forked(&place, &["--replications", "3"]);
    let path = folder.to_str().unwrap();
    let found: serde_json::Value =
        serde_json::from_str(&says(&["compare", path, "--format", "json"])).unwrap();
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let mut compared = 0;
    for row in document["rows"].as_array().unwrap().iter().filter(|row| row["branch"] != "unchanged") {
        let same = |other: &&serde_json::Value| {
            other["point"]["branch"] == row["branch"]
                && other["series_a"] == row["series"]
                && other["metric"] == "cumulative_regret"
        };
        let own = found["rows"].as_array().unwrap().iter().find(same).unwrap();
        assert_eq!(own["paired"], true);
        let difference = |of: &serde_json::Value| of["difference"]["mean"].as_f64().unwrap();
        assert!((difference(own) - difference(row)).abs() < 1e-12, "{own} {row}");
        compared += 1;
    }
    assert!(compared >= 2);
    let text = says(&["compare", path]);
    for words in ["branch \"unchanged\"", "lossy", "all slow"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let full = says(&["compare", path, "--full"]);
    assert!(full.contains("branch = lossy") && full.contains("branch = all slow"), "{full}");
    assert!(text.lines().count() < full.lines().count(), "{text}");
    // With another run, the axis is the fork's alone.
    let plain = says(&[
        "run",
        "tests/golden/federated.ron",
        "--format",
        "json",
        "--out",
        place.path().to_str().unwrap(),
    ]);
    let plain: serde_json::Value = serde_json::from_str(&plain).unwrap();
    let text = says(&["compare", path, plain["run"].as_str().unwrap()]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("only the first run has the axis \"branch\""), "{text}");
    let (code, _, stderr) = code_and_output(&subrosa(&["compare", plain["run"].as_str().unwrap()]));
    assert!(code == 2 && stderr.contains("has no branches to compare"), "{stderr}");
}

/// The folder is whole: accountants read it, its files follow from its records, and no plain run takes its records.
#[test]
fn a_fork_is_no_source_of_plain_runs() {
    let place = TempDir::new().unwrap();
    let (folder, _) = forked(&place, &["--replications", "1"]);
    let path = folder.to_str().unwrap();
    let account = says(&["account", path]);
    assert!(account.contains("Epsilon of one run"), "{account}");
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", path, "--files"]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let played = says(&["replay", path, "--threads", "2"]);
    assert!(played.contains("replay agrees: 3 replications, every record equal"), "{played}");
    for (more, words) in [
        (&["--diff", path][..], "is a fork: its branches share their beginning"),
        (&["--until", "2s"], "--until is not for a fork"),
    ] {
        let (code, _, stderr) = code_and_output(&subrosa(&[&["replay", path], more].concat()));
        assert!(code == 2 && stderr.contains(words), "{stderr}");
    }
    let changed = "network.default.loss=Independent(0.6)";
    let out = place.path().to_str().unwrap();
    let arguments = ["run", "tests/golden/federated.ron", "-o", changed, "--replications", "1", "--out", out];
    let (code, _, stderr) = code_and_output(&subrosa(&arguments));
    assert!(code == 0 && !stderr.contains("reused"), "{stderr}");
    let run =
        fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.path()).find(|path| *path != folder);
    let (code, _, stderr) = code_and_output(&subrosa(&["replay", run.unwrap().to_str().unwrap()]));
    assert_eq!(code, 0, "the run from the start is its own: {stderr}");
    let (_, _, stderr) = code_and_output(&subrosa(&["replay", folder.to_str().unwrap(), "--files"]));
    assert!(stderr.contains("in the folder, but not checked: 0-unchanged, 1-"), "{stderr}");
    assert!(stderr.contains("fork.json"), "{stderr}");
    // The same fork again gives the same files.
    let before = fs::read(folder.join("records.jsonl")).unwrap();
    let (again, _) = forked(&place, &["--replications", "1"]);
    assert_eq!((again.clone(), fs::read(again.join("records.jsonl")).unwrap()), (folder, before));
}

/// What a study varies has no one value that a branch could change.
#[test]
fn a_branch_over_an_each_names_its_cure() {
    let place = TempDir::new().unwrap();
    let text = fs::read_to_string(root().join("tests/golden/federated.ron")).unwrap();
    let path = place.path().join("swept.ron");
    fs::write(&path, text).unwrap();
    let swept = "network.default.loss=Each(\"loss\", [Independent(0.1), Independent(0.2)])";
    let fork = |branch: &str| {
        let out = place.path().to_str().unwrap();
        let run =
            ["run", path.to_str().unwrap(), "-o", swept, "--fork-at", "2", "--branch", branch, "--out", out];
        let (code, _, stderr) = code_and_output(&subrosa(&run));
        (code, stderr.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for (branch, words) in [
        (
            "a: network.default.loss=NoLoss()",
            ["the branch replaces what the study varies by Each, \"loss\"", "-o PATH=VALUE"],
        ),
        (
            "a: network.default.latency=Each(\"latency\", [Constant(\"1s\"), Constant(\"2s\")])",
            ["the branch adds an Each, \"latency\"", "a branch has one value"],
        ),
        (
            "a: network.default.loss=Each(\"loss\", [Independent(0.3), Independent(0.4)])",
            [
                "expected the study's own values of \"loss\", found other values with the branch's changes",
                "a branch for each value",
            ],
        ),
    ] {
        let (code, stderr) = fork(branch);
        assert_eq!(code, 3, "{stderr}");
        for words in words {
            assert!(stderr.contains(words), "{words}: {stderr}");
        }
    }
    let (code, stderr) = fork(SLOW);
    assert_eq!(code, 0, "another setting may change: {stderr}");
}

/// `when_spent: Fail` counts for the branches of a fork as for a plain run.
#[test]
fn a_fork_fails_where_a_budget_is_spent() {
    let place = TempDir::new().unwrap();
    let fork = |when_spent: &str| {
        let budget = format!(
            "privacy=Privacy(delta: 0.01, budget: Budget(epsilon: 3.5, delta: 0.01, when_spent: {when_spent}))"
        );
        let out = place.path().join(when_spent);
        let scenario = ["run", "tests/golden/federated.ron", "--replications", "1", "-o", &budget];
        let more = ["--fork-at", "1", "--branch", LOSSY, "--out", out.to_str().unwrap()];
        code_and_output(&subrosa(&[&scenario[..], &more].concat()))
    };
    let (code, stdout, stderr) = fork("Fail");
    assert_eq!(code, 6, "{stdout}{stderr}");
    assert!(stderr.contains("error: privacy budget exhausted in series"), "{stderr}");
    assert!(stdout.contains("All branches side by side"), "the report is printed all the same: {stdout}");
    let (code, _, stderr) = fork("GoOn");
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn a_fork_needs_a_change_and_names_that_a_table_can_show() {
    let place = TempDir::new().unwrap();
    let fork = |more: &[&str]| {
        let scenario =
            ["run", "tests/golden/federated.ron", "--replications", "1", "--fork-at", "1", "--out"];
        let (code, _, stderr) =
            code_and_output(&subrosa(&[&scenario[..], &[place.path().to_str().unwrap()], more].concat()));
        (code, stderr.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (code, stderr) = fork(&[]);
    assert!(code == 2 && stderr.contains("expected what changes after the fork"), "{code} {stderr}");
    for name in ["=1+1", "a\u{1b}[2J"] {
        let (code, stderr) = fork(&["--branch", &format!("{name}: network.default.loss=Independent(0.5)")]);
        assert!(code == 2 && stderr.contains("the name of a branch: expected a"), "{code} {stderr}");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing was run");
    // The same in a scenario.
    let branches =
        r#"fork=Fork(at: Round(1), branches: {"=1+1": ["network.default.loss=Independent(0.5)"]})"#;
    let (code, _, stderr) =
        code_and_output(&subrosa(&["check", "tests/golden/federated.ron", "-o", branches]));
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("a name that does not begin with =, +, - or @"), "{stderr}");
}

/// Reports of other branches never stand beside those of this fork.
#[test]
fn every_set_of_branches_has_a_folder_of_its_own() {
    let place = TempDir::new().unwrap();
    let out = place.path().to_str().unwrap();
    let fork = |at: &str, branch: &str| {
        let scenario =
            ["run", "tests/golden/federated.ron", "--replications", "1", "--fork-at", at, "--branch"];
        says(&[&scenario[..], &[branch, "--out", out]].concat());
        fs::read_dir(place.path()).unwrap().count()
    };
    assert_eq!(fork("2", LOSSY), 1);
    assert_eq!(fork("2", LOSSY), 1, "the same fork again");
    assert_eq!(fork("2", "other: network.default.loss=Independent(0.6)"), 2, "another name");
    assert_eq!(fork("2", "lossy: network.default.loss=Independent(0.5)"), 3, "another change");
    assert_eq!(fork("1", LOSSY), 4, "another point");
    for folder in fs::read_dir(place.path()).unwrap().flatten() {
        let own = fs::read_dir(folder.path()).unwrap().flatten();
        assert_eq!(own.filter(|entry| entry.path().join("report.txt").exists()).count(), 2, "{folder:?}");
        let (code, _, stderr) =
            code_and_output(&subrosa(&["replay", folder.path().to_str().unwrap(), "--files"]));
        assert_eq!(code, 0, "{stderr}");
    }
}

/// Answers as an objective.
#[cfg(unix)]
const OBJECTIVE: &str = r#"
while IFS= read -r line; do
    id=${line#*'"id":'}
    id=${id%%[,\}]*}
    answer='"ready":true'
    case $line in
    *'"ask":"hello"'*) answer='"protocol":1,"version":"test 7"' ;;
    *'"ask":"value"'*) answer='"value":0.5' ;;
    esac
    printf '{"id":%s,%s}\n' "$id" "$answer"
done
"#;

#[cfg(unix)]
#[test]
fn a_fork_knows_the_versions_of_its_programs() {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("objective.sh"), OBJECTIVE).unwrap();
    let scenario = place.path().join("outside.ron");
    let text = r#"Scenario(
    name: "outside", seed: 5, replications: 2,
    parties: { "a": Party(), "b": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("10ms"))),
    objective: External(command: ["sh", "objective.sh"], axes: [(low: -1, high: 1, values: 4)]),
    protocol: Outsourced(curator: "a", modeler: "b", rounds: 4, series: [
        Series(name: "random", release: Withheld, learner: Random),
    ]),
)"#;
    fs::write(&scenario, text).unwrap();
    let out = place.path().join("runs");
    let branch = "later: network.default.latency=Constant(\"30ms\")";
    let arguments = ["run", scenario.to_str().unwrap(), "--fork-at", "2", "--branch", branch, "--out"];
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&[&arguments[..], &[out.to_str().unwrap(), "--format", "json"]].concat()));
    assert_eq!(code, 0, "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let folder = document["run"].as_str().unwrap();
    let manifest = fs::read_to_string(PathBuf::from(folder).join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let programs = manifest["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 1, "{programs:?}");
    assert_eq!(programs[0]["version"], "test 7", "{programs:?}");
    let (code, _, stderr) = code_and_output(&subrosa(&["replay", folder, "--files"]));
    assert_eq!(code, 0, "the identities are those of the plan: {stderr}");
}
