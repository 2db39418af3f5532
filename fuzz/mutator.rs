//! The mutator of the fuzz targets: half of all mutations are the edits of `edits.rs`, the others are libFuzzer's own.
//! After such an edit, a text can be parsed far more often than after a changed byte, so that the code behind the parser is
//! reached.

#[path = "edits.rs"]
mod edits;

use libfuzzer_sys::fuzzer_mutate;
use std::fs;
use std::path::Path;
use subrosa::rng::Key;

/// The texts of a corpus folder, from which edits copy pieces.
pub fn corpus(kind: &str) -> Vec<String> {
    let entries =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(kind)).expect("a corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// Changes the first `size` bytes, of which the first `head` are no text, and returns the new size, at most `max`.
pub fn mutate(data: &mut [u8], size: usize, max: usize, seed: u32, head: usize, others: &[String]) -> usize {
    let text = data[..size].get(head..).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(text) = text.filter(|text| !text.is_empty() && seed % 2 == 0) else {
        return fuzzer_mutate(data, size, max);
    };
    let edited = edits::mutated(text, others, &mut Key::root(seed.into()).stream());
    if head + edited.len() > max {
        return fuzzer_mutate(data, size, max);
    }
    data[head..head + edited.len()].copy_from_slice(edited.as_bytes());
    head + edited.len()
}
