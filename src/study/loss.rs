//! What releases cost as each accountant sees it, on what that rests, and how it compares with what is claimed.

use crate::accounting::{self, Accountant, Claimed, Composition, Priced, Standing, Tight, claims};
use crate::protocols::{BookedRelease, over_rounds};
use crate::vocab::{Arithmetic, Basis, Delta, PrivacyEvent};
use serde::{Deserialize, Serialize};

/// A cumulative privacy loss as one accountant sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Who counted.
    pub accountant: String,
    /// What the figure is: a claim, a bound, a bound for releases fixed in advance, or no bound.
    pub standing: LossStanding,
    /// Epsilon; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// No valid epsilon lies below this, where the accountant can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// This holds for certain, where the accountant gives both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Order of the moment that gave the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// Delta that the epsilon is stated at.
    pub delta: f64,
    /// On what it rests: "proven", "conditional", "as published", "unprotected" or "refuted"; "approximation" for a figure
    /// that certifies nothing, and "exceeded" for a claim that the tight accountant's figure is above.
    pub basis: String,
    /// For which arithmetic a finite bound holds: "ideal arithmetic" if any noise was drawn in floating point and analysed
    /// as real-valued, else "exact arithmetic", else "no noise drawn". Empty for claims and approximations.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arithmetic: String,
    /// How many times the claim the tight accountant's epsilon is, both at the claim's delta, where it is more: with the
    /// claim and with the tight accountant's figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_claim: Option<f64>,
    /// What to know about it; empty if nothing.
    pub note: String,
}

/// What an epsilon in a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossStanding {
    /// What a paper or a user claims.
    Claim,
    /// An upper bound, for adaptively chosen releases too.
    Bound,
    /// An upper bound for releases whose parameters were fixed in advance.
    NonAdaptiveBound,
    /// A figure for comparison; it can be too small.
    NotABound,
}

/// JSON has no infinity: it is written as the text "inf".
pub(super) mod infinite {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(in crate::study) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
    }

    pub(in crate::study) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) if text == "inf" => Ok(f64::INFINITY),
            value => value
                .as_f64()
                .ok_or_else(|| D::Error::custom(format!("expected a number or \"inf\", found {value}"))),
        }
    }
}

/// Delta at which epsilons are stated when neither the scenario nor a claim gives one.
const DEFAULT_DELTA: f64 = 1e-5;

/// The delta at which to state an epsilon: the one asked for, that of the claims (0 without any), or the default.
pub(super) fn stated(asked: Option<Delta>, claimed: f64) -> Delta {
    asked
        .or_else(|| Delta::new(claimed).ok())
        .or_else(|| Delta::new(DEFAULT_DELTA).ok())
        .expect("the default delta is above 0 and below 1")
}

/// What one unit's history costs: what is claimed for it, if anything is, then every accountant's figure.
pub(super) fn losses(history: &[BookedRelease], delta: Option<Delta>) -> Vec<Loss> {
    let group: Vec<(&PrivacyEvent, u64)> =
        history.iter().map(|booked| (&booked.event, booked.count)).collect();
    let each = || group.iter().flat_map(|&(event, count)| std::iter::repeat_n(event, count as usize));
    let claimed = claims(each());
    let stated = stated(delta, claimed.delta);
    let composition = Composition::of_counted(group.iter().copied());
    let rounds = over_rounds(history);
    let (basis, arithmetic) = (basis_of(&group), arithmetic_of(&group));
    let mut losses: Vec<Loss> = Vec::new();
    for accountant in accounting::all() {
        let name = accountant.name();
        let priced = priced(accountant, &composition, stated, rounds);
        let standing = standing(name, priced.standing);
        let bound = standing != LossStanding::NotABound && priced.epsilon.is_finite();
        losses.push(Loss {
            accountant: name.to_owned(),
            standing,
            epsilon: priced.epsilon,
            lower: priced.lower,
            upper: priced.upper.filter(|upper| upper.is_finite()),
            order: priced.order,
            delta: stated.get(),
            basis: basis_for(name, basis).to_owned(),
            arithmetic: if bound { arithmetic.to_owned() } else { String::new() },
            times_claim: None,
            note: priced.notes.join("; "),
        });
    }
    if claimed.claimed > 0 {
        let mut claim = claim(&claimed, &group, stated);
        // Where the claims sum up to no delta, or to too large a one, at the delta that is stated: epsilon at delta 0
        // is no smaller.
        let at = Delta::new(claim.delta).unwrap_or(stated);
        let ours = losses.iter_mut().find(|loss| loss.accountant == Tight.name());
        let found = if claimed.unclaimed == 0 && at == stated {
            ours.as_ref().map_or(f64::INFINITY, |loss| loss.epsilon)
        } else {
            let claimed = group.iter().copied().filter(|(event, _)| event.claim.is_some());
            priced(&Tight, &Composition::of_counted(claimed), at, rounds).epsilon
        };
        if let Some(times) = exceeds(found, claim.epsilon) {
            claim.times_claim = Some(times);
            "exceeded".clone_into(&mut claim.basis);
            if at != stated {
                claim.note.push_str(&format!(
                    "; at delta {:e} the tight accountant finds epsilon {found:.4}, {} the claim",
                    at.get(),
                    multiple(times)
                ));
            }
            if let Some(ours) = ours.filter(|loss| loss.epsilon.is_finite()) {
                ours.times_claim = Some(times);
            }
        }
        losses.insert(0, claim);
    }
    losses
}

/// A factor in words: "2.6 times".
#[must_use]
pub fn multiple(times: f64) -> String {
    if times < 1.05 { format!("{times:.4} times") } else { format!("{times:.1} times") }
}

/// How many times a claim a finite epsilon is, if it is more than rounding makes it.
pub(super) fn exceeds(epsilon: f64, claim: f64) -> Option<f64> {
    let times = epsilon / claim;
    (times.is_finite() && times > 1.0 + 1e-6).then_some(times)
}

fn claim(claimed: &Claimed, group: &[(&PrivacyEvent, u64)], stated: Delta) -> Loss {
    let mut note: Vec<String> = claimed.sources.iter().map(|source| format!("claimed by {source}")).collect();
    if claimed.unclaimed > 0 {
        note.push(format!("says nothing about {} further releases", claimed.unclaimed));
    }
    if group.iter().any(|(event, _)| matches!(event.basis, Basis::Refuted { .. })) {
        note.push("does not hold here, see below".to_owned());
    }
    Loss {
        accountant: "as published".to_owned(),
        standing: LossStanding::Claim,
        epsilon: claimed.epsilon_at(stated),
        lower: None,
        upper: None,
        order: None,
        delta: if claimed.costs.count() > 0 { stated.get() } else { claimed.delta },
        basis: "as published".to_owned(),
        arithmetic: String::new(),
        times_claim: None,
        note: note.join("; "),
    }
}

/// Notes one after the other, each once; empty ones say nothing.
pub(super) fn joined<'a>(notes: impl IntoIterator<Item = &'a str>) -> String {
    let mut told: Vec<&str> = Vec::new();
    for note in notes {
        if !note.is_empty() && !told.contains(&note) {
            told.push(note);
        }
    }
    told.join("; ")
}

/// An accountant's answer for releases of one round, or of several.
pub(super) fn priced(
    accountant: &dyn Accountant,
    composition: &Composition,
    delta: Delta,
    rounds: bool,
) -> Priced {
    let priced = accountant.price(composition, delta);
    if rounds { priced.one_after_another() } else { priced }
}

/// For each accountant the larger of two losses; of equal ones (infinite as a rule) that of the longer history. What it
/// rests on is the weaker of the two, for the figure is to hold for both.
pub(super) fn larger(mut all: Vec<Loss>, other: Vec<Loss>, longer: bool) -> Vec<Loss> {
    for mut loss in other {
        let Some(known) = all.iter_mut().find(|known| known.accountant == loss.accountant) else {
            all.push(loss);
            continue;
        };
        let equal = known.epsilon.to_bits() == loss.epsilon.to_bits();
        if known.epsilon < loss.epsilon || (equal && longer) {
            std::mem::swap(known, &mut loss);
        }
        if rank(&loss.basis) < rank(&known.basis) {
            known.note = joined([known.note.as_str(), &loss.note]);
            known.basis = loss.basis;
        }
        if known.epsilon.is_finite() {
            known.arithmetic = weaker_arithmetic(&known.arithmetic, &loss.arithmetic).to_owned();
        }
        known.times_claim = known.times_claim.into_iter().chain(loss.times_claim).reduce(f64::max);
    }
    all
}

/// What an accountant's figure is worth. The central limit theorem's is never a certificate, not even where it happens to
/// be exact: a reader need not know when that is.
#[must_use]
pub fn standing(accountant: &str, standing: Standing) -> LossStanding {
    match standing {
        _ if is_approximation(accountant) => LossStanding::NotABound,
        Standing::Bound => LossStanding::Bound,
        Standing::NonAdaptiveBound => LossStanding::NonAdaptiveBound,
        Standing::NotABound => LossStanding::NotABound,
    }
}

/// Whether an accountant's figures are for comparison only.
fn is_approximation(accountant: &str) -> bool {
    accountant == accounting::Gdp.name()
}

/// On what an accountant's figure rests, given the weakest basis of the releases.
#[must_use]
pub fn basis_for(accountant: &str, basis: &'static str) -> &'static str {
    match basis {
        // The release has no finite epsilon, whoever counts.
        "refuted" | "unprotected" => basis,
        _ if is_approximation(accountant) => "approximation",
        _ => basis,
    }
}

/// Bases from the weakest to the strongest.
const BASES: [&str; 7] =
    ["refuted", "unprotected", "exceeded", "as published", "conditional", "approximation", "proven"];

fn rank(basis: &str) -> usize {
    BASES.iter().position(|known| *known == basis).unwrap_or(0)
}

/// The weaker of two bases.
pub(super) fn weaker<'a>(a: &'a str, b: &'a str) -> &'a str {
    if rank(b) < rank(a) { b } else { a }
}

/// The weakest basis of the group: what a reader must know first.
pub(super) fn basis_of(group: &[(&PrivacyEvent, u64)]) -> &'static str {
    let name = |basis: &Basis| match basis {
        Basis::Refuted { .. } => "refuted",
        Basis::Unprotected => "unprotected",
        Basis::AsPublished => "as published",
        Basis::Conditional { .. } => "conditional",
        Basis::Proven => "proven",
    };
    group.iter().map(|(event, _)| name(&event.basis)).min_by_key(|basis| rank(basis)).unwrap_or("proven")
}

/// Arithmetics from the weakest to the strongest.
const ARITHMETICS: [&str; 3] = ["ideal arithmetic", "exact arithmetic", "no noise drawn"];

/// The weaker of two arithmetics; an empty one says nothing.
pub(super) fn weaker_arithmetic<'a>(a: &'a str, b: &'a str) -> &'a str {
    let place = |name: &str| ARITHMETICS.iter().position(|known| *known == name).unwrap_or(usize::MAX);
    if place(b) < place(a) { b } else { a }
}

/// For which arithmetic the prices of a group hold: the weakest of its releases counts.
pub(super) fn arithmetic_of(group: &[(&PrivacyEvent, u64)]) -> &'static str {
    let place = |arithmetic: Arithmetic| match arithmetic {
        Arithmetic::Ideal => 0,
        Arithmetic::Exact => 1,
        Arithmetic::Noiseless => 2,
    };
    ARITHMETICS[group.iter().map(|(event, _)| place(event.arithmetic)).min().unwrap_or(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(epsilon: f64, basis: &str, arithmetic: &str) -> Loss {
        Loss {
            accountant: "tight".to_owned(),
            standing: LossStanding::Bound,
            epsilon,
            lower: None,
            upper: None,
            order: None,
            delta: 1e-5,
            basis: basis.to_owned(),
            arithmetic: arithmetic.to_owned(),
            times_claim: None,
            note: format!("note of {epsilon}"),
        }
    }

    #[test]
    fn the_larger_figure_rests_on_the_weaker_basis() {
        let (proven, conditional) =
            (loss(2.0, "proven", "exact arithmetic"), loss(1.0, "conditional", "ideal arithmetic"));
        for (a, b) in [(proven.clone(), conditional.clone()), (conditional, proven)] {
            let found = larger(vec![a], vec![b], false);
            assert_eq!((found.len(), found[0].epsilon), (1, 2.0));
            assert_eq!((&*found[0].basis, &*found[0].arithmetic), ("conditional", "ideal arithmetic"));
            assert!(found[0].note.contains("note of 1"), "the condition is told: {}", found[0].note);
        }
    }

    #[test]
    fn an_approximation_is_never_proven() {
        for basis in ["proven", "conditional", "as published"] {
            assert_eq!(basis_for("gdp", basis), "approximation");
            assert_eq!(basis_for("tight", basis), basis);
        }
        assert_eq!(basis_for("gdp", "refuted"), "refuted");
        assert_eq!(standing("gdp", Standing::Bound), LossStanding::NotABound);
        assert_eq!(exceeds(2.0, 2.0), None);
        assert_eq!(exceeds(5.2, 2.0).map(multiple).as_deref(), Some("2.6 times"));
        assert_eq!(exceeds(f64::INFINITY, 2.0), None, "that is told as infinite");
    }

    #[test]
    fn the_weakest_arithmetic_counts() {
        assert_eq!(weaker_arithmetic("exact arithmetic", "ideal arithmetic"), "ideal arithmetic");
        assert_eq!(weaker_arithmetic("exact arithmetic", "no noise drawn"), "exact arithmetic");
        assert_eq!(weaker_arithmetic("", "no noise drawn"), "no noise drawn");
        assert_eq!(arithmetic_of(&[]), "no noise drawn");
    }
}
