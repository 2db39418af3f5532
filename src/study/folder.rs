//! The folder that a run leaves behind, and how to read it again.
//!
//! ```text
//! runs/<name>-<hash>/
//!   manifest.json     version, seed, cells and their digests, state
//!   scenario.ron      as written
//!   resolved.ron      with defaults and overrides (one per cell where there are several)
//!   summary.json      what `--format json` prints
//!   summary.csv       one line per cell, series and metric
//!   report.html
//!   cells/<k>/        replications.jsonl, iterations.csv, ledger.csv, network.csv, digest.txt, fitted.json
//! ```

use super::files::{self, FileError};
use super::record::ReplicationRecord;
use super::summary::{SCHEMA, Summary};
use crate::objectives::Fitted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Version of the layout and of the records.
pub const FOLDER_VERSION: u32 = 1;

/// What `manifest.json` holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub folder_version: u32,
    /// Version of the program.
    pub subrosa: String,
    /// Version of the seed tree.
    pub seed_tree: u32,
    /// Machine that the run was played on.
    pub target: String,
    /// Widest instruction set in use, since it may change the last bits of library routines.
    pub cpu: String,
    /// Name of the scenario.
    pub name: String,
    /// The seed.
    pub seed: u64,
    /// Replications of every cell.
    pub replications: u64,
    /// Folder that relative paths of the scenario begin at.
    pub base: PathBuf,
    /// A further folder that files were looked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Overrides of the command line.
    pub overrides: Vec<String>,
    /// The cells.
    pub cells: Vec<CellManifest>,
    /// Whether every replication of every cell is there.
    pub complete: bool,
    /// Hash over all cells' digests; absent before the run is complete.
    pub digest: Option<String>,
}

/// One cell in the manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellManifest {
    /// Value of each `Each` by its name, as written in RON.
    pub point: Vec<(String, String)>,
    /// Hash of all that the cell's results depend on.
    pub identity: String,
}

/// A run folder that cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// A file cannot be read or written.
    File(FileError),
    /// A file is not what it should be.
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Damaged { path, reason } => write!(f, "{} is damaged: {reason}", path.display()),
        }
    }
}

impl std::error::Error for FolderError {}

impl From<FileError> for FolderError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at `path`, which need not exist yet.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file directly in the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder of one cell.
    #[must_use]
    pub fn cell(&self, cell: usize) -> PathBuf {
        self.path.join("cells").join(cell.to_string())
    }

    /// Reads the manifest; `None` if there is none.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn manifest(&self) -> Result<Option<Manifest>, FolderError> {
        let path = self.file("manifest.json");
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|error| FolderError::Damaged { path: path.clone(), reason: error.to_string() })?;
        if manifest.folder_version != FOLDER_VERSION {
            let reason = format!(
                "its layout has version {}, this program reads version {FOLDER_VERSION}",
                manifest.folder_version
            );
            return Err(FolderError::Damaged { path, reason });
        }
        Ok(Some(manifest))
    }

    /// Writes the manifest.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), FolderError> {
        Ok(files::write(&self.file("manifest.json"), pretty(manifest).as_bytes())?)
    }

    /// The replications of a cell that are there and undamaged, by number.
    ///
    /// # Errors
    /// [`FolderError`] if a file that exists cannot be read.
    pub fn replications(&self, cell: usize) -> Result<BTreeMap<u64, ReplicationRecord>, FolderError> {
        let mut found = BTreeMap::new();
        if let Some(text) = files::read_if_there(&self.cell(cell).join("replications.jsonl"))? {
            for line in text.lines() {
                if let Some(record) = unseal_line(line) {
                    found.insert(record.replication, record);
                }
            }
        }
        let parts = self.cell(cell).join("parts");
        if let Ok(entries) = std::fs::read_dir(&parts) {
            for entry in entries.flatten() {
                if entry.path().extension().is_none_or(|extension| extension != "json") {
                    continue;
                }
                if let Some(record) = files::read_if_there(&entry.path())?
                    .as_deref()
                    .and_then(files::unseal)
                    .and_then(|body| serde_json::from_str::<ReplicationRecord>(body).ok())
                {
                    found.insert(record.replication, record);
                }
            }
        }
        Ok(found)
    }

    /// The replication of a cell with the lowest number, or `None` if none is finished.
    ///
    /// # Errors
    /// [`FolderError`] if a file that exists cannot be read.
    pub fn first_replication(&self, cell: usize) -> Result<Option<ReplicationRecord>, FolderError> {
        // A complete cell has its records in order: one line is enough.
        let whole = files::read_if_there(&self.cell(cell).join("replications.jsonl"))?;
        if let Some(record) = whole.as_deref().and_then(|text| text.lines().next()).and_then(unseal_line) {
            return Ok(Some(record));
        }
        Ok(self.replications(cell)?.into_values().next())
    }

    /// The summary of a run that was played to its end; `None` if there is none yet.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn summary(&self) -> Result<Option<Summary>, FolderError> {
        let path = self.file("summary.json");
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        let summary: Summary = serde_json::from_str(&text)
            .map_err(|error| FolderError::Damaged { path: path.clone(), reason: error.to_string() })?;
        if summary.schema != SCHEMA {
            let reason = format!("its form is {}, this program reads {SCHEMA}", summary.schema);
            return Err(FolderError::Damaged { path, reason });
        }
        Ok(Some(summary))
    }

    /// Keeps one finished replication of a cell that is not complete yet.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn keep(&self, cell: usize, record: &ReplicationRecord) -> Result<(), FolderError> {
        let parts = self.cell(cell).join("parts");
        files::make_folder(&parts)?;
        let body = serde_json::to_string(record).expect("a record is plain data with text keys");
        let path = parts.join(format!("{:06}.json", record.replication));
        Ok(files::write(&path, files::seal(&body).as_bytes())?)
    }

    /// Puts all replications of a complete cell into one file and removes the parts.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn complete_cell(
        &self,
        cell: usize,
        records: &BTreeMap<u64, ReplicationRecord>,
    ) -> Result<(), FolderError> {
        let lines: String = records.values().map(seal_line).collect();
        files::make_folder(&self.cell(cell))?;
        files::write(&self.cell(cell).join("replications.jsonl"), lines.as_bytes())?;
        let parts = self.cell(cell).join("parts");
        if parts.exists() {
            // Its contents have just been made part of the file above; a left-over does no harm.
            drop(std::fs::remove_dir_all(parts));
        }
        Ok(())
    }

    /// Hyperparameters fitted for a cell by an earlier run.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn fitted(&self, cell: usize) -> Result<Option<Fitted>, FolderError> {
        let path = self.cell(cell).join("fitted.json");
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| FolderError::Damaged { path, reason: error.to_string() })
    }

    /// Keeps fitted hyperparameters of a cell.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn keep_fitted(&self, cell: usize, fitted: &Fitted) -> Result<(), FolderError> {
        files::make_folder(&self.cell(cell))?;
        Ok(files::write(&self.cell(cell).join("fitted.json"), pretty(fitted).as_bytes())?)
    }
}

/// Indented JSON with a newline at the end.
pub(super) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with text keys");
    text.push('\n');
    text
}

fn seal_line(record: &ReplicationRecord) -> String {
    let body = serde_json::to_string(record).expect("a record is plain data with text keys");
    format!("{} {body}\n", blake3::hash(body.as_bytes()).to_hex())
}

fn unseal_line(line: &str) -> Option<ReplicationRecord> {
    let (hash, body) = line.split_once(' ')?;
    if blake3::hash(body.as_bytes()).to_hex().as_str() != hash {
        return None;
    }
    serde_json::from_str(body).ok()
}
