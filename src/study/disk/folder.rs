//! The run folder: its files, and the functions that read them again.
//!
//! ```text
//! runs/<name>-<hash>/
//!   manifest.json     version, seed, cells and their identities, state
//!   scenario.ron      the scenario as written
//!   resolved.ron      the scenario with defaults and overrides, as a list if there are several cells; for more than 100
//!                     cells, the first cell and the lines of the other cells that differ from it
//!   summary.json      what `--format json` prints
//!   summary.csv       one line per cell, series and metric
//!   privacy.csv       one line per cell, series, owner, protected unit, observer and accountant; for the tight accountant,
//!                     also lines for earlier rounds
//!   results.csv       one line per cell, replication and series; results.jsonl holds the same
//!   report.html
//!   records.jsonl     everything that was recorded: one line with a checksum per cell and replication
//!   opening.json      the first events of the first replication, for a diagram
//!   iterations.csv, ledger.csv, network.csv, digest.txt
//!   fitted/           fitted hyperparameters
//!   answers/          answers of programs that are objectives
//!   unfinished/       answers of programs in replications that are not finished
//!   segments/         records of a run that is not complete
//!   explain.*, threshold.*   answers of the commands `explain` and `threshold`
//!   fork.json, 0-unchanged/, 1-<branch>/   comparison, summaries and reports of the branches of `run --fork-at`
//!   SHA256SUMS, SHA256SUMS.sig   hashes of all other files, and their signature, if the folder is signed
//!   work/             plan, claims and results of `subrosa cluster`, until they are merged
//! ```
//!
//! Except in `fitted`, `answers` and `unfinished`, the number of files does not grow with the number of cells.
//! `summary.json`, `digest.txt`, tables and records above 4 MiB are stored in the gzip format, with the ending `.gz`.

use crate::objectives::Fitted;
use crate::study::disk::error::FolderError;
use crate::study::disk::files::{self, DifferingFiles, FileError, Staged, indented_json};
use crate::study::disk::manifest::{FOLDER_VERSION, Manifest};
use crate::study::disk::packed::{existing, packed_path};
use crate::study::disk::record::ReplicationRecord;
use crate::study::disk::record_lines::first_line;
use crate::study::disk::store::{self, StoredRecords};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files and folders of a run, and of its signature, except tables and files that may be packed.
const OWN: &str = "manifest.json scenario.ron resolved.ron report.html opening.json fitted answers unfinished segments \
    SHA256SUMS SHA256SUMS.sig work";
/// The files of a run that are packed (`NAME.gz`) if they are large; tables as CSV are too.
const PACKING: &str = "summary.json records.jsonl results.jsonl digest.txt";
/// The tables of a run, without the endings `.csv` and `.parquet`.
const TABLES: &str = "summary privacy results iterations ledger network";

/// Whether a file or folder with this name, directly in a run folder, belongs to the run or to its signature. Programs
/// without the feature `parquet` neither write nor check Parquet tables.
fn is_of_run(name: &str) -> bool {
    let among = |names: &str, name: &str| names.split_whitespace().any(|known| known == name);
    let table = |name: &str, ending| name.strip_suffix(ending).is_some_and(|table| among(TABLES, table));
    let may_be_packed = |name: &str| among(PACKING, name) || table(name, ".csv");
    may_be_packed(name.strip_suffix(".gz").unwrap_or(name))
        || among(OWN, name)
        || (cfg!(feature = "parquet") && table(name, ".parquet"))
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// If files are only compared and not written: the list of the files that differ from what would be written.
    unlike: Option<DifferingFiles>,
}

impl RunFolder {
    /// The folder at `path`, which need not exist yet.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), unlike: None }
    }

    /// The same folder, for which [`RunFolder::stage`] only compares files and writes nothing; and the list to which the
    /// files that differ are added.
    pub(in crate::study) fn compared(&self) -> (Self, DifferingFiles) {
        let unlike = DifferingFiles::default();
        (Self { path: self.path.clone(), unlike: Some(unlike.clone()) }, unlike)
    }

    /// Starts to write one of the files that are computed from the records (or to compare it, after [`Self::compared`]).
    pub(in crate::study) fn stage(&self, name: &str) -> Result<Staged, FileError> {
        match &self.unlike {
            None => Staged::new(&self.file(name)),
            Some(unlike) => Ok(Staged::compared(&self.file(name), unlike.clone())),
        }
    }

    /// As [`Self::stage`], for a file that is stored as `NAME.gz` if it is large.
    pub(in crate::study) fn stage_packing(&self, name: &str) -> Result<Staged, FileError> {
        Ok(self.stage(name)?.packing())
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file directly in the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names of the files and folders directly in this folder that are not those of a run, sorted; a replay does not
    /// check them. Commands such as `explain` or `run --fork-at` add some, and other programs may. Empty if the folder
    /// cannot be listed.
    #[must_use]
    pub fn unchecked(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut unchecked: Vec<String> = names.filter(|name| !is_of_run(name)).collect();
        unchecked.sort();
        unchecked
    }

    /// Reads the manifest; `None` if there is none.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn manifest(&self) -> Result<Option<Manifest>, FolderError> {
        let path = self.file("manifest.json");
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| FolderError::Damaged {
            path: path.clone(),
            reason: format!(
                "{error} (remove it and run the same `subrosa run` again: what was finished is kept, and the file is \
                 made anew)"
            ),
        })?;
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
        Ok(files::write(&self.file("manifest.json"), indented_json(manifest).as_bytes())?)
    }

    /// The records of a study whose cells have these identities: the records in `records.jsonl`, in the segments of an
    /// unfinished run, and in the files of workers.
    ///
    /// # Errors
    /// [`FolderError`] if a file that exists cannot be read.
    pub(in crate::study) fn stored_records(&self, identities: &[&str]) -> Result<StoredRecords, FolderError> {
        let mine = |cell: usize, identity: &str| -> Vec<usize> {
            if identities.get(cell) == Some(&identity) { vec![cell] } else { Vec::new() }
        };
        // If a file has been removed since it was listed, another process has just gathered its records: read the folder
        // again.
        for attempt in 0.. {
            let mut stored = StoredRecords::empty();
            let read = self.record_files().iter().try_for_each(|path| stored.add(path, &mine));
            match read {
                Ok(()) => return Ok(stored),
                Err(error) if attempt < 5 && error.error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(StoredRecords::empty())
    }

    /// All files that hold records: first `records.jsonl`, then the others in the order of their paths.
    pub(in crate::study) fn record_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in
            [self.file("segments"), self.file("work").join("results"), self.file("work").join("conflicts")]
        {
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            let paths = entries.flatten().map(|entry| entry.path());
            found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")));
        }
        found.sort();
        let gathered = self.file("records.jsonl");
        let forms = [gathered.clone(), packed_path(&gathered)];
        found.splice(0..0, forms.into_iter().filter(|path| path.exists()));
        found
    }

    /// The manifest and the records of the run in this folder; `None` if the folder has no manifest.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn records(&self) -> Result<Option<(Manifest, StoredRecords)>, FolderError> {
        let Some(manifest) = self.manifest()? else { return Ok(None) };
        let stored = self.records_of(&manifest)?;
        Ok(Some((manifest, stored)))
    }

    /// The records of the run in this folder, which has this manifest.
    fn records_of(&self, manifest: &Manifest) -> Result<StoredRecords, FolderError> {
        let identities: Vec<&str> = manifest.cells.iter().map(|cell| cell.identity.as_str()).collect();
        self.stored_records(&identities)
    }

    /// The undamaged records of a cell's replications, by number of the replication. Only numbers below the manifest's
    /// number of replications are included. Empty if the folder has no manifest. Each call reads through all records; use
    /// [`RunFolder::records`] for many cells.
    ///
    /// # Errors
    /// [`FolderError`] if a file that exists cannot be read.
    pub fn replications(&self, cell: usize) -> Result<BTreeMap<u64, ReplicationRecord>, FolderError> {
        let Some((manifest, stored)) = self.records()? else { return Ok(BTreeMap::new()) };
        let mut found = stored.cell(cell)?;
        found.retain(|&replication, _| replication < manifest.replications);
        Ok(found)
    }

    /// Of the replications of a cell that have a record, the record of the one with the lowest number; `None` if no
    /// replication of the cell has a record.
    ///
    /// # Errors
    /// [`FolderError`] if a file that exists cannot be read.
    pub fn first_replication(&self, cell: usize) -> Result<Option<ReplicationRecord>, FolderError> {
        let Some(manifest) = self.manifest()? else { return Ok(None) };
        // The records of a complete run are in order, so for the first cell one line is enough.
        if cell == 0
            && let Some(line) = first_line(&existing(&self.file("records.jsonl")))
            && let Some(head) = store::head(&line)
            && (head.cell, head.replication) == (0, 0)
            && manifest.cells.first().is_some_and(|first| first.identity == head.identity)
            && let Ok(record) = serde_json::from_str(&head.body())
        {
            return Ok(Some(record));
        }
        self.records_of(&manifest)?.first(cell)
    }

    /// The stored hyperparameters that were fitted when an objective was prepared; `None` if there are none. `key` is
    /// `CellPlan::preparation`, the hash of everything on which the preparation of the objective depends.
    ///
    /// # Errors
    /// [`FolderError`].
    pub(in crate::study) fn fitted(&self, key: &str) -> Result<Option<Fitted>, FolderError> {
        let path = self.fitted_file(key);
        let Some(text) = files::read_if_there(&path)? else { return Ok(None) };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| FolderError::Damaged { path, reason: error.to_string() })
    }

    /// All fitted hyperparameters, in the order of their files. Damaged files are left out, because a run fits their values
    /// again.
    pub fn all_fitted(&self) -> Vec<Fitted> {
        let Ok(files) = std::fs::read_dir(self.file("fitted")) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        paths.sort();
        let read = |path: &PathBuf| serde_json::from_str(&files::read(path).ok()?).ok();
        paths.iter().filter_map(read).collect()
    }

    /// Stores fitted hyperparameters, in place of a damaged file if there is one. If an undamaged file is there already, for
    /// example because another process has stored its own hyperparameters, nothing is stored, and `false` is returned.
    ///
    /// # Errors
    /// [`FolderError`].
    pub(in crate::study) fn keep_fitted(&self, key: &str, fitted: &Fitted) -> Result<bool, FolderError> {
        files::make_folder(&self.file("fitted"))?;
        if let Err(FolderError::Damaged { path, .. }) = self.fitted(key) {
            files::write(&path, indented_json(fitted).as_bytes())?;
            return Ok(true);
        }
        Ok(files::write_new(&self.fitted_file(key), indented_json(fitted).as_bytes())?)
    }

    fn fitted_file(&self, key: &str) -> PathBuf {
        self.file("fitted").join(format!("{}.json", &key[..16.min(key.len())]))
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_run;

    #[test]
    fn only_the_files_of_a_run_are_left_out_of_the_note() {
        let parquet = cfg!(feature = "parquet");
        for (name, expected) in [
            ("records.jsonl", true),
            ("records.jsonl.gz", true),
            ("iterations.csv.gz", true),
            ("summary.json", true),
            ("summary.csv", true),
            ("report.html", true),
            ("results.parquet", parquet),
            ("results.parquet.gz", false),
            ("results.xlsx", false),
            ("results", false),
            ("manifest.json.gz", false),
            ("report.html.csv", false),
            ("explain.json", false),
            ("fork.json", false),
        ] {
            assert_eq!(is_of_run(name), expected, "{name}");
        }
    }
}
