//! The first events of each series among a few parties, for a message-sequence diagram.

use super::trace::{TraceEvent, TraceKind};
use crate::vocab::PartyId;
use std::collections::BTreeSet;

/// Stores the first events of every series. In a network of at most `most_parties` parties, the events of all parties are
/// stored. In a larger network, only the events among `most_parties` parties are stored: the first parties of the series
/// that send a message or have a message sent to them.
#[derive(Debug)]
pub(in crate::protocols) struct FirstEvents {
    most_events: usize,
    most_parties: usize,
    /// Whether the network has at most `most_parties` parties, so that all parties are included.
    few: bool,
    series: Vec<StoredEvents>,
}

/// The stored events of one series.
#[derive(Debug)]
struct StoredEvents {
    name: String,
    parties: Vec<PartyId>,
    events: Vec<TraceEvent>,
}

impl StoredEvents {
    /// Number of kinds of messages among the stored deliveries.
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

impl FirstEvents {
    pub(in crate::protocols) fn new(parties: usize, most_parties: usize, most_events: usize) -> Self {
        Self { most_events, most_parties, few: parties <= most_parties, series: Vec::new() }
    }

    /// Whether to store an event between these parties. `message` tells whether the event is the sending of a message:
    /// only such an event adds parties to those that are included.
    pub(in crate::protocols) fn accepts_event(
        &mut self,
        series: &str,
        parties: [PartyId; 2],
        message: bool,
    ) -> bool {
        // Series are run one after another.
        if self.series.last().is_none_or(|kept| kept.name != series) {
            let (parties, events) = (Vec::new(), Vec::new());
            self.series.push(StoredEvents { name: series.to_owned(), parties, events });
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

    pub(in crate::protocols) fn keep(&mut self, event: TraceEvent) {
        if let Some(kept) = self.series.last_mut() {
            kept.events.push(event);
        }
    }

    /// The series in whose stored events the most kinds of messages arrive, and these events. If there are several such
    /// series, the first of them.
    pub(in crate::protocols) fn most_informative(&self) -> Option<(String, Vec<TraceEvent>)> {
        let most = self.series.iter().map(StoredEvents::kinds).max()?;
        let found = self.series.iter().find(|kept| kept.kinds() == most)?;
        Some((found.name.clone(), found.events.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::stage::TracedMessage;
    use crate::vocab::Time;

    fn delivered(from: u32, to: u32, label: &'static str) -> TraceEvent {
        let parcel = TracedMessage { from: PartyId(from), to: PartyId(to), label: label.into(), bytes: 1 };
        TraceEvent {
            at: Time::ZERO,
            kind: TraceKind::Delivered(parcel, Time::ZERO),
            round: None,
            contents: 0,
        }
    }

    #[test]
    fn events_of_a_few_parties_are_kept_and_the_series_with_most_kinds_of_messages_is_shown() {
        let mut beginning = FirstEvents::new(100, 3, 4);
        let mut offer = |series: &str, to: u32, label: &'static str| {
            let wanted = beginning.accepts_event(series, [PartyId(0), PartyId(to)], true);
            if wanted {
                beginning.keep(delivered(0, to, label));
            }
            wanted
        };
        assert_eq!([1, 2, 3, 1].map(|to| offer("dull", to, "Begin")), [true, true, false, true]);
        assert_eq!([(1, "Begin"), (1, "Share")].map(|(to, label)| offer("rich", to, label)), [true, true]);
        assert_eq!([1; 3].map(|to| offer("rich", to, "Share")), [true, true, false]);
        let (series, events) = beginning.most_informative().unwrap();
        assert_eq!((series.as_str(), events.len()), ("rich", 4));
    }

    #[test]
    fn in_a_small_network_all_parties_are_included() {
        let mut beginning = FirstEvents::new(3, 3, 9);
        assert!(beginning.accepts_event("any", [PartyId(2), PartyId(2)], false));
        let mut large = FirstEvents::new(4, 3, 9);
        assert!(!large.accepts_event("any", [PartyId(2), PartyId(2)], false));
    }
}
