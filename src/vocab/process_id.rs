//! The number of this process, for the names of files that several processes may write.

/// The number that the operating system gave to this process. It is 0 on WASI, where processes have none and nobody else
/// writes the files.
#[must_use]
pub fn process_id() -> u32 {
    if cfg!(target_os = "wasi") { 0 } else { std::process::id() }
}
