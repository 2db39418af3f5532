//! Running means of rewards that the users of `Local` publish: price, noise, what readers learn, and audits.

use crate::support::{code_and_output, folder, refused, root, run, subrosa, table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use subrosa::privacy::ledger::{Ledger, Occasion};
use subrosa::privacy::mechanisms::SumEstimate;
use subrosa::privacy::mechanisms::clipping::Range;
use subrosa::privacy::{RunningSum, Sensitive};
use subrosa::protocols::local::RunningMean;
use subrosa::rng::Key;
use subrosa::vocab::{Finite, Neighbours, Observer, ProtectedUnit, Time};
use tempfile::TempDir;

/// 64 visits of 40 people; private reports with a learner, and open reports with arms at random.
fn scenario(place: &Path, replications: u64, more: &str) -> String {
    let text = format!(
        "Scenario(name: \"means\", seed: 4, replications: {replications}, parties: {{ \"service\": Party(), \"users\": Party(), \
         \"public\": Party() }}, network: Network(topology: Mesh(), default: Link(latency: Constant(\"20ms\"))), objective: \
         RkhsSum(points: 10), protocol: Local(service: \"service\", users: \"users\", rounds: 64, population: Some(40), series: [\
         Series(name: \"learns\", report: Ctl(epsilon: 0.5), learner: GpUcb(beta: Constant(beta: 2)), running_mean: \
         RunningMean(readers: [\"public\"], range: Range(low: -20, high: 20), epsilon: 1, delta: 1e-5, contributions: 2{more})),\
         Series(name: \"random\", report: Disclosure(), learner: Random(), running_mean: RunningMean(readers: [\"public\"], \
         range: Range(low: -20, high: 20), epsilon: 1, delta: 1e-5, contributions: 2{more}))]), privacy: Privacy(delta: 1e-5))"
    );
    let path = place.join("means.ron");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Readers are told the price of all means once; of reports they learn only where arms depend on them.
#[test]
fn readers_pay_for_the_means_and_for_the_reports_on_which_arms_depend() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 2, "");
    let document = run(&path, &place.path().join("runs"), &[]);
    let folder = folder(&document);
    let ledger = table(&folder, "ledger.csv");
    let of = |series: &str, observer: &str, released: &str| -> Vec<&BTreeMap<String, String>> {
        let wanted = |row: &&BTreeMap<String, String>| {
            row["series"] == series && row["observer"] == observer && row["released"] == released
        };
        ledger.iter().filter(wanted).collect()
    };
    for series in ["learns", "random"] {
        let means = of(series, "public", "running means of rewards");
        assert_eq!(means.len(), 2, "one entry in each of two replications");
        for row in &means {
            assert_eq!((row["releases"].as_str(), row["cost"].as_str()), ("1", "Gaussian"));
            assert!(row["basis_reason"].contains("the registry"), "{row:?}");
        }
        assert!(of(series, "service", "running means of rewards").is_empty());
    }
    let visits = |rows: Vec<&BTreeMap<String, String>>| -> u64 {
        rows.iter().map(|row| row["releases"].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(visits(of("learns", "public", "rewards y")), 2 * 64);
    assert_eq!(visits(of("learns", "service", "rewards y")), 2 * 64);
    assert_eq!(visits(of("random", "public", "rewards y")), 0);
    let losses = table(&folder, "privacy.csv");
    let tight = |series: &str| -> f64 {
        let of = |row: &&BTreeMap<String, String>| {
            row["series"] == series
                && row["observer"] == "public"
                && row["accountant"] == "tight"
                && row["whole_run"] == "true"
        };
        losses.iter().filter(of).map(|row| row["epsilon"].parse::<f64>().unwrap()).fold(0.0, f64::max)
    };
    assert!((0.999..=1.0 + 1e-6).contains(&tight("random")), "{}", tight("random"));
    // A person with two visits or more has reports of 0.5 each beside.
    assert!(tight("learns") > 1.5, "{}", tight("learns"));
}

/// The noise that is measured in runs is that of the formula.
#[test]
fn published_means_have_the_stated_noise() {
    let place = TempDir::new().unwrap();
    for (estimate, more) in
        [(SumEstimate::FewestPartialSums, ""), (SumEstimate::Honaker, ", estimate: Honaker")]
    {
        let replications = 60;
        let path = scenario(place.path(), replications, more);
        let document = run(&path, &place.path().join(format!("{estimate:?}")), &[]);
        let results = table(&folder(&document), "results.csv");
        let of = |row: &BTreeMap<String, String>, name: &str| -> f64 {
            row[&format!("more.{name}")].parse().unwrap()
        };
        let means: RunningMean = ron::from_str(&format!(
            "RunningMean(readers: [\"public\"], range: Range(low: -20, high: 20), epsilon: 1, delta: 1e-5, contributions: \
             Some(2){more})"
        ))
        .unwrap();
        let mechanism = means.mechanism(64, 40).unwrap();
        let (mut ratios, mut n) = (0.0, 0.0);
        for row in results.iter().filter(|row| row["series"] == "random") {
            let count = of(row, "means published");
            assert_eq!(count + of(row, "rewards left out of the mean"), 64.0);
            let sd = mechanism.variance(count as u64).sqrt() / count;
            ratios += of(row, "error of the last published mean") / sd;
            n += 1.0;
        }
        assert_eq!(n, f64::from(replications as u32));
        // |N(0, 1)| has mean sqrt(2 / pi) and standard deviation 0.603; six standard errors.
        let expected = (2.0 / std::f64::consts::PI).sqrt();
        assert!((ratios / n - expected).abs() < 6.0 * 0.603 / n.sqrt(), "{estimate:?}: {}", ratios / n);
    }
}

fn occasion() -> Occasion {
    Occasion {
        released: "running means".to_owned(),
        protected: "users".to_owned(),
        unit: ProtectedUnit::User,
        unit_index: None,
        neighbours: Neighbours::AnyValue,
        observer: Observer("public".to_owned()),
        round: 0,
        at: Time::ZERO,
        conditions: Vec::new(),
    }
}

fn means(estimate: SumEstimate) -> RunningMean {
    let range: Range = ron::from_str("Range(low: -1, high: 1)").unwrap();
    RunningMean {
        readers: vec!["public".to_owned()],
        range,
        epsilon: subrosa::vocab::Epsilon::new(1.0).unwrap(),
        delta: subrosa::vocab::Delta::new(0.01).unwrap(),
        contributions: NonZeroU64::new(2),
        every: NonZeroU64::MIN,
        restart: None,
        estimate,
        arithmetic: subrosa::privacy::mechanisms::NoiseArithmetic::Exact,
    }
}

/// All sums of eight numbers; the first five are of one person, of which two count, whatever they are.
fn sums(estimate: SumEstimate, of_person: f64, key: Key) -> Vec<f64> {
    let means = means(estimate);
    let mechanism = means.mechanism(8, 8).unwrap();
    let mut ledger = Ledger::new();
    let mut sum = RunningSum::begin(&mut ledger, occasion(), &mechanism, means.range, key.stream()).unwrap();
    let mut found = Vec::new();
    for (person, number) in [(0, of_person); 5].into_iter().chain((1..7).map(|person| (person, 0.25))) {
        let released = sum.add(person, &Sensitive::new(number)).unwrap();
        found.extend(released.map(subrosa::privacy::Released::into_inner));
    }
    assert_eq!(ledger.events().len(), 1);
    found
}

/// A range that is wider than the mechanism was scaled to is refused, and nothing is entered in the ledger.
#[test]
fn a_range_beyond_the_sensitivity_is_refused() {
    let means = means(SumEstimate::FewestPartialSums);
    let mechanism = means.mechanism(8, 8).unwrap();
    let high = Finite::new(means.range.high.get() + 0.5).unwrap();
    let wide = Range { high, ..means.range };
    let mut ledger = Ledger::new();
    let refused = RunningSum::begin(&mut ledger, occasion(), &mechanism, wide, Key::root(1).stream());
    assert!(refused.unwrap_err().to_string().contains("the mechanism's sensitivity"));
    assert!(ledger.events().is_empty());
}

/// Two neighbouring inputs, by simulation: all numbers of one person far beyond either end of the range. No event of a
/// threshold on a statistic of all sums is more than e^epsilon times as likely on one side, plus delta; without the limit on
/// contributions or without clipping, it would be.
#[test]
fn sums_of_neighbours_differ_by_at_most_epsilon() {
    for estimate in [SumEstimate::FewestPartialSums, SumEstimate::Honaker] {
        let n = 30_000u64;
        let all = |of_person: f64, key: u64| -> Vec<Vec<f64>> {
            (0..n).map(|k| sums(estimate, of_person, Key::root(key).index(k))).collect()
        };
        let (high, low) = (all(100.0, 1), all(-100.0, 2));
        assert!(high.iter().chain(&low).all(|sums| sums.len() == 8), "two of the person's numbers count");
        // The most telling sums are those in which the person's numbers are alone or nearly so.
        let score = |sums: &[f64]| sums[0] + sums[1] + 0.5 * sums[3] + 0.25 * sums[7];
        for threshold in [-6.0, -2.0, 0.0, 2.0, 6.0] {
            let share = |all: &[Vec<f64>]| {
                all.iter().filter(|sums| score(sums) > threshold).count() as f64 / n as f64
            };
            let (p, q) = (share(&high), share(&low));
            let e = std::f64::consts::E;
            let error = |p: f64, q: f64| 6.0 * ((p + e * e * q) / n as f64).sqrt();
            assert!(p <= e * q + 0.01 + error(p, q), "{estimate:?} {threshold}: {p} {q}");
            assert!(1.0 - q <= e * (1.0 - p) + 0.01 + error(1.0 - q, 1.0 - p), "{threshold}: {p} {q}");
            assert!(p > q, "the two sides can be told apart");
        }
    }
}

#[test]
fn what_means_cannot_be_published_beside_is_refused() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 1, "");
    let mean = "protocol.series[0].running_mean";
    let refused = |change: &str, parts: &[&str]| refused(&path, &[change], parts);
    refused("protocol.population=None", &["series[0].running_mean", "`population`"]);
    refused(
        "protocol.never_answer=WhenBelow(reward: 0, share: 0.5)",
        &["silence that does not depend on the reward"],
    );
    refused(&format!("{mean}.readers=[]"), &["at least one party"]);
    refused(&format!("{mean}.readers=[\"users\"]"), &["a party other than the users"]);
    refused(&format!("{mean}.readers=[\"publik\"]"), &["publik", "public"]);
    refused(
        &format!("{mean}.range=Range(low: 1, high: 1)"),
        &["series[0].running_mean", "`low` lies below its `high`"],
    );
}

/// The audit attacks what readers see: no claim of the scenario is refuted, and one that is too small is.
#[test]
fn the_audit_attacks_published_means() {
    let path = root().join("scenarios/audit/running-mean.ron");
    let path = path.to_str().unwrap();
    let audited = |more: &[&str]| -> Value {
        let mut arguments = vec!["audit", path, "--trials", "4000", "--format", "json"];
        arguments.extend(more);
        let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    };
    let verdicts = |document: &Value| -> Vec<String> {
        let text = document.to_string();
        let found =
            text.split("\"verdict\":\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        found.collect()
    };
    let own = verdicts(&audited(&[]));
    assert!(own.len() >= 4 && own.iter().all(|verdict| verdict == "consistent"), "{own:?}");
    let wrong = verdicts(&audited(&["--claim", "0.3,1e-5"]));
    assert!(wrong.iter().any(|verdict| verdict == "refuted"), "{wrong:?}");
}

/// Where arms depend on reports, the price of the means alone is not said to be all that readers learn.
#[test]
fn the_audit_says_where_arms_depend_on_reports() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 1, "");
    let basis = |series: &str| -> String {
        let arguments = [
            "audit",
            &path,
            "--series",
            series,
            "--observer",
            "public",
            "--trials",
            "200",
            "--format",
            "json",
        ];
        let (code, stdout, stderr) = code_and_output(&subrosa(&arguments));
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    assert!(basis("learns").contains("the chosen arms taken as public"), "{}", basis("learns"));
    assert!(!basis("random").contains("the chosen arms taken as public"), "{}", basis("random"));
}

/// A branch whose arms depend on reports is refused if they did not before the fork: readers would learn about reports that
/// the ledger does not list for them. The other direction, and a learner of the same kind, are permitted.
#[test]
fn a_branch_does_not_make_means_depend_on_reports() {
    let place = TempDir::new().unwrap();
    let path = scenario(place.path(), 1, "");
    let fork = |branch: &str| {
        let out = place.path().join("forks");
        let arguments = ["run", &path, "--fork-at", "20", "--branch", branch, "--out", out.to_str().unwrap()];
        let (code, _, stderr) = code_and_output(&subrosa(&arguments));
        (code, stderr)
    };
    let (code, stderr) = fork("learning: protocol.series[1].learner=GpUcb(beta: Constant(beta: 2))");
    assert_eq!(code, 3, "{stderr}");
    for part in ["protocol.series[1].learner: expected", "public", "\"random\"", "before the fork", "help: "]
    {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let (code, stderr) = fork("other: protocol.series[0].learner=GpUcb(beta: Constant(beta: 3))");
    assert_eq!(code, 0, "{stderr}");
    let (code, stderr) = fork("blind: protocol.series[0].learner=Random()");
    assert_eq!(code, 0, "{stderr}");
}
