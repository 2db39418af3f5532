//! The data of a page, read from a run's folder.

use crate::objectives::Fitted;
use crate::study::{FirstMessages, FolderError, Manifest, ReplicationRecord, RunFolder, Summary, files};

/// Name of the page in a run folder.
pub const PAGE: &str = "report.html";

/// The data of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The run's numbers.
    pub summary: Summary,
    /// The program and the plan of the run.
    pub manifest: Manifest,
    /// The scenario as written.
    pub scenario: String,
    /// The cell whose replication is shown, counted from 0.
    pub cell: usize,
    /// The replication that is shown; by default the first of the first cell, if one is finished.
    pub first: Option<ReplicationRecord>,
    /// Its first events.
    pub first_messages: Option<FirstMessages>,
    /// Hyperparameters of the objective, where they were fitted.
    pub fitted: Vec<Fitted>,
}

impl Page {
    /// Reads the data of a page from a run's folder; `None` if there is no finished run.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn read(folder: &RunFolder) -> Result<Option<Self>, FolderError> {
        Self::showing(folder, 0, None)
    }

    /// The same, with this cell and replication in the pictures that show one: its first replication if none is named.
    ///
    /// # Errors
    /// [`FolderError`] for a file that cannot be read or is damaged.
    pub fn showing(
        folder: &RunFolder,
        cell: usize,
        replication: Option<u64>,
    ) -> Result<Option<Self>, FolderError> {
        let (Some(manifest), Some(mut summary)) = (folder.manifest()?, folder.summary()?) else {
            return Ok(None);
        };
        // The folder may have been moved.
        summary.run = folder.path().display().to_string();
        let scenario = files::read(&folder.file("scenario.ron"))?;
        let first = match replication {
            None => folder.first_replication(cell)?,
            Some(replication) => folder.replications(cell)?.remove(&replication),
        };
        // Only those of the first replication of the first cell are kept.
        let kept = |stored: &FirstMessages| {
            cell == 0 && first.as_ref().is_some_and(|one| one.replication == stored.replication)
        };
        let first_messages = folder.first_messages().filter(kept);
        let fitted = folder.all_fitted();
        Ok(Some(Self { summary, manifest, scenario, cell, first, first_messages, fitted }))
    }
}
