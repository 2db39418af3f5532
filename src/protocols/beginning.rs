//! How each series begins, among a few parties that talk to one another: enough for a picture of who says what to whom.

use super::trace::{TraceEvent, TraceKind};
use crate::vocab::PartyId;
use std::collections::BTreeSet;

/// Keeps the first events of every series among its first parties. In a network of few parties those are all; in a
/// larger one, those that messages first go between.
#[derive(Debug)]
pub(super) struct Beginning {
    most_events: usize,
    most_parties: usize,
    /// Whether every party is one of the few.
    few: bool,
    series: Vec<Kept>,
}

/// What is kept of one series.
#[derive(Debug)]
struct Kept {
    name: String,
    parties: Vec<PartyId>,
    events: Vec<TraceEvent>,
}

impl Kept {
    /// Kinds of messages that arrived.
    fn kinds(&self) -> usize {
        let label = |event: &TraceEvent| match &event.kind {
            TraceKind::Delivered(parcel, _) => Some(parcel.label.clone()),
            TraceKind::Sent(_)
            | TraceKind::Lost(..)
            | TraceKind::Doubled(_)
            | TraceKind::Handled(..)
            | TraceKind::TimerFired(..)
            | TraceKind::Switched(..)
            | TraceKind::Recorded(..) => None,
        };
        self.events.iter().filter_map(label).collect::<BTreeSet<_>>().len()
    }
}

impl Beginning {
    pub(super) fn new(parties: usize, most_parties: usize, most_events: usize) -> Self {
        Self { most_events, most_parties, few: parties <= most_parties, series: Vec::new() }
    }

    /// Whether an event between these parties is to be kept.
    pub(super) fn wants(&mut self, series: &str, parties: [PartyId; 2], message: bool) -> bool {
        // Series are played one after another.
        if self.series.last().is_none_or(|kept| kept.name != series) {
            let (parties, events) = (Vec::new(), Vec::new());
            self.series.push(Kept { name: series.to_owned(), parties, events });
        }
        let Some(kept) = self.series.last_mut() else { return false };
        if kept.events.len() == self.most_events {
            return false;
        }
        if self.few {
            return true;
        }
        for party in parties {
            if message && kept.parties.len() < self.most_parties && !kept.parties.contains(&party) {
                kept.parties.push(party);
            }
        }
        parties.iter().all(|party| kept.parties.contains(party))
    }

    pub(super) fn keep(&mut self, event: TraceEvent) {
        if let Some(kept) = self.series.last_mut() {
            kept.events.push(event);
        }
    }

    /// The series in which most kinds of messages arrive, and what is kept of it; of several the first.
    pub(super) fn most_telling(&self) -> Option<(String, Vec<TraceEvent>)> {
        let most = self.series.iter().map(Kept::kinds).max()?;
        let found = self.series.iter().find(|kept| kept.kinds() == most)?;
        Some((found.name.clone(), found.events.clone()))
    }
}
