//! External programs, in any language: each question and each answer is one line of JSON, and a question that has a
//! stored answer is not asked again.
//!
//! A [`Program`] is the description of such a program in a scenario. A [`Dialogue`] sends it questions, and starts it at
//! the first question without a stored answer. [`Programs`] is shared by the dialogues of a replication: it has the
//! stored answers, the questions and answers so far, and the first failure. A [`Callback`] answers within this process as a
//! program would. `docs/external.md` describes the protocol.

mod callback;
mod dialogue;
mod failure;
mod interpreter;
mod named;
mod partner;
mod process;
mod program;
mod shared;

pub use callback::{Callback, NameInUse, Offered, Raised, Respondent, offer};
pub use dialogue::{Dialogue, Question};
pub use failure::ProgramFailure;
pub use named::{EXTERNAL, without_timeouts};
pub use partner::version;
pub use program::{Program, ProgramIdentity, Starts};
pub use shared::{Answers, CannotKeep, Conversation, DialogueStates, Place, Programs, Recorded};

/// Version of the protocol between `subrosa` and an external program.
pub const PROTOCOL: u64 = 1;
