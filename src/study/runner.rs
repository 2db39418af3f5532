//! Plays a plan: replications in parallel, each finished one kept at once, what is there already not played again.

use super::files;
use super::folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder, pretty};
use super::opening::{self, Opening};
use super::plan::{CellPlan, Plan};
use super::record::{ReplicationRecord, digest_of};
use super::tables;
use crate::objectives::{Instance, Prepared, Resources};
use crate::protocols::{Directions, Kept, Stage, Watcher};
use crate::rng::{Key, TREE_VERSION};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What is shown while a study is played. Called from several threads.
pub trait Progress: Sync {
    /// So many replications are to be played; so many were there already.
    fn begin(&self, to_play: u64, there: u64);
    /// A replication is done.
    fn done(&self);
    /// A replication or a cell failed.
    fn failed(&self, failure: &Failure);
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
    /// Some replications failed; all others were played.
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
    /// Set from outside to stop after the replications that are being played.
    pub interrupted: &'a AtomicBool,
}

/// The records of a study: one map per cell, by number of the replication.
pub type Records = Vec<BTreeMap<u64, ReplicationRecord>>;

/// Plays `plan` into `folder`.
///
/// # Errors
/// [`FolderError`] when the folder cannot be read or written; what was finished before is kept.
pub fn play(
    plan: &Plan,
    folder: &RunFolder,
    options: Options<'_>,
    progress: &dyn Progress,
) -> Result<(Records, Outcome), FolderError> {
    files::make_folder(folder.path())?;
    folder.write_manifest(&manifest(plan, None))?;
    files::write(&folder.file("scenario.ron"), plan.source.as_bytes())?;
    write_resolved(plan, folder)?;

    let mut records = there_already(plan, folder)?;
    let missing: Vec<(usize, u64)> = (0..plan.cells.len())
        .flat_map(|cell| (0..plan.replications).map(move |replication| (cell, replication)))
        .filter(|(cell, replication)| !records[*cell].contains_key(replication))
        .collect();
    let total = plan.replications * plan.cells.len() as u64;
    progress.begin(missing.len() as u64, total - missing.len() as u64);

    let workshops: Vec<Workshop<'_>> =
        plan.cells.iter().enumerate().map(|(index, cell)| Workshop::new(index, cell, plan, folder)).collect();
    let kept: Mutex<Vec<(usize, ReplicationRecord)>> = Mutex::default();
    let failures: Mutex<Vec<Failure>> = Mutex::default();
    let trouble: Mutex<Option<FolderError>> = Mutex::default();
    let stop = AtomicBool::new(false);
    let one = |&(cell, replication): &(usize, u64)| {
        if options.interrupted.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) {
            return;
        }
        // How the study's first replication begins is kept for a picture of it.
        let beginning = (cell == 0 && replication == 0).then(|| workshops[cell].beginning()).flatten();
        let watcher = beginning.as_ref().map(|(_, watcher, _)| watcher.clone());
        match workshops[cell].play_watched(replication, watcher) {
            Ok(record) => match folder.keep(cell, &record).and_then(|()| match &beginning {
                Some((series, _, events)) => {
                    let (series, events) = (series.clone(), events.borrow().clone());
                    let names = workshops[cell].names();
                    folder.keep_opening(cell, &Opening { series, replication, names, events })
                }
                None => Ok(()),
            }) {
                Ok(()) => {
                    lock(&kept).push((cell, record));
                    progress.done();
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    lock(&trouble).get_or_insert(error);
                }
            },
            Err(failure) => {
                progress.failed(&failure);
                lock(&failures).push(failure);
            }
        }
    };
    match rayon::ThreadPoolBuilder::new().num_threads(options.threads).build() {
        // One job per replication, taken in order, so that early cells are finished first.
        Ok(pool) => pool.install(|| missing.par_iter().with_max_len(1).for_each(one)),
        // A machine that cannot start threads can still play one replication after another.
        Err(_) => missing.iter().for_each(one),
    }
    if let Some(error) = unlock(trouble) {
        return Err(error);
    }
    for (cell, record) in unlock(kept) {
        records[cell].insert(record.replication, record);
    }
    let mut failures = unlock(failures);
    failures.sort_by_key(|failure| (failure.cell, failure.replication));

    for (index, cell_records) in records.iter().enumerate() {
        if cell_records.len() as u64 == plan.replications {
            folder.complete_cell(index, cell_records)?;
            tables::write(folder, index, cell_records)?;
        }
    }
    let finished = records.iter().map(|cell| cell.len() as u64).sum();
    let outcome = if finished == total {
        let digest = digest_of(records.iter().flat_map(BTreeMap::values));
        folder.write_manifest(&manifest(plan, Some(digest)))?;
        Outcome::Complete
    } else if failures.is_empty() {
        Outcome::Interrupted { finished, total }
    } else {
        Outcome::Failed(failures)
    };
    Ok((records, outcome))
}

/// Where the replications of one cell are made: what they share is prepared once, when first needed.
#[derive(Debug)]
pub(super) struct Workshop<'a> {
    index: usize,
    cell: &'a CellPlan,
    resources: Resources,
    root: Key,
    folder: Option<&'a RunFolder>,
    prepared: OnceLock<Result<Option<Arc<dyn Prepared>>, String>>,
}

impl<'a> Workshop<'a> {
    pub(super) fn new(index: usize, cell: &'a CellPlan, plan: &'a Plan, folder: &'a RunFolder) -> Self {
        let root = Key::root(plan.seed);
        Self {
            index,
            cell,
            resources: resources(plan),
            root,
            folder: Some(folder),
            prepared: OnceLock::new(),
        }
    }

    /// A workshop that neither reads nor keeps fitted values.
    pub(super) fn without_folder(index: usize, cell: &'a CellPlan, plan: &'a Plan) -> Self {
        let root = Key::root(plan.seed);
        Self { index, cell, resources: resources(plan), root, folder: None, prepared: OnceLock::new() }
    }

    /// The name of the first series, a watcher that keeps its first events, and where it keeps them.
    fn beginning(&self) -> Option<(String, Watcher, Kept)> {
        let series = self.cell.scenario.draft.protocol.as_dyn().series().into_iter().next()?;
        let (watcher, events) = Watcher::of_beginning(series.clone(), opening::MOST_EVENTS);
        Some((series, watcher, events))
    }

    /// Names of the parties by their index.
    fn names(&self) -> Vec<String> {
        self.cell.scenario.stage(None).names
    }

    /// The workshop of another cell with the same objective.
    pub(super) fn beside(&self, cell: &'a CellPlan) -> Self {
        Self {
            index: self.index,
            cell,
            resources: self.resources.clone(),
            root: self.root,
            folder: self.folder,
            prepared: self.prepared.clone(),
        }
    }

    /// Plays one replication for somebody who watches.
    ///
    /// # Errors
    /// [`Failure`] names cell, replication and reason.
    pub(super) fn play_watched(
        &self,
        replication: u64,
        watcher: Option<Watcher>,
    ) -> Result<ReplicationRecord, Failure> {
        self.play_directed(replication, watcher, Directions::default())
    }

    /// Plays one replication, or what `directions` want of it.
    ///
    /// # Errors
    /// [`Failure`] names cell, replication and reason.
    pub(super) fn play_directed(
        &self,
        replication: u64,
        watcher: Option<Watcher>,
        directions: Directions,
    ) -> Result<ReplicationRecord, Failure> {
        let failure = |replication, reason: String| Failure {
            cell: self.index,
            point: self.cell.point.clone(),
            replication,
            reason,
        };
        let scenario = &self.cell.scenario;
        let protocol = scenario.draft.protocol.as_dyn();
        let blank = directions.dry && !protocol.dry_needs_objective();
        let prepared = if blank {
            &None
        } else {
            let prepared = self.prepared.get_or_init(|| self.prepare());
            prepared.as_ref().map_err(|reason| failure(None, reason.clone()))?
        };
        let key = self.root.child("replication").index(replication);
        let fail = |reason| failure(Some(replication), reason);
        let instance = prepared
            .as_ref()
            .map(|prepared| prepared.realise(key.child("objective")))
            .transpose()
            .map_err(|error| fail(error.to_string()))?;
        let instance = if blank { Some(Instance::stand_in()) } else { instance };
        let mut stage = Stage { watcher, directions, prepared: prepared.clone(), ..scenario.stage(instance) };
        if stage.directions.dry {
            stage.budget = None;
        }
        let series = protocol.play(&stage, key).map_err(|error| fail(error.to_string()))?;
        Ok(ReplicationRecord { identity: self.cell.identity.clone(), replication, series })
    }

    /// The world of one replication, ready to be played, and the node of its draws.
    ///
    /// # Errors
    /// [`Failure`] names cell, replication and reason.
    pub(super) fn world(&self, replication: u64) -> Result<(Stage, Key), Failure> {
        let failure = |reason: &str| Failure {
            cell: self.index,
            point: self.cell.point.clone(),
            replication: Some(replication),
            reason: reason.to_owned(),
        };
        let prepared = self.prepared.get_or_init(|| self.prepare());
        let prepared = prepared.as_ref().map_err(|reason| failure(reason))?;
        let key = self.root.child("replication").index(replication);
        let instance = prepared
            .as_ref()
            .map(|prepared| prepared.realise(key.child("objective")))
            .transpose()
            .map_err(|error| failure(&error.to_string()))?;
        Ok((Stage { prepared: prepared.clone(), ..self.cell.scenario.stage(instance) }, key))
    }

    fn prepare(&self) -> Result<Option<Arc<dyn Prepared>>, String> {
        let Some(objective) = &self.cell.scenario.draft.objective else { return Ok(None) };
        let fitted = match self.folder.map(|folder| folder.fitted(self.index)) {
            Some(Ok(fitted)) => fitted,
            // A damaged file of fitted values is made anew.
            Some(Err(_)) | None => None,
        };
        let prepared = objective
            .as_dyn()
            .prepare(&self.resources, fitted.as_ref(), self.root.child("objective"))
            .map_err(|error| error.to_string())?;
        if fitted.is_none()
            && let (Some(folder), Some(new)) = (self.folder, prepared.fitted())
        {
            folder.keep_fitted(self.index, new).map_err(|error| error.to_string())?;
        }
        Ok(Some(prepared.into()))
    }
}

fn there_already(plan: &Plan, folder: &RunFolder) -> Result<Records, FolderError> {
    let mut records = Records::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let mut found = folder.replications(index)?;
        found.retain(|&replication, record| {
            record.identity == cell.identity && replication < plan.replications
        });
        records.push(found);
    }
    Ok(records)
}

/// Where a plan's objective looks for files.
fn resources(plan: &Plan) -> Resources {
    Resources { base: plan.base.clone(), data: plan.data.clone() }
}

fn manifest(plan: &Plan, digest: Option<String>) -> Manifest {
    Manifest {
        folder_version: FOLDER_VERSION,
        subrosa: env!("CARGO_PKG_VERSION").to_owned(),
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

fn write_resolved(plan: &Plan, folder: &RunFolder) -> Result<(), FolderError> {
    for (index, cell) in plan.cells.iter().enumerate() {
        let text = cell.scenario.resolved();
        let path = if plan.cells.len() == 1 {
            folder.file("resolved.ron")
        } else {
            files::make_folder(&folder.cell(index))?;
            folder.cell(index).join("resolved.ron")
        };
        files::write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Writes `summary.json`.
///
/// # Errors
/// [`FolderError`].
pub fn write_summary(folder: &RunFolder, summary: &super::summary::Summary) -> Result<(), FolderError> {
    files::write(&folder.file("summary.json"), pretty(summary).as_bytes())?;
    files::write(&folder.file("summary.csv"), tables::summary(summary).as_bytes())?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}

fn unlock<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().expect("no holder of this lock panics")
}
