//! A party that misses messages at random, some parties more often than others.

use super::{Availability, AvailabilityProcess};
use crate::rng::Stream;
use crate::special::beta_quantile;
use crate::vocab::{Positive, Probability, Problem, extreme_shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each message that reaches the party is received with a probability of the party's own, independently of other messages.
/// Each party's probability is drawn once per replication from a beta distribution.
///
/// The shapes of the distribution are `mean` x `concentration` and (1 - `mean`) x `concentration`; its variance is
/// `mean` (1 - `mean`) / (1 + `concentration`). `PerMessage(heard: ..)` is the limit of a large concentration.
///
/// Example: `BetaPerMessage(mean: 0.8, concentration: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BetaPerMessage {
    /// Mean over parties of the probability that a message is received, above 0 and below 1.
    pub mean: Probability,
    /// Sum of the two shapes, dimensionless: the larger it is, the more alike the parties are. Both shapes lie between
    /// 0.01 and 1000000.
    pub concentration: Positive,
}

impl BetaPerMessage {
    fn shapes(&self) -> [f64; 2] {
        let (mean, concentration) = (self.mean.get(), self.concentration.get());
        [mean * concentration, (1.0 - mean) * concentration]
    }

    /// The probability that the party receives a message: the quantile of the beta distribution at `level`.
    fn heard(&self, level: f64) -> f64 {
        let [a, b] = self.shapes();
        beta_quantile(a, b, level).clamp(0.0, 1.0)
    }
}

#[derive(Clone, Debug)]
struct Process {
    heard: f64,
    stream: Stream,
}

impl Availability for BetaPerMessage {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let heard = self.heard(stream.open_uniform());
        Box::new(Process { heard, stream })
    }

    fn differs(&self) -> bool {
        true
    }

    fn start_at(&self, level: f64, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        stream.open_uniform();
        Box::new(Process { heard: self.heard(level), stream })
    }

    fn ever_available(&self) -> bool {
        self.mean.get() > 0.0
    }

    fn problems(&self) -> Vec<Problem> {
        if !(self.mean.get() > 0.0 && self.mean.get() < 1.0) {
            let cure = "write PerMessage(heard: ..) where all parties are alike";
            return vec![Problem::wrong("mean", "a mean above 0 and below 1", self.mean.to_string(), cure)];
        }
        let shapes = self.shapes().map(Positive::new);
        let mut shapes = shapes.into_iter().filter_map(Result::ok);
        let extreme = |shape| extreme_shape("concentration", shape).map(|_| shape.get());
        let problem = |shape: f64| {
            let expected =
                "a concentration whose products with the mean and with 1 - mean are from 0.01 to 1000000";
            let found = format!("{}, with a product of {shape}", self.concentration);
            let cure = "bring the concentration nearer to 1, or the mean nearer to 0.5";
            Problem::wrong("concentration", expected, found, cure)
        };
        shapes.find_map(extreme).map(problem).into_iter().collect()
    }
}

impl AvailabilityProcess for Process {
    fn receives(&mut self) -> bool {
        self.stream.bernoulli(self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// 2,000 parties with 50 messages each. The share of messages that a party receives is a beta-binomial count divided by
    /// 50. With mean m = 0.8 and concentration c = 3, the share's variance is m (1 - m) (1 + c / 50) / (1 + c) = 0.0424. The
    /// standard error of the mean over parties is 0.0046. The standard error of the sample variance is the variance times
    /// sqrt((kurtosis - 1) / 2,000). The kurtosis is below 5, so the standard error of the sample variance is below
    /// 0.0424 sqrt(4 / 2,000) = 0.0019. The test allows six standard errors.
    #[test]
    fn parties_differ_by_the_stated_law() {
        let recipe = BetaPerMessage {
            mean: Probability::new(0.8).unwrap(),
            concentration: Positive::new(3.0).unwrap(),
        };
        let shares: Vec<f64> = (0..2000)
            .map(|party| {
                let mut process = recipe.start(Key::root(11).index(party).stream());
                (0..50).filter(|_| process.receives()).count() as f64 / 50.0
            })
            .collect();
        let mean = shares.iter().sum::<f64>() / 2000.0;
        let variance = shares.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / 1999.0;
        assert!((mean - 0.8).abs() < 0.0276, "{mean}");
        assert!((variance - 0.0424).abs() < 0.0114, "{variance}");
    }

    #[test]
    fn a_stated_level_changes_the_probability_and_no_other_draw() {
        let recipe = BetaPerMessage {
            mean: Probability::new(0.5).unwrap(),
            concentration: Positive::new(2.0).unwrap(),
        };
        // Shapes 1 and 1: the distribution is uniform, so the probability is the level itself.
        let heard = |level: f64| {
            let mut process = recipe.start_at(level, Key::root(3).stream());
            (0..200).map(|_| process.receives()).collect::<Vec<bool>>()
        };
        let (few, many) = (heard(0.2), heard(0.9));
        assert!(few.iter().zip(&many).all(|(few, many)| !few || *many), "monotone in the level");
        let drawn = Key::root(3).stream().open_uniform();
        let mut plain = recipe.start(Key::root(3).stream());
        assert_eq!(heard(drawn), (0..200).map(|_| plain.receives()).collect::<Vec<bool>>());
    }
}
