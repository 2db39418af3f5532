//! Another delay, conditional on lying between two limits.

use super::partial_mean::integral;
use super::{Latency, LatencyModel};
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Another delay, conditional on lying between two limits; for example, if a timeout cuts off a heavy tail.
///
/// The quantile at u is the quantile of the other delay at p + u (q - p), where p is the probability that the other delay is
/// below `from`, and q the probability that it is at most `to`.
///
/// Example: `Truncated(law: Normal(mean: "40ms", sd: "20ms"), from: "10ms", to: "90ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Truncated {
    /// The delay that is truncated; any latency model that does not depend on the time or the link.
    pub law: Box<LatencyModel>,
    /// Lower limit of the delay. Default: 0.
    #[serde(default)]
    pub from: Span,
    /// Upper limit of the delay, above `from`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Span>,
}

/// Smallest permitted probability that an untruncated delay lies between the limits. The smaller this probability is, the
/// more coarsely floating-point numbers resolve the quantiles.
const MIN_LEFT: f64 = 1e-6;

impl Truncated {
    /// The probabilities that an untruncated delay is below `from`, and that it is at most `to`. Delays are whole
    /// nanoseconds.
    fn ends(&self) -> (f64, f64) {
        let law = self.law.as_dyn();
        let below = match self.from.nanos() {
            0 => 0.0,
            nanos => law.probability_within(Span::from_nanos(nanos - 1)),
        };
        (below, self.to.map_or(1.0, |to| law.probability_within(to)))
    }
}

impl Latency for Truncated {
    fn quantile(&self, u: f64) -> Span {
        // The smallest probability for which a quantile is computed.
        const SMALLEST: f64 = f64::EPSILON / 4.0;
        let (below, within) = self.ends();
        let place = (below + u * (within - below)).clamp(SMALLEST, 1.0 - f64::EPSILON / 2.0);
        self.law.as_dyn().quantile(place).clamp(self.from, self.to.unwrap_or(Span::MAX))
    }

    /// The mean. Its error is roughly e times the untruncated mean, divided by the probability that an untruncated delay
    /// lies between the limits. Here e is 1e-7 for a model with a density, and 1e-3 for measured delays.
    fn mean_seconds(&self) -> f64 {
        let (law, (below, within)) = (self.law.as_dyn(), self.ends());
        let total = match self.to {
            Some(_) => integral(law, below, within),
            None => law.mean_seconds() - integral(law, 0.0, below),
        };
        total / (within - below)
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if delay < self.from {
            return 0.0;
        }
        let (below, within) = self.ends();
        ((self.law.as_dyn().probability_within(delay) - below) / (within - below)).clamp(0.0, 1.0)
    }

    fn problems(&self) -> Vec<Problem> {
        let outside = self.law.outside_of_links().map(|problem| problem.below("law"));
        let found: Vec<Problem> = self.law.problems_below("law").chain(outside).collect();
        if !found.is_empty() {
            return found;
        }
        if let Some(to) = self.to.filter(|to| *to <= self.from) {
            let expected = format!("a delay above `from` ({})", self.from);
            return vec![Problem::wrong("to", expected, to.to_string(), "swap the two limits")];
        }
        let (below, within) = self.ends();
        if self.is_unread() || within - below >= MIN_LEFT {
            return Vec::new();
        }
        let path = if self.from > Span::ZERO { "from" } else { "to" };
        let expected = format!("limits between which at least {MIN_LEFT} of the delays lie");
        let share = (within - below).max(0.0);
        let found = match share > 0.0 {
            true => format!("{share:.1e} of the delays between the limits"),
            false => "none of the delays between the limits".to_owned(),
        };
        vec![Problem::wrong(path, expected, found, "move the limits to where the delays are")]
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        self.law.load_below("law", base).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.law.as_dyn().files()
    }

    fn is_unread(&self) -> bool {
        self.law.as_dyn().is_unread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Exponential, Pareto};
    use crate::vocab::Positive;

    #[test]
    fn a_memoryless_law_truncated_from_below_is_shifted() {
        let ms = Span::from_millis;
        let plain = Exponential { mean: ms(10) };
        let law = Truncated { law: Box::new(plain.clone().into()), from: ms(25), to: None };
        for u in [0.1, 0.5, 0.9, 0.999] {
            let late = law.quantile(u).seconds() - 0.025;
            assert!((late - plain.quantile(u).seconds()).abs() < 3e-9, "{u}");
        }
        assert!((law.mean_seconds() - 0.035).abs() < 1e-8, "{}", law.mean_seconds());
    }

    #[test]
    fn a_heavy_tail_ends_at_the_timeout() {
        let ms = Span::from_millis;
        let heavy = Pareto { shortest: ms(10), shape: Positive::new(1.1).unwrap() };
        let law = Truncated { law: Box::new(heavy.into()), from: Span::ZERO, to: Some(ms(1000)) };
        assert!(law.quantile(1.0 - 1e-15) <= ms(1000));
        // Let a = 1.1 be the shape and s = 0.01 the shortest delay, in seconds. Between s and 1, the truncated delay t has
        // the density a s^a t^(-a-1) / (1 - s^a). The expected mean is the integral of t times this density over t from s to
        // 1, which is 11 s^1.1 (s^-0.1 - 1) / (1 - s^1.1).
        let (power, tenth) = (libm::pow(0.01, 1.1), libm::pow(0.01, -0.1));
        let expected = 11.0 * power * (tenth - 1.0) / (1.0 - power);
        assert!((law.mean_seconds() / expected - 1.0).abs() < 1e-5, "{} {expected}", law.mean_seconds());
    }

    #[test]
    fn limits_without_delays_between_them_are_refused() {
        let ms = Span::from_millis;
        let law: Box<LatencyModel> = Box::new(Exponential { mean: ms(10) }.into());
        let problem = |from, to| {
            let found = Truncated { law: law.clone(), from, to }.problems();
            found.first().map(|problem| problem.path.clone())
        };
        assert_eq!(problem(ms(5), Some(ms(9))), None);
        assert_eq!(problem(ms(9), Some(ms(9))).as_deref(), Some("to"));
        assert_eq!(problem(ms(300), None).as_deref(), Some("from"));
    }
}
