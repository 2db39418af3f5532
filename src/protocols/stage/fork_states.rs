//! Forks: the point at which branches begin, and the stored state from which they continue.

use crate::kernel::{CannotFork, Protocol as KernelProtocol, Simulation};
use crate::network::NetworkMedium;
use crate::vocab::{PartyId, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

/// The point at which branches begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ForkPoint {
    /// Right after the event that ended this round. Messages that were sent at this event are already in transit.
    ///
    /// Example: `Round(2)`.
    Round(u64),
    /// At this virtual time, before all events of this time.
    ///
    /// Example: `At("5min")`.
    At(Span),
}

/// A text that is not a valid point for a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a round, as in 20, or a virtual time, as in 5min")]
pub struct BadForkPoint;

impl FromStr for ForkPoint {
    type Err = BadForkPoint;

    fn from_str(text: &str) -> Result<Self, BadForkPoint> {
        if let Ok(round) = text.parse() {
            return Ok(Self::Round(round));
        }
        text.parse().map(Self::At).map_err(|_| BadForkPoint)
    }
}

impl ForkPoint {
    /// Parses the words that [`fmt::Display`] writes for a point; `None` for other words.
    #[must_use]
    pub fn of_words(words: &str) -> Option<Self> {
        match words.strip_prefix("after round ") {
            Some(round) => round.parse().map(Self::Round).ok(),
            None => words.strip_prefix("at ")?.parse().map(Self::At).ok(),
        }
    }
}

impl fmt::Display for ForkPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round(round) => write!(f, "after round {round}"),
            Self::At(at) => write!(f, "at {at}"),
        }
    }
}

/// The simulations of one replication, in their state at the fork, by series.
#[derive(Clone, Debug, Default)]
pub struct ForkStates(Rc<RefCell<BTreeMap<String, StoredState>>>);

#[derive(Debug)]
struct StoredState {
    at: Time,
    world: Box<dyn Any>,
}

/// The role of a run in a fork.
#[derive(Clone, Debug)]
pub enum Fork {
    /// Runs the common beginning, stores the state at the fork, and continues with unchanged settings.
    Trunk(ForkPoint, ForkStates),
    /// Continues from the stored state, with changed settings. The set has the names of the series for which the branch
    /// changes a setting that theorems on regret depend on; no such theorem applies to the whole run of such a series.
    Branch(ForkStates, Arc<BTreeSet<String>>),
}

impl Fork {
    /// Whether this run is a branch that changes, for this series, a setting that theorems on regret depend on. No such
    /// theorem then applies to the whole run of the series.
    #[must_use]
    pub fn changes(&self, series: &str) -> bool {
        matches!(self, Self::Branch(_, changed) if changed.contains(series))
    }

    /// When the series reached the fork; `None` if it ended before.
    pub(in crate::protocols) fn reached(&self, series: &str) -> Option<Time> {
        let (Self::Trunk(_, states) | Self::Branch(states, _)) = self;
        states.0.borrow().get(series).map(|kept| kept.at)
    }
}

/// The stored state of one series: the simulation, and the facts recorded before the fork.
#[derive(Debug)]
pub(in crate::protocols) struct ForkedState<P: KernelProtocol> {
    pub(in crate::protocols) world: Simulation<P, NetworkMedium>,
    pub(in crate::protocols) facts: Vec<(Time, PartyId, P::Fact)>,
}

impl<P: KernelProtocol> ForkedState<P> {
    fn fork(&self) -> Result<Self, CannotFork> {
        Ok(Self { world: self.world.fork()?, facts: self.facts.clone() })
    }
}

impl ForkStates {
    pub(in crate::protocols) fn keep<P: KernelProtocol>(&self, series: &str, at: Time, warm: ForkedState<P>) {
        self.0.borrow_mut().insert(series.to_owned(), StoredState { at, world: Box::new(warm) });
    }

    /// A copy of a series' simulation, and the time from which its settings may differ; `None` if the series ended before
    /// the fork.
    pub(in crate::protocols) fn get<P: KernelProtocol>(
        &self,
        series: &str,
    ) -> Option<Result<(Time, ForkedState<P>), CannotFork>> {
        let worlds = self.0.borrow();
        let kept = worlds.get(series)?;
        Some(kept.world.downcast_ref::<ForkedState<P>>()?.fork().map(|warm| (kept.at, warm)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fork_points_are_read_as_rounds_or_times() {
        assert_eq!("20".parse(), Ok(ForkPoint::Round(20)));
        assert_eq!("5min".parse(), Ok(ForkPoint::At(Span::from_millis(300_000))));
        for point in [ForkPoint::Round(20), ForkPoint::At(Span::from_nanos(90_000_000_001))] {
            assert_eq!(ForkPoint::of_words(&point.to_string()), Some(point));
        }
        assert_eq!(ForkPoint::of_words("20"), None);
        assert!("soon".parse::<ForkPoint>().unwrap_err().to_string().contains("a round"));
    }
}
