//! Records divided among agents at random: who holds what, how the report says it, and what is refused.

use crate::support::{code_and_output, folder, run, subrosa};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use tempfile::TempDir;

const LOGISTIC: &str = "LogisticRegression(lambda: Axis(values: [0.01, 1]), steps: Axis(values: [4]), intercept: Axis(values: [1]))";
const MACHINE: &str = "RbfSvm(c: Axis(values: [0.1, 1]), gamma: Axis(values: [0.5]))";

/// 240 records of two classes and of six sites; the first feature tells the classes apart, with noise.
fn scenario(place: &Path, agents: u32, objective: &str) -> String {
    let mut records = "site,x,y,kind\n".to_owned();
    for row in 0..240u32 {
        let class = row * 7 % 5 < 2;
        let x = f64::from(row * 31 % 17) / 17.0 + if class { 0.6 } else { 0.0 };
        let _ = writeln!(
            records,
            "{},{x},{},{}",
            row % 6,
            f64::from(row * 13 % 11) / 11.0,
            if class { "yes" } else { "no" }
        );
    }
    std::fs::write(place.join("records.csv"), records).unwrap();
    let text = format!(
        "Scenario(name: \"split\", seed: 4, replications: 2, parties: {{ \"server\": Party(), \"agent\": Party(count: {agents}) }}, \
         network: Network(topology: Mesh()), objective: FederatedTuning(file: \"records.csv\", label: \"kind\", inputs: [\"x\", \"y\"], {objective}, \
         prior_mean: 0.7, prior_sd: 0.1), protocol: Federated(server: \"server\", groups: [AgentGroup(members: \"agent\")], rounds: 3, \
         initial_points: 2, features: 4, series: [Series(name: \"alone\", sharing: Alone()), Series(name: \"shared\", sharing: \
         Aggregate(weights: Uniform()))]))"
    );
    let file = place.join("split.ron");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn outcomes(document: &Value, series: usize) -> Vec<(String, f64)> {
    let all = document["cells"][0]["series"][series]["outcomes"].as_array().cloned().unwrap_or_default();
    let held = all.into_iter().filter_map(|outcome| {
        let name = outcome["name"].as_str()?.strip_prefix("Records of agents: ")?.to_owned();
        Some((name, outcome["value"]["mean"].as_f64()?))
    });
    held.collect()
}

/// The holdings in the records of a run: classes, and records by agent and class.
fn held(document: &Value) -> Value {
    let records = std::fs::read_to_string(folder(document).join("records.jsonl")).unwrap();
    let line = records.lines().next().unwrap();
    let from = line.find("\"holdings\":").unwrap() + "\"holdings\":".len();
    serde_json::Deserializer::from_str(&line[from..]).into_iter::<Value>().next().unwrap().unwrap()
}

fn counts(held: &Value) -> Vec<[u64; 2]> {
    let of = |agent: &Value| [0, 1].map(|class| agent["records"][class].as_u64().unwrap());
    held["listed"].as_array().unwrap().iter().map(of).collect()
}

/// Whatever is divided, every record has one holder; the distances are those of the counts by hand, stand in the first
/// series only, and grow with the skew; the page says what nobody is told.
#[test]
fn the_report_says_who_holds_what() {
    let out = TempDir::new().unwrap();
    let mut distances = Vec::new();
    for (name, split) in [
        ("alike", "split: [Split(agents: 12)]"),
        ("skewed", "split: [Split(agents: 12, labels: Dirichlet(0.2), sizes: LogNormal(0.5))]"),
        ("column", "agent: [\"site\"]"),
    ] {
        let place = out.path().join(name);
        std::fs::create_dir(&place).unwrap();
        let agents = if name == "column" { 6 } else { 12 };
        let file = scenario(&place, agents, &format!("{split}, model: {LOGISTIC}"));
        let document = run(&file, &place, &["--threads", "1"]);
        assert_eq!(run(&file, &place.join("two"), &["--threads", "2"])["digest"], document["digest"]);
        let held = held(&document);
        let counts = counts(&held);
        assert_eq!(counts.len(), agents as usize);
        assert_eq!(held["classes"], serde_json::json!(["no", "yes"]));
        assert_eq!(
            counts.iter().map(|[no, yes]| [*no, *yes]).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]),
            [144, 96]
        );
        let share = |[no, yes]: [u64; 2]| no as f64 / (no + yes) as f64;
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, a) in counts.iter().enumerate() {
            for b in &counts[..i] {
                (sum, pairs) = (sum + (share(*a) - share(*b)).abs(), pairs + 1.0);
            }
        }
        let found = outcomes(&document, 0);
        let of = |name: &str| found.iter().find(|outcome| outcome.0 == name).unwrap().1;
        assert!((of("total variation") - sum / pairs).abs() < 1e-12, "{found:?}");
        assert_eq!(of("fewest") as u64, counts.iter().map(|[a, b]| a + b).min().unwrap());
        assert_eq!(of("most") as u64, counts.iter().map(|[a, b]| a + b).max().unwrap());
        assert!(outcomes(&document, 1).is_empty(), "in the first series only");
        distances.push(of("Jensen-Shannon"));
        let page = std::fs::read_to_string(folder(&document).join("report.html")).unwrap();
        assert!(page.contains("Who holds which records") && page.contains("protected data"), "{name}");
        let shown = format!("{}</td>", counts[0][0] + counts[0][1]);
        assert!(page.contains(&shown), "{shown}");
        if name != "column" {
            let law = "the law by which records are divided among agents, but not what each agent holds";
            assert!(document.to_string().contains(law) || page.contains(law));
        }
    }
    assert!(distances[0] < 0.1 && distances[1] > 0.3, "{distances:?}");
}

/// Two groups with laws of their own; agents of a very small alpha may have one class, and still play.
#[test]
fn groups_of_agents_have_their_own_laws() {
    let out = TempDir::new().unwrap();
    for model in [
        LOGISTIC,
        MACHINE,
        "RbfSvm(c: Axis(values: [1]), gamma: Axis(values: [0.5]), score: PlattArea(draws: 2))",
    ] {
        let split =
            "split: [Split(agents: 10, labels: Dirichlet(0.02)), Split(agents: 10, feature_noise: 0.5)]";
        let file = scenario(out.path(), 20, &format!("{split}, model: {model}"));
        let document = run(&file, out.path(), &[]);
        let counts = counts(&held(&document));
        let one_class = |counts: &[[u64; 2]]| counts.iter().filter(|[a, b]| *a == 0 || *b == 0).count();
        assert!(one_class(&counts[..10]) >= 5 && one_class(&counts[10..]) == 0, "{counts:?}");
        assert!(counts.iter().all(|[a, b]| a + b >= 2), "{counts:?}");
    }
    // Noise at zero moves nothing, and skew of the records otherwise does.
    let digest = |more: &str| {
        let split = format!("split: [Split(agents: 8{more})], model: {MACHINE}");
        run(&scenario(out.path(), 8, &split), out.path(), &[])["digest"].clone()
    };
    let plain = digest("");
    assert_eq!(digest(", labels: Alike, sizes: LogNormal(0), feature_noise: 0"), plain);
    for more in
        ["feature_noise: 3", "features: FeatureShift(column: \"x\", alpha: 0.3)", "sizes: Dirichlet(1)"]
    {
        assert_ne!(digest(&format!(", {more}")), plain, "{more}");
    }
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let out = TempDir::new().unwrap();
    for (objective, place, said) in [
        (format!("model: {LOGISTIC}"), "agent", "divide the records by `split`"),
        (
            format!("agent: [\"site\"], split: [Split(agents: 3)], model: {LOGISTIC}"),
            "agent",
            "leave one of the two out",
        ),
        (format!("split: [Split(agents: 121)], model: {LOGISTIC}"), "agents", "at most 120 agents"),
        (
            format!("split: [Split(agents: 4, labels: Dirichlet(0.001))], model: {LOGISTIC}"),
            "Dirichlet",
            "from 0.01",
        ),
        (
            format!("split: [Split(agents: 4, sizes: LogNormal(9))], model: {LOGISTIC}"),
            "LogNormal",
            "at most 3",
        ),
        (
            format!("split: [Split(agents: 4, feature_noise: 1000)], model: {LOGISTIC}"),
            "feature_noise",
            "at most 100",
        ),
        (
            format!(
                "split: [Split(agents: 4, features: FeatureShift(column: \"site\", alpha: 1))], model: {LOGISTIC}"
            ),
            "site",
            "no column of `inputs` is called",
        ),
        (
            format!(
                "split: [Split(agents: 4)], held_out: Column(file: \"records.csv\", agent: \"site\", row: \"x\", column: \"kind\", \
                 value: \"no\"), model: {LOGISTIC}"
            ),
            "held_out",
            "LastOfEachClass",
        ),
    ] {
        let file = scenario(out.path(), 3, &objective);
        refused(&file, place, said);
    }
    // More agents than have data, and a class that is not among the stated ones.
    let file =
        scenario(out.path(), 7, &format!("split: [Split(agents: 4), Split(agents: 2)], model: {LOGISTIC}"));
    refused(&file, "split", "data of at least 7 agents");
    let file = scenario(out.path(), 7, &format!("agent: [\"site\"], model: {LOGISTIC}"));
    refused(&file, "agent", "write `count: 6` or less");
    let file =
        scenario(out.path(), 3, &format!("split: [Split(agents: 4)], classes: [\"a\"], model: {LOGISTIC}"));
    refused(&file, "kind", "one of `classes` (a)");
}

/// A federation on a table or on a tuned model, whose records have a column `site`.
fn own_objective(place: &Path, agents: u32, objective: &str, more: &str) -> String {
    scenario(place, agents, "agent: [\"site\"], model: RbfSvm()");
    let text = format!(
        "Scenario(name: \"own\", seed: 4, replications: 2, parties: {{ \"server\": Party(), \"agent\": Party(count: {agents}{more}) }}, \
         network: Network(topology: Mesh()), objective: {objective}, protocol: Federated(server: \"server\", groups: [AgentGroup(members: \
         \"agent\")], rounds: 6, initial_points: 2, features: 4, series: [Series(name: \"alone\", sharing: Alone()), Series(name: \"shared\", \
         sharing: Aggregate(weights: Uniform()))]))"
    );
    let file = place.join("own.ron");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn table(holders: &str) -> String {
    format!(
        "Table(file: \"records.csv\", {holders}, inputs: [\"y\"], output: Column(\"x\"), output_scale: Stated(centre: 0, unit: 1), \
         input_scale: Stated(centres: [0], units: [1], radius: 1), max_norm: 1, hyperparameters: Given(length_scales: [1], variance: 1, noise_variance: 0.01))"
    )
}

fn tuning(holders: &str) -> String {
    format!(
        "Tuning(file: \"records.csv\", {holders}, inputs: [\"x\", \"y\"], label: Equals(column: \"kind\", value: \"yes\"), training: \
         LogisticRegression, loss: Ramp, lambda_min: 0.01, lambda_max: 1, settings: 4)"
    )
}

/// Site s holds rows s, s + 6, ..; x of row r is (31 r mod 17) / 17, and 0.6 more if 7 r mod 5 < 2. So the best row of all
/// and that of each site are known, and with them what an agent loses because it can measure its own rows only.
#[test]
fn agents_search_the_rows_of_a_table_that_are_theirs() {
    let out = TempDir::new().unwrap();
    let file = own_objective(out.path(), 6, &table("agent: [\"site\"]"), "");
    let document = run(&file, out.path(), &[]);
    let x = |row: u32| f64::from(row * 31 % 17) / 17.0 + if row * 7 % 5 < 2 { 0.6 } else { 0.0 };
    let best = |site: u32| (0..40).map(|k| x(6 * k + site)).fold(f64::NEG_INFINITY, f64::max);
    let all = (0..6).map(best).fold(f64::NEG_INFINITY, f64::max);
    let lost = (0..6).map(|site| all - best(site)).sum::<f64>() / 6.0;
    let of = |name: &str| {
        let all = document["cells"][0]["series"][0]["outcomes"].as_array().unwrap();
        let found = all.iter().find(|outcome| outcome["name"] == name).unwrap_or_else(|| panic!("{name}"));
        found["value"]["mean"].as_f64().unwrap()
    };
    assert!((of("Functions of agents: value lost at other points") - lost).abs() < 1e-12);
    assert_eq!(of("Functions of agents: common points"), 0.0);
    assert_eq!((of("Records of agents: fewest"), of("Records of agents: most")), (40.0, 40.0));
    let held = held(&document);
    assert_eq!(held["classes"][3], "highest quarter");
    assert_eq!(held["listed"][2]["name"], "2");
    assert!(!document.to_string().contains("best performance"), "that is for tuned models");
    // An agent that measured its best row has no regret: all regrets are at most the range of its own rows.
    let worst = |site: u32| best(site) - (0..40).map(|k| x(6 * k + site)).fold(f64::INFINITY, f64::min);
    let largest = (0..6).map(worst).fold(0.0, f64::max);
    for series in document["cells"][0]["series"].as_array().unwrap() {
        let regret = series["metrics"]["simple_regret"]["mean"].as_f64().unwrap();
        assert!((0.0..=largest).contains(&regret), "{regret}");
    }
    // Drawn: by quarters of the output, every row has one holder.
    let split = "split: [Split(agents: 12, labels: Dirichlet(0.2))]";
    let file = own_objective(out.path(), 12, &table(split), "");
    let document = run(&file, out.path(), &[]);
    let drawn = self::held(&document);
    let counts: u64 = drawn["listed"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|agent| agent["records"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()))
        .sum();
    assert_eq!(counts, 240);
    assert!(outcomes(&document, 0).iter().any(|(name, apart)| name == "total variation" && *apart > 0.3));
}

/// Every agent trains on its own records, so that agents of one site differ from those of all records.
#[test]
fn agents_tune_on_the_records_that_are_theirs() {
    let out = TempDir::new().unwrap();
    for (agents, holders) in [
        (6, "agent: [\"site\"]"),
        (12, "split: [Split(agents: 12, labels: Dirichlet(0.2), feature_noise: 0.3)]"),
    ] {
        let file = own_objective(out.path(), agents, &tuning(holders), "");
        let document = run(&file, out.path(), &["--threads", "1"]);
        assert_eq!(run(&file, &out.path().join("two"), &["--threads", "2"])["digest"], document["digest"]);
        let held = held(&document);
        assert_eq!(held["classes"], serde_json::json!(["other class", "predicted class"]));
        let both = counts(&held).iter().fold([0, 0], |sum, [no, yes]| [sum[0] + no, sum[1] + yes]);
        assert_eq!((both, held["agents"].as_u64()), ([144, 96], Some(u64::from(agents))));
        // Values are minus a loss: 1 minus one is not an error.
        assert!(!document.to_string().contains("best performance"), "that is for accuracies");
        let skew =
            outcomes(&document, 0).into_iter().find(|outcome| outcome.0 == "Jensen-Shannon").unwrap().1;
        assert!(if agents == 6 { skew < 0.15 } else { skew > 0.3 }, "{skew}");
    }
}

#[test]
fn divided_records_are_for_federations_and_for_as_many_agents_as_the_split_names() {
    let out = TempDir::new().unwrap();
    let split = "split: [Split(agents: 12)]";
    for objective in [
        table(split),
        tuning(split),
        format!(
            "FederatedTuning(file: \"records.csv\", label: \"kind\", inputs: [\"x\", \"y\"], {split}, model: {MACHINE}, prior_mean: 0.7, prior_sd: 0.1)"
        ),
    ] {
        refused(
            &own_objective(out.path(), 11, &objective, ""),
            "split",
            "a split among the 11 agents that take part",
        );
        refused(&own_objective(out.path(), 13, &objective, ""), "split", "data of at least 13 agents");
    }
    for objective in [table(split), tuning(split)] {
        let text = format!(
            "Scenario(name: \"local\", seed: 4, parties: {{ \"service\": Party(), \"users\": Party() }}, network: Network(topology: Mesh()), \
             objective: {objective}, protocol: Local(service: \"service\", users: \"users\", rounds: 3, series: [Series(name: \"open\", report: \
             Disclosure(), learner: GpUcb())]))"
        );
        let file = out.path().join("local.ron");
        std::fs::write(&file, text).unwrap();
        refused(file.to_str().unwrap(), "objective", "no agents with objectives of their own");
    }
    let noisy = table("split: [Split(agents: 12, feature_noise: 0.1)]");
    refused(&own_objective(out.path(), 12, &noisy, ""), "feature_noise", "are used as recorded");
    let both = tuning("agent: [\"site\"], split: [Split(agents: 6)]");
    refused(&own_objective(out.path(), 6, &both, ""), "agent", "leave one of the two out");
    let none = table("agent: [\"ward\"]");
    refused(&own_objective(out.path(), 6, &none, ""), "agent", "ward");
}

fn refused(file: &str, place: &str, said: &str) {
    let (code, _, stderr) = code_and_output(&subrosa(&["check", file]));
    assert!(code == 3 && stderr.contains(said) && stderr.contains(place), "{said}: {code} {stderr}");
}

/// Agents with one training record each: near the optimum a line search of the library finds no step and never ends, so that
/// its evaluations are counted.
#[test]
fn a_thousand_agents_with_six_records_each_are_trained() {
    let out = TempDir::new().unwrap();
    let more =
        ["--replications", "1", "-o", "protocol.rounds=1", "-o", "objective.split=[Split(agents: 1000)]"];
    let more = [&more[..], &["-o", "parties.watch.count=1000"]].concat();
    let document = run("scenarios/studies/label-skew.ron", out.path(), &more);
    assert_eq!(document["cells"].as_array().unwrap().len(), 1);
}
