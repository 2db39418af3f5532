//! The privacy loss about a person who contributes a row and an outcome: the sum of the two losses.

use crate::accounting::basis::{arithmetic_in_words, infinite};
use crate::accounting::{self, AccountantName, LossBasis, Part, added};
use crate::study::results::privacy_report::PrivacyRow;
use crate::vocab::Arithmetic;
use serde::{Deserialize, Serialize};

/// The sum of the losses about a row and about its outcome, by the tight accountant, for a person who contributes both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonLoss {
    /// Name of the series.
    pub series: String,
    /// The owner of the data.
    pub protected: String,
    /// The observer.
    pub observer: String,
    /// Epsilon of the releases about the row; "inf" if no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon_row: f64,
    /// Epsilon of the releases about the outcome; "inf" if no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon_outcome: f64,
    /// The sum of the two epsilons, by basic composition; "inf" if it is not finite, or if the deltas add up to 1 or more.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// The sum of the two deltas at which the epsilons of the row and of the outcome are stated.
    pub delta: f64,
    /// The weaker of the bases of the two losses.
    pub basis: LossBasis,
    /// The weaker of the arithmetics of the two losses; absent if `epsilon` is infinite.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "arithmetic_in_words")]
    pub arithmetic: Option<Arithmetic>,
    /// Notes; empty if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One entry for each pair of a loss about a row and a loss about an outcome that have the same series, owner and observer.
pub(in crate::study) fn persons(rows: &[PrivacyRow]) -> Vec<PersonLoss> {
    let tight =
        |row: &PrivacyRow| row.losses.iter().find(|loss| loss.accountant == AccountantName::Tight).cloned();
    let same = |a: &PrivacyRow, b: &PrivacyRow| {
        (&a.series, &a.protected, &a.observer) == (&b.series, &b.protected, &b.observer)
    };
    let sum = |(row, outcome): (&PrivacyRow, &PrivacyRow)| {
        let (about_row, about_outcome) = (tight(row)?, tight(outcome)?);
        let (of_row, of_outcome) = (Part::of(&about_row), Part::of(&about_outcome));
        let sum = added(&of_row, &of_outcome);
        Some(PersonLoss {
            series: row.series.clone(),
            protected: row.protected.clone(),
            observer: row.observer.clone(),
            epsilon_row: of_row.epsilon,
            epsilon_outcome: of_outcome.epsilon,
            epsilon: sum.epsilon,
            delta: sum.delta,
            basis: sum.basis,
            arithmetic: sum.arithmetic,
            // If one of the two epsilons is not finite, the loss with this epsilon states the reason.
            note: if of_row.epsilon.is_finite() && of_outcome.epsilon.is_finite() {
                sum.note
            } else {
                String::new()
            },
        })
    };
    accounting::persons(rows, |row| row.unit, same).filter_map(sum).collect()
}
