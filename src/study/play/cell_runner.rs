//! Runs the replications of a cell from its scenario, its seed, and a preparation that it may share with other cells.

use crate::objectives::{Instance, ObjectiveError, Prepared, Resources};
use crate::programs::{Answers, ProgramFailure, ProgramIdentity, Programs, Recorded};
use crate::protocols::{ReplicationSetup, RunOptions, SeriesRecord, Watcher};
use crate::rng::Key;
use crate::study::disk::answers::AnswerFile;
use crate::study::disk::error::FolderError;
use crate::study::disk::first_messages::{self, FirstMessages};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::{CellPlan, Plan};
use crate::study::play::finite::finite;
use crate::study::play::progress::Failure;
use crate::vocab::Interruption;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// The prepared objective of a cell, made by the first thread that needs it. Cells with equal `CellPlan::preparation` may
/// share one.
pub(crate) type Preparation = Arc<OnceLock<Result<Option<Arc<dyn Prepared>>, CannotPrepare>>>;

/// Why no replication of a cell can be run.
#[derive(Clone, Debug, Error)]
pub(crate) enum CannotPrepare {
    /// Stored fitted values cannot be read, or new ones cannot be stored.
    #[error(transparent)]
    Folder(Arc<FolderError>),
    /// The objective cannot be prepared.
    #[error(transparent)]
    Objective(Arc<ObjectiveError>),
}

impl From<FolderError> for CannotPrepare {
    fn from(error: FolderError) -> Self {
        Self::Folder(Arc::new(error))
    }
}

impl From<ObjectiveError> for CannotPrepare {
    fn from(error: ObjectiveError) -> Self {
        Self::Objective(Arc::new(error))
    }
}

impl CannotPrepare {
    /// Whether a request to stop is the only reason.
    fn is_interruption(&self) -> bool {
        let Self::Objective(error) = self else { return false };
        matches!(**error, ObjectiveError::Program(ProgramFailure::Interrupted { .. }))
    }
}

/// The error for a series with a number that is not finite. Such a number cannot be written to a file, and would make means
/// infinite or undefined.
#[derive(Clone, Debug, Error)]
#[error(
    "series \"{series}\": {found} (a length-scale, a variance or an outcome of the scenario is so small or so large \
     that the arithmetic has no answer: bring it closer to 1)"
)]
struct NotReadable {
    series: String,
    found: String,
}

/// Runs the replications of one cell; their objective is prepared once, when it is first needed.
#[derive(Debug)]
pub(crate) struct CellRunner<'a> {
    index: usize,
    cell: &'a CellPlan,
    resources: Resources,
    root: Key,
    folder: Option<&'a RunFolder>,
    prepared: Preparation,
    /// Whether a stored run is repeated: the answers of programs are read from its folder, and no program is started.
    repeats: bool,
    interruption: Interruption,
}

impl<'a> CellRunner<'a> {
    pub(crate) fn new(index: usize, cell: &'a CellPlan, plan: &'a Plan, folder: &'a RunFolder) -> Self {
        let runner = Self::without_folder(index, cell, plan);
        // The folder `models` is beside the run folders, so that all runs share it.
        let models = folder.path().parent().map(|runs| runs.join("models"));
        Self { folder: Some(folder), resources: Resources { models, ..runner.resources }, ..runner }
    }

    /// A runner that neither reads nor stores files of a run, such as fitted values.
    pub(crate) fn without_folder(index: usize, cell: &'a CellPlan, plan: &'a Plan) -> Self {
        Self {
            index,
            cell,
            resources: plan.resources(),
            root: Key::root(cell.seed()),
            folder: None,
            prepared: Preparation::default(),
            repeats: false,
            interruption: Interruption::default(),
        }
    }

    /// The same runner, whose programs are asked no further question once a stop is requested.
    pub(crate) fn until_interrupted(self, interruption: &Interruption) -> Self {
        Self { interruption: interruption.clone(), ..self }
    }

    /// The same runner, which repeats a stored run: the run in the runner's own folder, or in `folder` if the runner has no
    /// folder.
    pub(crate) fn repeating(self, folder: Option<&'a RunFolder>) -> Self {
        Self { folder: self.folder.or(folder), repeats: true, ..self }
    }

    /// The same runner, with a preparation that other cells share.
    pub(crate) fn sharing(self, prepared: Preparation) -> Self {
        Self { prepared, ..self }
    }

    /// Runs one replication for a study. If it panics, only this replication fails. If the runner has a folder, the first
    /// events of the study's first replication are stored there, for a message-sequence diagram.
    ///
    /// # Errors
    /// [`Failure`], which names the cell, the reason and, unless the objective cannot be prepared, the replication.
    pub(crate) fn play(&self, replication: u64) -> Result<ReplicationRecord, Failure> {
        self.play_whole(replication, Programs::default())
    }

    /// Runs a recorded replication again as [`CellRunner::play`] does, with the recorded answers of programs.
    ///
    /// # Errors
    /// [`Failure`], which names the cell, the reason and, unless the objective cannot be prepared, the replication.
    pub(crate) fn play_again(&self, old: &ReplicationRecord) -> Result<ReplicationRecord, Failure> {
        self.play_whole(old.replication, recorded(old))
    }

    fn play_whole(&self, replication: u64, programs: Programs) -> Result<ReplicationRecord, Failure> {
        let first = (self.index, replication) == (0, 0) && self.folder.is_some();
        let beginning = first.then(|| self.beginning());
        let watcher = beginning.clone();
        let options = RunOptions { programs, ..RunOptions::default() };
        let played = self.play_guarded(replication, watcher, options)?;
        let kept = beginning.and_then(|beginning| self.first_messages(replication, &beginning));
        if let (Some(first_messages), Some(folder)) = (kept, self.folder) {
            // The events are only for a diagram; if the disk is full, writing the record fails next and reports it.
            drop(folder.keep_first_messages(&first_messages));
        }
        Ok(played)
    }

    /// A watcher of the events that are stored for a message-sequence diagram.
    pub(crate) fn beginning(&self) -> Watcher {
        Watcher::of_beginning(self.names().len(), first_messages::MAX_PARTIES, first_messages::MAX_EVENTS)
    }

    /// The events of one series of a replication, as stored by the watcher `beginning`. The series is the one with the most
    /// kinds of messages. `None` if the watcher has stored no events.
    pub(crate) fn first_messages(&self, replication: u64, beginning: &Watcher) -> Option<FirstMessages> {
        let (series, events) = beginning.most_informative()?;
        Some(FirstMessages { series, replication, names: self.names(), events })
    }

    /// Runs one replication like [`CellRunner::play_with`]. If it panics, only this replication fails.
    pub(crate) fn play_guarded(
        &self,
        replication: u64,
        watcher: Option<Watcher>,
        options: RunOptions,
    ) -> Result<ReplicationRecord, Failure> {
        let played = catch_unwind(AssertUnwindSafe(|| self.play_with(replication, watcher, options)));
        played.unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            Err(self.failure(Some(replication), format!("a bug in subrosa: {said}")))
        })
    }

    /// Names of the parties by their index.
    fn names(&self) -> Vec<String> {
        self.cell.scenario.stage(None).names
    }

    /// A runner of another cell with the same objective, seed, preparation and folder.
    pub(crate) fn for_cell(&self, index: usize, cell: &'a CellPlan) -> Self {
        Self {
            index,
            cell,
            resources: self.resources.clone(),
            root: self.root,
            folder: self.folder,
            prepared: self.prepared.clone(),
            repeats: self.repeats,
            interruption: self.interruption.clone(),
        }
    }

    pub(crate) fn failure(&self, replication: Option<u64>, reason: String) -> Failure {
        let point = self.cell.point.clone();
        Failure { cell: self.index, point, replication, reason, interrupted: false }
    }

    /// Runs one replication with a watcher.
    ///
    /// # Errors
    /// [`Failure`], which names the cell, the reason and, unless the objective cannot be prepared, the replication.
    pub(crate) fn play_watched(
        &self,
        replication: u64,
        watcher: Option<Watcher>,
    ) -> Result<ReplicationRecord, Failure> {
        self.play_with(replication, watcher, RunOptions::default())
    }

    /// Runs one replication, or the part of it that `options` select.
    ///
    /// # Errors
    /// [`Failure`], which names the cell, the reason and, unless the objective cannot be prepared, the replication.
    pub(crate) fn play_with(
        &self,
        replication: u64,
        watcher: Option<Watcher>,
        mut options: RunOptions,
    ) -> Result<ReplicationRecord, Failure> {
        if options.programs.are_absent() && !self.repeats {
            options.programs = self.programs(replication);
        }
        let programs = options.programs.clone();
        let scenario = &self.cell.scenario;
        let protocol = scenario.draft().protocol.as_dyn();
        let blank = options.dry && !protocol.dry_needs_objective();
        let prepared = if blank {
            &None
        } else {
            let prepared = self.prepared.get_or_init(|| self.prepare());
            prepared.as_ref().map_err(|reason| Failure {
                interrupted: reason.is_interruption(),
                ..self.failure(None, reason.to_string())
            })?
        };
        let key = self.root.child("replication").index(replication);
        let fail = |reason| Failure {
            interrupted: matches!(programs.failure(), Some(ProgramFailure::Interrupted { .. })),
            ..self.failure(Some(replication), reason)
        };
        let instance = prepared
            .as_ref()
            .map(|prepared| prepared.realise(key.child("objective")))
            .transpose()
            .map_err(|error| fail(error.to_string()))?;
        let domain = || scenario.draft().objective.as_ref().and_then(|objective| objective.as_dyn().domain());
        let instance = if blank { Some(Instance::placeholder_on(domain())) } else { instance };
        let mut stage =
            ReplicationSetup { watcher, options, prepared: prepared.clone(), ..scenario.stage(instance) };
        let dry = stage.options.dry;
        if dry {
            stage.budget = None;
        }
        let mut series = protocol.play(&stage, key).map_err(|error| fail(error.to_string()))?;
        if let Some(failure) = programs.failure() {
            return Err(fail(failure.to_string()));
        }
        series.iter_mut().for_each(|series| series.programs = programs.recorded_sessions(&series.name));
        if !dry {
            series.iter().try_for_each(|series| readable(series).map_err(|error| fail(error.to_string())))?;
        }
        Ok(ReplicationRecord { identity: self.cell.identity.clone(), replication, series })
    }

    /// The setup of one replication (parties, network and objective), and the key of its random numbers.
    ///
    /// # Errors
    /// [`Failure`], which names cell, replication and reason.
    pub(crate) fn replication_setup(&self, replication: u64) -> Result<(ReplicationSetup, Key), Failure> {
        let failure = |reason: String| self.failure(Some(replication), reason);
        let prepared = self.prepared.get_or_init(|| self.prepare());
        let prepared = prepared.as_ref().map_err(|reason| failure(reason.to_string()))?;
        let key = self.root.child("replication").index(replication);
        let instance = prepared
            .as_ref()
            .map(|prepared| prepared.realise(key.child("objective")))
            .transpose()
            .map_err(|error| failure(error.to_string()))?;
        Ok((ReplicationSetup { prepared: prepared.clone(), ..self.cell.scenario.stage(instance) }, key))
    }

    /// The programs of a replication. Their answers are stored if the runner has a folder.
    fn programs(&self, replication: u64) -> Programs {
        if self.cell.programs.is_empty() {
            return Programs::default();
        }
        self.started(&self.cell.programs, self.answers(replication))
    }

    /// The store of the answers of programs in a replication, if the runner has a folder.
    pub(crate) fn answers(&self, replication: u64) -> Option<Box<dyn Answers>> {
        let folder = self.folder?;
        Some(Box::new(AnswerFile::of_replication(folder, &self.cell.identity, replication)))
    }

    /// Access to the programs that `programs` identifies. They are started in the scenario's folder when they are needed.
    /// Their new answers are stored in `answers`.
    pub(crate) fn started(
        &self,
        programs: &[ProgramIdentity],
        answers: Option<Box<dyn Answers>>,
    ) -> Programs {
        let started = Programs::started(&self.resources.base, programs, answers);
        started.until_interrupted(&self.interruption)
    }

    /// The files and the programs that the objective may use.
    fn resources(&self) -> Resources {
        if self.cell.programs.is_empty() {
            return self.resources.clone();
        }
        let answers = self.folder.map(|folder| -> Box<dyn Answers> {
            Box::new(AnswerFile::of_objective(folder, &self.cell.preparation, self.repeats))
        });
        let programs = if self.repeats {
            Programs::recorded(answers.unwrap_or_else(|| Box::new(Recorded::default())))
        } else {
            self.started(&self.cell.programs, answers)
        };
        Resources { programs, ..self.resources.clone() }
    }

    fn prepare(&self) -> Result<Option<Arc<dyn Prepared>>, CannotPrepare> {
        let Some(objective) = &self.cell.scenario.draft().objective else { return Ok(None) };
        let fitted = match self.folder.map(|folder| folder.fitted(&self.cell.preparation)) {
            Some(Ok(fitted)) => fitted,
            // A damaged file of fitted values is written again.
            Some(Err(FolderError::Damaged { .. })) | None => None,
            Some(Err(error)) => return Err(error.into()),
        };
        let resources = self.resources();
        let prepare = |fitted| objective.as_dyn().prepare(&resources, fitted, self.root.child("objective"));
        let mut prepared = prepare(fitted.as_ref())?;
        if fitted.is_none()
            && let (Some(folder), Some(new)) = (self.folder, prepared.fitted())
        {
            let key = &self.cell.preparation;
            let ours = folder.keep_fitted(key, new)?;
            if !ours {
                // Another worker stored its values first. All workers use the values that were stored first, because values
                // that are fitted on two machines may differ in the last bits.
                let theirs = folder.fitted(key)?;
                prepared = prepare(theirs.as_ref())?;
            }
        }
        Ok(Some(prepared.into()))
    }
}

/// The programs for the repetition of a recorded replication: they answer as recorded, and none is started.
pub(crate) fn recorded(old: &ReplicationRecord) -> Programs {
    Programs::recorded(recorded_answers(old))
}

/// The recorded answers of programs in a replication.
pub(crate) fn recorded_answers(old: &ReplicationRecord) -> Box<dyn Answers> {
    let mut answers = Recorded::default();
    old.series.iter().for_each(|series| answers.add(&series.name, &series.programs));
    Box::new(answers)
}

/// Refuses a series with a number that is not finite.
fn readable(series: &SeriesRecord) -> Result<(), NotReadable> {
    finite(series).map_err(|found| NotReadable { series: series.name.clone(), found: found.to_string() })
}

#[cfg(test)]
mod tests {
    use super::readable;
    use crate::protocols::SeriesRecord;

    #[test]
    fn a_number_that_is_not_finite_is_refused_with_its_series_and_place() {
        let text = r#"{"name":"GP-UCB","iterations":[{"t":1,"arm":0,"outcome":0.5,"value":0.5,"simple_regret":0.0,
            "cumulative_regret":0.0,"seconds":1.0}],"releases":[],"network":{"links":[]},"virtual_seconds":1.0,
            "messages":0,"messages_lost":0,"messages_delivered":0,"bytes":0,"ended_early":null,"digest":""}"#;
        let mut series: SeriesRecord = serde_json::from_str(text).unwrap();
        readable(&series).unwrap();
        series.iterations[0].value = f64::NAN;
        let reason = readable(&series).unwrap_err().to_string();
        let said = "series \"GP-UCB\": iterations[0].value is NaN, not a finite number";
        assert!(reason.starts_with(said), "{reason}");
        series.iterations.clear();
        series.virtual_seconds = f64::INFINITY;
        assert!(readable(&series).unwrap_err().to_string().contains("virtual_seconds is inf"));
    }
}
