//! The state that all dialogues of one replication share: access to programs, stored answers, and the first failure, which
//! ends the replication.

use super::failure::ProgramFailure;
use super::program::ProgramIdentity;
use crate::vocab::Interruption;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What a record stores of one dialogue with a program: the answers, and a hash of the questions. A branch of a fork, or
/// a party that starts again, continues a copy of the dialogue; `answers` also has the answers to the copy's
/// questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedSession {
    /// The answers to all different questions, in order: the arms of a learner (whole numbers), the coordinates of its
    /// points, the values of an objective, or the outcomes of a mechanism. Two questions are different if their kinds or
    /// fields differ, or if different questions were asked before them.
    #[serde(serialize_with = "in_digits")]
    pub answers: Vec<f64>,
    /// The first 32 hexadecimal digits of a hash of the dialogue's opening and its questions, up to the question whose
    /// answer is the last of `answers`; empty before the first question.
    pub asked: String,
}

/// Writes whole numbers of at least 0 without a decimal point. A number that is written and read again keeps its bits.
fn in_digits<S: Serializer>(answers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(answers.iter().map(|&answer| as_answered(answer)))
}

/// A stored answer as JSON: whole numbers of at least 0, such as arms, have no decimal point.
pub(super) fn as_answered(answer: f64) -> Value {
    let whole = answer as u64;
    if (whole as f64).to_bits() == answer.to_bits() { Value::from(whole) } else { Value::from(answer) }
}

/// What identifies a question: the topic of its dialogue, the dialogue's number and branch, the question's number, and a
/// hash.
#[derive(Clone, Copy, Debug)]
pub struct QuestionId<'a> {
    /// What the dialogue is about: the name of a series, or "objective".
    pub topic: &'a str,
    /// Number of the dialogue among those about the topic. Copies of a dialogue have its number.
    pub dialogue: u64,
    /// The branch of a fork in which the dialogue began; empty if it began before the fork, or if there is no fork.
    pub branch: &'a str,
    /// Number of the question, from 0, among the different questions of the dialogue and its copies.
    pub number: u64,
    /// The first 32 hexadecimal digits of a hash of the dialogue's opening and its questions up to this one.
    pub asked: &'a str,
}

/// The error for an answer that could not be stored.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotKeep(Box<dyn Error + Send + Sync>);

impl CannotKeep {
    /// The error for an answer that could not be stored because of `error`.
    pub fn because(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// A store of answers.
pub trait Answers: fmt::Debug + Send + Sync {
    /// The stored answer to a question, if there is one.
    fn find(&self, place: QuestionId<'_>) -> Option<f64>;

    /// Stores an answer and returns the answer to use. If another worker has stored an answer to the question in the
    /// meantime, that answer is returned.
    ///
    /// # Errors
    /// [`CannotKeep`] if the answer cannot be stored.
    fn keep(&self, place: QuestionId<'_>, answer: f64) -> Result<f64, CannotKeep>;
}

/// The answers of a replication's record, for a replay.
#[derive(Clone, Debug, Default)]
pub struct Recorded(BTreeMap<(String, u64), Vec<f64>>);

impl Recorded {
    /// Adds the answers of a series.
    pub fn add(&mut self, series: &str, conversations: &[RecordedSession]) {
        for (number, conversation) in (0..).zip(conversations) {
            self.0.insert((series.to_owned(), number), conversation.answers.clone());
        }
    }
}

impl Answers for Recorded {
    // Hashes of questions are not compared here: the replay compares them with those of the record.
    fn find(&self, place: QuestionId<'_>) -> Option<f64> {
        let answers = self.0.get(&(place.topic.to_owned(), place.dialogue))?;
        answers.get(usize::try_from(place.number).ok()?).copied()
    }

    fn keep(&self, _: QuestionId<'_>, answer: f64) -> Result<f64, CannotKeep> {
        Ok(answer)
    }
}

/// Access to the external programs of one replication, for one topic. The default gives no access: every dialogue is
/// refused.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    shared: Option<Arc<Shared>>,
    failure: Arc<FirstFailure>,
    interruption: Interruption,
    topic: Arc<str>,
}

/// The first failure of a replication, or of a branch of its fork. The flag `is_there` is read at every event, so that
/// the mutex is locked only if there is a failure.
#[derive(Debug, Default)]
struct FirstFailure {
    is_there: AtomicBool,
    failure: Mutex<Option<ProgramFailure>>,
}

#[derive(Debug)]
struct Shared {
    /// The folder in which programs are started, and their expected identities; `None` if only stored answers are used.
    start: Option<(PathBuf, Vec<ProgramIdentity>)>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    answers: Option<Arc<dyn Answers>>,
    /// The branch of a fork that is being played; empty if no branch is being played.
    branch: Arc<str>,
    dialogues: Dialogues,
}

/// The dialogues, by topic and number.
type Dialogues = BTreeMap<Arc<str>, Vec<Exchanges>>;

/// All dialogues of a replication up to one point of time, so that each branch of a fork begins with the same
/// dialogues.
#[derive(Clone, Debug, Default)]
pub struct DialogueStates(Dialogues);

/// The answers of one dialogue and its copies so far.
#[derive(Clone, Debug, Default)]
struct Exchanges {
    conversation: RecordedSession,
    /// The answers, by the hash of the question and of all questions before it. A copy of the dialogue, in a branch of a
    /// fork or in a party that starts again, gets the same answer to the same question. So the later questions of the copy
    /// have the same past as those of the original.
    known: BTreeMap<String, f64>,
}

impl Programs {
    /// Programs that are started in the folder `base` for questions without a stored answer. New answers are stored in
    /// `answers`, if given. `known` has the identities of the programs; a version that is empty is not checked.
    #[must_use]
    pub fn started(base: &Path, known: &[ProgramIdentity], answers: Option<Box<dyn Answers>>) -> Self {
        Self::of(Some((base.to_owned(), known.to_vec())), answers)
    }

    /// Programs that are not started: every answer is taken from `answers`.
    #[must_use]
    pub fn recorded(answers: Box<dyn Answers>) -> Self {
        Self::of(None, Some(answers))
    }

    fn of(start: Option<(PathBuf, Vec<ProgramIdentity>)>, answers: Option<Box<dyn Answers>>) -> Self {
        let state = State { answers: answers.map(Arc::from), ..State::default() };
        Self { shared: Some(Arc::new(Shared { start, state: Mutex::new(state) })), ..Self::default() }
    }

    /// The same programs. Once a stop is requested, they are asked no further question, and the replication fails with
    /// [`ProgramFailure::Interrupted`] at the next question without a stored answer.
    #[must_use]
    pub fn until_interrupted(self, interruption: &Interruption) -> Self {
        Self { interruption: interruption.clone(), ..self }
    }

    /// The dialogues so far, for [`Self::begin_branch`].
    #[must_use]
    pub fn dialogues(&self) -> DialogueStates {
        let copy = |shared: &Arc<Shared>| lock(&shared.state).dialogues.clone();
        DialogueStates(self.shared.as_ref().map(copy).unwrap_or_default())
    }

    /// Begins the branch `name` of a fork. Its dialogues continue from `dialogues`, the dialogues
    /// at the end of the common beginning, and do not depend on the questions of other branches.
    /// Answers are looked up and stored in `answers`. Failures of earlier branches are forgotten.
    pub fn begin_branch(&self, name: &str, dialogues: &DialogueStates, answers: Option<Box<dyn Answers>>) {
        *lock(&self.failure.failure) = None;
        self.failure.is_there.store(false, Ordering::SeqCst);
        if let Some(shared) = &self.shared {
            let dialogues = dialogues.0.clone();
            *lock(&shared.state) = State { answers: answers.map(Arc::from), branch: name.into(), dialogues };
        }
    }

    /// Whether there is no access to programs at all (the default).
    #[must_use]
    pub fn are_absent(&self) -> bool {
        self.shared.is_none()
    }

    /// Whether programs are never started, because only stored answers are used.
    #[must_use]
    pub fn are_recorded(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.start.is_none())
    }

    /// The same programs, for dialogues about another topic, such as one series.
    #[must_use]
    pub fn of_series(&self, series: &str) -> Self {
        Self { topic: series.into(), ..self.clone() }
    }

    /// Begins a dialogue and returns its number, and the branch of a fork in which it begins; `None` if there is no access
    /// to programs.
    pub(super) fn begin(&self) -> Option<(u64, Arc<str>)> {
        let mut state = lock(&self.shared.as_ref()?.state);
        let dialogues = state.dialogues.entry(Arc::clone(&self.topic)).or_default();
        dialogues.push(Exchanges::default());
        Some((dialogues.len() as u64 - 1, Arc::clone(&state.branch)))
    }

    /// The first failure, if any.
    #[must_use]
    pub fn failure(&self) -> Option<ProgramFailure> {
        self.has_failed().then(|| lock(&self.failure.failure).clone()).flatten()
    }

    /// Whether there is a failure.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failure.is_there.load(Ordering::SeqCst)
    }

    /// The request to stop, after which these programs are asked no further question.
    pub(super) fn interruption(&self) -> &Interruption {
        &self.interruption
    }

    /// All dialogues about a series so far.
    #[must_use]
    pub fn recorded_sessions(&self, series: &str) -> Vec<RecordedSession> {
        let Some(shared) = &self.shared else { return Vec::new() };
        let state = lock(&shared.state);
        let dialogues = state.dialogues.get(series).map_or(&[][..], Vec::as_slice);
        dialogues.iter().map(|exchanges| exchanges.conversation.clone()).collect()
    }

    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    /// Ends the replication as failed. Only the first failure is kept.
    pub fn fail(&self, failure: ProgramFailure) {
        lock(&self.failure.failure).get_or_insert(failure);
        self.failure.is_there.store(true, Ordering::SeqCst);
    }

    /// The folder to start a program in.
    pub(super) fn base(&self) -> Option<&Path> {
        self.shared.as_ref()?.start.as_ref().map(|(base, _)| base.as_path())
    }

    /// The version that a program reported earlier; `None` if it is unknown.
    pub(super) fn expected_version(&self, command: &[String]) -> Option<&str> {
        let (_, known) = self.shared.as_ref()?.start.as_ref()?;
        let version = &known.iter().find(|known| known.command == command)?.version;
        (!version.is_empty()).then_some(version.as_str())
    }

    /// The number of different questions that a dialogue and its copies have asked, and the answer to the question with the
    /// hash `asked`, if it is one of them.
    pub(super) fn known(&self, dialogue: u64, asked: &str) -> (u64, Option<f64>) {
        let Some(shared) = &self.shared else { return (0, None) };
        let mut state = lock(&shared.state);
        let exchanges = dialogue_of(&mut state.dialogues, &self.topic, dialogue);
        exchanges.map_or((0, None), |exchanges| {
            (exchanges.known.len() as u64, exchanges.known.get(asked).copied())
        })
    }

    pub(super) fn find(&self, place: QuestionId<'_>) -> Option<f64> {
        self.answers()?.find(place)
    }

    pub(super) fn keep(&self, place: QuestionId<'_>, answer: f64) -> Result<f64, CannotKeep> {
        self.answers().map_or(Ok(answer), |answers| answers.keep(place, answer))
    }

    fn answers(&self) -> Option<Arc<dyn Answers>> {
        lock(&self.shared.as_ref()?.state).answers.clone()
    }

    /// Stores a new answer for copies of the dialogue and for the record.
    pub(super) fn note(&self, place: QuestionId<'_>, answer: f64) {
        let Some(shared) = &self.shared else { return };
        if let Some(exchanges) = dialogue_of(&mut lock(&shared.state).dialogues, place.topic, place.dialogue)
        {
            exchanges.known.insert(place.asked.to_owned(), answer);
            exchanges.conversation.answers.push(answer);
            place.asked.clone_into(&mut exchanges.conversation.asked);
        }
    }
}

fn dialogue_of<'a>(dialogues: &'a mut Dialogues, topic: &str, dialogue: u64) -> Option<&'a mut Exchanges> {
    dialogues.get_mut(topic)?.get_mut(usize::try_from(dialogue).ok()?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
