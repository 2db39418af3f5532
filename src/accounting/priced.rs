//! An accountant's answer.

use super::Composition;
use super::composition::Item;
use crate::vocab::Delta;
use serde::{Deserialize, Serialize, Serializer};

/// The kind of figure that an epsilon is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// What a paper or a user claims; no accountant's answer.
    Claim,
    /// An upper bound: the true epsilon is at most this, for adaptively chosen releases too.
    Bound,
    /// An upper bound for releases whose parameters and kind were fixed in advance; the notes say which.
    NonAdaptiveBound,
    /// A figure for comparison; it can be too small.
    NotABound,
}

/// Epsilon at a given delta, and which kind of figure it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Priced {
    /// The figure to quote, at least 0 (natural logarithm of a likelihood ratio); infinite if some release cannot be
    /// priced.
    #[serde(serialize_with = "number_or_infinity")]
    pub epsilon: f64,
    /// The kind of figure.
    pub standing: Standing,
    /// Certain lower end, at least 0: no valid epsilon is smaller. Only where the accountant gives one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_number")]
    pub lower: Option<f64>,
    /// Certain upper end, where the accountant gives both ends; at least `epsilon`, may be infinite.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_number")]
    pub upper: Option<f64>,
    /// Order of the moment that gave the answer, for accountants by moments: in (1, 1000] for Renyi divergences, a whole
    /// number from 1 to 32 for moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// What a reader must know, unpriced releases first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tight accountant's note on exponential mechanisms.
pub(super) const EXPONENTIAL_NOTE: &str = "epsilon holds for exponential mechanisms fixed in advance; if they are chosen adaptively, the upper end holds";

impl Priced {
    /// The same answer for releases that were chosen one after another, each after seeing those before: a figure that
    /// needs releases fixed in advance is replaced by its upper end.
    #[must_use]
    pub fn one_after_another(mut self) -> Self {
        if let (Standing::NonAdaptiveBound, Some(upper)) = (self.standing, self.upper) {
            self.epsilon = upper;
            self.standing = Standing::Bound;
            self.notes.retain(|note| note != EXPONENTIAL_NOTE);
        }
        self
    }

    /// A plain answer, with the composition's conditions as notes.
    #[must_use]
    pub fn plain(epsilon: f64, standing: Standing, composition: &Composition) -> Self {
        let notes = composition.conditions().map(str::to_owned).collect();
        Self { epsilon, standing, lower: None, upper: None, order: None, notes }
    }

    /// An infinite answer, because releases of known (epsilon, delta) use up the whole delta.
    pub(super) fn spent(failure: f64, delta: Delta, composition: &Composition) -> Self {
        let mut priced = Self::plain(f64::INFINITY, Standing::Bound, composition);
        let all = delta.get();
        let note = format!(
            "the deltas of the releases come to {failure:e} in all, which leaves nothing of the requested {all:e}"
        );
        priced.notes.insert(0, note);
        priced
    }

    /// An infinite answer, because of `unpriced` items.
    #[must_use]
    pub fn refused<'a>(
        unpriced: impl IntoIterator<Item = &'a Item>,
        standing: Standing,
        composition: &Composition,
    ) -> Self {
        let mut priced = Self::plain(f64::INFINITY, standing, composition);
        let named = unpriced.into_iter().map(|item| {
            let labels: Vec<&str> = item.labels.iter().map(String::as_str).collect();
            format!("cannot price {} x {}", item.count, labels.join("; "))
        });
        priced.notes.splice(0..0, named);
        priced
    }
}

fn number_or_infinity<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("infinity") }
}

fn optional_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number_or_infinity(value, serializer),
        None => serializer.serialize_none(),
    }
}
