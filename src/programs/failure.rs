//! Why a program gave no answer.

use crate::vocab::Span;
use std::fmt;
use thiserror::Error;

/// A program, or a learner, that gave no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramFailure {
    /// It did not start.
    #[error("the program `{program}` cannot be started: {reason} (is it installed, and may it be run?)")]
    Start {
        /// Its command.
        program: String,
        /// The system's answer.
        reason: String,
    },
    /// It ended.
    #[error("the program `{program}` ended ({how}) before it answered {asked}; {said}")]
    Ended {
        /// Its command.
        program: String,
        /// With what.
        how: String,
        /// The question.
        asked: String,
        /// The end of its standard error.
        said: Said,
    },
    /// It did not answer in time.
    #[error(
        "the program `{program}` gave no answer to {asked} within {timeout} and was stopped (does it flush its output \
         after each line? `timeout` says how long one answer may take); {said}"
    )]
    Silent {
        /// Its command.
        program: String,
        /// The question.
        asked: String,
        /// How long it had.
        timeout: Span,
        /// The end of its standard error.
        said: Said,
    },
    /// Its answer is none.
    #[error("the program `{program}` answered {asked} with {found}, expected {expected}; {said}")]
    Unusable {
        /// Its command.
        program: String,
        /// The question.
        asked: String,
        /// What it answered.
        found: String,
        /// What would have been an answer.
        expected: String,
        /// The end of its standard error.
        said: Said,
    },
    /// The run folder holds an answer that is none.
    #[error(
        "the run folder holds {found} as the answer of the program `{program}` to {asked}, expected {expected}: the \
         record was changed"
    )]
    Kept {
        /// Its command.
        program: String,
        /// The question.
        asked: String,
        /// The answer in the folder.
        found: String,
        /// What would have been an answer.
        expected: String,
    },
    /// It is not the program that the study was begun with.
    #[error(
        "the program `{program}` says it is {found:?}, and the study was begun with {expected:?}: answers of two \
         versions are not mixed; run the scenario again for the new one"
    )]
    OtherVersion {
        /// Its command.
        program: String,
        /// What it says.
        found: String,
        /// What it said before.
        expected: String,
    },
    /// A run is repeated, and nothing was kept for this question.
    #[error(
        "{asked} of the program `{program}` has no answer in the run folder, and a repetition starts no program: the run \
         took another course, or its answers were changed"
    )]
    NotKept {
        /// Its command.
        program: String,
        /// The question.
        asked: String,
    },
    /// An answer cannot be kept.
    #[error("an answer of the program `{program}` cannot be kept: {reason}")]
    Keeping {
        /// Its command.
        program: String,
        /// Why.
        reason: String,
    },
    /// A learner chose an arm that there is not.
    #[error(
        "the learner {learner} chose arm {arm}, and the last arm is {last}: its `suggest` has to stay below the number of \
         arms"
    )]
    NoSuchArm {
        /// Its name.
        learner: String,
        /// What it chose.
        arm: usize,
        /// The largest that it may choose.
        last: usize,
    },
    /// It is a callback, and this process offers none of that name.
    #[error(
        "`{program}` is answered by the program that played the run, such as a Python session, and not here: pass the \
         class or function of that name there, as in subrosa.run(.., learners={{..}})"
    )]
    NotOffered {
        /// Its command.
        program: String,
    },
    /// It is a callback, and failed.
    #[error("`{program}` could not {asked}: {said}")]
    Raised {
        /// Its command.
        program: String,
        /// What it was to do.
        asked: String,
        /// What its language says.
        said: String,
    },
    /// Whoever asks does not start programs.
    #[error("the program `{program}` is not started here: only `run`, `trace` and `sweep` start programs")]
    NotHere {
        /// Its command.
        program: String,
    },
}

/// The last lines that a program wrote to standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(pub(super) Vec<String>);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("it wrote nothing to standard error");
        }
        f.write_str("the end of its standard error:")?;
        self.0.iter().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}
