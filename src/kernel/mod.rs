//! The discrete-event kernel: virtual time, an event queue, parties as state machines or as processes, and a journal.
//!
//! The kernel does not depend on optimisation or privacy. A protocol defines its messages, timers and facts ([`Protocol`]).
//! Parties handle one [`Input`] at a time. A party causes effects by calling the methods of a [`Context`]: for example, it
//! sends messages, sets timers and records facts. A [`Medium`] decides whether and when each message arrives. Every event
//! except [`Event::Handled`] is added to the [`Journal`], which computes a running digest. A caller of the simulation may
//! pass a function, the watcher, that is called with every event.
//!
//! # Ordering guarantee
//!
//! 1. Events are handled in order of virtual time; events of equal time in the order in which they were scheduled.
//!    Zero delays are allowed.
//! 2. The effects of a handler take place in the order in which it requests them. No input that results from them is
//!    handled before the handler returns, even if the delay is zero.
//! 3. If the medium states a compute time for a delivered message ([`Medium::occupied`]), the handler runs when this
//!    time has passed; otherwise it runs at once. Timers are not delayed by compute times.
//!
//! # What a crash does
//!
//! Messages that reach a crashed party are lost. If the party's memory is kept, timers that run out during the crash, and
//! messages whose compute time ends during the crash, are handled in their order when the party has recovered. If the
//! party's memory is lost, its pending timers and the messages that it is working on are dropped, and the party starts again
//! when it has recovered.
//!
//! ```text
//!   queue --pop--> Simulation --Input--> Party --effects--> Context
//!     ^                |                                       |
//!     |                +--Event--> Journal (digest), watcher   |
//!     +------------- Medium (fate of each message) <-----------+
//! ```

mod context;
mod core;
mod digest;
mod journal;
mod ladder;
mod medium;
mod party;
mod process;
mod protocol;
mod queue;
mod resource;
mod simulation;

pub use context::{Connection, Context, Recorder, TimerTicket};
pub use digest::{Digest, Digestible};
pub use journal::{Checkpoint, Event, EventCounts, Journal};
pub use medium::{Delivery, LossCause, Medium, Memory, MessageHeader, PerfectMedium, Switch};
pub use party::{BoxedClone, CannotCopy, Input, Party};
pub use process::{
    Clock, ConnectionChange, Process, ProcessContext, ProcessTimer, Processes, Receive, Sleep,
};
pub use protocol::{Payload, Protocol};
pub use queue::{EventQueue, Ticket};
pub use resource::{
    Acquire, Claim, Claimed, Discipline, Freed, Preempted, Preemption, Regained, RequestResult, Resource,
    ResourceStatistics, SharedResource,
};
pub use simulation::{CannotFork, Ending, KernelError, Limits, Simulation};
