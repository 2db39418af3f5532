//! `threshold` and `explain` on the real binary: answers, agreement with a fine sweep, resumption, files, errors; and what
//! `compare` and `run` say about numbers of replications and comparisons.

use crate::support::{code_and_output, contents, folder, root, run, subrosa};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A search with noise on its outcomes beside random search, on functions drawn from a Gaussian process; a few milliseconds
/// a replication.
const SEARCH: &str = r#"Scenario(
    name: "answers",
    seed: 5,
    replications: 6,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(
        topology: Star(hub: "curator"),
        default: Link(latency: Constant(Each("latency", ["40ms"]))),
    ),
    objective: GpSample(grid: [40], length_scale: 4, variance: 1, noise_variance: 0.01),
    protocol: Outsourced(
        curator: "curator",
        modeler: "modeler",
        rounds: 12,
        initial_points: 2,
        series: [
            Series(
                name: "private",
                release: Disclosure(),
                outcomes: ClippedLaplace(epsilon: Each("epsilon", [1, 4]), range: Range(low: -3, high: 3)),
                learner: GpUcb(),
            ),
            Series(name: "random", release: Withheld(), learner: Random()),
            Series(name: "open", release: Disclosure(), learner: GpUcb()),
        ],
    ),
)"#;

/// Ten agents who hear each message with a probability.
const FEDERATION: &str = r#"Scenario(
    name: "absent",
    seed: 3,
    replications: 20,
    parties: {
        "server": Party(),
        "agents": Party(count: 10, availability: PerMessage(Each("heard", [0.1, 0.9]))),
    },
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("50ms"))),
    objective: GpSample(grid: [40], max_norm: 1, length_scale: 0.2, variance: 1, noise_variance: 0.01),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "agents")],
        rounds: 10,
        initial_points: 2,
        features: 20,
        perturbation: 0.05,
        series: [
            Series(name: "FTS", sharing: Aggregate(), policy: Deadline(after: "700ms")),
            Series(name: "alone", sharing: Alone()),
        ],
    ),
)"#;

fn scenario(place: &Path) -> String {
    let path = place.join("answers.ron");
    fs::write(&path, SEARCH).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = code_and_output(&subrosa(&[arguments, &["--format", "json"]].concat()));
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Cumulative regret of one series minus that of another, by the axis' value and replication.
fn gains(run: &Path, axis: &str, series: &str, against: &str) -> Vec<(f64, Vec<f64>)> {
    let table = contents(run, "results.csv");
    let mut reader = csv::Reader::from_reader(table.as_slice());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let (at, k) = (column(&format!("point.{axis}")), column("replication"));
    let (name, regret) = (column("series"), column("cumulative_regret"));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let others: HashMap<(&str, &str), &csv::StringRecord> =
        rows.iter().filter(|row| &row[name] == against).map(|row| ((&row[at], &row[k]), row)).collect();
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    for row in rows.iter().filter(|row| &row[name] == series) {
        let other = others[&(&row[at], &row[k])];
        let gain = other[regret].parse::<f64>().unwrap() - row[regret].parse::<f64>().unwrap();
        let value: f64 = row[at].parse().unwrap();
        match found.iter_mut().find(|(known, _)| *known == value) {
            Some((_, gains)) => gains.push(gain),
            None => found.push((value, vec![gain])),
        }
    }
    found
}

/// The answer agrees with a sweep of twelve values on other random numbers; the probes are the cells of a run folder that is
/// replayed, reported, and not played twice.
#[test]
fn a_threshold_agrees_with_a_fine_sweep() {
    let place = TempDir::new().unwrap();
    let (file, out) = (scenario(place.path()), place.path().join("runs"));
    let out = out.to_str().unwrap();
    let ask = [
        "threshold",
        &file,
        "--series",
        "private",
        "--against",
        "random",
        "--metric",
        "cumulative_regret",
        "--over",
        "epsilon",
        "--from",
        "0.25",
        "--to",
        "64",
        "--log",
        "--max-width",
        "4",
        "--margin",
        "3",
        "--out",
        out,
    ];
    let found = json(&ask);
    assert_eq!(
        (&found["outcome"], &found["direction"]),
        (&"found".into(), &"begins-to-be-better".into()),
        "{found}"
    );
    let (low, high) = (found["low"].as_f64().unwrap(), found["high"].as_f64().unwrap());
    assert!(0.25 <= low && low < high && high <= 64.0 && high / low <= 4.0 + 1e-9, "{found}");
    // The sweep, on another seed: the mean gain crosses the margin within the interval.
    let values: Vec<String> =
        (0..12).map(|step| format!("{}", 0.25 * 256f64.powf(f64::from(step) / 11.0))).collect();
    let each = format!("protocol.series[0].outcomes.epsilon=Each(\"epsilon\", [{}])", values.join(", "));
    let sweep = run(&file, Path::new(out), &["-o", &each, "--seed", "77", "--replications", "200"]);
    let means: Vec<(f64, f64)> = gains(&folder(&sweep), "epsilon", "private", "random")
        .into_iter()
        .map(|(value, gains)| (value, gains.iter().sum::<f64>() / gains.len() as f64 - 3.0))
        .collect();
    assert!(means[0].1 < 0.0 && means[11].1 > 0.0, "{means:?}");
    let after = means.iter().position(|(_, gain)| *gain > 0.0).unwrap();
    let ((x, a), (y, b)) = (means[after - 1], means[after]);
    let root = x * (y / x).powf(-a / (b - a));
    assert!(low <= root && root <= high, "{root} is not between {low} and {high}: {means:?}");

    // A probed value is an ordinary cell: the gain in the answer is that of the results.
    let run = PathBuf::from(found["run"].as_str().unwrap());
    let cells = gains(&run, "epsilon", "private", "random");
    let probes = found["probes"].as_array().unwrap();
    assert_eq!(cells.len(), probes.len());
    for probe in probes {
        let (_, gains) = cells.iter().find(|(value, _)| *value == probe["value"].as_f64().unwrap()).unwrap();
        assert_eq!(gains.len() as u64, found["replications"].as_u64().unwrap());
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        assert!((probe["gain"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    }
    for file in ["threshold.json", "threshold.csv", "threshold.svg", "report.html", "summary.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let (code, stdout, stderr) =
        code_and_output(&subrosa(&["replay", run.to_str().unwrap(), "--replication", "1"]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stderr.contains("not checked: threshold.csv, threshold.json"), "{stderr}");

    // The same question again: nothing is played, and the answer is the same, in words too.
    let before = contents(&run, "records.jsonl");
    assert_eq!(json(&ask), found);
    assert_eq!(contents(&run, "records.jsonl"), before);
    let svg = place.path().join("t.svg");
    let (code, stdout, stderr) = code_and_output(&subrosa(
        &[ask.as_slice(), &["--threads", "1", "--svg", svg.to_str().unwrap()]].concat(),
    ));
    assert_eq!(code, 0, "{stderr}");
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("\"private\" begins to be better than \"random\" by more than 3.0 between epsilon ="),
        "{stdout}"
    );
    assert!(said.contains("changes its sign at most once") && stderr.contains("wrote"), "{stdout}{stderr}");
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
    assert!(fs::read_to_string(svg).unwrap().contains("</svg>"));
}

/// A search for a threshold in cumulative regret, and the sweep beside which it is judged.
struct Study {
    file: String,
    /// The series that begins to be better, and the other one.
    pair: [&'static str; 2],
    axis: &'static str,
    /// By how much it must be better.
    margin: &'static str,
    /// The range, the width and the largest number of replications of the search.
    asked: &'static [&'static str],
    /// The values of the sweep, as an override.
    swept: String,
}

impl Study {
    /// From which epsilon on a private search beats random search by 3; from how many rounds on a search does; from which
    /// share of heard messages on sharing beats searching alone by .6.
    fn all(place: &Path) -> [Self; 3] {
        let federation = place.join("federation.ron");
        fs::write(&federation, FEDERATION).unwrap();
        let epsilons: Vec<String> =
            (0..16).map(|step| format!("{}", 0.25 * 256f64.powf(f64::from(step) / 15.0))).collect();
        [
            Self {
                file: scenario(place),
                pair: ["private", "random"],
                axis: "epsilon",
                margin: "3",
                asked: &[
                    "--over", "epsilon", "--from", "0.25", "--to", "64", "--log", "--width", "4", "--max-replications", "160",
                ],
                swept: format!(
                    "protocol.series[0].outcomes.epsilon=Each(\"epsilon\", [{}])",
                    epsilons.join(", ")
                ),
            },
            Self {
                file: scenario(place),
                pair: ["open", "random"],
                axis: "rounds",
                margin: "3",
                asked: &[
                    "-o",
                    "protocol.series[0].outcomes.epsilon=4",
                    "--over",
                    "protocol.rounds",
                    "--from",
                    "1",
                    "--to",
                    "20",
                    "--max-width",
                    "6",
                    "--max-replications",
                    "160",
                ],
                swept: "protocol.rounds=Each(\"rounds\", [4, 6, 8, 9, 10, 11, 12, 14, 16])".to_owned(),
            },
            Self {
                file: federation.to_str().unwrap().to_owned(),
                pair: ["FTS", "alone"],
                axis: "heard",
                margin: "0.6",
                asked: &["--over", "heard", "--from", "0.1", "--to", "1", "--max-width", "0.3", "--max-replications", "160"],
                swept: "parties.agents.availability=PerMessage(Each(\"heard\", [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6]))"
                    .to_owned(),
            },
        ]
    }

    /// Where the mean gain of the sweep crosses the margin, between two of its values.
    fn crossing(&self, out: &Path, seed: &str, replications: &str) -> f64 {
        let margin: f64 = self.margin.parse().unwrap();
        // Only one of the values may vary.
        let fixed = ["-o", "protocol.series[0].outcomes.epsilon=4"];
        let fixed: &[&str] = if self.axis == "rounds" { &fixed } else { &[] };
        let more = ["-o", &self.swept, "--seed", seed, "--replications", replications];
        let swept = folder(&run(&self.file, out, &[fixed, &more].concat()));
        let means: Vec<(f64, f64)> = gains(&swept, self.axis, self.pair[0], self.pair[1])
            .into_iter()
            .map(|(value, gains)| (value, gains.iter().sum::<f64>() / gains.len() as f64 - margin))
            .collect();
        let after = means.iter().position(|(_, gain)| *gain > 0.0).unwrap();
        let ((x, a), (y, b)) = (means[after - 1], means[after]);
        x + (y - x) * a / (a - b)
    }

    /// The command that searches, with the run folders in `out`.
    fn arguments<'a>(&'a self, out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
        let [one, other] = self.pair;
        let common =
            ["threshold", &self.file, "--series", one, "--against", other, "--metric", "cumulative_regret"];
        let rest = ["--margin", self.margin, "--out", out.to_str().unwrap()];
        [&common, self.asked, &rest, more].concat()
    }

    /// The ends of the interval that the search finds.
    fn interval(&self, out: &Path, more: &[&str]) -> (f64, f64) {
        let found = json(&self.arguments(out, more));
        assert_eq!(found["direction"], "begins-to-be-better", "{found}");
        let end = |name: &str, open| found[name].as_f64().unwrap_or(open);
        (end("low", f64::NEG_INFINITY), end("high", f64::INFINITY))
    }
}

/// Two more studies, each beside a sweep on other random numbers.
#[test]
fn two_more_thresholds_agree_with_sweeps() {
    let place = TempDir::new().unwrap();
    for study in &Study::all(place.path())[1..] {
        let out = place.path().join("runs");
        let (low, high) = study.interval(&out, &[]);
        let crossing = study.crossing(&out, "99", "150");
        assert!(low.is_finite() && high.is_finite());
        assert!(low <= crossing && crossing <= high, "{}: {crossing}, {low} to {high}", study.axis);
    }
}

/// The three studies with twenty seeds each: nineteen intervals or more contain the crossing of a fine sweep with 1,000
/// replications of other random numbers. docs/studies.md has the counts.
#[test]
#[ignore = "minutes: cargo test --release --test commands twenty_seeds -- --ignored --nocapture"]
fn thresholds_agree_with_sweeps_on_twenty_seeds() {
    let place = TempDir::new().unwrap();
    for study in Study::all(place.path()) {
        let out = place.path().join(study.axis);
        let crossing = study.crossing(&out, "1000", "1000");
        let contains = |seed: &u64| {
            let (low, high) = study.interval(&out, &["--seed", &seed.to_string()]);
            println!("{}, seed {seed}: {low} to {high}, crossing {crossing}", study.axis);
            low <= crossing && crossing <= high
        };
        let covered = (1..=20).filter(contains).count();
        println!("{}: {covered} of 20", study.axis);
        assert!(covered >= 19, "{}: {covered} of 20", study.axis);
    }
}

/// The answer does not wait for the tables of the run folder: it is there even if a table cannot be written.
#[test]
fn an_answer_comes_before_the_tables() {
    let place = TempDir::new().unwrap();
    let study = &Study::all(place.path())[1];
    let out = place.path().join("runs");
    let found = study.interval(&out, &[]);
    let runs: Vec<PathBuf> = fs::read_dir(&out).unwrap().map(|run| run.unwrap().path()).collect();
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    fs::remove_file(run.join("threshold.json")).unwrap();
    fs::remove_file(run.join("results.csv")).unwrap();
    fs::create_dir_all(run.join("results.csv").join("in the way")).unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&study.arguments(&out, &["--format", "json"])));
    assert!(code == 1 && stderr.contains("results.csv"), "{code} {stderr}");
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((answer["low"].as_f64(), answer["high"].as_f64()), (Some(found.0), Some(found.1)));
    assert!(run.join("threshold.json").is_file());
}

/// A number of rounds is whole; where one series is better throughout, or both are equal, there is no threshold.
#[test]
fn whole_numbers_and_no_threshold() {
    let place = TempDir::new().unwrap();
    let (file, out) = (scenario(place.path()), place.path().join("runs"));
    let common = [
        "threshold",
        file.as_str(),
        "-o",
        "protocol.series[0].outcomes.epsilon=4",
        "--out",
        out.to_str().unwrap(),
    ];
    let ask = |more: &[&str]| json(&[common.as_slice(), more].concat());
    let found = ask(&[
        "--series",
        "open",
        "--against",
        "random",
        "--metric",
        "cumulative_regret",
        "--over",
        "protocol.rounds",
        "--from",
        "1",
        "--to",
        "20",
        "--margin",
        "3",
        "--max-replications",
        "80",
    ]);
    assert_eq!(found["spacing"], "whole", "{found}");
    assert!(found["probes"].as_array().unwrap().iter().all(|p| p["value"].as_f64().unwrap().fract() == 0.0));
    assert!(found["high"].as_f64().is_some_and(|high| high < 20.0), "{found}");
    // Latency changes no regret.
    let latency =
        ["--metric", "cumulative_regret", "--over", "latency", "--from", "10", "--to", "90", "--unit", "ms"];
    let found = ask(&[&["--series", "open", "--against", "random"], latency.as_slice()].concat());
    assert_eq!(found["outcome"], "better-throughout", "{found}");
    let found =
        ask(&[&["--series", "random", "--against", "open", "--replications", "30"], latency.as_slice()]
            .concat());
    assert_eq!(
        (&found["outcome"], found["replications"].as_u64()),
        (&"worse-throughout".into(), Some(30)),
        "{found}"
    );
    // Both ask the same number of questions: no pair differs.
    let (code, stdout, stderr) = code_and_output(&subrosa(
        &[
            common.as_slice(),
            &[
                "--series",
                "open",
                "--against",
                "random",
                "--metric",
                "questions",
                "--over",
                "latency",
                "--from",
                "10",
            ],
            &["--to", "90", "--unit", "ms", "--max-replications", "30"],
        ]
        .concat(),
    ));
    assert!(code == 0 && stdout.contains("Nothing is shown after 30 replications"), "{stdout}{stderr}");
}

#[test]
fn a_question_without_meaning_is_refused() {
    let place = TempDir::new().unwrap();
    let (file, out) = (scenario(place.path()), place.path().join("runs"));
    let wrong = |verb: &str, more: &str, exit: i32, words: &str| {
        let mut arguments = vec![verb, file.as_str(), "--out", out.to_str().unwrap()];
        arguments.extend(more.split_whitespace());
        let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
        let said = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == exit && said.contains(words), "{more}: {code}\n{stdout}{stderr}");
    };
    let ask = |more: &str, exit, words: &str| {
        wrong("threshold", &format!("--series private --against random {more}"), exit, words);
    };
    ask("--over epsilon --from 2 --to 1", 2, "with --from below --to, found 2 and 1");
    ask("--over epsilon --from 0 --to 1 --log", 2, "--from above 0 for --log");
    ask("--over epsilon --from 1 --to 2 --max-width 0", 2, "expected a --max-width above 0");
    ask("--over epsilon --from 1 --to x", 2, "expected a finite number, found x");
    ask("--over epsilon --from 1 --to 2 --confidence 1", 2, "expected a share between 0 and 1");
    ask("--over epsilom --from 1 --to 2", 3, "did you mean the Each called `epsilon`?");
    ask("--over epsilon --from 0 --to 2", 3, "expected a finite epsilon above 0");
    ask("--over latency --from 1 --to 2 --unit ms", 2, "found the Each called \"epsilon\" too");
    let fixed = "-o protocol.series[0].outcomes.epsilon=4";
    ask(&format!("{fixed} --over protocol.rounds --from 1.5 --to 9"), 3, "expected a whole number");
    ask(&format!("{fixed} --over protocol.rounds --from 1 --to 9 --max-width 0.5"), 2, "of at least 1");
    ask(&format!("{fixed} --over protocol.rounds --from 1 --to 9 --log"), 2, "--log is for real numbers");
    ask("--over epsilon --from 1 --to 2 --metric zzz", 2, "no series has a metric called \"zzz\"");
    wrong("threshold", "--series a --against a --over epsilon --from 1 --to 2", 2, "two different series");
    wrong(
        "threshold",
        "--series zzz --against open --over epsilon --from 1 --to 2",
        2,
        "--series takes \"private\"",
    );
    wrong(
        "threshold",
        "--series open --against zzz --over epsilon --from 1 --to 2",
        2,
        "--against takes \"private\"",
    );
    let explain = |more: &str, exit, words: &str| wrong("explain", more, exit, words);
    explain(fixed, 2, "expected a study that varies some values, found one cell");
    explain("--replications 1", 2, "at least 2 replications");
    explain("--metric zzz", 2, "no series has a metric called \"zzz\"");
    explain("-o seed=Each(\"seed\",[1,2])", 2, "found several: the seed only adds noise");
    explain("-o protocol.rounds=Each(\"r\",[5,5])", 2, "found a value twice");
    explain("--over epsilon=3..1", 2, "expected AXIS=FROM..TO");
    explain("--over epsilon=0..1:log", 2, "both above 0");
    explain("--over protocol.rounds=3..9", 2, "found the Each called \"epsilon\" too");
    explain("--points 8", 2, "--over");
    let (code, _, stderr) =
        code_and_output(&subrosa(&["run", &file, "--until-halfwidth", "1", "--against", "zzz"]));
    assert!(code == 2 && stderr.contains("--against takes \"private\""), "{stderr}");
}

/// Latency changes no regret, so its shares are exactly 0; epsilon does, for the private series alone.
#[test]
fn explain_finds_what_matters() {
    let place = TempDir::new().unwrap();
    let (file, out) = (scenario(place.path()), place.path().join("runs"));
    let latency = "network.default.latency=Constant(Each(\"latency\", [\"10ms\", \"40ms\", \"90ms\"]))";
    let epsilon = "protocol.series[0].outcomes.epsilon=Each(\"epsilon\", [0.3, 3, 30])";
    let ask = [
        "explain",
        &file,
        "-o",
        latency,
        "-o",
        epsilon,
        "--metric",
        "cumulative_regret",
        "--replications",
        "60",
        "--out",
        out.to_str().unwrap(),
    ];
    let found = json(&ask);
    let series =
        |name: &str| found["series"].as_array().unwrap().iter().find(|s| s["series"] == name).unwrap();
    let private = series("private")["axes"].as_array().unwrap();
    let axis = |name: &str| private.iter().find(|axis| axis["axis"] == name).unwrap();
    for index in ["first", "total"] {
        for end in ["value", "low", "high"] {
            let idle = axis("latency")[index][end].as_f64().unwrap();
            let busy = axis("epsilon")[index][end].as_f64().unwrap();
            assert!(idle.abs() < 1e-9 && (busy - 1.0).abs() < 1e-9, "{found}");
        }
    }
    // Without any effect there are no shares, not even of rounding errors.
    assert!(series("random")["axes"].as_array().unwrap().is_empty(), "{found}");
    let run = PathBuf::from(found["run"].as_str().unwrap());
    for file in ["explain.json", "explain.csv", "explain.svg", "report.html"] {
        assert!(run.join(file).is_file(), "{file}");
    }
    let header = fs::read_to_string(run.join("explain.csv")).unwrap();
    assert!(header.starts_with("series,index,axis,with,share,low,high\nprivate,first,"), "{header}");
    // A run folder is explained as it is, and alike.
    let again = json(&["explain", run.to_str().unwrap(), "--metric", "cumulative_regret"]);
    assert_eq!(again["series"], found["series"]);
    let (code, stdout, stderr) = code_and_output(&subrosa(&ask));
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        code == 0 && said.contains("random: cumulative regret does not vary between cells"),
        "{stdout}{stderr}"
    );
    assert!(
        said.contains("first-order Sobol' index") && said.contains("9 cells, 60 replications"),
        "{stdout}"
    );
    assert!(stdout.lines().all(|line| line.chars().count() <= 80), "{stdout}");
}

/// Ranges instead of values: the number of rounds matters for cumulative regret, the probability of a loss does not.
#[test]
fn explain_over_ranges() {
    let place = TempDir::new().unwrap();
    let (file, out) = (scenario(place.path()), place.path().join("runs"));
    let found = json(&[
        "explain",
        &file,
        "--over",
        "protocol.rounds=5..40",
        "--over",
        "epsilon=0.5..50:log",
        "--points",
        "16",
        "--pairs",
        "--metric",
        "cumulative_regret",
        "--replications",
        "6",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!((&found["design"], found["cells"].as_u64()), (&"quasi-random".into(), Some(96)), "{found}");
    let random = found["series"].as_array().unwrap().iter().find(|s| s["series"] == "random").unwrap();
    let share = |axis: usize, index: &str| random["axes"][axis][index]["value"].as_f64().unwrap();
    // Random search does not know epsilon: whatever it does changes nothing in any row of the design.
    assert!(share(1, "total").abs() < 1e-9 && share(1, "first").abs() < 1e-9, "{random}");
    assert!((share(0, "total") - 1.0).abs() < 0.35, "{random}");
    assert_eq!(random["pairs"].as_array().unwrap().len(), 1);
    let axes = found["axes"].as_array().unwrap();
    assert_eq!((&axes[0]["name"], &axes[1]["name"]), (&"protocol.rounds".into(), &"epsilon".into()));
    let run = found["run"].as_str().unwrap();
    let (code, stdout, stderr) = code_and_output(&subrosa(&["replay", run, "--replication", "0"]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    let (code, _, stderr) = code_and_output(&subrosa(&["explain", run]));
    assert!(code == 2 && stderr.contains("a design over ranges"), "{stderr}");
}

/// p-values are adjusted for the comparisons of a metric, and a pilot says how many replications an effect needs.
#[test]
fn comparisons_are_counted_and_planned() {
    let place = TempDir::new().unwrap();
    let file = scenario(place.path());
    let document = run(&file, place.path(), &["--replications", "12"]);
    let of = folder(&document);
    let of = of.to_str().unwrap();
    let ask = ["compare", of, of, "--series-a", "private", "--series-b", "random"];
    let found = json(&ask);
    let rows: Vec<&Value> =
        found["rows"].as_array().unwrap().iter().filter(|row| row["metric"] == "cumulative_regret").collect();
    assert_eq!(rows.len(), 2, "a comparison for each epsilon");
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let mut p: Vec<f64> = rows.iter().map(|row| number(row, "p")).collect();
    let mut adjusted: Vec<f64> = rows.iter().map(|row| number(row, "p_adjusted")).collect();
    p.sort_by(f64::total_cmp);
    adjusted.sort_by(f64::total_cmp);
    let first = (2.0 * p[0]).min(1.0);
    assert!((adjusted[0] - first).abs() < 1e-15 && (adjusted[1] - p[1].max(first)).abs() < 1e-15, "{found}");
    assert!(rows.iter().all(|row| row["comparisons"] == 2));
    let (_, stdout, _) = code_and_output(&subrosa(&ask));
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("by Holm's method for 2 comparisons of each metric"), "{stdout}");
    let (_, stdout, _) = code_and_output(&subrosa(&[ask.as_slice(), &["--full"]].concat()));
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("adjusted by Holm's method for the 2 comparisons of each metric"), "{stdout}");

    let planned = [ask.as_slice(), &["--power", "2", "--metric", "cumulative_regret"]].concat();
    let found = json(&planned);
    let row = &found["rows"][0];
    let (sd, n) = (number(&row["needed"], "sd"), row["needed"]["replications"].as_u64().unwrap());
    assert!((sd - number(&row["difference"], "se") * 12f64.sqrt()).abs() < 1e-12, "{row}");
    // Guenther's approximation with z and its correction z^2 / 2 is right to one replication.
    let z = 1.959_963_984_540_054;
    let close = ((z + 0.841_621_233_572_914) * sd / 2.0).powi(2) + z * z / 2.0;
    assert!((n as f64 - close).abs() <= 1.5, "{n} for {close}");
    assert!(row["needed"]["cautious"].as_u64().unwrap() > n);
    let (_, stdout, _) = code_and_output(&subrosa(&planned));
    let said = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for epsilon in ["1", "4"] {
        let of = format!(
            "private (a), random (b), latency = 40ms, epsilon = {epsilon}: A paired t test at 5 % finds a difference of 2.0 in cumulative regret"
        );
        assert!(said.contains(&of), "{stdout}");
    }
    let refused = |more: &[&str], words: &str| {
        let (code, _, stderr) = code_and_output(&subrosa(&[ask.as_slice(), more].concat()));
        assert!(code == 2 && stderr.contains(words), "{code} {stderr}");
    };
    refused(&["--power", "2", "--metric", "zzz"], "--metric takes");
    refused(&["--power", "0"], "expected a finite number above 0");
    refused(&["--power", "1", "--metric", "questions"], "--power needs a pilot");
    refused(&["--metric", "questions"], "--power");
}

/// A federation whose second group has functions of its own: sharing is for the first.
const GROUPS: &str = r#"Scenario(
    name: "groups",
    seed: 8,
    replications: 12,
    parties: { "server": Party(), "usual": Party(count: 8), "unusual": Party(count: 3) },
    network: Network(topology: Star(hub: "server")),
    objective: GpSample(grid: [30], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "usual"), AgentGroup(members: "unusual", heterogeneity: Each("h", [0, 1]))],
        rounds: 4,
        initial_points: 3,
        features: 20,
        series: [
            Series(name: "TS", sharing: Alone()),
            Series(name: "FTS", sharing: Aggregate(weights: Uniform())),
        ],
    ),
)"#;

/// The regret of one group, and of the worst one, is a metric of every analysis; its means are those of the report.
#[test]
fn regrets_of_groups_are_metrics() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("groups.ron");
    fs::write(&file, GROUPS).unwrap();
    let document = run(file.to_str().unwrap(), place.path(), &[]);
    let of = folder(&document);
    let of = of.to_str().unwrap();
    let mean = |cell: usize, series: usize, group: usize, metric: &str| {
        document["cells"][cell]["series"][series]["groups"][group][metric]["mean"].as_f64().unwrap()
    };
    let ask = ["compare", of, of, "--series-a", "TS", "--series-b", "FTS", "--group"];
    let rows = |group: &str| {
        let found = json(&[ask.as_slice(), &[group]].concat());
        let rows = found["rows"].as_array().unwrap().clone();
        let names: Vec<String> = rows.iter().map(|row| row["metric"].as_str().unwrap().to_owned()).collect();
        assert!(names.iter().all(|name| name.ends_with(&format!(" of {group}"))), "{names:?}");
        assert_eq!(names.len(), 2 * 3, "two cells with three regrets each: {names:?}");
        rows
    };
    for (group, place) in [("usual", 0), ("unusual", 1)] {
        for row in rows(group) {
            let metric = row["metric"].as_str().unwrap();
            let metric = metric.strip_suffix(&format!(" of {group}")).unwrap();
            let cell = usize::from(row["point"]["h"] == 1);
            for (side, series) in [("a", 0), ("b", 1)] {
                let told = mean(cell, series, place, metric);
                assert!((row[side].as_f64().unwrap() - told).abs() < 1e-12, "{metric} {told} {row}");
            }
        }
    }
    // In every replication the worst is at least either, and so are the means.
    for row in rows("worst").iter().filter(|row| row["metric"] == "simple_regret of worst") {
        let cell = usize::from(row["point"]["h"] == 1);
        for (side, series) in [("a", 0), ("b", 1)] {
            let largest = mean(cell, series, 0, "simple_regret").max(mean(cell, series, 1, "simple_regret"));
            assert!(row[side].as_f64().unwrap() >= largest - 1e-12, "{row}");
        }
    }
    let (_, stdout, _) = code_and_output(&subrosa(&[ask.as_slice(), &["unusual"]].concat()));
    assert!(stdout.contains("simple regret of unusual"), "{stdout}");
    let planned = json(&[ask.as_slice(), &["unusual", "--power", "0.1"]].concat());
    assert_eq!(planned["rows"][0]["metric"], "simple_regret of unusual");
    assert!(planned["rows"][0]["needed"]["replications"].as_u64().unwrap() > 1, "{planned}");

    // Whether the group's functions are its own matters to it, and hardly to the others.
    let share = |group: &str| {
        let found = json(&["explain", of, "--metric", "simple_regret", "--group", group]);
        assert_eq!(found["metric"], format!("simple_regret of {group}"));
        found
    };
    assert_eq!(share("unusual")["replications"], 12);
    assert_eq!(share("worst")["replications"], 12);

    let out = place.path().to_str().unwrap();
    let asked = ["threshold", file.to_str().unwrap(), "--series", "FTS", "--against", "TS", "--over", "h"];
    let range =
        ["--from", "0", "--to", "1", "--max-replications", "20", "--replications", "20", "--out", out];
    let search = |group: &str| json(&[asked.as_slice(), &range, &["--group", group]].concat());
    let found = search("unusual");
    assert_eq!(found["metric"], "simple_regret of unusual", "{found}");
    // Sharing is worse for the unusual where nothing is common, and the usual gain throughout.
    let gain = |found: &Value| {
        let probes = found["probes"].as_array().unwrap();
        probes.iter().find(|probe| probe["value"] == 1.0).unwrap()["gain"]["mean"].as_f64().unwrap()
    };
    assert!(gain(&found) < 0.0 && gain(&search("usual")) > 0.0, "{found}");

    let wrong = |arguments: &[&str], words: &str| {
        let (code, _, stderr) = code_and_output(&subrosa(arguments));
        assert!(code == 2 && stderr.contains(words), "{code} {stderr}");
    };
    let known = "no series has a group called \"nobody\": the groups are \"usual\", \"unusual\", or worst";
    wrong(&[ask.as_slice(), &["nobody"]].concat(), known);
    wrong(&["explain", of, "--group", "nobody"], known);
    wrong(&["explain", file.to_str().unwrap(), "--group", "nobody", "--out", out], known);
    wrong(&[asked.as_slice(), &range, &["--group", "nobody"]].concat(), known);
    wrong(&["explain", of, "--group", "usual", "--metric", "bytes"], "expected a regret that groups have");
    wrong(&["explain", of, "--group", "usual", "--metric", "regret_per_user"], "have no regret_per_user");
    let until = ["run", file.to_str().unwrap(), "--out", out, "--until-halfwidth", "9", "--group"];
    wrong(&[until.as_slice(), &["nobody"]].concat(), known);
    assert_eq!(code_and_output(&subrosa(&[until.as_slice(), &["unusual"]].concat())).0, 0);
    let plain = scenario(place.path());
    wrong(
        &["explain", &plain, "--group", "usual", "--out", out],
        "expected series with regrets by group, found none",
    );
}

/// Differences are known before means are: common random numbers cancel.
#[test]
fn replications_until_a_difference_is_known() {
    let place = TempDir::new().unwrap();
    let file = scenario(place.path());
    let until = |more: &[&str]| {
        let common =
            ["--until-halfwidth", "1.2", "--metric", "cumulative_regret", "--max-replications", "400"];
        run(&file, place.path(), &[&common, more].concat())
    };
    let document = until(&["--against", "open"]);
    let n = document["cells"][0]["series"][0]["replications"].as_u64().unwrap();
    let mut widest = 0.0f64;
    for (_, gains) in gains(&folder(&document), "epsilon", "private", "random") {
        assert_eq!(gains.len() as u64, n);
    }
    let found = {
        let run = folder(&document);
        let run = run.to_str().unwrap().to_owned();
        let of = |series| json(&["compare", &run, &run, "--series-a", "open", "--series-b", series]);
        [of("private"), of("random")]
    };
    for row in found.iter().flat_map(|found| found["rows"].as_array().unwrap()) {
        if row["metric"] == "cumulative_regret" {
            widest = widest.max((row["high"].as_f64().unwrap() - row["low"].as_f64().unwrap()) / 2.0);
        }
    }
    assert!(widest <= 1.2 && widest > 0.6, "{widest} after {n}");
}

/// A search that was interrupted in its second look continues, and ends with the answer of one that was not; a probe that
/// was lost is played again.
#[test]
fn an_interrupted_search_continues() {
    let place = TempDir::new().unwrap();
    let file = scenario(place.path());
    let ask = |out: &Path| -> Vec<String> {
        let more = [
            "threshold",
            &file,
            "--series",
            "open",
            "--against",
            "random",
            "--metric",
            "cumulative_regret",
            "--over",
            "protocol.rounds",
            "-o",
            "protocol.series[0].outcomes.epsilon=4",
            "--from",
            "1",
            "--to",
            "20",
            "--max-width",
            "4",
            "--margin",
            "3",
            "--max-replications",
            "160",
            "--threads",
            "1",
            "--format",
            "json",
            "--out",
        ];
        more.into_iter().map(str::to_owned).chain([out.to_str().unwrap().to_owned()]).collect()
    };
    let answer = |out: &Path| -> Value {
        let (code, stdout, stderr) = code_and_output(&subrosa(&ask(out)));
        assert_eq!(code, 0, "{stderr}");
        let mut found: Value = serde_json::from_str(&stdout).unwrap();
        found["run"] = Value::Null;
        found
    };
    let whole = answer(&place.path().join("whole"));
    let broken = place.path().join("broken");
    let mut child = Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .args(ask(&broken))
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The first look has 100 records at least.
    let records = || -> usize {
        let runs = fs::read_dir(&broken).into_iter().flatten().flatten();
        let segments =
            runs.flat_map(|run| fs::read_dir(run.path().join("segments")).into_iter().flatten().flatten());
        segments.map(|file| fs::read_to_string(file.path()).map_or(0, |text| text.lines().count())).sum()
    };
    let begin = Instant::now();
    while records() < 105 && begin.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "interrupted and resumable");
    let kept = records();
    assert!(kept >= 105, "{kept}");
    assert_eq!(answer(&broken), whole);
}

/// `--help`, the manual and the completions know the verbs.
#[test]
fn the_verbs_are_documented() {
    for verb in ["threshold", "explain"] {
        let (code, help, _) = code_and_output(&subrosa(&["help", verb]));
        assert!(code == 0 && help.contains("--metric"), "{help}");
        let (_, completions, _) = code_and_output(&subrosa(&["completions", "bash"]));
        assert!(completions.contains(&format!("subrosa__subcmd__{verb}")) || completions.contains(verb));
        let studies = fs::read_to_string(root().join("docs/studies.md")).unwrap();
        assert!(studies.contains(&format!("subrosa {verb} ")), "{verb}");
    }
}
