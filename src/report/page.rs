//! The data of a report as an HTML page, read from a run's folder.

use crate::objectives::Fitted;
use crate::study::{FirstMessages, FolderError, Manifest, ReplicationRecord, RunFolder, Summary, files};

/// Name of the page in a run folder.
pub const PAGE: &str = "report.html";

/// The data of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The run's summary. It states the path that the folder had when the summary was computed, so a page that is made again
    /// after the folder was moved does not change.
    pub summary: Summary,
    /// The run's manifest, which states, among other things, the version of subrosa and the cells of the study.
    pub manifest: Manifest,
    /// The scenario as written.
    pub scenario: String,
    /// The cell whose replication is shown, counted from 0.
    pub cell: usize,
    /// The replication that is shown; `None` if it is not stored. By default, it is the first stored replication of
    /// the first cell.
    pub first: Option<ReplicationRecord>,
    /// The first events of that replication; `None` if they are not stored.
    pub first_messages: Option<FirstMessages>,
    /// Fitted hyperparameters of the objectives; empty if none were fitted.
    pub fitted: Vec<Fitted>,
}

impl Page {
    /// Reads the data of a page from a run's folder; `None` if the folder has no manifest or no summary.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn read(folder: &RunFolder) -> Result<Option<Self>, FolderError> {
        Self::showing(folder, 0, None)
    }

    /// Reads the data of a page; `None` if the folder has no manifest or no summary. The page's pictures of a single
    /// replication show the replication `replication` of the cell `cell`. If `replication` is `None`, they show the cell's
    /// first stored replication.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn showing(
        folder: &RunFolder,
        cell: usize,
        replication: Option<u64>,
    ) -> Result<Option<Self>, FolderError> {
        let (Some(manifest), Some(summary)) = (folder.manifest()?, folder.summary()?) else {
            return Ok(None);
        };
        Self::of(folder, manifest, summary, cell, replication).map(Some)
    }

    /// The data of a page from the summary of an unfinished run.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn so_far(folder: &RunFolder, manifest: Manifest, summary: Summary) -> Result<Self, FolderError> {
        Self::of(folder, manifest, summary, 0, None)
    }

    fn of(
        folder: &RunFolder,
        manifest: Manifest,
        summary: Summary,
        cell: usize,
        replication: Option<u64>,
    ) -> Result<Self, FolderError> {
        let scenario = files::read(&folder.file("scenario.ron"))?;
        let first = match replication {
            None => folder.first_replication(cell)?,
            Some(replication) => folder.replications(cell)?.remove(&replication),
        };
        // The folder keeps the first messages of only one replication, the first of the first cell.
        let kept = |stored: &FirstMessages| {
            cell == 0 && first.as_ref().is_some_and(|one| one.replication == stored.replication)
        };
        let first_messages = folder.first_messages().filter(kept);
        let fitted = folder.all_fitted();
        Ok(Self { summary, manifest, scenario, cell, first, first_messages, fitted })
    }
}
