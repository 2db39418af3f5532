//! The errors of sweeps.

use crate::study::disk::error::FolderError;
use crate::vocab::counted;
use std::fmt;
use std::path::PathBuf;

/// The reason why a sweep cannot continue.
#[derive(Debug)]
pub enum SweepError {
    /// The folder cannot be used, or two results of one replication differ.
    Folder(FolderError),
    /// The folder has no plan.
    NotPlanned(PathBuf),
    /// Workers may be using the existing plan, which would have to be replaced.
    Busy {
        /// Number of blocks that are claimed and not finished.
        claimed: u64,
    },
    /// Some replications are missing.
    Incomplete {
        /// Number of replications without a record, failed replications included.
        missing: u64,
        /// The replications that failed, each with the reason.
        failed: Vec<String>,
    },
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => error.fmt(f),
            Self::NotPlanned(path) => write!(
                f,
                "{} holds no plan of a study (make one with `subrosa cluster plan SCENARIO`, which prints the folder)",
                path.display()
            ),
            Self::Busy { claimed } => write!(
                f,
                "the folder has another plan, and {claimed} of its blocks are claimed by workers (wait for the workers, or \
                 end them and use --force; finished blocks are kept)"
            ),
            Self::Incomplete { missing, failed } => {
                write!(f, "the study is not complete, missing: {}", counted(*missing, "replication"))?;
                if let Some(first) = failed.first() {
                    write!(f, ", {} of them failed; the first: {first}", failed.len())?;
                }
                write!(f, " (see `subrosa cluster status`; --partial merges what is there)")
            }
        }
    }
}

impl std::error::Error for SweepError {}

impl<E: Into<FolderError>> From<E> for SweepError {
    fn from(error: E) -> Self {
        Self::Folder(error.into())
    }
}
