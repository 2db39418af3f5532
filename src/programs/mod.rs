//! Programs of a user's own, in any language: one JSON line a question, one JSON line an answer, and no question twice.
//!
//! A [`Program`] is what a scenario says of one. A [`Dialogue`] asks it, and starts it when there is something to ask for
//! the first time; [`Programs`] is what the dialogues of a replication share: where answers are kept, which were kept
//! before, and what went wrong. `docs/external.md` is the protocol.

mod dialogue;
mod failure;
mod named;
mod process;
mod program;
mod shared;

pub use dialogue::{Dialogue, Question};
pub use failure::ProgramFailure;
pub use named::{named, without_timeouts};
pub use process::version;
pub use program::{Program, ProgramIdentity};
pub use shared::{Answers, CannotKeep, Conversation, Place, Programs, Recorded};

/// Version of the protocol.
pub const PROTOCOL: u64 = 1;
