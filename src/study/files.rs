//! Files that are whole or absent: written under a temporary name, synced, renamed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file or folder that could not be read or written.
#[derive(Debug)]
pub struct FileError {
    /// What was tried ("write").
    pub doing: &'static str,
    /// On what.
    pub path: PathBuf,
    /// The operating system's answer.
    pub error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.doing, self.path.display(), self.error)?;
        match self.error.kind() {
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::NotFound
                if self.doing != "read" =>
            {
                write!(f, " (choose a folder that you may write to; a run takes --out DIR)")
            }
            io::ErrorKind::StorageFull => {
                write!(f, " (what was finished is kept; make room and run the same command again)")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for FileError {}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl Fn(io::Error) -> FileError + 'a {
    move |error| FileError { doing, path: path.to_owned(), error }
}

/// Makes a folder and those above it.
///
/// # Errors
/// [`FileError`].
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(failed("make the folder", path))
}

/// Reads a file whole; `None` if it does not exist.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// Reads a file whole.
///
/// # Errors
/// [`FileError`], also if it does not exist.
pub fn read(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(failed("read", path))
}

/// Writes a file whole, so that after a crash at any moment it is either the old one or the new one.
///
/// # Errors
/// [`FileError`].
pub fn write(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let attempt = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    attempt.map_err(|error| {
        // The temporary file is of no use any more; that it cannot be removed adds nothing to the first error.
        drop(fs::remove_file(&temporary));
        failed("write", path)(error)
    })
}

/// Appends the hash of `body` so that damage can be told; see [`unseal`].
#[must_use]
pub fn seal(body: &str) -> String {
    format!("{}\n{body}\n", blake3::hash(body.as_bytes()).to_hex())
}

/// The body of a sealed text, or `None` if it is damaged.
#[must_use]
pub fn unseal(text: &str) -> Option<&str> {
    let (hash, body) = text.split_once('\n')?;
    let body = body.strip_suffix('\n')?;
    (blake3::hash(body.as_bytes()).to_hex().as_str() == hash).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_tells_every_change() {
        let sealed = seal("{\"a\": 1}");
        assert_eq!(unseal(&sealed), Some("{\"a\": 1}"));
        for index in 0..sealed.len() {
            let mut damaged = sealed.clone().into_bytes();
            damaged[index] ^= 1;
            let damaged = String::from_utf8_lossy(&damaged).into_owned();
            assert_eq!(unseal(&damaged), None, "byte {index}");
        }
        assert_eq!(unseal(&sealed[..sealed.len() - 3]), None);
    }
}
