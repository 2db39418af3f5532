//! Fits hyperparameters to all outcomes so far, for the learner `Acquisition`. The learner repeats the fit each time that
//! it has as many new outcomes as its setting `refit: Every(..)` states.

use super::bounded::Climb;
use super::covariance::{Covariance, Shape};
use super::fit::LogNormals;
use super::likelihood::likelihood_and_mean;
use super::{GpError, Points};
use std::f64::consts::SQRT_2;

/// Hyperparameters for points of the unit cube and outputs of mean 0 and variance 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StandardisedHyperparameters {
    /// Length-scale of each dimension of the unit cube, `[d]`.
    pub(crate) length_scales: Vec<f64>,
    pub(crate) variance: f64,
    pub(crate) noise_variance: f64,
    /// Prior mean of the function, the same at every point.
    pub(crate) mean: f64,
}

/// Bounds of the hyperparameters, in the units of [`StandardisedHyperparameters`].
const LENGTH_SCALE: (f64, f64) = (0.01, 1000.0);
const VARIANCE: (f64, f64) = (0.05, 20.0);
const NOISE: (f64, f64) = (1e-6, 4.0);
/// Bounds of the noise variance for outcomes that are stated to have no noise. The noise variance is fitted, not held at 0,
/// for two reasons. With a small positive noise variance, the model smooths over ripples that would hide the function's
/// shape (as in Ackley's function). And the statement may be wrong: then a larger noise variance can be fitted.
const EXACT_NOISE: (f64, f64) = (1e-13, 4.0);
/// Logarithm of the mode of the noise variance's prior, which is log-normal with median e^-4 and sigma 1: -4 - 1^2.
const NOISE_MODE: f64 = -5.0;
/// Sigma of the log-normal prior of the noise variance, for outcomes that are stated to have no noise.
const EXACT_SIGMA: f64 = 3.0;
/// When a local search for hyperparameters ends; tolerances are in nats. With smaller tolerances a fit takes longer, but
/// the queries are not better.
const CLIMB: Climb = Climb { max_steps: 60, gradient_tolerance: 1e-2, value_tolerance: 1e-3 };

/// The priors of Hvarfner, Hellsten and Nardi 2024, "Vanilla Bayesian optimization performs great in high dimensions", as
/// BoTorch's `SingleTaskGP` has them. Length-scales are log-normal with median e^sqrt(2) sqrt(d) and sigma sqrt(3), so that
/// a function of many inputs is not taken to be rougher than a function of few inputs. The noise variance is log-normal
/// with median e^-4 and sigma 1. As in BoTorch, the posterior density of length-scales and noise variance themselves is
/// maximised, instead of the density of their logarithms. The log-normal density of x is, up to a factor,
/// (1 / x) e^(-(ln x - ln(median))^2 / (2 sigma^2)). Completing the square absorbs the factor 1 / x: up to another factor,
/// the density is e^(-(ln x - m)^2 / (2 sigma^2)), where m = ln(median) - sigma^2 is the logarithm of the mode. So
/// [`LogNormals`], which states normal densities of logarithms, gets m as the mean of the logarithm.
///
/// The variance of the function, which BoTorch keeps at 1, is fitted too. Its prior is log-normal with median 1 and
/// sigma 1, and for the variance the density of the logarithm is maximised. The mean of the function is a constant without
/// a prior, as in BoTorch.
///
/// For outcomes that are stated to have no noise (`exact`), the prior of the noise variance has the mode e^-5, as for other
/// outcomes, but sigma 3. With sigma 1, the fitted noise variance would stay near e^-5 times the variance of the outcomes
/// unless many outcomes contradicted it. With so much noise in the model, the learner's queries do not come close to a
/// maximum of the objective.
fn priors(d: usize, exact: bool) -> LogNormals {
    let mode = |median: f64, sigma: f64| Some((median - sigma * sigma, sigma));
    LogNormals {
        length_scale: mode(SQRT_2 + 0.5 * libm::log(d as f64), 3.0f64.sqrt()),
        variance: Some((0.0, 1.0)),
        noise_variance: Some((NOISE_MODE, if exact { EXACT_SIGMA } else { 1.0 })),
    }
}

/// Maximises the posterior density of the hyperparameters. One local search starts from the hyperparameters `last`, if
/// given; another starts from the modes of the priors, if `last` is not given or `from_modes` is true. If both searches are
/// made, the result with the higher density is returned. Points are `[n, d]` in the unit cube, outputs `[n]`. `exact`
/// states that outputs have no noise. O(n^3) per evaluation of the density.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`] if there is no starting point at which the likelihood can be computed.
pub(crate) fn refit(
    shape: Shape,
    points: &Points,
    outputs: &[f64],
    exact: bool,
    last: Option<&StandardisedHyperparameters>,
    from_modes: bool,
) -> Result<StandardisedHyperparameters, GpError> {
    let d = points.d();
    let log = |(low, high): (f64, f64)| (libm::log(low), libm::log(high));
    let mut bounds = vec![log(LENGTH_SCALE); d];
    bounds.extend([log(VARIANCE), log(if exact { EXACT_NOISE } else { NOISE })]);
    let priors = priors(d, exact);
    let values = |logs: &[f64]| logs.iter().map(|&l| libm::exp(l)).collect::<Vec<f64>>();
    let mut density = |logs: &[f64], gradient: &mut [f64]| {
        let values = values(logs);
        let covariance = Covariance::per_dimension(shape, values[..d].to_vec(), values[d]);
        match likelihood_and_mean(points, outputs, &covariance, values[d + 1]) {
            Ok((found, _)) => {
                gradient.copy_from_slice(&found.gradient);
                found.value + priors.add(d, logs, gradient)
            }
            Err(_) => f64::NAN,
        }
    };
    let mode = |prior: Option<(f64, f64)>| prior.map_or(0.0, |(mode, _)| mode);
    // The starting point `first`, which is tried after `last`, has the modes of the priors. The medians of the priors are
    // longer length-scales. At such long length-scales, the likelihood of a function of many inputs may hardly depend on
    // the length-scales, and a search from there may end where all outcomes are explained as noise.
    let mut first = vec![mode(priors.length_scale); d];
    first.extend([mode(priors.variance), mode(priors.noise_variance)]);
    let last = last.map(|last| {
        let all = last.length_scales.iter().chain([&last.variance, &last.noise_variance]);
        all.map(|&value| libm::log(value)).collect::<Vec<f64>>()
    });
    let mut best: Option<(Vec<f64>, f64)> = None;
    let first = (last.is_none() || from_modes).then_some(first);
    for start in last.into_iter().chain(first) {
        if let Some(found) = CLIMB.from(&start, &bounds, &mut density)
            && best.as_ref().is_none_or(|best| found.1 > best.1)
        {
            best = Some(found);
        }
    }
    let (at, _) = best.ok_or(GpError::NotPositiveDefinite { order: points.n(), jitter: 0.0 })?;
    let values = values(&at);
    let covariance = Covariance::per_dimension(shape, values[..d].to_vec(), values[d]);
    let (_, mean) = likelihood_and_mean(points, outputs, &covariance, values[d + 1])?;
    Ok(StandardisedHyperparameters {
        length_scales: values[..d].to_vec(),
        variance: values[d],
        noise_variance: values[d + 1],
        mean,
    })
}

#[cfg(test)]
mod tests {
    use super::super::log_marginal_likelihood;
    use super::*;
    use crate::rng::Key;

    /// A step of 0.05 in the logarithm of any one hyperparameter, up or down, raises the log density by less than 1e-4. The
    /// outputs do not depend on the second input; its fitted length-scale is more than three times that of the first input.
    #[test]
    fn a_fit_is_a_maximum_of_the_posterior_density() {
        let mut stream = Key::root(3).stream();
        let rows: Vec<f64> = (0..80).map(|_| stream.uniform()).collect();
        let outputs: Vec<f64> = rows.chunks(2).map(|x| 1.4 * libm::sin(7.0 * x[0])).collect();
        let points = Points::new(40, 2, rows);
        let fit = refit(Shape::Matern52, &points, &outputs, false, None, true).unwrap();
        assert!(fit.length_scales[1] > 3.0 * fit.length_scales[0], "{fit:?}");
        let density = |logs: &[f64]| {
            let v: Vec<f64> = logs.iter().map(|&l| libm::exp(l)).collect();
            let covariance = Covariance::per_dimension(Shape::Matern52, v[..2].to_vec(), v[2]);
            let centred: Vec<f64> = outputs.iter().map(|output| output - fit.mean).collect();
            let likelihood = log_marginal_likelihood(&points, &centred, &covariance, v[3]).unwrap().value;
            likelihood + priors(2, false).add(2, logs, &mut [0.0; 4])
        };
        let all = [fit.length_scales[0], fit.length_scales[1], fit.variance, fit.noise_variance];
        let logs: Vec<f64> = all.iter().map(|&v| libm::log(v)).collect();
        for place in 0..4 {
            for step in [-0.05, 0.05] {
                let mut moved = logs.clone();
                moved[place] += step;
                assert!(density(&moved) < density(&logs) + 1e-4, "{place} {step} {fit:?}");
            }
        }
        // A step of 0.01 of the mean, up or down, lowers the likelihood.
        let covariance = Covariance::per_dimension(Shape::Matern52, fit.length_scales.clone(), fit.variance);
        let at = |mean: f64| {
            let centred: Vec<f64> = outputs.iter().map(|output| output - mean).collect();
            log_marginal_likelihood(&points, &centred, &covariance, fit.noise_variance).unwrap().value
        };
        assert!(at(fit.mean) > at(fit.mean - 0.01) && at(fit.mean) > at(fit.mean + 0.01), "{fit:?}");
        let again = refit(Shape::Matern52, &points, &outputs, false, Some(&fit), false).unwrap();
        assert!((again.variance / fit.variance - 1.0).abs() < 0.05);
    }
}
