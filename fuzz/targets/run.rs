//! A run's folder with one file replaced by any text: the first byte of the input chooses the file. The folder is the one
//! in `SUBROSA_FUZZ_RUN`, which `subrosa run tests/golden/federated.ron --replications 2` has made.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one door")]
mod doors;

use libfuzzer_sys::fuzz_target;
use std::path::Path;

const FILES: [&str; 5] = ["manifest.json", "summary.json", "records.jsonl", "scenario.ron", "opening.json"];

thread_local! {
    static PLACE: tempfile::TempDir = tempfile::TempDir::new().expect("a folder for temporary files");
}

fuzz_target!(|input: (u8, &str)| {
    let (file, text) = input;
    let run = std::env::var_os("SUBROSA_FUZZ_RUN").expect("SUBROSA_FUZZ_RUN names the folder of a run");
    PLACE.with(|place| {
        let file = FILES[usize::from(file) % FILES.len()];
        let _ = doors::run(&doors::changed_copy(Path::new(&run), place.path(), file, text));
    });
});
