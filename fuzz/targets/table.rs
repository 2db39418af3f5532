//! Any text as a CSV table.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one of these functions")]
mod doors;
#[path = "../mutator.rs"]
mod mutator;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::sync::LazyLock;

thread_local! {
    static PLACE: tempfile::TempDir = tempfile::TempDir::new().expect("a folder for temporary files");
}

static CORPUS: LazyLock<Vec<String>> = LazyLock::new(|| mutator::corpus("table"));

fuzz_target!(|text: &str| {
    PLACE.with(|place| {
        let _ = doors::table(place.path(), text);
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(data, size, max_size, seed, 0, &CORPUS)
});
