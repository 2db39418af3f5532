//! The hashes of a folder's files, as the text that `sha256sum` writes and checks.

use crate::study::disk::files::{self, FileError};
use crate::study::disk::sign_error::{Change, SignError};
use ssh_key::sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Name and hash of each file, in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hashes(BTreeMap<String, String>);

impl Hashes {
    /// The hashes of all files in `folder` and in the folders below it. Files directly in `folder` whose names are in
    /// `left_out` are left out.
    ///
    /// # Errors
    /// [`SignError::File`] if a file or folder cannot be read; [`SignError::Odd`] for an entry that is neither a file nor a
    /// folder, or whose name is not UTF-8 or contains a backslash or a line break.
    pub(super) fn of(folder: &Path, left_out: &[&str]) -> Result<Self, SignError> {
        let mut hashes = Self::default();
        hashes.collect(folder, "")?;
        hashes.0.retain(|name, _| !left_out.contains(&name.as_str()));
        Ok(hashes)
    }

    fn collect(&mut self, folder: &Path, below: &str) -> Result<(), SignError> {
        let failed = |path: &Path, error| FileError { doing: "read", path: path.to_owned(), error };
        for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))? {
            let entry = entry.map_err(|error| failed(folder, error))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| failed(&path, error))?;
            let plain = |name: &&str| !name.contains(['\\', '\n', '\r']);
            let file_name = entry.file_name();
            let Some(name) = file_name.to_str().filter(plain) else { return Err(SignError::Odd(path)) };
            let name = format!("{below}{name}");
            if kind.is_dir() {
                self.collect(&path, &format!("{name}/"))?;
            } else if kind.is_file() {
                let hash = Sha256::digest(files::bytes(&path)?);
                self.0.insert(
                    name,
                    hash.iter().fold(String::new(), |mut text, byte| {
                        write!(text, "{byte:02x}").expect("a String takes everything");
                        text
                    }),
                );
            } else {
                return Err(SignError::Odd(path));
            }
        }
        Ok(())
    }

    /// Number of files.
    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// A line for each file: its hash, two spaces, its name.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
    }

    /// Reads a text that [`Hashes::text`] wrote; `None` if a line has another form.
    pub(super) fn read(text: &str) -> Option<Self> {
        let line = |line: &str| line.split_once("  ").map(|(hash, name)| (name.to_owned(), hash.to_owned()));
        text.lines().map(line).collect::<Option<_>>().map(Self)
    }

    /// What has changed since these hashes were computed, if the files now have the hashes `now`.
    pub(super) fn changes(&self, now: &Self) -> Vec<Change> {
        let gone = self.0.iter().filter_map(|(name, hash)| match now.0.get(name) {
            None => Some(Change::Missing(name.clone())),
            Some(found) => (found != hash).then(|| Change::Edited(name.clone())),
        });
        let added = now.0.keys().filter(|name| !self.0.contains_key(*name)).cloned().map(Change::Added);
        gone.chain(added).collect()
    }
}
