//! Plays a plan: replications in parallel, each finished one kept at once, what is there already not played again.

use super::folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder};
use super::jobs::Jobs;
use super::plan::Plan;
use super::store::{self, Archive, Segment};
use super::workshop::{Preparation, Workshop};
use super::{files, reuse};
use crate::rng::TREE_VERSION;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// What is shown while a study is played. Called from several threads.
pub trait Progress: Sync {
    /// What was found before the start.
    fn begin(&self, start: &Start);
    /// A replication is done.
    fn done(&self);
    /// A replication or a cell failed.
    fn failed(&self, failure: &Failure);
}

/// What there was before a study went on.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Replications to play.
    pub to_play: u64,
    /// Replications that are there already.
    pub there: u64,
    /// Of those, replications taken from earlier runs of other versions of this study.
    pub reused: u64,
    /// Earlier runs of this name of which nothing was taken, since another build of the program played them.
    pub other_builds: u64,
    /// Damaged records; their replications are played again.
    pub damaged: u64,
}

/// A replication that could not be played.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Position of the cell in the study.
    pub cell: usize,
    /// The cell's point.
    pub point: Vec<(String, String)>,
    /// Number of the replication; absent when the whole cell could not be prepared.
    pub replication: Option<u64>,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}", self.cell)?;
        for (name, value) in &self.point {
            write!(f, ", {name} = {value}")?;
        }
        if let Some(replication) = self.replication {
            write!(f, ", replication {replication}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// How a study ended.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was played.
    Complete,
    /// Some replications failed; all others were played, unless it was to stop at the first failure.
    Failed(Vec<Failure>),
    /// It was interrupted; what was finished is kept.
    Interrupted {
        /// Replications finished, earlier runs included.
        finished: u64,
        /// Replications in all.
        total: u64,
    },
}

/// How to play.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Number of threads; 0 for as many as the machine has.
    pub threads: usize,
    /// Whether to stop at the first failure.
    pub fail_fast: bool,
    /// Set from outside to stop after the replications that are being played.
    pub interrupted: &'a AtomicBool,
}

/// Plays into `folder` what is missing of `plan`. [`super::finish`] makes the rest of the files.
///
/// # Errors
/// [`FolderError`] when the folder cannot be read or written; what was finished before is kept.
pub fn play(
    plan: &Plan,
    folder: &RunFolder,
    options: Options<'_>,
    progress: &dyn Progress,
) -> Result<Outcome, FolderError> {
    prepare_folder(plan, folder)?;
    let mut archive = folder.archive(&plan.identities())?;
    no_conflict(&archive)?;
    let damaged = archive.damaged;
    let segment = Segment::within(folder.file("segments"));
    let (reused, other_builds) = reuse::copy(plan, folder, &archive, &segment)?;
    if reused > 0 {
        archive = folder.archive(&plan.identities())?;
    }
    let missing = Jobs::missing(plan, &archive);
    let there = plan.total() - missing.len();
    progress.begin(&Start { to_play: missing.len(), there, reused, other_builds, damaged });

    let failures = Mutex::new(Vec::new());
    let floor = Floor::new(plan, folder, &missing);
    let one = |cell: usize, replication: u64| -> Result<bool, FolderError> {
        match floor.play(cell, replication) {
            Ok(line) => {
                segment.append(&line)?;
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
    if folder.opening_is_damaged() && !options.interrupted.load(Ordering::Relaxed) {
        // Its picture is drawn anew; the record is there already.
        drop(Workshop::new(0, &plan.cells[0], plan, folder).play(0));
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

/// Takes jobs in order, on several threads, until they are done, one of them says stop (`false`), one cannot be kept,
/// or the interruption comes. Gives the number of jobs that were done.
pub(super) fn in_parallel(
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
                Ok(go_on) => {
                    done.fetch_add(1, Ordering::Relaxed);
                    if !go_on {
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
            // A machine that cannot start more threads goes on with those it has.
            drop(std::thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    match trouble.into_inner().expect("no holder of this lock panics") {
        Some(error) => Err(error),
        None => Ok(done.into_inner() as u64),
    }
}

/// Number of threads asked for; as many as the machine lets this process use for 0.
pub(super) fn thread_count(threads: usize) -> usize {
    if threads > 0 { threads } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// Where all cells of a study are played. Cells share preparations, and each is dropped after its last use.
#[derive(Debug)]
pub(super) struct Floor<'a> {
    plan: &'a Plan,
    folder: &'a RunFolder,
    preparations: BTreeMap<&'a str, Mutex<(Preparation, u64)>>,
}

impl<'a> Floor<'a> {
    pub(super) fn new(plan: &'a Plan, folder: &'a RunFolder, jobs: &Jobs) -> Self {
        let mut uses: BTreeMap<&str, u64> = BTreeMap::new();
        for run in jobs.runs() {
            *uses.entry(&plan.cells[run.cell].preparation).or_default() += run.count;
        }
        let shared = |(key, uses)| (key, Mutex::new((Preparation::default(), uses)));
        Self { plan, folder, preparations: uses.into_iter().map(shared).collect() }
    }

    /// Plays one of the jobs and gives its record as a line.
    pub(super) fn play(&self, cell: usize, replication: u64) -> Result<Vec<u8>, Failure> {
        let planned = &self.plan.cells[cell];
        let mut workshop = Workshop::new(cell, planned, self.plan, self.folder);
        let shared = self.preparations.get(planned.preparation.as_str());
        if let Some(shared) = shared {
            workshop = workshop.sharing(lock(shared).0.clone());
        }
        let played = workshop.play(replication);
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

/// Makes the folder and writes what is known before anything is played.
pub(super) fn prepare_folder(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    files::make_folder(folder.path())?;
    for place in ["", "fitted", "segments", "work", "work/claims", "work/results"] {
        files::clear(&folder.file(place));
    }
    let fresh = manifest(plan, None);
    // A complete run that is looked at again stays complete.
    let as_before = |old: Manifest| {
        serde_json::to_string(&Manifest { complete: false, digest: None, ..old }).ok()
            == serde_json::to_string(&fresh).ok()
    };
    if !folder.manifest()?.is_some_and(as_before) {
        folder.write_manifest(&fresh)?;
    }
    files::write(&folder.file("scenario.ron"), plan.source.as_bytes())?;
    write_resolved(plan, folder)
}

/// Refuses to go on where one replication has two results.
pub(super) fn no_conflict(archive: &Archive) -> Result<(), FolderError> {
    archive.conflicts.first().map_or(Ok(()), |first| Err(FolderError::Conflict(Box::new(first.clone()))))
}

pub(super) fn manifest(plan: &Plan, digest: Option<String>) -> Manifest {
    Manifest {
        folder_version: FOLDER_VERSION,
        subrosa: env!("CARGO_PKG_VERSION").to_owned(),
        build: plan.build.clone(),
        seed_tree: TREE_VERSION,
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        cpu: cpu().to_owned(),
        name: plan.name.clone(),
        seed: plan.seed,
        replications: plan.replications,
        base: plan.base.clone(),
        data: plan.data.clone(),
        overrides: plan.overrides.clone(),
        cells: plan
            .cells
            .iter()
            .map(|cell| CellManifest { point: cell.point.clone(), identity: cell.identity.clone() })
            .collect(),
        complete: digest.is_some(),
        digest,
    }
}

/// The widest instruction set that libraries may choose at run time.
fn cpu() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "x86-64-v4";
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return "x86-64-v3";
        }
    }
    "baseline"
}

pub(super) fn write_resolved(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    let mut staged = folder.stage("resolved.ron")?;
    if let [cell] = plan.cells.as_slice() {
        staged.write(cell.scenario.resolved().as_bytes())?;
    } else {
        staged.write(b"[\n")?;
        for (index, cell) in plan.cells.iter().enumerate() {
            let point: String =
                cell.point.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
            let comment = format!("// cell {index}{}\n", point.replace('\n', " "));
            staged.write(comment.as_bytes())?;
            staged.write(cell.scenario.resolved().trim_end().as_bytes())?;
            staged.write(b",\n")?;
        }
        staged.write(b"]\n")?;
    }
    Ok(staged.commit()?)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
