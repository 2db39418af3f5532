//! The errors of signing a run folder and of checking its signature.

use crate::study::disk::files::FileError;
use std::fmt;
use std::path::PathBuf;

/// A difference between the files of a signed folder and the hashes that were signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The file has other contents.
    Edited(String),
    /// The file is no longer there.
    Missing(String),
    /// The file did not exist when the folder was signed.
    Added(String),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited(name) => write!(f, "{name} was changed after the folder was signed"),
            Self::Missing(name) => write!(f, "{name} was removed after the folder was signed"),
            Self::Added(name) => write!(f, "{name} was added after the folder was signed"),
        }
    }
}

/// Why a folder cannot be signed, or why its signature is not valid.
#[derive(Debug)]
pub enum SignError {
    /// The program was built without the feature `sign`.
    NotBuilt,
    /// A file of the folder, or a key file, cannot be read or written.
    File(FileError),
    /// The folder has an entry that is neither a file nor a folder, or whose name is not UTF-8 or has a line break or a
    /// backslash.
    Odd(PathBuf),
    /// A key file cannot be used.
    Key {
        /// The file.
        path: PathBuf,
        /// The reason and the cure, in words.
        reason: String,
    },
    /// The folder has no signature: this file is missing.
    Unsigned(PathBuf),
    /// A file of the signature is damaged, or was changed after the folder was signed.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The signature was made by another key.
    OtherKey {
        /// Fingerprint of the key that made the signature.
        found: String,
        /// Fingerprints of the keys that were expected.
        expected: Vec<String>,
    },
    /// The signature is valid, but files differ from the signed hashes.
    Changed(Vec<Change>),
}

impl SignError {
    /// Whether the folder is at fault, and not the key, the machine or the program.
    #[must_use]
    pub fn is_about_the_folder(&self) -> bool {
        match self {
            Self::Odd(_)
            | Self::Unsigned(_)
            | Self::Damaged { .. }
            | Self::OtherKey { .. }
            | Self::Changed(_) => true,
            Self::NotBuilt | Self::File(_) | Self::Key { .. } => false,
        }
    }
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => write!(
                f,
                "this program was built without signatures (build it with `cargo build --release --features sign`; \
                 docs/reliability.md says how ssh-keygen and sha256sum check a signature)"
            ),
            Self::File(error) => error.fmt(f),
            Self::Odd(path) => write!(
                f,
                "{} cannot be signed: a run folder has only regular files and folders, whose names are UTF-8 without \
                 line breaks or backslashes (remove this entry)",
                path.display()
            ),
            Self::Key { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Unsigned(path) => write!(
                f,
                "the folder is not signed: there is no {} (ask the author of the folder for this file; `subrosa sign FOLDER --key FILE` makes it)",
                path.display()
            ),
            Self::Damaged { path, reason } => write!(
                f,
                "{}: {reason} (it was changed after the folder was signed: ask its author for the folder)",
                path.display()
            ),
            Self::OtherKey { found, expected } => write!(
                f,
                "the folder is signed by the key {found}, expected {} (is it another author's folder, or an old key?)",
                expected.join(" or ")
            ),
            Self::Changed(changes) => {
                let changes: Vec<String> = changes.iter().map(Change::to_string).collect();
                f.write_str(&changes.join("\nerror: "))
            }
        }
    }
}

impl std::error::Error for SignError {}

impl From<FileError> for SignError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
