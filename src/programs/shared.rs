//! What the dialogues of one replication share: whether programs may be started, the answers that are kept, and the first
//! failure, which ends the replication.

use super::failure::ProgramFailure;
use super::program::ProgramIdentity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// All that a program was asked in one dialogue, as a record keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The arms that it answered with, in order.
    pub answers: Vec<u64>,
    /// The first 32 hexadecimal digits of a hash of all that it was asked.
    pub asked: String,
}

/// The place of a question: its number in a dialogue of a series.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The series, or what else the dialogue is about.
    pub topic: &'a str,
    /// Number of the dialogue among those about the topic.
    pub dialogue: u64,
    /// Number of the question, from 0.
    pub number: u64,
    /// Hash of this question and all before it in the dialogue.
    pub asked: &'a str,
}

/// An answer that cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotKeep(Box<dyn Error + Send + Sync>);

impl CannotKeep {
    /// Because of an error.
    pub fn because(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// Where answers are kept.
pub trait Answers: fmt::Debug + Send + Sync {
    /// The answer that a question had before.
    fn find(&self, place: Place<'_>) -> Option<f64>;

    /// Keeps an answer, and gives the one that counts: the first, where somebody else answered the question meanwhile.
    ///
    /// # Errors
    /// [`CannotKeep`].
    fn keep(&self, place: Place<'_>, answer: f64) -> Result<f64, CannotKeep>;
}

/// The answers in a record.
#[derive(Clone, Debug, Default)]
pub struct Recorded(BTreeMap<(String, u64), Vec<u64>>);

impl Recorded {
    /// Adds those of a series.
    pub fn add(&mut self, series: &str, conversations: &[Conversation]) {
        for (number, conversation) in (0..).zip(conversations) {
            self.0.insert((series.to_owned(), number), conversation.answers.clone());
        }
    }
}

impl Answers for Recorded {
    // What was asked need not be compared here: who repeats a run compares the hash with the record's.
    fn find(&self, place: Place<'_>) -> Option<f64> {
        let answers = self.0.get(&(place.topic.to_owned(), place.dialogue))?;
        answers.get(usize::try_from(place.number).ok()?).map(|&arm| arm as f64)
    }

    fn keep(&self, _: Place<'_>, answer: f64) -> Result<f64, CannotKeep> {
        Ok(answer)
    }
}

/// The programs of one replication, as a series of it may use them. The default: none is started, and none was asked.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    shared: Option<Arc<Shared>>,
    topic: Arc<str>,
}

#[derive(Debug)]
struct Shared {
    /// The folder in which programs are started, and those that are expected; none where only kept answers count.
    start: Option<(PathBuf, Vec<ProgramIdentity>)>,
    answers: Option<Box<dyn Answers>>,
    heard: Mutex<BTreeMap<Arc<str>, Vec<Conversation>>>,
    failure: OnceLock<ProgramFailure>,
}

impl Programs {
    /// Programs that are started in the folder `base` when there is something to ask, and their answers kept in `answers`
    /// where there are any; `known` says of each what it is, as far as that was asked before.
    #[must_use]
    pub fn started(base: &Path, known: &[ProgramIdentity], answers: Option<Box<dyn Answers>>) -> Self {
        Self::of(Some((base.to_owned(), known.to_vec())), answers)
    }

    /// Programs that are not started: all they say is in `answers`.
    #[must_use]
    pub fn recorded(answers: Box<dyn Answers>) -> Self {
        Self::of(None, Some(answers))
    }

    fn of(start: Option<(PathBuf, Vec<ProgramIdentity>)>, answers: Option<Box<dyn Answers>>) -> Self {
        let shared = Shared { start, answers, heard: Mutex::default(), failure: OnceLock::new() };
        Self { shared: Some(Arc::new(shared)), topic: Arc::default() }
    }

    /// Whether there are none at all.
    #[must_use]
    pub fn are_absent(&self) -> bool {
        self.shared.is_none()
    }

    /// Whether programs are never started, since all they say was kept.
    #[must_use]
    pub fn are_recorded(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.start.is_none())
    }

    /// The same for dialogues about one series.
    #[must_use]
    pub fn of_series(&self, series: &str) -> Self {
        Self { shared: self.shared.clone(), topic: series.into() }
    }

    /// The number of a new dialogue; none where no program is asked.
    pub(super) fn begin(&self) -> Option<u64> {
        let mut heard = lock(&self.shared.as_ref()?.heard);
        let conversations = heard.entry(Arc::clone(&self.topic)).or_default();
        conversations.push(Conversation::default());
        Some(conversations.len() as u64 - 1)
    }

    /// What went wrong first.
    #[must_use]
    pub fn failure(&self) -> Option<&ProgramFailure> {
        self.shared.as_ref()?.failure.get()
    }

    /// All dialogues about a series so far.
    #[must_use]
    pub fn heard(&self, series: &str) -> Vec<Conversation> {
        let Some(shared) = &self.shared else { return Vec::new() };
        lock(&shared.heard).get(series).cloned().unwrap_or_default()
    }

    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    pub(super) fn fail(&self, failure: ProgramFailure) {
        if let Some(shared) = &self.shared {
            // The first counts.
            drop(shared.failure.set(failure));
        }
    }

    /// The folder to start a program in.
    pub(super) fn base(&self) -> Option<&Path> {
        self.shared.as_ref()?.start.as_ref().map(|(base, _)| base.as_path())
    }

    /// What a program said that it is when it was asked before.
    pub(super) fn expected_version(&self, command: &[String]) -> Option<&str> {
        let (_, known) = self.shared.as_ref()?.start.as_ref()?;
        let version = &known.iter().find(|known| known.command == command)?.version;
        (!version.is_empty()).then_some(version.as_str())
    }

    pub(super) fn find(&self, place: Place<'_>) -> Option<f64> {
        self.shared.as_ref()?.answers.as_ref()?.find(place)
    }

    pub(super) fn keep(&self, place: Place<'_>, answer: f64) -> Result<f64, CannotKeep> {
        match self.shared.as_ref().and_then(|shared| shared.answers.as_ref()) {
            Some(answers) => answers.keep(place, answer),
            None => Ok(answer),
        }
    }

    /// Notes an answer for the record.
    pub(super) fn note(&self, place: Place<'_>, answer: f64) {
        let Some(shared) = &self.shared else { return };
        let mut heard = lock(&shared.heard);
        let conversations = heard.get_mut(place.topic);
        let conversation = conversations.and_then(|all| all.get_mut(usize::try_from(place.dialogue).ok()?));
        if let Some(conversation) = conversation {
            conversation.answers.push(answer as u64);
            place.asked.clone_into(&mut conversation.asked);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
