//! The report of a run that is going on. It is made again and again, from the records that are stored so far.

use crate::cli::load::plan_of_run;
use crate::report::{self, Page, Refresh};
use crate::study::{FolderError, Plan, RunFolder, so_far};
use crate::vocab::counted;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The line that the page shows before any replication is finished.
pub(super) const NONE_YET: &str =
    "No replication is finished yet. This page is made again every few seconds.";
/// Pause between two checks whether the run has ended.
pub(super) const NAP: Duration = Duration::from_millis(20);
/// Least pause between two reports, if `REST` does not demand a longer pause.
const LEAST: Duration = Duration::from_secs(1);
/// Least pause between two reports, as a multiple of the time that the last one took, so that the run keeps most of
/// the processor time.
const REST: u32 = 10;

/// The report of a run in progress.
pub(super) struct Live {
    folder: RunFolder,
    /// The plan of the run. `None` until the run's folder has a plan; `Some(None)` if the plan cannot be read; an
    /// error message about it has then been printed.
    plan: Option<Option<Plan>>,
    page: Option<Page>,
    line: String,
    /// The number of finished replications and the total number, such as "3 of 10"; "0" before the first report. The
    /// text differs between two reports that are made from different records.
    state: String,
    made: Option<(Instant, Duration)>,
}

/// Locks a report. A panic of a thread that held the lock does not prevent this: the report stays usable.
pub(super) fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    pub(super) fn new(folder: RunFolder) -> Self {
        let line = NONE_YET.to_owned();
        Self { folder, plan: None, page: None, line, state: "0".to_owned(), made: None }
    }

    /// Makes the report again, unless it was made a moment ago.
    pub(super) fn renew(&mut self) {
        if self.made.is_none_or(|(end, took)| end.elapsed() >= LEAST.max(took * REST)) {
            self.renew_now();
        }
    }

    /// Makes the report again.
    pub(super) fn renew_now(&mut self) {
        let start = Instant::now();
        // The error is ignored: a file that is being written may be unreadable, and the page then shows the previous report.
        drop(self.read());
        let end = Instant::now();
        self.made = Some((end, end.duration_since(start)));
    }

    fn read(&mut self) -> Result<(), FolderError> {
        // The plan is read from `manifest.json` and `scenario.ron`. A run writes `resolved.ron` after these two files, so
        // the plan is read only if `resolved.ron` exists.
        if self.plan.is_none() && self.folder.file("resolved.ron").is_file() {
            self.plan = Some(plan_of_run(&self.folder).ok().map(|(plan, _)| plan));
        }
        let (Some(Some(plan)), Some(manifest)) = (&self.plan, self.folder.manifest()?) else { return Ok(()) };
        let replications = manifest.replications;
        let (mut summary, finished) = so_far(plan, &self.folder, replications)?;
        if finished == 0 {
            return Ok(());
        }
        // The run is still going on, as `line` says, so the page must not report missing replications.
        summary.complete = true;
        let total = replications * plan.cells.len() as u64;
        self.line = format!(
            "Not final: {finished} of {} finished. This page is made again while the run goes on.",
            counted(total, "replication")
        );
        self.state = format!("{finished} of {total}");
        self.page = Some(Page::so_far(&self.folder, manifest, summary)?);
        Ok(())
    }

    /// The number of finished replications and the total number, such as "3 of 10"; "0" before the first report.
    pub(super) fn state(&self) -> &String {
        &self.state
    }

    /// The page.
    pub(super) fn page(&self, refresh: Refresh<'_>) -> String {
        report::growing_page(self.page.as_ref(), &self.line, refresh)
    }

    /// The page as a server sends it. The page repeatedly asks the server for [`Self::state`], and reloads itself as soon as
    /// the answer differs from the state when the page was made.
    pub(super) fn page_of_server(&self) -> String {
        let folder = self.folder.path().display();
        let ended = format!("The run has ended. Its report, if it is complete: {folder}/{}", report::PAGE);
        self.page(Refresh::Asking { state: &self.state, ended: &ended })
    }
}
