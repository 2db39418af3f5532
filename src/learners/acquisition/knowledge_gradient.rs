//! The knowledge gradient: by how much an outcome at a point is expected to raise the largest posterior mean.

use super::score::{LOG_ROOT_TAU, log_cdf, log_improvement};
use super::surface::Surface;
use crate::gp::{PointPosterior, dot};

/// The logarithm of the knowledge gradient, ln (E max_i mean'_i - max_i mean_i). Here i runs over the points of a finite set
/// and the candidate x itself; mean_i is the posterior mean at point i, and mean'_i is the posterior mean at point i after a
/// further outcome, at x.
///
/// Given the outcomes so far, mean'_i is a_i + b_i Z with Z standard normal. Here a_i is mean_i, and b_i is the posterior
/// covariance of point i with x, divided by the standard deviation of the outcome at x. As a function of Z, each a_i + b_i Z
/// is a line. The expectation of the largest of these lines is computed exactly.
///
/// Source: Frazier, Powell and Dayanik 2009, "The knowledge-gradient policy for correlated normal beliefs" (INFORMS Journal
/// on Computing 21:599-613), equation 14 and algorithm 1. The candidate is added to the set as by Scott, Frazier and Powell
/// 2011, "The correlated knowledge gradient for simulation optimization of continuous parameters using Gaussian process
/// regression" (SIAM J. Optim. 21:996-1026), equations 3.11 and 3.12.
pub(super) struct KnowledgeGradient<'a> {
    posterior: &'a PointPosterior,
    fixed: Vec<Fixed>,
}

/// A point of the finite set; the candidate is not one of these points.
struct Fixed {
    point: Vec<f64>,
    mean: f64,
    /// (K + noise I)^-1 k, `[t]`. Here k are this point's prior covariances with the t points with outcomes, K is the prior
    /// covariance matrix of the points with outcomes, and noise is the noise variance of an outcome.
    weights: Vec<f64>,
}

/// The lines a + b Z on the upper envelope, by increasing b, and the values of Z at which they cross. A line is on the upper
/// envelope if it is the largest line for some interval of Z.
struct Envelope {
    /// Positions of the lines among all lines.
    lines: Vec<usize>,
    /// The value of Z at which each line of the envelope crosses the next one.
    crossings: Vec<f64>,
}

impl Envelope {
    /// The upper envelope of the lines a_i + b_i Z. Frazier, Powell and Dayanik 2009, algorithm 1.
    fn of(a: &[f64], b: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by(|&i, &j| b[i].total_cmp(&b[j]).then(a[i].total_cmp(&a[j])));
        let (mut lines, mut crossings): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for next in order {
            while let Some(&last) = lines.last() {
                // Lines with equal slopes are sorted by height, so `next` hides `last` if their slopes are equal.
                let crossing = (a[last] - a[next]) / (b[next] - b[last]);
                let hidden = b[next] <= b[last] || crossings.last().is_some_and(|before| crossing <= *before);
                if !hidden {
                    crossings.push(crossing);
                    break;
                }
                lines.pop();
                crossings.pop();
            }
            lines.push(next);
        }
        Self { lines, crossings }
    }

    /// ln (E max_i (a_i + b_i Z) - max_i a_i); minus infinity if one line is the largest for every Z. The difference is a
    /// sum over all lines of the envelope except the last one. The term of a line is (b_next - b) h(-|c|), where b and
    /// b_next are the slopes of this line and of the next one, and c is the value of Z at which the two lines cross.
    /// [`log_improvement`] returns the logarithm of h.
    fn log_gain(&self, b: &[f64]) -> f64 {
        let term = |(pair, crossing): (&[usize], &f64)| {
            libm::log(b[pair[1]] - b[pair[0]]) + log_improvement(-crossing.abs()).0
        };
        let terms: Vec<f64> = self.lines.windows(2).zip(&self.crossings).map(term).collect();
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return most;
        }
        most + libm::log(terms.iter().map(|term| libm::exp(term - most)).sum())
    }

    /// The derivatives of the logarithm of the gain with respect to a and b of each line on the envelope: (position of the
    /// line, derivative with respect to a, derivative with respect to b). `value` is the logarithm of the gain.
    ///
    /// The gain is E max_i (a_i + b_i Z) - max_i a_i. The derivative of E max_i (a_i + b_i Z) with respect to a of one line
    /// is the probability that this line is the largest one. The derivative with respect to b of the line is the
    /// expectation of a variable that is Z where the line is the largest one, and 0 elsewhere. This expectation equals the
    /// density of Z at the line's lower crossing minus the density at its upper crossing.
    fn derivatives(&self, value: f64) -> Vec<(usize, f64, f64)> {
        let end = |place: Option<usize>, none: f64| {
            place.and_then(|place| self.crossings.get(place)).map_or(none, |c| *c)
        };
        // `tail` is the probability that Z lies beyond c on the side away from 0, and `density` is the density of Z at c.
        // Both are divided by the gain, whose logarithm is `value`.
        let tail = |c: f64| if c.is_finite() { libm::exp(log_cdf(-c.abs()).0 - value) } else { 0.0 };
        let density =
            |c: f64| if c.is_finite() { libm::exp(-0.5 * c * c - LOG_ROOT_TAU - value) } else { 0.0 };
        let of = |(place, line): (usize, &usize)| {
            let (low, high) = (end(place.checked_sub(1), f64::NEG_INFINITY), end(Some(place), f64::INFINITY));
            // The line is the largest one for Z from `low` to `high`. The derivative with respect to a is the probability
            // of this interval, divided by the gain. The last case is the line that is the largest one at Z = 0, which has
            // the largest a. There 1 is subtracted from the probability before the division, because max_i a_i is
            // subtracted in the gain.
            let by_a = match (low >= 0.0, high <= 0.0) {
                (true, _) => tail(low) - tail(high),
                (_, true) => tail(high) - tail(low),
                _ => -tail(low) - tail(high),
            };
            (*line, by_a, density(low) - density(high))
        };
        self.lines.iter().enumerate().map(of).collect()
    }
}

/// The lines a_i + b_i Z of all points for a candidate x, and the model's prediction of an outcome at x.
struct Candidate {
    a: Vec<f64>,
    b: Vec<f64>,
    /// (K + noise I)^-1 k(x), where k(x) are the prior covariances of x with the points with outcomes; K and noise are those
    /// of `Fixed`.
    weights: Vec<f64>,
    /// Posterior variance of the function at x.
    variance: f64,
    /// Standard deviation of an outcome at x.
    sd: f64,
}

impl<'a> KnowledgeGradient<'a> {
    /// The knowledge gradient over the points with outcomes, the points `others` (`[d]` each) and the candidate.
    pub(super) fn new<'b>(posterior: &'a PointPosterior, others: impl Iterator<Item = &'b [f64]>) -> Self {
        let known = (0..posterior.observations()).map(|index| posterior.point(index).to_vec());
        let of = |point: Vec<f64>| {
            let k = posterior.prior_covariances(&point);
            let mean = posterior.prior_mean() + dot(&k, posterior.mean_weights());
            Fixed { point, mean, weights: posterior.solve(k) }
        };
        Self { posterior, fixed: known.chain(others.map(<[f64]>::to_vec)).map(of).collect() }
    }

    /// The lines of all points, with the candidate's line as the last one; `None` if an outcome at the candidate would give
    /// no information.
    fn candidate(&self, x: &[f64]) -> Option<Candidate> {
        let k = self.posterior.prior_covariances(x);
        let mean = self.posterior.prior_mean() + dot(&k, self.posterior.mean_weights());
        let weights = self.posterior.solve(k.clone());
        let covariance = self.posterior.covariance();
        let variance = (covariance.between(x, x) - dot(&weights, &k)).max(0.0);
        let sd = (variance + self.posterior.noise_variance()).sqrt();
        if variance <= 0.0 || sd <= 0.0 {
            return None;
        }
        let slope = |fixed: &Fixed| (covariance.between(&fixed.point, x) - dot(&fixed.weights, &k)) / sd;
        let a = self.fixed.iter().map(|fixed| fixed.mean).chain([mean]).collect();
        let b = self.fixed.iter().map(slope).chain([variance / sd]).collect();
        Some(Candidate { a, b, weights, variance, sd })
    }
}

impl Surface for KnowledgeGradient<'_> {
    fn at(&self, x: &[f64]) -> f64 {
        self.candidate(x)
            .map_or(f64::NEG_INFINITY, |found| Envelope::of(&found.a, &found.b).log_gain(&found.b))
    }

    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(found) = self.candidate(x) else { return f64::NEG_INFINITY };
        let envelope = Envelope::of(&found.a, &found.b);
        let value = envelope.log_gain(&found.b);
        if value == f64::NEG_INFINITY {
            return value;
        }
        // Let c_i = k(x_i, x) - w_i^T k(x) be the posterior covariance of point i with x, where w_i are the `weights` of
        // point i. Then b_i = c_i / sd. Since sd^2 is `variance` plus the noise variance, the differential of b_i is
        // d b_i = d c_i / sd - b_i d variance / (2 sd^2). For the candidate, c_i is `variance`, and of all a_i only the
        // candidate's depends on x. `by_variance` and `by_k` become the derivatives of the value with respect to `variance`
        // and to k(x).
        let Candidate { weights, variance, sd, b, .. } = found;
        let mut by_variance = 0.0;
        let mut by_k = vec![0.0; weights.len()];
        for (line, by_a, by_b) in envelope.derivatives(value) {
            by_variance -= 0.5 * by_b * b[line] / (sd * sd);
            if let Some(fixed) = self.fixed.get(line) {
                let by_c = by_b / sd;
                self.posterior.covariance().add_gradient(x, &fixed.point, by_c, gradient);
                by_k.iter_mut().zip(&fixed.weights).for_each(|(out, weight)| *out -= by_c * weight);
            } else {
                by_variance += by_b / sd;
                by_k.iter_mut()
                    .zip(self.posterior.mean_weights())
                    .for_each(|(out, weight)| *out += by_a * weight);
            }
        }
        debug_assert!(variance > 0.0, "an outcome gives information");
        by_k.iter_mut().zip(&weights).for_each(|(out, weight)| *out -= 2.0 * by_variance * weight);
        self.posterior.add_weighted_gradient(x, &by_k, gradient);
        self.posterior.add_prior_variance_gradient(x, by_variance, gradient);
        value
    }
}
