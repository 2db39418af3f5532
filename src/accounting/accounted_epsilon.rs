//! The answer of an accountant: an epsilon, and whether this epsilon is a bound.

use super::Composition;
use super::basis::infinite;
use super::composition::Item;
use crate::vocab::Delta;
use serde::{Deserialize, Serialize};

/// What an epsilon is: a claim, a bound or an approximation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpsilonKind {
    /// The claim of a paper or a user; no accountant computed it.
    Claim,
    /// An upper bound: the true epsilon is at most this, for adaptively chosen releases too.
    Bound,
    /// An upper bound if certain releases were fixed in advance; the notes say which.
    NonAdaptiveBound,
    /// A value for comparison; it can be too small.
    NotABound,
}

impl EpsilonKind {
    /// The epsilon that is proven for adaptively chosen releases. `epsilon` is of this kind, and `upper` is the proven
    /// upper bound that belongs to `epsilon`. The result is infinite for a claim or an approximation. It is also infinite
    /// for a bound that holds only for releases fixed in advance, if there is no `upper`.
    #[must_use]
    pub fn adaptive_bound(self, epsilon: f64, upper: Option<f64>) -> f64 {
        match self {
            Self::Bound => epsilon,
            Self::NonAdaptiveBound => upper.unwrap_or(f64::INFINITY),
            Self::Claim | Self::NotABound => f64::INFINITY,
        }
    }
}

/// An accountant's epsilon (natural logarithm of a likelihood ratio) at a given delta, and whether this epsilon is a bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccountedEpsilon {
    /// The epsilon that reports show, at least 0 (natural logarithm of a likelihood ratio). Infinite if the accountant has
    /// no epsilon for one of the releases, or if the releases' own deltas use up the delta.
    #[serde(serialize_with = "infinite::serialize")]
    pub epsilon: f64,
    /// Whether the epsilon is a claim, a bound or an approximation.
    pub standing: EpsilonKind,
    /// Proven lower bound on the smallest valid epsilon, at least 0, if the accountant gives one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "infinite::serialize_optional")]
    pub lower: Option<f64>,
    /// Proven upper bound for adaptively chosen releases, if the accountant gives both bounds; at least
    /// `epsilon`, may be infinite.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "infinite::serialize_optional")]
    pub upper: Option<f64>,
    /// The order, dimensionless, that gives the smallest epsilon, if the accountant chooses an order: in (1, 1000] for Renyi
    /// divergences, a whole number from 1 to 32 for the moments accountant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// Notes on the answer, those on releases without a bound first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tight accountant's note on exponential mechanisms.
pub(super) const EXPONENTIAL_NOTE: &str = "epsilon holds for exponential mechanisms fixed in advance; if they are chosen adaptively, the upper bound holds";

impl AccountedEpsilon {
    /// This answer for adaptive composition, where each release may depend on the results of the earlier ones. An epsilon
    /// that holds only for releases fixed in advance is replaced by the upper bound, or by infinity if the accountant gives
    /// no upper bound; the note that the epsilon holds for fixed releases is removed. Any other answer stays as it is.
    #[must_use]
    pub fn for_adaptive_releases(mut self) -> Self {
        if self.standing == EpsilonKind::NonAdaptiveBound {
            self.epsilon = self.standing.adaptive_bound(self.epsilon, self.upper);
            self.standing = EpsilonKind::Bound;
            self.notes.retain(|note| note != EXPONENTIAL_NOTE);
        }
        self
    }

    /// An answer without a lower bound, an upper bound or an order, with the composition's conditions as notes.
    #[must_use]
    pub fn plain(epsilon: f64, standing: EpsilonKind, composition: &Composition) -> Self {
        let notes = composition.conditions().map(str::to_owned).collect();
        Self { epsilon, standing, lower: None, upper: None, order: None, notes }
    }

    /// An infinite answer, because the deltas of the releases' own (epsilon, delta) guarantees use up the whole delta.
    /// `failure` is the sum of these deltas or, for accountants that call `AccountedEpsilon::remaining`, the probability
    /// that at least one of these guarantees fails.
    pub(super) fn delta_used_up(failure: f64, delta: Delta, composition: &Composition) -> Self {
        let mut priced = Self::plain(f64::INFINITY, EpsilonKind::Bound, composition);
        let all = delta.get();
        let note = format!(
            "the releases' own deltas use up the requested delta of {all:e}: they come to {failure:e}"
        );
        priced.notes.insert(0, note);
        priced
    }

    /// An infinite answer, because the accountant has no bound for the items `unpriced`.
    #[must_use]
    pub fn refused<'a>(
        unpriced: impl IntoIterator<Item = &'a Item>,
        standing: EpsilonKind,
        composition: &Composition,
    ) -> Self {
        let mut priced = Self::plain(f64::INFINITY, standing, composition);
        let named = unpriced.into_iter().map(|item| {
            let labels: Vec<&str> = item.labels.iter().map(String::as_str).collect();
            format!("not covered by this accountant: {} x {}", item.count, labels.join("; "))
        });
        priced.notes.splice(0..0, named);
        priced
    }
}
