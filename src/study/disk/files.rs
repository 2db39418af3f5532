//! Files that are complete or absent: written under a temporary name, synced, renamed.

use crate::study::disk::packed::{self, PACKED_ABOVE, Sink, existing, packed_path};
use crate::vocab::{is_device_or_pipe, process_id};
use serde::Serialize;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A file or folder that could not be read or written.
#[derive(Debug)]
pub struct FileError {
    /// The attempted operation ("write").
    pub doing: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The operating system's error.
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

/// Creates a folder and its parent folders, where they do not exist.
///
/// # Errors
/// [`FileError`].
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(failed("make the folder", path))
}

/// Reads a whole file; `None` if it does not exist, or if its path leads through something that is not a folder.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn read_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match regular(path).and_then(|()| fs::read_to_string(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// Reads a whole file that may be stored plain or packed (`NAME.gz`); `None` if it exists in neither form.
///
/// # Errors
/// [`FileError`] for any other failure.
pub fn read_packed_if_there(path: &Path) -> Result<Option<String>, FileError> {
    let path = existing(path);
    if !packed::is_packed(&path) {
        return read_if_there(&path);
    }
    let text = regular(&path).and_then(|()| packed::unpacked(File::open(&path)?)).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    text.map(Some).map_err(failed("read", &path))
}

/// Reads a whole file.
///
/// # Errors
/// [`FileError`], also if it does not exist.
pub fn read(path: &Path) -> Result<String, FileError> {
    regular(path).and_then(|()| fs::read_to_string(path)).map_err(failed("read", path))
}

/// Reads a whole file as bytes.
///
/// # Errors
/// [`FileError`], also if it does not exist.
pub fn bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    regular(path).and_then(|()| fs::read(path)).map_err(failed("read", path))
}

/// Writes a whole file, so that after a crash at any moment it has either its old or its new contents. A file that
/// already has these contents is not touched.
///
/// # Errors
/// [`FileError`].
pub fn write(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    let mut staged = Staged::new(path)?;
    staged.write(contents)?;
    staged.commit()
}

/// Writes a file that the user named. If the path is a device, a pipe or a file that this process may have open, such as
/// `/dev/stdout`, the bytes are appended to it. If the path is a symbolic link, the file that the link leads to is
/// written.
///
/// # Errors
/// [`FileError`].
pub fn put(path: &Path, contents: &[u8]) -> Result<(), FileError> {
    let there = fs::metadata(path).ok();
    match there {
        Some(_) if is_open_already(path) || is_device_or_pipe(path) => {
            let file = fs::OpenOptions::new().append(true).open(path);
            file.and_then(|mut file| file.write_all(contents)).map_err(failed("write", path))
        }
        Some(there) if there.is_file() => {
            write(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), contents)
        }
        _ => write(path, contents),
    }
}

/// Whether a path names a file that this process may be writing to already, such as `/dev/stdout` and `/dev/fd/3`.
fn is_open_already(path: &Path) -> bool {
    let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    streams.iter().any(|stream| path == Path::new(stream))
        || ["/dev/fd", "/proc"].iter().any(|root| path.starts_with(root))
}

/// Refuses devices and pipes, because they may never end or may discard what is written. The files of a run are regular
/// files.
pub(super) fn regular(path: &Path) -> io::Result<()> {
    if is_device_or_pipe(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe, not a file"));
    }
    Ok(())
}

/// Refuses paths that name no file (`.`, `..`, `/`), and symbolic links that lead to nothing, because a rename would replace
/// the link.
fn nameable(path: &Path) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) && fs::metadata(path).is_err() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a symbolic link that leads to no file",
        ));
    }
    Ok(())
}

/// Writes a whole file if none exists; returns `false` if one exists, which is not touched.
///
/// # Errors
/// [`FileError`].
pub fn write_new(path: &Path, contents: &[u8]) -> Result<bool, FileError> {
    let mut staged = Staged::new(path)?;
    staged.write(contents)?;
    staged.commit_new()
}

/// A file that is written under a temporary name and renamed when all of it is on disk.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    /// The temporary name; absent if contents are only compared and nothing is written.
    temporary: Option<PathBuf>,
    file: Option<Sink>,
    /// Hash of the bytes written so far, before compression.
    hash: blake3::Hasher,
    /// Whether the file is compressed (gzip) once it is larger than [`PACKED_ABOVE`].
    packs: bool,
    /// Present if contents are only compared: the list to which the path is added if the file does not exist or has other
    /// contents.
    unlike: Option<DifferingFiles>,
}

/// Files that are absent, or whose contents differ from those with which they were compared.
pub type DifferingFiles = Arc<Mutex<Vec<PathBuf>>>;

impl Staged {
    /// Begins a file under a temporary name.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn new(path: &Path) -> Result<Self, FileError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        regular(path).and_then(|()| nameable(path)).map_err(failed("write", path))?;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_added_extension(format!("{}-{number}.tmp", process_id()));
            match File::create_new(&temporary) {
                Ok(file) => {
                    // A lock keeps `clear` from removing a file that is being written.
                    drop(file.try_lock());
                    let (file, temporary) = (Some(Sink::new(file)), Some(temporary));
                    let (path, hash) = (path.to_owned(), blake3::Hasher::new());
                    return Ok(Self { path, temporary, file, hash, packs: false, unlike: None });
                }
                // The file belongs to a process with the same number on another machine, or to a killed process.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("write", path)(error)),
            }
        }
    }

    /// A file whose contents are only compared with those of the existing file, which is not touched. If there is no file
    /// at `path`, or if it has other contents, [`Staged::commit`] adds the path to `unlike`.
    #[must_use]
    pub fn compared(path: &Path, unlike: DifferingFiles) -> Self {
        let (path, hash) = (path.to_owned(), blake3::Hasher::new());
        Self { path, temporary: None, file: None, hash, packs: false, unlike: Some(unlike) }
    }

    /// The same file, which is compressed (gzip) if it is large: [`Staged::commit`] then gives it
    /// the name `NAME.gz`. Each call of [`Staged::write`] must pass whole lines.
    #[must_use]
    pub(in crate::study) fn packing(mut self) -> Self {
        self.packs = true;
        self
    }

    /// The final path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes to the file.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hash.update(bytes);
        let Some(mut file) = self.file.take() else { return Ok(()) };
        if self.packs && !file.is_packed() && self.hash.count() > PACKED_ABOVE {
            file = file.pack().map_err(failed("write", &self.path))?;
        }
        file.write(bytes).map_err(failed("write", &self.path))?;
        self.file = Some(file);
        Ok(())
    }

    /// Writes everything to disk. The file stays open, since its lock keeps `clear` from removing it before the rename.
    fn sync(&mut self) -> Result<(), FileError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.sync().map_err(failed("write", &self.path))
    }

    /// Renames the file to its final path. After `Staged::packing`, an older plain file and an older packed file are both
    /// replaced. If there is only one older file, plain or packed, and it has the same contents, the older file stays. A
    /// file that was begun by [`Staged::compared`] is only compared.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit(mut self) -> Result<(), FileError> {
        let forms = if self.packs {
            vec![self.path.clone(), packed_path(&self.path)]
        } else {
            vec![self.path.clone()]
        };
        let there: Vec<PathBuf> = forms.into_iter().filter(|path| path.exists()).collect();
        let same = !there.is_empty()
            && there.iter().all(|path| hash_of(path).is_some_and(|there| there == self.hash.finalize()));
        if let Some(unlike) = &self.unlike {
            if !same {
                unlike.lock().expect("no holder of this lock panics").push(existing(&self.path));
            }
            return Ok(());
        }
        if same && there.len() == 1 {
            return Ok(());
        }
        self.sync()?;
        let packed = self.file.as_ref().is_some_and(Sink::is_packed);
        let to = if packed { packed_path(&self.path) } else { self.path.clone() };
        self.rename(&to)?;
        there
            .iter()
            .filter(|path| **path != to)
            .try_for_each(fs::remove_file)
            .map_err(failed("remove", &self.path))
    }

    fn rename(&self, to: &Path) -> Result<(), FileError> {
        match &self.temporary {
            Some(temporary) => fs::rename(temporary, to).map_err(failed("write", to)),
            None => Ok(()),
        }
    }

    /// Renames the file to its final path if no file is there; returns `false` if a file is there. On file systems with hard
    /// links this is atomic: of several writers, exactly one succeeds.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit_new(mut self) -> Result<bool, FileError> {
        self.sync()?;
        self.link_new()
    }

    /// Renames the file to its final path if no file is there. Otherwise compares the two files; if they differ, the new
    /// one is renamed to `aside`.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn commit_or_compare(mut self, aside: &Path) -> Result<WriteResult, FileError> {
        self.sync()?;
        if self.link_new()? {
            return Ok(WriteResult::New);
        }
        if hash_of(&self.path).is_some_and(|there| there == self.hash.finalize()) {
            return Ok(WriteResult::Same);
        }
        self.rename(aside)?;
        Ok(WriteResult::Differs)
    }

    fn link_new(&self) -> Result<bool, FileError> {
        let Some(temporary) = &self.temporary else { return Ok(false) };
        match fs::hard_link(temporary, &self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no hard links. There a rename is used, which may replace another writer's file.
            Err(_) if !self.path.exists() => {
                self.rename(&self.path)?;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }
}

/// Removes the temporary files that killed processes left in `folder`.
pub fn clear(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(rest) = name.strip_suffix(".tmp") else { continue };
        // The names that `Staged::new` gives: the file's name, the process and a number.
        let numbers = rest.rsplit_once('.').and_then(|(_, numbers)| numbers.split_once('-'));
        let ours = numbers.is_some_and(|(process, number)| {
            process.parse::<u32>().is_ok_and(|process| process != process_id())
                && number.parse::<u64>().is_ok()
        });
        if ours && path.is_file() && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            drop(fs::remove_file(&path));
        }
    }
}

/// The result of writing a file that should be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// The file was written.
    New,
    /// A file with the same contents existed.
    Same,
    /// A file with other contents existed.
    Differs,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // The temporary file exists after an error, after a hard link to it was made, and if it was not needed. It no longer
        // exists after a rename. If it cannot be removed, this is not reported.
        if let Some(temporary) = &self.temporary {
            drop(fs::remove_file(temporary));
        }
    }
}

/// The hash of a file's contents, after decompression if the file is packed.
fn hash_of(path: &Path) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let file = regular(path).and_then(|()| File::open(path)).ok()?;
    if packed::is_packed(path) {
        let mut take = |contents: &[u8]| {
            hasher.update(contents);
        };
        packed::each(file, &mut take).ok()?;
    } else {
        hasher.update_reader(file).ok()?;
    }
    Some(hasher.finalize())
}

/// Indented JSON with a newline at the end.
pub(in crate::study) fn indented_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with text keys");
    text.push('\n');
    text
}

/// JSON on one line, with a newline at the end.
pub(in crate::study) fn compact(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("plain data with text keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
