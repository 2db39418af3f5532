//! Questions to one program, in order: what was answered before is not asked again, and a process is started only for what
//! is left.

use super::failure::ProgramFailure;
use super::partner::Partner;
use super::program::Program;
use super::shared::{Place, Programs, as_answered};
use serde_json::{Map, Value};
use std::fmt;

/// A question.
pub struct Question<'a> {
    /// Its kind, as the program reads it under "ask".
    pub ask: &'static str,
    /// What it says.
    pub fields: Map<String, Value>,
    /// The field of the answer.
    pub answer: &'static str,
    /// What an answer is, for whoever reads that one was none.
    pub expected: String,
    /// Reads the answer's field.
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

/// A dialogue with a program. A clone has the answers to all that it and the original were asked before; for the first question
/// that is new it begins a process of its own, which is told what went before.
pub struct Dialogue {
    programs: Programs,
    number: u64,
    program: Program,
    opening: Map<String, Value>,
    /// Over the opening and all questions so far.
    asked: blake3::Hasher,
    next: u64,
    process: Option<Partner>,
}

impl fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialogue")
            .field("program", &self.program)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Clone for Dialogue {
    fn clone(&self) -> Self {
        Self {
            programs: self.programs.clone(),
            program: self.program.clone(),
            opening: self.opening.clone(),
            asked: self.asked.clone(),
            // A process cannot be cloned.
            process: None,
            ..*self
        }
    }
}

impl Dialogue {
    /// A dialogue with a program; `opening` is what it is told first. Nothing is started yet.
    ///
    /// # Errors
    /// [`ProgramFailure::NotHere`].
    pub fn open(
        programs: &Programs,
        program: Program,
        opening: Map<String, Value>,
    ) -> Result<Self, ProgramFailure> {
        let Some(number) = programs.begin() else {
            return Err(ProgramFailure::NotHere { program: program.words() });
        };
        let mut asked = blake3::Hasher::new();
        absorb(&mut asked, "begin", &opening);
        Ok(Self { programs: programs.clone(), number, program, opening, asked, next: 0, process: None })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Asks. `past` is what a process that is started now has to know beside the opening. None once anything of the
    /// replication failed: [`Programs::failure`] has the reason, and the replication ends.
    pub fn ask(&mut self, question: &Question<'_>, past: &dyn Fn() -> Map<String, Value>) -> Option<f64> {
        let answered = self.answer(question, past);
        answered.map_err(|failure| self.programs.fail(failure)).ok()
    }

    /// The same, with the reason.
    ///
    /// # Errors
    /// [`ProgramFailure`].
    pub fn answer(
        &mut self,
        question: &Question<'_>,
        past: &dyn Fn() -> Map<String, Value>,
    ) -> Result<f64, ProgramFailure> {
        if let Some(failure) = self.programs.failure() {
            return Err(failure.clone());
        }
        absorb(&mut self.asked, question.ask, &question.fields);
        let asked = self.asked.finalize().to_hex();
        let (number, programs) = (self.next, self.programs.clone());
        let asked = &asked.as_str()[..32];
        self.next += 1;
        let (different, known) = programs.known(self.number, asked);
        if let Some(answer) = known {
            // A process that was not asked this does not know what it would have been told.
            self.process = None;
            return Ok(answer);
        }
        let place = Place { topic: programs.topic(), dialogue: self.number, number: different, asked };
        let answer = match programs.find(place) {
            // A record that was written by another program may hold anything.
            Some(answer) if (question.read)(&as_answered(answer)).is_none() => {
                return Err(ProgramFailure::Kept {
                    program: self.program.words(),
                    asked: format!("question {} ({})", number + 1, question.ask),
                    found: answer.to_string(),
                    expected: question.expected.clone(),
                });
            }
            Some(answer) => {
                // A process that was not asked this does not know what it would have been told.
                self.process = None;
                answer
            }
            None => {
                let own = self.put(question, number, past)?;
                let counts = programs.keep(place, own).map_err(|error| ProgramFailure::Keeping {
                    program: self.program.words(),
                    reason: error.to_string(),
                })?;
                // Somebody else was first: this process would go on from a choice that it did not make.
                if counts.to_bits() != own.to_bits() {
                    self.process = None;
                }
                counts
            }
        };
        programs.note(place, answer);
        Ok(answer)
    }

    /// Puts a question to the process, which is started if there is none.
    fn put(
        &mut self,
        question: &Question<'_>,
        number: u64,
        past: &dyn Fn() -> Map<String, Value>,
    ) -> Result<f64, ProgramFailure> {
        let what = format!("question {} ({})", number + 1, question.ask);
        let process = match &mut self.process {
            Some(process) => process,
            none => {
                let Some(base) = self.programs.base() else {
                    return Err(ProgramFailure::NotKept { program: self.program.words(), asked: what });
                };
                let mut process = Partner::start(&self.program, base)?;
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
        read.ok_or_else(|| process.unusable(&what, &Value::Object(reply).to_string(), &question.expected))
    }
}

fn absorb(hasher: &mut blake3::Hasher, ask: &str, fields: &Map<String, Value>) {
    let text = serde_json::to_string(fields).expect("plain data with text keys");
    for part in [ask, &text] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
}
