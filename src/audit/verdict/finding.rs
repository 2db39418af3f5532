//! What follows from the measurements of an audit: the verdict on a claim, and the factors that say how much the
//! measurements leave open.

use super::bound::PROVEN;
use super::statement::{Source, Statement, Tested, Verdict};
use crate::audit::measure::{Evidence, NeighbourSide};
use crate::audit::reconstruction::Reconstruction;
use serde::Serialize;

/// The ratios between the tested epsilon, the exact loss of the pair of neighbours and the two measured lower bounds. The
/// bound by counting (`Evidence::epsilon_lower`) follows from counts alone; the bound by the model (`Evidence::model`)
/// also assumes the premise of the model. If the tested epsilon is a true upper bound, the true loss lies between the bound
/// by counting and the tested epsilon, with the confidence of the measurement. The bound by the model can take the place of
/// the bound by counting if the model's premise is true.
///
/// A factor is `None` if its divisor is 0 or unknown, or its dividend infinite or unknown. If the verdict is
/// consistent, the first three factors are at least 1, up to numerical error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Factors {
    /// Tested epsilon over the bound by counting alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<f64>,
    /// Tested epsilon over the bound by the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modelled: Option<f64>,
    /// Tested epsilon over the exact loss of the pair of neighbours. If the tested epsilon is a true upper bound, this is
    /// the largest factor by which the exact loss of another pair can exceed the exact loss of this pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_over_pair: Option<f64>,
    /// Exact loss of the pair over the larger of the two measured bounds: roughly the largest factor by which more trials on
    /// this pair can raise the bound. This factor may be below 1 by chance.
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
        let pair = evidence.pair.map(|pair| pair.epsilon);
        Self {
            counted: over(tested, Some(evidence.epsilon_lower)),
            modelled: over(tested, model),
            bound_over_pair: over(tested, pair),
            pair_over_measured: pair.and_then(|pair| over(pair, Some(measured))),
        }
    }

    /// The smaller of `counted` and `modelled`, and whether it is `modelled`, which is valid only
    /// if the model's premise is true. `None` if neither is known.
    #[must_use]
    pub fn smallest(&self) -> Option<(f64, bool)> {
        match (self.counted, self.modelled) {
            (Some(counted), Some(modelled)) if modelled < counted => Some((modelled, true)),
            (Some(counted), _) => Some((counted, false)),
            (None, modelled) => modelled.map(|modelled| (modelled, true)),
        }
    }
}

/// A statement about a system, the measurements, and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The statement that was tested.
    #[serde(flatten)]
    pub statement: Statement,
    /// What was measured.
    pub evidence: Evidence,
    /// The verdict on the smaller of the claimed epsilon and the upper bound. Only counting refutes; a model or
    /// the exact loss of the pair can only prevent the verdict "consistent".
    pub verdict: Verdict,
    /// Why the verdict is inconclusive, in words. If a conditional upper bound is refuted: its condition, which may not be
    /// met on this D and D'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The claimed epsilon and the upper bound, each with its verdict.
    pub tests: Vec<Tested>,
    /// How far the tested epsilon is above the measured bounds; `None` if it is refuted or nothing is tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Factors>,
    /// Further notes for the reader.
    pub notes: Vec<String>,
    /// The result of reconstructing records from the releases, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
}

impl Finding {
    /// Computes the verdict. If the exact loss of the pair exceeds the upper bound by no more than the numerical error of
    /// the exact loss, the exact loss is set to the upper bound.
    #[must_use]
    pub fn new(statement: Statement, mut evidence: Evidence) -> Self {
        let mut notes = Vec::new();
        if let Some((proven, basis)) = &statement.proven {
            let wrong = match basis.as_str() {
                PROVEN => "the proof or the code is wrong".to_owned(),
                basis => format!(
                    "its basis is \"{basis}\"; if this basis holds for this D and D', the proof or the code is wrong"
                ),
            };
            if evidence.epsilon_lower > *proven {
                notes.push(format!("the measured bound exceeds the upper bound of {proven:.4}: {wrong}"));
            }
            match &mut evidence.pair {
                Some(pair) if pair.exceeds(*proven) => notes.push(format!(
                    "the exact loss of the pair exceeds the upper bound of {proven:.4}: {wrong}"
                )),
                Some(pair) => *pair = pair.at_most(*proven),
                None => {}
            }
        }
        let stated = [(Source::Claimed, &statement.claim), (Source::Proven, &statement.proven)];
        let judgements: Vec<(Tested, Option<String>)> = stated
            .into_iter()
            .filter_map(|(source, stated)| stated.as_ref().map(|(epsilon, _)| (source, *epsilon)))
            .map(|(source, epsilon)| {
                let (verdict, why) = judged(&statement, &evidence, (source, epsilon));
                (Tested { source, epsilon, verdict }, why)
            })
            .collect();
        let smaller = judgements.iter().min_by(|(a, _), (b, _)| a.epsilon.total_cmp(&b.epsilon)).cloned();
        let (verdict, why) = smaller.map_or_else(
            || (Verdict::Inconclusive, Some("nothing is claimed, so nothing can be refuted".to_owned())),
            |(tested, why)| (tested.verdict, why.or_else(|| condition(&statement, &tested))),
        );
        match verdict {
            Verdict::Inconclusive => {}
            Verdict::Consistent => notes.push(
                "a pass proves nothing: the true epsilon may lie anywhere above what was measured, and another neighbour \
                 or test may show more"
                    .to_owned(),
            ),
            Verdict::Refuted => notes.push(refutation(&evidence)),
        }
        if let (Verdict::Refuted, Some(why)) = (verdict, &statement.disjoint) {
            notes.push(format!("no epsilon holds, since delta is 1 at every epsilon: {why}"));
        }
        let factors = statement
            .tested()
            .filter(|_| verdict != Verdict::Refuted)
            .map(|epsilon| Factors::of(epsilon, &evidence));
        let tests = judgements.into_iter().map(|(tested, _)| tested).collect();
        Self { statement, evidence, verdict, why, tests, factors, notes, reconstruction: None }
    }
}

/// Why a refuted upper bound may nevertheless be true: the condition under which it holds. `None` for other verdicts,
/// for claims, and for bounds without conditions.
fn condition(statement: &Statement, tested: &Tested) -> Option<String> {
    let (_, basis) = statement.proven.as_ref()?;
    let is_conditional =
        tested.verdict == Verdict::Refuted && tested.source == Source::Proven && basis != PROVEN;
    is_conditional.then(|| format!("the upper bound {basis}; this may not be the case for this D and D'"))
}

/// The verdict on one epsilon, and the reason if it is inconclusive. An epsilon is refuted if the bound by counting exceeds
/// it. If the outputs on D and D' are known to be disjoint, an epsilon is also refuted if the event occurred in all counted
/// trials of one side and in none of the other side. The exact loss of the pair and the model can only prevent the verdict
/// "consistent"; if the outputs are known to be disjoint, neither of them is used.
fn judged(
    statement: &Statement,
    evidence: &Evidence,
    (source, epsilon): (Source, f64),
) -> (Verdict, Option<String>) {
    let counts = evidence.counts;
    let always = counts.hits == [counts.trials[0], 0];
    if (always && statement.disjoint.is_some()) || evidence.epsilon_lower > epsilon {
        return (Verdict::Refuted, None);
    }
    let stated = match source {
        Source::Claimed => "the claim",
        Source::Proven => "the upper bound",
    };
    // Lower bounds are rounded down.
    let times = |above: f64| match above / epsilon {
        ratio if !ratio.is_finite() => format!("exceeds {stated} of {epsilon}"),
        ratio if ratio < 1.1 => format!("is at least {:.4} times {stated}", (ratio * 1e4).floor() / 1e4),
        ratio => format!("is at least {:.1} times {stated}", (ratio * 10.0).floor() / 10.0),
    };
    let known = statement.disjoint.is_none();
    let pair = evidence.pair.filter(|pair| known && pair.exceeds(epsilon));
    let model = evidence.model.as_ref().filter(|model| known && model.epsilon_lower > epsilon);
    let nothing = evidence.epsilon_lower <= 0.0
        && evidence.model.as_ref().is_none_or(|model| model.epsilon_lower <= 0.0);
    let why = if let Some(pair) = pair {
        format!(
            "counting has not refuted it, but the exact loss of this pair {}: by the exact distributions of the outputs on \
             this D and D', {stated} is false",
            times(pair.lower())
        )
    } else if let Some(model) = model {
        format!(
            "counting has not refuted it, but the bound by the model {}: if {}, {stated} is false, with {:.0} % confidence",
            times(model.epsilon_lower),
            model.premise,
            100.0 * evidence.confidence
        )
    } else if evidence.ceiling <= epsilon {
        if epsilon.is_finite() {
            format!(
                "{} counted trials cannot show more than {:.3}: an audit of {epsilon:.3} needs {}",
                evidence.counted,
                evidence.ceiling,
                needed(epsilon)
            )
        } else {
            format!("{stated} is infinite, and no audit can refute that")
        }
    } else if nothing {
        format!(
            "nothing was measured: in {} counted trials the chosen event does not distinguish D from D'",
            evidence.counted
        )
    } else {
        return (Verdict::Consistent, None);
    };
    (Verdict::Inconclusive, Some(why))
}

/// The smallest number of trials per side, in words, with which an audit at delta 0 could refute this finite epsilon.
///
/// Each of the two limits behind a bound may be wrong with probability 0.025. The largest bound comes from an event that
/// occurs in all N counted trials of one side and in none of the other side. The lower limit of its probability on the one
/// side is then 0.025^(1/N), which is nearly 1. The upper limit on the other side is 1 - 0.025^(1/N), which is about
/// 3.689 / N, since ln(1 / 0.025) is 3.689. So the bound is about ln(N / 3.689), which equals epsilon if N is
/// 3.689 exp(epsilon). Only half of all trials are counted, so 2 N trials per side are needed.
fn needed(epsilon: f64) -> String {
    let trials = (2.0 * 3.689 * libm::exp(epsilon)).ceil();
    if trials < 1e15 {
        format!("at least {trials:.0} trials")
    } else {
        // The exponent of ten is computed from epsilon, since above epsilon = 707 the number of trials itself is out of the
        // range of floating point. 2 * 3.689 is 10^0.868.
        format!(
            "about 1e{:.0} trials, more than any machine can run",
            epsilon * std::f64::consts::LOG10_E + 0.868
        )
    }
}

fn refutation(evidence: &Evidence) -> String {
    let other = if evidence.indicates == NeighbourSide::Given {
        NeighbourSide::Neighbour
    } else {
        NeighbourSide::Given
    };
    format!(
        "the event occurred in {} of {} trials under {} and in {} of {} trials under {}",
        evidence.counts.hits[0],
        evidence.counts.trials[0],
        evidence.indicates.symbol(),
        evidence.counts.hits[1],
        evidence.counts.trials[1],
        other.symbol()
    )
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn the_needed_number_of_trials_is_stated() {
        assert_eq!(needed(1.0), "at least 21 trials");
        assert_eq!(needed(800.0), "about 1e348 trials, more than any machine can run");
    }
}
