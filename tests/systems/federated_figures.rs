//! What the figures of DP-FTS-DE need, through the public door: random scores, trained models that are kept, shared models
//! with settings of their own, local search after round K, differences run by run, what is clipped, Theorem 1's terms.

use crate::support::{code_and_output, run, subrosa};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use subrosa::objectives::{ObjectiveModel, Resources};
use subrosa::rng::Key;
use tempfile::TempDir;

/// The golden federation without trouble, with other series and overrides.
fn small(series: &str, more: &[&str]) -> Value {
    let out = TempDir::new().unwrap();
    let series = format!("protocol.series=[{series}]");
    let mut arguments =
        vec!["-o", "network.default=Link()", "-o", "parties.slow=Party(count: 3)", "-o", &series];
    more.iter().for_each(|text| arguments.extend(["-o", text]));
    run("tests/golden/federated.ron", out.path(), &arguments)
}

fn series<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["cells"][0]["series"].as_array().unwrap();
    all.iter().find(|series| series["name"] == name).unwrap_or_else(|| panic!("no series {name}"))
}

/// A number by round: rounds and means.
fn track(series: &Value, name: &str) -> Vec<(u64, f64)> {
    let all = series["by_round"].as_array().unwrap_or_else(|| panic!("no numbers by round: {series}"));
    let found = all.iter().find(|track| track["name"].as_str().unwrap().starts_with(name)).unwrap();
    let point = |point: &Value| (point["t"].as_u64().unwrap(), point["value"]["mean"].as_f64().unwrap());
    found["points"].as_array().unwrap().iter().map(point).collect()
}

fn curve(series: &Value, of: &str) -> Vec<f64> {
    let points = series["curve"].as_array().unwrap();
    points.iter().map(|point| point[of]["mean"].as_f64().unwrap()).collect()
}

const SHARED: &str = "Series(name: \"shared\", sharing: Aggregate(regions: 2, clip: 6, noise_multiplier: 1, participation: Poisson(0.5)))";

/// Two agents' records of two classes that a machine can tell apart, mostly.
fn records(folder: &Path) {
    let mut stream = Key::root(4).stream();
    let mut text = "who,x,y,kind\n".to_owned();
    for agent in ["a", "b"] {
        for _ in 0..60 {
            let [x, y] = [stream.normal(), stream.normal()];
            let kind = if x * x + y * y + 0.8 * stream.normal() > 1.5 { "far" } else { "near" };
            writeln!(text, "{agent},{x},{y},{kind}").unwrap();
        }
    }
    std::fs::write(folder.join("records.csv"), text).unwrap();
}

fn prepared(folder: &Path, model: &Value, models: Option<&Path>) -> subrosa::objectives::Instance {
    let recipe = serde_json::json!({ "FederatedTuning": {
        "file": "records.csv", "agent": ["who"], "label": "kind", "inputs": ["x", "y"],
        "model": { "RbfSvm": model }, "prior_mean": 0.7, "prior_sd": 0.1,
    } });
    let recipe: ObjectiveModel = serde_json::from_value(recipe).unwrap();
    let (base, models) = (folder.to_owned(), models.map(Path::to_owned));
    let resources = Resources { base, models, ..Resources::default() };
    recipe.as_dyn().prepare(&resources, None, Key::root(1)).unwrap().realise(Key::root(1)).unwrap()
}

/// A rising curve keeps the area a of the decision values, a falling one makes 1 - a of it, a flat one a half: nothing else
/// can come of Platt scaling. At a small C, where decision values say next to nothing, both kinds occur.
#[test]
fn platt_scaling_keeps_or_reverses_the_area() {
    let folder = TempDir::new().unwrap();
    records(folder.path());
    let axes = |score: Value| {
        serde_json::json!({
            "c": { "values": [0.0001, 1, 10] }, "gamma": { "values": [0.1, 1] }, "score": score, "tolerance": 0.001,
        })
    };
    let exact = prepared(folder.path(), &axes("Area".into()), None);
    let scaled = prepared(folder.path(), &axes(serde_json::json!({ "PlattArea": { "draws": 6 } })), None);
    // Listed values lie where they are: (0.0001, 1, 10) at 0, 0.1 and 1.
    assert!((scaled.inputs.row(2)[0] - 0.9999 / 9.9999).abs() < 1e-12, "{:?}", scaled.inputs.row(2));
    let (areas, means) = (exact.background.agents.unwrap(), scaled.background.agents.unwrap());
    let noises = scaled.background.agent_noise.unwrap();
    let (mut kept, mut reversed) = (0, 0);
    for agent in 0..2 {
        for arm in 0..6 {
            let area = areas[agent][arm];
            for k in 0..40 {
                let outcome =
                    means[agent][arm] + noises[agent].draw(arm, &mut Key::root(7).index(k).stream());
                let near = |other: f64| (outcome - other).abs() < 1e-9;
                assert!(near(area) || near(1.0 - area) || near(0.5), "{area} became {outcome}");
                kept += u64::from(near(area) && !near(0.5));
                reversed += u64::from(near(1.0 - area) && !near(0.5));
            }
        }
    }
    assert!(kept > reversed && reversed > 0, "{kept} kept, {reversed} reversed");
}

/// A second preparation reads what the first one kept, bit by bit, and no file is written again; a damaged one is.
#[test]
fn trained_models_are_kept_by_hash() {
    let folder = TempDir::new().unwrap();
    records(folder.path());
    let models = folder.path().join("runs/models");
    let model = |c: f64| serde_json::json!({ "c": { "values": [c, 10] }, "gamma": { "values": [0.1, 1] }, "score": { "PlattArea": {} } });
    let bits = |instance: &subrosa::objectives::Instance| -> Vec<u64> {
        let agents = instance.background.agents.as_ref().unwrap();
        agents.iter().flat_map(|values| values.iter().map(|value| value.to_bits())).collect()
    };
    let first = bits(&prepared(folder.path(), &model(1.0), Some(&models)));
    let files = || {
        let mut found: Vec<_> =
            std::fs::read_dir(&models).unwrap().map(|file| file.unwrap().path()).collect();
        found.sort();
        found
    };
    assert_eq!(files().len(), 2, "one for each agent");
    // A changed number with the right seal would be read: so the files are read indeed.
    let text = std::fs::read_to_string(&files()[0]).unwrap();
    let body = text.trim_end().rsplit_once('\n').unwrap().0;
    let (head, rest) = body.split_once('\n').unwrap();
    let changed = format!("{head}\n{:016x}{}\n", 0.123f64.to_bits(), &rest[16..]);
    let sealed = format!("{changed}{}\n", blake3::hash(changed.as_bytes()).to_hex());
    std::fs::write(&files()[0], sealed).unwrap();
    assert_ne!(bits(&prepared(folder.path(), &model(1.0), Some(&models))), first);
    std::fs::write(&files()[0], &text[..text.len() / 2]).unwrap();
    assert_eq!(bits(&prepared(folder.path(), &model(1.0), Some(&models))), first, "trained again");
    assert_eq!(std::fs::read_to_string(&files()[0]).unwrap(), text, "and kept again");
    prepared(folder.path(), &model(2.0), Some(&models));
    assert_eq!(files().len(), 4, "other models have files of their own");
}

#[test]
fn an_axis_has_ends_or_a_list() {
    let folder = TempDir::new().unwrap();
    records(folder.path());
    // As many agents as the template has: the other seven have the records of the first.
    let file = folder.path().join("records.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    let of_first: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("a,")).collect();
    let others = ["c", "d", "e", "f", "g", "h", "i"];
    let more = others.map(|who| of_first.iter().map(|line| format!("{who},{line}\n")).collect::<String>());
    std::fs::write(&file, text.clone() + &more.concat()).unwrap();
    let template =
        std::fs::read_to_string(crate::support::root().join("tests/golden/federated.ron")).unwrap();
    // A tuned model is always the same: its agents cannot differ by a draw.
    let template = template.replace(", heterogeneity: 0.2", "");
    let start = template.find("    objective:").unwrap();
    let end = start + template[start..].find('\n').unwrap();
    let scenario = |c: &str, more: &str| {
        let objective = format!(
            "    objective: FederatedTuning(file: \"records.csv\", agent: [\"who\"], label: \"kind\", inputs: [\"x\", \"y\"], \
             model: RbfSvm(c: {c}, gamma: Axis(values: [0.1, 1]){more}), prior_mean: 0.7, prior_sd: 0.1),"
        );
        let file = folder.path().join("scenario.ron");
        std::fs::write(&file, format!("{}{objective}{}", &template[..start], &template[end..])).unwrap();
        code_and_output(&subrosa(&["check", file.to_str().unwrap()]))
    };
    for (c, more, said) in [
        ("Axis(values: [1, 0.5])", "", "each above the one before"),
        ("Axis(values: 3)", "", "the end of an axis"),
        ("Axis(low: 1, values: [1, 2])", "", "with a list of values"),
        ("Axis(values: [1, 2])", ", score: PlattArea(folds: 1)", "at least 2 folds"),
    ] {
        let (code, _, stderr) = scenario(c, more);
        assert!(code == 3 && stderr.contains(said), "{c}{more}: {code} {stderr}");
    }
    assert_eq!(scenario("Axis(values: [0.5, 1])", ", score: PlattArea(), tolerance: 0.001").0, 0);
}

/// What is written out as the default, or comes to the same, is the same run: raw outcomes where the prior mean is 0,
/// and the objective's own variance and noise. Everything else is another one.
#[test]
fn shared_models_have_settings_of_their_own() {
    let digest = |more: &[&str]| small(SHARED, more)["digest"].as_str().unwrap().to_owned();
    let plain = digest(&[]);
    let same = ["protocol.weight_outcomes=Raw", "protocol.feature_variance=1", "protocol.feature_noise=0.01"];
    assert_eq!(digest(&same), plain);
    assert_eq!(digest(&["protocol.width=Constant", "protocol.repeated=Allowed"]), plain);
    for other in [
        "protocol.weight_outcomes=MinusOwnMean",
        "protocol.feature_variance=2",
        "protocol.feature_noise=0.02",
        "protocol.width=Theorem(norm: 2)",
        "protocol.repeated=RandomPoint",
    ] {
        assert_ne!(digest(&[other]), plain, "{other}");
    }
}

/// beta_t of the theorem is reported by round: above B, and it grows with the information gain; a constant one is not.
#[test]
fn the_theorems_width_is_told_by_round() {
    let name = "beta_t of agents' own Thompson sampling";
    let constant = small(SHARED, &["protocol.width=Constant"]);
    assert!(!constant.to_string().contains(name), "1 in every round is not told");
    let regrets = |norm: u32| -> Vec<f64> {
        let document = small(SHARED, &[&format!("protocol.width=Theorem(norm: {norm})")]);
        let track = track(series(&document, "shared"), name);
        assert_eq!(track.iter().map(|(t, _)| *t).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        track.into_iter().map(|(_, width)| width).collect()
    };
    let (small_norm, large_norm) = (regrets(2), regrets(5));
    assert!(small_norm.windows(2).all(|pair| pair[0] < pair[1]) && small_norm[0] > 2.0, "{small_norm:?}");
    let shifted = small_norm.iter().zip(&large_norm).all(|(small, large)| (large - small - 3.0).abs() < 1e-9);
    assert!(shifted, "{large_norm:?}");
}

/// Agents that know their function well query its best point again and again; a random point in its place costs regret.
#[test]
fn a_random_point_replaces_a_repeated_one() {
    let alone = "Series(name: \"alone\", sharing: Alone())";
    let run = |repeated: &str| {
        let repeated = format!("protocol.repeated={repeated}");
        let more =
            ["objective.grid=[12]", "objective.noise_variance=0.0001", "protocol.rounds=40", &repeated];
        let document = small(alone, &more);
        *curve(series(&document, "alone"), "cumulative_regret").last().unwrap()
    };
    let (allowed, random) = (run("Allowed"), run("RandomPoint"));
    assert!(random > 3.0 * allowed, "{random} for {allowed}");
}

/// With initial points everywhere, an agent has those that it has where nothing is shared.
#[test]
fn initial_points_lie_in_regions_or_everywhere() {
    let all = "Series(name: \"alone\", sharing: Alone()), Series(name: \"own\", sharing: Aggregate(regions: 4)), \
               Series(name: \"everywhere\", sharing: Aggregate(regions: 4, initial: Everywhere))";
    let document = small(all, &[]);
    let first = |name: &str| curve(series(&document, name), "simple_regret")[0];
    assert_eq!(first("everywhere"), first("alone"));
    assert!(first("own") > first("alone"), "{} {}", first("own"), first("alone"));
}

/// After round K nothing is released: the ledger of six rounds with K = 3 is that of three rounds, and agents go on.
#[test]
fn after_round_k_nothing_is_lost() {
    let local = SHARED.trim_end_matches(')').to_owned() + ")), local_after: 3)";
    let epsilon = |document: &Value| {
        let rows = document["cells"][0]["privacy"].as_array().unwrap();
        let row = rows.iter().find(|row| row["observer"] == "every agent").unwrap();
        let tight = row["losses"].as_array().unwrap().iter().find(|loss| loss["accountant"] == "tight");
        (row["releases"].clone(), tight.unwrap()["epsilon"].as_f64().unwrap())
    };
    let (short, cut) = (small(SHARED, &["protocol.rounds=3"]), small(&local, &[]));
    let whole = small(SHARED, &[]);
    assert_eq!(epsilon(&cut), epsilon(&short));
    assert!(epsilon(&whole).1 > 1.1 * epsilon(&cut).1);
    assert_eq!(curve(series(&cut, "shared"), "simple_regret").len(), 7, "all rounds are played");
    // Under masks too.
    let masked = SHARED.replace("clip: 6", "server: Masked(planned_dropout: 0), clip: 6");
    let masked = masked.trim_end_matches(')').to_owned() + ")), local_after: 3)";
    let document = small(&masked, &[]);
    let counts = &series(&document, "shared")["metrics"]["counts"];
    assert_eq!(counts["rounds unmasked"].as_f64(), Some(3.0), "{counts}");
    assert_eq!(curve(series(&document, "shared"), "simple_regret").len(), 7);
    // A last shared round after which none comes says nothing.
    for last in [6, 7] {
        let late =
            format!("protocol.series=[{}]", local.replace("local_after: 3", &format!("local_after: {last}")));
        let (code, _, stderr) =
            code_and_output(&subrosa(&["check", "tests/golden/federated.ron", "-o", &late]));
        assert!(code == 3 && stderr.contains("a round before the last one, 6"), "{code} {stderr}");
    }
    // Where nothing is shared, it says nothing.
    let alone = "protocol.series=[Series(name: \"TS\", sharing: Alone(), local_after: 3)]";
    let (code, _, stderr) = code_and_output(&subrosa(&["check", "tests/golden/federated.ron", "-o", alone]));
    assert!(code == 3 && stderr.contains("local_after"), "{code} {stderr}");
}

/// What is longer than S / sqrt(P) is clipped: nothing at a huge S, everything at a tiny one; theta_t of Theorem 1 is then
/// (1 - p_t) times the weights of all in all regions, P, and psi_t rises with z by (1 - p_t) P w S sqrt(M) / q.
#[test]
fn what_is_clipped_is_told_by_round() {
    let with = |name: &str, clip: f64, z: u32| {
        format!(
            "Series(name: \"{name}\", sharing: Aggregate(regions: 2, weights: Uniform(), clip: {clip:?}, noise_multiplier: \
             {z}, participation: Poisson(0.5)))"
        )
    };
    let late = with("late", 1e-3, 1).replace("participation", "late: KeepLast, participation");
    let all = [with("huge", 1e6, 1), with("tiny", 1e-3, 1), with("more noise", 1e-3, 2), late].join(", ");
    let document = small(&all, &["protocol.regret_terms=RegretTerms()"]);
    // The theorem assumes that no late vector enters a sum.
    assert!(!series(&document, "late")["by_round"].to_string().contains("Theorem 1"));
    let shares = |name: &str| track(series(&document, name), "share of vectors");
    assert_eq!(shares("huge"), (0..6).map(|t| (t, 0.0)).collect::<Vec<_>>());
    assert_eq!(shares("tiny"), (0..6).map(|t| (t, 1.0)).collect::<Vec<_>>());
    assert!(track(series(&document, "huge"), "theta_t").iter().all(|(_, theta)| *theta == 0.0));
    for (t, theta) in track(series(&document, "tiny"), "theta_t") {
        assert!((theta - 2.0 / (t as f64).sqrt()).abs() < 1e-12, "{theta} in round {t}");
    }
    let psi = |name: &str| track(series(&document, name), "psi_t");
    for ((t, one), (_, two)) in psi("tiny").into_iter().zip(psi("more noise")) {
        let expected = 2.0 / 9.0 / 0.5 * 1e-3 * 20f64.sqrt() / (t as f64).sqrt();
        assert!(((two - one) / expected - 1.0).abs() < 1e-6, "{} for {expected} in round {t}", two - one);
        assert!(one > 100.0 * expected, "what agents differ by comes first");
    }
}

/// Series on the same functions are compared run by run, in the JSON and in the report; an unknown name is refused.
#[test]
fn series_are_compared_run_by_run() {
    let two = format!("Series(name: \"alone\", sharing: Alone()), {SHARED}");
    let document = small(&two, &["compared_with=[\"alone\"]", "replications=4"]);
    let rows = document["cells"][0]["differences"].as_array().unwrap();
    let row = rows.iter().find(|row| row["quantity"] == "cumulative regret").unwrap();
    assert_eq!((&row["series"], &row["reference"]), (&"shared".into(), &"alone".into()));
    let last = row["points"].as_array().unwrap().last().unwrap();
    let end = |name: &str| series(&document, name)["metrics"]["cumulative_regret"]["mean"].as_f64().unwrap();
    let (found, expected) = (last["value"]["mean"].as_f64().unwrap(), end("shared") - end("alone"));
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    assert_eq!(last["value"]["n"].as_u64(), Some(4));
    let out = TempDir::new().unwrap();
    let arguments = ["run", "tests/golden/federated.ron", "--out", out.path().to_str().unwrap(), "-o"];
    let told_of = |text: &str| code_and_output(&subrosa(&[arguments.as_slice(), &[text]].concat()));
    let (_, stdout, _) = told_of("compared_with=[]");
    assert!(
        !stdout.contains("minus that of") && stdout.contains("Share of vectors in time that are clipped"),
        "{stdout}"
    );
    let (code, _, stderr) = told_of("compared_with=[\"nobody\"]");
    assert!(code == 3 && stderr.contains("compared_with"), "{code} {stderr}");
}
