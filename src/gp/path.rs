//! A function drawn from the posterior, which can be evaluated at any point of the space of inputs. It is the sum of a
//! function drawn from the prior and of a correction that depends on the outcomes. Unless the covariance is linear, the
//! function drawn from the prior is made of random features.

use super::covariance::Shape;
use super::{FeatureLength, FourierFeatures, GpError, PointPosterior};
use crate::rng::Stream;

/// A random function drawn from a posterior. First a function is drawn from the prior, approximately, as a weighted sum of m
/// random Fourier features. Then Matheron's rule turns this function into one drawn from the posterior; the rule is exact.
/// For a linear covariance the draw from the prior is exact too.
///
/// Source: Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth 2020, "Efficiently sampling functions from Gaussian
/// process posteriors", equation 13.
#[derive(Clone, Debug)]
pub struct PosteriorPath<'a> {
    posterior: &'a PointPosterior,
    prior: PriorPath,
    /// (K + noise I)^-1 (outcomes - drawn outcomes), `[t]`, with K the prior covariance matrix of the points with outcomes
    /// and noise the noise variance: the weights of the covariances with these points.
    correction: Vec<f64>,
}

/// A function drawn from the prior, minus the prior mean.
#[derive(Clone, Debug)]
enum PriorPath {
    Features(FourierFeatures, Vec<f64>),
    /// A linear function: the inner product of the point with these weights, `[d]`.
    Linear(Vec<f64>),
}

impl PriorPath {
    fn draw(posterior: &PointPosterior, m: usize, stream: &mut Stream) -> Result<Self, GpError> {
        let (covariance, d) = (posterior.covariance(), posterior.d());
        let linear = covariance.shape == Shape::Linear;
        let mut weights = vec![0.0; if linear { d } else { m }];
        if linear {
            stream.fill_normal(&mut weights);
            for (input, weight) in weights.iter_mut().enumerate() {
                *weight *= covariance.variance.sqrt() / covariance.length_scale.of(input);
            }
            return Ok(Self::Linear(weights));
        }
        let features = FourierFeatures::draw(covariance, d, m, FeatureLength::Estimator, stream)?;
        stream.fill_normal(&mut weights);
        Ok(Self::Features(features, weights))
    }

    /// Multiplies the function by a factor.
    fn scale(&mut self, factor: f64) {
        let (Self::Features(_, weights) | Self::Linear(weights)) = self;
        weights.iter_mut().for_each(|weight| *weight *= factor);
    }

    /// The value at a point, `[d]`; its gradient is added to `gradient`, `[d]`.
    fn at(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        match self {
            Self::Features(features, weights) => features.weighted(weights, point, gradient),
            Self::Linear(weights) => {
                gradient.iter_mut().zip(weights).for_each(|(out, weight)| *out += weight);
                point.iter().zip(weights).map(|(x, weight)| x * weight).sum()
            }
        }
    }
}

impl PriorPath {
    /// The value at a point, `[d]`.
    fn value(&self, point: &[f64]) -> f64 {
        match self {
            Self::Features(features, weights) => features.weighted_value(weights, point),
            Self::Linear(weights) => point.iter().zip(weights).map(|(x, weight)| x * weight).sum(),
        }
    }
}

impl<'a> PosteriorPath<'a> {
    /// Draws a function with `m` features. For a linear covariance, `m` is not used.
    ///
    /// # Errors
    /// Those of [`FourierFeatures::draw`].
    pub fn draw(posterior: &'a PointPosterior, m: usize, stream: &mut Stream) -> Result<Self, GpError> {
        Self::draw_scaled(posterior, m, 1.0, stream)
    }

    /// As [`Self::draw`], with the function's deviation from the posterior mean multiplied by `scale`, dimensionless: a
    /// draw from N(mean, scale^2 covariance). The draw from the prior and the drawn noise are multiplied by `scale`. The
    /// deviation is then multiplied by `scale` too, because it is a linear function of the pair of these two draws.
    ///
    /// # Errors
    /// Those of [`FourierFeatures::draw`].
    pub fn draw_scaled(
        posterior: &'a PointPosterior,
        m: usize,
        scale: f64,
        stream: &mut Stream,
    ) -> Result<Self, GpError> {
        let mut prior = PriorPath::draw(posterior, m, stream)?;
        prior.scale(scale);
        let noise_sd = scale * posterior.noise_variance().sqrt();
        let mut unused = vec![0.0; posterior.d()];
        let left = posterior.centred().into_iter().enumerate().map(|(index, outcome)| {
            let drawn = prior.at(posterior.point(index), &mut unused);
            outcome - drawn - noise_sd * stream.normal()
        });
        let left: Vec<f64> = left.collect();
        Ok(Self { posterior, prior, correction: posterior.solve(left) })
    }

    /// The value at a point, `[d]`, in units of the outcome, without its gradient.
    ///
    /// # Panics
    /// If the point does not have d coordinates. With a linear covariance, the value may be meaningless instead.
    #[must_use]
    pub fn value(&self, point: &[f64]) -> f64 {
        let rows = self.correction.iter().enumerate();
        let correction = rows.map(|(index, weight)| {
            weight * self.posterior.covariance().between(point, self.posterior.point(index))
        });
        self.posterior.prior_mean() + self.prior.value(point) + correction.sum::<f64>()
    }

    /// The value at a point, `[d]`, in units of the outcome; its gradient, per unit of the input, replaces `gradient`,
    /// `[d]`.
    ///
    /// # Panics
    /// If the point or `gradient` does not have d coordinates. With a linear covariance, the value and the gradient may be
    /// meaningless instead.
    pub fn at(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = self.posterior.prior_mean() + self.prior.at(point, gradient);
        for (index, weight) in self.correction.iter().enumerate() {
            let other = self.posterior.point(index);
            value += weight * self.posterior.covariance().add_gradient(point, other, *weight, gradient);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::{Covariance, Shape};
    use crate::rng::Key;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Model {
        points: Vec<Vec<f64>>,
        outcomes: Vec<f64>,
        length_scales: Vec<f64>,
        variance: f64,
        noise: f64,
        prior_mean: f64,
        candidates: Vec<Vec<f64>>,
    }

    #[derive(Deserialize)]
    struct Known {
        paths: Joint,
    }

    #[derive(Deserialize)]
    struct Joint {
        mean: Vec<f64>,
        covariance: Vec<Vec<f64>>,
    }

    /// The expected mean and covariance are those of BoTorch 0.18.1 at seven points: tests/oracles/search.json. Every drawn
    /// function has new features, and the mean of the inner product of two feature vectors is the prior covariance. Let c_ij
    /// be the expected covariance of the values at the points i and j. Take the difference between a function's value at
    /// point i and the expected mean at i. The average of this difference over n functions has a standard error of
    /// sqrt(c_ii / n). The average of the product of the differences at i and j has a standard error of
    /// sqrt((c_ii c_jj + c_ij^2) / n) if the values are normal. With m = 64 features, the variance of a product is larger by
    /// a share of the order of 1 / m. With probability 2e-5, at least one of 35 normal averages (7 of differences, 28 of
    /// products) is more than five standard errors from its mean.
    #[test]
    fn drawn_functions_have_the_mean_and_covariance_of_botorchs_posterior() {
        let model: Model =
            serde_json::from_str(include_str!("../../tests/oracles/acquisition.json")).unwrap();
        let joint: Known = serde_json::from_str(include_str!("../../tests/oracles/search.json")).unwrap();
        let Joint { mean, covariance } = joint.paths;
        let prior = Covariance::per_dimension(Shape::Matern52, model.length_scales, model.variance);
        let mut posterior = PointPosterior::new(prior, 2, model.noise, model.prior_mean);
        model.points.iter().zip(&model.outcomes).for_each(|(x, y)| posterior.observe(x, *y).unwrap());
        let (n, places) = (8_000, model.candidates.len());
        let pairs: Vec<(usize, usize)> = (0..places).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let (mut sums, mut products) = (vec![0.0; places], vec![0.0; pairs.len()]);
        let mut stream = Key::root(21).stream();
        for _ in 0..n {
            let path = PosteriorPath::draw(&posterior, 64, &mut stream).unwrap();
            let away: Vec<f64> =
                model.candidates.iter().zip(&mean).map(|(x, mean)| path.value(x) - mean).collect();
            sums.iter_mut().zip(&away).for_each(|(sum, away)| *sum += away);
            products.iter_mut().zip(&pairs).for_each(|(sum, &(i, j))| *sum += away[i] * away[j]);
        }
        let n = f64::from(n);
        for (i, sum) in sums.iter().enumerate() {
            let error = (covariance[i][i] / n).sqrt();
            assert!((sum / n).abs() < 5.0 * error, "mean {i}: {} {error}", sum / n);
        }
        for (sum, &(i, j)) in products.iter().zip(&pairs) {
            let (found, c) = (sum / n, covariance[i][j]);
            let error = ((covariance[i][i] * covariance[j][j] + c * c) / n).sqrt();
            assert!((found - c).abs() < 5.0 * error, "{i} {j}: {found} {c} {error}");
        }
    }

    /// Means and variances of 4,000 drawn functions agree with those of the posterior to within six standard
    /// errors; every function has 512 new features, so the error of the features has mean 0. Gradients agree
    /// with finite differences.
    #[test]
    fn drawn_functions_have_the_posteriors_mean_and_variance() {
        let covariance = Covariance::per_dimension(Shape::Matern52, vec![0.4, 0.7], 1.5);
        let mut posterior = PointPosterior::new(covariance, 2, 0.01, 0.5);
        for (point, outcome) in [([0.1, 0.2], 1.2), ([0.8, 0.3], -0.4), ([0.5, 0.9], 0.7)] {
            posterior.observe(&point, outcome).unwrap();
        }
        let places = [[0.1, 0.2], [0.45, 0.5], [0.95, 0.95]];
        let (mut sums, mut squares) = ([0.0; 3], [0.0; 3]);
        let n = 4_000;
        let mut stream = Key::root(8).stream();
        for _ in 0..n {
            let path = PosteriorPath::draw(&posterior, 512, &mut stream).unwrap();
            for (place, point) in places.iter().enumerate() {
                let value = path.at(point, &mut [0.0; 2]) - posterior.at(point).0;
                sums[place] += value;
                squares[place] += value * value;
            }
        }
        for (place, point) in places.iter().enumerate() {
            let variance = posterior.at(point).1;
            let (mean, found) = (sums[place] / f64::from(n), squares[place] / f64::from(n));
            assert!(mean.abs() < 6.0 * (variance / f64::from(n)).sqrt(), "{point:?}: {mean}");
            let error = 6.0 * variance * (2.0 / f64::from(n)).sqrt();
            assert!((found - variance).abs() < error, "{point:?}: {found} {variance}");
        }
        let mut line = PointPosterior::new(Covariance::new(Shape::Linear, 0.5, 2.0), 2, 1e-9, 0.0);
        line.observe(&[1.0, 0.0], 3.0).unwrap();
        let path = PosteriorPath::draw(&line, 1, &mut stream).unwrap();
        assert!((path.at(&[0.5, 0.0], &mut [0.0; 2]) - 1.5).abs() < 1e-3, "half of a known value");
        // With scale 3 and the same random numbers, the function is three times as far from the posterior mean.
        let drawn = |scale: f64| {
            let path = PosteriorPath::draw_scaled(&posterior, 64, scale, &mut Key::root(3).stream()).unwrap();
            path.at(&places[1], &mut [0.0; 2]) - posterior.at(&places[1]).0
        };
        assert!((drawn(3.0) - 3.0 * drawn(1.0)).abs() < 1e-12 && drawn(1.0) != 0.0);
        let path = PosteriorPath::draw(&posterior, 64, &mut stream).unwrap();
        let (x, mut gradient) = ([0.3, 0.6], [0.0; 2]);
        let value = path.at(&x, &mut gradient);
        assert!((path.value(&x) - value).abs() < 1e-12);
        for i in 0..2 {
            let at = |step: f64| {
                let mut moved = x;
                moved[i] += step;
                path.at(&moved, &mut [0.0; 2])
            };
            assert!(((at(1e-6) - at(-1e-6)) / 2e-6 - gradient[i]).abs() < 1e-6);
        }
    }
}
