//! The vocabulary of privacy in words for people.

use crate::study::PrivacyRow;
use crate::vocab::{Neighbours, ProtectedUnit};

/// A unit of protection with its article.
#[must_use]
pub(super) fn unit(unit: &ProtectedUnit) -> &'static str {
    match unit {
        ProtectedUnit::Record => "a record",
        ProtectedUnit::Outcome => "an outcome",
        ProtectedUnit::Reward => "a reward",
        ProtectedUnit::User => "a user",
        ProtectedUnit::Agent => "an agent",
        ProtectedUnit::ValidationRecord => "a validation record",
    }
}

/// A neighbouring relation as a phrase.
#[must_use]
pub(super) fn neighbours(neighbours: &Neighbours) -> String {
    match neighbours {
        Neighbours::RowMoved { distance } => {
            format!("one row moved by a Euclidean distance of at most {distance} in the scaled inputs")
        }
        Neighbours::ReplaceOne => "one record replaced by any other".to_owned(),
        Neighbours::AddRemove => "one unit added or removed".to_owned(),
        Neighbours::ZeroOut => "one agent's contribution replaced by zero".to_owned(),
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
