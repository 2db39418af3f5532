//! What a report says of privacy is true of every run of the study, not of one of them.

use crate::support::{code_and_output, cost_of, folder, run, subrosa};
use serde_json::Value;
use std::fs;
use subrosa::accounting::{Accountant, Composition, Tight};
use subrosa::report::{self, Detail, Page, Terminal};
use subrosa::study::RunFolder;
use subrosa::vocab::{Delta, Origin, PublicFact};
use tempfile::TempDir;

/// Twenty phones, of whose answers one in five is lost; the noise is divided by how many arrive.
const SCENARIO: &str = r#"Scenario(
    name: "arrivals",
    about: "Runs that cost differently.",
    seed: 1,
    replications: 3,
    parties: { "server": Party(), "phone": Party(count: 20) },
    network: Network(
        topology: Star(hub: "server"),
        default: Link(latency: Constant("50ms"), loss: Independent(0.2)),
    ),
    objective: GpSample(grid: [30], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-5),
    protocol: Federated(
        server: "server", groups: [AgentGroup(members: "phone")], rounds: 3, initial_points: 2, features: 5,
        series: [
            Series(
                name: "arrived",
                sharing: Aggregate(
                    clip: 11, noise_multiplier: 1, participation: Poisson(0.25), weights: Uniform(), divisor: Arrived,
                ),
                policy: Deadline(after: "2s"),
            ),
        ],
    ),
)
"#;

#[test]
fn the_costliest_run_is_reported() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("arrivals.ron");
    fs::write(&path, SCENARIO).unwrap();
    let document = run(path.to_str().unwrap(), place.path(), &[]);
    // The other way: what the ledger has of each run, priced by itself.
    let mut ledger = csv::Reader::from_path(folder(&document).join("ledger.csv")).unwrap();
    let header = ledger.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut runs = vec![Composition::new(); 3];
    for row in ledger.records() {
        let row = row.unwrap();
        if &row[column("observer")] == "every agent" {
            let cost = cost_of(&header, &row);
            runs[row[column("replication")].parse::<usize>().unwrap()].add(&cost, 1);
        }
    }
    let delta = Delta::new(1e-5).unwrap();
    let each: Vec<f64> = runs.iter().map(|run| Tight.price(run, delta).epsilon).collect();
    let largest = each.iter().copied().fold(0.0, f64::max);
    assert!(each.iter().any(|&epsilon| epsilon < 0.95 * largest), "runs differ: {each:?}");
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
    let losses = row["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    assert_eq!(tight["epsilon"].as_f64().unwrap(), largest, "{each:?}");
    assert_eq!(row["runs_differ"], true);
    let (_, text, _) = code_and_output(&subrosa(&["report", folder(&document).to_str().unwrap()]));
    assert!(text.contains("losses differ between runs: each number is the largest of all runs"), "{text}");
}

#[test]
fn a_budget_for_what_is_never_released_is_refused() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("budget.ron");
    for (unit, code) in [("Record", 3), ("Agent", 0)] {
        let budget = format!("delta: 1e-5, budget: Budget(epsilon: 0.5, delta: 1e-5, unit: {unit})");
        fs::write(&path, SCENARIO.replace("delta: 1e-5", &budget)).unwrap();
        let (found, _, stderr) = code_and_output(&subrosa(&["check", path.to_str().unwrap()]));
        assert_eq!(found, code, "{unit}: {stderr}");
        if code == 3 {
            for words in ["budget.ron:12:", "privacy.budget.unit", "expected Agent", "found Record"] {
                assert!(stderr.contains(words), "no {words:?} in {stderr}");
            }
        }
    }
}

fn lines<'a>(document: &'a Value, cell: usize, series: &str, unit: &str, observer: &str) -> Vec<&'a Value> {
    let rows = document["cells"][cell]["privacy"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["series"] == series && row["unit"] == unit && row["observer"] == observer)
        .unwrap_or_else(|| panic!("{observer} learned nothing about {unit} in {series}"));
    row["losses"].as_array().unwrap().iter().collect()
}

fn by<'a>(losses: &[&'a Value], accountant: &str) -> &'a Value {
    losses.iter().find(|loss| loss["accountant"] == accountant).unwrap()
}

fn text_of(document: &Value) -> String {
    let (code, text, stderr) =
        code_and_output(&subrosa(&["report", folder(document).to_str().unwrap(), "--full"]));
    assert_eq!(code, 0, "{stderr}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text
}

/// Without line ends, so that words can be found wherever lines break.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The template of a federation, whose last-but-one series claims less than what it costs, and draws its noise in floating
/// point.
fn federation(place: &TempDir) -> Value {
    let file = place.path().join("federated.ron");
    assert_eq!(code_and_output(&subrosa(&["new", "federated", file.to_str().unwrap()])).0, 0);
    let ideal = "protocol.series[2].sharing.arithmetic=Ideal";
    let options = ["--replications", "1", "-o", "protocol.features=5", "-o", ideal];
    run(file.to_str().unwrap(), place.path(), &options)
}

/// Noise of floating point is analysed as real-valued, and approximations certify nothing: every output says so.
#[test]
fn every_figure_says_for_which_arithmetic_it_holds() {
    let place = TempDir::new().unwrap();
    let document = federation(&place);
    let losses = lines(&document, 0, "DP-FTS", "Agent", "every agent");
    for (series, arithmetic) in [("DP-FTS", "exact arithmetic"), ("late on top", "ideal arithmetic")] {
        let losses = lines(&document, 0, series, "Agent", "every agent");
        for name in ["tight", "rdp", "moments", "optimal", "advanced", "basic"] {
            let loss = by(&losses, name);
            let found = (&loss["basis"], &loss["arithmetic"]);
            assert_eq!(found, (&"proven".into(), &arithmetic.into()), "{loss}");
        }
    }
    let gdp = by(&losses, "gdp");
    assert_eq!((&gdp["basis"], &gdp["standing"]), (&"approximation".into(), &"not-a-bound".into()), "{gdp}");
    assert!(gdp["arithmetic"].is_null() && by(&losses, "as published")["arithmetic"].is_null());
    let text = text_of(&document);
    assert!(
        text.contains("proven, exact arithmetic") && text.contains("approximation, not a bound"),
        "{text}"
    );
    assert!(!text.contains("proven, not a bound"), "{text}");
    assert!(flat(&text).contains(
        "ideal arithmetic: the figure is for real-valued noise; the noise was drawn in floating point"
    ));
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    assert!(
        page.contains("proven, ideal arithmetic</span>") && page.contains("proven, exact arithmetic</span>")
    );
    assert!(page.contains(">approximation, not a bound</td>"));
    // The table for other programs.
    let mut table = csv::Reader::from_path(folder(&document).join("privacy.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let all: usize = document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|cell| cell["privacy"].as_array().unwrap())
        .map(|row| row["losses"].as_array().unwrap().len())
        .sum();
    assert_eq!(rows.iter().filter(|row| &row[column("whole_run")] == "true").count(), all);
    for row in &rows {
        let (accountant, basis, arithmetic) =
            (&row[column("accountant")], &row[column("basis")], &row[column("arithmetic")]);
        assert!(accountant != "gdp" || ["approximation", "unprotected"].contains(&basis), "{row:?}");
        assert_eq!(basis == "proven", arithmetic.ends_with(" arithmetic"), "{row:?}");
    }
}

/// What costs more than is claimed for it says how many times as much.
#[test]
fn a_loss_above_its_claim_is_told_as_loudly_as_a_refuted_one() {
    let place = TempDir::new().unwrap();
    let document = federation(&place);
    let losses = lines(&document, 0, "late on top", "Agent", "every agent");
    let (claim, tight) = (by(&losses, "as published"), by(&losses, "tight"));
    let times = tight["epsilon"].as_f64().unwrap() / claim["epsilon"].as_f64().unwrap();
    assert!((2.5..2.7).contains(&times), "{times}");
    assert_eq!((&claim["delta"], &claim["basis"]), (&tight["delta"], &"exceeded".into()));
    for loss in [claim, tight] {
        assert!((loss["times_claim"].as_f64().unwrap() - times).abs() < 1e-12, "{loss}");
    }
    // What stays below its claim, and what is not quoted, says nothing.
    assert!(by(&losses, "basic")["times_claim"].is_null());
    let kept = lines(&document, 0, "DP-FTS", "Agent", "every agent");
    assert!(kept.iter().all(|loss| loss["times_claim"].is_null() && loss["basis"] != "exceeded"));
    let text = flat(&text_of(&document));
    assert!(text.contains("exceeded: tight is 2.6 times"), "{text}");
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    assert!(page.contains("<span class=\"badge warning\">2.6 times the claim</span>"));
}

/// Rows and outcomes of real patients, made private.
const PATIENTS: &str = r#"Scenario(
    name: "patients", about: "Runs on the same records.", seed: 1, replications: 3,
    parties: { "hospital": Party(), "lab": Party() },
    network: Network(topology: Star(hub: "hospital"), default: Link(latency: Constant("10ms"))),
    objective: Table(
        file: "DATA", inputs: ["age", "bmi", "bp", "s5"], output: Column("target"), max_norm: 25, noise_sd: 0.1,
        hyperparameters: Given(length_scales: [1, 1, 1, 1], variance: 1, noise_variance: 0.01),
    ),
    privacy: Privacy(delta: 1e-5),
    protocol: Outsourced(
        curator: "hospital", modeler: "lab", rounds: 4, initial_points: 1, retry: Retry(timeout: "500ms"),
        series: [Series(
            name: "both", release: NoisyRows(epsilon: 3, delta: 1e-5),
            outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -3, high: 3)), learner: Random(),
        )OTHER],
    ),
)"#;

fn patients(place: &TempDir, other: &str) -> Value {
    let file = place.path().join("patients.ron");
    let data = crate::support::root().join("scenarios/data/diabetes.csv");
    fs::write(&file, PATIENTS.replace("DATA", data.to_str().unwrap()).replace("OTHER", other)).unwrap();
    run(file.to_str().unwrap(), place.path(), &[])
}

/// Who brings a row and an outcome pays for both.
#[test]
fn a_person_pays_for_row_and_outcome() {
    let place = TempDir::new().unwrap();
    let document = patients(
        &place,
        ", Series(name: \"rows\", release: NoisyRows(epsilon: 3, delta: 1e-5), learner: Random())",
    );
    let persons = document["cells"][0]["persons"].as_array().unwrap();
    let of = |series: &str| persons.iter().find(|row| row["series"] == series).unwrap();
    let tight =
        |unit: &str| by(&lines(&document, 0, "both", unit, "lab"), "tight")["epsilon"].as_f64().unwrap();
    let both = of("both");
    let (row, outcome) = (tight("Record"), tight("Outcome"));
    assert!((row - 3.0).abs() < 1e-3 && (outcome - 1.0).abs() < 1e-3, "{row} {outcome}");
    assert_eq!(both["epsilon"].as_f64().unwrap(), row + outcome);
    assert!((both["delta"].as_f64().unwrap() - 2e-5).abs() < 1e-12, "deltas add up: {both}");
    assert_eq!(both["arithmetic"], "exact arithmetic");
    // Outcomes as they are.
    assert_eq!((&of("rows")["epsilon"], &of("rows")["basis"]), (&"inf".into(), &"unprotected".into()));
    let text = flat(&text_of(&document));
    assert!(text.contains("lab about a person of hospital whose row and outcome both change: "), "{text}");
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    assert!(page.contains("a person of hospital whose row and outcome both change"));
}

/// Every replication reads the same file, in whatever protocol: what all of them cost together is told.
#[test]
fn runs_on_the_same_records_add_up_in_every_protocol() {
    let place = TempDir::new().unwrap();
    let document = patients(&place, "");
    let rows = document["whole_study"].as_array().unwrap();
    let row = |unit: &str| rows.iter().find(|row| row["unit"] == unit).unwrap();
    assert_eq!(rows.len(), 3, "one series: no sum over series, but a person who brings row and outcome");
    let person = rows.iter().find(|row| row["person"] == true).unwrap();
    let tight = |row: &Value| row["epsilon_tight"].as_f64().unwrap();
    assert_eq!(tight(person), tight(row("Record")) + tight(row("Outcome")));
    assert_eq!(person["delta"].as_f64().unwrap(), 2e-5);
    // The other way: three releases as the ledger has them, priced by themselves.
    let mut ledger = csv::Reader::from_path(folder(&document).join("ledger.csv")).unwrap();
    let header = ledger.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut all = Composition::new();
    for line in ledger.records().map(Result::unwrap).filter(|line| line[column("unit")].contains("Record")) {
        all.add(&cost_of(&header, &line), 1);
    }
    assert_eq!(all.count(), 3);
    let tight = Tight.price(&all, Delta::new(1e-5).unwrap()).epsilon;
    let record = row("Record");
    assert_eq!(
        (&record["runs"], &record["releases"], &record["observer"]),
        (&3.into(), &3.into(), &"lab".into())
    );
    assert!((record["epsilon_tight"].as_f64().unwrap() - tight).abs() < 1e-9, "{record} {tight}");
    assert!(record["epsilon_basic"].as_f64().unwrap() > tight, "{record}");
    assert_eq!(record["arithmetic"], "exact arithmetic");
    // 15 answers about some rows; each row's own add up.
    let outcome = row("Outcome");
    assert_eq!(outcome["releases"], 15);
    assert!(outcome["epsilon_basic"].as_f64().unwrap() < 14.0, "{outcome}");
    let text = text_of(&document);
    assert!(text.contains("Privacy loss of the whole study (epsilon, each at its delta)"), "{text}");
    let page = fs::read_to_string(folder(&document).join("report.html")).unwrap();
    assert!(page.contains("id=\"whole-study\""));
    // Long words are kept wide, so that their rows are no towers on a phone.
    assert!(page.contains("class=\"long\">lab about a person of hospital"), "{page}");

    // Users who choose among recorded columns, each of whom reports once in a run.
    let stocks = format!(
        "objective=Correlation(file: {:?}, ignore: [\"Date\"])",
        crate::support::root().join("scenarios/data/stocks.csv")
    );
    let series = "protocol.series=[Series(name: \"one\", report: Ctl(epsilon: 0.5), learner: Random())]";
    let short = ["--replications", "2", "-o", &stocks, "-o", "protocol.rounds=40", "-o", series];
    let users = run("scenarios/users.ron", place.path(), &short);
    let rows = users["whole_study"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["unit"], &rows[0]["runs"]), (1, &"Reward".into(), &2.into()));
    assert!(
        (rows[0]["epsilon_basic"].as_f64().unwrap() - 1.0).abs() < 1e-9,
        "two reports of 0.5: {}",
        rows[0]
    );
    // Functions drawn anew are new data.
    let short = ["--replications", "2", "-o", "protocol.rounds=40", "-o", series];
    assert!(run("scenarios/users.ron", place.path(), &short).get("whole_study").is_none());

    // Agents with data of their own.
    let series = "protocol.series=[Series(name: \"sum\", sharing: Aggregate(clip: 2, noise_multiplier: 1, \
                  participation: Poisson(0.35), weights: Uniform()), policy: Deadline(after: \"10s\"))]";
    let short = ["--replications", "2", "-o", "protocol.rounds=2", "-o", "protocol.features=5", "-o", series];
    let watches = run("scenarios/studies/activity.ron", place.path(), &short);
    let rows = watches["whole_study"].as_array().unwrap();
    let agents = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
    assert_eq!((&agents["runs"], &agents["releases"]), (&2.into(), &4.into()), "{agents}");
    assert!(agents["epsilon_tight"].as_f64().unwrap() > 0.0);
    assert!(rows.iter().any(|row| row["observer"] == "server" && row["epsilon_tight"] == "inf"));
}

/// A user who comes again changes all of their values at once.
#[test]
fn neighbours_of_users_differ_in_all_of_their_values() {
    let place = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "protocol.rounds=60", "-o", "protocol.population=5"];
    let text = flat(&text_of(&run("scenarios/users.ron", place.path(), &more)));
    assert!(text.contains("neighbours, a user: all of one user's values replaced by any others"), "{text}");
}

/// What is taken as public is listed in every output, conditions first and each fact once.
#[test]
fn what_is_taken_as_public_is_listed() {
    let place = TempDir::new().unwrap();
    let document = patients(&place, ", Series(name: \"nothing\", release: Withheld(), learner: Random())");
    let run = RunFolder::at(&folder(&document));
    let mut page = Page::read(&run).unwrap().unwrap();
    for series in &mut page.summary.cells[0].series {
        series.public = vec![PublicFact::new("number of records", Origin::Shape)];
    }
    let scaling = PublicFact::new("mean and spread of the outcomes", Origin::ComputedFromData);
    page.summary.cells[0].series[0].public.push(scaling.about("hospital").for_observer("lab"));
    let text = flat(&report::text(&page.summary, Terminal { detail: Detail::Full, ..Terminal::default() }));
    let scaling = "mean and spread of the outcomes, of hospital, known to lab (both): computed from protected data: a \
                   condition of the losses";
    let list = &text[text.find("Taken as public").expect("a list")..];
    assert!(list.contains(scaling), "{list}");
    assert_eq!(list.matches("number of records: shape of the data").count(), 1, "{list}");
    assert!(list.find(scaling) < list.find("number of records"));
    let html = report::page(&page);
    assert!(
        html.contains("id=\"public\"")
            && html.contains("mean and spread of the outcomes, of hospital, known to lab")
    );
    assert!(html.contains("<span class=\"warning\">computed from protected data"));
    assert!(report::json(&page.summary).contains("\"origin\":\"computed-from-data\""));
}
