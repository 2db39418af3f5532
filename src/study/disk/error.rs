//! The errors of reading and writing a run folder.

use crate::study::disk::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// Why a run folder cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// A file cannot be read or written.
    File(FileError),
    /// A file has unexpected contents.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// One replication has two results.
    Conflict(Box<Conflict>),
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Damaged { path, reason } => write!(f, "{} is damaged: {reason}", path.display()),
            Self::Conflict(conflict) => write!(
                f,
                "{conflict} (run it again with `subrosa replay` to see which is right, and remove the other file; the \
                 machine that wrote the wrong file may be faulty)"
            ),
        }
    }
}

impl std::error::Error for FolderError {}

impl From<FileError> for FolderError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Two different records of one replication of one cell.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// Position of the cell in the study.
    pub cell: usize,
    /// Number of the replication.
    pub replication: u64,
    /// The files that contain the two records.
    pub files: [PathBuf; 2],
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cell {}, replication {} was computed twice with different results: {} and {}",
            self.cell,
            self.replication,
            self.files[0].display(),
            self.files[1].display()
        )
    }
}
