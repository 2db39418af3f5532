//! The folders in which the files that a scenario names are looked for.

use std::path::{Path, PathBuf};

/// The folder of the scenario file, and a further folder (`--data DIR`) for files that the first folder lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFolders {
    /// The folder of the scenario file; relative paths begin here.
    pub base: PathBuf,
    /// The further folder. Default: none.
    pub data: Option<PathBuf>,
}

impl DataFolders {
    /// The path of a file that a scenario names. The file is in the further folder if there is one and the scenario's
    /// folder lacks the file; otherwise it is in the scenario's folder.
    #[must_use]
    pub fn place(&self, file: &Path) -> PathBuf {
        let beside = self.base.join(file);
        match &self.data {
            Some(data) if !beside.exists() => data.join(file),
            Some(_) | None => beside,
        }
    }
}

impl From<&Path> for DataFolders {
    fn from(base: &Path) -> Self {
        Self { base: base.to_owned(), data: None }
    }
}
