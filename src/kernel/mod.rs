//! The discrete-event kernel: a clock, a queue, parties as state machines, and a journal.
//!
//! The kernel knows nothing of optimisation or privacy. A protocol defines its messages, timers and facts
//! ([`Protocol`]); parties react to one [`Input`] at a time by calling effects of a [`Context`]; a [`Medium`] decides
//! the fate of each message; every event reaches the [`Journal`], which keeps a chained digest.
//!
//! # Ordering guarantee
//!
//! 1. Events are handled in order of virtual time; events of equal time in the order in which they were scheduled
//!    (a 64-bit sequence number). Zero delays are allowed.
//! 2. The effects of a handler take place in the order in which it asks for them; none comes back to a party before the
//!    handler returns, not even without delay.
//! 3. A party with a compute time deals with one message after another, in order of arrival; the handler runs when
//!    the work on the message is done. Timers do not wait for work.
//!
//! # What a crash does
//!
//! A party that is down receives nothing. With its memory kept, timers and work that come due meanwhile are held and
//! happen in their order when it is back; with its memory lost they never happen, and it starts again.
//!
//! ```text
//!   queue --pop--> Simulation --Input--> Party --effects--> Context
//!     ^                |                                       |
//!     |                +--Event--> Journal (digest, watcher)   |
//!     +------------- Medium (fate of each message) <-----------+
//! ```

mod context;
mod core;
mod digest;
mod journal;
mod ladder;
mod medium;
mod party;
mod protocol;
mod queue;
mod simulation;

pub use context::{Context, TimerTicket};
pub use digest::{Digest, Digestible};
pub use journal::{Checkpoint, Event, EventCounts, Journal};
pub use medium::{Fate, LossCause, Medium, Memory, Parcel, PerfectMedium, Switch};
pub use party::{BoxedClone, Input, Party};
pub use protocol::{Payload, Protocol};
pub use queue::{EventQueue, Ticket};
pub use simulation::{Ending, KernelError, Limits, Simulation};
