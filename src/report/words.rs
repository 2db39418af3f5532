//! The words that reports use for units, neighbours, bases and arithmetic.

use crate::accounting::{LossBasis, multiple};
use crate::kernel::{LossCause, Memory};
use crate::study::PrivacyRow;
use crate::vocab::{Arithmetic, Neighbours, ProtectedUnit};

/// A unit of protection with its article.
#[must_use]
pub(super) fn unit(unit: &ProtectedUnit) -> &'static str {
    unit.with_article()
}

/// What two neighbours differ in.
#[must_use]
pub(super) fn neighbours(unit: &ProtectedUnit, neighbours: &Neighbours) -> String {
    let name = unit.with_article().split_once(' ').map_or("", |(_, name)| name);
    match neighbours {
        Neighbours::RowMoved { distance } => {
            format!("one row moved by a Euclidean distance of at most {distance} in the scaled inputs")
        }
        Neighbours::ReplaceOne => format!("one {name} replaced by any other"),
        Neighbours::AddRemove => format!("one {name} added or removed"),
        Neighbours::ZeroOut => "one agent's contribution replaced by zero".to_owned(),
        Neighbours::AnyValue if *unit == ProtectedUnit::User => {
            "all of one user's values replaced by any others".to_owned()
        }
        Neighbours::AnyMean if *unit == ProtectedUnit::User => {
            "the distributions of one user's rewards replaced by those with any other means within the stated bound"
                .to_owned()
        }
        Neighbours::AnyMean => {
            "the distribution of one reward replaced by that with any other mean within the stated bound".to_owned()
        }
        Neighbours::AnyValue => "one value replaced by any other".to_owned(),
    }
}

/// How often something was released, and how often about one and the same unit.
#[must_use]
pub(super) fn times(entry: &PrivacyRow) -> String {
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    match entry.releases_per_unit {
        Some(1) => format!("{}, at most once each", times(entry.releases)),
        Some(most) => format!("{}, at most {} about the same one", times(entry.releases), times(most)),
        None => times(entry.releases),
    }
}

/// The basis of an epsilon: "proven, ideal arithmetic", "proven, 2.6 times the claim, ideal arithmetic".
#[must_use]
pub(super) fn rests_on(basis: LossBasis, arithmetic: Option<Arithmetic>, times_claim: Option<f64>) -> String {
    let mut words = basis.words().to_owned();
    if let Some(times) = times_claim {
        let tight = if basis == LossBasis::Exceeded { ": tight is" } else { "," };
        words.push_str(&format!("{tight} {} the claim", multiple(times)));
    }
    if let Some(arithmetic) = arithmetic {
        words.push_str(&format!(", {}", arithmetic.words()));
    }
    words
}

/// A person whose row and outcome both change.
#[must_use]
pub(super) fn person(protected: &str) -> String {
    format!("a person of {protected} whose row and outcome both change")
}

/// The meaning of the arithmetics in a report; empty if none is ideal or exact.
#[must_use]
pub(super) fn arithmetic(told: impl IntoIterator<Item = Arithmetic>) -> Option<String> {
    let told: Vec<Arithmetic> = told.into_iter().collect();
    let mut notes = Vec::new();
    if told.contains(&Arithmetic::Ideal) {
        notes.push(
            "ideal arithmetic: the figure is for real-valued noise; the noise was drawn in floating point, whose low bits \
             can leak more than the figure says",
        );
    }
    if told.contains(&Arithmetic::Exact) {
        notes
            .push("exact arithmetic: the noise lies on a lattice, and the bound holds for the actual output");
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Why a message was lost, in words.
#[must_use]
pub fn cause(cause: LossCause) -> &'static str {
    match cause {
        LossCause::Link => "dropped by the link",
        LossCause::SenderOffline => "the sender is offline",
        LossCause::ReceiverOffline => "the addressee is offline or does not hear it",
        LossCause::NoRoute => "no route",
        LossCause::RelayOffline => "a relay is offline",
        LossCause::QueueFull => "a queue is full",
        LossCause::Partition => "the network is partitioned",
    }
}

/// The state of a party's connection, in words.
#[must_use]
pub fn connection(online: bool, crashed: Option<Memory>) -> &'static str {
    match (online, crashed) {
        (_, Some(Memory::Kept)) => "crashed, memory kept",
        (_, Some(Memory::Lost)) => "crashed, memory lost",
        (true, None) => "online",
        (false, None) => "offline",
    }
}

/// A note for rows whose runs have different losses.
pub(super) const RUNS_DIFFER: &str = "losses differ between runs: each number is the largest of all runs";
