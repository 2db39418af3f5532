//! Threads for loops whose steps do not depend on each other.

use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

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

/// The results of two steps. In a pool of several threads, another thread may compute the second step while this thread
/// computes the first; otherwise, the first is computed before the second.
pub(crate) fn both<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    if at_once() > 1 { rayon::join(first, second) } else { (first(), second()) }
}

/// Number of steps that [`in_order`] computes at the same time: the number of the pool's threads, or 1 outside of a pool.
pub(crate) fn at_once() -> usize {
    if rayon::current_thread_index().is_some() { rayon::current_num_threads() } else { 1 }
}

/// A result that another thread of the pool may compute while this thread goes on.
#[derive(Debug)]
pub(crate) struct Pending<T>(Receiver<thread::Result<T>>);

impl<T: Send + 'static> Pending<T> {
    /// The result of `step`. In a pool of several threads, the first idle thread computes it; otherwise, this thread
    /// computes it at once. `step` must not wait for a `Pending` that was made outside of it: the computation
    /// of that one may be interrupted below `step` on the same thread, and then neither could go on.
    pub(crate) fn of(step: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        // Nobody receives the result of a `Pending` that was dropped.
        let run = move || drop(sender.send(catch_unwind(AssertUnwindSafe(step))));
        if at_once() > 1 {
            rayon::spawn(run)
        } else {
            run()
        }
        Self(receiver)
    }

    /// Waits for the result. Meanwhile this thread computes what waits for a thread of the pool.
    ///
    /// # Panics
    /// If `step` panicked.
    pub(crate) fn wait(self) -> T {
        let result = loop {
            if let Ok(result) = self.0.try_recv() {
                break result;
            }
            // If nothing waits for a thread, another thread is computing the result.
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                break self.0.recv().expect("`of` sends a result in every case");
            }
        };
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
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

    #[test]
    fn pending_results_and_pairs_are_those_of_their_steps() {
        let numbers = || {
            let pending: Vec<Pending<u64>> = (0..100).map(|item| Pending::of(move || item * item)).collect();
            // A `Pending` can be dropped without `wait`.
            drop(Pending::of(|| 7));
            both(
                || pending.into_iter().map(Pending::wait).sum::<u64>(),
                || Pending::of(|| Pending::of(|| 3).wait()).wait(),
            )
        };
        let squares = (0..100).map(|item| item * item).sum();
        assert_eq!(numbers(), (squares, 3));
        for threads in [1, 2] {
            assert_eq!(in_pool(threads, numbers), (squares, 3));
        }
    }

    #[test]
    fn a_panic_of_a_pending_step_is_one_of_the_thread_that_waits() {
        for threads in [1, 2] {
            let panic =
                catch_unwind(|| in_pool(threads, || Pending::<()>::of(|| panic!("no result")).wait()));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no result"), "{threads} threads");
        }
    }
}
