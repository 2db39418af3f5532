//! Platt scaling: a logistic curve that turns decision values into probabilities.

/// The probability of the positive class as a function of the decision value f: 1 / (1 + exp(slope f + offset)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sigmoid {
    /// Below 0 if the probability increases with the decision value; above 0 if it decreases.
    pub(super) slope: f64,
    pub(super) offset: f64,
}

/// Constants of libsvm, in this order: largest number of Newton steps, smallest step size, the number that is added to
/// the Hessian's diagonal, and the tolerance of the gradient. The search ends when the absolute values of both components
/// of the gradient are below this tolerance.
const STEPS: usize = 100;
const SHORTEST: f64 = 1e-10;
const RIDGE: f64 = 1e-12;
const GRADIENT_TOLERANCE: f64 = 1e-5;
/// Smallest distance of a probability from 0 and 1, as in libsvm.
const MARGIN: f64 = 1e-7;

impl Sigmoid {
    /// The maximum-likelihood curve for pairs of a decision value and whether the class is positive. With p positive and
    /// n negative pairs, the target of a positive pair is (p + 1) / (p + 2) in place of 1, and the target of a negative
    /// pair is 1 / (n + 2) in place of 0. If no step size improves the likelihood enough, the search ends at the current
    /// curve.
    ///
    /// Source: Platt 1999; Newton's method with backtracking: Lin, Lin and Weng 2007, Algorithm 1.
    pub(super) fn fit(pairs: &[(f64, bool)]) -> Self {
        let positive = pairs.iter().filter(|(_, positive)| *positive).count() as f64;
        let negative = pairs.len() as f64 - positive;
        let target = |is_positive: bool| match is_positive {
            true => (positive + 1.0) / (positive + 2.0),
            false => 1.0 / (negative + 2.0),
        };
        // Minus the log-likelihood; the exponential never overflows.
        let cost = |curve: Self| -> f64 {
            let one = |&(f, is_positive): &(f64, bool)| {
                let z = curve.slope * f + curve.offset;
                let share = if z >= 0.0 { target(is_positive) } else { target(is_positive) - 1.0 };
                share * z + libm::log1p(libm::exp(-z.abs()))
            };
            pairs.iter().map(one).sum()
        };
        let mut now = Self { slope: 0.0, offset: libm::log((negative + 1.0) / (positive + 1.0)) };
        let mut value = cost(now);
        for _ in 0..STEPS {
            let (mut h11, mut h22, mut h21, mut g1, mut g2) = (RIDGE, RIDGE, 0.0, 0.0, 0.0);
            for &(f, is_positive) in pairs {
                let p = now.probability(f);
                let (curvature, error) = (p * (1.0 - p), target(is_positive) - p);
                h11 += f * f * curvature;
                h22 += curvature;
                h21 += f * curvature;
                g1 += f * error;
                g2 += error;
            }
            if g1.abs() < GRADIENT_TOLERANCE && g2.abs() < GRADIENT_TOLERANCE {
                break;
            }
            let determinant = h11 * h22 - h21 * h21;
            let step = [(h21 * g2 - h22 * g1) / determinant, (h21 * g1 - h11 * g2) / determinant];
            let descent = g1 * step[0] + g2 * step[1];
            let tried =
                (0..).map(|halvings| libm::ldexp(1.0, -halvings)).take_while(|share| *share >= SHORTEST);
            let better = tried
                .map(|share| {
                    let there =
                        Self { slope: now.slope + share * step[0], offset: now.offset + share * step[1] };
                    (share, there, cost(there))
                })
                .find(|(share, _, there)| *there < value + 1e-4 * share * descent);
            let Some((_, there, cost)) = better else { break };
            (now, value) = (there, cost);
        }
        now
    }

    /// The probability of the positive class at a decision value.
    fn probability(self, f: f64) -> f64 {
        let z = self.slope * f + self.offset;
        if z >= 0.0 { libm::exp(-z) / (1.0 + libm::exp(-z)) } else { 1.0 / (1.0 + libm::exp(z)) }
    }

    /// The probability of the positive class, clamped to [1e-7, 1 - 1e-7] as in libsvm, so that extreme decision values have
    /// equal scores.
    pub(super) fn score(self, f: f64) -> f64 {
        self.probability(f).clamp(MARGIN, 1.0 - MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// The classes of 4,000 decision values are drawn from a known curve: the fitted slope and offset have standard errors
    /// of 0.06 and 0.05.
    #[test]
    fn a_known_curve_is_found_again() {
        let truth = Sigmoid { slope: -2.0, offset: 0.5 };
        let mut stream = Key::root(3).stream();
        let pairs: Vec<(f64, bool)> = (0..4000)
            .map(|_| {
                let f = 4.0 * stream.uniform() - 2.0;
                (f, stream.uniform() < truth.probability(f))
            })
            .collect();
        let found = Sigmoid::fit(&pairs);
        assert!(
            (found.slope - truth.slope).abs() < 0.2 && (found.offset - truth.offset).abs() < 0.2,
            "{found:?}"
        );
        // Decision values of the opposite sign reverse the curve.
        let reversed: Vec<(f64, bool)> = pairs.iter().map(|(f, positive)| (-f, *positive)).collect();
        assert!((Sigmoid::fit(&reversed).slope + found.slope).abs() < 1e-6);
    }

    /// All decision values are 0 and so carry no information about the class: at every decision value, the fitted
    /// probability is the mean of the targets.
    #[test]
    fn equal_decision_values_give_a_share() {
        let pairs: Vec<(f64, bool)> = (0..100).map(|k| (0.0, k < 10)).collect();
        let found = Sigmoid::fit(&pairs);
        let expected = (10.0 * 11.0 / 12.0 + 90.0 / 92.0) / 100.0;
        assert_eq!(found.slope, 0.0);
        assert!((found.score(0.0) - expected).abs() < 1e-6, "{found:?}");
    }
}
