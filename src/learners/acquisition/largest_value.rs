//! Draws of the largest value of a function, for max-value entropy search.

use crate::rng::Stream;
use crate::special::normal_cdf;

/// Number of bisection steps in the search for a quantile.
const HALVINGS: usize = 60;

/// Draws `count` numbers from a Gumbel distribution that approximates the distribution of the largest of several
/// independent normal values. `models` holds the mean and the variance of each normal value. The Gumbel distribution has
/// the same median and the same interquartile range as the distribution of the largest value. A draw below `known`, the
/// best value so far, is replaced by `known`.
///
/// Source: Wang and Jegelka 2017, "Max-value entropy search for efficient Bayesian optimization", section 3.1.
pub(super) fn draws(models: &[(f64, f64)], known: f64, count: usize, stream: &mut Stream) -> Vec<f64> {
    let sds: Vec<(f64, f64)> =
        models.iter().map(|(mean, variance)| (*mean, variance.sqrt().max(1e-12))).collect();
    let low = sds.iter().map(|(mean, _)| *mean).fold(f64::NEG_INFINITY, f64::max);
    let high = sds.iter().map(|(mean, sd)| mean + 6.0 * sd).fold(low, f64::max);
    let low = sds.iter().map(|(mean, sd)| mean - 6.0 * sd).fold(f64::NEG_INFINITY, f64::max).min(low);
    let below = |y: f64| sds.iter().map(|(mean, sd)| normal_cdf((y - mean) / sd)).product::<f64>();
    let quantile = |share: f64| {
        let (mut low, mut high) = (low, high);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if below(middle) < share { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    };
    let place = |share: f64| -libm::log(-libm::log(share));
    let (first, middle, third) = (quantile(0.25), quantile(0.5), quantile(0.75));
    let scale = (third - first) / (place(0.75) - place(0.25));
    let location = middle - scale * place(0.5);
    (0..count).map(|_| (location + scale * stream.gumbel()).max(known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// The median of the largest of 500 standard normals is Phi^-1(0.5^(1/500)) = 2.99 (scipy 1.17: norm.ppf). The median of
    /// n = 4,001 draws has a standard error of 0.5 / (density sqrt(n)) = 0.01, where density is the probability density of a
    /// draw at the median.
    #[test]
    fn the_median_draw_is_the_median_of_the_largest_value() {
        let mut stream = Key::root(1).stream();
        let mut found = draws(&[(0.0, 1.0); 500], f64::NEG_INFINITY, 4_001, &mut stream);
        found.sort_by(f64::total_cmp);
        assert!((found[2_000] - 2.992).abs() < 0.06, "{}", found[2_000]);
        assert!(draws(&[(0.0, 1.0)], 5.0, 9, &mut stream).iter().all(|draw| *draw >= 5.0));
    }
}
