//! What one observer learned about a person whose row and outcome both change: the losses about either add up.

use super::loss::{Loss, LossStanding, infinite, joined, weaker, weaker_arithmetic};
use super::privacy_report::PrivacyRow;
use crate::vocab::ProtectedUnit;
use serde::{Deserialize, Serialize};

/// The sum of the losses about a row and about its outcome, by the tight accountant: a person who takes part brings both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonLoss {
    /// Name of the series.
    pub series: String,
    /// Whose data.
    pub protected: String,
    /// Who learned.
    pub observer: String,
    /// Epsilon of what was learned about the row; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon_row: f64,
    /// Epsilon of what was learned about the outcome; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon_outcome: f64,
    /// Their sum: epsilons add up, by basic composition.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// Sum of the deltas that the two are stated at.
    pub delta: f64,
    /// The weaker basis of the two.
    pub basis: String,
    /// The weaker arithmetic of the two; empty without a finite epsilon.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arithmetic: String,
    /// What to know about it; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One entry for each pair of a row's and an outcome's loss of the same owner to the same observer.
pub(super) fn persons(rows: &[PrivacyRow]) -> Vec<PersonLoss> {
    let of = |unit: ProtectedUnit| rows.iter().filter(move |row| row.unit == unit);
    let tight = |row: &PrivacyRow| row.losses.iter().find(|loss| loss.accountant == "tight").cloned();
    let pairs = of(ProtectedUnit::Record).flat_map(|row| {
        let same = move |other: &&PrivacyRow| {
            (&other.series, &other.protected, &other.observer) == (&row.series, &row.protected, &row.observer)
        };
        of(ProtectedUnit::Outcome).filter(same).map(move |other| (row, other))
    });
    let sum = |(row, outcome): (&PrivacyRow, &PrivacyRow)| {
        let (a, b) = (tight(row)?, tight(outcome)?);
        let (epsilon_row, epsilon_outcome, delta) = (bound(&a), bound(&b), a.delta + b.delta);
        // Basic composition, Dwork and Roth 2014, Theorem 3.16: what is released about the row depends on no outcome,
        // and the other way round, on the conditions that either loss names.
        let sum = epsilon_row + epsilon_outcome;
        let epsilon = if delta < 1.0 { sum } else { f64::INFINITY };
        let arithmetic = weaker_arithmetic(&a.arithmetic, &b.arithmetic);
        Some(PersonLoss {
            series: row.series.clone(),
            protected: row.protected.clone(),
            observer: row.observer.clone(),
            epsilon_row,
            epsilon_outcome,
            epsilon,
            delta,
            basis: weaker(&a.basis, &b.basis).to_owned(),
            arithmetic: if epsilon.is_finite() { arithmetic.to_owned() } else { String::new() },
            // What has no price is named with the two losses.
            note: if epsilon.is_finite() { joined([a.note.as_str(), &b.note]) } else { String::new() },
        })
    };
    pairs.filter_map(sum).collect()
}

/// The figure that holds whatever was chosen in knowledge of what; infinite for what is no bound.
fn bound(loss: &Loss) -> f64 {
    match loss.standing {
        LossStanding::Bound => loss.epsilon,
        LossStanding::NonAdaptiveBound => loss.upper.unwrap_or(f64::INFINITY),
        LossStanding::Claim | LossStanding::NotABound => f64::INFINITY,
    }
}
