//! The answers of programs, in a file: one line with a checksum for each answer, written before the answer is used.
//!
//! ```text
//! answers/<preparation>.jsonl               answers of objectives, which stay in the run folder
//! unfinished/<cell>-<replication>.jsonl     answers of all other programs, until the replication's record is stored
//! ```
//!
//! A line has the form that the module `store` describes for a record's line. If two workers ask the same question, and so
//! the file has two answers to this question, the first answer counts.

use crate::programs::{Answers, CannotKeep, QuestionId};
use crate::study::disk::error::FolderError;
use crate::study::disk::files::{self, FileError};
use crate::study::disk::folder::RunFolder;
use crate::study::disk::store;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// One answer, as a line of the file holds it.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    identity: String,
    replication: u64,
    topic: String,
    dialogue: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    branch: String,
    number: u64,
    asked: String,
    answer: f64,
}

/// The key of a question. A dialogue is a sequence of questions to one program, with their answers. The key consists of
/// the dialogue's topic (the name of a series, or "objective"), the dialogue's number among the dialogues about the topic,
/// the branch in which the dialogue began, and a hash of the dialogue's opening and its questions up to this one. The
/// number of the question is not a part of the key, because this number can differ between two runs of a fork: if one
/// branch fails, the questions of the next branch have other numbers.
type QuestionKey = (String, u64, String, String);

/// A file of answers.
#[derive(Debug)]
pub(in crate::study) struct AnswerFile {
    path: PathBuf,
    identity: String,
    replication: u64,
    access: Access,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Answers are appended as they arrive; other processes may append at the same time.
    Shared,
    /// One process at a time uses the file and locks it; a later process waits for the lock and then finds the answers.
    Alone,
    /// The file is only read.
    Reading,
}

#[derive(Debug, Default)]
struct State {
    file: Option<File>,
    /// Number of bytes read so far, up to the end of the last complete line.
    read: u64,
    known: BTreeMap<QuestionKey, f64>,
}

impl AnswerFile {
    /// The file with the answers of an objective, which is asked once for all cells with the same preparation, by one
    /// process at a time. With `reading`, the file is only read.
    pub(in crate::study) fn of_objective(folder: &RunFolder, preparation: &str, reading: bool) -> Self {
        let access = if reading { Access::Reading } else { Access::Alone };
        Self::at(objective(folder, preparation), preparation, 0, access)
    }

    /// The file with the answers in an unfinished replication of a cell.
    pub(in crate::study) fn of_replication(folder: &RunFolder, cell: &str, replication: u64) -> Self {
        Self::at(unfinished(folder, cell, replication), cell, replication, Access::Shared)
    }

    fn at(path: PathBuf, identity: &str, replication: u64, access: Access) -> Self {
        Self { path, identity: identity.to_owned(), replication, access, state: Mutex::default() }
    }

    fn failed(&self, doing: &'static str) -> impl Fn(io::Error) -> CannotKeep {
        let path = self.path.clone();
        move |error| CannotKeep::because(FileError { doing, path: path.clone(), error })
    }

    /// Opens the file; `None` if it does not exist. With `Alone`, the file is created here, because there must be a file to
    /// lock; with `Shared`, it is created with the first answer.
    fn open(&self) -> io::Result<Option<File>> {
        if self.access == Access::Reading {
            return match File::open(&self.path) {
                Ok(file) => Ok(Some(file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            };
        }
        if self.access == Access::Shared && !self.path.exists() {
            return Ok(None);
        }
        self.make().map(Some)
    }

    fn make(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        if self.access == Access::Alone {
            // On a file system without locks, two processes may ask at the same time; then too, the first answer counts.
            drop(file.lock());
        }
        // If a killed process left an incomplete last line, end it, so that the next line is not damaged too.
        if file.seek(SeekFrom::End(0))? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(file)
    }

    /// Reads the lines that were added since the last read.
    fn refresh(&self, state: &mut State) -> io::Result<()> {
        let Some(file) = &mut state.file else { return Ok(()) };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(state.read))?;
        file.read_to_end(&mut bytes)?;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { break };
            state.read += line.len() as u64 + 1;
            let read = store::head(line).and_then(|head| serde_json::from_str::<Line>(&head.body()).ok());
            let mine =
                read.filter(|line| line.identity == self.identity && line.replication == self.replication);
            if let Some(Line { topic, dialogue, branch, asked, answer, .. }) = mine {
                state.known.entry((topic, dialogue, branch, asked)).or_insert(answer);
            }
        }
        Ok(())
    }

    fn look(&self, state: &mut State, place: QuestionId<'_>) -> Option<f64> {
        let asked = (place.topic.to_owned(), place.dialogue, place.branch.to_owned(), place.asked.to_owned());
        if let Some(answer) = state.known.get(&asked) {
            return Some(*answer);
        }
        if state.file.is_none() {
            state.file = self.open().ok()?;
        }
        self.refresh(state).ok()?;
        state.known.get(&asked).copied()
    }
}

impl Answers for AnswerFile {
    fn find(&self, place: QuestionId<'_>) -> Option<f64> {
        self.look(&mut self.state.lock().expect("no holder of this lock panics"), place)
    }

    fn keep(&self, place: QuestionId<'_>, answer: f64) -> Result<f64, CannotKeep> {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        if state.file.is_none() {
            state.file = Some(self.make().map_err(self.failed("write"))?);
        }
        let line = Line {
            identity: self.identity.clone(),
            replication: self.replication,
            topic: place.topic.to_owned(),
            dialogue: place.dialogue,
            branch: place.branch.to_owned(),
            number: place.number,
            asked: place.asked.to_owned(),
            answer,
        };
        let body = serde_json::to_string(&line).expect("plain data with text keys");
        if let Some(file) = &mut state.file {
            file.write_all(&store::line(0, &body)).map_err(self.failed("write"))?;
        }
        Ok(self.look(&mut state, place).unwrap_or(answer))
    }
}

fn objective(folder: &RunFolder, preparation: &str) -> PathBuf {
    folder.file("answers").join(format!("{}.jsonl", short(preparation)))
}

fn unfinished(folder: &RunFolder, cell: &str, replication: u64) -> PathBuf {
    folder.file("unfinished").join(format!("{}-{replication}.jsonl", short(cell)))
}

/// The first 16 hexadecimal digits of a hash, for a file name; every line of the file holds the whole hash.
fn short(identity: &str) -> &str {
    identity.get(..16).unwrap_or(identity)
}

/// Removes the answer file of a replication whose record is stored and contains the answers.
pub(in crate::study) fn remove_answers(folder: &RunFolder, cell: &str, replication: u64) {
    // A file that cannot be removed now is removed when the run is complete.
    drop(std::fs::remove_file(unfinished(folder, cell, replication)));
}

/// Removes the remaining answer files of the replications of a complete run.
pub(in crate::study) fn remove_all_answers(folder: &RunFolder) {
    drop(std::fs::remove_dir_all(folder.file("unfinished")));
}

/// Copies the answers of an objective from one run folder to another, unless the target folder has them already.
pub(in crate::study) fn copy(from: &RunFolder, to: &RunFolder, preparation: &str) -> Result<(), FolderError> {
    let (source, target) = (objective(from, preparation), objective(to, preparation));
    if target.exists() || !source.is_file() {
        return Ok(());
    }
    let Some(text) = files::read_if_there(&source)? else { return Ok(()) };
    files::make_folder(target.parent().unwrap_or(Path::new(".")))?;
    files::write_new(&target, text.as_bytes())?;
    Ok(())
}
