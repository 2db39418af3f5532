//! What answers the questions of a dialogue: an external process, or a callback within this process.

use super::callback::{self, CallbackSession};
use super::failure::ProgramFailure;
use super::process::{self, Process};
use super::program::{Program, SHOWN, valid_version};
use crate::vocab::Interruption;
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;

/// A process or a callback that answers the questions of one dialogue.
#[derive(Debug)]
pub(super) enum Responder {
    Process(Process),
    Callback(CallbackResponder),
}

/// A callback that answers the questions of one dialogue.
pub(super) struct CallbackResponder {
    program: Program,
    version: String,
    respondent: Box<dyn CallbackSession>,
}

impl fmt::Debug for CallbackResponder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackResponder").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The version of a program or a callback, in one line. An external program is started in the folder `base` for this, and
/// ended afterwards.
///
/// # Errors
/// [`ProgramFailure`] if the program does not start or answer, the callback is not offered, or the version is not valid.
pub fn version(program: &Program, base: &Path) -> Result<String, ProgramFailure> {
    match program.callback() {
        None => process::version(program, base),
        Some(name) => callback_version(program, name),
    }
}

/// The version of the callback `name`, if it is one line of 1 to [`SHOWN`] characters.
fn callback_version(program: &Program, name: &str) -> Result<String, ProgramFailure> {
    let offered = callback::find(name);
    let offered = offered.ok_or_else(|| ProgramFailure::NotOffered { program: program.words() })?;
    let version = offered.version();
    valid_version(&version).ok_or_else(|| ProgramFailure::Raised {
        program: program.words(),
        asked: "state its version".to_owned(),
        said: format!("its version is {version:?}, expected one line of 1 to {SHOWN} characters"),
    })
}

impl Responder {
    /// Starts an external program in the folder `base`, or begins a dialogue with a callback.
    pub(super) fn start(
        program: &Program,
        base: &Path,
        interruption: &Interruption,
    ) -> Result<Self, ProgramFailure> {
        let Some(name) = program.callback() else {
            return Process::start(program, base, interruption).map(Self::Process);
        };
        let version = callback_version(program, name)?;
        let offered = callback::find(name);
        let offered = offered.ok_or_else(|| ProgramFailure::NotOffered { program: program.words() })?;
        let respondent = offered.begin().map_err(|raised| ProgramFailure::Raised {
            program: program.words(),
            asked: "be started".to_owned(),
            said: raised.0,
        })?;
        Ok(Self::Callback(CallbackResponder { program: program.clone(), version, respondent }))
    }

    /// The version that the program or the callback reported.
    pub(super) fn version(&self) -> &str {
        match self {
            Self::Process(process) => process.version(),
            Self::Callback(called) => &called.version,
        }
    }

    /// Asks a question and returns the fields of the answer; `asked` is the question in words, for error messages.
    pub(super) fn ask(
        &mut self,
        ask: &str,
        fields: Map<String, Value>,
        asked: &str,
    ) -> Result<Map<String, Value>, ProgramFailure> {
        match self {
            Self::Process(process) => process.ask(ask, fields, asked),
            Self::Callback(called) => {
                called.respondent.answer(ask, &fields).map_err(|raised| ProgramFailure::Raised {
                    program: called.program.words(),
                    asked: format!("answer {asked}"),
                    said: raised.0,
                })
            }
        }
    }

    /// The failure for an invalid answer. An external program is stopped.
    pub(super) fn unusable(&mut self, asked: &str, found: &str, expected: &str) -> ProgramFailure {
        match self {
            Self::Process(process) => process.unusable(asked, found, expected),
            Self::Callback(called) => ProgramFailure::Raised {
                program: called.program.words(),
                asked: format!("answer {asked}"),
                said: format!(
                    "it answered {}, expected {expected}",
                    found.chars().take(SHOWN).collect::<String>()
                ),
            },
        }
    }
}
