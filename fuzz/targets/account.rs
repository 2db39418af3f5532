//! Any text as a list of releases.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one door")]
mod doors;

use libfuzzer_sys::fuzz_target;


fuzz_target!(|text: &str| {
    let _ = doors::account(text);
});
