//! Parties written as co-routines: `async` code that waits for virtual time and messages, without an executor, a
//! thread or a clock.
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
pub use state::{Alarm, Processes};
pub use waiting::{ConnectionChange, Receive, Sleep};
