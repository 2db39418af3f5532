//! External programs, in any language: each question and each answer is one line of JSON, and a question that has a
//! stored answer is not asked again.
//!
//! A [`Program`] is the description of such a program in a scenario. A [`ProgramSession`] sends questions to a program,
//! and starts the program at the first question without a stored answer. [`Programs`] is shared by the sessions of a
//! replication: it has the stored answers, the questions and answers so far, and the first failure. A [`Callback`] is
//! code of this process that answers the same questions. `docs/external.md` describes the protocol.

mod callback;
mod program_session;
mod failure;
mod interpreter;
mod relevant_settings;
mod responder;
mod points;
mod process;
mod program;
mod shared;

pub use callback::{Callback, CallbackError, CallbackRegistration, CallbackSession, NameInUse, offer};
pub use failure::ProgramFailure;
pub use points::{inputs_of_box, point_fields, point_of_fields};
pub use program::{Program, ProgramIdentity, ProgramUse};
pub use program_session::{ListQuestion, ProgramSession, Question};
pub use relevant_settings::{EXTERNAL, without_timeouts};
pub use responder::version;
pub use shared::{Answers, CannotKeep, DialogueStates, Programs, QuestionId, Recorded, RecordedSession};

/// Version of the message protocol between `subrosa` and an external program.
pub const PROTOCOL: u64 = 1;
