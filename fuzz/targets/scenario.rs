//! Any text as a scenario.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one door")]
mod doors;

use libfuzzer_sys::fuzz_target;


fuzz_target!(|text: &str| {
    let _ = doors::scenario(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios")), text);
});
