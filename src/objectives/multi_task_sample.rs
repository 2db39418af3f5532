//! Performances on two neighbouring data sets, drawn together from a multi-task Gaussian process.

use super::gp_sample::{default_norm, prior_problems};
use super::instance::{Background, Instance, Surrogate};
use super::scaling::{centre_and_scale, grid};
use super::{Fitted, Noise, Objective, ObjectiveError, Prepared, Resources};
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::gp::prior::GridPrior;
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The performance of every setting on a validation set V, and on a neighbouring set V' that no party sees: two
/// functions drawn from GP(0, k1(V, V') k2(lambda, lambda')) in every replication.
///
/// The settings are a regular grid, centred and scaled to a largest norm; k2 is squared exponential with variance 1.
/// The function of V' is used to check guarantees that hold only for functions from this prior.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, section 3 (after Swersky, Snoek and Adams 2013).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiTaskSample {
    /// Points along each dimension: at most 4096, and 1000000 in all.
    pub grid: Vec<NonZeroUsize>,
    /// Largest Euclidean norm of a scaled setting. Default: 25.
    #[serde(default = "default_norm")]
    pub max_norm: Positive,
    /// Length-scale in units of the scaled settings.
    pub length_scale: Positive,
    /// k1(V, V'), the correlation of the two functions at the same setting.
    pub correlation: Probability,
    /// Variance of the noise of an outcome. Default: 0.01.
    #[serde(default = "default_noise")]
    pub noise_variance: NonNegative,
}

fn default_noise() -> NonNegative {
    NonNegative::new(0.01).expect("0.01 is above 0")
}

#[derive(Debug)]
struct Ready {
    inputs: Arc<Points>,
    prior: GridPrior,
    correlation: f64,
    surrogate: Surrogate,
}

impl Objective for MultiTaskSample {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        prior_problems(&self.grid)
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        let counts: Vec<usize> = self.grid.iter().map(|count| count.get()).collect();
        let d = counts.len();
        let mut rows = grid(&counts, &vec![(0.0, 1.0); d]);
        let factor = centre_and_scale(&mut rows, d, self.max_norm.get());
        let axes: Vec<Vec<f64>> = counts
            .iter()
            .map(|&count| grid(&[count], &[(0.0, 1.0)]).into_iter().map(|x| x * factor).collect())
            .collect();
        let prior = GridPrior::new(&axes, self.length_scale.get(), 1.0)?;
        let surrogate = Surrogate {
            covariance: Covariance::squared_exponential(self.length_scale.get(), 1.0),
            noise_variance: self.noise_variance.get(),
            mean: 0.0,
        };
        let inputs = Arc::new(Points::new(rows.len() / d, d, rows));
        Ok(Box::new(Ready { inputs, prior, correlation: self.correlation.get(), surrogate }))
    }
}

impl Prepared for Ready {
    fn realise(&self, key: Key) -> Result<Instance, ObjectiveError> {
        let values = self.prior.sample(&mut key.child("function").stream());
        let other = self.prior.sample(&mut key.child("neighbour").stream());
        let rest = (1.0 - self.correlation * self.correlation).sqrt();
        let neighbour = values.iter().zip(other).map(|(f, g)| self.correlation * f + rest * g).collect();
        Ok(Instance {
            inputs: Arc::clone(&self.inputs),
            values: Arc::new(values),
            noise: Noise::gaussian(self.surrogate.noise_variance.sqrt()),
            surrogate: self.surrogate.clone(),
            background: Background { neighbour: Some(Arc::new(neighbour)), ..Background::made_up() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2,000 pairs at 16 settings: the mean product has standard error at most sqrt(2 / 2,000) = 0.032 (a setting
    /// alone), and five of them are 0.16.
    #[test]
    fn neighbours_have_unit_variance_and_the_stated_correlation() {
        let count = NonZeroUsize::new(4).unwrap();
        let recipe = MultiTaskSample {
            grid: vec![count, count],
            max_norm: default_norm(),
            length_scale: Positive::new(10.0).unwrap(),
            correlation: Probability::new(0.8).unwrap(),
            noise_variance: default_noise(),
        };
        let ready = recipe.prepare(&Resources::default(), None, Key::root(1)).unwrap();
        let mut sums = vec![[0.0; 3]; 16];
        for k in 0..2000 {
            let instance = ready.realise(Key::root(7).index(k)).unwrap();
            let neighbour = instance.background.neighbour.unwrap();
            for (sum, (f, g)) in sums.iter_mut().zip(instance.values.iter().zip(neighbour.iter())) {
                sum[0] += f * f / 2000.0;
                sum[1] += g * g / 2000.0;
                sum[2] += f * g / 2000.0;
            }
        }
        for [own, other, both] in sums {
            assert!((own - 1.0).abs() < 0.16 && (other - 1.0).abs() < 0.16 && (both - 0.8).abs() < 0.16);
        }
    }
}
