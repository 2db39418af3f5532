//! Answers for an editor about a place of a scenario's text: an explanation, what may be written there, and where a
//! name is defined.
//!
//! All answers also work for a text that is not finished: only its tokens are read. The brackets that are open at the
//! place determine, by the schema of the language, what may stand there.

mod completion;
mod context;
mod definition;
mod hover;
mod names;

pub use completion::{Completion, What, completions};
pub use definition::{Target, definition};
pub use hover::{Hover, hover};
