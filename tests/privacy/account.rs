//! `subrosa account` and `subrosa calibrate`, and budgets, through the real binary.

use crate::support::{code_and_output, run, subrosa};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const MIXED: &str = "Account(delta: 1e-5, events: [
    PoissonGaussian(rate: 0.25, noise_multiplier: 1.0, count: 40),
    Gaussian(noise_multiplier: 2.0, count: 10),
    Laplace(scale: 1.0, count: 5),
    ExponentialMechanism(epsilon: 0.1, count: 40),
    RandomizedResponse(epsilon: 0.5, count: 5),
    ApproximateDp(epsilon: 1.0, delta: 1e-6, count: 1),
])";

fn json(arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = code_and_output(&subrosa(arguments));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn a_file_of_events_is_priced_by_every_accountant() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("mixed.ron");
    fs::write(&file, MIXED).unwrap();
    let document = json(&["account", file.to_str().unwrap(), "--format", "json"]);
    assert_eq!((&document["delta"], &document["releases"]), (&1e-5.into(), &101.into()));
    let epsilon = |name: &str, key: &str| document["accountants"][name][key].as_f64().unwrap();
    for name in ["rdp", "moments", "optimal", "advanced", "basic"] {
        assert!(epsilon(name, "epsilon") >= epsilon("tight", "lower"), "{name}");
        assert!(!document["accountants"][name]["about"].as_str().unwrap().is_empty());
        assert_eq!(document["accountants"][name]["basis"], "costs as stated");
        assert_eq!(document["accountants"][name]["arithmetic"], "ideal arithmetic assumed");
    }
    assert!(epsilon("tight", "lower") <= epsilon("tight", "epsilon"));
    assert!(epsilon("tight", "epsilon") <= epsilon("rdp", "epsilon"));
    assert!(epsilon("rdp", "order") > 1.0);
    assert_eq!(document["accountants"]["gdp"]["standing"], "not a bound");
    assert_eq!(document["accountants"]["gdp"]["basis"], "approximation");
    assert!(document["accountants"]["gdp"]["arithmetic"].is_null(), "it certifies nothing");
    let text = code_and_output(&subrosa(&["account", file.to_str().unwrap()])).1;
    assert!(
        text.contains("ideal arithmetic\n      assumed") || text.contains("ideal arithmetic assumed"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // Gaussians alone are Gaussian; it is still no certificate.
    let gaussians = place.path().join("gaussians.ron");
    fs::write(&gaussians, "Account(delta: 1e-5, events: [Gaussian(noise_multiplier: 2.0, count: 3)])")
        .unwrap();
    let exact = json(&["account", gaussians.to_str().unwrap(), "--format", "json"]);
    assert_eq!(exact["accountants"]["gdp"]["basis"], "approximation");
    assert_eq!(exact["accountants"]["gdp"]["standing"], "not a bound");
    assert_eq!(document["accountants"]["gdp"]["epsilon"], "inf", "no price for an (epsilon, delta) event");
    let stricter = json(&["account", file.to_str().unwrap(), "--delta", "1e-4", "--format", "json"]);
    assert!(stricter["accountants"]["tight"]["epsilon"].as_f64().unwrap() < epsilon("tight", "epsilon"));
}

#[test]
fn the_published_main_setting_and_its_pictures() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("dpftsde.ron");
    let text = "Account(delta: 0.0029435200932623716, events: [
        PoissonGaussian(rate: 0.25, noise_multiplier: 1.0, count: 40)])";
    fs::write(&file, text).unwrap();
    let picture = place.path().join("loss.svg");
    let plot = ["account", file.to_str().unwrap(), "--svg", picture.to_str().unwrap(), "--format", "json"];
    let document = json(&plot);
    let epsilon = |name: &str| document["accountants"][name]["epsilon"].as_f64().unwrap();
    assert!((epsilon("moments") - 9.91).abs() < 0.005);
    assert!((epsilon("tight") - 7.053_772).abs() < 1e-6);
    for name in ["loss.svg", "loss-curve.svg"] {
        let svg = fs::read_to_string(place.path().join(name)).unwrap();
        assert!(svg.contains("<svg") && svg.contains("tight"), "{name}");
    }
    // The earlier name of the option.
    let before = ["account", file.to_str().unwrap(), "--plot", picture.to_str().unwrap(), "--format", "json"];
    assert_eq!(json(&before), document);
}

#[test]
fn wrong_accounts_are_refused_with_their_place() {
    let place = TempDir::new().unwrap();
    for (text, words) in [
        ("Account(delta: 1e-5, events: [Gausian(noise_multiplier: 2.0)])", "did you mean `Gaussian`?"),
        ("Account(delta: 2.0, events: [])", "wrong.ron:1:16"),
        ("Account(events: [Gaussian(noise_multiplier: -1.0)])", "expected a finite number above 0"),
        (
            "Account(events: [FixedSizeGaussian(population: 5, size: 6, noise_multiplier: 1.0)])",
            "a sample larger than its population",
        ),
        (
            "Account(events: [Gaussian(noise_multiplier: 1.0), Laplace(scale: 1.0, count: 9223372036854775808)])",
            "events[1].count",
        ),
        (
            "Account(events: [RandomizedResponse(epsilon: 1, count: 1000000000001)])",
            "expected a count of at most 1000000000000",
        ),
        ("", "an empty file"),
    ] {
        let file = place.path().join("wrong.ron");
        fs::write(&file, text).unwrap();
        let (code, _, stderr) = code_and_output(&subrosa(&["account", file.to_str().unwrap()]));
        assert_eq!(code, 3, "{text}: {stderr}");
        assert!(stderr.contains(words), "{words} not in {stderr}");
    }
    let file = place.path().join("right.ron");
    fs::write(&file, "Account(events: [Gaussian(noise_multiplier: 2.0)])").unwrap();
    assert_eq!(
        code_and_output(&subrosa(&["account", file.to_str().unwrap(), "--delta", "2"])).0,
        2,
        "a flag out of range"
    );
    assert_eq!(code_and_output(&subrosa(&["account", "nowhere.ron"])).0, 2, "no file of that name");
    assert_eq!(
        code_and_output(&subrosa(&["account", place.path().to_str().unwrap()])).0,
        2,
        "a folder that is no run"
    );
}

#[test]
fn calibration_finds_the_noise_and_the_rounds() {
    let noise = json(&[
        "calibrate",
        "--epsilon",
        "7.0537724",
        "--delta",
        "0.0029435200932623716",
        "--rate",
        "0.25",
        "--rounds",
        "40",
        "--format",
        "json",
    ]);
    assert!((noise["noise_multiplier"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{noise}");
    let rounds = json(&[
        "calibrate",
        "--epsilon",
        "7.0537724",
        "--delta",
        "0.0029435200932623716",
        "--rate",
        "0.25",
        "--noise",
        "1",
        "--format",
        "json",
    ]);
    assert_eq!(rounds["rounds"], 40.0);
    assert_eq!(code_and_output(&subrosa(&["calibrate", "--epsilon", "1"])).0, 2);
    assert_eq!(code_and_output(&subrosa(&["calibrate", "--epsilon", "-1", "--rounds", "3"])).0, 2);
}

const SMALL: &str = "tests/golden/federated.ron";

#[test]
fn a_runs_ledger_is_priced_and_budgets_are_kept() {
    let out = TempDir::new().unwrap();
    let document = run(SMALL, out.path(), &[]);
    let folder = document["run"].as_str().unwrap();
    let ledger = json(&["account", folder, "--delta", "0.01", "--format", "json"]);
    let group = ledger["groups"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["group"].as_str().unwrap().contains("every agent"))
        .unwrap();
    assert_eq!(group["releases"], 6);
    let whole = group["accountants"]["tight"]["epsilon"].as_f64().unwrap();
    // A budget that holds half of it, for what agents learn about agents.
    let budget = |then: &str| {
        format!(
            "privacy=Privacy(delta: 0.01, budget: Budget(epsilon: {}, delta: 0.01, when_spent: {then}))",
            0.6 * whole
        )
    };
    let play = |then: &str, out: &std::path::Path| {
        let budget = budget(then);
        let arguments = ["run", SMALL, "--format", "json", "-o", &budget, "--out", out.to_str().unwrap()];
        code_and_output(&subrosa(&arguments))
    };
    let releases = |stdout: &str| {
        let document: Value = serde_json::from_str(stdout).unwrap();
        let rows = document["cells"][0]["privacy"].as_array().unwrap();
        rows.iter().find(|row| row["observer"] == "every agent").unwrap()["releases"].as_u64().unwrap()
    };
    let (code, stdout, _) = play("Stop", &out.path().join("stop"));
    assert_eq!(code, 0);
    assert!((1..6).contains(&releases(&stdout)), "{}", releases(&stdout));
    let (code, _, stderr) = play("Fail", &out.path().join("fail"));
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("privacy budget exhausted"), "{stderr}");
    let (code, stdout, _) = play("GoOn", &out.path().join("on"));
    assert_eq!((code, releases(&stdout)), (0, 6));
    assert!(stdout.contains("the run continues, as the scenario states"), "marked in the report");
}

/// No protocol releases past a budget. Rewards of different users do not add up, so a budget of one report's epsilon lets
/// every user report, and one below it lets nobody.
#[test]
fn local_and_release_keep_budgets_too() {
    let out = TempDir::new().unwrap();
    let play = |scenario: &str, epsilon: &str, more: &[&str]| {
        let budget =
            format!("privacy=Privacy(budget: Budget(epsilon: {epsilon}, delta: 1e-5, when_spent: Fail))");
        let place = out.path().to_str().unwrap();
        let mut arguments = vec!["run", scenario, "--replications", "1", "--out", place, "-o", &budget];
        arguments.extend(more);
        code_and_output(&subrosa(&arguments))
    };
    let users = [
        "-o",
        "protocol.rounds=50",
        "-o",
        "protocol.series=[Series(name: \"one\", report: Ctl(epsilon: 1), learner: Random())]",
    ];
    let (code, _, stderr) = play("scenarios/users.ron", "0.01", &users);
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("above the budget of 0.01"), "{stderr}");
    let (code, _, stderr) = play("scenarios/users.ron", "1.5", &users);
    assert_eq!(code, 0, "fifty reports cost each user one: {stderr}");
    let (code, _, stderr) = play("scenarios/release.ron", "0.01", &[]);
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("privacy budget exhausted"), "{stderr}");
}

const PUBLISHED_SETTING: &str = r#"Scenario(
    name: "setting", about: "x", seed: 1, replications: 2,
    parties: { "owner": Party(), "reader": Party() },
    network: Network(topology: Star(hub: "owner"), default: Link(latency: Constant("10ms"))),
    objective: GpSample(grid: [30], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    privacy: Privacy(delta: 1e-4),
    protocol: Release(owner: "owner", readers: ["reader"], rounds: 10, series: [
        Series(name: "gp", publication: GpNoisy(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99,
            arithmetic: Ideal)),
        Series(name: "every", publication: EverySetting(epsilon: 5, delta: 1e-5, publish: Setting,
            assume: TaskFacts(records: 100, loss_range: 1, lipschitz: 1, lambda_min: 0.01, lambda_max: 1))),
    ]),
)"#;

/// Delta, basis and figures of a run's ledger are those of its report, whoever chose what in knowledge of what.
#[test]
fn a_runs_ledger_says_what_its_report_says() {
    let out = TempDir::new().unwrap();
    let file = out.path().join("setting.ron");
    fs::write(&file, PUBLISHED_SETTING).unwrap();
    let document = run(file.to_str().unwrap(), out.path(), &[]);
    let ledger = json(&["account", document["run"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(ledger["delta"], 1e-4, "the scenario's");
    let groups = ledger["groups"].as_array().unwrap();
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    assert_eq!(groups.len(), rows.len());
    for (group, row) in groups.iter().zip(rows) {
        for loss in row["losses"].as_array().unwrap().iter().filter(|loss| loss["standing"] != "claim") {
            let found = &group["accountants"][loss["accountant"].as_str().unwrap()];
            assert_eq!(found["epsilon"], loss["epsilon"], "{group} {loss}");
            assert_eq!(found["basis"], loss["basis"], "{group}");
            assert_eq!(found["arithmetic"], loss["arithmetic"], "{group}");
            let approximates = loss["accountant"] == "gdp" && loss["basis"] != "unprotected";
            assert_eq!(loss["basis"] == "approximation", approximates, "{loss}");
        }
        assert!(group["group"].as_str().unwrap().contains("replication"), "{group}");
    }
    assert!(groups.iter().any(|group| group["basis"] == "conditional"));
    assert!(groups.iter().any(|group| group["adaptive"] == true));
    let short = code_and_output(&subrosa(&["account", document["run"].as_str().unwrap()])).1;
    assert!(short.contains("conditional") && short.contains("~: an approximation, not a bound"), "{short}");
    assert!(short.lines().all(|line| line.chars().count() <= 80), "{short}");
    let flat = short.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(" holds only with ") && flat.contains("neighbours, a validation record: "),
        "{flat}"
    );
    let text = code_and_output(&subrosa(&["account", document["run"].as_str().unwrap(), "--accountants"])).1;
    assert!(short.len() < text.len() / 2, "{short}");
    assert!(text.contains("conditional") && text.contains("approximation"), "{text}");
    assert!(text.contains("exact arithmetic"), "{text}");
    assert!(text.contains("ideal arithmetic: the figure is for real-valued noise"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_ends_of_a_search_are_no_answers() {
    let rounds = json(&["calibrate", "--epsilon", "1000", "--noise", "1e9", "--format", "json"]);
    assert_eq!(rounds["search_ended"], true, "{rounds}");
    let noise = ["calibrate", "--epsilon", "1e6", "--rounds", "1"];
    let (_, text, _) = code_and_output(&subrosa(&noise));
    assert!(
        text.starts_with("noise_multiplier 0.001\n") && text.contains("less noise may be enough"),
        "{text}"
    );
    let inside = json(&["calibrate", "--epsilon", "1", "--rounds", "1", "--format", "json"]);
    assert_eq!(inside["search_ended"], false, "{inside}");
}

/// The short form has the sum of a person, and no word on arithmetic where no bound is finite.
#[test]
fn the_short_form_of_a_run_adds_up_persons() {
    let out = TempDir::new().unwrap();
    let hospital = ["-o", "protocol.rounds=3", "--replications", "1"];
    let document = run("scenarios/hospital.ron", out.path(), &hospital);
    let of = |folder: &Value| {
        let (code, text, stderr) = code_and_output(&subrosa(&["account", folder["run"].as_str().unwrap()]));
        assert_eq!(code, 0, "{stderr}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = of(&document);
    let person = document["cells"][0]["persons"].as_array().unwrap();
    let sum = person.iter().find(|person| person["series"] == "noisy rows, 3 + 3").unwrap();
    // The lattice of the outcomes costs a little less than 3.
    assert!((5.99..=6.0).contains(&sum["epsilon"].as_f64().unwrap()), "{sum}");
    for words in [
        "noisy rows, 3 + 3: lab about a person of hospital whose row and outcome both change",
        "proven: tight 6.00 = 3.00 + 3.00, row and outcome added up",
        "neighbours, a record: ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let only = r#"protocol.series=[Series(name: "open", release: Disclosure(), learner: Random())]"#;
    let open = run("scenarios/hospital.ron", out.path(), &[&hospital[..], &["-o", only]].concat());
    let text = of(&open);
    assert!(text.contains("every accountant inf") && !text.contains("arithmetic"), "{text}");
}
