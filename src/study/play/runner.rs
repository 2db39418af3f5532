//! Plays the replications of a plan in parallel, and stores each when it ends; replications that are stored already are not
//! played again.

use crate::study::disk::answers;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::prepare::prepare_folder;
use crate::study::disk::store::{self, Segment, no_conflict};
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::{CellRunner, Preparation};
use crate::study::play::jobs::Jobs;
use crate::study::play::progress::{Failure, Options, Outcome, Progress, Start};
use crate::study::play::reuse;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Plays the replications of `plan` that are missing in `folder`, and stores them there. [`crate::study::finish`] writes the
/// other files.
///
/// # Errors
/// [`FolderError`] if the folder cannot be read or written; replications stored before are kept.
pub fn play(
    plan: &Plan,
    folder: &RunFolder,
    options: Options<'_>,
    progress: &dyn Progress,
) -> Result<Outcome, FolderError> {
    prepare_folder(plan, folder)?;
    let mut stored = folder.stored_records(&plan.identities())?;
    no_conflict(&stored)?;
    let damaged = stored.damaged;
    let segment = Segment::within(folder.file("segments"));
    let (reused, other_builds) = reuse::copy(plan, folder, &stored, &segment)?;
    if reused > 0 {
        stored = folder.stored_records(&plan.identities())?;
    }
    let missing = Jobs::missing(plan, &stored);
    let there = plan.total() - missing.len();
    progress.begin(&Start { to_play: missing.len(), there, reused, other_builds, damaged });

    let failures = Mutex::new(Vec::new());
    let floor = StudyPlayer::new(plan, folder, &missing);
    let one = |cell: usize, replication: u64| -> Result<bool, FolderError> {
        match floor.play(cell, replication) {
            Ok(line) => {
                segment.append(&line)?;
                answers::forget(folder, &plan.cells[cell].identity, replication);
                progress.done();
                Ok(true)
            }
            Err(failure) => {
                progress.failed(&failure);
                lock(&failures).push(failure);
                Ok(!options.fail_fast)
            }
        }
    };
    let played = in_parallel(options.threads, options.interrupted, &missing, &one);
    if folder.first_messages_are_damaged() && !options.interrupted.load(Ordering::Relaxed) {
        // The replication is played again only to store its first events; its record exists already.
        let runner = CellRunner::new(0, &plan.cells[0], plan, folder).repeating(None);
        if let Some(old) = stored.first(0)?.filter(|old| old.replication == 0) {
            drop(runner.play_again(&old));
        }
    }
    segment.close()?;
    let played = played?;

    let mut failures = failures.into_inner().expect("no holder of this lock panics");
    failures.sort_by_key(|failure: &Failure| (failure.cell, failure.replication));
    let finished = there + played - failures.len() as u64;
    Ok(if !failures.is_empty() {
        Outcome::Failed(failures)
    } else if finished < plan.total() {
        Outcome::Interrupted { finished, total: plan.total() }
    } else {
        Outcome::Complete
    })
}

/// Runs `one` for each job, in order, on several threads, until all are done, one returns `false` or an error, or the run is
/// interrupted. Returns the number of jobs for which `one` returned without an error.
pub(in crate::study) fn in_parallel(
    threads: usize,
    interrupted: &AtomicBool,
    jobs: &Jobs,
    one: &(dyn Fn(usize, u64) -> Result<bool, FolderError> + Sync),
) -> Result<u64, FolderError> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let trouble: Mutex<Option<FolderError>> = Mutex::default();
    let done = AtomicUsize::new(0);
    let work = || {
        while !stop.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
            let Some((cell, replication)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match one(cell, replication) {
                Ok(resume) => {
                    done.fetch_add(1, Ordering::Relaxed);
                    if !resume {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    lock(&trouble).get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..(thread_count(threads) as u64).min(jobs.len()) {
            // If the machine cannot start more threads, the existing ones continue.
            drop(std::thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    match trouble.into_inner().expect("no holder of this lock panics") {
        Some(error) => Err(error),
        None => Ok(done.into_inner() as u64),
    }
}

/// The number of threads requested; for 0, the number of CPUs that this process may use.
pub(in crate::study) fn thread_count(threads: usize) -> usize {
    if threads > 0 { threads } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// Plays the replications of all cells of a study. Cells share preparations, and a preparation is dropped after its last use.
#[derive(Debug)]
pub(in crate::study) struct StudyPlayer<'a> {
    plan: &'a Plan,
    folder: &'a RunFolder,
    preparations: BTreeMap<&'a str, Mutex<(Preparation, u64)>>,
}

impl<'a> StudyPlayer<'a> {
    pub(in crate::study) fn new(plan: &'a Plan, folder: &'a RunFolder, jobs: &Jobs) -> Self {
        let mut uses: BTreeMap<&str, u64> = BTreeMap::new();
        for run in jobs.runs() {
            *uses.entry(&plan.cells[run.cell].preparation).or_default() += run.count;
        }
        let shared = |(key, uses)| (key, Mutex::new((Preparation::default(), uses)));
        Self { plan, folder, preparations: uses.into_iter().map(shared).collect() }
    }

    /// Plays one of the jobs and returns its record as a line.
    pub(in crate::study) fn play(&self, cell: usize, replication: u64) -> Result<Vec<u8>, Failure> {
        let planned = &self.plan.cells[cell];
        let mut runner = CellRunner::new(cell, planned, self.plan, self.folder);
        let shared = self.preparations.get(planned.preparation.as_str());
        if let Some(shared) = shared {
            runner = runner.sharing(lock(shared).0.clone());
        }
        let played = runner.play(replication);
        if let Some(shared) = shared {
            let mut shared = lock(shared);
            shared.1 = shared.1.saturating_sub(1);
            if shared.1 == 0 {
                shared.0 = Preparation::default();
            }
        }
        let body = serde_json::to_string(&played?).expect("a record is plain data with text keys");
        Ok(store::line(cell, &body))
    }
}

pub(in crate::study) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
