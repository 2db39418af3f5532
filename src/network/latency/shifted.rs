//! Another delay plus or minus a fixed time.

use super::partial_mean::integral;
use super::{Latency, LatencyModel, LinkEnd};
use crate::vocab::{DataFolders, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Another delay plus or minus a fixed time, but never below 0; for example, measured delays minus the time that a nearer
/// server saves.
///
/// `Shifted(law: L, later: "30ms")` is the same as `Jittered(base: "30ms", jitter: L)`.
///
/// Example: `Shifted(law: Exponential(mean: "10ms"), later: "30ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shifted {
    /// The delay that is shifted; any of the latency models.
    pub law: Box<LatencyModel>,
    /// How much later every message arrives; not together with `earlier`. Default: 0.
    #[serde(default)]
    pub later: Span,
    /// How much earlier every message arrives; a delay that would be negative is 0. Default: 0.
    #[serde(default)]
    pub earlier: Span,
}

impl Shifted {
    fn moved(&self, delay: Span) -> Span {
        Span::from_nanos((delay + self.later).nanos().saturating_sub(self.earlier.nanos()))
    }
}

impl Latency for Shifted {
    fn quantile(&self, u: f64) -> Span {
        self.moved(self.law.as_dyn().quantile(u))
    }

    fn quantile_at(&self, at: Time, u: f64) -> Span {
        self.moved(self.law.as_dyn().quantile_at(at, u))
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
        let law = self.law.as_dyn();
        let mean = law.mean_seconds() + self.later.seconds();
        if self.earlier == Span::ZERO {
            return mean;
        }
        // E max(X - e, 0) = E X - e + E max(e - X, 0), where X is the delay that is shifted and e is `earlier`. The last
        // term is P(X <= e) e minus the integral of the quantile function of X from 0 to P(X <= e).
        let short = law.probability_within(self.earlier);
        let saved = short * self.earlier.seconds() - integral(law, 0.0, short);
        (mean - self.earlier.seconds() + saved).max(0.0)
    }

    fn probability_within(&self, delay: Span) -> f64 {
        match (delay + self.earlier).nanos().checked_sub(self.later.nanos()) {
            Some(before) => self.law.as_dyn().probability_within(Span::from_nanos(before)),
            None => 0.0,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.law.problems_below("law").collect();
        if self.later > Span::ZERO && self.earlier > Span::ZERO {
            let found = format!("later by {} and earlier by {}", self.later, self.earlier);
            problems.push(Problem::wrong(
                "earlier",
                "`later` or `earlier`, not both",
                found,
                "leave one of them out",
            ));
        }
        problems
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
    use crate::network::latency::Exponential;

    #[test]
    fn a_delay_that_would_be_negative_is_zero() {
        let ms = Span::from_millis;
        let law = Shifted {
            law: Box::new(Exponential { mean: ms(10) }.into()),
            later: Span::ZERO,
            earlier: ms(10),
        };
        // Let X be the exponential delay. P(X < mean) = 1 - 1 / e with Euler's number e, and E max(X - mean, 0) =
        // P(X > mean) mean = mean / e, since the exponential distribution is memoryless.
        assert_eq!(law.quantile(0.63), Span::ZERO);
        assert!(law.quantile(0.64) > Span::ZERO);
        assert!((law.mean_seconds() * 100.0 - libm::exp(-1.0)).abs() < 1e-6, "{}", law.mean_seconds());
        assert_eq!(Shifted { later: ms(1), ..law }.problems()[0].path, "earlier");
    }
}
