//! What a simulation keeps in memory, counted by an allocator of the tests' own.

#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/star.rs"]
mod star;
#[path = "../support/words.rs"]
mod words;

/// Held by tests that count the bytes of the whole process.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

mod estimates;
mod kernel_steady;
mod replications;
mod scale;
