//! Tests that every member of a family must pass, whether the member is the library's own or one that another program adds.
//!
//! Each function takes a member and returns the rules that the member breaks. An empty list means that no violation was
//! found, which is no proof that there is none. Seeds are fixed, so the result is always the same. Statistical rules allow
//! six standard errors, unless a function states another tolerance.

mod federation;
mod arrivals;
mod latency;
mod learning;
mod mechanisms;
mod network;
mod popularity;
mod privacy;
mod protocol;
mod throughput;

pub use arrivals::arrivals;
pub use federation::{policy, selection, staleness, weights};
pub use latency::latency;
pub use learning::{learner, noise, objective};
pub use mechanisms::{input, outcome, report};
pub use network::{availability, compute, loss, outage, topology};
pub use popularity::popularity;
pub use privacy::{accountant, mechanism, publication};
pub use protocol::protocol;
pub use throughput::throughput;

use crate::rng::Key;
use std::fmt;

/// A rule that a member breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The expected behaviour, in words.
    pub rule: &'static str,
    /// What was found instead.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.rule, self.found)
    }
}

/// Collects violations: for each rule, the first violation that is found.
#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn require(&mut self, kept: bool, rule: &'static str, found: impl FnOnce() -> String) {
        if !kept && self.0.iter().all(|known| known.rule != rule) {
            self.0.push(Violation { rule, found: found() });
        }
    }
}

/// Number of draws for the statistical rules of noise and of losses of messages.
const DRAWS: u32 = 100_000;

fn key(purpose: &str) -> Key {
    Key::root(1).child("conformance").child(purpose)
}
