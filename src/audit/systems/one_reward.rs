//! One user's reward on one side of an audit, that is, on one of its two neighbouring inputs: fixed, or drawn anew at each
//! visit.

use crate::objectives::Noise;
use crate::rng::Stream;

/// A reward, or its distribution.
#[derive(Clone, Debug)]
pub(super) enum Reward {
    /// Always the same.
    Fixed(f64),
    /// The mean of an arm, with the objective's noise at this arm.
    Drawn {
        /// The mean.
        mean: f64,
        /// The arm.
        arm: usize,
        /// The noise.
        noise: Noise,
    },
    /// One of two rewards, drawn at random: the worst distribution among all under which a reward exceeds a bound with
    /// at most a given probability.
    Mixed {
        /// The reward within the bound.
        near: f64,
        /// The reward beyond the bound.
        far: f64,
        /// Probability of `far`.
        beyond: f64,
    },
}

impl Reward {
    /// The reward of one visit.
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Fixed(reward) => *reward,
            Self::Drawn { mean, arm, noise } => mean + noise.draw(*arm, stream),
            Self::Mixed { near, far, beyond } => {
                if stream.uniform() < *beyond {
                    *far
                } else {
                    *near
                }
            }
        }
    }

    /// The fixed reward, the mean, or the likelier of two rewards.
    pub(super) fn mode(&self) -> f64 {
        match self {
            Self::Fixed(reward) => *reward,
            Self::Drawn { mean, .. } => *mean,
            Self::Mixed { near, .. } => *near,
        }
    }

    /// The reward if it is always the same, otherwise `None`.
    pub(super) fn fixed(&self) -> Option<f64> {
        match self {
            Self::Fixed(reward) => Some(*reward),
            Self::Drawn { .. } | Self::Mixed { .. } => None,
        }
    }

    /// Whether the reward is always the same.
    pub(super) fn is_fixed(&self) -> bool {
        self.fixed().is_some()
    }
}

/// ln of the density of a report with Laplace noise on the first side of the audit over its density on the second side. On
/// the first side the reward is `far` with probability `beyond`, else `near`. On the second side the reward is `-far` with
/// probability `beyond`, else `-near`.
pub(super) fn log_ratio_of_mixtures(report: f64, (near, far, beyond): (f64, f64, f64), scale: f64) -> f64 {
    let log_density = |sign: f64| {
        let at = |reward: f64| -(report - sign * reward).abs() / scale;
        let (likely, rare) = (libm::log1p(-beyond) + at(near), libm::log(beyond) + at(far));
        let most = likely.max(rare);
        most + libm::log(libm::exp(likely - most) + libm::exp(rare - most))
    };
    log_density(1.0) - log_density(-1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If far rewards hardly occur, the log ratio is the same as for near rewards alone, at most 2 near / scale. If far
    /// rewards do occur, consider a report equal to `far`. Without the factor 1 / (2 scale), which both densities have, the
    /// log density of this report is ln(beyond) on the first side. On the second side, where such a report almost certainly
    /// comes from the reward `-near`, it is ln(1 - beyond) - (far + near) / scale. The log ratio is the difference.
    #[test]
    fn far_rewards_dominate_the_ratio_of_a_far_report() {
        let ratio = |report, beyond| log_ratio_of_mixtures(report, (5.0, 1000.0, beyond), 10.0);
        for (report, expected) in [(5.0, 1.0), (50.0, 1.0), (-50.0, -1.0), (0.0, 0.0), (2.5, 0.5)] {
            assert!((ratio(report, 1e-300) - expected).abs() < 1e-9, "{report}");
            assert!((ratio(report, 0.05) + ratio(-report, 0.05)).abs() < 1e-9, "antisymmetric");
        }
        let far = ratio(1000.0, 0.05);
        let expected = 0.05f64.ln() - (0.95f64.ln() - 100.5);
        assert!((far - expected).abs() < 1e-6, "{far} for {expected}");
    }
}
