//! How well the releases of a series are protected, taken together: the worst of what anyone learned about anyone.

use crate::accounting::{Loss, LossBasis, Standing};
use crate::study::{CellSummary, PersonLoss, PrivacyRow, Summary};
use crate::vocab::ProtectedUnit;

/// The largest epsilon that is called private without a word of warning: at 100 a likelihood ratio of 1e43 is allowed.
pub(super) const MODERATE: f64 = 100.0;

/// The privacy of one series of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report::sections) enum Protection {
    /// Nothing about protected data was sent.
    Silent,
    /// Every loss is finite: the largest, on the weakest basis.
    Bounded(f64, LossBasis),
    /// Some loss has no finite bound although something is claimed or protected.
    Broken,
    /// Everything that was released was sent as it is.
    Open,
}

/// The loss to quote of what one observer learned: the first that is no claim.
pub(in crate::report::sections) fn counted(row: &PrivacyRow) -> Option<&Loss> {
    row.losses.iter().find(|loss| loss.standing != Standing::Claim)
}

/// What is claimed for it, if anything is.
pub(in crate::report::sections) fn claim(row: &PrivacyRow) -> Option<&Loss> {
    row.losses.iter().find(|loss| loss.standing == Standing::Claim)
}

/// Whether something was released as it is, and nobody claims otherwise.
fn open(row: &PrivacyRow) -> bool {
    claim(row).is_none() && counted(row).is_some_and(|loss| loss.basis == LossBasis::Unprotected)
}

/// What no series of a study protects, so that it does not tell series apart: an observer who gets everything as it is
/// (a trusted server), and records that models are trained on.
#[derive(Debug, Default)]
pub(in crate::report::sections) struct Unguarded<'a> {
    observers: Vec<&'a str>,
    training: bool,
}

impl<'a> Unguarded<'a> {
    /// That of a study; nothing where no series has a finite loss towards anyone else.
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

    /// Whether a row is about something that no series protects.
    pub(in crate::report::sections) fn holds(&self, row: &PrivacyRow) -> bool {
        self.observers.contains(&row.observer.as_str())
            || (self.training && row.unit == ProtectedUnit::TrainingRecord)
    }

    /// What it is, in words; `None` if there is nothing of the kind.
    pub(in crate::report::sections) fn words(&self) -> Option<String> {
        let mut told: Vec<String> = Vec::new();
        if !self.observers.is_empty() {
            told.push(gets(&self.observers));
        }
        told.extend(self.training.then(|| "what tells of training records".to_owned()));
        (!told.is_empty()).then(|| told.join(" and "))
    }
}

/// "what lab gets", "what lab and press get", "what lab and 2 others get".
pub(super) fn gets(observers: &[&str]) -> String {
    match observers {
        [] => "what nobody gets".to_owned(),
        [one] => format!("what {one} gets"),
        [one, two] => format!("what {one} and {two} get"),
        [first, rest @ ..] => format!("what {first} and {} others get", rest.len()),
    }
}

impl Protection {
    /// That of a series in a cell, without what no series protects.
    pub(in crate::report::sections) fn of(
        cell: &CellSummary,
        series: &str,
        unguarded: &Unguarded<'_>,
    ) -> Self {
        let rows = || cell.privacy.iter().filter(|row| row.series == series && !unguarded.holds(row));
        let persons = cell.persons.iter().filter(|person| person.series == series);
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

    /// Whether a finite epsilon of moderate size is proven.
    pub(super) fn is_sound(self) -> bool {
        matches!(self, Self::Bounded(epsilon, LossBasis::Proven) if epsilon <= MODERATE)
    }

    /// The largest epsilon, infinite where none is finite.
    pub(in crate::report::sections) fn epsilon(self) -> f64 {
        match self {
            Self::Silent => 0.0,
            Self::Bounded(epsilon, _) => epsilon,
            Self::Broken | Self::Open => f64::INFINITY,
        }
    }
}
