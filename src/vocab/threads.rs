//! Threads for loops whose steps do not depend on each other.

use rayon::prelude::*;

/// Number of CPUs that this process may use, at least 1.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `run` in a pool of `threads` threads, but at most one per core; 0 stands for one per core. Results do not depend
/// on the number of threads. If the machine cannot start the threads, the calling thread is the whole pool.
pub fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let count = if threads == 0 { cores() } else { threads.min(cores()) };
    let builder = || rayon::ThreadPoolBuilder::new();
    let pool = builder().num_threads(count).build();
    match pool.or_else(|_| builder().num_threads(1).use_current_thread().build()) {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

/// The result of `step` for each item, in the order of the items. Inside of [`in_pool`], the pool's threads share the
/// items. Outside, this thread takes them all, and rayon's global pool is not started. That pool ends the program if the
/// machine cannot start a thread for each core, and its threads are missing after a fork of the process.
pub(crate) fn in_order<T: Send, R: Send>(items: Vec<T>, step: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if rayon::current_thread_index().is_some() {
        items.into_par_iter().map(step).collect()
    } else {
        items.into_iter().map(step).collect()
    }
}

/// Number of steps that [`in_order`] computes at the same time: the number of the pool's threads, or 1 outside of a pool.
pub(crate) fn at_once() -> usize {
    if rayon::current_thread_index().is_some() { rayon::current_num_threads() } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread;

    fn threads_of(count: u64) -> (Vec<u64>, BTreeSet<String>) {
        let name = || format!("{:?}", thread::current().id());
        in_order((0..count).collect(), |item| (item * item, name())).into_iter().unzip()
    }

    #[test]
    fn results_have_the_order_of_the_items() {
        let squares: Vec<u64> = (0..1000).map(|item| item * item).collect();
        let (found, names) = threads_of(1000);
        assert_eq!(
            (found, names),
            (squares.clone(), BTreeSet::from([format!("{:?}", thread::current().id())]))
        );
        for threads in [0, 1, 2, 1000] {
            let (found, names) = in_pool(threads, || threads_of(1000));
            assert_eq!(found, squares);
            assert!(threads == 0 || names.len() <= threads, "{names:?}");
        }
    }
}
