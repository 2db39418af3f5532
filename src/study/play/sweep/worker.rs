//! A worker of a sweep: claims a block, runs it, writes its complete result, and continues with the next block.

use super::claims::{Claim, ClaimTable, Next};
use super::division::Division;
use super::error::SweepError;
use crate::study::disk::answers;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::{self, FileError, Staged, WriteResult};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::FailureRecord;
use crate::study::disk::store;
use crate::study::plan::cells::Plan;
use crate::study::play::progress::{Progress, Start};
use crate::study::play::runner::{StudyPlayer, lock, thread_count};
use crate::vocab::Interruption;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The times of heartbeats.
#[derive(Clone, Copy, Debug)]
pub struct HeartbeatTimes {
    /// Time between two heartbeats of a claim.
    pub heartbeat: Duration,
    /// Time without a heartbeat after which a claim is taken over. It should be several times `heartbeat`.
    pub dead_after: Duration,
}

/// Settings of a worker.
#[derive(Clone, Copy, Debug)]
pub struct WorkOptions<'a> {
    /// This worker's number, from 0, and the number of workers. They determine only the block with which the worker begins:
    /// every worker continues until no block is left.
    pub slot: (u64, u64),
    /// Number of threads; 0 for one thread per CPU that this process may use.
    pub threads: usize,
    /// The times of heartbeats.
    pub pace: HeartbeatTimes,
    /// The caller's request to stop after the replications that are running.
    pub interrupted: &'a Interruption,
}

/// The results of a worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerResult {
    /// Number of blocks whose result this worker was the first to write.
    pub blocks: u64,
    /// Number of blocks that another worker finished while this worker ran them, and whose two results do not contradict
    /// each other. The two results are equal, or they differ only in replications that failed in at least one of them.
    pub twice: u64,
    /// Number of replications in the blocks that this worker ran to the end, failed replications included.
    pub replications: u64,
    /// Number of failed replications among those that `replications` counts.
    pub failed: u64,
    /// Whether the worker was interrupted; its unfinished blocks are released.
    pub interrupted: bool,
    /// For each block whose result contradicts the result of another worker, the file with this worker's result. Two
    /// results contradict each other if they differ in a replication that failed in neither of them.
    pub conflicts: Vec<PathBuf>,
}

/// Runs blocks of the sweep in `folder` until no block is left.
///
/// # Errors
/// [`SweepError`] if `folder` has no plan of this study, if another build of the program made the plan, if a file cannot
/// be read or written, or if the thread of the heartbeats cannot be started.
pub fn work(
    plan: &Plan,
    folder: &RunFolder,
    options: WorkOptions<'_>,
    progress: &dyn Progress,
) -> Result<WorkerResult, SweepError> {
    if plan.build != plan.this_build() {
        let reason = "it was planned by another build of subrosa, and results of two builds are not mixed; work with \
                      that build, or make the plan anew with `subrosa cluster plan`";
        return Err(
            FolderError::Damaged { path: folder.file("manifest.json"), reason: reason.to_owned() }.into()
        );
    }
    let division = Division::of(plan, folder)?;
    let blocks = division.blocks();
    let (slot, slots) = (options.slot.0, options.slot.1.max(1));
    let start = (u128::from(slot % slots) * u128::from(blocks) / u128::from(slots)) as u64;
    let claims = ClaimTable::new(folder, blocks, start);
    let open = blocks - (claims.finished()?.len() as u64).min(blocks);
    let to_play = (division.total() as f64 * open as f64 / blocks.max(1) as f64).ceil() as u64;
    progress.begin(&Start { to_play, ..Start::default() });
    let state = WorkerState {
        player: StudyPlayer::new(plan, folder, &division.jobs(), options.interrupted),
        division,
        plan,
        folder,
        claims: Mutex::new(claims),
        worked: Mutex::default(),
        conflicts: folder.file("work").join("conflicts"),
        interrupted: options.interrupted,
        stop: AtomicBool::new(false),
        progress,
    };
    let trouble: Mutex<Option<FolderError>> = Mutex::default();
    let work_loop = || {
        if let Err(error) = state.work_loop(options.pace) {
            state.stop.store(true, Ordering::SeqCst);
            lock(&trouble).get_or_insert(error);
        }
    };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let heartbeats = std::thread::Builder::new().spawn_scoped(scope, || {
            let mut beat = 0;
            while !interruptible_sleep(options.pace.heartbeat, &|| ended.load(Ordering::SeqCst)) {
                beat += 1;
                lock(&state.claims).beat(beat);
            }
        });
        if let Err(error) = heartbeats {
            // Without heartbeats, other workers would take over the blocks of this worker.
            let error = FileError { doing: "start a thread for", path: folder.path().to_owned(), error };
            lock(&trouble).get_or_insert(error.into());
            return;
        }
        let others: Vec<_> = (1..thread_count(options.threads))
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work_loop).ok())
            .collect();
        work_loop();
        for other in others {
            other.join().expect("a worker thread does not panic");
        }
        ended.store(true, Ordering::SeqCst);
    });
    if let Some(error) = trouble.into_inner().expect("no holder of this lock panics") {
        return Err(error.into());
    }
    let mut worked = state.worked.into_inner().expect("no holder of this lock panics");
    worked.interrupted = options.interrupted.is_requested();
    Ok(worked)
}

/// Sleeps for `time`, in small steps; `true` if `woken` ended the sleep early.
fn interruptible_sleep(time: Duration, woken: &dyn Fn() -> bool) -> bool {
    let step = Duration::from_millis(20);
    let mut left = time;
    loop {
        if woken() {
            return true;
        }
        if left.is_zero() {
            return false;
        }
        let now = left.min(step);
        std::thread::sleep(now);
        left -= now;
    }
}

struct WorkerState<'a> {
    division: Division,
    player: StudyPlayer<'a>,
    plan: &'a Plan,
    folder: &'a RunFolder,
    claims: Mutex<ClaimTable>,
    worked: Mutex<WorkerResult>,
    conflicts: PathBuf,
    interrupted: &'a Interruption,
    stop: AtomicBool,
    progress: &'a dyn Progress,
}

impl WorkerState<'_> {
    /// The work of one thread until no block is left.
    fn work_loop(&self, pace: HeartbeatTimes) -> Result<(), FolderError> {
        let stopped = || self.interrupted.is_requested() || self.stop.load(Ordering::SeqCst);
        while !stopped() {
            let next = lock(&self.claims).next(pace.dead_after)?;
            match next {
                Next::Play(claim) => {
                    let whole = self.play(claim, &stopped);
                    let mut claims = lock(&self.claims);
                    match whole {
                        Ok(true) => claims.done(claim),
                        Ok(false) => claims.release(claim),
                        Err(error) => {
                            claims.release(claim);
                            return Err(error);
                        }
                    }
                }
                Next::Wait(_) => {
                    interruptible_sleep(pace.heartbeat.min(Duration::from_secs(1)), &stopped);
                }
                Next::Finished => break,
            }
        }
        Ok(())
    }

    /// Runs a block and writes its result. Returns `false`, and writes no result, if the worker was stopped before the end
    /// of the block.
    fn play(&self, claim: Claim, stopped: &dyn Fn() -> bool) -> Result<bool, FolderError> {
        let results = lock(&self.claims).results.clone();
        let path = results.join(format!("{}.jsonl", claim.block));
        let mut staged = Staged::new(&path)?;
        let (mut played, mut failed) = (0, 0);
        // The replications that failed. The answers of programs in these replications are kept.
        let mut kept = BTreeSet::new();
        for (cell, replication) in self.division.block(claim.block) {
            if stopped() {
                return Ok(false);
            }
            let line = match self.player.play(cell, replication) {
                Ok(line) => {
                    self.progress.done();
                    line
                }
                Err(failure) if failure.interrupted => return Ok(false),
                Err(failure) => {
                    self.progress.failed(&failure);
                    failed += 1;
                    kept.insert((cell, replication));
                    let identity = self.plan.cells[cell].identity.clone();
                    let record = FailureRecord { identity, replication, failure: failure.reason };
                    let body = serde_json::to_string(&record).expect("plain data with text keys");
                    store::line(cell, &body)
                }
            };
            played += 1;
            staged.write(&line)?;
        }
        files::make_folder(&self.conflicts)?;
        let aside = self.conflicts.join(format!("{}-{}.jsonl", claim.block, claim.generation));
        let placed = match staged.commit_or_compare(&aside)? {
            // The results may differ because replications failed in one of them, for instance because a data file was
            // missing. If the replications that finished in both results are equal, this is no conflict, and the result
            // with fewer failures is kept.
            WriteResult::Differs => {
                let (there, new) = (BlockResult::read(&path), BlockResult::read(&aside));
                let any_failed = there.failed > 0 || new.failed > 0;
                if !any_failed || there.contradicts(&new) {
                    WriteResult::Differs
                } else {
                    if new.failed < there.failed {
                        std::fs::rename(&aside, &path).map_err(|error| FileError {
                            doing: "write",
                            path,
                            error,
                        })?;
                    } else {
                        drop(std::fs::remove_file(&aside));
                    }
                    WriteResult::Same
                }
            }
            placed => placed,
        };
        for (cell, replication) in self.division.block(claim.block) {
            if !kept.contains(&(cell, replication)) {
                answers::remove_answers(self.folder, &self.plan.cells[cell].identity, replication);
            }
        }
        let mut worked = lock(&self.worked);
        worked.replications += played;
        worked.failed += failed;
        match placed {
            WriteResult::New => worked.blocks += 1,
            WriteResult::Same => worked.twice += 1,
            WriteResult::Differs => worked.conflicts.push(aside),
        }
        Ok(true)
    }
}

/// What the file with the result of a block holds.
#[derive(Debug, Default)]
struct BlockResult {
    /// Number of replications that failed.
    failed: u64,
    /// The seal (a hash) of the record of every replication that finished, by cell and replication.
    finished: BTreeMap<(usize, u64), u128>,
}

impl BlockResult {
    /// Reads a file; the result is empty if the file cannot be read.
    fn read(path: &Path) -> Self {
        let mut result = Self::default();
        let Ok(bytes) = std::fs::read(path) else { return result };
        for head in bytes.split(|&byte| byte == b'\n').filter_map(store::head) {
            if head.failed {
                result.failed += 1;
            } else {
                result.finished.insert((head.cell, head.replication), head.seal);
            }
        }
        result
    }

    /// Whether a replication finished in both results, but not with the same record.
    fn contradicts(&self, other: &Self) -> bool {
        let differs =
            |(key, seal): (&(usize, u64), &u128)| other.finished.get(key).is_some_and(|there| there != seal);
        self.finished.iter().any(differs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(folder: &Path, name: &str, lines: &[(u64, &str)]) -> BlockResult {
        let line = |(replication, rest): &(u64, &str)| {
            store::line(0, &format!("{{\"identity\":\"a\",\"replication\":{replication},{rest}}}"))
        };
        let path = folder.join(name);
        std::fs::write(&path, lines.iter().flat_map(line).collect::<Vec<u8>>()).unwrap();
        BlockResult::read(&path)
    }

    #[test]
    fn a_failure_hides_no_conflict_of_another_replication() {
        let folder = tempfile::tempdir().unwrap();
        let failure = "\"failure\":\"a file is missing\"";
        let partial = result(folder.path(), "partial", &[(0, "\"digest\":1"), (1, failure)]);
        let whole = result(folder.path(), "whole", &[(0, "\"digest\":1"), (1, "\"digest\":2")]);
        let other = result(folder.path(), "other", &[(0, "\"digest\":3"), (1, "\"digest\":2")]);
        assert_eq!((partial.failed, whole.failed, whole.finished.len()), (1, 0, 2));
        assert!(!partial.contradicts(&whole) && !whole.contradicts(&partial));
        assert!(partial.contradicts(&other) && other.contradicts(&partial));
    }
}
