//! The verdict on a claim: what the measured bound says about it, and what it cannot say.

use super::evidence::World;
use super::projection::Reconstruction;
use super::run::Evidence;
use serde::Serialize;
use std::fmt;

/// What an audit says about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The measured lower bound does not exceed the claim, though the number of trials would have permitted it. Proves
    /// nothing: another neighbour, test or event may do better.
    Consistent,
    /// The measured lower bound exceeds the claim: the claim is false, with the stated confidence.
    Refuted,
    /// So many trials could not have refuted the claim whatever the system does, or nothing is claimed.
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

/// What is said about a system before it is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// What is audited ("laplace", "as planned").
    pub name: String,
    /// What it is, in one sentence.
    pub about: String,
    /// How D and D' differ, in words.
    pub neighbours: String,
    /// Who sees the transcript.
    pub observer: String,
    /// Delta of all epsilons.
    pub delta: f64,
    /// The claimed epsilon, if anything is claimed, and by whom.
    pub claim: Option<(f64, String)>,
    /// The proven upper bound on epsilon, if there is one, and on what it rests.
    pub proven: Option<(f64, String)>,
    /// Why D and D' have no outputs in common, where algebra says so. The support test then only confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disjoint: Option<String>,
    /// Whether it is broken on purpose, for the auditor to find out.
    pub broken: bool,
}

/// What is said about an epsilon by the one who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A paper, a document or the user.
    Claimed,
    /// The ledger, by the accountant.
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

/// One epsilon put to the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// Whose it is.
    pub source: Source,
    /// The epsilon.
    pub epsilon: f64,
    /// What the trials say about it.
    pub verdict: Verdict,
}

/// What is left between the tested bound and what was measured: the true epsilon lies in between, and a verdict says no
/// more than that. Each is a quotient, at least 1 but for chance; none where its divisor is 0 or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Factors {
    /// Tested bound over the bound by counting alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<f64>,
    /// Tested bound over the bound by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modelled: Option<f64>,
    /// Tested bound over the exact loss of the pair of neighbours: what other neighbours might still show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_over_pair: Option<f64>,
    /// Exact loss of the pair over the larger of the two measured bounds: what more trials would still show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_over_measured: Option<f64>,
}

impl Factors {
    fn of(tested: f64, evidence: &Evidence) -> Self {
        let over = |above: f64, below: Option<f64>| {
            below.filter(|below| *below > 0.0 && above.is_finite()).map(|below| above / below)
        };
        let model = evidence.model.as_ref().map(|model| model.epsilon_lower);
        let measured = evidence.epsilon_lower.max(model.unwrap_or(0.0));
        Self {
            counted: over(tested, Some(evidence.epsilon_lower)),
            modelled: over(tested, model),
            bound_over_pair: over(tested, evidence.pair_epsilon),
            pair_over_measured: evidence.pair_epsilon.and_then(|pair| over(pair, Some(measured))),
        }
    }

    /// The smallest factor that a verdict may be stated with, and whether it rests on the model.
    #[must_use]
    pub fn smallest(&self) -> Option<(f64, bool)> {
        match (self.counted, self.modelled) {
            (Some(counted), Some(modelled)) if modelled < counted => Some((modelled, true)),
            (Some(counted), _) => Some((counted, false)),
            (None, modelled) => modelled.map(|modelled| (modelled, true)),
        }
    }
}

impl Statement {
    /// The epsilon that the verdict is about: the smaller of the claimed and the proven one.
    #[must_use]
    pub fn tested(&self) -> Option<f64> {
        let epsilon = |stated: &Option<(f64, String)>| stated.as_ref().map(|(epsilon, _)| *epsilon);
        match (epsilon(&self.claim), epsilon(&self.proven)) {
            (Some(claim), Some(proven)) => Some(claim.min(proven)),
            (claim, proven) => claim.or(proven),
        }
    }
}

/// A statement, what was measured, and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was said.
    #[serde(flatten)]
    pub statement: Statement,
    /// What was measured.
    pub evidence: Evidence,
    /// What that means for the smaller of the claimed and the proven epsilon. It rests on counting alone, never on a model.
    pub verdict: Verdict,
    /// The claimed and the proven epsilon, each with its verdict.
    pub tests: Vec<Tested>,
    /// How far the tested bound lies above what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Factors>,
    /// What a reader must know besides.
    pub notes: Vec<String>,
    /// Records rebuilt from what was released, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
}

impl Finding {
    /// Judges.
    #[must_use]
    pub fn new(statement: Statement, evidence: Evidence) -> Self {
        let stated = [(Source::Claimed, &statement.claim), (Source::Proven, &statement.proven)];
        let tests: Vec<Tested> = stated
            .into_iter()
            .filter_map(|(source, stated)| stated.as_ref().map(|(epsilon, _)| (source, *epsilon)))
            .map(|(source, epsilon)| Tested {
                source,
                epsilon,
                verdict: judged(&statement, &evidence, epsilon),
            })
            .collect();
        let tested = statement.tested();
        let verdict = tested.map_or(Verdict::Inconclusive, |epsilon| judged(&statement, &evidence, epsilon));
        let mut notes = Vec::new();
        if let Some((proven, _)) = &statement.proven
            && evidence.epsilon_lower > *proven
        {
            notes.push(format!(
                "the measured bound exceeds the proven one of {proven:.4}: the proof or the code is wrong"
            ));
        }
        if verdict != Verdict::Refuted
            && let (Some(epsilon), Some(model)) = (tested, &evidence.model)
            && model.epsilon_lower > epsilon
        {
            notes.push(format!(
                "the bound by the model exceeds {epsilon:.4}: if {}, this is refuted; the verdict rests on counting alone",
                model.premise
            ));
        }
        match (verdict, tested) {
            (Verdict::Inconclusive, Some(epsilon)) if epsilon.is_finite() => notes.push(format!(
                "{} counted trials cannot show more than {:.3}: an audit of {epsilon:.3} needs at least {:.0}",
                evidence.counted,
                evidence.ceiling,
                (2.0 * 3.689 * libm::exp(epsilon)).ceil()
            )),
            (Verdict::Inconclusive, _) => notes.push("nothing is claimed, so nothing can be refuted".to_owned()),
            (Verdict::Consistent, _) => notes.push(
                "a pass proves nothing: the true epsilon may lie anywhere above what was measured, and another neighbour \
                 or test may do better"
                    .to_owned(),
            ),
            (Verdict::Refuted, _) => notes.push(refutation(&evidence)),
        }
        if let (Verdict::Refuted, Some(why)) = (verdict, &statement.disjoint) {
            notes.push(format!("no epsilon holds, since delta is 1 for each: {why}"));
        }
        let factors =
            tested.filter(|_| verdict != Verdict::Refuted).map(|epsilon| Factors::of(epsilon, &evidence));
        Self { statement, evidence, verdict, tests, factors, notes, reconstruction: None }
    }
}

/// The verdict on one epsilon: by counts, and where algebra parts the two worlds by every single trial.
fn judged(statement: &Statement, evidence: &Evidence, epsilon: f64) -> Verdict {
    let counts = evidence.counts;
    let always = counts.hits == [counts.trials[0], 0];
    if (always && statement.disjoint.is_some()) || evidence.epsilon_lower > epsilon {
        Verdict::Refuted
    } else if evidence.ceiling > epsilon {
        Verdict::Consistent
    } else {
        Verdict::Inconclusive
    }
}

fn refutation(evidence: &Evidence) -> String {
    let other = if evidence.speaks_for == World::Given { World::Neighbour } else { World::Given };
    format!(
        "the event occurred {} times in {} under {} and {} times in {} under {}",
        evidence.counts.hits[0],
        evidence.counts.trials[0],
        evidence.speaks_for.symbol(),
        evidence.counts.hits[1],
        evidence.counts.trials[1],
        other.symbol()
    )
}
