//! The event loop against bare heaps, `desque`, `simcore` and `nexosim` in one run: PHOLD from 10 to 1,000,000 parties, a
//! ring, a star, and laws of delay that break calendar queues. Every engine does the same work per event ([`load`]).
//!
//!   cargo bench -p subrosa-benches --bench kernel                 the whole table
//!   cargo bench -p subrosa-benches --bench kernel -- quick        a tenth of the events
//!   cargo bench -p subrosa-benches --bench kernel -- star         only the loads whose name has "star"
//!   cargo bench -p subrosa-benches --bench kernel -- PHOLD ours   only this engine: for a profiler

mod desque;
mod heaps;
mod load;
mod ours;
mod peers;
mod watch;
#[path = "../../tests/support/words.rs"]
mod words;

use load::{Law, Load, Pattern};

const ENGINES: [&str; 8] = ["ours", "digest", "floor", "heap", "4-ary", "desque", "simcore", "nexosim"];
/// Largest number of parties for nexosim, whose models take kilobytes each.
const NEXOSIM_PARTIES: u32 = 100_000;
const TURNS: usize = 5;

/// Messages per second of one engine; `None` where it cannot play the load.
fn measure(engine: &str, load: Load, events: u64) -> Option<f64> {
    Some(match engine {
        "ours" => ours::run(load, events, false),
        "digest" => ours::run(load, events, true),
        "floor" => heaps::floor(load, events),
        "heap" => heaps::run::<heaps::Bare>(load, events),
        "4-ary" => heaps::run::<heaps::Packed>(load, events),
        "desque" => desque::run(load, events),
        "simcore" => peers::simcore(load, events),
        // The slowest; enough for a rate. It knows no delay of zero.
        _ if matches!(load.law, Law::HalfZero) || load.parties > NEXOSIM_PARTIES => return None,
        _ => peers::nexosim(load, events / 10),
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let quick = arguments.iter().any(|argument| argument == "quick");
    let engine = arguments.iter().find(|argument| ENGINES.contains(&argument.as_str()));
    let only = arguments.iter().find(|argument| *argument != "quick" && Some(*argument) != engine);
    let events = if quick { 200_000 } else { 2_000_000 };
    let rounds = if quick { 50 } else { 500 };
    let phold = |law, parties| Load { pattern: Pattern::Phold, law, parties };
    let ring = |parties| Load { pattern: Pattern::Ring, law: Law::Exponential, parties };
    let star = |parties| Load { pattern: Pattern::Star, law: Law::Exponential, parties };
    let loads = [
        ("PHOLD, exponential", phold(Law::Exponential, 1_000), events),
        ("star, 500 rounds", star(1_000), 2 * 999 * rounds),
        ("constant", phold(Law::Constant, 1_000), events),
        ("half zero", phold(Law::HalfZero, 1_000), events),
        ("bimodal", phold(Law::Bimodal, 1_000), events),
        ("Pareto 1.1", phold(Law::Pareto, 1_000), events),
        ("PHOLD, 10", phold(Law::Exponential, 10), events),
        ("ring, 10", ring(10), events),
        ("star, 10", star(10), events),
        ("PHOLD, 100", phold(Law::Exponential, 100), events),
        ("PHOLD, 100,000", phold(Law::Exponential, 100_000), events),
        ("PHOLD, 1,000,000", phold(Law::Exponential, 1_000_000), events),
    ];
    println!(
        "million messages per CPU second, best of {TURNS}; x: how many times as fast ours is, digest on"
    );
    print!("{:<19}", "");
    ENGINES.iter().for_each(|engine| print!(" {engine:>7}"));
    ENGINES[3..].iter().for_each(|engine| print!(" {:>9}", format!("x {engine}")));
    println!(" {:>9}", "digest ns");
    for (name, load, events) in loads {
        if only.is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        // What an engine can do when the machine leaves it alone, in turns.
        let mut best = [None::<f64>; ENGINES.len()];
        for _ in 0..TURNS {
            for (best, name) in best.iter_mut().zip(ENGINES) {
                if engine.is_none_or(|engine| engine == name) {
                    let rate = measure(name, load, events).map(|rate| rate / 1e6);
                    *best = best.map_or(rate, |best| rate.map(|rate| rate.max(best)));
                }
            }
        }
        let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let over = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
        print!("{name:<19}");
        best.iter().for_each(|rate| print!(" {:>7}", show(*rate)));
        best[3..].iter().for_each(|rate| print!(" {:>9}", show(over(best[1], *rate))));
        // Two journal events per message: sent and delivered.
        let price = best[1].zip(best[0]).map(|(digest, plain)| (1e3 / digest - 1e3 / plain) / 2.0);
        println!(" {:>9}", show(price));
    }
}
