//! The event loop against bare heaps, `simcore` and `nexosim` in one run: PHOLD, a star, and laws of delay that break
//! calendar queues. Every engine does the same work per event ([`load`]).
//!
//!   cargo bench -p subrosa-benches --bench kernel                 the whole table
//!   cargo bench -p subrosa-benches --bench kernel -- quick        a tenth of the events
//!   cargo bench -p subrosa-benches --bench kernel -- star         only the loads whose name has "star"
//!   cargo bench -p subrosa-benches --bench kernel -- PHOLD ours   only this engine: for a profiler

mod heaps;
mod load;
mod ours;
mod peers;
mod watch;
#[path = "../../tests/support/words.rs"]
mod words;

use load::{Law, Load, PARTIES};

const ENGINES: [&str; 7] = ["ours", "digest", "floor", "heap", "4-ary", "simcore", "nexosim"];
const TURNS: usize = 5;

/// Messages per second of one engine; `None` where it cannot play the load.
fn measure(engine: &str, load: Load, events: u64) -> Option<f64> {
    Some(match engine {
        "ours" => ours::run(load, events, false),
        "digest" => ours::run(load, events, true),
        "floor" => heaps::floor(load, events),
        "heap" => heaps::run::<heaps::Bare>(load, events),
        "4-ary" => heaps::run::<heaps::Packed>(load, events),
        "simcore" => peers::simcore(load, events),
        // The slowest; enough for a rate. It knows no delay of zero.
        _ if matches!(load, Load::Phold(Law::HalfZero)) => return None,
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
    let loads = [
        ("PHOLD, exponential", Load::Phold(Law::Exponential), events),
        ("star, 500 rounds", Load::Star, 2 * u64::from(PARTIES - 1) * rounds),
        ("constant", Load::Phold(Law::Constant), events),
        ("half zero", Load::Phold(Law::HalfZero), events),
        ("bimodal", Load::Phold(Law::Bimodal), events),
        ("Pareto 1.1", Load::Phold(Law::Pareto), events),
    ];
    println!(
        "million messages per CPU second, best of {TURNS}; x: how many times as fast ours is, digest off"
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
        best[3..].iter().for_each(|rate| print!(" {:>9}", show(over(best[0], *rate))));
        // Two journal events per message: sent and delivered.
        let price = best[1].zip(best[0]).map(|(digest, plain)| (1e3 / digest - 1e3 / plain) / 2.0);
        println!(" {:>9}", show(price));
    }
}
