//! `subrosa`: a discrete-event simulator of privacy-preserving Bayesian optimisation.
//!
//! A researcher writes one RON scenario; a run answers three questions together: how good (regret), at what
//! cost (virtual time, messages, losses), and who learned what about whom (the privacy ledger).
//!
//! ```text
//! scenario.ron -> Draft -> Scenario -> Simulation -> Journal -> Observations -> Report
//! ```
//!
//! Modules are listed by floor; a module imports only from floors below it (`tests/layers.rs` keeps that true).

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]

// Floor 1
pub mod vocab;
pub mod rng;
// Floor 2
pub mod kernel;
pub mod gp;
pub mod privacy;
// Floor 3
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
pub mod report;
// Floor 8
pub mod cli;
pub mod prelude;
