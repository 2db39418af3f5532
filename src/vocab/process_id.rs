//! The number of this process, for the names of files that several processes may write.

/// The number that the operating system gave to this process. On WASI, where processes have no number and no other process
/// writes the files, it is 0.
#[must_use]
pub fn process_id() -> u32 {
    if cfg!(target_os = "wasi") { 0 } else { std::process::id() }
}
