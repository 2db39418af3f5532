//! What a simulation keeps in memory, counted by an allocator of the tests' own.

#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/star.rs"]
mod star;
#[path = "../support/words.rs"]
mod words;

mod kernel_steady;
mod scale;
