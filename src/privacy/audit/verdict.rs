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

impl Statement {
    /// The epsilon that is put to the test: the claimed one, else the proven one.
    #[must_use]
    pub fn tested(&self) -> Option<f64> {
        self.claim.as_ref().or(self.proven.as_ref()).map(|(epsilon, _)| *epsilon)
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
    /// What that means.
    pub verdict: Verdict,
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
        let counts = evidence.counts;
        let always = counts.hits == [counts.trials[0], 0];
        let verdict = match statement.tested() {
            Some(_) if always && statement.disjoint.is_some() => Verdict::Refuted,
            Some(epsilon) if evidence.epsilon_lower > epsilon => Verdict::Refuted,
            Some(epsilon) if evidence.ceiling > epsilon => Verdict::Consistent,
            Some(_) | None => Verdict::Inconclusive,
        };
        let mut notes = Vec::new();
        if let Some((proven, _)) = &statement.proven
            && evidence.epsilon_lower > *proven
        {
            notes.push(format!(
                "the measured bound exceeds the proven one of {proven:.4}: the proof or the code is wrong"
            ));
        }
        match (verdict, statement.tested()) {
            (Verdict::Inconclusive, Some(epsilon)) if epsilon.is_finite() => notes.push(format!(
                "{} counted trials cannot show more than {:.3}: an audit of {epsilon:.3} needs at least {:.0}",
                evidence.counted,
                evidence.ceiling,
                (2.0 * 3.689 * libm::exp(epsilon)).ceil()
            )),
            (Verdict::Inconclusive, _) => notes.push("nothing is claimed, so nothing can be refuted".to_owned()),
            (Verdict::Consistent, _) => {
                notes.push("a pass proves nothing: another neighbour or test may do better".to_owned());
            }
            (Verdict::Refuted, _) => notes.push(refutation(&evidence)),
        }
        if let (Verdict::Refuted, Some(why)) = (verdict, &statement.disjoint) {
            notes.push(format!("no epsilon holds, since delta is 1 for each: {why}"));
        }
        Self { statement, evidence, verdict, notes, reconstruction: None }
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
