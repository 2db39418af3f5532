//! A mixture of delays: each message has a delay of one of several kinds.

use super::{Latency, LatencyModel};
use crate::vocab::{DataFolders, Positive, Problem, Span, unequal_weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One of several kinds of delays, each with its probability: for example, nine in ten messages go by fibre and one by
/// satellite.
///
/// The mixture's quantile at u is the smallest delay that a message exceeds with probability at most 1 - u. It is found by
/// bisection, with some thirty evaluations of the distribution function of every part. Each message uses one random number.
///
/// Example: `Mixture(parts: [Part(weight: 9, law: Constant("20ms")), Part(weight: 1, law: Exponential(mean:
/// "200ms"))])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// The kinds of delays, at least one.
    pub parts: Vec<Part>,
}

/// One kind of delay, and how often it occurs.
///
/// Example: `Part(weight: 9, law: Constant("20ms"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Relative frequency, above 0: the probability is this weight over the sum of all weights.
    pub weight: Positive,
    /// The delay; any latency model that does not depend on the time or the link.
    pub law: LatencyModel,
}

impl Mixture {
    /// The weighted mean, over the parts, of the number that `of` computes for a part's delay.
    fn mean(&self, of: impl Fn(&dyn Latency) -> f64) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        // Weights are divided by the largest weight, so that neither `sum` nor `total` overflows or underflows.
        let largest = self.parts.iter().map(|part| part.weight.get()).fold(0.0, f64::max);
        for part in &self.parts {
            let weight = part.weight.get() / largest;
            sum += weight * of(part.law.as_dyn());
            total += weight;
        }
        sum / total
    }
}

impl Latency for Mixture {
    fn quantile(&self, u: f64) -> Span {
        let quantiles = || self.parts.iter().map(|part| part.law.as_dyn().quantile(u).nanos());
        // The mixture's quantile lies between those of its parts.
        let (Some(mut low), Some(mut high)) = (quantiles().min(), quantiles().max()) else {
            return Span::ZERO;
        };
        while low < high {
            let middle = low + (high - low) / 2;
            if self.probability_within(Span::from_nanos(middle)) < u {
                low = middle + 1
            } else {
                high = middle
            }
        }
        Span::from_nanos(high)
    }

    fn mean_seconds(&self) -> f64 {
        self.mean(|law| law.mean_seconds())
    }

    fn probability_within(&self, delay: Span) -> f64 {
        self.mean(|law| law.probability_within(delay))
    }

    fn problems(&self) -> Vec<Problem> {
        if self.parts.is_empty() {
            let cure = "write parts: [(weight: 0.9, law: Constant(\"20ms\")), (weight: 0.1, law: Constant(\"600ms\"))]";
            return vec![Problem::wrong("parts", "at least one part", "none", cure)];
        }
        let weights = self.parts.iter().map(|part| part.weight);
        let of_parts = self.parts.iter().enumerate();
        let of_parts = of_parts.flat_map(|(index, part)| {
            let field = format!("parts[{index}].law");
            let own = part.law.outside_of_links().map(|problem| problem.below(&field));
            part.law.problems_below(&field).chain(own)
        });
        unequal_weights(weights).into_iter().chain(of_parts).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let of_parts = self.parts.iter_mut().enumerate();
        of_parts.flat_map(|(index, part)| part.law.load_below(&format!("parts[{index}].law"), base)).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.parts.iter().flat_map(|part| part.law.as_dyn().files()).collect()
    }

    fn is_unread(&self) -> bool {
        self.parts.iter().any(|part| part.law.as_dyn().is_unread())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Constant, Exponential};

    fn of(parts: Vec<(f64, LatencyModel)>) -> Mixture {
        let part = |(weight, law)| Part { weight: Positive::new(weight).unwrap(), law };
        Mixture { parts: parts.into_iter().map(part).collect() }
    }

    #[test]
    fn quantiles_jump_at_the_weights() {
        let ms = Span::from_millis;
        let law = of(vec![(3.0, Constant(ms(600)).into()), (9.0, Constant(ms(20)).into())]);
        assert_eq!([0.1, 0.74, 0.76, 0.99].map(|u| law.quantile(u)), [ms(20), ms(20), ms(600), ms(600)]);
        assert!((law.mean_seconds() - 0.165).abs() < 1e-12);
    }

    #[test]
    fn a_mixture_of_one_law_with_itself_is_that_law() {
        let plain = Exponential { mean: Span::from_millis(10) };
        let law = of(vec![(1.0, plain.clone().into()), (0.2, plain.clone().into())]);
        for k in 1..1000 {
            let u = f64::from(k) / 1000.0;
            assert!(law.quantile(u).nanos().abs_diff(plain.quantile(u).nanos()) <= 1);
        }
        assert_eq!(of(Vec::new()).problems()[0].path, "parts");
    }
}
