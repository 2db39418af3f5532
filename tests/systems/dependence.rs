//! Quantities of parties that depend on each other, and answers that are missing because of what was measured.

use crate::support::{code_and_output, folder, root, run, subrosa};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const DEPENDENCE: &str = "scenarios/studies/dependence.ron";
const HETEROGENEITY: &str = "mean heterogeneity of answers heard minus that of answers due";

fn series<'a>(document: &'a Value, cell: usize, name: &str) -> &'a Value {
    let all = document["cells"][cell]["series"].as_array().unwrap();
    all.iter().find(|entry| entry["name"] == name).unwrap()
}

/// Mean and standard error of an outcome; `None` if the series does not have it.
fn outcome(document: &Value, cell: usize, name: &str, of: &str) -> Option<(f64, f64)> {
    let rows = series(document, cell, name)["outcomes"].as_array()?;
    let row = rows.iter().find(|row| row["name"] == of)?;
    Some((row["value"]["mean"].as_f64()?, row["value"]["se"].as_f64()?))
}

fn count(document: &Value, cell: usize, name: &str, of: &str) -> f64 {
    series(document, cell, name)["metrics"]["counts"][of].as_f64().unwrap_or(0.0)
}

/// The privacy rows of a series about a unit towards an observer.
fn rows<'a>(document: &'a Value, cell: usize, name: &str, unit: &str, observer: &str) -> Vec<&'a Value> {
    let rows = document["cells"][cell]["privacy"].as_array().unwrap();
    rows.iter()
        .filter(|row| row["series"] == name && row["unit"] == unit && row["observer"] == observer)
        .collect()
}

fn loss<'a>(row: &'a Value, accountant: &str) -> &'a Value {
    let losses = row["losses"].as_array().unwrap();
    losses.iter().find(|loss| loss["accountant"] == accountant).unwrap()
}

/// Small enough for a test: 40 phones, 8 rounds, 24 replications.
const SMALL: [&str; 12] = [
    "--replications",
    "24",
    "-o",
    "parties.phone.count=40",
    "-o",
    "protocol.rounds=8",
    "-o",
    "protocol.features=8",
    "-o",
    "objective.grid=[40]",
    "-o",
    "protocol.initial_points=1",
];

/// In the independent cell the bias has expectation 0, since heterogeneity is drawn apart from speed and availability. In
/// the other cell slow phones hold unusual data, so that the answers heard are less heterogeneous. Student's t with 23
/// degrees of freedom exceeds 4.7 in size with probability 1e-4.
#[test]
fn slow_phones_with_unusual_data_are_not_heard_and_the_report_says_so() {
    let out = TempDir::new().unwrap();
    let document = run(DEPENDENCE, out.path(), &SMALL);
    let t = |cell: usize, name: &str| {
        let (mean, se) = outcome(&document, cell, name, HETEROGENEITY).unwrap();
        mean / se
    };
    for name in ["FTS", "DP-FTS"] {
        assert!(t(0, name).abs() < 4.7, "independent, {name}: t = {}", t(0, name));
        assert!(t(1, name) < -4.7, "dependent, {name}: t = {}", t(1, name));
    }
    assert_eq!(
        outcome(&document, 1, "alone", HETEROGENEITY),
        None,
        "nothing is estimated from what is not shared"
    );
    // Both cells have the same distributions of speed and availability. Of 24 x 40 phones each, the share of answers heard
    // differs between cells by less than six standard errors; the sd of a phone's share is at most 1/2.
    let heard = |cell: usize| {
        let names = ["lowest", "second", "third", "highest"];
        let share = |part: &str| {
            let name = format!("share of answers heard by simple regret: {part} quarter");
            outcome(&document, cell, "FTS", &name).unwrap().0
        };
        names.map(share).iter().sum::<f64>() / 4.0
    };
    let most = 6.0 * 0.5 * (2.0 / (24.0 * 40.0f64)).sqrt();
    assert!((heard(0) - heard(1)).abs() < most, "{} and {}", heard(0), heard(1));
    // The report names the bias.
    let text = code_and_output(&subrosa(&["report", folder(&document).to_str().unwrap()])).1;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("not a representative sample of those due: mean heterogeneity of answers heard"),
        "{text}"
    );
    // Where speed depends on data, losses hold only if speed is public.
    let basis = |cell: usize| {
        let row = rows(&document, cell, "DP-FTS", "Agent", "every agent")[0];
        loss(row, "tight").to_string()
    };
    assert!(!basis(0).contains("together") && basis(1).contains("together"), "{} {}", basis(0), basis(1));
}

fn refused(overrides: &[&str]) -> String {
    let mut arguments = vec!["check", DEPENDENCE];
    overrides.iter().for_each(|one| arguments.extend(["-o", one]));
    let (code, out, err) = code_and_output(&subrosa(&arguments));
    assert_eq!(code, 3, "{out}{err}");
    (out + &err).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quantities_that_cannot_depend_are_refused_at_their_place() {
    let place = "parties[\"phone\"].together.of";
    let told = refused(&["parties.phone.compute=Drawn(time: Constant(\"1s\"))"]);
    assert!(told.contains(&format!("{place}[0]")) && told.contains("speed does not"), "{told}");
    let told = refused(&["parties.phone.availability=PerMessage(0.9)"]);
    assert!(told.contains(&format!("{place}[1]")) && told.contains("availability does not"), "{told}");
    let told = refused(&["protocol.groups=[AgentGroup(members: \"phone\")]"]);
    assert!(told.contains(&format!("{place}[2]")) && told.contains("whose objectives differ"), "{told}");
    // Differences that all members of the group share, or that begin after round 0, leave nothing to deal out.
    for alike in ["clusters: Clusters(count: 1)", "scale: Given([2])", "drift: Drift(rate: 0.1)"] {
        let group =
            format!("protocol.groups=[AgentGroup(members: \"phone\", differences: Differences({alike}))]");
        let told = refused(&[&group]);
        assert!(told.contains(&format!("{place}[2]")) && told.contains("`differences`"), "{alike}: {told}");
    }
    let told = refused(&[
        "parties.phone.together=Together(of: [Speed, Availability, Heterogeneity], correlation: -0.6)",
    ]);
    assert!(told.contains("at least -0.5000"), "{told}");
    let told = refused(&["parties.phone.together=Together(of: [Speed, Latency], correlation: 0)"]);
    assert!(told.contains("Latency"), "{told}");
    let told = refused(&["parties.phone.count=1"]);
    assert!(told.contains("2 or more"), "{told}");
}

/// A scenario without `together` has no word of it in what is resolved, and `check` warns where speed depends on data.
#[test]
fn check_warns_of_what_is_not_a_fair_sample() {
    let told = |arguments: &[&str]| {
        let (code, out, err) = code_and_output(&subrosa(arguments));
        assert_eq!(code, 0, "{out}{err}");
        (out + &err).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(told(&["check", DEPENDENCE]).contains("conditional on speed and availability being public"));
    assert!(!told(&["check", "scenarios/federated.ron"]).contains("warning"));
    let silence = told(&["check", "scenarios/studies/informative-silence.ron"]);
    assert!(
        silence.contains("epsilon 1.792 each time") && silence.contains("the privacy loss is infinite"),
        "{silence}"
    );
}

/// 30 % at random: no bias. By reward, with bounds: a bias, and a loss of 1 + ln 6 for a reward. Without bounds: no finite
/// loss. Student's t with 29 degrees of freedom exceeds 4.6 in size with probability 1e-4.
#[test]
fn users_who_are_silent_because_of_their_reward() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "30", "-o", "protocol.rounds=300"];
    let document = run("scenarios/studies/informative-silence.ron", out.path(), &more);
    let name = "mean reward of answers heard minus that of answers due";
    let t = |cell: usize| {
        let (mean, se) = outcome(&document, cell, "random play", name).unwrap();
        mean / se
    };
    assert!(t(0).abs() < 4.6, "{}", t(0));
    assert!(t(1) > 4.6 && t(2) > 4.6, "{} {}", t(1), t(2));
    let epsilon = |cell: usize, accountant: &str| {
        let row = rows(&document, cell, "GP-UCB, private", "Reward", "service")[0];
        loss(row, accountant)["epsilon"].clone()
    };
    assert!((epsilon(0, "basic").as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!((epsilon(1, "basic").as_f64().unwrap() - 1.0 - 6f64.ln()).abs() < 1e-9);
    assert_eq!(epsilon(2, "basic"), "inf");
}

/// The attack on reports uses whether there is one: with bounds it stays below 1 + ln 6 and goes beyond the report's own 1;
/// without bounds nothing is proven, and the claim of the report alone is refuted.
#[test]
fn the_auditor_uses_silence() {
    let audit = |silence: &str| {
        let silence = format!("protocol.never_answer={silence}");
        let arguments = [
            "audit",
            "scenarios/audit/unbounded.ron",
            "--format",
            "json",
            "--trials",
            "20000",
            "--series",
            "clipped",
            "-o",
            &silence,
        ];
        let (_, text, err) = code_and_output(&subrosa(&arguments));
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{err}"));
        document["findings"][0].clone()
    };
    let bounded = audit("Informative(by: Value, slope: -5, base_rate: 0.3, least: 0.1, most: 0.6)");
    let (lower, proven) =
        (bounded["evidence"]["epsilon_lower"].as_f64().unwrap(), bounded["proven"][0].as_f64().unwrap());
    assert!((proven - 1.0 - 6f64.ln()).abs() < 1e-6, "{bounded}");
    assert!(lower > 1.2 && lower <= proven, "{bounded}");
    let free = audit("Informative(by: Value, slope: -5, base_rate: 0.3)");
    assert!(free["proven"].is_null() && free["verdict"] == "refuted", "{free}");
}

const FEDERATION: &str = r#"Scenario(
    name: "leaving", seed: 5, replications: 12,
    parties: { "server": Party(), "phone": Party(count: 24) },
    network: Network(topology: Star(hub: "server"), default: Link(latency: Constant("10ms"))),
    objective: GpSample(grid: [40], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01),
    protocol: Federated(
        server: "server",
        groups: [AgentGroup(members: "phone", heterogeneity: 0.5, SILENCE)],
        rounds: 12, initial_points: 2, features: 10,
        series: [
            Series(name: "DP-FTS", sharing: Aggregate(clip: 5, noise_multiplier: 2, participation: Poisson(0.5), weights: Uniform()),
                policy: Deadline(after: "1s")),
            Series(name: "masked", sharing: Aggregate(clip: 5, noise_multiplier: 2, participation: Poisson(0.5), weights: Uniform(),
                server: Masked(planned_dropout: 0.3)), policy: Deadline(after: "1s")),
        ],
    ),
)"#;

fn written(folder: &Path, text: &str) -> String {
    let place = folder.join("scenario.ron");
    std::fs::write(&place, text).unwrap();
    place.to_str().unwrap().to_owned()
}

/// Agents with a large regret are silent more often: those who are heard have less regret. Each round costs an agent one
/// bit, 12 rounds in all: 12 ln 4 beside the sums, by basic composition. Student's t with 11 degrees of freedom exceeds 5.9
/// with probability 1e-4.
#[test]
fn agents_who_fare_badly_are_silent_or_leave() {
    let out = TempDir::new().unwrap();
    let of = |silence: &str, place: &str| {
        let folder = out.path().join(place);
        std::fs::create_dir_all(&folder).unwrap();
        run(&written(&folder, &FEDERATION.replace("SILENCE", silence)), &folder, &[])
    };
    let bounded =
        "silence: Informative(by: Regret, slope: 4, base_rate: 0.3, centre: 0.3, least: 0.2, most: 0.8)";
    let document = of(bounded, "silent");
    let name = "mean simple regret of answers heard minus that of answers due";
    for series in ["DP-FTS", "masked"] {
        let (mean, se) = outcome(&document, 0, series, name).unwrap();
        assert!(mean / se < -5.9, "{series}: {mean} {se}");
        let row = rows(&document, 0, series, "Agent", "every agent")[0];
        assert!(row["released"].as_array().unwrap().contains(&"whether an agent answers".into()), "{row}");
        assert!(loss(row, "tight").to_string().contains("that contribute nothing being silent"), "{row}");
        // The noise of a masked sum depends on who answers.
        let depends = loss(row, "tight")
            .to_string()
            .contains("if other agents answered, sums would cost another amount");
        assert_eq!(depends, series == "masked", "{row}");
    }
    // A neighbour without the agent never hears it, and nobody can keep silence within a budget.
    let refused = |text: &str, words: &str| {
        let (code, told, err) = code_and_output(&subrosa(&["check", &written(out.path(), text)]));
        let told = (told + &err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 3 && told.contains(words), "{told}");
    };
    let text = FEDERATION.replace("SILENCE", bounded);
    refused(
        &text.replacen("clip: 5,", "clip: 5, divisor: ArrivedOrGone,", 1),
        "one of two neighbouring data sets has no such release",
    );
    let budget = ",\n    privacy: Privacy(delta: 1e-5, budget: Budget(epsilon: 2, delta: 1e-5)),\n)";
    let open = text.trim_end().trim_end_matches(')').trim_end().trim_end_matches(',').to_owned();
    refused(&(open + budget), "silence cannot be prevented");
    let basic = |document: &Value| {
        let row = rows(document, 0, "DP-FTS", "Agent", "every agent")[0];
        loss(row, "basic")["epsilon"].clone()
    };
    let without = basic(&of("", "all")).as_f64().unwrap();
    let silent = basic(&document).as_f64().unwrap();
    // ln max(0.8 / 0.2, 0.8 / 0.2) a round; basic composition splits delta as before.
    assert!((silent - without - 12.0 * 4f64.ln()).abs() < 1e-6, "{silent} and {without}");
    // Nobody is protected from silence without bounds.
    let free = of("silence: Informative(by: Regret, slope: 4, base_rate: 0.1), leaves: true", "leave");
    assert_eq!(basic(&free), "inf");
    // Who leaves measures nothing more.
    let asked =
        |document: &Value| series(document, 0, "DP-FTS")["metrics"]["questions"]["mean"].as_f64().unwrap();
    assert!(asked(&free) < 0.9 * asked(&document), "{} and {}", asked(&free), asked(&document));
}

/// Records that do badly are not answered: the modeler goes on, and each question about a record is one bit about it.
#[test]
fn the_modeler_goes_on_where_an_outcome_is_missing() {
    let out = TempDir::new().unwrap();
    let text = r#"Scenario(
        name: "missing", seed: 3, replications: 20,
        parties: { "hospital": Party(), "lab": Party() },
        network: Network(topology: Mesh(), default: Link(latency: Constant("10ms"))),
        objective: GpSample(grid: [60], length_scale: 0.2, variance: 1, noise_variance: 0.01),
        protocol: Outsourced(curator: "hospital", modeler: "lab", rounds: 30,
            silence: Informative(by: Value, slope: -2, base_rate: 0.4, least: 0.1, most: 0.8),
            series: [
                Series(name: "private", release: Disclosure(), outcomes: ClippedLaplace(epsilon: 1, range: Range(low: -3, high: 3)),
                    learner: Random()),
                Series(name: "open", release: Disclosure(), learner: GpUcb()),
            ]),
    )"#;
    let document = run(&written(out.path(), text), out.path(), &[]);
    for name in ["private", "open"] {
        assert!(count(&document, 0, name, "answers missing") > 0.0);
        let record = series(&document, 0, name);
        assert_eq!(record["ended_early"], 0, "{record}");
    }
    let (mean, se) =
        outcome(&document, 0, "private", "mean outcome of answers heard minus that of answers due").unwrap();
    // Student's t with 19 degrees of freedom exceeds 4.9 with probability 1e-4.
    assert!(mean / se > 4.9, "{mean} {se}");
    let row = rows(&document, 0, "private", "Outcome", "lab")[0];
    assert!(row["released"].as_array().unwrap().contains(&"whether an outcome is answered".into()), "{row}");
    // One answer and one bit of ln 8 at least, about the record that was asked most often.
    let epsilon = loss(row, "basic")["epsilon"].as_f64().unwrap();
    // Every outcome is charged for all 30 questions: how often one is asked for depends on its answers.
    assert!((epsilon - 1.0 - 30.0 * 8f64.ln()).abs() < 1e-6, "{epsilon}");
}

const RELEASE: &str = r#"Scenario(
    name: "failing", seed: 3, replications: 6,
    parties: { "owner": Party(), "reader": Party() },
    network: Network(topology: Mesh(), default: Link(latency: Constant("10ms"))),
    objective: GpSample(grid: [12], length_scale: 0.3, variance: 1, noise_variance: 0.01),
    protocol: Release(owner: "owner", readers: ["reader"], rounds: 8, SILENCE
        series: [
            Series(name: "grid", publication: FixedGrid(epsilon: 1, ASSUME)),
            Series(name: "every", publication: EverySetting(epsilon: 1, delta: 1e-5, ASSUME)),
            Series(name: "open", publication: NonPrivate(learner: GpUcb())),
        ]),
)"#;

/// A trial whose outcome the owner never learns costs readers' view of a validation record one bit: 12 trials of the grid.
#[test]
fn trials_that_fail_because_of_their_outcome() {
    let out = TempDir::new().unwrap();
    let assume =
        "assume: Some(TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1))";
    let of = |silence: &str, place: &str| {
        let folder = out.path().join(place);
        std::fs::create_dir_all(&folder).unwrap();
        let text = RELEASE.replace("ASSUME", assume).replace("SILENCE", silence);
        run(&written(&folder, &text), &folder, &[])
    };
    let silence = "silence: Informative(by: Value, slope: -2, base_rate: 0.3, least: 0.1, most: 0.5),";
    let (plain, silent) = (of("", "plain"), of(silence, "silent"));
    let public = "anyone who reads the publication";
    let basic = |document: &Value, name: &str| {
        let row = rows(document, 0, name, "ValidationRecord", public)[0];
        loss(row, "basic")["epsilon"].as_f64().unwrap()
    };
    for (name, trials) in [("grid", 12.0), ("every", 8.0)] {
        // ln max(0.5 / 0.1, 0.9 / 0.5) = ln 5 a trial.
        let added = basic(&silent, name) - basic(&plain, name);
        assert!((added - trials * 5f64.ln()).abs() < 1e-6, "{name}: {added}");
        assert!(count(&silent, 0, name, "answers missing") > 0.0);
        assert_eq!(series(&silent, 0, name)["ended_early"], 0);
        let row = rows(&silent, 0, name, "ValidationRecord", public)[0];
        assert!(loss(row, "basic").to_string().contains("the outcomes that are known in this run"), "{row}");
    }
    // Replications in which every outcome is known count too: with silence of at most 0.03 most of six have none missing.
    let rare =
        of("silence: Informative(by: Value, slope: -2, base_rate: 0.02, least: 0.01, most: 0.03),", "rare");
    for name in ["grid", "every", "open"] {
        let of = |outcome: &str| {
            let rows = series(&rare, 0, name)["outcomes"].as_array().unwrap();
            rows.iter().find(|row| row["name"] == outcome).map(|row| row["value"].clone())
        };
        let missing = count(&rare, 0, name, "answers missing");
        let Some(share) = of("share of answers missing") else {
            assert_eq!(missing, 0.0, "{name}");
            continue;
        };
        assert!(missing < 1.0, "{name}: some replications have none missing");
        let trials = if name == "grid" { 12.0 } else { 8.0 };
        assert!((share["mean"].as_f64().unwrap() - missing / trials).abs() < 1e-12, "{name}: {share}");
        let bias = of("mean outcome of answers heard minus that of answers due").unwrap();
        assert_eq!((&share["n"], &bias["n"]), (&6.into(), &6.into()), "{name}");
    }
    // A publication whose proof needs every outcome is refused.
    let text = RELEASE.replace("ASSUME", assume).replace("SILENCE", silence);
    let text = text.replace(
        "NonPrivate(learner: GpUcb())",
        "GpNoiseFree(epsilon: 1, delta: 0.05, neighbour_correlation: 0.99, a: 1, tau: 1)",
    );
    let (code, told, err) = code_and_output(&subrosa(&["check", &written(out.path(), &text)]));
    assert_eq!(code, 3, "{told}{err}");
    let told = (told + &err).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("needs the outcome of every trial"), "{told}");
    assert!(root().join(DEPENDENCE).exists());
}

/// The bias of the regret of answers heard where agents that are heard more often have the more records, or the fewer; and
/// the same for noise. An agent of few rows finds the best of them sooner, and one with little noise knows it.
#[test]
fn data_size_and_noise_depend_on_availability() {
    let out = TempDir::new().unwrap();
    let rows: String = (0..300u32).map(|row| format!("{},{}\n", row * 7 % 101, row * 31 % 97)).collect();
    std::fs::write(out.path().join("rows.csv"), format!("x,y\n{rows}")).unwrap();
    let table = "Table(file: \"rows.csv\", split: [Split(agents: 30, sizes: LogNormal(1.5))], inputs: [\"x\"], output: Column(\"y\"), \
                 hyperparameters: Given(length_scales: [0.1], variance: 1, noise_variance: 0.01))";
    let drawn = "GpSample(grid: [60], max_norm: 1, length_scale: 0.1, variance: 1, noise_variance: 0.01)";
    let bias = |quantity: &str, correlation: f64, objective: &str, differences: &str| {
        let text = format!(
            "Scenario(name: \"tied\", seed: 3, replications: 12, parties: {{ \"server\": Party(), \"agent\": Party(count: 30, availability: \
             BetaPerMessage(mean: 0.6, concentration: 1), together: Together(of: [Availability, {quantity}], correlation: {correlation})) }}, \
             network: Network(topology: Star(hub: \"server\")), objective: {objective}, protocol: Federated(server: \"server\", groups: \
             [AgentGroup(members: \"agent\"{differences})], rounds: 6, initial_points: 2, features: 8, series: [Series(name: \"FTS\", sharing: \
             Aggregate(weights: Uniform()), policy: Deadline(after: \"1s\"))]))"
        );
        let file = out.path().join("tied.ron");
        std::fs::write(&file, text).unwrap();
        let document = run(file.to_str().unwrap(), out.path(), &[]);
        let of = "mean simple regret of answers heard minus that of answers due";
        let told = document.to_string().contains("how fast agents are and when they are available");
        assert_eq!(told, correlation != 0.0, "{quantity}, {correlation}");
        outcome(&document, 0, "FTS", of).unwrap()
    };
    let noise = ", differences: Differences(noise: Given([0.1, 1, 10, 100]))";
    let [low, high] = [-0.95, 0.95].map(|r| bias("DataSize", r, table, ""));
    let apart = (high.0 - low.0) / (high.1 * high.1 + low.1 * low.1).sqrt();
    assert!(apart > 4.0, "{low:?} {high:?}");
    // The noise of few outcomes hardly shows in regrets; which agent holds which noise is a unit test.
    bias("Noise", 0.95, drawn, noise);
    bias("Noise", 0.0, drawn, noise);
    for (quantity, said) in
        [("Noise", "agents whose noise differs"), ("DataSize", "agents with records of their own")]
    {
        let party = format!("parties.phone.together=Together(of: [Speed, {quantity}], correlation: 0.5)");
        let (code, _, stderr) = code_and_output(&subrosa(&["check", DEPENDENCE, "-o", &party]));
        assert!(code == 3 && stderr.contains(said), "{stderr}");
    }
}
