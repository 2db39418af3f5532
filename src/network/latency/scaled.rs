//! A multiple of another delay.

use super::{Latency, LatencyModel, LinkEnd, extreme_mean};
use crate::vocab::{DataFolders, Positive, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Another delay times a factor; for example, measured delays times 2 for a network that is twice as slow.
///
/// Example: `Scaled(law: LogNormal(median: "40ms", sigma: 0.5), factor: 2)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scaled {
    /// The delay that is multiplied; any of the latency models.
    pub law: Box<LatencyModel>,
    /// The factor, dimensionless, above 0.
    pub factor: Positive,
}

impl Scaled {
    fn scaled(&self, delay: Span) -> Span {
        Span::from_seconds(delay.seconds() * self.factor.get())
    }

    /// The longest delay that is not above `delay` after scaling. Delays are whole nanoseconds before and after scaling.
    fn unscaled(&self, delay: Span) -> Span {
        let about = ((delay.nanos() as f64 + 0.5) / self.factor.get()).floor() as u64;
        let fits = |nanos: &u64| self.scaled(Span::from_nanos(*nanos)) <= delay;
        // The rounding error of the quotient grows with the quotient. For a quotient below a month, the error is less than
        // a nanosecond, so the result is one of three neighbouring numbers.
        let near = [about.saturating_add(1), about, about.saturating_sub(1)];
        Span::from_nanos(near.into_iter().find(fits).unwrap_or(about))
    }
}

impl Latency for Scaled {
    fn quantile(&self, u: f64) -> Span {
        self.scaled(self.law.as_dyn().quantile(u))
    }

    fn quantile_at(&self, at: Time, u: f64) -> Span {
        self.scaled(self.law.as_dyn().quantile_at(at, u))
    }

    fn needs_link(&self) -> bool {
        self.law.as_dyn().needs_link()
    }

    fn differs_between_links(&self) -> bool {
        self.law.as_dyn().differs_between_links()
    }

    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        let law = Box::new(self.law.as_dyn().between(from, to)?);
        Some(Self { law, ..self.clone() }.into())
    }

    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let found = self.law.as_dyn().problems_between(parties).into_iter();
        found.map(|problem| problem.below("law")).collect()
    }

    fn mean_seconds(&self) -> f64 {
        self.law.as_dyn().mean_seconds() * self.factor.get()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        self.law.as_dyn().probability_within(self.unscaled(delay))
    }

    fn problems(&self) -> Vec<Problem> {
        let found: Vec<Problem> = self.law.problems_below("law").collect();
        if !found.is_empty() || self.is_unread() {
            return found;
        }
        extreme_mean(self, "factor", &self.factor, "lower it").into_iter().collect()
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
    use crate::network::latency::{Constant, Uniform};

    #[test]
    fn scaling_is_inverted_to_the_nanosecond() {
        let scaled = |law: LatencyModel, factor: f64| Scaled {
            law: Box::new(law),
            factor: Positive::new(factor).unwrap(),
        };
        let second = scaled(Constant(Span::from_millis(1)).into(), 1000.0);
        for (nanos, expected) in
            [(999_999_499, 0.0), (999_999_500, 0.0), (999_999_999, 0.0), (1_000_000_000, 1.0)]
        {
            assert_eq!(second.probability_within(Span::from_nanos(nanos)), expected, "{nanos}");
        }
        for factor in [0.3, 0.7, 1.0, 1.7, 3.0, 1000.0] {
            let law = scaled(Uniform { low: Span::ZERO, high: Span::from_nanos(50) }.into(), factor);
            for nanos in 0..50 {
                let (own, after) = (Span::from_nanos(nanos), law.scaled(Span::from_nanos(nanos)));
                assert!(law.unscaled(after) >= own, "{factor}: {nanos}");
                assert!(after == Span::ZERO || law.unscaled(Span::from_nanos(after.nanos() - 1)) < own);
            }
        }
    }
}
