//! Memory per idle party, by a counting allocator: a star of the scenario's network with names, traits and streams of
//! draws for each link; the kernel alone; and parties that do nothing on the engines that are crates.
//!
//!   cargo bench -p subrosa-benches --bench memory                a hundred thousand parties
//!   cargo bench -p subrosa-benches --bench memory -- 1000000     a million
//!
//! `simcore` keeps a name, a context and a handler for each party; `nexosim` a model and a mailbox of the default size.

#[path = "../../tests/support/counting.rs"]
mod counting;
mod peers;
#[path = "../../tests/support/star.rs"]
mod star;
#[path = "../../tests/support/words.rs"]
mod words;

use subrosa::kernel::{Party, PerfectMedium, Simulation};

/// Bytes per party without a network.
fn kernel_alone(parties: u32) -> usize {
    let before = counting::now();
    let leaves = (0..parties).map(|_| -> Box<dyn Party<words::World>> { Box::new(star::Leaf) });
    let simulation = Simulation::new(leaves.collect(), PerfectMedium);
    let bytes = counting::now() - before;
    drop(simulation);
    bytes / parties as usize
}

fn main() {
    let parties = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    println!("{parties} parties, bytes per idle party:");
    let (idle, most) = star::star(parties);
    println!("  subrosa, star {idle:>6}   (with one broadcast and all replies {} MiB at most)", most >> 20);
    println!("  kernel alone  {:>6}", kernel_alone(parties));
    println!("  simcore       {:>6}", peers::simcore(parties));
    println!("  nexosim       {:>6}", peers::nexosim(parties));
}
