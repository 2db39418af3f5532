//! Files that are whole or absent: written under a temporary name, synced, renamed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Reads a file whole; `None` if it does not exist, as below something that is no folder.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
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

/// Writes a file whole, so that after a crash at any moment it is either the old one or the new one. A file that
/// holds the same already is left alone.
///
/// # Errors
/// [`FileError`].
pub fn write(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    let mut staged = Staged::new(path)?;
    staged.write(contents)?;
    staged.commit()
}

/// Writes a file whole where there is none; `false` if there was one, which stays as it is.
///
/// # Errors
/// [`FileError`].
pub fn write_new(path: &Path, contents: &[u8]) -> Result<bool, FileError> {
    let mut staged = Staged::new(path)?;
    staged.write(contents)?;
    staged.commit_new()
}

/// A file that is being written under a temporary name and takes its place when all of it is on disk.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<io::BufWriter<File>>,
    hash: blake3::Hasher,
}

impl Staged {
    /// Begins a file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn new(path: &Path) -> Result<Self, FileError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_added_extension(format!("{}-{number}.tmp", std::process::id()));
            match File::create_new(&temporary) {
                Ok(file) => {
                    let file = Some(io::BufWriter::with_capacity(1 << 16, file));
                    return Ok(Self { path: path.to_owned(), temporary, file, hash: blake3::Hasher::new() });
                }
                // A process of this number on another machine, or one that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("write", path)(error)),
            }
        }
    }

    /// Adds to it.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hash.update(bytes);
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(failed("write", &self.path)),
            None => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<(), FileError> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed("write", &self.path))
    }

    /// Puts it in its place. A file that holds the same already is left alone.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit(mut self) -> Result<(), FileError> {
        if hash_of(&self.path).is_some_and(|there| there == self.hash.finalize()) {
            return Ok(());
        }
        self.sync()?;
        fs::rename(&self.temporary, &self.path).map_err(failed("write", &self.path))
    }

    /// Puts it in its place if nothing is there; `false` if something is. Atomic: of several, one wins.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit_new(mut self) -> Result<bool, FileError> {
        self.sync()?;
        self.link_new()
    }

    /// Puts it in its place if nothing is there. Otherwise compares: what differs is kept as `aside`.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit_or_compare(mut self, aside: &Path) -> Result<Placed, FileError> {
        self.sync()?;
        if self.link_new()? {
            return Ok(Placed::New);
        }
        if hash_of(&self.path).is_some_and(|there| there == self.hash.finalize()) {
            return Ok(Placed::Same);
        }
        fs::rename(&self.temporary, aside).map_err(failed("write", aside))?;
        Ok(Placed::Differs)
    }

    fn link_new(&self) -> Result<bool, FileError> {
        match fs::hard_link(&self.temporary, &self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no links. There a rename must do, which cannot tell who was first.
            Err(_) if !self.path.exists() => {
                fs::rename(&self.temporary, &self.path).map_err(failed("write", &self.path))?;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }
}

/// What became of a file that was to be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It is in its place.
    New,
    /// The same was there.
    Same,
    /// Something else was there.
    Differs,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone already where it was renamed; that it cannot be removed adds nothing to an earlier error.
        drop(fs::remove_file(&self.temporary));
    }
}

fn hash_of(path: &Path) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path).ok()?).ok()?;
    Some(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_new_files_the_first_stays() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("file");
        assert!(write_new(&path, b"one").unwrap());
        assert!(!write_new(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
