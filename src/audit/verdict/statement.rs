//! Claims about a system, and verdicts on them.

use super::bound::PROVEN;
use serde::Serialize;
use std::fmt;

/// The verdict of an audit on a claimed epsilon, or on an upper bound. The descriptions of the variants call either of the
/// two epsilons "the claim".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A bound above 0 was measured, and neither a bound (by counting or by the model) nor the exact loss of the pair
    /// exceeds the claim, although this number of trials could have shown a bound above the claim. This proves nothing: an
    /// attack with another neighbour, test or event may succeed.
    Consistent,
    /// The lower bound by counting exceeds the claim, or no output is possible on both D and D' and all counted trials
    /// confirm this. The claim is then false, with the confidence of the measurements.
    Refuted,
    /// Neither consistent nor refuted, for one of four reasons. Counting did not refute the claim, but the exact loss of the
    /// pair or the bound by the model exceeds the claim. Or this number of trials could not refute the claim whatever the
    /// system does. Or no bound above 0 was measured. Or there is no claim.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Consistent => "consistent",
            Self::Refuted => "refuted",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// The claim about a system and the upper bound on its loss, as they are before the audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// What is audited ("laplace", "as planned").
    pub name: String,
    /// A description of the audited system, in one sentence.
    pub about: String,
    /// The difference between D and D', in words.
    pub neighbours: String,
    /// Who sees the transcript.
    pub observer: String,
    /// The delta of the claimed epsilon and of the upper bound.
    pub delta: f64,
    /// The claimed epsilon, if there is one, and its source.
    pub claim: Option<(f64, String)>,
    /// The upper bound on epsilon that follows from the costs of the releases, if there is one, and the basis of these
    /// costs in words: "proven", or "holds with" and the conditions. Despite the field's name, the bound may be conditional.
    pub proven: Option<(f64, String)>,
    /// Why no output is possible on both D and D', if this follows by algebra; `None` otherwise. If present, the trials only
    /// confirm this fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disjoint: Option<String>,
    /// Whether the system is wrong on purpose, as a test of the audit.
    pub broken: bool,
}

/// The source of an epsilon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A paper, a document, the scenario or the user.
    Claimed,
    /// The costs of the releases, each with a proven or a conditional basis. The epsilon is the tight accountant's upper
    /// bound, or at delta 0 the sum of the pure epsilons.
    Proven,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claimed => "claimed",
            Self::Proven => "proven",
        })
    }
}

/// One tested epsilon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// Its source.
    pub source: Source,
    /// The epsilon.
    pub epsilon: f64,
    /// The verdict on it.
    pub verdict: Verdict,
}

impl Statement {
    /// The same statement, with these further conditions on its upper bound.
    #[must_use]
    pub(crate) fn with_conditions(mut self, conditions: &[String]) -> Self {
        if let (Some((_, basis)), false) = (&mut self.proven, conditions.is_empty()) {
            let further = conditions.join(", and ");
            *basis = match basis.as_str() {
                PROVEN => format!("holds with {further}"),
                known => format!("{known}, and {further}"),
            };
        }
        self
    }

    /// The epsilon that the verdict is about: the smaller of the claimed epsilon and the upper bound, or the only one that
    /// is present; `None` if neither is.
    #[must_use]
    pub fn tested(&self) -> Option<f64> {
        let epsilon = |stated: &Option<(f64, String)>| stated.as_ref().map(|(epsilon, _)| *epsilon);
        match (epsilon(&self.claim), epsilon(&self.proven)) {
            (Some(claim), Some(proven)) => Some(claim.min(proven)),
            (claim, proven) => claim.or(proven),
        }
    }
}
