//! DP-FTS-DE and its relatives through the public door: prices under dropouts, learning, fairness, determinism.

use crate::support::{metric, root, run};
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use subrosa::objectives::Resources;
use subrosa::protocols::{SeriesRecord, TraceEvent, TraceKind, Watcher};
use subrosa::scenario::Document;
use subrosa::study::{self, Plan, RunFolder};
use tempfile::TempDir;

fn losses(document: &Value, series: &str, accountant: &str) -> f64 {
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["series"] == series && row["observer"] == "every agent")
        .unwrap_or_else(|| panic!("no row for {series}"));
    let loss =
        row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == accountant).unwrap();
    loss["epsilon"].as_f64().unwrap_or(f64::INFINITY)
}

/// Each setting in the table on late and missing answers of docs/federated.md is a series of `scenarios/federated.ron`.
/// For each of these series naive code reports 9.91 ("as published"), and the report has the true loss beside this number.
/// The true losses of six series, by the accountant `moments`, are compared with the table.
#[test]
fn each_way_to_treat_dropouts_has_its_price() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "objective.grid=[60]", "-o", "protocol.features=10"];
    let document = run("scenarios/federated.ron", out.path(), &more);
    for (series, truth) in [
        ("as planned", 9.91),
        ("late on top", 64.6),
        ("late replaces", 17.2),
        ("keeps the last", 9.91),
        ("first to arrive", 12.0),
        ("visible", 45.8),
    ] {
        let (found, naive) =
            (losses(&document, series, "moments"), losses(&document, series, "as published"));
        assert!((found / truth - 1.0).abs() < 0.01, "{series}: {found} for {truth}");
        assert!((naive / 9.91 - 1.0).abs() < 0.01, "{series}: {naive}");
        assert!(losses(&document, series, "tight") < found, "{series}");
    }
    // About a quarter of the agents is missing at any time: more than planned, less than 19.8 at 30 %.
    let divided = losses(&document, "divides by arrivals", "moments");
    assert!((11.0..30.0).contains(&divided), "{divided}");
    assert!(losses(&document, "fixed size", "moments").is_infinite(), "analysed for Poisson sampling only");
    assert!(losses(&document, "fixed size", "tight") > losses(&document, "as planned", "tight"));
    // The server is trusted and sees everything: the report says so.
    let rows = document["cells"][0]["privacy"].as_array().unwrap();
    let server = rows.iter().find(|row| row["observer"] == "server").unwrap();
    assert!(server["losses"].as_array().unwrap().iter().all(|loss| loss["basis"] == "unprotected"));
    // Both groups are reported, and slow phones measure less often.
    let groups = document["cells"][0]["series"][0]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert!(groups[1]["evaluations"].as_f64() < groups[0]["evaluations"].as_f64(), "{groups:?}");
}

/// Sharing helps agents that are alike: after ten rounds every way of sharing without noise beats plain Thompson
/// sampling by far. The shared reference has .098 for TS, .038 for FTS, .031 and .023 for FTS-DE with 2 and 4 regions,
/// and .041 for DP-FTS-DE; 200 agents, two functions.
#[test]
fn sharing_helps_agents_that_are_alike() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "2", "-o", "protocol.rounds=10"];
    let document = run("scenarios/papers/dp-fts-de/synthetic.ron", out.path(), &more);
    let alone = metric(&document, 0, "TS", "simple_regret").0;
    for series in ["FTS", "FTS by server", "FTS-DE, P=2", "FTS-DE, P=4", "DP-FTS-DE, P=2, q=.5"] {
        let regret = metric(&document, 0, series, "simple_regret").0;
        assert!(regret < 0.75 * alone, "{series}: {regret}, alone {alone}");
    }
}

/// The same bits whatever the number of threads, with late answers and losses.
#[test]
fn a_federation_in_trouble_is_replayed() {
    let out = TempDir::new().unwrap();
    let digest = |threads: &str| {
        let place = out.path().join(threads);
        run("tests/golden/federated.ron", &place, &["--threads", threads])["digest"].clone()
    };
    assert_eq!(digest("1"), digest("2"));
}

/// The page draws what naive code would book over the rounds, and not a claim of nothing.
#[test]
fn the_page_draws_the_published_loss() {
    let out = TempDir::new().unwrap();
    let document = run("tests/golden/federated.ron", out.path(), &[]);
    let page = crate::support::folder(&document).join("report.html");
    let page = std::fs::read_to_string(page).unwrap();
    let published = losses(&document, "DP-FTS-DE", "as published");
    assert!(published > 0.5, "{published}");
    assert!(page.contains(&format!("epsilon {published:.4}")), "no point at {published:.4}");
}

fn loss_at(document: &Value, cell: usize, series: &str, accountant: &str) -> f64 {
    let cells = serde_json::json!({ "cells": [document["cells"][cell].clone()] });
    losses(&cells, series, accountant)
}

/// The dropout table of docs/federated.md at 30, 60 and 90 % dropout (the cells), without the row of `renormalised.ron`:
/// every row is a series, for which naive code reports 9.91.
#[test]
fn the_dropout_table() {
    let out = TempDir::new().unwrap();
    let more = ["-o", "objective.grid=[20]", "-o", "protocol.features=4", "-o", "protocol.initial_points=1"];
    let document = run("scenarios/studies/dropouts.ron", out.path(), &more);
    let close = |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 0.012, "{found} for {truth}");
    for (cell, divided) in [19.8, 146.0, 3895.0].into_iter().enumerate() {
        let truth = |series: &str| loss_at(&document, cell, series, "moments");
        close(truth("divides by qN, as planned"), 9.91);
        close(truth("divides by arrivals"), divided);
        close(truth("late on top of fresh"), 64.6);
        close(truth("late replaces fresh"), 17.2);
        close(truth("keeps the last"), 9.91);
        close(truth("first 50 to arrive"), 12.0);
        close(truth("who took part is seen"), 45.8);
        close(truth("41 broadcasts"), 10.01);
        // Not sampled, and an agent moves the sum twice as far: above the 222 that amplification would give.
        assert!(truth("the same, agent gone") > 222.0);
        for series in ["divides by arrivals", "late on top of fresh", "first 50 to arrive", "41 broadcasts"] {
            close(loss_at(&document, cell, series, "as published"), 9.91);
        }
    }
    let text = document.to_string();
    for why in [
        "twice as much",
        "sampled in the round of the vector or",
        "renormalised",
        "first to arrive are kept",
        "sees who takes part",
    ] {
        assert!(text.contains(why), "the report says nothing of \"{why}\"");
    }
    let document = run("scenarios/studies/renormalised.ron", out.path(), &more);
    close(loss_at(&document, 0, "weights renormalised", "moments"), 535.0);
    close(loss_at(&document, 0, "weights as planned", "moments"), 9.91);
    // What a round costs is told.
    let metrics = &document["cells"][0]["series"][0]["metrics"];
    assert!(metrics["bytes_per_round"].as_f64().unwrap() > 100.0 * 40.0, "{metrics}");
    let round = metrics["seconds_per_round"]["mean"].as_f64().unwrap();
    assert!((round - 2.0).abs() < 1e-6, "a round ends at its deadline: {round}");
}

/// Twenty watches, five settings of each kind: accuracies are shares, agents differ, and sharing is played.
#[test]
fn a_real_federation_lives_in_the_repository() {
    let out = TempDir::new().unwrap();
    let model = "objective.model=LogisticRegression(lambda: Axis(low: 1e-4, high: 1, values: 3, logarithmic: true), \
                 steps: Axis(low: 1, high: 16, values: 3, logarithmic: true), \
                 intercept: Axis(low: 0.1, high: 1, values: 2))";
    let more = ["--replications", "1", "-o", "protocol.rounds=4", "-o", model];
    let document = run("scenarios/studies/activity.ron", out.path(), &more);
    for series in ["alone", "FTS", "DP-FTS, z=1"] {
        let regret = metric(&document, 0, series, "simple_regret").0;
        assert!((0.0..0.5).contains(&regret), "{series}: {regret}");
    }
    assert!(losses(&document, "DP-FTS, z=1", "tight") < losses(&document, "DP-FTS, z=1", "as published"));
    // More agents than the data have.
    let more = ["-o", model, "-o", "parties.watch.count=21"];
    let mut arguments = vec!["run", "scenarios/studies/activity.ron", "--out", out.path().to_str().unwrap()];
    arguments.extend(more);
    let (code, _, stderr) = crate::support::code_and_output(&crate::support::subrosa(&arguments));
    assert!(code == 3 && stderr.contains("data of at least 21 agents"), "{code} {stderr}");
}

/// The areas under the curve of 29 fields at 6 settings each against scikit-learn's (`auc_decision` of the shared
/// table). scikit-learn stops at a tolerance of 1e-3, so a few pairs change places. At C = 1e-4 that tolerance is larger
/// than everything that the kernel says: the table's first row is where a solver happened to stop, and is left out.
#[test]
fn landmine_fields_agree_with_scikit_learn() {
    use subrosa::objectives::{ObjectiveModel, Resources};
    let scenario = "scenarios/papers/dp-fts-de/figure3a.ron";
    let nowhere = TempDir::new().unwrap();
    let arguments = ["check", scenario, "--data", nowhere.path().to_str().unwrap()];
    let (code, _, stderr) = crate::support::code_and_output(&crate::support::subrosa(&arguments));
    assert_eq!(code, 3);
    assert!(stderr.contains("landmine_dpftsde/") && stderr.contains("--data"), "{stderr}");
    let data = std::env::var("SUBROSA_DATA").unwrap_or_else(|_| "/work/shared/data".to_owned());
    let table = std::path::Path::new(&data).join("landmine_dpftsde/auc_grid_21x21.csv");
    if !table.exists() {
        eprintln!("skipped: no {}", table.display());
        return;
    }
    let axis = |low: f64| serde_json::json!({ "low": low, "high": 10.0, "values": 3 });
    let recipe = serde_json::json!({ "FederatedTuning": {
        "file": "landmine_dpftsde/landmine_full_precision.csv",
        "agent": ["field"], "label": "label",
        "inputs": ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9"],
        "held_out": { "Column": {
            "file": "landmine_dpftsde/split.csv", "agent": "field", "row": "row", "column": "split", "value": "test",
        } },
        "model": { "RbfSvm": { "c": axis(1e-4), "gamma": axis(0.01) } },
        "prior_mean": 0.7, "prior_sd": 0.1,
    } });
    let recipe: ObjectiveModel = serde_json::from_value(recipe).unwrap();
    let resources =
        Resources { base: nowhere.path().to_owned(), data: Some(data.into()), ..Resources::default() };
    let ready = recipe.as_dyn().prepare(&resources, None, subrosa::rng::Key::root(1)).unwrap();
    let ours = ready.realise(subrosa::rng::Key::root(1)).unwrap().background.agents.unwrap();
    assert_eq!(ours.len(), 29);
    let (mut errors, mut rows) = (Vec::new(), csv::Reader::from_path(table).unwrap());
    for row in rows.records() {
        let cells: Vec<f64> = row.unwrap().iter().map(|cell| cell.parse().unwrap()).collect();
        let (c, gamma) = (cells[1] as usize, cells[2] as usize);
        if c > 0 && c % 10 == 0 && gamma % 10 == 0 {
            errors.push((ours[cells[0] as usize][c / 10 * 3 + gamma / 10] - cells[4]).abs());
        }
    }
    assert_eq!(errors.len(), 29 * 6);
    errors.sort_by(f64::total_cmp);
    let (median, most) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    eprintln!("landmine: median error {median}, 95 % {}, largest {most}", errors[errors.len() * 95 / 100]);
    assert!(median < 2e-3, "{median}");
    assert!(errors[errors.len() * 95 / 100] < 0.01, "{:?}", &errors[errors.len() * 95 / 100..]);
}

/// A server that is not trusted sees sums only, and pays for dropouts beyond the plan with the noise they take along.
#[test]
fn an_untrusted_server_sees_sums_only() {
    let out = TempDir::new().unwrap();
    let more = [
        "--replications",
        "1",
        "-o",
        "objective.grid=[20]",
        "-o",
        "protocol.features=4",
        "-o",
        "parties.agent.count=30",
        "-o",
        "protocol.rounds=6",
    ];
    let document = run("scenarios/studies/untrusted-server.ron", out.path(), &more);
    let epsilon = |cell: usize, series: &str, observer: &str, accountant: &str| {
        let rows = document["cells"][cell]["privacy"].as_array().unwrap();
        let row = rows.iter().find(|row| row["series"] == series && row["observer"] == observer).unwrap();
        let loss = row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == accountant);
        loss.unwrap()["epsilon"].as_f64().unwrap_or(f64::INFINITY)
    };
    let none = "untrusted, 0 planned";
    assert!(epsilon(0, "trusted", "server", "moments").is_infinite());
    // Nobody drops out: the server faces the noise as promised, an agent all but its own share.
    let promised = epsilon(0, none, "server", "as published");
    assert!((epsilon(0, none, "server", "moments") - promised).abs() < 1e-6);
    assert!(epsilon(0, none, "every agent", "moments") > promised);
    // More drop out than planned: more is lost than promised; planned for, less.
    assert!(epsilon(2, none, "server", "moments") > 1.02 * promised);
    assert!(epsilon(0, "untrusted, 20 % planned", "every agent", "moments") < promised);
    let cells = document["cells"].as_array().unwrap();
    let counts = |cell: usize| {
        let series = cells[cell]["series"].as_array().unwrap();
        series.iter().find(|series| series["name"] == none).unwrap()["metrics"]["counts"].clone()
    };
    assert_eq!(counts(0)["rounds unmasked"].as_f64(), Some(6.0));
    assert!(counts(2)["masks removed"].as_f64().unwrap() > 0.0, "{}", counts(2));
    let bytes = |series: &str| {
        let all = cells[0]["series"].as_array().unwrap();
        let found = all.iter().find(|entry| entry["name"] == series).unwrap();
        found["metrics"]["bytes_per_round"].as_f64().unwrap()
    };
    assert!(bytes(none) > bytes("trusted"), "keys and shares are counted");
}

/// Masks are agreed on by messages: whoever cannot be heard then is no part of any sum, and costs nobody a mask; where
/// hardly anybody can be heard, rounds are given up and agents go on alone.
#[test]
fn masks_are_agreed_on_through_the_network() {
    let out = TempDir::new().unwrap();
    let small: Vec<&str> =
        "--replications 1 -o objective.grid=[20] -o protocol.features=4 -o protocol.rounds=6"
            .split(' ')
            .collect();
    let play = |place: &str, links: &str, more: &[&str]| {
        let links = format!("network.links={links}");
        let more = [&small[..], &["-o", &links], more].concat();
        let document = run("scenarios/studies/untrusted-server.ron", &out.path().join(place), &more);
        let all = document["cells"][0]["series"].as_array().unwrap().clone();
        let found = all.iter().find(|series| series["name"] == "untrusted, 0 planned").unwrap();
        let count = |name: &str| found["metrics"]["counts"][name].as_f64().unwrap_or(0.0);
        let names = ["agents in masked sums", "rounds unmasked", "masks removed", "rounds given up"];
        names.map(count)
    };
    let groups = "protocol.groups=[AgentGroup(members: \"agent\"), AgentGroup(members: \"gone\")]";
    let parties = "parties={ \"server\": Party(), \"agent\": Party(count: 20), \"gone\": Party(count: 2) }";
    let two = ["-o", parties, "-o", groups];
    let nothing = "[LinkRule(from: \"gone\", to: \"server\", loss: Independent(0.999999))]";
    let counts = play("gone", nothing, &two);
    assert_eq!(counts, [20.0, 6.0, 0.0, 0.0]);
    // Nine answers in ten are lost, keys too: not all are members after ten tries each, and no majority answers a round.
    let hardly = "[LinkRule(from: \"agent\", to: \"server\", loss: Independent(0.9))]";
    let counts = play("hardly", hardly, &["-o", "parties.agent.count=20"]);
    assert!((1.0..20.0).contains(&counts[0]), "{counts:?}");
    assert_eq!(counts[1..], [0.0, 0.0, 6.0]);
}

/// Every event of one replication, with the series and the name of the party that sent or stated it.
fn events(scenario: &str, overrides: &[&str]) -> Vec<(String, String, TraceEvent)> {
    let path = root().join(scenario);
    let document = Document::load(&path).expect("the file is there");
    let resources = Resources { base: path.parent().unwrap().to_owned(), ..Resources::default() };
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let cells = document.cells(&overrides, &resources).unwrap_or_else(|found| panic!("{}", found.render()));
    let plan = Plan::new(document.text().to_owned(), overrides, &resources, cells);
    let names = plan.cells[0].scenario.stage(None).names;
    let seen = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&seen);
    let watcher = Watcher::of_contents(move |series, event| {
        let party = match &event.kind {
            TraceKind::Sent(parcel) => Some(parcel.from),
            TraceKind::Recorded(party, _) => Some(*party),
            _ => None,
        };
        let name = party.map_or_else(String::new, |party| names[party.index()].clone());
        into.borrow_mut().push((series.to_owned(), name, event));
        true
    });
    study::trace(&plan, 0, 0, watcher).expect("it can be played");
    seen.take()
}

/// Quick agents and slow ones, unlike each other, in a network that loses nothing; one series alone, one that shares.
const QUIET: [&str; 3] = [
    "network.default=Link()",
    "parties.slow=Party(count: 3)",
    "protocol.series=[Series(name: \"alone\", sharing: Alone()), Series(name: \"shared\", sharing: Aggregate(regions: 1, \
     clip: 6, noise_multiplier: 1, participation: Poisson(0.5)))]",
];

/// Removing one agent leaves every other agent's draws as they were: objective, initial points, noise, weights and, where
/// nothing is shared, every choice.
#[test]
fn removing_an_agent_moves_no_draw_of_the_others() {
    let of_others = |removes: bool| {
        let mut overrides = QUIET.to_vec();
        if removes {
            // In front of all slow agents.
            overrides.push("parties.quick.count=5");
        }
        let mut found = Vec::new();
        for (series, name, event) in events("tests/golden/federated.ron", &overrides) {
            let TraceEvent { kind, contents, round, .. } = event;
            match kind {
                TraceKind::Recorded(_, fact) if fact.starts_with("Measured") => {
                    let (_, what) = fact.split_once(", ").expect("the agent's number comes first");
                    if series == "alone" || what.starts_with("round: 0,") {
                        found.push((series, name, what.to_owned()));
                    }
                }
                TraceKind::Sent(parcel) if parcel.label == "Weights" && round == Some(0) => {
                    found.push((series, name, format!("weights {contents:x}")));
                }
                _ => {}
            }
        }
        found.sort();
        found
    };
    let (whole, smaller) = (of_others(false), of_others(true));
    let others: Vec<_> = whole.iter().filter(|(_, name, _)| name != "quick-6").cloned().collect();
    // 9 agents: 3 initial points in either series, 6 rounds in one, one vector in the other.
    assert_eq!(whole.len(), 9 * (3 + 6 + 3 + 1));
    assert_eq!(others.len(), 8 * (3 + 6 + 3 + 1));
    assert_eq!(others, smaller);
}

/// The order of the claims that hold in the world of the shared reference, in mean simple regret after ten rounds: TS
/// worse than FTS, and FTS than FTS-DE; a larger q and a smaller z better; too large an S worse.
#[test]
fn the_order_of_the_claims() {
    let out = TempDir::new().unwrap();
    let regrets = |figure: &str, series: &[&str]| -> Vec<f64> {
        let scenario = format!("scenarios/papers/dp-fts-de/{figure}.ron");
        let more = ["--replications", "5", "-o", "protocol.rounds=10", "-o", "parties.agent.count=100"];
        let document = run(&scenario, &out.path().join(figure), &more);
        series.iter().map(|series| metric(&document, 0, series, "simple_regret").0).collect()
    };
    let falls = |found: &[f64]| assert!(found.windows(2).all(|pair| pair[0] > pair[1]), "{found:?}");
    falls(&regrets("figure2a", &["TS", "FTS", "FTS-DE, P=2", "FTS-DE, P=4"]));
    falls(&regrets("figure2c", &["DP-FTS-DE, q=0.15", "DP-FTS-DE, q=0.25", "DP-FTS-DE, q=0.5"]));
    falls(&regrets("figure2d", &["DP-FTS-DE, z=1.5", "DP-FTS-DE, z=1"]));
    falls(&regrets("figure2b", &["DP-FTS-DE, S=44", "DP-FTS-DE, S=22", "DP-FTS-DE, S=11"]));
}

/// The losses that the paper prints stand beside ours, and the accountant of the paper says the same.
#[test]
fn published_losses_stand_beside_ours() {
    let out = TempDir::new().unwrap();
    let more = ["--replications", "1", "-o", "objective.grid=[20]", "-o", "protocol.features=4"];
    for (figure, expected) in [("figure2c", [5.93, 9.91, 20.12]), ("figure2d", [9.91, 7.39, 5.22])] {
        let scenario = format!("scenarios/papers/dp-fts-de/{figure}.ron");
        let document = run(&scenario, &out.path().join(figure), &more);
        let rows = document["cells"][0]["published_losses"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        for (row, expected) in rows.iter().zip(expected) {
            assert_eq!(row["published"].as_f64(), Some(expected));
            let moments = row["moments"].as_f64().unwrap();
            assert!((moments - expected).abs() < 0.006, "{row}");
            assert!(row["tight"].as_f64().unwrap() < moments, "{row}");
        }
        let folder = crate::support::folder(&document);
        let (_, text, _) =
            crate::support::code_and_output(&crate::support::subrosa(&["report", folder.to_str().unwrap()]));
        assert!(text.contains("Published privacy losses"), "{text}");
        let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(page.contains("Published privacy losses"));
    }
}

/// Agents that fit their own models: nothing moves before the first fit, features and the vectors of the first round
/// stay, and the same bits come out whatever the number of threads.
#[test]
fn agents_fit_their_own_models() {
    let out = TempDir::new().unwrap();
    let digest = |place: &str, more: &[&str]| {
        let document = run("tests/golden/federated.ron", &out.path().join(place), more);
        let counts =
            document["cells"][0]["series"][0]["metrics"]["counts"]["fits of agents' own models"].clone();
        (document["digest"].clone(), counts)
    };
    let given = digest("given", &[]);
    let never = digest("never", &["-o", "protocol.own_hyperparameters=Refitted(every: 100)"]);
    assert_eq!(given, never);
    let often = ["-o", "protocol.own_hyperparameters=Refitted(every: 3, starts: 2)", "--threads"];
    let one = digest("one", &[&often[..], &["1"]].concat());
    assert_eq!(one, digest("two", &[&often[..], &["2"]].concat()));
    assert_ne!(one.0, given.0);
    // 9 agents, after 3 points and, unless they miss rounds, after 6.
    assert!(one.1.as_f64().is_some_and(|fits| (9.0..=18.0).contains(&fits)), "{}", one.1);
    let first = |more: &[&str]| -> Vec<u64> {
        let all = events("tests/golden/federated.ron", &[&QUIET[..], more].concat());
        let sent = all.iter().filter(|(_, _, event)| match &event.kind {
            TraceKind::Sent(parcel) => parcel.label == "Weights" && event.round == Some(0),
            _ => false,
        });
        sent.map(|(_, _, event)| event.contents).collect()
    };
    let refitted = ["protocol.own_hyperparameters=Refitted(every: 3)"];
    assert_eq!(first(&[]), first(&refitted));
    assert_ne!(first(&[]), first(&["protocol.feature_length_scale=0.05"]));
}

/// The records of four quick agents and four whose work takes 900 ms, with a series for each policy.
fn quick_and_slow(place: &Path, latency: &str, duplication: &str, policies: &[&str]) -> Vec<SeriesRecord> {
    let series = policies.iter().enumerate().map(|(n, policy)| format!("Series(name: \"{n}\", {policy})"));
    let text = format!(
        "Scenario(name: \"doubled\", seed: 3, replications: 2, parties: {{ \"server\": Party(), \"quick\": \
         Party(count: 4), \"slow\": Party(count: 4, compute: Drawn(time: Constant(\"900ms\"))) }}, \
         network: Network(topology: Star(hub: \"server\"), default: Link(latency: Constant(\"50ms\")), links: [\
         LinkRule(from: \"quick\", to: \"server\", latency: {latency}, duplication: {duplication}), \
         LinkRule(from: \"slow\", to: \"server\", latency: {latency}, duplication: {duplication})]), \
         objective: GpSample(grid: [40], max_norm: 1, length_scale: 0.2, variance: 1, noise_variance: 0.01), \
         privacy: Privacy(delta: 0.01), protocol: Federated(server: \"server\", groups: [\
         AgentGroup(members: \"quick\"), AgentGroup(members: \"slow\")], rounds: 12, initial_points: 3, features: 20, \
         perturbation: 0.05, series: [{}]))",
        series.collect::<Vec<_>>().join(", ")
    );
    std::fs::create_dir(place).unwrap();
    let path = place.join("doubled.ron");
    std::fs::write(&path, text).unwrap();
    let document = run(path.to_str().unwrap(), place, &[]);
    let records = RunFolder::at(&crate::support::folder(&document)).replications(0).unwrap();
    records.into_values().flat_map(|record| record.series).collect()
}

/// What is played, with answers that take `latency` and are doubled with a probability.
fn doubled(place: &Path, latency: &str, duplication: &str) -> Vec<SeriesRecord> {
    let policies = [
        "sharing: Aggregate(clip: 11, late: Discard), policy: All()",
        "sharing: Aggregate(clip: 11, late: AddToNext), policy: All()",
        "sharing: Aggregate(clip: 11, late: ReplaceNext), policy: All()",
        "sharing: Aggregate(clip: 11, late: AddToNext), policy: Deadline(after: \"600ms\")",
        "sharing: Aggregate(clip: 11, late: ReplaceNext), policy: Deadline(after: \"600ms\")",
        "sharing: Aggregate(clip: 11, late: KeepLast), policy: Deadline(after: \"600ms\")",
        "sharing: Aggregate(clip: 11), policy: Buffered(k: 6)",
    ];
    quick_and_slow(place, latency, duplication, &policies)
}

/// A copy that comes after its round was closed is no late answer: nobody is counted twice, and no round ends early.
#[test]
fn a_copy_of_an_answer_is_no_second_answer() {
    let out = TempDir::new().unwrap();
    let regrets = |series: &SeriesRecord| -> Vec<f64> {
        series.iterations.iter().map(|iteration| iteration.cumulative_regret).collect()
    };
    // Copies that come with the original change nothing at all.
    let still =
        |place: &str, duplication: &str| doubled(&out.path().join(place), "Constant(\"50ms\")", duplication);
    for (once, twice) in still("once", "0").iter().zip(&still("twice", "0.9")) {
        assert_eq!(regrets(once), regrets(twice), "series {}", once.name);
        assert_eq!(once.closings, twice.closings, "series {}", once.name);
    }
    // Copies that come rounds later: whoever waits for all has no late answer, whatever is done with those.
    let jitter = "Jittered(base: \"50ms\", jitter: Exponential(mean: \"2s\"))";
    let (once, twice) =
        (doubled(&out.path().join("calm"), jitter, "0"), doubled(&out.path().join("jitter"), jitter, "0.9"));
    for (place, (calm, noisy)) in once.iter().zip(&twice).enumerate().filter(|(place, _)| place % 7 < 3) {
        assert_eq!(regrets(calm), regrets(noisy), "series {}", calm.name);
        assert_eq!(regrets(&once[place - place % 7]), regrets(noisy), "series {}", calm.name);
        assert!(noisy.closings.iter().all(|closing| closing.late == 0), "series {}", calm.name);
    }
}

/// The slow agents miss every deadline, and their late answers enter the next sum: they are heard, whichever policy uses
/// late answers. With `Discard` only the quick half is heard. Of vectors in time no more can be clipped than there are, even
/// if a buffer also holds older ones.
#[test]
fn late_answers_that_enter_a_sum_are_heard() {
    let place = TempDir::new().unwrap();
    let late = |name: &str| {
        format!("sharing: Aggregate(clip: 11, late: {name}), policy: Deadline(after: \"600ms\")")
    };
    let mut policies = ["Discard", "AddToNext", "ReplaceNext", "KeepLast"].map(late).to_vec();
    policies.push("sharing: Aggregate(clip: 0.1), policy: Buffered(k: 6)".to_owned());
    let policies: Vec<&str> = policies.iter().map(String::as_str).collect();
    let records = quick_and_slow(&place.path().join("late"), "Constant(\"50ms\")", "0", &policies);
    for records in records.chunks(policies.len()) {
        let heard = |series: &SeriesRecord| -> f64 {
            let shares = series.outcomes.iter().filter(|one| one.name.starts_with("share of answers heard"));
            shares.map(|one| one.value).sum()
        };
        let [discard, add, replace, keep] = [0, 1, 2, 3].map(|n| heard(&records[n]));
        assert!((discard - 2.0).abs() < 1e-9, "half of the answers, in four quarters: {discard}");
        assert!((add - keep).abs() < 1e-9 && (replace - keep).abs() < 1e-9, "{add} {replace} {keep}");
        assert!(keep > 2.5, "{keep}");
        let clipped =
            records[4].by_round.iter().find(|track| track.name.contains("in time that are clipped"));
        let shares: Vec<f64> = clipped.unwrap().points.iter().map(|(_, share)| *share).collect();
        assert!(shares.iter().all(|share| *share <= 1.0) && shares.contains(&1.0), "{shares:?}");
    }
}
