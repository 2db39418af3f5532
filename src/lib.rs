//! `subrosa`: a discrete-event simulator of privacy-preserving Bayesian optimisation.
//!
//! A researcher writes one RON scenario; a run answers three questions together: how good (regret), at what
//! cost (virtual time, messages, losses), and who learned what about whom (the privacy ledger).
//!
//! ```text
//! scenario.ron -> Draft -> Scenario -> Simulation -> Journal -> Observations -> Report
//! ```
//!
//! Modules are listed by floor; a module imports only from floors below it (`tests/commands/layers.rs` keeps that true).

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

// Floor 1
pub mod vocab;
pub mod special;
pub mod rng;
// Floor 2
pub mod kernel;
pub mod gp;
pub mod accounting;
// Floor 3
pub mod privacy;
pub mod network;
pub mod objectives;
pub mod learners;
// Floor 4
pub mod protocols;
// Floor 5
pub mod scenario;
// Floor 6
pub mod study;
// Floor 7
pub mod audit;
// Floor 8
pub mod report;
// Floor 9
pub mod cli;
pub mod prelude;
