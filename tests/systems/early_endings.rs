//! A run that ended before its last round has no regret at the end, and none is made up for it.

use crate::support::{code_and_output, folder, metric, run, subrosa};
use std::fs;
use tempfile::TempDir;

/// A curator who is asked four times at most, over links that lose one message in five.
const SCENARIO: &str = r#"Scenario(
    name: "early",
    about: "Runs that end early.",
    seed: 1,
    replications: 12,
    parties: { "curator": Party(), "modeler": Party() },
    network: Network(
        topology: Star(hub: "curator"),
        default: Link(latency: Constant("10ms"), loss: Independent(0.2)),
    ),
    objective: GpSample(grid: [10, 10], max_norm: 25, length_scale: 6.25, variance: 1, noise_variance: 1e-5),
    protocol: Outsourced(
        curator: "curator", modeler: "modeler", rounds: 30, initial_points: 1,
        retry: Retry(timeout: "1s", attempts: 4),
        series: [Series(name: "random", release: Withheld(), learner: Random())],
    ),
)
"#;

#[test]
fn only_runs_that_reached_the_end_have_a_regret_there() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("early.ron");
    fs::write(&path, SCENARIO).unwrap();
    let path = path.to_str().unwrap();
    let lossy = run(path, place.path(), &[]);
    let series = &lossy["cells"][0]["series"][0];
    let early = series["ended_early"].as_u64().unwrap();
    assert!((1..11).contains(&early), "some ended early, some did not: {early}");
    assert_eq!(series["metrics"]["cumulative_regret"]["n"].as_u64().unwrap(), 12 - early);
    // The other way: the last rounds of the table of all evaluations.
    let mut table = csv::Reader::from_path(folder(&lossy).join("iterations.csv")).unwrap();
    let header = table.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|known| known == name).unwrap();
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let last = rows.iter().filter(|row| &row[column("t")] == "30");
    let regrets: Vec<f64> = last.map(|row| row[column("cumulative_regret")].parse().unwrap()).collect();
    assert_eq!(regrets.len() as u64, 12 - early);
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    assert!((metric(&lossy, 0, "random", "cumulative_regret").0 - mean).abs() < 1e-12 * mean);
    // So the mean cumulative regret never falls.
    let curve = series["curve"].as_array().unwrap();
    let values: Vec<f64> =
        curve.iter().map(|point| point["cumulative_regret"]["mean"].as_f64().unwrap()).collect();
    assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
    // Losses change times alone, so pairs that both reached the end are equal, and the others are no pairs.
    let calm = run(path, place.path(), &["-o", "network.default.loss=NoLoss()"]);
    let (a, b) = (folder(&lossy), folder(&calm));
    let compare = ["compare", a.to_str().unwrap(), b.to_str().unwrap(), "--format", "json"];
    let (code, stdout, stderr) = code_and_output(&subrosa(&compare));
    assert_eq!(code, 0, "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["metric"] == "cumulative_regret").unwrap();
    let difference = &row["difference"];
    assert_eq!((&difference["mean"], &difference["n"]), (&0.0.into(), &(12 - early).into()), "{row}");
    let note = format!("{early} of 12 results (one for each series of each replication) ended early");
    assert!(document["notes"].to_string().contains(&note), "{document}");
    let (_, text, _) = code_and_output(&subrosa(&["report", a.to_str().unwrap()]));
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let note =
        format!("{early} of 12 replications of \"random\" ended early and are not included in final regrets");
    assert!(flowing.contains(&note), "{text}");
}

/// How the series ended with these overrides: runs that ended early, and evaluations in all (31 to the end, one of them
/// initial).
fn ended(place: &std::path::Path, overrides: &[&str]) -> (u64, u64) {
    let path = place.join("early.ron");
    fs::write(&path, SCENARIO).unwrap();
    let mut arguments = vec!["--replications", "1", "-o", "network.default.loss=NoLoss()"];
    overrides.iter().for_each(|one| arguments.extend(["-o", one]));
    let document = run(path.to_str().unwrap(), place, &arguments);
    let early = document["cells"][0]["series"][0]["ended_early"].as_u64().unwrap();
    let table = csv::Reader::from_path(folder(&document).join("iterations.csv"));
    (early, table.map_or(0, |mut table| table.records().count() as u64))
}

/// A modeler that loses its own connection for a minute asks again when it is back: four attempts are enough, since none
/// counts while it is offline. It took 50 s of absence and 100 attempts to end a run of the hospital before.
#[test]
fn attempts_do_not_count_while_the_asker_is_offline() {
    let place = TempDir::new().unwrap();
    let away = "parties={\"curator\": Party(), \"modeler\": Party(availability: Scheduled(switches: [\"95ms\", \"60s\"]))}";
    assert_eq!(ended(place.path(), &[away]), (0, 31));
    // The first attempt was sent before, and was the only one.
    assert_eq!(ended(place.path(), &[away, "protocol.retry.attempts=1"]).0, 1);
    // Offline from the beginning: nothing is sent before it is there.
    let late = "parties={\"curator\": Party(), \"modeler\": Party(availability: Scheduled(online: false, switches: [\"60s\"]))}";
    assert_eq!(ended(place.path(), &[late]), (0, 31));
    // One that never comes back gives up as before.
    let gone =
        "parties={\"curator\": Party(), \"modeler\": Party(availability: Scheduled(switches: [\"95ms\"]))}";
    assert_eq!(ended(place.path(), &[gone]).0, 1);
}

/// Ten attempts, one second apart, do not outlast a curator that is away for a minute; ten with doubled waits do: 1 s, and
/// at least half of 2, 4, 8, 16 and 4 times 32 s, which is 80 s.
#[test]
fn growing_waits_outlast_an_absence_of_the_one_that_is_asked() {
    let place = TempDir::new().unwrap();
    let away = "parties={\"curator\": Party(availability: Scheduled(switches: [\"95ms\", \"60s\"])), \"modeler\": Party()}";
    let ten = "protocol.retry.attempts=10";
    assert_eq!(ended(place.path(), &[away, ten]), (0, 31));
    assert_eq!(ended(place.path(), &[away, ten, "protocol.retry.backoff=Constant"]).0, 1);
}
