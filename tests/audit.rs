//! The auditor on mechanisms whose privacy is known, on what is broken, and on scenarios through the real binary.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use subrosa::privacy::audit::{
    Case, Effort, Evidence, Experiment, Finding, Transcript, Verdict, World, ceiling, measure, suite,
};
use subrosa::rng::Key;

fn effort(seed: u64, trials: u64, delta: f64) -> Effort {
    Effort { trials, key: Key::root(seed).child("audit"), delta }
}

fn quiet(_: u64) {}

fn named(name: &str) -> Case {
    suite().into_iter().find(|case| case.statement.name == name).unwrap()
}

fn measured(name: &str, seed: u64, trials: u64) -> Evidence {
    let case = named(name);
    measure(&*case.experiment, effort(seed, trials, case.statement.delta), &quiet).unwrap()
}

/// Every mechanism gets the verdict that its documentation announces; those broken on purpose are caught.
#[test]
fn the_whole_suite_gets_the_documented_verdicts() {
    let mut broken = 0;
    for case in suite() {
        let delta = case.statement.delta;
        // Enough for a ceiling above every claim of the suite: ln(5,000 / 3.69) is 7.2.
        let evidence = measure(&*case.experiment, effort(7, 10_000, delta), &quiet).unwrap();
        let finding = Finding::new(case.statement, evidence);
        assert_eq!(finding.verdict, case.expected, "{finding:?}");
        if let Some((proven, _)) = &finding.statement.proven
            && finding.verdict == Verdict::Consistent
        {
            assert!(finding.evidence.epsilon_lower <= *proven, "{finding:?}");
        }
        broken += u32::from(finding.statement.broken);
    }
    assert_eq!(broken, 2);
}

/// With 95 % confidence and 100 seeds, more than 12 bounds above the truth have probability 0.0015 at the most; a truth
/// that is known exactly is what the bound must not exceed.
#[test]
fn bounds_exceed_the_truth_no_more_often_than_they_may() {
    // Truth at the case's delta: Laplace of scale 1 and the calibrated Gaussian 1 each; the subsampled Gaussian by its
    // closed form (Balle, Barthe and Gaboardi 2018, Theorem 8): that of the oracle's row for q = 0.25 is `proven`.
    for name in ["laplace", "gaussian", "poisson-gaussian", "randomized-response"] {
        let case = named(name);
        let truth = case.statement.proven.as_ref().unwrap().0;
        let above = (0..100)
            .filter(|seed| {
                let effort = effort(1000 + seed, 2_000, case.statement.delta);
                measure(&*case.experiment, effort, &quiet).unwrap().epsilon_lower > truth
            })
            .count();
        assert!(above <= 12, "{name}: {above} of 100 bounds exceed {truth}");
    }
}

/// How close counting comes. The distances are those of Clopper-Pearson limits at the best threshold.
#[test]
fn known_mechanisms_are_measured_within_the_expected_distance() {
    // Pure mechanisms lose only the width of two intervals.
    for (name, least) in [("laplace", 0.95), ("randomized-response", 0.95)] {
        let found = measured(name, 1, 100_000).epsilon_lower;
        assert!((least..=1.0).contains(&found), "{name}: {found}");
    }
    // At delta 1e-5 a Gaussian's epsilon lives in a tail that 1e5 trials hardly reach.
    let gaussian = measured("gaussian", 1, 200_000);
    assert!((0.4..=0.8).contains(&gaussian.epsilon_lower), "{}", gaussian.epsilon_lower);
    // The Gaussian model extrapolates from the middle, and is right here.
    let model = gaussian.gaussian_model.unwrap();
    assert!((0.85..=1.03).contains(&model), "{model}");
    let sampled = measured("poisson-gaussian", 1, 100_000);
    assert!((1.0..=2.7065).contains(&sampled.epsilon_lower), "{}", sampled.epsilon_lower);
}

#[test]
fn low_bits_tell_float_noise_and_lattice_noise_has_none() {
    for name in ["laplace-low-bits", "gaussian-low-bits"] {
        let evidence = measured(name, 3, 20_000);
        assert_eq!(evidence.test, "support");
        assert!(evidence.epsilon_lower > ceiling(10_000, 0.0) - 2.0, "{name}: {}", evidence.epsilon_lower);
    }
    for name in ["discrete-laplace", "discrete-gaussian"] {
        assert!(measured(name, 3, 20_000).epsilon_lower < 1.0);
    }
}

/// Normal numbers of which one is shifted, and no score: the statistic must be learned.
struct Shifted;

impl Experiment for Shifted {
    fn tests(&self) -> Vec<String> {
        Vec::new()
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let mut stream = key.stream();
        let mut features: Vec<f64> = (0..5).map(|_| stream.normal()).collect();
        features[3] += 2.0 * world.index() as f64;
        Ok(Transcript { scores: Vec::new(), features })
    }
}

#[test]
fn a_statistic_is_trained_where_no_density_is_known() {
    let evidence = measure(&Shifted, effort(5, 20_000, 1e-5), &quiet).unwrap();
    assert_eq!(evidence.test, "trained statistic");
    // Two unit normals 2 apart: AUC = Phi(sqrt 2) = 0.921, epsilon 10 at delta 1e-5.
    assert!((0.91..0.93).contains(&evidence.membership.auc), "{:?}", evidence.membership);
    assert!((2.0..10.0).contains(&evidence.epsilon_lower), "{}", evidence.epsilon_lower);
}

/// The figures do not depend on how trials are divided among threads.
#[test]
fn threads_change_nothing() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| measured("ctl", 11, 3_000))
    };
    assert_eq!(on(1), on(3));
}

fn subrosa(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_subrosa"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The findings of a scenario's audit by name, each with verdict and lower bound.
fn findings(arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["audit"];
    all.extend(arguments);
    all.extend(["--format", "json"]);
    let output = subrosa(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["findings"].as_array().unwrap().clone()
}

fn verdict<'a>(findings: &'a [Value], name: &str) -> (&'a str, f64) {
    let finding =
        findings.iter().find(|finding| finding["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    (finding["verdict"].as_str().unwrap(), finding["evidence"]["epsilon_lower"].as_f64().unwrap())
}

#[test]
fn the_projection_is_refuted_its_replacements_are_not_and_records_are_rebuilt() {
    let found = findings(&["scenarios/audit/projection.ron", "--trials", "2000"]);
    assert_eq!(verdict(&found, "PO-GP-UCB").0, "refuted");
    let rebuilt = &found[0]["reconstruction"];
    assert_eq!((rebuilt["known"].as_u64(), rebuilt["rebuilt"].as_u64()), (Some(3), Some(97)));
    assert!(rebuilt["largest_error"].as_f64().unwrap() < 1e-9, "{rebuilt}");
    assert_eq!(rebuilt["success"], 1.0);
    for name in ["noisy rows", "noisy projection", "noisy projection, outcomes"] {
        assert_eq!(verdict(&found, name).0, "consistent", "{name}");
    }
    // A record of hospital.ron's, whose claim no number of trials could refute by counting.
    let hospital = findings(&["scenarios/hospital.ron", "--trials", "100", "--neighbour", "17:0.5,0,0,0"]);
    assert_eq!(verdict(&hospital, "PO-GP-UCB").0, "refuted");
}

#[test]
fn unclipped_rewards_are_found_out() {
    let found = findings(&["scenarios/audit/unbounded.ron", "--trials", "4000"]);
    assert_eq!(verdict(&found, "clipped").0, "consistent");
    assert_eq!(verdict(&found, "not clipped").0, "refuted");
    // Given neighbours within the bound show nothing.
    let within = findings(&["scenarios/audit/unbounded.ron", "--trials", "4000", "--neighbour", "5,-5"]);
    assert_eq!(verdict(&within, "not clipped").0, "consistent");
    // A person who comes again and again spends more.
    let again = [
        "scenarios/audit/unbounded.ron",
        "--trials",
        "4000",
        "--series",
        "clipped",
        "-o",
        "protocol.population=Some(60)",
    ];
    let found = findings(&again);
    let (verdict, lower) = verdict(&found, "clipped");
    assert_eq!(verdict, "consistent");
    assert!(lower > 1.5 && found[0]["proven"][0].as_f64().unwrap() >= 3.0, "{found:?}");
    // Silence of those who are not content tells, whatever happens to the rewards of the others.
    let silent = [
        "scenarios/audit/unbounded.ron",
        "--trials",
        "4000",
        "--series",
        "clipped",
        "-o",
        "protocol.never_answer=WhenBelow(reward: 0, share: 0.9)",
    ];
    assert_eq!(findings(&silent)[0]["verdict"], "refuted");
}

/// Naive code reports the loss of the plan, whatever it does about dropouts: 2.0704 by the tight accountant. The ledger
/// prices what is done, and the attacks agree with it.
#[test]
fn dropout_rows_are_refuted_where_the_ledger_says_so() {
    let row = |series: &str, trials: &str| {
        let naive = "2.0705,0.0029435200932623716";
        let arguments =
            ["scenarios/audit/federated.ron", "--trials", trials, "--series", series, "--claim", naive];
        let finding = findings(&arguments).remove(0);
        let lower = finding["evidence"]["epsilon_lower"].as_f64().unwrap();
        let proven = finding["proven"][0].as_f64().unwrap();
        assert!(lower <= proven, "{series}: {lower} above the proven {proven}");
        finding["verdict"].as_str().unwrap().to_owned()
    };
    for sound in ["as planned", "keeps the last", "two regions"] {
        assert_eq!(row(sound, "4000"), "consistent", "{sound}");
    }
    for (naive, trials) in [("visible", "20000"), ("divides by arrivals", "2000"), ("late on top", "20000")] {
        assert_eq!(row(naive, trials), "refuted", "{naive}");
    }
}

#[test]
fn conditional_certificates_hold_on_the_functions_they_are_for() {
    let first = findings(&["scenarios/papers/dp-bo/algorithm1.ron", "--trials", "2000"]);
    assert!(first.iter().all(|finding| finding["verdict"] == "consistent"), "{first:?}");
    let release = findings(&["scenarios/release.ron", "--trials", "2000", "--cell", "2"]);
    for name in ["fixed grid", "Algorithm 3"] {
        assert_ne!(verdict(&release, name).0, "refuted", "{name}");
    }
}

#[test]
fn expectations_decide_the_exit_code() {
    let run = |expect: &str, name: &str| {
        subrosa(&["audit", "mechanism", name, "--trials", "2000", "--expect", expect]).status.code()
    };
    assert_eq!(run("consistent", "laplace"), Some(0));
    assert_eq!(run("refuted", "laplace"), Some(7));
    assert_eq!(run("documented", "broken-half-noise"), Some(0));
    let without = subrosa(&["audit", "mechanism", "broken-half-noise", "--trials", "2000"]);
    assert_eq!(without.status.code(), Some(0), "a verdict alone is no failure");
    let unknown = subrosa(&["audit", "mechanism", "laplce"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("laplace-low-bits"));
    for bad in [
        &["audit", "scenarios/audit/unbounded.ron", "--observer", "nobody"][..],
        &["audit", "scenarios/audit/unbounded.ron", "--claim", "0,2"],
        &["audit", "scenarios/audit/projection.ron", "--neighbour", "5:3,3"],
        &["audit", "scenarios/audit/federated.ron", "--neighbour", "20"],
        &["audit"],
    ] {
        assert_eq!(subrosa(bad).status.code(), Some(2), "{bad:?}");
    }
    // A smaller claim than the proven one is refuted by the same numbers.
    let claim =
        ["scenarios/audit/unbounded.ron", "--series", "clipped", "--trials", "4000", "--claim", "0.5,0"];
    assert_eq!(findings(&claim)[0]["verdict"], "refuted");
}

#[test]
fn the_two_distributions_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("laplace.svg");
    let output =
        subrosa(&["audit", "mechanism", "laplace", "--trials", "2000", "--plot", &file.to_string_lossy()]);
    assert!(output.status.success());
    let svg = std::fs::read_to_string(Path::new(&file)).unwrap();
    assert!(svg.contains("likelihood ratio") && svg.contains("the neighbour"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let bad = subrosa(&["audit", "mechanism", "laplace", "--trials", "100", "--plot", "laplace.pdf"]);
    assert_eq!(bad.status.code(), Some(2));
}
