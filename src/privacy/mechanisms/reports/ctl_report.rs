//! The settings of CTL in a scenario (Zhou and Tan 2021: clip a reward to a bound, then add Laplace noise).

use super::Report;
use super::ctl::{Ctl, Rewards};
use super::report::{NoiseFacts, ReportError, RewardFacts, RewardMechanism, RewardReport};
use crate::privacy::mechanisms::NoiseArithmetic;
use crate::vocab::{Delta, Epsilon, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Clips a reward to [-(B + R), B + R] and adds Laplace noise of scale 2 (B + R) / epsilon, so that each report is
/// epsilon-LDP. B bounds the mean rewards, and R the noise of rewards.
///
/// Source: Zhou and Tan 2021, curator CTL of Algorithm 1.
///
/// Example: `Ctl(epsilon: 1, bound: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Ctl")]
pub struct CtlReport {
    /// Epsilon of one report.
    pub epsilon: Epsilon,
    /// B + R, in units of the reward. Default: B is the absolute value of the surrogate's mean plus the largest distance of
    /// a mean reward from the surrogate's mean, and R is the bound on the noise. If the surrogate's mean is 0, the default
    /// is the paper's bound. Required if the noise is unbounded and `delta` is not stated. (A simulator knows the default,
    /// but a user does not: a real system must state the bound.)
    #[serde(default)]
    pub bound: Option<Positive>,
    /// Whether rewards beyond the bound are clipped to it. Without clipping, a report is epsilon-LDP only if no reward lies
    /// beyond the bound. Default: true.
    #[serde(default = "yes")]
    pub clip: bool,
    /// The paper's delta for unbounded noise, with `clip: false`: R is then the size that the noise exceeds with at
    /// most this probability, and a report is (epsilon, delta)-LDP for any two mean rewards. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

fn yes() -> bool {
    true
}

impl RewardReport for CtlReport {
    fn epsilon(&self) -> Option<f64> {
        Some(self.epsilon.get())
    }

    fn at_epsilon(&self, epsilon: Epsilon) -> Option<Report> {
        Some(Self { epsilon, ..*self }.into())
    }

    fn problems(&self) -> Vec<Problem> {
        let Some(delta) = self.delta.filter(|_| self.clip || self.bound.is_some()) else { return Vec::new() };
        vec![Problem::wrong(
            "delta",
            "no delta where rewards are clipped or their bound is stated",
            delta.to_string(),
            "leave out delta; or write clip: false and leave out bound, which then follows from the law of the noise",
        )]
    }

    fn problems_with(&self, noise: &NoiseFacts<'_>) -> Vec<Problem> {
        let unknown = match self.delta {
            Some(delta) => (noise.has_tail)(delta) == Some(false),
            None => noise.bounded == Some(false),
        };
        if self.bound.is_some() || !unknown {
            return Vec::new();
        }
        let cure = match self.delta {
            // If the noise has no known tail, no value of delta gives a bound.
            Some(_) => {
                "write bound: Some(6.0), for example, beyond which rewards are clipped, and leave out `delta` and `clip`"
            }
            None => {
                "write bound: Some(6.0), for example, beyond which rewards are clipped unless clip is false; or, with the paper's delta for \
                 unbounded noise, clip: false and delta: Some(0.001)"
            }
        };
        vec![Problem::wrong(
            "bound",
            "a bound on rewards, B + R: the objective's noise has none",
            "none",
            cure,
        )]
    }

    fn mechanism(&self, facts: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        let size = match self.delta {
            Some(delta) => (facts.noise_tail)(delta),
            None => facts.noise_bound,
        };
        let largest = size.map(|size| facts.mean.abs() + facts.deviation + size);
        let range = match (self.bound, largest) {
            (Some(bound), _) => bound,
            (None, Some(largest)) => Positive::new(largest).map_err(ReportError::NoBound)?,
            (None, None) => return Err(ReportError::Unbounded),
        };
        let rewards = match (self.clip, facts.noise_bound, self.delta) {
            (true, ..) => Rewards::Clipped,
            (false, Some(noise), _) if facts.reach + noise <= range.get() * (1.0 + 1e-12) => Rewards::Bounded,
            (false, _, Some(delta)) => Rewards::Likely(delta),
            (false, ..) => Rewards::Beyond,
        };
        let ctl = Ctl::new(self.epsilon, range, self.clip)?.assuming(rewards).with(self.arithmetic)?;
        Ok(Some(Arc::new(ctl)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::Mechanism;
    use crate::vocab::{Arithmetic, Neighbours};

    fn report(fields: &str) -> CtlReport {
        ron::from_str(&format!("Ctl(epsilon: 2{fields})")).unwrap()
    }

    /// Mean rewards that lie within 3 of -1 and so have a size of at most 4; noise that lies within `noise_bound`, if
    /// there is one, and exceeds 3 with probability at most 0.01.
    fn facts(noise_bound: Option<f64>) -> RewardFacts<'static> {
        let noise_tail = &|delta: Delta| (delta.get() == 0.01).then_some(3.0);
        RewardFacts { mean: -1.0, deviation: 3.0, reach: 4.0, noise_bound, noise_tail }
    }

    /// Bound, clipping, neighbours and arithmetic of the mechanism of a report.
    fn built(fields: &str, noise_bound: Option<f64>) -> (f64, bool, Neighbours, Arithmetic) {
        let mechanism = report(fields).mechanism(&facts(noise_bound)).unwrap().unwrap();
        let neighbours = mechanism.neighbours();
        let price = mechanism.price(&0.0, &neighbours).unwrap();
        (mechanism.bound(), mechanism.clips(), neighbours, price.arithmetic)
    }

    /// The bound is the one that the report states. If the report states none, the bound is |mean| + deviation + R, where R
    /// is the bound on the noise or, if a delta is stated, the size that follows from delta. Without clipping and without
    /// delta, the guarantee holds only if the largest absolute mean reward plus the bound on the noise is at most the bound.
    #[test]
    fn the_bound_is_stated_or_follows_from_the_rewards() {
        let exact = Arithmetic::Exact;
        assert_eq!(built("", Some(0.5)), (4.5, true, Neighbours::AnyValue, exact));
        assert_eq!(built(", bound: Some(6)", None), (6.0, true, Neighbours::AnyValue, exact));
        let likely = (7.0, false, Neighbours::AnyMean, exact);
        assert_eq!(built(", clip: false, delta: Some(0.01)", None), likely);
        let ideal = ", arithmetic: Ideal";
        assert_eq!(built(ideal, Some(0.5)), (4.5, true, Neighbours::AnyValue, Arithmetic::Ideal));
        assert_eq!(report("").mechanism(&facts(None)).unwrap_err(), ReportError::Unbounded);
        let basis = |bound: &str| {
            let mechanism = report(&format!(", clip: false, bound: Some({bound})"));
            mechanism
                .mechanism(&facts(Some(0.5)))
                .unwrap()
                .unwrap()
                .price(&0.0, &Neighbours::AnyValue)
                .unwrap()
        };
        for (bound, name) in
            [("4.5", "conditional"), ("4.500000000001", "conditional"), ("4.4999999", "refuted")]
        {
            let found = basis(bound).basis;
            let expected = match found {
                crate::vocab::Basis::Conditional { .. } => "conditional",
                crate::vocab::Basis::Refuted { .. } => "refuted",
                _ => "another",
            };
            assert_eq!(expected, name, "{bound}: {found:?}");
        }
    }

    #[test]
    fn a_personal_epsilon_replaces_the_epsilon_alone() {
        let given = report(", bound: Some(6), clip: false, arithmetic: Ideal");
        let epsilon = Epsilon::new(0.25).unwrap();
        let expected = CtlReport { epsilon, ..given };
        assert_eq!(given.at_epsilon(epsilon), Some(Report::from(expected)));
        assert_eq!((given.epsilon(), expected.epsilon()), (Some(2.0), Some(0.25)));
    }

    #[test]
    fn a_delta_needs_rewards_that_are_not_clipped_and_no_bound() {
        for (fields, refused) in [
            ("", false),
            (", delta: Some(0.01)", true),
            (", delta: Some(0.01), clip: false", false),
            (", delta: Some(0.01), clip: false, bound: Some(6)", true),
        ] {
            let problems = report(fields).problems();
            assert_eq!(problems.len(), usize::from(refused), "{fields}");
            assert!(problems.iter().all(|problem| problem.path == "delta"), "{fields}");
        }
    }

    /// Noise is refused only if the report states no bound on rewards. Without delta, noise is then refused if the scenario
    /// says that the noise is unbounded. With delta, noise is then refused if the scenario states the distribution of the
    /// noise and, for this distribution, no size is known that the noise exceeds with probability at most delta.
    #[test]
    fn noise_without_a_bound_is_refused() {
        let delta = ", clip: false, delta: Some(0.01)";
        for (fields, bounded, tail, cure) in [
            ("", Some(true), None, None),
            ("", None, None, None),
            ("", Some(false), Some(true), Some("delta: Some(0.001)")),
            (", bound: Some(6)", Some(false), Some(false), None),
            (delta, Some(false), Some(true), None),
            (delta, Some(false), None, None),
            (delta, Some(false), Some(false), Some("leave out `delta`")),
        ] {
            let noise = NoiseFacts { bounded, has_tail: &|_| tail };
            let problems: Vec<String> = report(fields)
                .problems_with(&noise)
                .iter()
                .map(|problem| problem.complaint.to_string())
                .collect();
            assert_eq!(problems.len(), usize::from(cure.is_some()), "{fields} {bounded:?} {tail:?}");
            assert!(problems.iter().zip(cure).all(|(text, cure)| text.contains(cure)), "{problems:?}");
        }
    }
}
