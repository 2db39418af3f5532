//! The words that reports use for units, neighbours, bases, arithmetic and outcomes.

use crate::accounting::{LossBasis, OF_ONE_RUN, multiple};
use crate::kernel::{LossCause, Memory};
use crate::study::PrivacyRow;
use crate::vocab::{Arithmetic, Neighbours, ProtectedUnit};

/// A unit of protection with its article.
#[must_use]
pub(super) fn unit(unit: &ProtectedUnit) -> &'static str {
    unit.with_article()
}

/// How two neighbouring data sets differ.
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

/// The number of releases and, if they are about different units, the largest number about the same unit.
#[must_use]
pub(super) fn times(entry: &PrivacyRow) -> String {
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    match entry.releases_per_unit {
        Some(1) => format!("{}, at most once each", times(entry.releases)),
        Some(most) => format!("{}, at most {} about the same unit", times(entry.releases), times(most)),
        None => times(entry.releases),
    }
}

/// The basis of an epsilon: "proven, ideal arithmetic", "proven, 2.6 times the claim, ideal arithmetic".
#[must_use]
pub(super) fn basis_words(
    basis: LossBasis,
    arithmetic: Option<Arithmetic>,
    times_claim: Option<f64>,
) -> String {
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

/// The conditions among the notes on an epsilon, each in full: "holds only with ..", "holds only if ..", and how
/// probabilities of failure add up. Remarks, such as that a loss is as published, are left out.
#[must_use]
pub(super) fn conditions(note: &str) -> Vec<&str> {
    const BEGINNINGS: [&str; 2] = ["holds only ", OF_ONE_RUN];
    const REMARKS: [&str; 1] = ["the privacy loss of "];
    // A condition may itself contain a semicolon, so the text is split only before these beginnings.
    let mut starts: Vec<usize> = BEGINNINGS
        .iter()
        .chain(&REMARKS)
        .flat_map(|beginning| note.match_indices(beginning).map(|(at, _)| at))
        .filter(|at| *at == 0 || note[..*at].ends_with("; "))
        .collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|at| at - 2).chain([note.len()]);
    let mut found: Vec<&str> = Vec::new();
    for (&from, to) in starts.iter().zip(ends) {
        let told = &note[from..to];
        if BEGINNINGS.iter().any(|beginning| told.starts_with(beginning)) && !found.contains(&told) {
            found.push(told);
        }
    }
    found
}

/// The unit of protection of a person who contributes both a row and an outcome, in words.
#[must_use]
pub(super) fn person(protected: &str) -> String {
    format!("a person of {protected} whose row and outcome both change")
}

/// An explanation of the ideal and the exact arithmetic, as far as losses use them; `None` if no loss uses either.
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

/// Words for outcomes (quantities at the end of a replication) whose name is long or a formula. Each entry has the name,
/// the words for it, and fewer words for an axis or a header.
const OUTCOMES: [(&str, &str, &str); 11] = [
    (
        "mean heterogeneity of answers heard minus that of answers due",
        "mean heterogeneity of answers heard minus that of answers due",
        "heterogeneity, heard minus due",
    ),
    (
        "mean simple regret of answers heard minus that of answers due",
        "mean simple regret of answers heard minus that of answers due",
        "simple regret, heard minus due",
    ),
    (
        "mean reward of answers heard minus that of answers due",
        "mean reward of answers heard minus that of answers due",
        "mean reward, heard minus due",
    ),
    (
        "mean outcome of answers heard minus that of answers due",
        "mean outcome of answers heard minus that of answers due",
        "mean outcome, heard minus due",
    ),
    ("f(lambda*) - f(lambda~)", "regret of the published setting", "regret of the published setting"),
    (
        "max mu_T - mu_T(lambda~)",
        "how far the published setting is below the best, by the model's posterior mean",
        "below the best, by posterior mean",
    ),
    (
        "max v - v(lambda~)",
        "how far the published setting is below the best, by measured outcomes",
        "below the best, as measured",
    ),
    (
        "max |mu_T - mu_T'|",
        "largest change of the posterior mean from one neighbour to the other",
        "change of the mean by a neighbour",
    ),
    (
        "|v~ - f(lambda*)|",
        "error of the published performance, against the best setting's",
        "error of the published performance",
    ),
    (
        "|v~ - max v|",
        "error of the published performance, against the best measured",
        "error against the best measured",
    ),
    (
        "|v~ - v(lambda~)|",
        "error of the published performance, against that measured at the published setting",
        "error at the published setting",
    ),
];

/// The words of [`OUTCOMES`] for a quantity with this name; the name itself if it is not in the list.
#[must_use]
pub(super) fn outcome(name: &str) -> &str {
    OUTCOMES.iter().find(|(known, ..)| *known == name).map_or(name, |(_, words, _)| words)
}

/// The shorter words of [`OUTCOMES`] for a quantity with this name, at most 34 characters; the name itself if it is not in
/// the list.
#[must_use]
pub(super) fn outcome_in_brief(name: &str) -> &str {
    OUTCOMES.iter().find(|(known, ..)| *known == name).map_or(name, |(.., words)| words)
}

/// Why a message was lost, in words.
#[must_use]
pub fn cause(cause: LossCause) -> &'static str {
    match cause {
        LossCause::Link => "dropped by the link",
        LossCause::SenderOffline => "the sender is offline",
        LossCause::ReceiverOffline => "the addressee is offline or unreachable",
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

/// The note on a row whose loss differs between runs.
pub(super) const RUNS_DIFFER: &str = "losses differ between runs: each number is the largest of all runs";

#[cfg(test)]
mod tests {
    use super::conditions;

    #[test]
    fn a_remark_ends_a_condition() {
        let note =
            "holds only with A; B; the privacy loss of X is as published, not proven here; holds only if C";
        assert_eq!(conditions(note), ["holds only with A; B", "holds only if C"]);
        let of_runs = "a probability that is stated for a condition is that of one run: D";
        assert_eq!(conditions(&format!("holds only with A; {of_runs}")), ["holds only with A", of_runs]);
        assert!(conditions("the privacy loss of X is as published, not proven here").is_empty());
    }
}
