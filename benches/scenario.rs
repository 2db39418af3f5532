//! Reading a study of 600 cells beside what its typed reading alone, and RON, take for the same text, in one run.
//!
//! `cargo bench -p subrosa-benches --bench scenario`. Times are processor time of the fastest of several turns; only ratios
//! mean something on a busy machine.

use cpu_time::ProcessTime;
use ron::extensions::Extensions;
use std::hint::black_box;
use std::path::Path;
use subrosa::objectives::Resources;
use subrosa::scenario::{Document, Draft, part};

/// Values of the two settings that vary.
const ROUNDS: usize = 30;
const LOSSES: usize = 20;
/// Turns, of which the fastest counts.
const TURNS: usize = 7;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let options = ron::Options::default()
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES | Extensions::IMPLICIT_SOME);
    let rounds: Vec<String> = (1..=ROUNDS).map(|round| round.to_string()).collect();
    let losses: Vec<String> = (0..LOSSES).map(|loss| format!("{:.2}", loss as f64 / 50.0)).collect();
    let study = text(
        &format!("Each(\"rounds\", [{}])", rounds.join(", ")),
        &format!("Each(\"loss\", [{}])", losses.join(", ")),
    );
    let each: Vec<String> =
        losses.iter().flat_map(|loss| rounds.iter().map(|round| text(round, loss))).collect();
    let resources = Resources::default();
    let document = Document::from_text(Path::new("study.ron"), study);
    let count = document.cells(&[], &resources).expect("a valid study").len();
    assert_eq!(count, ROUNDS * LOSSES);
    let whole = least(|| document.cells(&[], &resources).expect("a valid study").len());
    let single = Document::from_text(Path::new("cell.ron"), each[0].clone());
    let one = least(|| (0..100).map(|_| single.cells(&[], &resources).expect("valid").len()).sum::<usize>())
        / 100.0;
    let typed = least(|| each.iter().filter(|text| part::<Draft>(text).is_ok()).count());
    assert!(part::<Draft>(&each[0]).is_ok(), "a cell alone is a scenario");
    let values = least(|| each.iter().filter(|text| options.from_str::<ron::Value>(text).is_ok()).count());
    let cells = count as f64;
    println!("a text of {} bytes, {count} cells; microseconds of processor time a cell", each[0].len());
    println!("  expanded, typed, checked (Document::cells)      {:>9.1}", 1e6 * whole / cells);
    println!("  a scenario of one cell, the same                {:>9.1}", 1e6 * one);
    println!(
        "  read into the typed draft alone, cell by cell   {:>9.1}   ratio {:.2}",
        1e6 * typed / cells,
        whole / typed
    );
    println!(
        "  plain RON into untyped values, cell by cell     {:>9.1}   ratio {:.2}",
        1e6 * values / cells,
        whole / values
    );
}

/// Seconds of the fastest turn.
fn least<T>(mut run: impl FnMut() -> T) -> f64 {
    let once = |()| {
        let start = ProcessTime::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    std::iter::repeat_n((), TURNS).map(once).fold(f64::INFINITY, f64::min)
}

fn text(rounds: &str, loss: &str) -> String {
    format!(
        r#"Scenario(
    name: "study", about: "A hospital has a lab search its records.", seed: 7, replications: 100,
    parties: {{
        "hospital": Party(compute: Drawn(time: Exponential(mean: "20ms"))),
        "lab": Party(availability: OnOff(online: Exponential(mean: "5min"), offline: Exponential(mean: "10s"))),
    }},
    network: Network(
        topology: Mesh(),
        default: Link(latency: LogNormal(median: "40ms", sigma: 0.5), loss: Independent({loss})),
    ),
    objective: BraninHoo(grid: [20, 20]),
    protocol: Outsourced(
        curator: "hospital", modeler: "lab", rounds: {rounds},
        series: [
            Series(name: "as it is", release: Disclosure(), learner: GpUcb()),
            Series(name: "projected", release: JohnsonLindenstrauss(epsilon: 1.5, delta: 1e-5, r: 2), learner: GpUcb()),
            Series(name: "noisy rows", release: NoisyRows(epsilon: 2, delta: 1e-5), learner: ThompsonSampling()),
            Series(name: "at random", release: Withheld(), learner: Random()),
        ],
    ),
    privacy: Privacy(delta: 1e-5),
)"#
    )
}
