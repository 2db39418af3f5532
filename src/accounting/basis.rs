//! The basis of an epsilon: how the costs that give the epsilon are justified. A summary of a list of releases
//! states this basis, the arithmetic for which the costs hold, and whether the releases may have been chosen adaptively.

use crate::vocab::{Arithmetic, Basis, PrivacyEvent};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The basis of an epsilon. The variants are in order, the weakest basis first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossBasis {
    /// A claim for one of the releases is known to be false in this setting.
    Refuted,
    /// Some data were released without protection.
    Unprotected,
    /// The epsilon is a claim, and is smaller than the tight accountant's epsilon.
    Exceeded,
    /// The epsilon is stated in a paper; this program neither proves nor refutes it.
    #[serde(rename = "as published")]
    AsPublished,
    /// The epsilon holds under conditions that the notes name.
    Conditional,
    /// The epsilon is for comparison only, and is not an upper bound.
    Approximation,
    /// The epsilon holds for every pair of neighbours.
    Proven,
}

impl LossBasis {
    /// The weakest basis of some events; `Proven` if there are no events.
    pub fn weakest<'a>(events: impl IntoIterator<Item = &'a PrivacyEvent>) -> Self {
        events.into_iter().map(|event| Self::from(&event.basis)).min().unwrap_or(Self::Proven)
    }

    /// The name of this basis in reports and files.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Refuted => "refuted",
            Self::Unprotected => "unprotected",
            Self::Exceeded => "exceeded",
            Self::AsPublished => "as published",
            Self::Conditional => "conditional",
            Self::Approximation => "approximation",
            Self::Proven => "proven",
        }
    }
}

impl From<&Basis> for LossBasis {
    fn from(basis: &Basis) -> Self {
        match basis {
            Basis::Refuted { .. } => Self::Refuted,
            Basis::Unprotected => Self::Unprotected,
            Basis::AsPublished => Self::AsPublished,
            Basis::Conditional { .. } => Self::Conditional,
            Basis::Proven => Self::Proven,
        }
    }
}

impl fmt::Display for LossBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The weaker of two arithmetics. If only one of the two is given, it is the result; if neither is, the result is `None`.
#[must_use]
pub(super) fn weaker_arithmetic(a: Option<Arithmetic>, b: Option<Arithmetic>) -> Option<Arithmetic> {
    a.into_iter().chain(b).min()
}

/// The arithmetic for which the costs of all these events hold: the weakest among them, or `Noiseless` if there are none.
pub(super) fn weakest_arithmetic<'a>(events: impl IntoIterator<Item = &'a PrivacyEvent>) -> Arithmetic {
    events.into_iter().map(|event| event.arithmetic).min().unwrap_or(Arithmetic::Noiseless)
}

/// The basis and the arithmetic of a list of releases, and whether they may have been chosen adaptively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasisSummary {
    /// The weakest basis of the releases.
    pub basis: LossBasis,
    /// The weakest arithmetic of the releases.
    pub arithmetic: Arithmetic,
    /// Whether some releases may have been chosen adaptively.
    pub is_adaptive: bool,
}

/// Serialises an arithmetic as words, and `None` as the empty text.
pub(crate) mod arithmetic_in_words {
    use crate::vocab::Arithmetic;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature that serde requires"
    )]
    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Arithmetic>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.map_or("", Arithmetic::words))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arithmetic>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let all = [Arithmetic::Ideal, Arithmetic::Exact, Arithmetic::Noiseless];
        match all.into_iter().find(|known| known.words() == text) {
            None if !text.is_empty() => Err(D::Error::custom(format!(
                "expected \"ideal arithmetic\", \"exact arithmetic\" or \"no noise drawn\", found \"{text}\""
            ))),
            found => Ok(found),
        }
    }
}

/// Serialises a number that is not finite as the text "inf", because JSON has no infinity. NaN is stored as "inf" too,
/// because neither an infinite epsilon nor NaN bounds anything.
pub(crate) mod infinite {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
    }

    #[expect(clippy::ref_option, reason = "the signature that serde requires")]
    pub(crate) fn serialize_optional<S: Serializer>(
        value: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) if text == "inf" => Ok(f64::INFINITY),
            value => value
                .as_f64()
                .ok_or_else(|| D::Error::custom(format!("expected a number or \"inf\", found {value}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_basis_counts_and_is_stored_in_words() {
        assert!(LossBasis::Refuted < LossBasis::Conditional && LossBasis::Conditional < LossBasis::Proven);
        let (exact, ideal) = (Some(Arithmetic::Exact), Some(Arithmetic::Ideal));
        assert_eq!(weaker_arithmetic(exact, ideal), ideal);
        assert_eq!(weaker_arithmetic(exact, Some(Arithmetic::Noiseless)), exact);
        assert_eq!(weaker_arithmetic(None, exact), exact);
        assert_eq!(weakest_arithmetic([]), Arithmetic::Noiseless);
        for basis in ["refuted", "unprotected", "exceeded", "as published", "conditional", "proven"] {
            let read: LossBasis = serde_json::from_str(&format!("\"{basis}\"")).unwrap();
            assert_eq!(
                (read.words(), serde_json::to_string(&read).unwrap()),
                (basis, format!("\"{basis}\""))
            );
        }
    }
}
