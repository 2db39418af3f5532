//! A pool with the requested number of threads.

/// Calls `run` in a pool of `threads` threads, one per core if `None`; results do not depend on the number of threads.
pub(super) fn in_pool<T: Send>(threads: Option<u32>, run: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, |threads| threads as usize)).build() {
        Ok(pool) => pool.install(run),
        // If the machine cannot start threads, this thread does the work.
        Err(_) => run(),
    }
}
