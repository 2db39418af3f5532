//! Any text as a CSV table.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one door")]
mod doors;

use libfuzzer_sys::fuzz_target;

thread_local! {
    static PLACE: tempfile::TempDir = tempfile::TempDir::new().expect("a folder for temporary files");
}

fuzz_target!(|text: &str| {
    PLACE.with(|place| { let _ = doors::table(place.path(), text); });
});
