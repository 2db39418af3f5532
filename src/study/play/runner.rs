//! Runs the replications of a plan in parallel, and stores each when it ends. A replication that is stored already is run
//! again only if missing branches of a fork start from it, or if the file of its first events is damaged.

use crate::study::disk::answers;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::prepare::prepare_folder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::disk::segment::Segment;
use crate::study::disk::store::{self, StoredRecords, no_conflict};
use crate::study::plan::cells::Plan;
use crate::study::play::branches::{self, Branches};
use crate::study::play::cell_runner::{CellRunner, Preparation};
use crate::study::play::jobs::Jobs;
use crate::study::play::progress::{Failure, Options, Outcome, Progress, Start};
use crate::study::play::reuse;
use crate::vocab::{Interruption, cores};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs the replications of `plan` that are missing in `folder`, and stores their records there. The branches of a fork are
/// run together, from the same state. [`crate::study::finish`] writes the other files.
///
/// # Errors
/// [`FolderError`] if the folder cannot be read or written, or if one replication has two different records; replications
/// stored before are kept.
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
    let finished = AtomicU64::new(there);
    let branches = plan.fork.as_ref().map(Branches::of);
    let jobs = branches.as_ref().map_or(missing, |branches| branches::jobs(plan, branches, &stored));
    let floor = StudyPlayer::new(plan, folder, &jobs, options.interrupted);
    let one = |cell: usize, replication: u64| -> Result<bool, FolderError> {
        let played = match &branches {
            None => vec![(cell, floor.play(cell, replication))],
            Some(branches) => floor.play_branches(branches, cell, replication, &stored)?,
        };
        let (mut whole, mut resume) = (true, true);
        for (of, result) in played {
            match result {
                Ok(line) => {
                    segment.append(&line)?;
                    finished.fetch_add(1, Ordering::Relaxed);
                    progress.done();
                }
                Err(failure) => {
                    whole = false;
                    if !failure.interrupted {
                        progress.failed(&failure);
                        lock(&failures).push(Failure { cell: of, ..failure });
                        resume &= !options.fail_fast;
                    }
                }
            }
        }
        if whole {
            answers::remove_answers(folder, &plan.cells[cell].identity, replication);
        }
        Ok(resume)
    };
    let played = in_parallel(options.threads, options.interrupted, &jobs, &one);
    segment.close()?;
    played?;
    if folder.first_messages_are_damaged() && !options.interrupted.is_requested() {
        // Replication 0 of the first cell is run again only to store its first events; its record exists already.
        let runner = CellRunner::new(0, &plan.cells[0], plan, folder).repeating(None);
        if let Some(old) = stored.first(0)?.filter(|old| old.replication == 0) {
            drop(runner.play_again(&old));
        }
    }

    let mut failures = failures.into_inner().expect("no holder of this lock panics");
    failures.sort_by_key(|failure: &Failure| (failure.cell, failure.replication));
    let (finished, total) = (finished.into_inner(), plan.total());
    let stopped = finished + (failures.len() as u64) < total && options.interrupted.is_requested();
    Ok(if stopped {
        Outcome::Interrupted { finished, total, failures }
    } else if failures.is_empty() {
        Outcome::Complete
    } else {
        Outcome::Failed(failures)
    })
}

/// Calls `one` for each job on several threads, which take the jobs in order. Ends when all jobs are done, when a call
/// returns `false` or an error, or when the run is interrupted.
pub(in crate::study) fn in_parallel(
    threads: usize,
    interrupted: &Interruption,
    jobs: &Jobs,
    one: &(dyn Fn(usize, u64) -> Result<bool, FolderError> + Sync),
) -> Result<(), FolderError> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let trouble: Mutex<Option<FolderError>> = Mutex::default();
    let work = || {
        while !stop.load(Ordering::Relaxed) && !interrupted.is_requested() {
            let Some((cell, replication)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match one(cell, replication) {
                Ok(true) => {}
                Ok(false) => stop.store(true, Ordering::Relaxed),
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
    trouble.into_inner().expect("no holder of this lock panics").map_or(Ok(()), Err)
}

/// The number of threads requested; for 0, the number of CPUs that this process may use.
pub(in crate::study) fn thread_count(threads: usize) -> usize {
    if threads > 0 { threads } else { cores() }
}

/// Runs the replications of all cells of a study. Cells whose objectives are prepared in the same way share the prepared
/// objective, which is dropped after its last use.
#[derive(Debug)]
pub(in crate::study) struct StudyPlayer<'a> {
    plan: &'a Plan,
    folder: &'a RunFolder,
    interrupted: &'a Interruption,
    preparations: BTreeMap<&'a str, Mutex<(Preparation, u64)>>,
}

/// The result of running a replication: its record as a line, or the reason why it has no record.
type Played = Result<Vec<u8>, Failure>;

impl<'a> StudyPlayer<'a> {
    pub(in crate::study) fn new(
        plan: &'a Plan,
        folder: &'a RunFolder,
        jobs: &Jobs,
        interrupted: &'a Interruption,
    ) -> Self {
        let mut uses: BTreeMap<&str, u64> = BTreeMap::new();
        for run in jobs.runs() {
            *uses.entry(&plan.cells[run.cell].preparation).or_default() += run.count;
        }
        let shared = |(key, uses)| (key, Mutex::new((Preparation::default(), uses)));
        Self { plan, folder, interrupted, preparations: uses.into_iter().map(shared).collect() }
    }

    /// Runs one of the jobs and returns its record as a line.
    pub(in crate::study) fn play(&self, cell: usize, replication: u64) -> Played {
        let played = self.with_runner(cell, |runner| runner.play(replication));
        played.map(|record| line_of(cell, &record))
    }

    /// Runs those branches of a job that have no record, and returns each result with the cell of its branch. The unchanged
    /// branch, whose cell is `cell`, is run first, even if it has a record.
    fn play_branches(
        &self,
        branches: &Branches,
        cell: usize,
        replication: u64,
        stored: &StoredRecords,
    ) -> Result<Vec<(usize, Played)>, FolderError> {
        let played = self.with_runner(cell, |runner| {
            branches::play(self.plan, branches, runner, (cell, replication), stored)
        })?;
        let line = |(cell, played): (usize, Result<ReplicationRecord, Failure>)| {
            (cell, played.map(|record| line_of(cell, &record)))
        };
        Ok(played.into_iter().map(line).collect())
    }

    fn with_runner<T>(&self, cell: usize, play: impl FnOnce(&CellRunner<'a>) -> T) -> T {
        let planned = &self.plan.cells[cell];
        let runner = CellRunner::new(cell, planned, self.plan, self.folder);
        let mut runner = runner.until_interrupted(self.interrupted);
        let shared = self.preparations.get(planned.preparation.as_str());
        if let Some(shared) = shared {
            runner = runner.sharing(lock(shared).0.clone());
        }
        let played = play(&runner);
        if let Some(shared) = shared {
            let mut shared = lock(shared);
            shared.1 = shared.1.saturating_sub(1);
            if shared.1 == 0 {
                shared.0 = Preparation::default();
            }
        }
        played
    }
}

fn line_of(cell: usize, record: &ReplicationRecord) -> Vec<u8> {
    store::line(cell, &serde_json::to_string(record).expect("a record is plain data with text keys"))
}

pub(in crate::study) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
