//! Cohorts of users and epsilons of users' own, through the public door: what each cohort gets, and what each user loses.

use crate::support::{code_and_output, metric, root, run, subrosa};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Users of `Local` on 20 points, with cohorts and series of these texts.
fn scenario(folder: &TempDir, protocol: &str, series: &str) -> PathBuf {
    let text = format!(
        r#"Scenario(
    name: "cohorts", seed: 7, replications: 4,
    parties: {{ "service": Party(), "users": Party() }},
    network: Network(topology: Mesh(), default: Link(latency: Constant("1ms"))),
    objective: RkhsSum(points: 20, noise: Uniform(bound: 0.1)),
    privacy: Privacy(delta: 1e-6),
    protocol: Local(service: "service", users: "users", rounds: 400, {protocol} series: [{series}]),
)"#
    );
    let place = folder.path().join("cohorts.ron");
    fs::write(&place, text).unwrap();
    place
}

fn played(protocol: &str, series: &str, more: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let place = scenario(&folder, protocol, series);
    run(place.to_str().unwrap(), &folder.path().join("out"), more)
}

fn series<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["cells"][0]["series"].as_array().unwrap();
    all.iter().find(|entry| entry["name"] == name).unwrap()
}

fn group<'a>(document: &'a Value, name: &str, cohort: &str) -> &'a Value {
    let groups = series(document, name)["groups"].as_array().unwrap();
    groups.iter().find(|entry| entry["group"] == cohort).unwrap()
}

fn number(value: &Value) -> f64 {
    value["mean"].as_f64().or(value.as_f64()).unwrap()
}

/// Epsilon of the tight accountant by whose data it is, of one series.
fn tight(document: &Value, name: &str) -> Vec<(String, f64)> {
    let rows = document["cells"][0]["privacy"].as_array().unwrap().iter();
    let of = |row: &Value| {
        let losses = row["losses"].as_array().unwrap();
        let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
        assert_eq!(tight["basis"] == "unprotected", tight["epsilon"] == "inf", "{row}");
        (row["protected"].as_str().unwrap().to_owned(), tight["epsilon"].as_f64().unwrap_or(f64::INFINITY))
    };
    rows.filter(|row| row["series"] == name).map(of).collect()
}

const OPEN: &str = r#"Series(name: "one", report: Disclosure(), learner: GpUcb(beta: Constant(beta: 2)))"#;
const BOTH: &str = r#"Series(name: "one", report: Disclosure(), learner: GpUcb(beta: Constant(beta: 2))),
    Series(name: "each", report: Disclosure(), learner: GpUcb(beta: Constant(beta: 2)), by_cohort: true)"#;

/// A single cohort that differs in nothing is the scenario without cohorts, in every regret.
#[test]
fn a_cohort_of_all_users_changes_no_regret() {
    let plain = played("", OPEN, &[]);
    let differences = "scale: Given([1]), noise: LogNormal(0), shift: Uniform(0), drift: Drift(rate: 0)";
    let cohort = format!(
        "cohorts: [Cohort(name: \"all\", heterogeneity: 0, differences: Differences({differences}))],"
    );
    let found = played(&cohort, OPEN, &[]);
    for of in ["simple_regret", "cumulative_regret"] {
        assert_eq!(metric(&plain, 0, "one", of), metric(&found, 0, "one", of));
    }
    assert!(series(&plain, "one").get("groups").is_none());
    let whole = group(&found, "one", "all");
    assert!(
        (number(&whole["cumulative_regret"]) - metric(&plain, 0, "one", "cumulative_regret").0).abs() < 1e-9
    );
    let other = played(&cohort.replace("heterogeneity: 0", "heterogeneity: 0.3"), OPEN, &[]);
    assert_ne!(metric(&other, 0, "one", "cumulative_regret"), metric(&plain, 0, "one", "cumulative_regret"));
}

/// Cohorts with functions that have nothing in common: one learner cannot serve both, a learner for each can. Regret is on
/// each cohort's own optimum, and adds up to that of the series.
#[test]
fn every_cohort_is_compared_with_its_own_optimum() {
    let cohorts = r#"cohorts: [Cohort(name: "phone", share: 3), Cohort(name: "tablet", heterogeneity: 1)],"#;
    let found = played(cohorts, BOTH, &[]);
    for name in ["one", "each"] {
        let of = |cohort, field: &str| number(&group(&found, name, cohort)[field]);
        let sum = of("phone", "cumulative_regret") + of("tablet", "cumulative_regret");
        assert!((sum - metric(&found, 0, name, "cumulative_regret").0).abs() < 1e-6 * sum);
        // 1,600 users in four runs: the mean has a standard error of sqrt(400 * 0.75 * 0.25 / 4) = 4.3; six of them.
        assert!((of("phone", "evaluations") - 300.0).abs() < 26.0, "{}", of("phone", "evaluations"));
        assert_eq!(of("phone", "evaluations") + of("tablet", "evaluations"), 400.0);
        let simple = 0.75 * of("phone", "simple_regret") + 0.25 * of("tablet", "simple_regret");
        assert!((simple - metric(&found, 0, name, "simple_regret").0).abs() < 1e-9, "weighted by shares");
    }
    let per_user = |name, cohort| number(&group(&found, name, cohort)["regret_per_user"]);
    assert!(per_user("each", "tablet") < 0.3 * per_user("one", "tablet"), "{found}");
    assert_eq!(series(&found, "one")["fairness"]["worst_group"], "tablet");
}

/// Answer rates, noise and drift are the cohort's own.
#[test]
fn answers_noise_and_drift_are_by_cohort() {
    let cohorts = |tablet: &str| {
        format!("cohorts: [Cohort(name: \"phone\"), Cohort(name: \"tablet\"{tablet})], population: 40,")
    };
    let silent = |document: &Value| series(document, "one")["metrics"]["counts"]["never answer"].as_f64();
    assert_eq!(silent(&played(&cohorts(""), OPEN, &[])), Some(0.0));
    let found = played(&cohorts(", never_answer: Some(Independent(1))"), OPEN, &[]);
    assert_eq!(silent(&found).unwrap(), number(&group(&found, "one", "tablet")["evaluations"]));
    let still = played(&cohorts(""), OPEN, &[]);
    let drifting = played(&cohorts(", differences: Differences(drift: Drift(rate: 0.1, own: 1))"), OPEN, &[]);
    let per_user =
        |document: &Value, cohort: &str| number(&group(document, "one", cohort)["regret_per_user"]);
    assert!(
        per_user(&drifting, "tablet") > 5.0 * per_user(&still, "tablet"),
        "it is compared with a moving optimum"
    );
    // Rewards of the noisy cohort exceed the bound that covers the others.
    let private = r#"Series(name: "one", report: Ctl(epsilon: 1, bound: 4), learner: Random())"#;
    let beyond = |tablet: &str| {
        let document = played(&cohorts(tablet), private, &[]);
        series(&document, "one")["metrics"]["counts"]["beyond bound"].as_f64().unwrap()
    };
    let (plain, noisy) = (beyond(""), beyond(", differences: Differences(noise: Given([100]))"));
    assert!(noisy > plain + 40.0, "{plain} {noisy}");
}

/// Silence that tells costs the cohort whose silence it is, and no other; and the first cohort's loss hides no other's.
#[test]
fn each_cohort_has_its_own_loss() {
    let private = r#"Series(name: "one", report: Ctl(epsilon: 1), learner: Random())"#;
    let cohorts = r#"cohorts: [
        Cohort(name: "quiet", never_answer: Some(WhenBelow(reward: 0, share: 0.5))),
        Cohort(name: "bounded", never_answer: Some(Informative(by: Value, slope: -1, base_rate: 0.5, least: 0.4, most: 0.6))),
        Cohort(name: "plain"),
    ],"#;
    let found = played(cohorts, private, &[]);
    let mut losses = tight(&found, "one");
    losses.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = losses.iter().map(|loss| loss.0.as_str()).collect();
    assert_eq!(names, ["users, cohort bounded", "users, cohort plain", "users, cohort quiet"]);
    // ln(0.6 / 0.4) = 0.405 for the silence, and 1 for the report.
    assert!((1.0..=1.406).contains(&losses[0].1) && losses[0].1 > 1.1, "{losses:?}");
    assert!((losses[1].1 - 1.0).abs() < 1e-5 && losses[2].1.is_infinite(), "{losses:?}");
    let public = series(&found, "one")["public"].as_array().unwrap();
    assert!(
        public
            .iter()
            .any(|fact| fact["what"].as_str().unwrap().contains("which cohort each user belongs to"))
    );
}

/// Every user's loss is her own epsilon: by cohort, by a list of people, drawn. The report has one row for each level, and
/// the smallest does not stand for the others.
#[test]
fn every_level_has_its_own_loss() {
    let with = |epsilons: &str| {
        format!(
            r#"Series(name: "one", report: Ctl(epsilon: 1), learner: GpUcb(beta: Constant(beta: 2)), epsilons: {epsilons})"#
        )
    };
    let losses = |protocol: &str, epsilons: &str| {
        let found = played(protocol, &with(epsilons), &[]);
        let public = series(&found, "one")["public"].as_array().unwrap().clone();
        let told = |fact: &Value| fact["what"].as_str().unwrap().starts_with("the epsilon of each user");
        assert!(public.iter().any(told));
        let mut losses = tight(&found, "one");
        losses.sort_by(|a, b| a.0.cmp(&b.0));
        losses
    };
    let near = |found: Vec<(String, f64)>, expected: &[(&str, f64)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, loss), (expected_name, expected)) in found.iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert!((loss - expected).abs() < 1e-5, "{name}: {loss} for {expected}");
        }
    };
    near(
        losses("", "Drawn([Level(epsilon: 0.5, share: 3), Level(epsilon: 2), Level(epsilon: 8)])"),
        &[("users, epsilon 0.5", 0.5), ("users, epsilon 2", 2.0), ("users, epsilon 8", 8.0)],
    );
    near(losses("", "Given([3, 0.25])"), &[("users, epsilon 0.25", 0.25), ("users, epsilon 3", 3.0)]);
    let cohorts = r#"cohorts: [Cohort(name: "phone"), Cohort(name: "tablet", share: 3)],"#;
    near(
        losses(cohorts, "ByGroup({\"phone\": 4, \"tablet\": 0.5})"),
        &[("users, cohort phone, epsilon 4", 4.0), ("users, cohort tablet, epsilon 0.5", 0.5)],
    );
    // Four people visit 400 times in all: each one's visits add up at her own epsilon.
    let visits = played("population: 4,", &with("Given([0.001, 0.002])"), &["--replications", "1"]);
    let rows = visits["cells"][0]["privacy"].as_array().unwrap();
    for row in rows {
        let epsilon: f64 = row["protected"].as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        let basic =
            row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == "basic").unwrap();
        let times = row["releases_per_unit"].as_f64().unwrap();
        assert!((basic["epsilon"].as_f64().unwrap() - times * epsilon).abs() < 1e-9, "{row}");
        assert!((70.0..130.0).contains(&times), "{times}");
    }
    assert_eq!(rows.len(), 2);
    // A budget binds the user with the largest epsilon.
    let budget = "privacy=Privacy(delta: 1e-6, budget: Budget(epsilon: 1, delta: 1e-6))";
    let ended = |epsilons: &str| {
        let found = played("", &with(epsilons), &["-o", budget]);
        series(&found, "one")["budget_reached"].as_u64().unwrap_or(0)
    };
    assert_eq!((ended("Given([0.5, 0.9])"), ended("Given([0.5, 2])")), (0, 4));
}

/// Reports are as noisy as their user's epsilon says: with 99 of 100 users at 50 the search is nearly as good as with all at
/// 50.
#[test]
fn reports_have_the_noise_of_their_own_epsilon() {
    let one = |name: &str, report: &str, more: &str| {
        format!("Series(name: \"{name}\", report: {report}, learner: GpUcb(beta: Constant(beta: 2)){more}),")
    };
    let all = [
        one("low", "Ctl(epsilon: 0.05)", ""),
        one("high", "Ctl(epsilon: 50)", ""),
        one("low, personal", "Ctl(epsilon: 50)", ", epsilons: Given([0.05])"),
        one("high, personal", "Ctl(epsilon: 0.05)", ", epsilons: Given([50])"),
        one("mixed", "Ctl(epsilon: 0.05)", ", epsilons: Drawn([Level(epsilon: 0.05), Level(epsilon: 50)])"),
    ];
    let found = played("", &all.concat(), &[]);
    let regret = |name| metric(&found, 0, name, "cumulative_regret");
    assert_eq!(regret("low"), regret("low, personal"));
    assert_eq!(regret("high"), regret("high, personal"));
    assert!(regret("high").0 < regret("mixed").0, "{found}");
}

/// What does not fit together is refused, with its place and a cure.
#[test]
fn what_cohorts_and_epsilons_cannot_be_is_refused() {
    let told = |protocol: &str, series: &str| {
        let folder = TempDir::new().unwrap();
        let place = scenario(&folder, protocol, series);
        let (code, _, errors) = code_and_output(&subrosa(&["check", place.to_str().unwrap()]));
        assert_eq!(code, 3, "{errors}");
        errors
    };
    let private =
        |more: &str| format!("Series(name: \"one\", report: Ctl(epsilon: 1), learner: Random(){more})");
    let two = r#"cohorts: [Cohort(name: "a"), Cohort(name: "b")],"#;
    for (protocol, series, expected) in [
        ("", private(", by_cohort: true"), "cohorts, each of which gets a learner"),
        ("", private(", epsilons: ByGroup({\"a\": 1})"), "cohort"),
        (two, private(", epsilons: ByGroup({\"a\": 1})"), "none for \"b\""),
        (two, private(", epsilons: ByGroup({\"a\": 1, \"b\": 2, \"c\": 3})"), "\"c\""),
        (two, private(", epsilons: Given([])"), "at least one epsilon"),
        (two, private(", epsilons: Drawn([])"), "at least one level"),
        (
            two,
            "Series(name: \"one\", report: Disclosure(), learner: Random(), epsilons: Given([1]))".to_owned(),
            "a report with an epsilon",
        ),
        (
            r#"cohorts: [Cohort(name: "a", differences: Differences(noise: Given([1, 2, 3])))],"#,
            private(""),
            "expected one entry: a cohort has one function and one noise, found 3 entries",
        ),
        (
            r#"cohorts: [Cohort(name: "a", differences: Differences(shift: Given([[0.1], [0.2]])))],"#,
            private(""),
            "write a cohort for each entry",
        ),
        (
            r#"cohorts: [Cohort(name: "a"), Cohort(name: "a")],"#,
            private(""),
            "a name that no other cohort has",
        ),
        (
            r#"cohorts: [Cohort(name: "a", differences: Differences(domain: Box(0.5)))],"#,
            private(""),
            "domain",
        ),
        (
            r#"cohorts: [Cohort(name: "a", differences: Differences(clusters: Clusters(count: 2)))],"#,
            private(""),
            "clusters",
        ),
        (r#"cohorts: [Cohort(name: "a", share: 0)],"#, private(""), "share"),
    ] {
        let errors = told(protocol, &series);
        assert!(errors.contains(expected), "{protocol} {series}: {errors}");
    }
    // Functions that belong to agents are nobody's among users.
    let file = root().join("scenarios/data/activity.csv");
    let tuning = format!(
        "objective=FederatedTuning(file: {file:?}, agent: [\"subject\"], label: \"side\", inputs: [\"ax_std\", \"ay_std\"], \
         model: RbfSvm(c: Axis(values: 2, low: 0.1, high: 1), gamma: Axis(values: 2, low: 0.1, high: 1)), prior_mean: 0.6, \
         prior_sd: 0.2)"
    );
    let folder = TempDir::new().unwrap();
    let place = scenario(&folder, two, &private(""));
    let (code, _, errors) = code_and_output(&subrosa(&["check", place.to_str().unwrap(), "-o", &tuning]));
    assert!(code == 3 && errors.contains("agents of a federation"), "{errors}");
}
