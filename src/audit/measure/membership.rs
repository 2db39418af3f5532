//! How much the scores help an attacker who wants to know whether one unit's data were included: measures that are
//! easier to interpret than epsilon.
//!
//! A score is computed from the transcript of one trial, on the given data D or on the neighbouring data D'.

use super::evidence::Scores;
use serde::Serialize;

/// Success of a membership-inference attack, as measured (no confidence limits).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Membership {
    /// Area under the ROC curve: the probability that a transcript under D scores above one under D', ties counting
    /// half. 0.5 for a random guess, 1 for certainty.
    pub auc: f64,
    /// Share of the transcripts under D that the attacker attributes to D, if the attacker attributes at most 1 % of
    /// the transcripts under D' to D. 0.01 for a random guess.
    pub tpr_at_1_percent_fpr: f64,
    /// The largest difference, over all thresholds, between the measured true positive rate and the measured false
    /// positive rate. For an (epsilon, delta)-DP system, the probabilities that these rates estimate differ by at most
    /// (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
    pub advantage: f64,
}

impl Membership {
    /// The success of an attacker who guesses from these scores, of which larger ones favour D. If
    /// the attacker does worse than a random guess, the sign of all scores is reversed.
    ///
    /// Source: Carlini et al. 2022, "Membership inference attacks from first principles" (true positives at a low rate
    /// of false ones); Mann and Whitney 1947 (AUC).
    #[must_use]
    pub fn of(scores: &Scores) -> Self {
        let forth = Self::one_way(scores);
        if forth.auc >= 0.5 {
            return forth;
        }
        Self::one_way(&[0, 1].map(|side| scores[side].iter().map(|score| -score).collect()))
    }

    fn one_way(scores: &Scores) -> Self {
        let mut all: Vec<(f64, bool)> = scores[0].iter().map(|score| (*score, true)).collect();
        all.extend(scores[1].iter().map(|score| (*score, false)));
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (positives, negatives) = (scores[0].len() as f64, scores[1].len() as f64);
        let (mut tpr, mut fpr, mut area) = (0.0, 0.0, 0.0);
        let (mut advantage, mut at_one_percent) = (0.0f64, 0.0f64);
        let mut rest = all.as_slice();
        while let Some(first) = rest.first() {
            // Equal scores are one step of the curve.
            let ties = rest.iter().take_while(|(score, _)| *score == first.0).count();
            let hits = rest[..ties].iter().filter(|(_, own)| *own).count() as f64;
            let (next_tpr, next_fpr) = (tpr + hits / positives, fpr + (ties as f64 - hits) / negatives);
            area += (next_fpr - fpr) * 0.5 * (tpr + next_tpr);
            if fpr <= 0.01 {
                // Between two steps the attacker randomises, so the curve is a straight line there.
                let share = if next_fpr > 0.01 { (0.01 - fpr) / (next_fpr - fpr) } else { 1.0 };
                at_one_percent = tpr + share * (next_tpr - tpr);
            }
            (tpr, fpr) = (next_tpr, next_fpr);
            advantage = advantage.max(tpr - fpr);
            rest = &rest[ties..];
        }
        Self { auc: area, tpr_at_1_percent_fpr: at_one_percent, advantage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::special::{normal_cdf, normal_quantile};

    #[test]
    fn two_normal_laws_have_the_known_curve() {
        let mut stream = Key::root(4).stream();
        let n = 100_000;
        let scores: Scores =
            [1.0, 0.0].map(|mean| (0..n).map(|_| mean + stream.normal()).collect::<Vec<f64>>());
        let found = Membership::of(&scores);
        // AUC = Phi(1 / sqrt 2), TPR at FPR a = Phi(1 + Phi^-1(a)), advantage = 2 Phi(1/2) - 1.
        assert!((found.auc - normal_cdf(0.5f64.sqrt())).abs() < 0.005, "{found:?}");
        assert!((found.tpr_at_1_percent_fpr - normal_cdf(1.0 + normal_quantile(0.01))).abs() < 0.01);
        assert!((found.advantage - (2.0 * normal_cdf(0.5) - 1.0)).abs() < 0.01);
        let turned = Membership::of(&[scores[1].clone(), scores[0].clone()]);
        assert!((turned.auc - found.auc).abs() < 1e-9);
    }

    #[test]
    fn blind_guesses_and_certainty() {
        let blind = Membership::of(&[vec![0.0; 50], vec![0.0; 70]]);
        assert!((blind.auc - 0.5).abs() < 1e-12 && (blind.tpr_at_1_percent_fpr - 0.01).abs() < 1e-12);
        let certain = Membership::of(&[vec![1.0; 50], vec![0.0; 70]]);
        assert_eq!((certain.auc, certain.tpr_at_1_percent_fpr, certain.advantage), (1.0, 1.0, 1.0));
    }
}
