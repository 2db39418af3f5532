//! Local differential privacy through the public door: users who never answer, who come again, and who are counted.

use crate::support::{code_and_output, folder, metric, root, run, subrosa};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const USERS: &str = "scenarios/users.ron";

fn row<'a>(document: &'a Value, series: &str, unit: &str) -> &'a Value {
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    rows.iter().find(|row| row["series"] == series && row["unit"] == unit).unwrap()
}

fn loss(row: &Value, accountant: &str) -> Value {
    let losses = row["losses"].as_array().unwrap();
    losses.iter().find(|loss| loss["accountant"] == accountant).unwrap().clone()
}

fn counts<'a>(document: &'a Value, series: &str) -> &'a Value {
    let all = document["cells"][0]["series"].as_array().unwrap();
    &all.iter().find(|entry| entry["name"] == series).unwrap()["metrics"]["counts"]
}

fn count(document: &Value, series: &str, name: &str) -> f64 {
    counts(document, series)[name].as_f64().unwrap()
}

/// Rewards of different users do not add up: one report costs epsilon, however many there are.
#[test]
fn each_reward_is_priced_on_its_own_and_the_silent_are_counted() {
    let out = TempDir::new().unwrap();
    let document = run(USERS, out.path(), &["--replications", "2"]);
    let private = "LDP-MoMA-GP-UCB";
    let entry = row(&document, private, "Reward");
    assert!((loss(entry, "basic")["epsilon"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(loss(entry, "tight")["basis"], "proven");
    assert_eq!(entry["releases_per_unit"], 1);
    let open = row(&document, "GP-UCB, non-private", "Reward");
    assert_eq!(loss(open, "tight")["epsilon"], "inf");
    let (played, silent) = (count(&document, private, "played"), count(&document, private, "never answer"));
    assert_eq!(played, 3000.0);
    // 6,000 users in all, 15 %: six standard errors of the mean of two runs are 83.
    assert!((silent - 450.0).abs() < 83.0, "{silent}");
    assert!(count(&document, private, "reports used") <= played - silent);
    // All series serve the same users.
    for series in ["random play", "LDP-TGP-UCB"] {
        assert_eq!(count(&document, series, "never answer"), silent);
    }
    // Every learner that sees unprotected rewards beats random play by far.
    let random = metric(&document, 0, "random play", "cumulative_regret").0;
    assert!(metric(&document, 0, "GP-UCB, non-private", "cumulative_regret").0 < 0.1 * random);
}

/// Without clipping the certificate is void; with a small bound, what is clipped is counted.
#[test]
fn clipping_makes_the_certificate() {
    let out = TempDir::new().unwrap();
    let at = |report: &str| {
        let set = format!("protocol.series[3].report={report}");
        run(USERS, out.path(), &["--replications", "1", "-o", "protocol.rounds=200", "-o", &set])
    };
    let series = "GP-UCB on the same reports";
    // Noise in [-1, 1] and B = max |f|: no reward exceeds B + R, as the paper assumes. It was called refuted.
    let literal = at("Ctl(epsilon: 1, clip: false)");
    let basic = loss(row(&literal, series, "Reward"), "basic");
    assert_eq!((basic["epsilon"].as_f64(), &basic["basis"]), (Some(1.0), &"conditional".into()));
    let void = at("Ctl(epsilon: 1, bound: 0.5, clip: false)");
    let basic = loss(row(&void, series, "Reward"), "basic");
    assert_eq!((&basic["epsilon"], &basic["basis"]), (&"inf".into(), &"refuted".into()));
    assert!(loss(row(&void, series, "Reward"), "as published")["epsilon"] == 1.0);
    let tight = at("Ctl(epsilon: 1, bound: 0.5)");
    assert!(count(&tight, series, "beyond bound") > 0.0);
    assert_eq!(loss(row(&tight, series, "Reward"), "basic")["basis"], "proven");
    assert_eq!(count(&tight, "LDP-TGP-UCB", "beyond bound"), 0.0, "its own bound covers everything");
}

/// Zhou and Tan's CTL on noise without a bound: (epsilon, delta)-LDP where delta is what they say, void where it is not
/// stated, and `check` knows which fields go together.
#[test]
fn unbounded_noise_is_priced_with_its_delta() {
    let out = TempDir::new().unwrap();
    let at = |noise: &str, report: &str| {
        let (noise, set) =
            (format!("objective.noise={noise}"), format!("protocol.series[3].report={report}"));
        let more = ["--replications", "1", "-o", "protocol.rounds=60", "-o", &noise, "-o", &set];
        let keep = [
            "-o",
            "protocol.series[0].report=Disclosure()",
            "-o",
            "protocol.series[0].learner=Random()",
            "-o",
            "protocol.series[1].report=Disclosure()",
            "-o",
            "protocol.series[1].learner=Random()",
            "-o",
            "protocol.series[2].report=Disclosure()",
            "-o",
            "protocol.series[2].learner=Random()",
        ];
        run(USERS, out.path(), &[&more[..], &keep[..]].concat())
    };
    let series = "GP-UCB on the same reports";
    for noise in ["Gaussian(sd: 1)", "StudentT(degrees: 3)"] {
        let document = at(noise, "Ctl(epsilon: 1, clip: false, delta: 0.001)");
        let entry = row(&document, series, "Reward");
        let optimal = loss(entry, "basic");
        assert_eq!(
            (optimal["epsilon"].as_f64(), &optimal["basis"]),
            (Some(1.0), &"conditional".into()),
            "{entry}"
        );
        // Values beyond the bound have no finite epsilon: what is hidden is the mean.
        assert_eq!(entry["neighbours"], "AnyMean", "{entry}");
    }
}

/// People who come again are priced by the person who came most often.
#[test]
fn visits_of_one_person_add_up() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "protocol.rounds=400", "-o", "protocol.population=20"];
    let document = run(USERS, out.path(), &more);
    let entry = row(&document, "LDP-TGP-UCB", "User");
    let most = entry["releases_per_unit"].as_u64().unwrap();
    // 340 reports of 20 people: the busiest has more than the average of 17 and less than everything.
    assert!((18..60).contains(&most), "{most}");
    assert!((loss(entry, "basic")["epsilon"].as_f64().unwrap() - most as f64).abs() < 1e-6);
    let mut ledger = csv::Reader::from_path(folder(&document).join("ledger.csv")).unwrap();
    let lines = ledger.records().filter(|line| &line.as_ref().unwrap()[2] == "LDP-TGP-UCB").count();
    assert_eq!(lines, 20, "one line per person, not per visit");
}

/// Silence that depends on the reward is a release of its own, and nobody is protected from it.
#[test]
fn telling_silence_is_in_the_ledger() {
    let out = TempDir::new().unwrap();
    let silence = "protocol.never_answer=WhenBelow(reward: 0, share: 0.5)";
    let more = ["--replications", "1", "-o", "protocol.rounds=300", "-o", silence];
    let document = run(USERS, out.path(), &more);
    let entry = row(&document, "LDP-TGP-UCB", "Reward");
    assert!(entry["released"].as_array().unwrap().contains(&"whether a user answers".into()));
    assert_eq!(loss(entry, "tight")["epsilon"], "inf");
}

/// One by one without losses, the service learns every report before the next user comes; with losses it goes on.
#[test]
fn the_service_never_waits_for_ever() {
    let out = TempDir::new().unwrap();
    let one = "protocol.arrivals=OneByOne(patience: \"3s\")";
    let few = ["--replications", "1", "-o", "protocol.rounds=300", "-o", one];
    let calm = ["-o", "protocol.answer_after=Constant(\"0s\")", "-o", "protocol.never_answer=Independent(0)"];
    let calm = [&few[..], &calm, &["-o", "network.default.loss=NoLoss()"]].concat();
    let document = run(USERS, out.path(), &calm);
    // The last report is on its way when the last user has played.
    assert_eq!(count(&document, "LDP-TGP-UCB", "reports used"), 299.0);
    let lossy =
        ["-o", "network.default.loss=Independent(0.4)", "-o", "network.default.duplication=Probability(0.3)"];
    let lossy = [&few[..], &lossy[..2]].concat();
    let document = run(USERS, out.path(), &lossy);
    assert_eq!(count(&document, "LDP-TGP-UCB", "played"), 300.0);
    let used = count(&document, "LDP-TGP-UCB", "reports used");
    // A report is sent by 85 % and arrives with probability 0.6: 153 of 300; six standard deviations are 52.
    assert!((used - 153.0).abs() < 52.0, "{used}");
}

/// The record of a long run is no longer than that of a short one.
#[test]
fn long_runs_leave_short_records() {
    let out = TempDir::new().unwrap();
    let lines = |rounds: &str| {
        let keep = "protocol.series=[Series(name: \"a\", report: Ctl(epsilon: 1), learner: Random())]";
        let document = run(USERS, out.path(), &["--replications", "1", "-o", rounds, "-o", keep]);
        let folder = folder(&document);
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let size = std::fs::metadata(folder.join("records.jsonl")).unwrap().len();
        (text("iterations.csv").lines().count(), text("ledger.csv").lines().count(), size)
    };
    let (short, long) = (lines("protocol.rounds=1000"), lines("protocol.rounds=20000"));
    assert_eq!((short.0, short.1), (1001, 2));
    assert!(long.0 <= 1003 && long.1 == 2, "{long:?}");
    assert!(long.2 < 2 * short.2, "{short:?} {long:?}");
}

/// The kernel of stocks is their correlation, and B and R are those of the file.
#[test]
fn stocks_are_played_on_their_correlation() {
    let out = TempDir::new().unwrap();
    let scenario = "scenarios/papers/ldp-bo/stocks.ron";
    let document = run(scenario, out.path(), &["--replications", "1", "-o", "protocol.rounds=300"]);
    let mut reader = csv::Reader::from_path(root().join("scenarios/data/stocks.csv")).unwrap();
    let rows: Vec<Vec<f64>> = reader
        .records()
        .map(|row| row.unwrap().iter().skip(1).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let mean = |arm: usize| rows.iter().map(|row| row[arm]).sum::<f64>() / rows.len() as f64;
    let best = (0..20).map(mean).fold(0.0, f64::max);
    // Random play's regret is 300 times the mean gap, within six standard errors.
    let gaps: Vec<f64> = (0..20).map(|arm| best - mean(arm)).collect();
    let average = gaps.iter().sum::<f64>() / 20.0;
    let variance = gaps.iter().map(|gap| (gap - average).powi(2)).sum::<f64>() / 20.0;
    let random = metric(&document, 0, "random play", "cumulative_regret").0;
    assert!((random - 300.0 * average).abs() < 6.0 * (300.0 * variance).sqrt(), "{random}");
    assert_eq!(count(&document, "LDP-TGP-UCB", "beyond bound"), 0.0, "B + R covers every price");
    // B and R are those of the file, so one price moves where all are clipped: losses hold if they are public.
    assert_eq!(loss(row(&document, "LDP-TGP-UCB", "Reward"), "tight")["basis"], "conditional");
    let text = std::fs::read_to_string(folder(&document).join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let facts = record["series"][0]["public"].as_array().unwrap();
    let bounds = facts
        .iter()
        .find(|fact| fact["what"].as_str().unwrap().starts_with("B, the largest distance"))
        .unwrap();
    assert_eq!(
        [&bounds["origin"], &bounds["about"], &bounds["known_to"]],
        ["computed-from-data", "users", "service"]
    );
}

/// The papers' own data are found with --data, and their absence is a plain answer.
#[test]
fn data_from_elsewhere() {
    let scenario = "scenarios/papers/ldp-bo/figure2c.ron";
    let nowhere = TempDir::new().unwrap();
    let (code, _, stderr) =
        code_and_output(&subrosa(&["check", scenario, "--data", nowhere.path().to_str().unwrap()]));
    assert_eq!(code, 3);
    assert!(stderr.contains("stocks29/fin.csv") && stderr.contains("--data"), "{stderr}");
    let data = std::env::var("SUBROSA_DATA").unwrap_or_else(|_| "/work/shared/data".to_owned());
    if !Path::new(&data).join("stocks29/fin.csv").exists() {
        eprintln!("skipped: no stocks29/fin.csv below {data}");
        return;
    }
    let out = TempDir::new().unwrap();
    let more = ["--data", &data, "--replications", "1", "-o", "protocol.rounds=50"];
    let document = run(scenario, out.path(), &more);
    // B = 237.328 and R = 203.292 (SOURCE.txt), so the sensitivity is twice their sum.
    let mut ledger = csv::Reader::from_path(folder(&document).join("ledger.csv")).unwrap();
    let header = ledger.headers().unwrap().clone();
    let place = header.iter().position(|name| name == "sensitivity").unwrap();
    let first = ledger.records().next().unwrap().unwrap();
    let sensitivity: f64 = first[place].parse().unwrap();
    assert!((sensitivity - 2.0 * (237.328 + 203.292)).abs() < 0.01, "{sensitivity}");
    let (code, _, stderr) = code_and_output(&subrosa(&["replay", folder(&document).to_str().unwrap()]));
    assert_eq!(code, 0, "{stderr}");
}

/// The same bits with one thread or two.
#[test]
fn threads_change_nothing() {
    let out = TempDir::new().unwrap();
    let digest = |threads: &str, out: &Path| {
        let more = ["--replications", "4", "--threads", threads, "-o", "protocol.rounds=200"];
        run(USERS, out, &more)["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest("1", &out.path().join("a")), digest("2", &out.path().join("b")));
}

/// Users or a service that are gone for good: the series ends, and says why.
#[test]
fn whoever_is_gone_for_good_is_given_up() {
    let out = TempDir::new().unwrap();
    let gone = "Party(availability: Scheduled(switches: [\"10s\"]))";
    for arrivals in ["OneByOne()", "Poisson(every: \"1s\")"] {
        for (service, users) in [("Party()", gone), (gone, "Party()")] {
            let parties = format!("parties={{ \"service\": {service}, \"users\": {users} }}");
            let arrivals = format!("protocol.arrivals={arrivals}");
            let keep = "protocol.series=[Series(name: \"a\", report: Disclosure(), learner: GpUcb())]";
            let changes = [&parties, &arrivals, keep, "protocol.rounds=300"];
            let mut more = vec!["--replications", "1"];
            changes.iter().for_each(|change| more.extend(["-o", change]));
            let document = run(USERS, out.path(), &more);
            let series = &document["cells"][0]["series"][0];
            assert_eq!(series["ended_early"], 1, "{parties} {arrivals}");
            assert!((1.0..60.0).contains(&count(&document, "a", "played")), "{parties} {arrivals}: {series}");
            let folder = folder(&document);
            let (_, text, _) = code_and_output(&subrosa(&["report", folder.to_str().unwrap()]));
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("10000 consecutive users"), "{text}");
        }
    }
}

/// A doubled arrival is one arrival: the learner is asked once, and draws once.
#[test]
fn doubled_messages_change_no_choice() {
    let out = TempDir::new().unwrap();
    let robust = "constants: OrderWise, payoffs: HeavyTailed(central_moment: 0.01)";
    let learners = [
        "GpUcb()".to_owned(),
        "ThompsonSampling()".to_owned(),
        "Random()".to_owned(),
        format!("AtaGpUcb({robust}, accuracy: 0.9)"),
        format!("MomaGpUcb({robust}, repetitions: 3)"),
    ];
    let series = learners.iter().enumerate().map(|(index, learner)| {
        format!("Series(name: \"{index}\", report: Disclosure(), learner: {learner})")
    });
    let series = format!("protocol.series=[{}]", series.collect::<Vec<_>>().join(", "));
    for arrivals in ["OneByOne()", "Poisson(every: \"1s\")"] {
        let arrivals = format!("protocol.arrivals={arrivals}");
        let regrets = |duplication: &str| -> Vec<f64> {
            let link =
                format!("network.default=Link(latency: Constant(\"100ms\"), duplication: {duplication})");
            let mut more = vec!["--replications", "2"];
            for change in [&link, &arrivals, &series, "protocol.rounds=150"] {
                more.extend(["-o", change]);
            }
            let document = run(USERS, out.path(), &more);
            (0..learners.len()).map(|n| metric(&document, 0, &n.to_string(), "cumulative_regret").0).collect()
        };
        assert_eq!(regrets("0"), regrets("0.5"), "{arrivals}");
    }
}

/// The arms of a table are records: the service knows all inputs, and B is read off the largest record. Neither is in the
/// scenario, and both are conditions of what is said about rewards.
#[test]
fn what_a_table_tells_the_service_is_listed() {
    let place = TempDir::new().unwrap();
    let data = crate::support::root().join("scenarios/data/sacramento.csv");
    let table = format!(
        "objective=Table(file: {data:?}, inputs: [\"latitude\", \"longitude\"], output: Column(\"price\"), \
         input_scale: Stated(centres: [38.58, -121.49], units: [0.05, 0.05], radius: 9), \
         output_scale: Stated(centre: 250000, unit: 130000), max_norm: 25, noise_sd: 0.1, \
         hyperparameters: Given(length_scales: [1, 1], variance: 0.5, noise_variance: 0.5))"
    );
    let series =
        "protocol.series=[Series(name: \"x\", report: Ctl(epsilon: 1, bound: Some(4)), learner: Random())]";
    let options = ["--replications", "1", "-o", "protocol.rounds=20", "-o", &table, "-o", series];
    let document = run("scenarios/users.ron", place.path(), &options);
    let cell = &document["cells"][0];
    let computed: Vec<&str> = cell["series"][0]["public"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|fact| fact["origin"] == "computed-from-data")
        .map(|fact| fact["what"].as_str().unwrap())
        .collect();
    assert_eq!(
        computed,
        ["B, the largest distance of an arm's mean reward from the prior mean", "the inputs of all records"]
    );
    let losses = cell["privacy"][0]["losses"].as_array().unwrap();
    let tight = losses.iter().find(|loss| loss["accountant"] == "tight").unwrap();
    assert_eq!(tight["basis"], "conditional", "{tight}");
}
