//! The protection of a series: the largest loss of all its releases, to any observer about any unit.

use crate::accounting::{EpsilonKind, Loss, LossBasis};
use crate::study::{CellSummary, PersonLoss, PrivacyRow, Summary};
use crate::vocab::ProtectedUnit;

/// The largest epsilon that reports call private without a warning; this epsilon allows a likelihood ratio of e^100,
/// roughly 3e43.
pub(super) const MODERATE: f64 = 100.0;

/// The privacy of one series of one cell, apart from losses against which no series protects ([`UnprotectedLosses`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report::sections) enum Protection {
    /// Nothing that depends on protected data was released, apart from what is taken as public.
    Silent,
    /// Every loss is finite: the largest epsilon, and the weakest basis.
    Bounded(f64, LossBasis),
    /// Some loss has no finite bound, although something is claimed or protected.
    Broken,
    /// Everything was released unprotected, without a claim.
    Open,
}

/// The loss that reports state for a row: the first that is not a claim.
pub(in crate::report::sections) fn counted(row: &PrivacyRow) -> Option<&Loss> {
    row.losses.iter().find(|loss| loss.standing != EpsilonKind::Claim)
}

/// The claim of a row; `None` without one.
pub(in crate::report::sections) fn claim(row: &PrivacyRow) -> Option<&Loss> {
    row.losses.iter().find(|loss| loss.standing == EpsilonKind::Claim)
}

/// Whether the loss of a row is unprotected and nothing is claimed about it.
fn open(row: &PrivacyRow) -> bool {
    claim(row).is_none() && counted(row).is_some_and(|loss| loss.basis == LossBasis::Unprotected)
}

/// Losses against which no series of a study protects, so that they do not distinguish series: the losses to an observer who
/// receives everything unprotected (such as a trusted server), and the losses about training records if all of them are
/// unprotected.
#[derive(Debug, Default)]
pub(in crate::report::sections) struct UnprotectedLosses<'a> {
    observers: Vec<&'a str>,
    training: bool,
}

impl<'a> UnprotectedLosses<'a> {
    /// The unprotected losses of a study; empty if no other loss of the study is finite.
    pub(in crate::report::sections) fn of(summary: &'a Summary) -> Self {
        let rows = || summary.cells.iter().flat_map(|cell| &cell.privacy);
        let trained = |row: &&PrivacyRow| row.unit == ProtectedUnit::TrainingRecord;
        let training = rows().any(|row| trained(&row)) && rows().filter(trained).all(open);
        let mut observers: Vec<&str> = Vec::new();
        for row in rows() {
            if !observers.contains(&row.observer.as_str()) {
                observers.push(&row.observer);
            }
        }
        observers.retain(|observer| rows().filter(|row| row.observer == *observer).all(open));
        let found = Self { observers, training };
        let finite = |row: &PrivacyRow| counted(row).is_some_and(|loss| loss.epsilon.is_finite());
        if rows().any(|row| !found.holds(row) && finite(row)) { found } else { Self::default() }
    }

    /// Whether a row is one of these losses.
    pub(in crate::report::sections) fn holds(&self, row: &PrivacyRow) -> bool {
        self.observers.contains(&row.observer.as_str())
            || (self.training && row.unit == ProtectedUnit::TrainingRecord)
    }

    /// The losses in words; `None` if there are none.
    pub(in crate::report::sections) fn words(&self) -> Option<String> {
        let mut told: Vec<String> = Vec::new();
        if !self.observers.is_empty() {
            told.push(received_text(&self.observers));
        }
        told.extend(self.training.then(|| "data about training records".to_owned()));
        (!told.is_empty()).then(|| told.join(" and "))
    }
}

/// What observers receive, in words: "what lab gets", "what lab and press get", "what lab and 2 others get".
pub(super) fn received_text(observers: &[&str]) -> String {
    match observers {
        [] => "what nobody gets".to_owned(),
        [one] => format!("what {one} gets"),
        [one, two] => format!("what {one} and {two} get"),
        [first, rest @ ..] => format!("what {first} and {} others get", rest.len()),
    }
}

impl Protection {
    /// The protection of a series in a cell, apart from losses against which no series protects.
    pub(in crate::report::sections) fn of(
        cell: &CellSummary,
        series: &str,
        unguarded: &UnprotectedLosses<'_>,
    ) -> Self {
        let rows = || cell.privacy.iter().filter(|row| row.series == series && !unguarded.holds(row));
        let persons = cell.persons.iter().filter(|person| {
            person.series == series && !unguarded.observers.contains(&person.observer.as_str())
        });
        let of_person = |person: &PersonLoss| (person.epsilon, person.basis);
        let mut losses: Vec<(f64, LossBasis)> =
            rows().filter_map(counted).map(|loss| (loss.epsilon, loss.basis)).collect();
        losses.extend(persons.map(of_person));
        let Some(basis) = losses.iter().map(|(_, basis)| *basis).min() else { return Self::Silent };
        let most = losses.iter().map(|(epsilon, _)| *epsilon).fold(0.0, f64::max);
        match () {
            () if most.is_finite() => Self::Bounded(most, basis),
            () if rows().all(open) => Self::Open,
            () => Self::Broken,
        }
    }

    /// Whether an epsilon of at most [`MODERATE`] is proven.
    pub(super) fn is_sound(self) -> bool {
        matches!(self, Self::Bounded(epsilon, LossBasis::Proven) if epsilon <= MODERATE)
    }

    /// The largest epsilon: 0 without releases, infinite without a finite bound.
    pub(in crate::report::sections) fn epsilon(self) -> f64 {
        match self {
            Self::Silent => 0.0,
            Self::Bounded(epsilon, _) => epsilon,
            Self::Broken | Self::Open => f64::INFINITY,
        }
    }
}
