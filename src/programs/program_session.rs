//! A dialogue: questions to one program, in order. A question with a stored answer is not asked again, and a process is
//! started at the first question without a stored answer.

use super::failure::ProgramFailure;
use super::program::Program;
use super::responder::Responder;
use super::shared::{Programs, QuestionId, as_answered};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// A question to a program.
pub struct Question<'a> {
    /// The kind of the question, which the program reads in the field "ask".
    pub ask: &'static str,
    /// The further fields of the question.
    pub fields: Map<String, Value>,
    /// Name of the field that holds the answer.
    pub answer: &'static str,
    /// A description of valid answers, for error messages.
    pub expected: String,
    /// Reads the value of the field that holds the answer; `None` if the value is no valid answer.
    pub read: &'a dyn Fn(&Value) -> Option<f64>,
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("ask", &self.ask)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A question whose answer is a list of numbers, such as a point. Each number is stored as the answer to a question of its
/// own.
pub struct ListQuestion<'a> {
    /// The kind of the question, as in [`Question`].
    pub ask: &'static str,
    /// The further fields of the question.
    pub fields: Map<String, Value>,
    /// Name of the field that holds the answer.
    pub answer: &'static str,
    /// A description of valid answers, for error messages.
    pub expected: String,
    /// Reads `length` numbers from the field that holds the answer; `None` if the value is no valid answer.
    pub read: &'a dyn Fn(&Value) -> Option<Vec<f64>>,
    /// How many numbers a valid answer has.
    pub length: usize,
}

impl fmt::Debug for ListQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListQuestion")
            .field("ask", &self.ask)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// What is sent for a question, and how its answer is read.
struct Sent<'a, T> {
    ask: &'static str,
    fields: &'a Map<String, Value>,
    answer: &'static str,
    expected: &'a str,
    read: &'a dyn Fn(&Value) -> Option<T>,
}

/// A dialogue with a program.
///
/// A clone gets the same answers as the original to the same questions. The clone begins without a process. For its
/// first question without a stored answer, it starts a process of its own, which receives the earlier steps of the
/// dialogue in the question `begin` (`past` of [`Self::ask`]).
pub struct ProgramSession {
    programs: Programs,
    number: u64,
    /// The branch of a fork in which the dialogue began, as in [`QuestionId::branch`].
    branch: Arc<str>,
    program: Program,
    opening: Map<String, Value>,
    /// Hash of the opening and of all questions so far.
    asked: blake3::Hasher,
    next: u64,
    process: Option<Responder>,
}

impl fmt::Debug for ProgramSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSession")
            .field("program", &self.program)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Clone for ProgramSession {
    fn clone(&self) -> Self {
        Self {
            programs: self.programs.clone(),
            branch: Arc::clone(&self.branch),
            program: self.program.clone(),
            opening: self.opening.clone(),
            asked: self.asked.clone(),
            // A process cannot be cloned.
            process: None,
            ..*self
        }
    }
}

impl ProgramSession {
    /// A dialogue with a program; `opening` has the fields of the question `begin`. No process is started yet.
    ///
    /// # Errors
    /// [`ProgramFailure::NotHere`] if `programs` gives no access to programs.
    pub fn open(
        programs: &Programs,
        program: Program,
        opening: Map<String, Value>,
    ) -> Result<Self, ProgramFailure> {
        let Some((number, branch)) = programs.begin() else {
            return Err(ProgramFailure::NotHere { program: program.words() });
        };
        let mut asked = blake3::Hasher::new();
        absorb(&mut asked, "begin", &opening);
        let programs = programs.clone();
        Ok(Self { programs, number, branch, program, opening, asked, next: 0, process: None })
    }

    /// The program of this dialogue.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Asks a question. If a process is started for this question, the process is first asked the question `begin`. The
    /// fields of `begin` are those of the opening and those that `past` returns. Returns `None` if there is no answer,
    /// or after an earlier failure: [`Programs::failure`] then has the reason, and the replication ends.
    pub fn ask(&mut self, question: &Question<'_>, past: &dyn Fn() -> Map<String, Value>) -> Option<f64> {
        let answered = self.answer(question, past);
        answered.map_err(|failure| self.programs.fail(failure)).ok()
    }

    /// Asks a question as [`Self::ask`] does, but returns a failure instead of recording it. If the failure is an
    /// interruption, it is recorded as well, so that it ends the replication.
    ///
    /// # Errors
    /// [`ProgramFailure`]: why there is no answer, or an earlier failure of the replication.
    pub fn answer(
        &mut self,
        question: &Question<'_>,
        past: &dyn Fn() -> Map<String, Value>,
    ) -> Result<f64, ProgramFailure> {
        let valid = |answer: f64| (question.read)(&as_answered(answer)).is_some();
        let Question { ask, fields, answer, expected, read } = question;
        let sent = Sent { ask, fields, answer, expected, read: *read };
        self.stored_or((ask, fields), (&valid, expected), &mut |own, number| own.put(&sent, number, past))
    }

    /// Asks, as [`Self::ask`] does, a question whose answer is a list of numbers. If a run was interrupted after only
    /// some numbers of a list were stored, the question is asked again to get the numbers that are missing.
    pub fn ask_list(
        &mut self,
        question: &ListQuestion<'_>,
        past: &dyn Fn() -> Map<String, Value>,
    ) -> Option<Vec<f64>> {
        let ListQuestion { ask, fields, answer, expected, read, length } = question;
        let read_all = |value: &Value| (*read)(value).filter(|list| list.len() == *length);
        let sent = Sent { ask, fields, answer, expected, read: &read_all };
        let mut list: Option<Vec<f64>> = None;
        let mut numbers = Vec::with_capacity(*length);
        for place in 0..*length {
            let mut identified = fields.clone();
            identified.insert("number of the list".to_owned(), Value::from(place));
            let mut put = |own: &mut Self, number: u64| {
                if list.is_none() {
                    list = Some(own.put(&sent, number, past)?);
                }
                Ok(list.as_ref().map_or(0.0, |known| known[place]))
            };
            let found = self.stored_or((ask, &identified), (&f64::is_finite, expected), &mut put);
            numbers.push(found.map_err(|failure| self.programs.fail(failure)).ok()?);
        }
        Some(numbers)
    }

    /// The stored answer to a question; if there is none, the answer that `put` gets from the program. `valid` says whether
    /// a stored answer can be used.
    fn stored_or(
        &mut self,
        (ask, fields): (&'static str, &Map<String, Value>),
        (valid, expected): (&dyn Fn(f64) -> bool, &str),
        put: &mut dyn FnMut(&mut Self, u64) -> Result<f64, ProgramFailure>,
    ) -> Result<f64, ProgramFailure> {
        if let Some(failure) = self.programs.failure() {
            return Err(failure);
        }
        absorb(&mut self.asked, ask, fields);
        let asked = self.asked.finalize().to_hex();
        let (number, programs) = (self.next, self.programs.clone());
        let asked = &asked.as_str()[..32];
        self.next += 1;
        let (different, known) = programs.known(self.number, asked);
        if let Some(answer) = known {
            // The running process has not received this question, so it cannot continue the dialogue.
            self.process = None;
            return Ok(answer);
        }
        let branch = Arc::clone(&self.branch);
        let (topic, dialogue) = (programs.topic(), self.number);
        let place = QuestionId { topic, dialogue, branch: &branch, number: different, asked };
        let answer = match programs.find(place) {
            // The stored answer may be invalid if somebody changed the file.
            Some(answer) if !valid(answer) => {
                return Err(ProgramFailure::Kept {
                    program: self.program.words(),
                    asked: format!("question {} ({ask})", number + 1),
                    found: answer.to_string(),
                    expected: expected.to_owned(),
                });
            }
            Some(answer) => {
                // The running process has not received this question, so it cannot continue the dialogue.
                self.process = None;
                answer
            }
            None => {
                let own = put(self, number).inspect_err(|failure| {
                    // An interruption is recorded here, even if the caller turns it into another error: an interrupted
                    // replication is not counted as failed.
                    if let ProgramFailure::Interrupted { .. } = failure {
                        programs.fail(failure.clone());
                    }
                })?;
                let counts = programs.keep(place, own).map_err(|error| ProgramFailure::Keeping {
                    program: self.program.words(),
                    reason: error.to_string(),
                })?;
                // If the stored answer differs from the answer of the running process, another worker stored its answer
                // first, and the stored answer counts. The running process then cannot continue the dialogue, because it
                // has given another answer.
                if counts.to_bits() != own.to_bits() {
                    self.process = None;
                }
                counts
            }
        };
        programs.note(place, answer);
        Ok(answer)
    }

    /// Sends a question to the process, and starts a process if none is running.
    fn put<T>(
        &mut self,
        question: &Sent<'_, T>,
        number: u64,
        past: &dyn Fn() -> Map<String, Value>,
    ) -> Result<T, ProgramFailure> {
        let what = format!("question {} ({})", number + 1, question.ask);
        if self.programs.interruption().is_requested() {
            return Err(ProgramFailure::Interrupted { program: self.program.words(), asked: what });
        }
        let process = match &mut self.process {
            Some(process) => process,
            none => {
                let Some(base) = self.programs.base() else {
                    return Err(ProgramFailure::NotKept { program: self.program.words(), asked: what });
                };
                let mut process = Responder::start(&self.program, base, self.programs.interruption())?;
                let (found, expected) =
                    (process.version(), self.programs.expected_version(&self.program.command));
                if let Some(expected) = expected.filter(|expected| *expected != found) {
                    return Err(ProgramFailure::OtherVersion {
                        program: self.program.words(),
                        found: found.to_owned(),
                        expected: expected.to_owned(),
                    });
                }
                let mut begin = self.opening.clone();
                begin.extend(past());
                process.ask("begin", begin, "the opening (begin)")?;
                none.insert(process)
            }
        };
        let reply = process.ask(question.ask, question.fields.clone(), &what)?;
        let read = reply.get(question.answer).and_then(|value| (question.read)(value));
        read.ok_or_else(|| process.unusable(&what, &Value::Object(reply).to_string(), question.expected))
    }
}

fn absorb(hasher: &mut blake3::Hasher, ask: &str, fields: &Map<String, Value>) {
    let text = serde_json::to_string(fields).expect("plain data with text keys");
    for part in [ask, &text] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
}
