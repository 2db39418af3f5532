//! Parties written as co-routines: `async` code that waits for virtual time and messages. Tasks run in the kernel's
//! event loop, without an executor library, threads or the system's clock.
//!
//! ```text
//! kernel --Input--> Process --wakes--> tasks (futures) --effects, in order--> Context
//! ```

mod clock;
mod context;
mod party;
mod state;
mod tasks;
mod waiting;

pub use clock::Clock;
pub use context::ProcessContext;
pub use party::Process;
pub use state::{ProcessTimer, Processes};
pub use waiting::{ConnectionChange, Receive, Sleep};
