//! A run's folder with one file replaced by any text: the first byte of the input chooses the file. The environment
//! variable `SUBROSA_FUZZ_RUN` names the folder, which `subrosa run tests/golden/federated.ron --replications 2` has made.

#![no_main]

#[path = "../doors.rs"]
#[allow(dead_code, reason = "each target uses one of these functions")]
mod doors;
#[path = "../mutator.rs"]
mod mutator;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The files. For the last one the seals are computed again, so that a changed record is not refused because of its seal,
/// and all its fields are read.
const FILES: [&str; 6] =
    ["manifest.json", "summary.json", "records.jsonl", "scenario.ron", "opening.json", "records.jsonl"];

/// A copy of the run's folder, made once, and the original texts of its files.
static COPY: LazyLock<(tempfile::TempDir, PathBuf, Vec<String>)> = LazyLock::new(|| {
    let run = PathBuf::from(
        std::env::var_os("SUBROSA_FUZZ_RUN").expect("SUBROSA_FUZZ_RUN names the folder of a run"),
    );
    let place = tempfile::TempDir::new().expect("a folder for temporary files");
    let texts: Vec<String> =
        FILES.iter().map(|file| fs::read_to_string(run.join(file)).expect("a file of the run")).collect();
    let copy = doors::changed_copy(&run, place.path(), FILES[0], &texts[0]);
    (place, copy, texts)
});

fuzz_target!(|input: (u8, &str)| {
    let (_, copy, texts) = &*COPY;
    let chosen = usize::from(input.0) % FILES.len();
    let sealed = (chosen == FILES.len() - 1).then(|| doors::sealed(input.1));
    fs::write(copy.join(FILES[chosen]), sealed.as_deref().unwrap_or(input.1)).expect("a file to write");
    let _ = doors::run(copy);
    fs::write(copy.join(FILES[chosen]), &texts[chosen]).expect("a file to write");
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutator::mutate(data, size, max_size, seed, 1, &COPY.2)
});
