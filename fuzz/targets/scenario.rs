//! Any text as a scenario.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one of these functions")]
mod doors;
#[path = "../mutator.rs"]
mod mutator;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::sync::LazyLock;

static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| mutator::corpus("scenario"));

fuzz_target!(|text: &str| {
    let _ = doors::scenario(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios")), text);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(data, size, max_size, seed, 0, &CORPUS)
});
