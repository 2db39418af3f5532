//! The random number of repetitions in a private selection.

use crate::accounting::repeated::log_gamma;
use crate::rng::Stream;
use crate::vocab::{AboveOne, Positive, RepetitionShape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of the number K of repetitions. It does not depend on the data, and nobody may learn K.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Repetitions {
    /// P(K = k) = gamma (1 - gamma)^(k - 1) for k = 1, 2, ... with gamma = 1 / mean. The pure epsilon of the best
    /// result is 3 times that of one result.
    ///
    /// Example: `Geometric(mean: 20)`.
    Geometric {
        /// Mean number of repetitions.
        mean: AboveOne,
    },
    /// Truncated negative binomial: P(K = k) is proportional to (1 - gamma)^k times the product of
    /// (l + shape) / (l + 1) over l from 1 to k - 1, for k = 1, 2, ..., where gamma follows from the mean. This
    /// distribution is geometric for shape 1 and logarithmic for shape 0. The pure epsilon of the best result is
    /// (2 + shape) times that of one result.
    ///
    /// Example: `NegativeBinomial(shape: 0, mean: 20)`.
    NegativeBinomial {
        /// Shape (called eta in the literature). With a smaller shape the privacy loss is smaller, and K varies more.
        shape: RepetitionShape,
        /// Mean number of repetitions.
        mean: AboveOne,
    },
    /// Poisson distribution: with probability e^-mean there is no result at all. No pure epsilon is known for it, so it
    /// is allowed with Gaussian noise only.
    ///
    /// Example: `Poisson(mean: 20)`.
    Poisson {
        /// Mean number of repetitions.
        mean: Positive,
    },
}

/// A Poisson number with a mean above this is drawn as the sum of Poisson numbers with smaller means, because e^-mean must
/// not be a subnormal floating-point number or 0.
const LARGEST_PART: f64 = 500.0;

/// If the logarithm of gamma^-shape is above this, P(K = 1) may be a subnormal floating-point number or 0.
const LARGEST_POWER: f64 = 690.0;

impl Repetitions {
    /// Mean number of repetitions.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::Geometric { mean } | Self::NegativeBinomial { mean, .. } => mean.get(),
            Self::Poisson { mean } => mean.get(),
        }
    }

    /// Shape of the truncated negative binomial distribution; `None` for Poisson.
    #[must_use]
    pub fn shape(self) -> Option<f64> {
        match self {
            Self::Geometric { .. } => Some(1.0),
            Self::NegativeBinomial { shape, .. } => Some(shape.get()),
            Self::Poisson { .. } => None,
        }
    }

    /// Draws K by inversion. Time: proportional to K.
    pub fn draw(self, stream: &mut Stream) -> u64 {
        match self.shape() {
            Some(shape) => negative_binomial(shape, self.mean(), stream),
            None => {
                let (mut left, mut sum) = (self.mean(), 0);
                while left > LARGEST_PART {
                    sum += poisson(LARGEST_PART, stream);
                    left -= LARGEST_PART;
                }
                sum + poisson(left, stream)
            }
        }
    }
}

fn poisson(mean: f64, stream: &mut Stream) -> u64 {
    inverted(0, libm::exp(-mean), |k| mean / (k as f64 + 1.0), stream)
}

fn negative_binomial(shape: f64, mean: f64, stream: &mut Stream) -> u64 {
    let log_gamma = log_gamma(shape, mean);
    let rest = -libm::expm1(log_gamma);
    // P(K = 1): (1 - gamma) shape / (gamma^-shape - 1), with the limit (1 - gamma) / ln(1 / gamma) for shape 0.
    let power = -shape * log_gamma;
    let ratio = |k: u64| rest * (k as f64 + shape) / (k as f64 + 1.0);
    if power > LARGEST_POWER {
        // The first probabilities are too small for floating point, so the smallest number that can be drawn is the first k
        // whose probability is at least e^-LARGEST_POWER.
        let (mut k, mut log) = (1, libm::log(rest * shape) - power);
        while log < -LARGEST_POWER {
            log += libm::log(ratio(k));
            k += 1;
        }
        return inverted(k, libm::exp(log), ratio, stream);
    }
    let first = if power.abs() < 1e-9 { rest / -log_gamma } else { rest * shape / libm::expm1(power) };
    inverted(1, first, ratio, stream)
}

/// The smallest number k >= `least` for which the sum of the probabilities of `least` to k exceeds a uniform number.
/// `first` is the probability of `least`; `ratio` of k is the probability of k + 1 divided by that of k.
fn inverted(least: u64, first: f64, ratio: impl Fn(u64) -> f64, stream: &mut Stream) -> u64 {
    let uniform = stream.uniform();
    let (mut k, mut p, mut sum) = (least, first, first);
    // A sum of rounded probabilities can stay below a uniform number near 1; then the loop ends when the sum stops growing.
    while sum <= uniform && sum + p > sum {
        p *= ratio(k);
        sum += p;
        k += 1;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// The mean of 20,000 draws lies within 5 standard errors, computed from the variance of the draws, of the stated
    /// mean; the frequency of the least number lies within 5 standard errors of its probability.
    #[test]
    fn draws_have_the_stated_mean() {
        let above = |mean| AboveOne::new(mean).unwrap();
        let binomial = |shape, mean| Repetitions::NegativeBinomial {
            shape: RepetitionShape::new(shape).unwrap(),
            mean: above(mean),
        };
        let poisson = |mean| Repetitions::Poisson { mean: Positive::new(mean).unwrap() };
        let cases = [
            (Repetitions::Geometric { mean: above(20.0) }, 1.0 / 20.0),
            (binomial(1.0, 20.0), 1.0 / 20.0),
            (binomial(-0.5, 4.0), f64::NAN),
            (binomial(0.0, 10.0), f64::NAN),
            (binomial(3.0, 10.0), f64::NAN),
            // P(K = 1) is about e^-687 in the first of these two cases. In the second it is about e^-1092, which is below
            // the smallest positive floating-point number.
            (binomial(1_000.0, 1_000.0), 0.0),
            (binomial(1_000.0, 2_000.0), 0.0),
            (poisson(0.5), libm::exp(-0.5)),
            (poisson(30.0), libm::exp(-30.0)),
            (poisson(1_234.0), 0.0),
        ];
        for (repetitions, least) in cases {
            let mut stream = Key::root(31).stream();
            let draws: Vec<f64> = (0..20_000).map(|_| repetitions.draw(&mut stream) as f64).collect();
            let n = draws.len() as f64;
            let mean = draws.iter().sum::<f64>() / n;
            let variance = draws.iter().map(|k| (k - mean) * (k - mean)).sum::<f64>() / (n - 1.0);
            let error = 5.0 * (variance / n).sqrt();
            assert!((mean - repetitions.mean()).abs() < error, "{repetitions:?}: {mean}, error {error}");
            let smallest = if repetitions.shape().is_some() { 1.0 } else { 0.0 };
            assert!(draws.iter().all(|k| *k >= smallest), "{repetitions:?}");
            if least.is_finite() {
                let share = draws.iter().filter(|k| **k == smallest).count() as f64 / n;
                let error = 5.0 * (least * (1.0 - least) / n).sqrt() + 1e-12;
                assert!((share - least).abs() <= error, "{repetitions:?}: {share} for {least}");
            }
        }
    }

    /// Each draw is the first number at which the distribution function exceeds the next uniform number of the stream.
    /// The probabilities are computed from their definitions: products, divided by their sum.
    #[test]
    fn draws_are_quantiles_of_the_distribution() {
        let above = |mean| AboveOne::new(mean).unwrap();
        let binomial = |shape, mean| {
            let shape = RepetitionShape::new(shape).unwrap();
            let gamma = libm::exp(log_gamma(shape.get(), mean));
            let mut weights = vec![0.0, 1.0 - gamma];
            for k in 1..20_000 {
                let l = f64::from(k);
                weights.push(weights[k as usize] * (1.0 - gamma) * (l + shape.get()) / (l + 1.0));
            }
            (Repetitions::NegativeBinomial { shape, mean: above(mean) }, weights)
        };
        let poisson = |mean: f64| {
            let mut weights = vec![1.0];
            (1..400).for_each(|k| weights.push(weights[k - 1] * mean / k as f64));
            (Repetitions::Poisson { mean: Positive::new(mean).unwrap() }, weights)
        };
        let geometric = (1..2000).map(|k| libm::pow(0.75, f64::from(k - 1)));
        let geometric = [0.0].into_iter().chain(geometric).collect();
        let cases = [
            (Repetitions::Geometric { mean: above(4.0) }, geometric),
            binomial(0.0, 10.0),
            binomial(-0.5, 4.0),
            binomial(3.0, 10.0),
            binomial(1e-12, 10.0),
            poisson(0.5),
            poisson(30.0),
        ];
        for (repetitions, weights) in cases {
            let total: f64 = weights.iter().sum();
            for seed in 0..400 {
                let (mut drawn, mut other) = (Key::root(seed).stream(), Key::root(seed).stream());
                let found = repetitions.draw(&mut drawn) as usize;
                let uniform = other.uniform();
                let below: f64 = weights[..found].iter().sum::<f64>() / total;
                assert!(
                    below - 1e-9 <= uniform && uniform < below + weights[found] / total + 1e-9,
                    "{repetitions:?}"
                );
                assert_eq!(drawn.word(), other.word(), "one uniform number is read");
            }
        }
        // A Poisson number with a large mean, here 1234, is the sum of draws with means 500, 500 and 234.
        let mut streams = [Key::root(1).stream(), Key::root(1).stream()];
        let parts: u64 = [500.0, 500.0, 234.0].iter().map(|mean| poisson_of(*mean, &mut streams[0])).sum();
        assert_eq!(parts, poisson(1234.0).0.draw(&mut streams[1]));
    }

    fn poisson_of(mean: f64, stream: &mut Stream) -> u64 {
        Repetitions::Poisson { mean: Positive::new(mean).unwrap() }.draw(stream)
    }
}
