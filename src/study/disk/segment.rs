//! Files to which a process appends records as replications end.

use crate::study::disk::files::{FileError, make_folder};
use crate::vocab::process_id;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Least time between two syncs to disk, except for the sync when the segment is closed.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// A file to which records are appended as replications end. It is created when the first record is appended. It is locked
/// until it is closed, so that no other process takes it for the file of a process that has ended.
#[derive(Debug)]
pub(in crate::study) struct Segment {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    NotYet,
    Open {
        file: File,
        path: PathBuf,
        synced: Instant,
    },
    /// A write or a sync failed. Nothing more is written, since a record after an incomplete line could not be read.
    Broken,
}

impl Segment {
    /// A segment in `folder`. The folder and the segment's file are created when the first record is appended.
    pub(in crate::study) fn within(folder: PathBuf) -> Self {
        Self { folder, state: Mutex::new(State::NotYet) }
    }

    /// Appends a line. The line then survives the end of this process. After the next sync, the line also survives a loss of
    /// power. A sync happens with the first line that is appended more than a second after the last sync (or, before the
    /// first sync, after the file was created), and when the segment is closed.
    pub(in crate::study) fn append(&self, line: &[u8]) -> Result<(), FileError> {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        if let State::NotYet = *state {
            let (file, path) = create(&self.folder)?;
            *state = State::Open { file, path, synced: Instant::now() };
        }
        let State::Open { file, path, synced } = &mut *state else {
            let error = io::Error::other("an earlier write failed");
            return Err(FileError { doing: "write", path: self.folder.clone(), error });
        };
        let mut attempt = file.write_all(line);
        if attempt.is_ok() && synced.elapsed() > SYNC_EVERY {
            attempt = file.sync_data();
            *synced = Instant::now();
        }
        if let Err(error) = attempt {
            let path = path.clone();
            *state = State::Broken;
            return Err(FileError { doing: "write", path, error });
        }
        Ok(())
    }

    /// Makes the appended records survive a loss of power, and ends the segment. If an earlier write or sync failed,
    /// nothing is synced any more.
    pub(in crate::study) fn close(self) -> Result<(), FileError> {
        match self.state.into_inner().expect("no holder of this lock panics") {
            State::Open { file, path, .. } => {
                file.sync_all().map_err(|error| FileError { doing: "write", path, error })
            }
            State::NotYet | State::Broken => Ok(()),
        }
    }
}

fn create(folder: &Path) -> Result<(File, PathBuf), FileError> {
    make_folder(folder)?;
    let process = process_id();
    let mut number = 0;
    loop {
        let path = folder.join(format!("{process}-{number}.jsonl"));
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => {
                // On a file system without locks this call fails. `remove_left_behind` cannot lock
                // a file there either, and then removes no segment.
                drop(file.try_lock());
                return Ok((file, path));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(FileError { doing: "write", path, error }),
        }
    }
}

/// Removes the segments to which no process writes any more. On a file system without locks, no segment is removed.
pub(in crate::study) fn remove_left_behind(paths: &[PathBuf]) {
    for path in paths {
        // A segment that cannot be removed does no harm: its records have been written to `records.jsonl`.
        if let Ok(file) = File::open(path)
            && file.try_lock().is_ok()
        {
            drop(fs::remove_file(path));
        }
    }
}
