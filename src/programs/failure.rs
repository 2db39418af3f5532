//! Errors of external programs and callbacks.

use crate::vocab::Span;
use std::fmt;
use thiserror::Error;

/// Why a program, a callback or a learner gave no valid answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramFailure {
    /// The program could not be started.
    #[error("the program `{program}` cannot be started: {reason} (is it installed, and may it be run?)")]
    Start {
        /// The program's command.
        program: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The program ended before it answered.
    #[error("the program `{program}` ended ({how}) before it answered {asked}; {said}")]
    Ended {
        /// The program's command.
        program: String,
        /// The exit status, or that standard output was closed.
        how: String,
        /// The question.
        asked: String,
        /// The last lines of the program's standard error.
        said: StderrTail,
    },
    /// The program did not answer within the timeout.
    #[error(
        "the program `{program}` gave no answer to {asked} within {timeout} and was stopped (does it flush its output \
         after each line? `timeout` says how long one answer may take); {said}"
    )]
    Silent {
        /// The program's command.
        program: String,
        /// The question.
        asked: String,
        /// The timeout.
        timeout: Span,
        /// The last lines of the program's standard error.
        said: StderrTail,
    },
    /// The program's answer is not valid.
    #[error("the program `{program}` answered {asked} with {found}, expected {expected}; {said}")]
    Unusable {
        /// The program's command.
        program: String,
        /// The question.
        asked: String,
        /// The answer.
        found: String,
        /// A description of valid answers.
        expected: String,
        /// The last lines of the program's standard error.
        said: StderrTail,
    },
    /// The run folder holds an invalid answer.
    #[error(
        "the run folder holds {found} as the answer of the program `{program}` to {asked}, expected {expected}: the \
         record was changed"
    )]
    Kept {
        /// The program's command.
        program: String,
        /// The question.
        asked: String,
        /// The answer in the folder.
        found: String,
        /// A description of valid answers.
        expected: String,
    },
    /// The program reports another version than the one with which the study was begun.
    #[error(
        "the program `{program}` says it is {found:?}, and the study was begun with {expected:?}: answers of two \
         versions are not mixed; run the scenario again for the new one"
    )]
    OtherVersion {
        /// The program's command.
        program: String,
        /// The version that the program reports.
        found: String,
        /// The version at the beginning of the study.
        expected: String,
    },
    /// A replay, which starts no program, has no stored answer to a question.
    #[error(
        "{asked} of the program `{program}` has no answer in the run folder, and a replay starts no program: \
         either the replay asks another question than the run did, or the stored answers were changed"
    )]
    NotKept {
        /// The program's command.
        program: String,
        /// The question.
        asked: String,
    },
    /// An answer could not be stored.
    #[error("an answer of the program `{program}` cannot be kept: {reason}")]
    Keeping {
        /// The program's command.
        program: String,
        /// The reason.
        reason: String,
    },
    /// A stop was requested before the program was asked, or a second time while its answer was awaited.
    #[error("interrupted at {asked} of the program `{program}`; its answers so far are kept")]
    Interrupted {
        /// The program's command.
        program: String,
        /// The question.
        asked: String,
    },
    /// A learner chose an arm that does not exist.
    #[error(
        "the learner {learner} chose arm {arm}, and the last arm is {last}: its `suggest` must return a number below the number of \
         arms"
    )]
    NoSuchArm {
        /// The learner's name.
        learner: String,
        /// The number of the chosen arm.
        arm: usize,
        /// The number of the last arm.
        last: usize,
    },
    /// The command names a callback that this process does not offer.
    #[error(
        "`{program}` names a callback that this process does not offer: use the program that offers it, such as a Python \
         session, and pass the class or function of that name there, as in subrosa.run(.., learners={{..}})"
    )]
    NotOffered {
        /// The program's command.
        program: String,
    },
    /// A callback failed.
    #[error("`{program}` could not {asked}: {said}")]
    Raised {
        /// The program's command.
        program: String,
        /// What the callback was asked to do, as the words that follow "could not".
        asked: String,
        /// The error, as the callback's language prints it.
        said: String,
    },
    /// A program is needed where no program may be started.
    #[error(
        "the program `{program}` is not started here: programs are started only by `run`, `cluster`, `explain`, \
         `threshold`, `trace`, `replay --diff` of a scenario and `check --probe`; `audit` and `calibrate --scenario` start only \
         the objective's program"
    )]
    NotHere {
        /// The program's command.
        program: String,
    },
}

/// The last lines that a program wrote to standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StderrTail(pub(super) Vec<String>);

impl fmt::Display for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("it wrote nothing to standard error");
        }
        f.write_str("the end of its standard error:")?;
        self.0.iter().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}
