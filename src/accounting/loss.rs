//! The privacy losses of releases, one by each accountant, with their basis and the comparison with the claim.

use super::basis::{arithmetic_in_words, infinite, weaker_arithmetic};
use super::statement::price;
use super::{AccountantName, Claimed, EpsilonKind, History, LossBasis, Tight};
use crate::vocab::{Arithmetic, Basis, Delta, counted};
use serde::{Deserialize, Serialize};

/// A cumulative privacy loss by one accountant; epsilons are natural logarithms of likelihood ratios, deltas are
/// dimensionless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The accountant; `AsPublished` for a claim.
    pub accountant: AccountantName,
    /// Whether the epsilon is a claim, a bound, a bound for releases fixed in advance, or no bound.
    pub standing: EpsilonKind,
    /// Epsilon, at least 0; infinite ("inf" in files) if no finite epsilon holds.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// Proven lower bound on the smallest valid epsilon, if the accountant gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Proven upper bound for adaptively chosen releases, if the accountant gives both bounds and the upper one is
    /// finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The order, dimensionless, that gives the smallest epsilon, for accountants that choose one: above 1 for Renyi
    /// divergences, a whole number for the moments accountant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// Delta at which the epsilon is stated, in (0, 1); for claims at least 0, and possibly 1 or more.
    pub delta: f64,
    /// The basis of the epsilon: `Approximation` for an epsilon that is not a bound (unless a release is refuted or
    /// unprotected), `Exceeded` for a claim that is smaller than the tight accountant's epsilon.
    pub basis: LossBasis,
    /// The arithmetic for which a finite bound holds: ideal if any noise was drawn in floating point and analysed as
    /// real-valued. `None` for claims, approximations and infinite epsilons.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "arithmetic_in_words")]
    pub arithmetic: Option<Arithmetic>,
    /// The tight accountant's epsilon of the releases with a claim, divided by the claimed epsilon, if this
    /// ratio is above 1 by more than rounding. The tight accountant's epsilon is at the claim's delta, or at
    /// the stated delta if the claim's delta is 0 or is 1 or more. The ratio is stored with the claim, and
    /// with the tight accountant's loss if the epsilon of this loss is finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_claim: Option<f64>,
    /// Notes on the epsilon; empty if there are none.
    pub note: String,
}

/// The losses of one unit's history: first the claimed loss, if there is a claim, then one loss by every accountant.
/// `delta` is the delta that the scenario requests, if any.
#[must_use]
pub fn losses(history: &History, delta: Option<Delta>) -> Vec<Loss> {
    let claimed = history.claimed();
    let statement = history.statement(delta);
    let stated = statement.delta;
    let mut losses: Vec<Loss> = Vec::new();
    for figure in statement.figures() {
        let priced = figure.priced;
        losses.push(Loss {
            accountant: figure.accountant,
            standing: figure.standing,
            epsilon: priced.epsilon,
            lower: priced.lower,
            upper: priced.upper.filter(|upper| upper.is_finite()),
            order: priced.order,
            delta: stated.get(),
            basis: figure.basis.unwrap_or(LossBasis::Proven),
            arithmetic: figure.arithmetic,
            times_claim: None,
            note: priced.notes.join("; "),
        });
    }
    if claimed.claimed > 0 {
        let mut claim = claim(&claimed, history, stated);
        // If the claimed deltas sum to 0, or to 1 or more, the claim is compared with the tight epsilon at the stated
        // delta. For a sum of 0 this favours the claim, because the true epsilon at delta 0 is at least as large as the
        // true epsilon at the stated delta.
        let at = Delta::new(claim.delta).unwrap_or(stated);
        let ours = losses.iter_mut().find(|loss| loss.accountant == AccountantName::Tight);
        let found = if claimed.unclaimed == 0 && at == stated {
            ours.as_ref().map_or(f64::INFINITY, |loss| loss.epsilon)
        } else {
            let is_adaptive = history.basis_summary().is_adaptive;
            price(&Tight, &history.claimed_composition(), at, is_adaptive).epsilon
        };
        if let Some(times) = exceeds(found, claim.epsilon) {
            claim.times_claim = Some(times);
            claim.basis = LossBasis::Exceeded;
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

/// The ratio of a finite epsilon to a claim, if it is above 1 by more than rounding.
fn exceeds(epsilon: f64, claim: f64) -> Option<f64> {
    let times = epsilon / claim;
    (times.is_finite() && times > 1.0 + 1e-6).then_some(times)
}

fn claim(claimed: &Claimed, history: &History, stated: Delta) -> Loss {
    let mut note: Vec<String> = claimed.sources.iter().map(|source| format!("claimed by {source}")).collect();
    if claimed.unclaimed > 0 {
        note.push(format!("does not cover {}", counted(claimed.unclaimed, "further release")));
    }
    if history.releases().iter().any(|release| matches!(release.event.basis, Basis::Refuted { .. })) {
        note.push("the claim is known to be false here".to_owned());
    }
    Loss {
        accountant: AccountantName::AsPublished,
        standing: EpsilonKind::Claim,
        epsilon: claimed.epsilon_at(stated),
        lower: None,
        upper: None,
        order: None,
        // The epsilon of claimed costs holds at the stated delta, which the other claims do not spend.
        delta: claimed.delta + if claimed.costs.count() > 0 { stated.get() } else { 0.0 },
        basis: LossBasis::AsPublished,
        arithmetic: None,
        times_claim: None,
        note: note.join("; "),
    }
}

/// The notes joined by "; ", without empty and repeated notes.
pub(super) fn joined<'a>(notes: impl IntoIterator<Item = &'a str>) -> String {
    let parts = notes.into_iter().flat_map(|note| note.split("; "));
    distinct(parts.filter(|note| !note.is_empty())).join("; ")
}

/// The texts, each once, in the order of their first occurrences.
pub(super) fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct: Vec<&str> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// For each accountant, the loss in `all` or the loss in `other`, whichever has the larger epsilon. `longer` says whether
/// the history of `other` is longer than the histories of `all`. If the two epsilons are equal (usually both are
/// infinite), the loss in `other` is taken if `longer` is true, else the loss in `all`. The basis and the arithmetic are
/// the weaker ones of the two losses, because the epsilon must hold for both histories; `times_claim` is the larger one.
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
        if loss.basis < known.basis {
            known.note = joined([known.note.as_str(), &loss.note]);
            known.basis = loss.basis;
        }
        if known.epsilon.is_finite() {
            known.arithmetic = weaker_arithmetic(known.arithmetic, loss.arithmetic);
        }
        known.times_claim = known.times_claim.into_iter().chain(loss.times_claim).reduce(f64::max);
    }
    all
}

/// The largest finite epsilon (natural logarithm of a likelihood ratio) of an accountant among some losses; `None` if
/// there is none.
pub fn largest_finite<'a>(
    losses: impl IntoIterator<Item = &'a Loss>,
    accountant: AccountantName,
) -> Option<f64> {
    let of = losses.into_iter().filter(|loss| loss.accountant == accountant).map(|loss| loss.epsilon);
    of.filter(|epsilon| epsilon.is_finite()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::CountedRelease;
    use crate::accounting::counted::example::event;
    use crate::vocab::{Claim, Cost, PrivacyEvent, ProtectedUnit};

    fn loss(epsilon: f64, basis: LossBasis, arithmetic: Arithmetic) -> Loss {
        Loss {
            accountant: AccountantName::Tight,
            standing: EpsilonKind::Bound,
            epsilon,
            lower: None,
            upper: None,
            order: None,
            delta: 1e-5,
            basis,
            arithmetic: Some(arithmetic),
            times_claim: None,
            note: format!("note of {epsilon}"),
        }
    }

    #[test]
    fn the_larger_loss_has_the_weaker_basis() {
        let (proven, conditional) = (
            loss(2.0, LossBasis::Proven, Arithmetic::Exact),
            loss(1.0, LossBasis::Conditional, Arithmetic::Ideal),
        );
        for (a, b) in [(proven.clone(), conditional.clone()), (conditional, proven)] {
            let found = larger(vec![a], vec![b], false);
            assert_eq!((found.len(), found[0].epsilon), (1, 2.0));
            assert_eq!(
                (found[0].basis, found[0].arithmetic),
                (LossBasis::Conditional, Some(Arithmetic::Ideal))
            );
            assert!(found[0].note.contains("note of 1"), "the note has the condition: {}", found[0].note);
        }
    }

    #[test]
    fn a_claim_is_exceeded_beyond_rounding_only() {
        assert_eq!(exceeds(2.0, 2.0), None);
        assert_eq!(exceeds(5.2, 2.0).map(multiple).as_deref(), Some("2.6 times"));
        assert_eq!(exceeds(f64::INFINITY, 2.0), None, "an infinite epsilon has no ratio");
    }

    /// Claimed costs spend the stated delta, and other claims spend their own deltas besides.
    #[test]
    fn the_deltas_of_a_claim_add_up() {
        let release = |delta: f64, cost: Option<Cost>| {
            let claim = Claim {
                epsilon: if cost.is_some() { 0.0 } else { 0.5 },
                delta,
                source: "s".to_owned(),
                cost,
            };
            CountedRelease::of(&PrivacyEvent { claim: Some(claim), ..event(ProtectedUnit::Agent, None, 0.1) })
        };
        let gaussian = || Some(Cost::Gaussian { noise_multiplier: 5.0 });
        let claimed = |releases: Vec<CountedRelease>| {
            let found = losses(&History::new(releases), Delta::new(1e-5).ok()).swap_remove(0);
            assert_eq!(found.standing, EpsilonKind::Claim);
            (found.epsilon, found.delta)
        };
        let (alone, delta) = claimed(vec![release(0.0, gaussian())]);
        assert!(alone > 0.5 && delta == 1e-5, "{alone} {delta}");
        assert_eq!(claimed(vec![release(1e-6, None)]), (0.5, 1e-6));
        let (both, delta) = claimed(vec![release(0.0, gaussian()), release(1e-6, None)]);
        assert!((both - alone - 0.5).abs() < 1e-12 && (delta - 1.1e-5).abs() < 1e-18, "{both} {delta}");
    }

    /// The words in files must not change: readers of `summary.json` rely on them.
    #[test]
    fn a_loss_in_a_file_keeps_its_words() {
        let written = serde_json::to_value(loss(2.0, LossBasis::AsPublished, Arithmetic::Noiseless)).unwrap();
        assert_eq!(
            written,
            serde_json::json!({
                "accountant": "tight", "standing": "bound", "epsilon": 2.0, "delta": 1e-5, "basis": "as published",
                "arithmetic": "no noise drawn", "note": "note of 2",
            })
        );
        let read: Loss = serde_json::from_value(written).unwrap();
        assert_eq!(read.arithmetic, Some(Arithmetic::Noiseless));
        for name in AccountantName::all() {
            let accountant = name.accountant().unwrap();
            assert_eq!(serde_json::to_value(name).unwrap(), accountant.name());
        }
        assert_eq!(serde_json::to_value(AccountantName::AsPublished).unwrap(), "as published");
    }
}
